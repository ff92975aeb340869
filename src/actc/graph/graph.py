"""A graph: triples without scores, each once, and what reading them left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from actc.data.triples import Triples, encode_columns


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Triples):
    """Triples that a graph holds.

    Parameters
    ----------
    heads, relations, tails : int array of shape (N,)
        Codes into ``entity_names`` (heads, tails) and ``relation_names`` (relations).
    entity_names, relation_names : Vocabulary, or sequence of str
        Sorted vocabularies.
    notes : tuple of str
        What reading it left out or changed, in sentences; a person should see them.
    """

    notes: tuple[str, ...] = field(default=())

    @classmethod
    def from_columns(
        cls, heads: Iterable[str], relations: Iterable[str], tails: Iterable[str], notes: tuple[str, ...] = ()
    ) -> Self:
        """Encode three columns of equal length; a triple that is there twice is kept once, and noted."""
        listed = encode_columns(heads, relations, tails)
        once = listed.unique()
        return cls.of(once, notes + note_repeats(len(listed) - len(once)))

    @classmethod
    def of(cls, triples: Triples, notes: tuple[str, ...] = ()) -> Self:
        """Return the triples of a table, none of which is there twice, without what stands beside them."""
        names = triples.entity_names, triples.relation_names
        return cls(triples.heads, triples.relations, triples.tails, *names, notes)

    @cached_property
    def fingerprint(self) -> str:
        """A text that differs for graphs that differ."""
        digest = hashlib.sha256("\0".join((*self.entity_names, "", *self.relation_names)).encode())
        once = self.sorted_once()
        for column in (once.heads, once.relations, once.tails):
            digest.update(column.astype(np.int64).tobytes())
        return digest.hexdigest()


def note_repeats(count: int) -> tuple[str, ...]:
    """Say how many triples were there again."""
    return (f"{count} repeated triples are kept once.",) if count else ()
