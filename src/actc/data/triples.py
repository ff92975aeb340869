"""The tables that everyone passes: scored triples, annotations beside them, thresholds at the end.

All are frozen, made of aligned numpy arrays, and checked once, here: a function that receives one may trust it.
Names are dictionary-encoded against sorted vocabularies, so comparing codes is comparing names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from actc.data.frames import (
    SHOWN,
    as_arrow,
    as_list,
    has_probabilities,
    html_table,
    make_frame,
    read_frame,
    read_optional,
    silence,
)
from actc.errors import RowError, TableError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Vocabulary(tuple[str, ...]):
    """Distinct names; a name's code is its place among them. Those that :meth:`encode` makes are sorted.

    It is a tuple of strings with the look-ups that tables of triples need, made once for all tables that share it.
    """

    @classmethod
    def encode(cls, names: Sequence[str]) -> tuple[Self, IntArray]:
        """Return the sorted distinct names of a column and each row's code, refusing whatever is no text."""
        if not _is_text(names):
            raise _no_text(names, "name")
        found = _encode_large(names) if len(names) >= LARGE else None
        vocabulary, codes = found or _encode_small(names)
        return cls(vocabulary), codes

    def codes(self, names: Sequence[str], default: int = -1) -> IntArray:
        """Return the code of each name, ``default`` where there is none, shape (N,)."""
        if names is self:
            return np.arange(len(self), dtype=np.int64)
        return np.fromiter(map(self.places.get, names, repeat(default)), dtype=np.int64, count=len(names))

    def translate(self, codes: IntArray, names: Sequence[str], default: int = -1) -> IntArray:
        """Return codes into other names as codes into these, ``default`` for names that are not here."""
        return self.codes(names, default)[codes]

    @cached_property
    def places(self) -> dict[str, int]:
        """The code of each name."""
        return dict(zip(self, range(len(self)), strict=True))

    @cached_property
    def array(self) -> NDArray[np.object_]:
        """The names as an object array, shape (len,): one take turns codes into names."""
        array = np.empty(len(self), dtype=object)
        array[:] = self
        return array

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[str, ...]]]:
        """Travel to other processes without the look-ups."""
        return type(self), (tuple(self),)


MOST_KEYS = 2**63  # a key is a signed integer of 64 bits
MOST_SCORE = 1e100  # squares of such numbers can still be added up
# From about here DuckDB encodes faster than a dict: 100,000 names in 1.3 times its time, 400,000 in a third of it.
LARGE = 200_000


def _encode_small(names: Sequence[str]) -> tuple[Sequence[str], IntArray]:
    vocabulary = sorted(dict.fromkeys(names))
    places = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
    return vocabulary, np.fromiter(map(places.__getitem__, names), dtype=np.int64, count=len(names))


def _encode_large(names: Sequence[str]) -> tuple[Sequence[str], IntArray] | None:
    """Do the same in DuckDB, whose order of text is Python's; None where a name cannot be written as UTF-8."""
    import duckdb

    column = np.empty(len(names), dtype=object)
    column[:] = names
    with silence(duckdb.connect()) as connection:
        connection.register("given", {"name": column, "row": np.arange(len(column))})
        distinct = "SELECT name, row_number() OVER (ORDER BY name) - 1 AS code FROM (SELECT DISTINCT name FROM given)"
        try:
            connection.execute(f"CREATE TABLE vocabulary AS {distinct}")
        except duckdb.InvalidInputException:  # half of a surrogate pair
            return None
        vocabulary = connection.execute("SELECT name FROM vocabulary ORDER BY code").fetchnumpy()["name"].tolist()
        codes = connection.execute("SELECT row, code FROM given JOIN vocabulary USING (name)").fetchnumpy()
    ordered = np.empty(len(column), dtype=np.int64)
    ordered[codes["row"]] = codes["code"]
    return vocabulary, ordered


def _encode_arrow(*texts: Any) -> tuple[Vocabulary, IntArray]:
    """Do the same with arrays that :func:`actc.data.frames.as_arrow` gave: UTF-8 is ordered as Python orders text."""
    from pyarrow import compute, concat_arrays

    encoded = concat_arrays(texts).dictionary_encode()
    order = compute.sort_indices(encoded.dictionary)
    names = encoded.dictionary.take(order).to_numpy(zero_copy_only=False).tolist()
    codes = np.empty(len(order), dtype=np.int64)
    codes[order.to_numpy()] = np.arange(len(order))
    return Vocabulary(names), codes[encoded.indices.to_numpy()]


def _is_text(names: Sequence[object]) -> bool:
    return all(issubclass(kind, str) for kind in set(map(type, names)))


