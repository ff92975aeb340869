"""The tables that everyone passes: scored triples, annotations beside them, thresholds at the end.

All are frozen, made of aligned numpy arrays, and checked once, here: a function that receives one may trust it.
Names are dictionary-encoded against sorted vocabularies, so comparing codes is comparing names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from actc.errors import RowError, TableError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class NamedTriples:
    """What tables of triples have in common: codes into sorted vocabularies."""

    heads: IntArray
    relations: IntArray
    tails: IntArray
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]

    def triple(self, row: int) -> tuple[str, str, str]:
        """Return the names of one triple: head, relation, tail."""
        return (
            self.entity_names[self.heads[row]],
            self.relation_names[self.relations[row]],
            self.entity_names[self.tails[row]],
        )

    def columns(self) -> dict[str, NDArray[np.object_]]:
        """Return the names: head, relation, tail, each an object array of shape (N,)."""
        entities = np.array(self.entity_names, dtype=object)
        relations = np.array(self.relation_names, dtype=object)
        return {"head": entities[self.heads], "relation": relations[self.relations], "tail": entities[self.tails]}


@dataclass(frozen=True, eq=False)
class ScoredTriples(NamedTriples):
    """Triples, each with the score a model gave it; bigger is more plausible.

    Build it with :meth:`from_columns`, which encodes the names and checks every row.

    Parameters
    ----------
    heads, relations, tails : int array of shape (N,)
        Codes into ``entity_names`` (heads, tails) and ``relation_names`` (relations).
    scores : float array of shape (N,)
        Finite scores.
    entity_names, relation_names : tuple of str
        Sorted vocabularies.
    """

    heads: IntArray
    relations: IntArray
    tails: IntArray
    scores: FloatArray
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]

    @classmethod
    def from_columns(
        cls, heads: Iterable[str], relations: Iterable[str], tails: Iterable[str], scores: ArrayLike
    ) -> Self:
        """Encode four columns of equal length, refusing empty tables, non-finite scores and duplicate triples."""
        heads, relations, tails = list(heads), list(relations), list(tails)
        values = np.array(scores, dtype=np.float64).reshape(-1)
        if not len(heads) == len(relations) == len(tails) == len(values):
            raise TableError(
                "The columns differ in length: "
                f"{len(heads)} heads, {len(relations)} relations, {len(tails)} tails, {len(values)} scores."
            )
        if not heads:
            raise TableError("There is no triple in the table.")
        entity_names, codes = encode_names([*heads, *tails])
        relation_names, relation_codes = encode_names(relations)
        head_codes, tail_codes = np.split(codes, 2)
        return cls.from_codes(head_codes, relation_codes, tail_codes, values, entity_names, relation_names)

    @classmethod
    def from_codes(
        cls,
        heads: IntArray,
        relations: IntArray,
        tails: IntArray,
        scores: FloatArray,
        entity_names: tuple[str, ...],
        relation_names: tuple[str, ...],
    ) -> Self:
        """Check columns that are encoded already, against sorted names."""
        triples = cls(heads, relations, tails, scores, entity_names, relation_names)
        triples._check_rows()
        return triples

    def _check_rows(self) -> None:
        bad = np.flatnonzero(~np.isfinite(self.scores))
        if bad.size:
            raise RowError(int(bad[0]), f"the score is {self.scores[bad[0]]}; every score must be a finite number.")
        order = np.lexsort((np.arange(len(self)), self.keys))
        again = np.flatnonzero(np.diff(self.keys[order]) == 0)
        if again.size:
            later = order[again + 1]
            first = int(np.argmin(later))
            row, earlier = int(later[first]), int(order[again[first]])
            raise RowError(row, f"the triple {self.triple(row)} is there twice; keep one of the two.", earlier)

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows as a table of their own, with the same vocabularies."""
        rows = np.asarray(rows)
        return replace(
            self,
            heads=self.heads[rows],
            relations=self.relations[rows],
            tails=self.tails[rows],
            scores=self.scores[rows],
        )

    def with_scores(self, scores: FloatArray) -> Self:
        """Return the same triples with other scores."""
        return replace(self, scores=np.asarray(scores, dtype=np.float64))

    def as_if(self, relation: int) -> Self:
        """Return the same triples as if all were of one relation."""
        return replace(self, relations=np.full_like(self.relations, relation))

    @cached_property
    def keys(self) -> IntArray:
        """One integer per triple, in the order of (head, relation, tail); equal for equal triples."""
        key = self.heads * len(self.relation_names) + self.relations
        if len(self.entity_names) ** 2 * len(self.relation_names) >= 2**63:
            key = np.unique(key, return_inverse=True)[1]
        return key * len(self.entity_names) + self.tails

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

    @property
    def relation_sizes(self) -> IntArray:
        """How many triples of each relation the table stands for: those it has, unless it is a sample, shape (R,)."""
        return self.relation_counts

    @property
    def stands_for(self) -> int:
        """How many triples the whole table stands for."""
        return int(self.relation_sizes.sum())

    @property
    def weights(self) -> FloatArray:
        """How many triples each row stands for, shape (N,)."""
        return (self.relation_sizes / np.maximum(self.relation_counts, 1))[self.relations]

    def rows_of(self, others: NamedTriples) -> IntArray:
        """Return the row of each triple of another table, -1 where this one does not have it."""
        head, relation, tail = (column.tolist() for column in others.columns().values())
        return self.find(head, relation, tail)

    def find(self, heads: Sequence[str], relations: Sequence[str], tails: Sequence[str]) -> IntArray:
        """Return the row of each named triple, -1 where the table does not have it."""
        entity = {name: code for code, name in enumerate(self.entity_names)}
        relation = {name: code for code, name in enumerate(self.relation_names)}
        head_codes = _look_up(entity, heads)
        relation_codes = _look_up(relation, relations)
        tail_codes = _look_up(entity, tails)
        known = (head_codes >= 0) & (relation_codes >= 0) & (tail_codes >= 0)
        wanted = replace(
            self,
            heads=np.concatenate([self.heads, head_codes[known]]),
            relations=np.concatenate([self.relations, relation_codes[known]]),
            tails=np.concatenate([self.tails, tail_codes[known]]),
            scores=np.zeros(0),
        ).keys
        own, asked = wanted[: len(self)], wanted[len(self) :]
        order = np.argsort(own)
        place = np.minimum(np.searchsorted(own, asked, sorter=order), len(self) - 1)
        rows = np.full(len(known), -1, dtype=np.int64)
        rows[known] = np.where(own[order[place]] == asked, order[place], -1)
        return rows


