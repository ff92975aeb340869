"""The tables that everyone passes: scored triples, annotations beside them, thresholds at the end.

All are frozen, made of aligned numpy arrays, and checked once, here: a function that receives one may trust it.
Names are dictionary-encoded against sorted vocabularies, so comparing codes is comparing names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import repeat
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from actc.data.frames import (
    SCORED,
    SHOWN,
    TRIPLE,
    Columns,
    as_arrow,
    as_list,
    has_probabilities,
    make_frame,
    read_frame,
    read_further,
)
from actc.errors import OptionError, RowError, TableError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Vocabulary(tuple[str, ...]):
    """Distinct names; a name's code is its place among them. Those that :meth:`encode` makes are sorted.

    It is a tuple of strings with the look-ups that tables of triples need, made once for all tables that share it.
    """

    @classmethod
    def encode(cls, names: Sequence[str]) -> tuple[Self, IntArray]:
        """Return the sorted distinct names of a column and each row's code."""
        vocabulary = cls(sorted(dict.fromkeys(names)))
        return vocabulary, vocabulary.codes(names)

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


MOST_KEYS = 2**63  # a key is a signed integer of 64 bits
MOST_SCORE = 1e100  # squares of such numbers can still be added up


def _encode_arrow(*texts: Any) -> tuple[Vocabulary, IntArray]:
    """Encode arrays that :func:`actc.data.frames.as_arrow` gave: UTF-8 is ordered as Python orders text."""
    from pyarrow import compute, concat_arrays

    encoded = concat_arrays(texts).dictionary_encode()
    order = compute.sort_indices(encoded.dictionary)
    names = encoded.dictionary.take(order).to_numpy(zero_copy_only=False).tolist()
    codes = np.empty(len(order), dtype=np.int64)
    codes[order.to_numpy()] = np.arange(len(order))
    return Vocabulary(names), codes[encoded.indices.to_numpy()]


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
            object.__setattr__(self, field_name, as_vocabulary(getattr(self, field_name)))

    def __len__(self) -> int:
        return len(self.heads)

    def __repr__(self) -> str:
        sizes = f"{len(self):,} triples, {len(self.entity_names):,} entities, {len(self.relation_names):,} relations"
        return f"{type(self).__name__}({sizes})"

    def triple(self, row: int) -> tuple[str, str, str]:
        """Return the names of one triple: head, relation, tail."""
        return (
            self.entity_names[self.heads[row]],
            self.relation_names[self.relations[row]],
            self.entity_names[self.tails[row]],
        )

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the names: head, relation, tail, each an object array of shape (N,)."""
        entities, relations = self.entity_names.array, self.relation_names.array
        return {"head": entities[self.heads], "relation": relations[self.relations], "tail": entities[self.tails]}

    def _repr_html_(self) -> str | None:
        """Return the first rows as pandas shows them, for a notebook; None, for the line alone, without pandas."""
        try:
            first = self.take(np.arange(min(len(self), SHOWN))).to_frame()
        except OptionError:
            return None
        return f"<p>{escape(repr(self))}</p>{first.to_html(index=False, float_format='{:.4g}'.format)}"

    def table_columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the table as a frame has them."""
        return self.columns()

    def to_frame(self, library: str = "pandas") -> Any:
        """Return the table as a data frame: head, relation, tail (and score), one row for each triple.

        Parameters
        ----------
        library : str
            ``pandas``, ``polars``, ``polars-lazy``, ``pyarrow`` or ``duckdb``, whichever is installed.
        """
        return make_frame(self.table_columns(), library)

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows (or those a mask keeps) as a table of their own, with the same vocabularies."""
        rows = _as_rows(rows)
        return replace(self, heads=self.heads[rows], relations=self.relations[rows], tails=self.tails[rows])

    def plain(self) -> Triples:
        """Return the same triples without anything beside them."""
        return Triples(self.heads, self.relations, self.tails, self.entity_names, self.relation_names)

    def with_scores(self, scores: ArrayLike) -> ScoredTriples:
        """Return the same triples with the given scores, row by row."""
        names = self.entity_names, self.relation_names
        return ScoredTriples(self.heads, self.relations, self.tails, *names, scores=np.asarray(scores, np.float64))

    def without_scores(self) -> ScoredTriples:
        """Return the same triples as candidates that nobody has scored, without anything beside them."""
        return self.plain().with_scores(np.full(len(self), np.nan))

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
        """One integer per triple, in the order of (head, relation, tail); equal for equal triples; -1 if a code is."""
        entities, relations = len(self.entity_names), len(self.relation_names)
        if entities**2 * relations >= MOST_KEYS:
            raise TableError(f"{entities:,} entities and {relations:,} relations are too many to number all triples.")
        missing = (self.heads < 0) | (self.relations < 0) | (self.tails < 0)
        pairs = self.heads.astype(np.int64) * relations + self.relations
        return np.where(missing, -1, pairs * entities + self.tails)

    @cached_property
    def _by_key(self) -> IntArray:
        # Stable, so that of equal triples the first is taken.
        return np.argsort(self.keys, kind="stable")

    def rows_of(self, others: Triples) -> IntArray:
        """Return the row of each triple of another table, -1 where this one does not have it, shape (M,)."""
        if not len(self):
            return np.full(len(others), -1, dtype=np.int64)
        wanted = others.plain().recoded(self.entity_names, self.relation_names).keys
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
        first = np.unique(self.keys, return_index=True)[1]
        return self if len(first) == len(self) else self.take(np.sort(first))

    def sorted_once(self) -> Self:
        """Return each triple once, in the order of (head, relation, tail)."""
        return self.take(np.unique(self.keys, return_index=True)[1])

    def followed_by(self, others: Triples) -> Triples:
        """Return the triples of this table and then those of another, with the names that they use."""
        return self.stack(others).with_used_names()

    def stack(self, others: Triples) -> Triples:
        """Return the same with all names of both tables."""
        entities = Vocabulary(sorted({*self.entity_names, *others.entity_names}))
        relations = Vocabulary(sorted({*self.relation_names, *others.relation_names}))
        first, second = self.recoded(entities, relations), others.recoded(entities, relations)
        heads, relation_codes, tails = (
            np.append(getattr(first, name), getattr(second, name)) for name in ("heads", "relations", "tails")
        )
        return Triples(heads, relation_codes, tails, entities, relations)

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
    given = (heads, relations, tails)
    in_arrow = [text for text in map(as_arrow, given) if text is not None]
    columns = in_arrow if len(in_arrow) == len(given) else [as_list(column) for column in given]
    lengths = [len(column) for column in (*columns, *(() if scores is None else (scores,)))]
    if len(set(lengths)) > 1:
        sizes = ", ".join(f"{count} {name}s" for count, name in zip(lengths, SCORED, strict=False))
        raise TableError(f"The columns differ in length: {sizes}.")
    if columns is in_arrow:
        head, relation, tail = columns
        (entity_names, codes), (relation_names, relation_codes) = _encode_arrow(head, tail), _encode_arrow(relation)
    else:
        head, relation, tail = map(_check_text, columns, TRIPLE)
        (entity_names, codes), (relation_names, relation_codes) = map(Vocabulary.encode, (head + tail, relation))
    head_codes, tail_codes = np.split(codes, 2)
    return Triples(head_codes, relation_codes, tail_codes, entity_names, relation_names)


def _check_text(names: list[Any], what: str) -> list[str]:
    """Return a column of names; refuse one with anything but text in it."""
    if all(issubclass(kind, str) for kind in set(map(type, names))):
        return names
    row = next(row for row, name in enumerate(names) if not isinstance(name, str))
    kind = type(names[row]).__name__
    raise RowError(row, f"the {what} is {names[row]!r} ({kind}); every head, relation and tail must be text (str).")


@dataclass(frozen=True, eq=False, repr=False)
class ScoredTriples(Triples):
    """Triples, each with a score, bigger being more plausible; and what else is known of each, in named columns.

    Build it with :meth:`from_columns`, which encodes the names and checks every row.

    Parameters
    ----------
    heads, relations, tails : int array of shape (N,)
        Codes into ``entity_names`` (heads, tails) and ``relation_names`` (relations).
    entity_names, relation_names : Vocabulary, or sequence of str
        Sorted vocabularies.
    scores : float array of shape (N,)
        Finite scores; NaN where candidates have none yet.
    probabilities : bool
        Whether the scores are probabilities of being true.
    further : dict of arrays of shape (N,)
        Further columns by their names, such as the text that a triple was taken from: they come back in every output.
    pieces : dict of float arrays of shape (N,)
        Pieces of evidence by their names, NaN where one is missing: what proposers say of a candidate (a model's score,
        the confidence of a rule), and what the graph shows of it. No output repeats them.
    """

    scores: FloatArray = field(kw_only=True)
    probabilities: bool = field(default=False, kw_only=True)
    further: Mapping[str, NDArray[Any]] = field(default_factory=dict, kw_only=True)
    pieces: Mapping[str, FloatArray] = field(default_factory=dict, kw_only=True)

    @classmethod
    def from_columns(
        cls,
        heads: Iterable[str],
        relations: Iterable[str],
        tails: Iterable[str],
        scores: ArrayLike,
        *,
        probabilities: bool = False,
    ) -> ScoredTriples:
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
        scored = replace(named.with_scores(values), probabilities=probabilities)
        scored.check()
        if probabilities and not are_probabilities(values):
            raise TableError("A probability must be within 0 and 1; leave out probabilities=True for other scores.")
        return scored

    @classmethod
    def from_frame(cls, frame: Any, *, columns: Columns = None) -> ScoredTriples:
        """Take the columns head, relation, tail and score of a data frame, with the checks of :meth:`from_columns`.

        Parameters
        ----------
        frame : pandas or polars DataFrame or LazyFrame, pyarrow Table, DuckDB relation or dict of columns
            The first three may also be called subject, predicate and object, and be whole numbers, which become text.
            The score may be called probability or confidence; then, if all values are within 0 and 1, they are read as
            probabilities. Other columns stay beside them, but those of a frame that is not in memory.
        columns : str or dict, optional
            The frame's own names of columns, where they are others: ``{"head": "subj", "score": "weight"}``.
        """
        scored = cls.from_columns(*read_frame(frame, SCORED, columns))
        probabilities = has_probabilities(frame, columns) and are_probabilities(scored.scores)
        return replace(scored, probabilities=probabilities, further=read_further(frame, SCORED, columns))

    def check(self) -> None:
        """Refuse a score that is no finite number, or too large to be added up, and a triple that is there twice."""
        bad = np.flatnonzero(~(np.abs(self.scores) <= MOST_SCORE))
        if bad.size:
            least = f", from {-MOST_SCORE:g} to {MOST_SCORE:g}" if np.isfinite(self.scores[bad[0]]) else ""
            problem = f"the score is {self.scores[bad[0]]}; every score must be a finite number{least}."
            raise RowError(int(bad[0]), problem)
        again = np.flatnonzero(np.diff(self.keys[self._by_key]) == 0)
        if again.size:
            row, earlier = min((int(self._by_key[at + 1]), int(self._by_key[at])) for at in again)
            raise RowError(row, f"the triple {self.triple(row)} is there twice; keep one of the two.", earlier)

    @property
    def shape(self) -> tuple[int]:
        """How many rows there are, as scikit-learn asks for it."""
        return (len(self),)

    def __getitem__(self, rows: Any) -> Any:
        """Return some rows as a table, as scikit-learn takes them; of a single row its head, relation and tail."""
        rows = rows[0] if isinstance(rows, tuple) else rows
        return self.triple(int(rows)) if isinstance(rows, int | np.integer) else self.take(np.arange(len(self))[rows])

    def __repr__(self) -> str:
        scores = f", scores {self.scores.min():.4g} to {self.scores.max():.4g}" if len(self) else ""
        return f"{super().__repr__()[:-1]}{scores})"

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows (or those a mask keeps) as a table of their own."""
        rows = _as_rows(rows)
        further, pieces = ({name: one[rows] for name, one in kind.items()} for kind in (self.further, self.pieces))
        return replace(super().take(rows), scores=self.scores[rows], further=further, pieces=pieces)

    def with_pieces(self, **pieces: FloatArray) -> Self:
        """Return the same triples with more pieces of evidence, each of shape (N,)."""
        for name, column in pieces.items():
            if len(column) != len(self):
                raise TableError(f"There are {len(self)} triples but {len(column)} values of {name}.")
        return replace(self, pieces={**self.pieces, **pieces})

    def without_pieces(self) -> Self:
        """Return the same triples without the evidence beside them."""
        return replace(self, pieces={})

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return head, relation and tail as names, and the further columns, each of shape (N,)."""
        return {**super().columns(), **self.further}

    def with_scores(self, scores: ArrayLike) -> ScoredTriples:
        """Return the same triples with other scores, and the same columns beside them."""
        return replace(self, scores=np.asarray(scores, dtype=np.float64), probabilities=False)

    def table_columns(self) -> dict[str, NDArray[Any]]:
        """Return head, relation, tail, score, and the further columns."""
        return {**self.plain().columns(), "score": self.scores, **self.further}

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
    """Return scores as a float array of shape (N,); refuse the first value that is no number."""
    try:
        return np.array(scores, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        for row, value in enumerate(np.asarray(scores, dtype=object).reshape(-1).tolist()):
            try:
                float(value)
            except (TypeError, ValueError):
                raise RowError(row, f"the score is {value!r}; every score must be a finite number.") from None
        raise


@dataclass(frozen=True, eq=False, repr=False)
class Thresholds:
    """Where "true" begins: a triple is accepted when its score is at least its relation's cut.

    Parameters
    ----------
    relation_names : tuple of str
        The relations of the pool the thresholds were fitted on, sorted.
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
        answered: IntArray,
        cuts: FloatArray,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
    ) -> Self:
        """Take the cuts of a pool from answers on some rows, each of shape (R + 1,) with the default last."""
        own = cuts[:-1] != cuts[-1]  # some methods differ between relations before anybody judged them
        own[pool.relations[answered]] = True
        low, high = (None if bound is None else bound[:-1] for bound in (lower, upper))
        return cls(pool.relation_names, cuts[:-1], float(cuts[-1]), own, low, high)

    def __repr__(self) -> str:
        own = int(np.sum(self.own))
        return f"Thresholds({len(self.cuts):,} relations, {own:,} by answers of their own, default {self.default:.4g})"

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