def _no_text(names: Sequence[object], what: str) -> RowError:
    row = next(row for row, name in enumerate(names) if not isinstance(name, str))
    kind = type(names[row]).__name__
    return RowError(row, f"the {what} is {names[row]!r} ({kind}); every head, relation and tail must be text (str).")


@dataclass(frozen=True, eq=False, repr=False)
class Triples:
    """Triples as codes into vocabularies.

    Parameters
    ----------
    heads, relations, tails : int array of shape (N,)
        Codes into ``entity_names`` (heads, tails) and ``relation_names`` (relations).
    entity_names, relation_names : Vocabulary, or sequence of str
        The distinct names; sorted, unless they are those of a model.
    """

    heads: IntArray
    relations: IntArray
    tails: IntArray
    entity_names: Vocabulary
    relation_names: Vocabulary

    def __post_init__(self) -> None:
        for field_name in ("entity_names", "relation_names"):
            names: Sequence[str] = getattr(self, field_name)
            if not isinstance(names, Vocabulary):
                object.__setattr__(self, field_name, Vocabulary(names))

    def __len__(self) -> int:
        return len(self.heads)

    def __repr__(self) -> str:
        sizes = f"{len(self):,} triples, {len(self.entity_names):,} entities, {len(self.relation_names):,} relations"
        return f"{type(self).__name__}({sizes}{self._more()})"

    def _more(self) -> str:
        """Return what else there is to say of the table in one line."""
        return ""

    def triple(self, row: int) -> tuple[str, str, str]:
        """Return the names of one triple: head, relation, tail."""
        return (
            self.entity_names[self.heads[row]],
            self.relation_names[self.relations[row]],
            self.entity_names[self.tails[row]],
        )

    def columns(self) -> dict[str, NDArray[np.object_]]:
        """Return the names: head, relation, tail, each an object array of shape (N,)."""
        entities, relations = self.entity_names.array, self.relation_names.array
        return {"head": entities[self.heads], "relation": relations[self.relations], "tail": entities[self.tails]}

    def _repr_html_(self) -> str:
        """Return the first rows as a table, for a notebook."""
        return html_table(repr(self), self.take(np.arange(min(len(self), SHOWN)))._frame_columns(), len(self))

    def _frame_columns(self) -> dict[str, NDArray[Any]]:
        return dict(self.columns())

    def to_frame(self, library: str = "pandas", more: Mapping[str, ArrayLike] | None = None) -> Any:
        """Return the table as a data frame: head, relation, tail (and score), one row for each triple.

        Parameters
        ----------
        library : str
            ``pandas``, ``polars``, ``polars-lazy``, ``pyarrow`` or ``duckdb``, whichever is installed.
        more : dict of columns, optional
            Put beside them, such as ``{"probability": …}``, each of shape (N,).
        """
        others = {name: np.asarray(values) for name, values in (more or {}).items()}
        wrong = next((name for name, values in others.items() if len(values) != len(self)), None)
        if wrong is not None:
            raise TableError(f"There are {len(self)} triples but {len(others[wrong])} values of {wrong}.")
        return make_frame({**self._frame_columns(), **others}, library)

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows (or those a mask keeps) as a table of their own, with the same vocabularies."""
        rows = _as_rows(rows)
        return replace(self, heads=self.heads[rows], relations=self.relations[rows], tails=self.tails[rows])

    def with_scores(self, scores: FloatArray) -> ScoredTriples:
        """Return the same triples with the given scores, row by row."""
        columns = (self.heads, self.relations, self.tails, self.entity_names, self.relation_names)
        return ScoredTriples(*columns, scores=np.asarray(scores, dtype=np.float64))

    def recoded(self, entity_names: Sequence[str], relation_names: Sequence[str]) -> Self:
        """Return the same triples as codes into other vocabularies, -1 for a name they lack."""
        entities, relations = as_vocabulary(entity_names), as_vocabulary(relation_names)
        entity_codes = entities.codes(self.entity_names)
        return replace(
            self,
            heads=entity_codes[self.heads],
            relations=relations.translate(self.relations, self.relation_names),
            tails=entity_codes[self.tails],
            entity_names=entities,
            relation_names=relations,
        )

    def with_used_names(self) -> Self:
        """Return the same triples with vocabularies that hold no name but theirs."""
        entities = np.unique(np.concatenate([self.heads, self.tails]))
        relations = np.unique(self.relations)
        return self.recoded(self.entity_names.array[entities].tolist(), self.relation_names.array[relations].tolist())

    @cached_property
    def keys(self) -> IntArray:
        """One integer per triple, in the order of (head, relation, tail); equal for equal triples of this table."""
        return self._keys_of(self)

    def _keys_of(self, others: Triples) -> IntArray:
        """Return the key of each triple of a table with the same vocabularies, -1 where this one cannot have it."""
        pairs = others.heads.astype(np.int64) * len(self.relation_names) + others.relations
        missing = (others.heads < 0) | (others.relations < 0) | (others.tails < 0)
        if self._pairs is not None:
            place = np.minimum(np.searchsorted(self._pairs, pairs), len(self._pairs) - 1)
            missing |= self._pairs[place] != pairs
            pairs = place
        return np.where(missing, -1, pairs * len(self.entity_names) + others.tails)

    @cached_property
    def _pairs(self) -> IntArray | None:
        """The distinct pairs of head and relation, where a key made of all names would not fit into 64 bits."""
        if len(self.entity_names) ** 2 * len(self.relation_names) < MOST_KEYS or not len(self):
            return None
        return np.unique(self.heads.astype(np.int64) * len(self.relation_names) + self.relations)

    @cached_property
    def _by_key(self) -> IntArray:
        # Stable, so that of equal triples the first is found.
        return np.argsort(self.keys, kind="stable")

    def rows_of(self, others: Triples) -> IntArray:
        """Return the row of each triple of another table, -1 where this one does not have it, shape (M,)."""
        if not len(self):
            return np.full(len(others), -1, dtype=np.int64)
        plain = Triples(others.heads, others.relations, others.tails, others.entity_names, others.relation_names)
        wanted = self._keys_of(plain.recoded(self.entity_names, self.relation_names))
        own = self.keys[self._by_key]
        place = np.minimum(np.searchsorted(own, wanted), len(self) - 1)
        return np.where((wanted >= 0) & (own[place] == wanted), self._by_key[place], -1)

    def contains(self, others: Triples) -> BoolArray:
        """Return for each triple of another table whether this one has it, shape (M,)."""
        return self.rows_of(others) >= 0

    def find(self, heads: Iterable[str], relations: Iterable[str], tails: Iterable[str]) -> IntArray:
        """Return the row of each named triple, -1 where the table does not have it."""
        return self.rows_of(encode_columns(heads, relations, tails))

    def unique(self) -> Self:
        """Return each triple once, where it stood first."""
        order = self._by_key
        again = np.flatnonzero(np.diff(self.keys[order]) == 0) + 1
        return self.take(np.sort(np.delete(order, again))) if len(again) else self

    def sorted_once(self) -> Self:
        """Return each triple once, in the order of (head, relation, tail)."""
        keys = np.sort(self.keys)
        first = np.append(True, np.diff(keys) != 0) if len(keys) else np.zeros(0, dtype=np.bool_)
        pairs, tails = np.divmod(keys[first], max(len(self.entity_names), 1))
        pairs = pairs if self._pairs is None else self._pairs[pairs]
        heads, relations = np.divmod(pairs, max(len(self.relation_names), 1))
        return replace(self, heads=heads, relations=relations, tails=tails)

    def followed_by(self, others: Triples) -> Triples:
        """Return the triples of this table and then those of another, with the names that they use."""
        entities = Vocabulary(sorted({*self.entity_names, *others.entity_names}))
        relations = Vocabulary(sorted({*self.relation_names, *others.relation_names}))
        first, second = self.recoded(entities, relations), others.recoded(entities, relations)
        heads, relation_codes, tails = (
            np.append(getattr(first, name), getattr(second, name)) for name in ("heads", "relations", "tails")
        )
        return Triples(heads, relation_codes, tails, entities, relations).with_used_names()

    def union(self, others: Triples) -> Triples:
        """Return the triples of both tables, each once, with the names that they use."""
        return self.followed_by(others).unique()


def _as_rows(rows: ArrayLike) -> NDArray[Any]:
    """Return rows, or a mask, as an array that can be indexed by: an empty list has no kind of its own."""
    array = np.asarray(rows)
    return array if array.size else np.zeros(0, dtype=np.int64)


def as_vocabulary(names: Sequence[str]) -> Vocabulary:
    """Return names as a vocabulary, the same one if they are one already."""
    return names if isinstance(names, Vocabulary) else Vocabulary(names)


def encode_columns(
    heads: Iterable[str], relations: Iterable[str], tails: Iterable[str], scores: Sized | None = None
) -> Triples:
    """Encode three columns of names, refusing columns of different length (scores too) and what is no text."""
    columns: dict[str, Any] = {"head": as_arrow(heads), "relation": as_arrow(relations), "tail": as_arrow(tails)}
    in_arrow = all(column is not None for column in columns.values())
    if not in_arrow:
        columns = {"head": as_list(heads), "relation": as_list(relations), "tail": as_list(tails)}
    lengths = {**columns, **({} if scores is None else {"score": scores})}
    if len({len(column) for column in lengths.values()}) > 1:
        listed = ", ".join(f"{len(column)} {name}s" for name, column in lengths.items())
        raise TableError(f"The columns differ in length: {listed}.")
    head, relation, tail = columns.values()
    try:
        entity_names, codes = _encode_arrow(head, tail) if in_arrow else Vocabulary.encode(head + tail)
        relation_names, relation_codes = _encode_arrow(relation) if in_arrow else Vocabulary.encode(relation)
    except RowError:  # which knows neither the column nor its row
        raise next(_no_text(names, what) for what, names in columns.items() if not _is_text(names)) from None
    head_codes, tail_codes = np.split(codes, 2)
    return Triples(head_codes, relation_codes, tail_codes, entity_names, relation_names)


@dataclass(frozen=True, eq=False, repr=False)
class ScoredTriples(Triples):
    """Triples, each with the score a model gave it; bigger is more plausible.

    Build it with :meth:`from_columns`, which encodes the names and checks every row.

    Parameters
    ----------
    heads, relations, tails : int array of shape (N,)
        Codes into ``entity_names`` (heads, tails) and ``relation_names`` (relations).
    entity_names, relation_names : Vocabulary, or sequence of str
        Sorted vocabularies.
    scores : float array of shape (N,)
        Finite scores.
    probabilities : bool
        Whether the scores are probabilities of being true.
    """

    scores: FloatArray = field(kw_only=True)
    probabilities: bool = field(default=False, kw_only=True)

    @classmethod
    def from_columns(
        cls,
        heads: Iterable[str],
        relations: Iterable[str],
        tails: Iterable[str],
        scores: ArrayLike,
        *,
        probabilities: bool = False,
    ) -> Self:
        """Encode four columns of equal length, refusing empty tables, non-finite scores and duplicate triples.

        Parameters
        ----------
        heads, relations, tails : iterable of str
        scores : array of shape (N,)
            Bigger is more plausible.
        probabilities : bool
            Whether the scores are probabilities of being true, within 0 and 1: then `pooled` starts from them.
        """
        values = _as_numbers(scores)
        named = encode_columns(heads, relations, tails, values)
        if not len(named):
            raise TableError("There is no triple in the table.")
        codes = (named.heads, named.relations, named.tails)
        found = cls.from_codes(*codes, values, named.entity_names, named.relation_names)
        if probabilities and not are_probabilities(values):
            raise TableError("A probability must be within 0 and 1; leave out probabilities=True for other scores.")
        return replace(found, probabilities=probabilities)

    @classmethod
    def from_frame(cls, frame: Any) -> Self:
        """Take the columns head, relation, tail and score of a data frame, with the checks of :meth:`from_columns`.

        Parameters
        ----------
        frame : pandas or polars DataFrame or LazyFrame, pyarrow Table, DuckDB relation or dict of columns
            The first three may also be called subject, predicate and object, and be whole numbers, which become text.
            The score may be called probability or confidence; then, if all values are within 0 and 1, they are read as
            probabilities. Other columns are left alone.
        """
        found = cls.from_columns(*read_frame(frame, ("head", "relation", "tail", "score")))
        return replace(found, probabilities=has_probabilities(frame) and are_probabilities(found.scores))

    @classmethod
    def from_codes(
        cls,
        heads: IntArray,
        relations: IntArray,
        tails: IntArray,
        scores: FloatArray,
        entity_names: Sequence[str],
        relation_names: Sequence[str],
    ) -> Self:
        """Check columns that are encoded already, against sorted names."""
        names = as_vocabulary(entity_names), as_vocabulary(relation_names)
        triples = cls(heads, relations, tails, *names, scores=scores)
        triples.check()
        return triples

    def check(self) -> None:
        """Refuse a score that is no finite number, or too large to be added up, and a triple that is there twice."""
        bad = np.flatnonzero(~(np.abs(self.scores) <= MOST_SCORE))
        if bad.size:
            least = f", from {-MOST_SCORE:g} to {MOST_SCORE:g}" if np.isfinite(self.scores[bad[0]]) else ""
            problem = f"the score is {self.scores[bad[0]]}; every score must be a finite number{least}."
            raise RowError(int(bad[0]), problem)
        if (np.diff(np.sort(self.keys)) != 0).all():
            return
        again = np.flatnonzero(np.diff(self.keys[self._by_key]) == 0)
        later = self._by_key[again + 1]
        first = int(np.argmin(later))
        row, earlier = int(later[first]), int(self._by_key[again[first]])
        raise RowError(row, f"the triple {self.triple(row)} is there twice; keep one of the two.", earlier)

    @property
    def shape(self) -> tuple[int]:
        """How many rows there are, as scikit-learn asks for it."""
        return (len(self),)

    def __getitem__(self, rows: Any) -> Any:
        """Return some rows as a table, as scikit-learn takes them; of a single row its head, relation and tail."""
        rows = rows[0] if isinstance(rows, tuple) else rows
        return self.triple(int(rows)) if isinstance(rows, int | np.integer) else self.take(np.arange(len(self))[rows])

    def _more(self) -> str:
        return f", scores {self.scores.min():.4g} to {self.scores.max():.4g}" if len(self) else ""

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows (or those a mask keeps) as a table of their own."""
        rows = _as_rows(rows)
        return replace(super().take(rows), scores=self.scores[rows])

    def followed_by_scored(self, others: ScoredTriples) -> ScoredTriples:
        """Return the rows of this table and then those of another, none of which may be here already."""
        both = self.followed_by(others).with_scores(np.append(self.scores, others.scores))
        return replace(both, probabilities=self.probabilities and others.probabilities)

    def _frame_columns(self) -> dict[str, NDArray[Any]]:
        return {**super()._frame_columns(), "score": self.scores}

    def as_if(self, relation: int) -> Self:
        """Return the same triples as if all were of one relation."""
        return replace(self, relations=np.full_like(self.relations, relation))

    @cached_property
    def by_score(self) -> IntArray:
        """Rows from the lowest score to the highest; equal scores stay in row order."""
        return np.argsort(self.scores, kind="stable")

    @cached_property
    def ranks(self) -> IntArray:
        """Position of each row in :attr:`by_score`: integers that sort as the scores do, none twice."""
        ranks = np.empty(len(self), dtype=np.int64)
        ranks[self.by_score] = np.arange(len(self))
        return ranks

    @cached_property
    def relation_counts(self) -> IntArray:
        """How many triples each relation has, shape (R,)."""
        return np.bincount(self.relations, minlength=len(self.relation_names))


