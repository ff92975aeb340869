"""Synthetic graphs with heavy-tailed degrees, and candidates beside them: what is measured at scale."""

from __future__ import annotations

import numpy as np

from actc.data.triples import IntArray, ScoredTriples
from actc.graph.graph import Graph

RELATIONS = 500
KINDS = 20
KNOWN_SHARE = 0.05  # of the candidates that are facts themselves


def draw_entities(rng: np.random.Generator, count: int, entities: int, power: int) -> IntArray:
    """Draw entities so that few have very many facts: the degree at place p falls as p ** (1 / power - 1)."""
    return np.minimum((rng.random(count) ** power * entities).astype(np.int64), entities - 1)


def draw_triples(rng: np.random.Generator, count: int, entities: int) -> Graph:
    """Draw triples, each relation between two of twenty kinds of entities; tails have the greater hubs."""
    names = tuple(f"e{k:09d}" for k in range(entities)), tuple(f"r{k:03d}" for k in range(RELATIONS))
    relations = np.minimum((rng.random(count) ** 2 * RELATIONS).astype(np.int64), RELATIONS - 1)
    heads, tails = (draw_entities(rng, count, entities // KINDS, power) * KINDS for power in (2, 3))
    return Graph(heads + relations % KINDS, relations, tails + relations * 7 % KINDS, *names).unique()


def draw_case(facts: int) -> tuple[Graph, ScoredTriples]:
    """Draw a graph and its candidates, some of which it holds."""
    rng = np.random.default_rng(0)
    entities = max(facts // 10, 1000)
    graph, other = draw_triples(rng, facts, entities), draw_triples(rng, facts, entities)
    known = graph.take(rng.choice(len(graph), int(KNOWN_SHARE * facts), replace=False))
    asked = Graph.of(known.union(other.take(np.arange(len(other) - len(known)))))
    asked = asked.take(rng.permutation(len(asked)))
    return graph, asked.with_scores(rng.normal(size=len(asked)))
