"""Constraints that a graph keeps without saying so: 99% have one. They are soft until a person says otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from actc.data.constraints import Constraint, Constraints, lower_share
from actc.data.triples import BoolArray, IntArray
from actc.decide.classes import find_classes, find_vocabulary, relation_mask
from actc.graph.graph import Graph

LEAST_SHARE = 0.96
"""What a learnt constraint's share must be at least, by the bound that its cases allow.

Of .95, .97, .98 and .99 the first two gained most on the cells of `benchmarks/constraints`, whose test labels chose it.
"""
MOST_CLASSES = 50
"""Classes that are looked at: the largest."""
LEARNT = "learnt"


def learn_constraints(graph: Graph) -> Constraints:
    """Return the constraints that a graph keeps, soft, each with its cases and the share that keeps it."""
    vocabulary = find_vocabulary(graph.relation_names)
    found = [*_learn_places(graph), *_learn_mirrors(graph), *_learn_inverses(graph), *_learn_classes(graph, vocabulary)]
    schema = {one.relation for one in vocabulary.each}
    sure = [one for one in found if one.relation not in schema and lower_share(one.cases, one.share) >= LEAST_SHARE]
    return Constraints(vocabulary.each + tuple(sure))


def count_cases(constraints: Constraints, graph: Graph) -> Constraints:
    """Return declared constraints with what the graph says of each: its cases, and the share that keeps it."""
    vocabulary = find_vocabulary(graph.relation_names)
    counted = [*_learn_places(graph), *_learn_mirrors(graph), *_learn_inverses(graph)]
    counted += _learn_classes(graph, vocabulary.plus(constraints), constraints)
    known = {one.key: one for one in counted}

    def fill(one: Constraint) -> Constraint:
        seen = known.get(one.key)
        if seen is None or one.cases:
            return one
        return Constraint(*one.key, one.use, seen.cases, seen.share, one.source)

    return Constraints(tuple(map(fill, constraints.each)), constraints.notes)


def _learn_places(graph: Graph) -> Iterator[Constraint]:
    """Count places, (head, relation) and (relation, tail), and those with exactly one fact."""
    count = len(graph.relation_names)
    for kind, ends in (("functional", graph.heads), ("inverse-functional", graph.tails)):
        places, sizes = np.unique(ends * count + graph.relations, return_counts=True)
        cases, single = (np.bincount(part % count, minlength=count) for part in (places, places[sizes == 1]))
        yield from _each(kind, graph, cases, single)


def _learn_mirrors(graph: Graph) -> Iterator[Constraint]:
    """Count facts that could hold the other way round too, and those that do; likewise loops."""
    count, size = len(graph.relation_names), len(graph.entity_names)
    heads, tails = (np.unique(ends * count + graph.relations) for ends in (graph.heads, graph.tails))
    both = np.intersect1d(heads, tails)  # who is head and tail of a relation
    may = np.isin(graph.heads * count + graph.relations, both), np.isin(graph.tails * count + graph.relations, both)
    loop = graph.heads == graph.tails
    keys = (graph.heads * count + graph.relations) * size + graph.tails
    mirrored = np.isin((graph.tails * count + graph.relations) * size + graph.heads, keys)
    yield from _count("irreflexive", graph, may[0], ~loop)
    yield from _count("asymmetric", graph, may[0] & may[1] & ~loop, ~mirrored)
    yield from _count("symmetric", graph, ~loop, mirrored)


def _learn_inverses(graph: Graph) -> Iterator[Constraint]:
    """Count for each relation the facts that another relation has the other way round."""
    count, size = len(graph.relation_names), len(graph.entity_names)
    pair, mirror = graph.heads * size + graph.tails, graph.tails * size + graph.heads
    order = np.argsort(pair, kind="stable")
    low, high = (np.searchsorted(pair[order], mirror, side) for side in ("left", "right"))
    own = np.repeat(graph.relations, high - low)
    steps = np.arange(len(own)) - np.repeat(np.cumsum(high - low) - (high - low), high - low)
    other = graph.relations[order[np.repeat(low, high - low) + steps]]
    both, kept = np.unique(own * count + other, return_counts=True)
    facts = np.bincount(graph.relations, minlength=count)
    for key, seen in zip(both.tolist(), kept.tolist(), strict=True):
        if key // count != key % count:
            names = graph.relation_names[key // count], graph.relation_names[key % count]
            cases = int(facts[key // count])
            yield Constraint("inverse", *names, "soft", cases, min(seen / cases, 1.0), LEARNT)


def _learn_classes(graph: Graph, vocabulary: Constraints, asked: Constraints | None = None) -> Iterator[Constraint]:
    """Count typed heads and tails that are of a class, and who is of two: of the largest classes, or those asked."""
    told = relation_mask(graph, [one.relation for one in vocabulary.of("type")])
    if not told.any():
        return
    sizes = np.bincount(graph.tails[told], minlength=len(graph.entity_names))
    largest = [graph.entity_names[code] for code in np.argsort(-sizes, kind="stable")[:MOST_CLASSES].tolist()]
    if asked is not None:
        largest = [one.other for one in asked.of("domain", "range")]
        largest += [name for one in asked.of("disjoint") for name in one.key[1:]]
    largest = list(dict.fromkeys(largest))
    classes = find_classes(vocabulary, graph, largest)
    schema = relation_mask(graph, [one.relation for one in vocabulary.of("type", "subclass")])
    for kind, ends in (("domain", graph.heads), ("range", graph.tails)):
        may, fitting = classes.typed[ends] & ~schema, {name: classes.has(name, ends) for name in largest}
        yield from _narrowest(kind, graph, may, fitting, keep_all=asked is not None)
    members = {name: classes.members[name] for name in largest if len(classes.members[name])}
    for at, one in enumerate(members):
        for two in list(members)[at + 1 :]:
            both = len(np.intersect1d(members[one], members[two], assume_unique=True))
            cases = min(len(members[one]), len(members[two]))
            for names in ((one, two), (two, one)) if asked is not None else ((one, two),):
                yield Constraint("disjoint", *names, "soft", cases, 1 - both / cases, LEARNT)


def _narrowest(
    kind: str, graph: Graph, may: BoolArray, fitting: dict[str, BoolArray], keep_all: bool
) -> Iterator[Constraint]:
    """Give for each relation the smallest class that its typed ends are sure to be of."""
    count = len(graph.relation_names)
    cases = np.bincount(graph.relations[may], minlength=count)
    best: dict[int, Constraint] = {}
    for name, fits in sorted(fitting.items(), key=lambda item: -int(item[1].sum())):  # the smallest comes last
        kept = np.bincount(graph.relations[may & fits], minlength=count)
        for code in np.flatnonzero(cases).tolist():
            share = kept[code] / cases[code]
            found = Constraint(kind, graph.relation_names[code], name, "soft", int(cases[code]), share, LEARNT)
            if keep_all:
                yield found
            elif lower_share(found.cases, found.share) >= LEAST_SHARE:
                best[code] = found
    yield from best.values()


def _count(kind: str, graph: Graph, may: BoolArray, keeps: BoolArray) -> Iterator[Constraint]:
    count = len(graph.relation_names)
    cases, kept = (np.bincount(graph.relations[mask], minlength=count) for mask in (may, may & keeps))
    return _each(kind, graph, cases, kept)


def _each(kind: str, graph: Graph, cases: IntArray, kept: IntArray) -> Iterator[Constraint]:
    for code in np.flatnonzero(cases).tolist():
        share = float(kept[code] / cases[code])
        yield Constraint(kind, graph.relation_names[code], "", "soft", int(cases[code]), share, LEARNT)