def are_probabilities(scores: FloatArray) -> bool:
    """Return whether all scores are within 0 and 1."""
    return bool(np.all((scores >= 0) & (scores <= 1)))


def _as_numbers(scores: ArrayLike) -> FloatArray:
    """Return scores as a float array of shape (N,), naming the first that is none."""
    try:
        return np.array(scores, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        for row, value in enumerate(np.asarray(scores, dtype=object).reshape(-1).tolist()):
            try:
                float(value)
            except (TypeError, ValueError):
                raise RowError(row, f"the score is {value!r}; every score must be a finite number.") from None
        raise


# WN11 and FB13, as they are given out, write -1 for false.
LABELS = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False, "-1": False, "-1.0": False}
"""How a label may be written, in whatever case."""
SELECTIONS = ("list", "random", "check", "gain", "given")
"""How a triple was selected: drawn from a list that is tested; drawn from the whole pool; drawn from what would be
accepted, or from the rest; where an answer teaches most; nobody knows.
"""
HOW = ("selection", "sampling_frame", "inclusion_probability", "frame_size", "who", "when", "round")
"""The columns that say how an answer came about, in files and frames."""
NUMBERS = ("inclusion_probability", "round", "frame_size")
"""Those of them that are numbers."""


def as_labels(labels: Any) -> NDArray[Any]:
    """Return labels as an array: true, false, or NaN where there is none; text is read as files are."""
    cells = as_list(labels)
    if not any(cell is None or isinstance(cell, str) or cell != cell for cell in cells):
        return np.asarray(cells)
    return np.array([_as_label(row, cell) for row, cell in enumerate(cells)])