def encode_names(names: Sequence[str]) -> tuple[tuple[str, ...], IntArray]:
    """Return the sorted distinct names and each name's position among them."""
    vocabulary = tuple(sorted(dict.fromkeys(names)))
    codes = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
    return vocabulary, np.fromiter(map(codes.__getitem__, names), dtype=np.int64, count=len(names))


def _look_up(codes: dict[str, int], names: Sequence[str]) -> IntArray:
    return np.fromiter((codes.get(name, -1) for name in names), dtype=np.int64, count=len(names))


@dataclass(frozen=True, eq=False)
class Annotations:
    """What a person said about some triples of a pool.

    Parameters
    ----------
    rows : int array of shape (l,)
        Rows of the pool, in the order they were judged; none twice.
    labels : bool array of shape (l,)
        True where the person said the triple is true.
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
        wrong = np.flatnonzero((labels != 0) & (labels != 1))
        if wrong.size:
            raise RowError(int(wrong[0]), f"the label is {labels[wrong[0]]}; a label is 0 (false) or 1 (true).")
        object.__setattr__(self, "rows", rows.astype(np.int64))
        object.__setattr__(self, "labels", labels.astype(np.bool_))

    @classmethod
    def from_columns(
        cls,
        triples: ScoredTriples,
        heads: Sequence[str],
        relations: Sequence[str],
        tails: Sequence[str],
        labels: ArrayLike,
    ) -> Self:
        """Find named, labelled triples in the pool; equal answers count once, contradicting ones are refused."""
        values = np.asarray(labels)
        rows = triples.find(heads, relations, tails)
        missing = np.flatnonzero(rows < 0)
        if missing.size:
            at = int(missing[0])
            name = (heads[at], relations[at], tails[at])
            raise RowError(at, f"the triple {name} is not among the scored triples; a label needs a score.")
        _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        clash = np.flatnonzero(values != values[first][inverse])
        if clash.size:
            at, earlier = int(clash[0]), int(first[inverse[clash[0]]])
            name = triples.triple(rows[at])
            raise RowError(at, f"the triple {name} has both labels; decide which one is right.", earlier)
        keep = np.sort(first)
        return cls(rows[keep], values[keep])

    def __len__(self) -> int:
        return len(self.rows)

    def plus(self, rows: ArrayLike, labels: ArrayLike) -> Self:
        """Return these annotations followed by more."""
        return type(self)(np.concatenate([self.rows, rows]), np.concatenate([self.labels, labels]))

    def first(self, count: int) -> Self:
        """Return the first ``count`` annotations."""
        return replace(self, rows=self.rows[:count], labels=self.labels[:count])


@dataclass(frozen=True, eq=False)
class Picks:
    """Triples of a pool to be judged next, and how each was chosen.

    Parameters
    ----------
    rows : int array of shape (n,)
        Rows of the pool, the one to ask first in front; none twice.
    uniform : bool array of shape (n,)
        True where every triple that nobody had judged had the same chance to be chosen: an unbiased check.
    reasons : tuple of str
        Why each is asked, one sentence for the person who judges it.
    """

    rows: IntArray
    uniform: BoolArray
    reasons: tuple[str, ...]

    def __post_init__(self) -> None:
        if not len(self.rows) == len(self.uniform) == len(self.reasons):
            raise TableError(
                f"There are {len(self.rows)} picked rows, {len(self.uniform)} marks and {len(self.reasons)} reasons."
            )

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, places: ArrayLike) -> Self:
        """Return some of the picks, in the order asked for."""
        chosen = np.arange(len(self))[np.asarray(places, dtype=np.int64)]
        reasons = tuple(self.reasons[place] for place in chosen.tolist())
        return replace(self, rows=self.rows[chosen], uniform=self.uniform[chosen], reasons=reasons)


@dataclass(frozen=True, eq=False)
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
        own = cuts[:-1] != cuts[-1]  # some methods tell relations apart before anybody judged them
        own[pool.relations[annotations.rows]] = True
        low, high = (None if bound is None else bound[:-1] for bound in (lower, upper))
        return cls(pool.relation_names, cuts[:-1], float(cuts[-1]), own, low, high)

    @property
    def cuts_and_default(self) -> FloatArray:
        """The cuts, the default last, shape (R + 1,)."""
        return np.append(self.cuts, self.default)

    def of(self, triples: ScoredTriples) -> FloatArray:
        """Return the cut that applies to each triple, shape (N,)."""
        cut = dict(zip(self.relation_names, self.cuts.tolist(), strict=True))
        per_relation = np.array([cut.get(name, self.default) for name in triples.relation_names])
        return per_relation[triples.relations]

    def decide(self, triples: ScoredTriples) -> BoolArray:
        """Say of each triple whether it is accepted."""
        return triples.scores >= self.of(triples)
