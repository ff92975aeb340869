"""Answers about triples: by triple, as files, frames and sessions have them, and by row of a pool, as methods use them.

An answer is about a triple, not about a score: it outlives the model and the candidates that it was given to.
:meth:`Answers.on` is the one place where the rows of answers are looked up.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from actc.data.files import read_texts, write_triples
from actc.data.frames import TRIPLE, as_labels, as_list, make_frame, read_frame, read_optional
from actc.data.layout import find_layout, require, rows_named_by
from actc.data.triples import BoolArray, FloatArray, IntArray, Triples, encode_columns
from actc.errors import RowError, TableError

LOG = logging.getLogger("actc")
SELECTIONS = ("list", "random", "check", "gain", "given")
"""How a triple was selected: drawn from a list that is tested; drawn from the whole pool; drawn from what would be
accepted, or from the rest; where an answer is worth most; nobody knows.
"""
PROVENANCE = ("selection", "sampling_frame", "inclusion_probability", "frame_size", "who", "when", "round")
"""The columns that say how an answer came about, in files and frames."""
NUMBERS = {"inclusion_probability": np.nan, "round": 0.0, "frame_size": 0.0}
"""Those of them that are numbers, with the number that means unknown."""
UNUSED = (
    ("is a fact of the graph already", "are facts of the graph already"),
    ("names an entity or a relation that is unknown here", "name an entity or a relation that is unknown here"),
    ("is not among the candidates", "are not among the candidates"),
)
"""Why an answer is not used, and why several are not, in the order in which it is looked for."""
OTHER_POOL = (
    "They were drawn from other candidates than these: the method is fitted with them, but estimates and guarantees "
    "do not rest on them."
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Provenance:
    """How triples were selected, and who judged them: each is one value for all or one for each of n.

    Parameters
    ----------
    selection : str or object array of shape (n,)
        How it was selected, one of ``SELECTIONS``.
    sampling_frame : str or object array of shape (n,)
        The set that it was drawn from: ``pool``, ``accepted``, ``rejected``, ``relation``; empty where it was not.
    inclusion_probability : float or float array of shape (n,)
        How probable it was that this question was about this triple; NaN where nobody knows. An answer without one
        is used to fit, not to estimate or to guarantee.
    frame_size : float or float array of shape (n,)
        How many candidates there were when it was selected; 0 where it is the pool as it is.
    who, when : str or object array of shape (n,)
        Who answered, and when (ISO 8601).
    round : float or float array of shape (n,)
        How many rounds of draws from a list had begun when it was answered; of such a draw, the number of its round.
    """

    selection: Any = "given"
    sampling_frame: Any = ""
    inclusion_probability: Any = np.nan
    frame_size: Any = 0.0
    who: Any = ""
    when: Any = ""
    round: Any = 0.0

    def _check(self) -> None:
        """Make a column of each value, and refuse what cannot be."""
        for name in PROVENANCE:
            object.__setattr__(self, name, _column(name, getattr(self, name), len(self)))
        p = self.inclusion_probability
        ways = ", ".join(SELECTIONS)
        for name, fits, rule in (
            ("selection", np.isin(self.selection, SELECTIONS), f"there are: {ways}"),
            ("inclusion_probability", np.isnan(p) | ((p > 0) & (p <= 1)), "it is above 0 and at most 1"),
            ("frame_size", self.frame_size >= 0, "it is a number of candidates, or 0"),
        ):
            if not fits.all():
                row = int(np.argmin(fits))
                raise RowError(row, f"the {name} is {getattr(self, name)[row]!r}; {rule}.")

    def __len__(self) -> int:
        raise NotImplementedError

    def __repr__(self) -> str:
        drawn = int(self.has_inclusion_probability.sum())
        return f"{type(self).__name__}({len(self):,} triples, {drawn:,} random draws)"

    @property
    def provenance(self) -> dict[str, NDArray[Any]]:
        """The columns of ``PROVENANCE``."""
        return {name: getattr(self, name) for name in PROVENANCE}

    @property
    def has_inclusion_probability(self) -> BoolArray:
        """Which are random draws with a known probability: estimates and guarantees rest on these."""
        return np.asarray(np.isfinite(self.inclusion_probability))

    def without_inclusion_probability(self) -> Self:
        """Return the same without what estimates rest on: it was drawn from another set."""
        return replace(self, inclusion_probability=np.nan, round=0.0, frame_size=0.0)

    def take(self, places: ArrayLike) -> Self:
        """Return some (or those a mask keeps), in the given order."""
        places = np.arange(len(self))[np.asarray(places)]
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(self, **{name: it.take(places) for name, it in columns.items() if it is not None})

    def first(self, count: int) -> Self:
        """Return the first ``count``."""
        return self.take(np.arange(min(count, len(self))))

    def plus(self, more: Self) -> Self:
        """Return these followed by more."""
        pairs = {one.name: (getattr(self, one.name), getattr(more, one.name)) for one in fields(self)}
        return type(self)(**{name: _join(*pair) for name, pair in pairs.items()})


def _join(first: Any, second: Any) -> Any:
    if isinstance(first, Triples):
        return first.followed_by(second)
    return None if first is None or second is None else np.concatenate([first, second])


def _column(name: str, values: ArrayLike, count: int) -> NDArray[Any]:
    """Return one value for all rows, or one for each, as an array of shape (count,)."""
    column = np.asarray(values, dtype=np.float64 if name in NUMBERS else object)
    if column.ndim and column.shape != (count,):
        raise TableError(f"There are {count} rows but {column.size} values of {name}.")
    return np.array(np.broadcast_to(column, (count,)))


def _checked_labels(labels: ArrayLike) -> BoolArray:
    """Return labels as booleans, refusing what is neither 0 nor 1."""
    values = np.asarray(labels)
    wrong = np.flatnonzero((values != 0) & (values != 1))
    if wrong.size:
        raise RowError(int(wrong[0]), f"the label is {values[wrong[0]]}; a label is 0 (false) or 1 (true).")
    return values.astype(np.bool_)


@dataclass(frozen=True, eq=False, repr=False)
class Annotations(Provenance):
    """Answers by row of a pool: what :meth:`Answers.on` gives, and methods are fitted with.

    Parameters
    ----------
    rows : int array of shape (n,)
        Rows of the pool, in the order they were judged; none twice.
    labels : bool array of shape (n,)
        True where the answer is "true".
    selection, ..., round
        See :class:`Provenance`.
    """

    rows: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    labels: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

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
        object.__setattr__(self, "rows", rows.astype(np.int64))
        object.__setattr__(self, "labels", _checked_labels(labels))
        self._check()

    def __len__(self) -> int:
        return len(self.rows)

    def about(self, pool: Triples) -> Answers:
        """Return the same answers by triple, with the size of the pool beside random draws from it."""
        if len(self) and self.rows.max() >= len(pool):
            raise TableError(f"Row {self.rows.max()} is annotated, but the pool has only {len(pool):,} triples.")
        here = self.has_inclusion_probability & (self.frame_size == 0)
        provenance = self.provenance | {"frame_size": np.where(here, len(pool), self.frame_size)}
        return Answers(pool.plain().take(self.rows).with_used_names(), self.labels, **provenance)


@dataclass(frozen=True, eq=False, repr=False)
class Picks(Provenance):
    """Triples of a pool to be judged next, and how each was selected.

    Parameters
    ----------
    rows : int array of shape (n,)
        Rows of the pool, the one to ask first in front; none twice.
    reasons : str or tuple of str
        Why it is selected, one sentence for the person who judges it.
    selection, ..., round
        See :class:`Provenance`.
    """

    rows: IntArray
    reasons: Any = ""
    selection: Any = field(default="gain", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", np.asarray(self.rows, dtype=np.int64))
        object.__setattr__(self, "reasons", _column("reasons", self.reasons, len(self.rows)))
        self._check()

    def __len__(self) -> int:
        return len(self.rows)

    def answered(self, labels: ArrayLike, who: str = "") -> Annotations:
        """Return the answers to the picks."""
        return Annotations(self.rows, np.asarray(labels), **{**self.provenance, "who": who})


@dataclass(frozen=True, eq=False, repr=False)
class Answers(Provenance):
    """Answers by triple, whichever pool they are about: people's, a file's, or judges'.

    Parameters
    ----------
    triples : Triples
        What they are about; each once, of judges once for each judge.
    labels : bool array of shape (n,)
        True where the answer is "true".
    probability : float array of shape (n,), optional
        P(true) of answers that come with one: a judge's, or a decision's; NaN where there is none.
    selection, ..., round
        See :class:`Provenance`.

    Examples
    --------
    >>> from actc import Answers, ScoredTriples
    >>> pool = ScoredTriples.from_columns("abcd", "rrrr", "wxyz", [0.1, 0.4, 0.6, 0.9])
    >>> answers = Answers.of(pool, rows=[1, 2], labels=[False, True])
    >>> answers.on(pool).rows.tolist()
    [1, 2]
    """

    triples: Triples = field(default_factory=lambda: encode_columns([], [], []))
    labels: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    probability: FloatArray | None = None

    def __post_init__(self) -> None:
        columns = {"labels": self.labels} | ({} if self.probability is None else {"probability": self.probability})
        for name, column in columns.items():
            if np.shape(column) != (len(self.triples),):
                raise TableError(f"There are {len(self.triples)} answered triples but {np.size(column)} {name}.")
        object.__setattr__(self, "labels", _checked_labels(self.labels))
        self._check()

    def __len__(self) -> int:
        return len(self.triples)

    @classmethod
    def of(cls, pool: Triples, rows: ArrayLike, labels: ArrayLike, **provenance: Any) -> Answers:
        """Take the answers about some rows of a pool.

        Parameters
        ----------
        pool : Triples
        rows : int array of shape (n,)
        labels : bool array of shape (n,)
        **provenance
            Columns of :class:`Provenance`, such as ``who``.
        """
        if not isinstance(pool, Triples):
            raise TableError(f"A pool was expected, not a {type(pool).__name__}; use ScoredTriples.from_frame(frame).")
        return Annotations(np.asarray(rows), np.asarray(labels), **provenance).about(pool)

    @classmethod
    def from_columns(
        cls,
        heads: Iterable[str],
        relations: Iterable[str],
        tails: Iterable[str],
        labels: ArrayLike,
        **provenance: Any,
    ) -> Self:
        """Take named, labelled triples; equal answers count once, contradicting ones are refused.

        A row without a label (NaN, None) is not answered. Of equal answers the first counts.
        """
        values, triples = as_labels(labels), encode_columns(heads, relations, tails)
        if len(values) != len(triples):
            raise TableError(f"There are {len(triples)} annotated triples but {len(values)} labels.")
        rows = np.flatnonzero(values == values)  # NaN is not equal to itself
        every = cls(triples, np.where(values == values, values, 0), **provenance).take(rows)
        same = every.triples.rows_of(every.triples)
        clash = np.flatnonzero(every.labels != every.labels[same])
        if clash.size:
            at, earlier = int(rows[clash[0]]), int(rows[same[clash[0]]])
            raise RowError(at, f"the triple {triples.triple(at)} has both labels; decide which one is right.", earlier)
        return every.take(same == np.arange(len(same)))

    @classmethod
    def from_frame(cls, frame: Any) -> Self:
        """Take the columns head, relation, tail and label of a data frame, and those of :class:`Provenance`.

        A row without a label is not answered. With a column ``judge`` it is who answered, ``probability`` may stand in
        the place of the label, and of a judge that answered twice the later answer counts.
        """
        there = read_optional(frame, ("label", "judge", "probability", *PROVENANCE))
        more = {name: _cells(name, column) for name, column in there.items() if name in PROVENANCE}
        if "judge" not in there:
            return cls.from_columns(*read_frame(frame, (*TRIPLE, "label")), **more)
        heads, relations, tails = read_frame(frame, TRIPLE)
        if not {"label", "probability"} & there.keys():
            raise TableError("The answers of judges need a column 'label' (1 or 0) or 'probability' (0 to 1).")
        p = _cells("probability", there.get("probability", [None] * len(heads)))
        wrong = np.flatnonzero((p < 0) | (p > 1))
        if wrong.size:
            row = int(wrong[0])
            raise RowError(row, f"the probability is {p[row]:g}; write a number from 0 to 1, or nothing.")
        label = np.asarray(as_labels(there["label"]), dtype=np.float64) if "label" in there else p
        who = np.array([str(name) for name in as_list(there["judge"])], dtype=object)
        every = cls(encode_columns(heads, relations, tails), label > 0.5, p, **{**more, "who": who})
        given = np.flatnonzero(~np.isnan(label) & (label != 0.5))
        keys = zip(every.triples.keys[given].tolist(), who[given].tolist(), strict=True)
        last = dict(zip(keys, given.tolist(), strict=True))
        return every.take(np.array(sorted(last.values()), dtype=np.int64))

    @classmethod
    def read(cls, path: str | Path, judges: bool = False) -> Self:
        """Read a table of answers: what :meth:`from_frame` takes, or without a header head, relation, tail, label.

        Those of judges need a column ``judge``.
        """
        layout = find_layout(path, order=(*TRIPLE, "label")).with_columns(("judge", "probability", *PROVENANCE))
        judges = judges or "judge" in layout.columns
        require(layout, (*TRIPLE, "judge" if judges else "label"))
        with rows_named_by(layout):
            answers = cls.from_frame(read_texts(layout, TRIPLE))
            if not len(answers):
                raise TableError("no answer has a label: put 1 (true) or 0 (false) into the column label.")
            return answers

    def write(self, path: str | Path) -> None:
        """Write a table of answers; what :meth:`read` reads."""
        write_triples(path, self.columns())

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a data frame; what :meth:`from_frame` takes."""
        return make_frame(self.columns(), library)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return head, relation, tail, label and the columns of :class:`Provenance`, as files and frames have them."""
        numbers = {"round": self.round.astype(np.int64), "frame_size": self.frame_size.astype(np.int64)}
        numbers["inclusion_probability"] = np.ma.masked_invalid(self.inclusion_probability)
        probability = {} if self.probability is None else {"probability": np.ma.masked_invalid(self.probability)}
        label = {"label": self.labels.astype(np.int64)}
        return {**self.triples.columns(), **label, **probability, **self.provenance, **numbers}

    def plus(self, more: Answers) -> Answers:
        """Return these and more; of a triple that is in both, the later answer."""
        return super(Answers, self.take(~more.triples.contains(self.triples))).plus(more)

    def on(self, pool: Triples) -> Annotations:
        """Return the answers about triples of a pool, with their rows; draws from another pool serve the fit alone."""
        rows, other = self.places(pool)
        changed = {
            "inclusion_probability": np.where(other, np.nan, self.inclusion_probability),
            "round": np.where(other, 0.0, self.round),
            "frame_size": np.zeros(len(self)),
        }
        here = {name: column[rows >= 0] for name, column in (self.provenance | changed).items()}
        return Annotations(rows[rows >= 0], self.labels[rows >= 0], **here)

    def warn_of_unused(self, pool: Triples, graph: Triples | None = None, source: str | Path = "answers") -> Self:
        """Print, through the logger ``actc``, why answers are not used, or only to fit; refuse them if none is."""
        for note in self.describe_use(pool, graph, source):
            LOG.warning("%s: %s", source, note)
        return self

    def places(self, pool: Triples) -> tuple[IntArray, BoolArray]:
        """Return the row of each answer in a pool, -1 where it is about none; and whether it was drawn from another.

        The number of candidates tells pools apart; of a pool of that size in which a draw is missing, all were drawn
        from another one.
        """
        rows = pool.rows_of(self.triples)
        other = (self.frame_size != 0) & (self.frame_size != len(pool))
        return rows, other | bool((self.has_inclusion_probability & ~other & (rows < 0)).any())

    def describe_use(self, pool: Triples, graph: Triples | None = None, source: str | Path = "answers") -> list[str]:
        """Return why answers are not used, or are used to fit alone; nothing where every one is used as it is.

        Answers of which none is about a triple of the pool are refused.
        """
        rows, other = self.places(pool)
        used, drawn = rows >= 0, (rows >= 0) & self.has_inclusion_probability
        if len(self) and not used.any():
            why = self._explain_unused(pool, graph)
            swapped = replace(self.triples, heads=self.triples.tails, tails=self.triples.heads)
            if pool.contains(swapped).mean() > 0.5:
                why = "head and tail are the other way round; swap the two columns"
            raise TableError(
                f"{source}: none of its {len(self):,} answers is about the {len(pool):,} candidates: {why}."
            )
        lines = [] if used.all() else [self.describe_unused(pool, graph)]
        return [*lines, OTHER_POOL] if drawn.any() and other[drawn].all() else lines

    def describe_unused(self, pool: Triples, graph: Triples | None = None) -> str:
        """Describe how many answers are about triples of a pool, and why others are not."""
        used, why = int(pool.contains(self.triples).sum()), self._explain_unused(pool, graph)
        summary = f"{used:,} of {len(self):,} answers can be used"
        return f"{summary}; {why}." if why else f"{summary}."

    def _explain_unused(self, pool: Triples, graph: Triples | None) -> str:
        """Count the answers that are about no candidate, by why they are not: ``3 are facts of the graph already``."""
        others = self.triples.take(~pool.contains(self.triples))
        facts = np.zeros(len(others), dtype=np.bool_) if graph is None else graph.contains(others)
        strange = ~facts
        for names in (pool, *([] if graph is None else [graph])):
            coded = others.recoded(names.entity_names, names.relation_names)
            strange &= (coded.heads < 0) | (coded.relations < 0) | (coded.tails < 0)
        counts = zip((facts, strange, ~facts & ~strange), UNUSED, strict=True)
        return ", ".join(f"{n.sum():,} {one if n.sum() == 1 else several}" for n, (one, several) in counts if n.any())

    def called_true(self, candidates: Triples, graph: Triples) -> Answers:
        """Return the answers that make a fact of what is neither a candidate nor in the graph."""
        return self.take(self.labels & ~candidates.contains(self.triples) & ~graph.contains(self.triples))


def _cells(name: str, column: Any) -> NDArray[Any]:
    """Return a column of a frame or a file; an empty cell means unknown."""
    unknown = {"selection": "given", "probability": np.nan, **NUMBERS}.get(name, "")
    cells: list[Any] = [unknown if cell is None or cell != cell or cell == "" else cell for cell in as_list(column)]
    if isinstance(unknown, str):
        return np.array([*cells, None], dtype=object)[:-1]  # a column of lists stays a column
    numbers = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            numbers[row] = float(cell)
        except (TypeError, ValueError):
            raise RowError(row, f"{cell!r} is not a number (column {name}).") from None
    return numbers