def _as_label(row: int, cell: Any) -> float:
    if cell is None or cell != cell:
        return np.nan
    if not isinstance(cell, str):
        return float(cell)
    if cell.strip().lower() not in LABELS:
        raise RowError(
            row, f"the label is the text {cell!r}; write 1 (true), 0 (false), or nothing where none is known."
        )
    return float(LABELS[cell.strip().lower()])


def _column(values: ArrayLike, like: IntArray, name: str) -> NDArray[Any]:
    """Return one value for all rows, or one for each, as an array of their shape."""
    column = np.asarray(values, dtype=np.float64 if name in NUMBERS else object)
    if column.ndim and column.shape != like.shape:
        raise TableError(f"There are {like.size} rows but {column.size} values of {name}.")
    return np.array(np.broadcast_to(column, like.shape))


def _check_how(selection: NDArray[np.object_], probability: FloatArray, frame_size: FloatArray | float = 0.0) -> None:
    """Refuse selections, inclusion probabilities and frame sizes that cannot be."""
    strange = np.flatnonzero(~np.isin(selection, SELECTIONS))
    if strange.size:
        way = selection[strange[0]]
        raise RowError(
            int(strange[0]), f"{way!r} is no selection (column selection); there are: {', '.join(SELECTIONS)}."
        )
    wrong = np.flatnonzero(~(np.isnan(probability) | ((probability > 0) & (probability <= 1))))
    if wrong.size:
        raise RowError(
            int(wrong[0]), f"the inclusion_probability is {probability[wrong[0]]}; it is above 0 and at most 1."
        )
    below = np.flatnonzero(~(np.asarray(frame_size) >= 0))
    if below.size:
        size = np.atleast_1d(frame_size)[below[0]]
        raise RowError(int(below[0]), f"the frame_size is {size}; it is a number of candidates, or 0.")


