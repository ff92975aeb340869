"""Who has what already: how many tails a head has of a relation, and how many heads a tail, in one graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from actc.data.triples import FloatArray, IntArray
from actc.graph.graph import Graph


class Filled(NamedTuple):
    """How many a slot has, the first of them, and the share of the relation's slots that have exactly one."""

    entities: int
    first: str
    single: float


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of one side that facts fill: for heads the tails of (head, relation), for tails the heads.

    Parameters
    ----------
    graph : Graph
        L facts.
    keys, others : int arrays of shape (L,)
        Each fact's slot, rising, and the entity in it.
    single : float array of shape (R,)
        The share of each relation's slots that have exactly one entity in them.
    """

    graph: Graph
    keys: IntArray
    others: IntArray
    single: FloatArray

    @classmethod
    def of(cls, graph: Graph, side: str) -> Self:
        """Count what fills the slots of a graph's heads or tails."""
        relations = len(graph.relation_names)
        ends, others = (graph.heads, graph.tails) if side == "head" else (graph.tails, graph.heads)
        keys = ends * relations + graph.relations
        order = np.argsort(keys, kind="stable")
        slots, counts = np.unique(keys, return_counts=True)
        ones, slots_of = (np.bincount(part % relations, minlength=relations) for part in (slots[counts == 1], slots))
        return cls(graph, keys[order], others[order], ones / np.maximum(slots_of, 1))

    def look_up(self, entity: str, relation: str) -> Filled:
        """Say what an entity has of a relation."""
        r = self.graph.relation_names.places.get(relation, -1)
        u = self.graph.entity_names.places.get(entity, -1)
        if r < 0 or u < 0:
            return Filled(0, "", float(self.single[r]) if r >= 0 else 0.0)
        low, high = np.searchsorted(self.keys, [u * len(self.single) + r, u * len(self.single) + r + 1])
        first = self.graph.entity_names[self.others[low]] if high > low else ""
        return Filled(int(high - low), first, float(self.single[r]))
