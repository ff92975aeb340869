"""A graph: triples without scores, each once, names dictionary-encoded against sorted vocabularies."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from actc.errors import TableError
from actc.triples import BoolArray, FloatArray, IntArray, NamedTriples, ScoredTriples, encode_names


@dataclass(frozen=True, eq=False)
class Graph(NamedTriples):
    """Triples that a graph holds.

    Parameters
    ----------
    heads, relations, tails : int array of shape (N,)
        Codes into ``entity_names`` (heads, tails) and ``relation_names`` (relations).
    entity_names, relation_names : tuple of str
        Sorted vocabularies.
    notes : tuple of str
        What reading it left out or changed, in sentences; a person should see them.
    """

    heads: IntArray
    relations: IntArray
    tails: IntArray
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def from_columns(
        cls, heads: Sequence[str], relations: Sequence[str], tails: Sequence[str], notes: tuple[str, ...] = ()
    ) -> Self:
        """Encode three columns of equal length; a triple that is there twice is kept once, and noted."""
        if not len(heads) == len(relations) == len(tails):
            raise TableError(
                f"The columns differ in length: {len(heads)} heads, {len(relations)} relations, {len(tails)} tails."
            )
        entity_names, codes = encode_names([*heads, *tails])
        relation_names, relation_codes = encode_names(list(relations))
        graph = cls(codes[: len(heads)], relation_codes, codes[len(heads) :], entity_names, relation_names, notes)
        return graph.without_repeats()

    @classmethod
    def of(cls, triples: NamedTriples) -> Self:
        """Return the triples of a table, none of which is there twice, without what stands beside them."""
        return cls(triples.heads, triples.relations, triples.tails, triples.entity_names, triples.relation_names)

    def without_repeats(self) -> Self:
        """Return each triple once, where it stood first, with a note if any was there again."""
        first = np.unique(self.keys, return_index=True)[1]
        if len(first) == len(self):
            return self
        notes = self.notes + note_repeats(len(self) - len(first))
        return replace(self.take(np.sort(first)), notes=notes)

    def __len__(self) -> int:
        return len(self.heads)

    @cached_property
    def fingerprint(self) -> str:
        """A text that differs for graphs that differ."""
        digest = hashlib.sha256("\0".join((*self.entity_names, "", *self.relation_names)).encode())
        digest.update(np.sort(self.keys).tobytes())
        return digest.hexdigest()

    @cached_property
    def keys(self) -> IntArray:
        """One integer per triple, equal for equal triples of graphs with the same vocabularies."""
        if len(self.entity_names) ** 2 * max(len(self.relation_names), 1) >= 2**63:
            raise TableError(f"{len(self.entity_names)} entities are more than this can index.")
        key = self.heads.astype(np.int64) * len(self.relation_names) + self.relations
        return key * len(self.entity_names) + self.tails

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows (or those a mask keeps) with the same vocabularies."""
        rows = np.asarray(rows)
        return replace(self, heads=self.heads[rows], relations=self.relations[rows], tails=self.tails[rows])

    def with_scores(self, scores: FloatArray) -> ScoredTriples:
        """Put scores beside the triples, row by row."""
        values = np.asarray(scores, dtype=np.float64)
        return ScoredTriples(self.heads, self.relations, self.tails, values, self.entity_names, self.relation_names)

    def contains(self, other: Graph) -> BoolArray:
        """Say of each triple of another graph whether this one has it, shape (M,)."""
        recoded = other.recoded(self.entity_names, self.relation_names)
        known = (recoded.heads >= 0) & (recoded.relations >= 0) & (recoded.tails >= 0)
        found = np.zeros(len(other), dtype=np.bool_)
        found[known] = np.isin(recoded.take(known).keys, self.keys)
        return found

    def recoded(self, entity_names: Sequence[str], relation_names: Sequence[str]) -> Self:
        """Return the same triples as codes into other vocabularies, -1 for a name they lack."""
        entity = _codes_in(self.entity_names, entity_names)
        relation = _codes_in(self.relation_names, relation_names)
        return replace(
            self,
            heads=entity[self.heads],
            relations=relation[self.relations],
            tails=entity[self.tails],
            entity_names=tuple(entity_names),
            relation_names=tuple(relation_names),
        )


def note_repeats(count: int) -> tuple[str, ...]:
    """Say how many triples were there again."""
    return (f"{count} repeated triples are kept once.",) if count else ()


def _codes_in(names: Sequence[str], vocabulary: Sequence[str]) -> IntArray:
    place = {name: code for code, name in enumerate(vocabulary)}
    return np.fromiter((place.get(name, -1) for name in names), dtype=np.int64, count=len(names))