@dataclass(frozen=True, eq=False, repr=False)
class Annotations:
    """Answers about some triples of a pool, and how each came to be asked.

    Each of the last six is one value for all or one for each; what is promised of decisions rests on them.

    Parameters
    ----------
    rows : int array of shape (l,)
        Rows of the pool, in the order they were judged; none twice.
    labels : bool array of shape (l,)
        True where the answer is "true".
    selection : str or object array of shape (l,)
        How it was selected, one of ``SELECTIONS``.
    sampling_frame : str or object array of shape (l,)
        The set that it was drawn from: ``pool``, ``accepted``, ``rejected``, ``relation``; empty where it was not.
    inclusion_probability : float or float array of shape (l,)
        How probable it was that this question was about this triple; NaN where nobody knows. An answer without a
        probability teaches, and proves nothing.
    frame_size : float or float array of shape (l,)
        How many candidates there were when it was asked; 0 where it is the pool as it is.
    who, when : str or object array of shape (l,)
        Who answered, and when (ISO 8601).
    round : float or float array of shape (l,)
        How many rounds of draws from a list had begun when it was answered; of such a draw, the number of its round.
    """

    rows: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    labels: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    selection: Any = "given"
    sampling_frame: Any = ""
    inclusion_probability: Any = np.nan
    frame_size: Any = 0.0
    who: Any = ""
    when: Any = ""
    round: Any = 0.0

    def __post_init__(self) -> None:
        rows, labels = np.asarray(self.rows), np.asarray(self.labels)
        if rows.shape != labels.shape or rows.ndim != 1:
            raise TableError(f"There are {rows.size} annotated rows but {labels.size} labels.")
        if rows.size and not np.issubdtype(rows.dtype, np.integer):
            raise TableError("Annotated rows must be whole numbers: positions in the pool.")
        if rows.size and int(rows.min()) < 0:
            raise TableError(f"Row {rows.min()} is annotated, but rows are counted from 0.")
        if len(np.unique(rows)) < len(rows):
            raise TableError("A row is annotated twice; give each triple one label.")
        wrong = np.flatnonzero((labels != 0) & (labels != 1))
        if wrong.size:
            raise RowError(int(wrong[0]), f"the label is {labels[wrong[0]]}; a label is 0 (false) or 1 (true).")
        object.__setattr__(self, "rows", rows.astype(np.int64))
        object.__setattr__(self, "labels", labels.astype(np.bool_))
        for name in HOW:
            object.__setattr__(self, name, _column(getattr(self, name), self.rows, name))
        _check_how(self.selection, self.inclusion_probability, self.frame_size)

    @classmethod
    def from_columns(
        cls,
        triples: Triples,
        heads: Iterable[str],
        relations: Iterable[str],
        tails: Iterable[str],
        labels: ArrayLike,
        **how: ArrayLike,
    ) -> Self:
        """Find named, labelled triples in the pool; equal answers count once, contradicting ones are refused.

        Of equal answers the first counts. ``how`` are any of the columns ``HOW``.
        """
        values, named = as_labels(labels), encode_columns(heads, relations, tails)
        if len(values) != len(named):
            raise TableError(f"There are {len(named)} annotated triples but {len(values)} labels.")
        rows = triples.rows_of(named)
        missing = np.flatnonzero(rows < 0)
        if missing.size:
            at = int(missing[0])
            name = named.triple(at)
            raise RowError(at, f"the triple {name} is not among the scored triples; a label needs a score.")
        _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        clash = np.flatnonzero(values != values[first][inverse])
        if clash.size:
            at, earlier = int(clash[0]), int(first[inverse[clash[0]]])
            name = triples.triple(rows[at])
            raise RowError(at, f"the triple {name} has both labels; decide which one is right.", earlier)
        columns = {name: _column(column, rows, name) for name, column in how.items()}
        _check_how(
            columns.get("selection", np.array("given")),
            columns.get("inclusion_probability", np.array(np.nan)),
            columns.get("frame_size", 0.0),
        )
        keep = np.sort(first)
        return cls(rows[keep], values[keep], **{name: column[keep] for name, column in columns.items()})

    @classmethod
    def from_frame(cls, triples: ScoredTriples, frame: Any) -> Self:
        """Find the triples of a data frame with the columns head, relation, tail and label in the pool.

        A row without a label (NaN, None) is not answered. The columns of ``HOW`` that it has say how each was asked.
        """
        unknown: dict[str, Any] = {
            "selection": "given",
            "inclusion_probability": np.nan,
            "round": 0.0,
            "frame_size": 0.0,
        }
        how = {
            name: [unknown.get(name, "") if cell is None or cell != cell else cell for cell in as_list(column)]
            for name, column in read_optional(frame, HOW).items()
        }
        heads, relations, tails, label = read_frame(frame, ("head", "relation", "tail", "label"))
        labels = as_labels(label)
        answered = np.flatnonzero(labels == labels)  # NaN is not equal to itself
        if len(answered) < len(labels):
            heads, relations, tails = (
                np.asarray(as_list(one), dtype=object)[answered] for one in (heads, relations, tails)
            )
            how = {name: np.asarray(column, dtype=object)[answered].tolist() for name, column in how.items()}
        return cls.from_columns(triples, heads, relations, tails, labels[answered], **how)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        drawn = int(self.has_inclusion_probability.sum())
        return f"Annotations({len(self):,} triples, {int(self.labels.sum()):,} true, {drawn:,} random draws)"

    @property
    def how(self) -> dict[str, NDArray[Any]]:
        """How each came about, by the names of ``HOW``."""
        return {name: getattr(self, name) for name in HOW}

    @property
    def has_inclusion_probability(self) -> BoolArray:
        """Which answers prove something beside what they teach: those with a known inclusion probability."""
        return np.asarray(np.isfinite(self.inclusion_probability))

    def plus(self, more: Annotations) -> Self:
        """Return these annotations followed by more."""
        names = ("rows", "labels", *HOW)
        return type(self)(*(np.concatenate([getattr(self, name), getattr(more, name)]) for name in names))

    def take(self, places: ArrayLike) -> Self:
        """Return some of the annotations (or those a mask keeps), in the order asked for."""
        places = np.asarray(places)
        return type(self)(*(getattr(self, name)[places] for name in ("rows", "labels", *HOW)))

    def first(self, count: int) -> Self:
        """Return the first ``count`` annotations."""
        return self.take(np.arange(min(count, len(self))))

    def drawn_at_random(self, pool: Sized) -> Self:
        """Return the same answers as a plain random draw from the pool."""
        return replace(
            self, selection="random", sampling_frame="pool", inclusion_probability=1 / max(len(pool), 1), frame_size=0.0
        )

    def without_inclusion_probability(self) -> Self:
        """Return the same answers as ones that teach and prove nothing: the set they were drawn from is another."""
        return replace(self, inclusion_probability=np.nan, round=0.0, frame_size=0.0)

    def drawn_from(self, count: int) -> Self:
        """Return the same answers about a pool of ``count`` candidates.

        Draws from another number of candidates lose their inclusion probability: it was another pool.
        """
        other = (self.frame_size != 0) & (self.frame_size != count)
        probability, rounds = np.where(other, np.nan, self.inclusion_probability), np.where(other, 0.0, self.round)
        return replace(self, inclusion_probability=probability, round=rounds, frame_size=0.0)


