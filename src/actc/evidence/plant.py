"""Errors of several kinds, made from a graph and planted in it: what wrong facts look like is learned from them.

An error that is planted is a fact like any other: it is looked at as if it were not there, its neighbours are looked
at with it there. So whatever tells planted errors from facts is a matter of their being wrong, and of nothing else: a
triple that is merely absent would give itself away, since each count of a fact is less by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from actc.data.triples import IntArray, Triples
from actc.graph.graph import Graph

COLUMNS = ("heads", "relations", "tails")
NOTHING = np.zeros((3, 0), dtype=np.int64)
TRIES = 20  # a small graph may have fewer errors to offer than are wanted
REPLACED = 0.5  # of the planted errors stand in the place of the fact they were made from, the others beside it
Corrupt = Callable[[Graph, IntArray, np.random.Generator], Triples]
"""Makes one triple of each of some rows of a graph."""


def replace_seen(graph: Graph, rows: IntArray, random: np.random.Generator) -> Triples:
    """Put another entity in the place of one end: any of those that the relation has there, each alike often."""
    drawn = []
    for ends in (graph.heads, graph.tails):
        seen = np.unique(graph.relations.astype(np.int64) * len(graph.entity_names) + ends)
        relation, entity = np.divmod(seen, len(graph.entity_names))
        drawn.append(entity[_draw_of(relation, graph.relations[rows], random)])
    return _put_ends(graph, rows, drawn[0], drawn[1], random)


def replace_frequent(graph: Graph, rows: IntArray, random: np.random.Generator) -> Triples:
    """Put another entity in the place of one end: that of another fact of the relation."""
    order = np.argsort(graph.relations, kind="stable")
    other = order[_draw_of(graph.relations[order], graph.relations[rows], random)]
    return _put_ends(graph, rows, graph.heads[other], graph.tails[other], random)


def replace_end(graph: Graph, rows: IntArray, random: np.random.Generator) -> Triples:
    """Put any entity in the place of one end."""
    drawn = random.integers(0, len(graph.entity_names), len(rows))
    return _put_ends(graph, rows, drawn, drawn, random)


def replace_relation(graph: Graph, rows: IntArray, random: np.random.Generator) -> Triples:
    """Put any relation in the place of the relation."""
    drawn = random.integers(0, len(graph.relation_names), len(rows))
    return _triples(graph, graph.heads[rows], drawn, graph.tails[rows])


def replace_all(graph: Graph, rows: IntArray, random: np.random.Generator) -> Triples:
    """Draw a triple at random, whatever the fact."""
    heads, tails = random.integers(0, len(graph.entity_names), (2, len(rows)))
    return _triples(graph, heads, random.integers(0, len(graph.relation_names), len(rows)), tails)


KINDS: dict[str, Corrupt] = {
    "another entity of the slot": replace_seen,
    "another fact's entity": replace_frequent,
    "any entity": replace_end,
    "any relation": replace_relation,
    "anything": replace_all,
}


@dataclass(frozen=True, eq=False)
class Planted:
    """A graph with errors planted in it.

    Parameters
    ----------
    graph : Graph
        N triples: facts of the graph as it was, then errors.
    kinds : int array of shape (N,)
        0 for facts, k for errors of the k-th kind, from 1.
    rows : int array of shape (N,)
        The row of a fact in the graph as it was; -1 for errors.
    """

    graph: Graph
    kinds: IntArray
    rows: IntArray

    @classmethod
    def of(
        cls,
        graph: Graph,
        each: int,
        random: np.random.Generator,
        kinds: tuple[Corrupt, ...] = tuple(KINDS.values()),
        replaced: float = REPLACED,
    ) -> Self:
        """Plant so many errors of each kind; fewer where no more can be made."""
        stays, made = np.ones(len(graph), dtype=np.bool_), [_triples(graph, *NOTHING)]
        for corrupt in kinds:
            errors, rows = make_errors(graph, _join(graph, made), each, corrupt, random)
            stays[rows[random.random(len(rows)) < replaced]] = False
            made.append(errors)
        facts = np.flatnonzero(stays)
        counts = [len(facts), *map(len, made[1:])]
        rows = np.append(facts, np.full(sum(counts[1:]), -1))
        return cls(Graph.of(_join(graph.take(facts), made)), np.repeat(np.arange(len(counts)), counts), rows)


def make_errors(
    graph: Graph, known: Triples, count: int, corrupt: Corrupt, random: np.random.Generator
) -> tuple[Triples, IntArray]:
    """Make errors that are not known, none twice; return them, and the rows of the facts that they were made from."""
    made, origin = _triples(graph, *NOTHING), NOTHING[0]
    for _ in range(TRIES):
        rows = random.integers(0, len(graph), 2 * (count - len(made)))
        drawn = corrupt(graph, rows, random)
        new = ~known.contains(drawn) & ~made.contains(drawn)
        _, first = np.unique(drawn.keys, return_index=True)
        keep = np.sort(first[new[first]])[: count - len(made)]
        made, origin = _join(made, [drawn.take(keep)]), np.append(origin, rows[keep])
        if len(made) == count:
            break
    return made, origin


def _draw_of(groups: IntArray, wanted: IntArray, random: np.random.Generator) -> IntArray:
    """Return a random place in the sorted ``groups`` for each wanted group."""
    low, high = (np.searchsorted(groups, wanted, side=side) for side in ("left", "right"))
    return np.asarray(low + (random.random(len(wanted)) * (high - low)).astype(np.int64))


def _put_ends(graph: Graph, rows: IntArray, heads: IntArray, tails: IntArray, random: np.random.Generator) -> Triples:
    """Put the drawn entity in the place of the head or of the tail, at random."""
    head = random.random(len(rows)) < 0.5
    return _triples(
        graph,
        np.where(head, heads, graph.heads[rows]),
        graph.relations[rows],
        np.where(head, graph.tails[rows], tails),
    )


def _triples(graph: Triples, heads: IntArray, relations: IntArray, tails: IntArray) -> Triples:
    return Triples(heads, relations, tails, graph.entity_names, graph.relation_names)


def _join(first: Triples, others: Sequence[Triples]) -> Triples:
    """Return triples of one vocabulary, one table after the other."""
    heads, relations, tails = (np.concatenate([getattr(one, name) for one in (first, *others)]) for name in COLUMNS)
    return _triples(first, heads, relations, tails)