@dataclass(frozen=True, eq=False, repr=False)
class Picks:
    """Triples of a pool to be judged next, and how each was chosen.

    Parameters
    ----------
    rows : int array of shape (n,)
        Rows of the pool, the one to ask first in front; none twice.
    selection, sampling_frame, inclusion_probability, round : as in Annotations
        One value for all, or one for each.
    reasons : str or tuple of str
        Why it is asked, one sentence for the person who judges it.
    """

    rows: IntArray
    selection: Any = "gain"
    sampling_frame: Any = ""
    inclusion_probability: Any = np.nan
    reasons: Any = ""
    round: Any = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", np.asarray(self.rows, dtype=np.int64))
        for name in PICKED:
            object.__setattr__(self, name, _column(getattr(self, name), self.rows, name))
        _check_how(self.selection, self.inclusion_probability)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        ways, counts = np.unique(self.selection.astype(str), return_counts=True)
        listed = ", ".join(f"{count:,} {way}" for way, count in zip(ways.tolist(), counts.tolist(), strict=True))
        return f"Picks({len(self):,} triples: {listed or 'none'})"

    def take(self, places: ArrayLike) -> Self:
        """Return some of the picks (or those a mask keeps), in the order asked for."""
        places = np.asarray(places)
        return type(self)(self.rows[places], *(getattr(self, name)[places] for name in PICKED))

    def plus(self, more: Picks) -> Self:
        """Return these picks followed by more."""
        return type(self)(*(np.concatenate([getattr(self, name), getattr(more, name)]) for name in ("rows", *PICKED)))

    def answered(self, labels: ArrayLike, who: str = "") -> Annotations:
        """Return the answers to the picks, with how each was asked."""
        how = {name: getattr(self, name) for name in ("selection", "sampling_frame", "inclusion_probability", "round")}
        return Annotations(self.rows, np.asarray(labels), **how, who=who)


PICKED = ("selection", "sampling_frame", "inclusion_probability", "reasons", "round")
"""The columns of :class:`Picks` beside the rows."""


@dataclass(frozen=True, eq=False, repr=False)
class Thresholds:
    """Where "true" begins: a triple is accepted when its score is at least its relation's cut.

    Parameters
    ----------
    relation_names : tuple of str
        The relations of the pool the thresholds were found on, sorted.
    cuts : float array of shape (R,)
        One cut per relation, in units of the score; may be infinite (nothing, or everything, is accepted).
    default : float
        The cut of every other relation.
    own : bool array of shape (R,)
        False where a relation had nothing of its own to go by and ``cuts`` repeats ``default``.
    lower, upper : float array of shape (R,), optional
        An interval for each cut, where the method knows one.
    """

    relation_names: tuple[str, ...]
    cuts: FloatArray
    default: float
    own: BoolArray
    lower: FloatArray | None = None
    upper: FloatArray | None = None

    def __post_init__(self) -> None:
        count = len(self.relation_names)
        columns = {"cuts": self.cuts, "own": self.own, "lower": self.lower, "upper": self.upper}
        for name, values in columns.items():
            if values is not None and len(values) != count:
                raise TableError(f"There are {count} relations but {len(values)} values of {name}.")
        if np.isnan(self.cuts).any() or np.isnan(self.default):
            raise TableError("A threshold is not a number (NaN).")

    @classmethod
    def from_cuts(
        cls,
        pool: ScoredTriples,
        annotations: Annotations,
        cuts: FloatArray,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
    ) -> Self:
        """Take the cuts found on a pool, and their interval, each of shape (R + 1,) with the default last."""
        own = cuts[:-1] != cuts[-1]  # some methods differ between relations before anybody judged them
        own[pool.relations[annotations.rows]] = True
        low, high = (None if bound is None else bound[:-1] for bound in (lower, upper))
        return cls(pool.relation_names, cuts[:-1], float(cuts[-1]), own, low, high)

    def __repr__(self) -> str:
        own = int(np.sum(self.own))
        return f"Thresholds({len(self.cuts):,} relations, {own:,} by answers of their own, default {self.default:.4g})"

    def _repr_html_(self) -> str:
        """Return the cuts as a table, for a notebook."""
        columns = {"relation": self.relation_names, "threshold": self.cuts.tolist(), "own answers": self.own.tolist()}
        bounds = {"lower": self.lower, "upper": self.upper}
        columns |= {name: values.tolist() for name, values in bounds.items() if values is not None}
        return html_table(repr(self), columns, len(self.cuts))

    @property
    def cuts_and_default(self) -> FloatArray:
        """The cuts, the default last, shape (R + 1,)."""
        return np.append(self.cuts, self.default)

    def of(self, triples: ScoredTriples) -> FloatArray:
        """Return the cut that applies to each triple, shape (N,)."""
        codes = as_vocabulary(self.relation_names).translate(triples.relations, triples.relation_names)
        return self.cuts_and_default[codes]  # a relation without a cut has the code -1, where the default stands

    def decide(self, triples: ScoredTriples) -> BoolArray:
        """Return for each triple whether it is accepted."""
        return triples.scores >= self.of(triples)
