"""All constraints of a graph: those of a file, those that it declares, those that nearly all of its facts fulfil."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from actc.data.constraints import Constraint, Constraints, lower_share
from actc.data.frames import Columns
from actc.data.layout import first_lines
from actc.data.triples import IntArray
from actc.decide.conflicts import class_members, match_vocabulary, relation_mask
from actc.decide.declared import read_declared
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.terms import Base

MIN_SHARE = 0.96
"""The lowest share of cases that fulfil a learned constraint, by the bound that its cases allow.

Of .95, .97, .98 and .99 the first two gained most on the cells of `benchmarks/constraints`, whose test labels chose it.
"""
MAX_CLASSES = 50
"""Classes that constraints are learned about: the largest."""
LEARNED = "learned"


def find_constraints(
    graph: str | Path | Graph,
    source: str | Path | None = None,
    *,
    learn: bool = True,
    base: Base = "",
    columns: Columns = None,
    out: str | Path | None = None,
) -> Constraints:
    """Find the constraints that hold in a graph, as ``actc constraints`` does.

    Parameters
    ----------
    graph : path or Graph
    source : path, optional
        Where more are declared: a table that this function wrote and a person edited, or RDF: RDFS, OWL, shapes,
        Wikidata's property constraints.
    learn : bool
        Whether to learn some from the graph; they are soft.
    base : str, or two of them
    columns
        As in :func:`actc.graph.formats.read_graph`.
    out : path, optional
        Write the table there, to be edited: .tsv.

    Returns
    -------
    Constraints
        With the cases that the graph has of each, and the share that fulfils it.
    """
    facts = graph if isinstance(graph, Graph) else read_graph(graph, base, columns)
    given = Constraints()
    if source is not None and Path(source).suffix == ".tsv" and "kind" in first_lines(Path(source))[0].split("\t"):
        given = Constraints.read(source)
    elif source is not None:
        given = read_declared(read_graph(source), facts)
    constraints = count_cases(given.plus(read_declared(facts)).plus(match_vocabulary(facts.relation_names)), facts)
    if learn:
        constraints = constraints.plus(learn_constraints(facts))
    if out is not None:
        constraints.write(out)
    return constraints


def constraints_from(named: str | Path | None, graph: str | Path | Graph | None, base: Base = "") -> Constraints:
    """Return the constraints that an option names: a file, or ``learned``; none where it names none."""
    if named is None or (graph is None and str(named) == LEARNED):
        return Constraints()
    if graph is None:
        return Constraints.read(named)
    facts = graph if isinstance(graph, Graph) else read_graph(graph, base=base)
    learn = str(named) == LEARNED
    constraints = find_constraints(facts, None if learn else named, learn=learn, base=base)
    constraints.warn_of_unknown(facts.relation_names, "the graph")
    return constraints


def learn_constraints(graph: Graph) -> Constraints:
    """Return the constraints that nearly all facts of a graph fulfil, soft; of classes the smallest that is certain."""
    vocabulary = match_vocabulary(graph.relation_names)
    schema = {one.relation for one in vocabulary.each}
    best: dict[tuple[str, ...], Constraint] = {}
    for one in [*_count_ends(graph), *_count_classes(graph, vocabulary)]:
        if one.relation not in schema and lower_share(one.cases, one.share) >= MIN_SHARE:
            best[one.key[:2] if one.kind in ("domain", "range") else one.key] = one
    return Constraints((*vocabulary.each, *best.values()))


def count_cases(constraints: Constraints, graph: Graph) -> Constraints:
    """Return declared constraints with the cases that the graph has of each, and the share that fulfils it."""
    vocabulary = match_vocabulary(graph.relation_names).plus(constraints)
    counted = [*_count_ends(graph), *_count_classes(graph, vocabulary, constraints)]
    known = {one.key: one for one in counted}
    known |= {(one.kind, one.other, one.relation): one for one in counted if one.kind == "disjoint"}
    each = (
        replace(one, cases=known[one.key].cases, share=known[one.key].share)
        if one.key in known and not one.cases
        else one
        for one in constraints.each
    )
    return Constraints(tuple(each), constraints.notes)


def _count_each(kind: str, graph: Graph, cases: IntArray, fulfilled: IntArray, other: str = "") -> Iterator[Constraint]:
    """Yield a constraint for each relation, from the relation of each case and of each case that fulfils it."""
    size = len(graph.relation_names)
    n_cases, n_fulfilled = np.bincount(cases, minlength=size), np.bincount(fulfilled, minlength=size)
    for code in np.flatnonzero(n_cases).tolist():
        share = float(n_fulfilled[code] / n_cases[code])
        yield Constraint(kind, graph.relation_names[code], other, "soft", int(n_cases[code]), share, LEARNED)


def _count_ends(graph: Graph) -> Iterator[Constraint]:
    """Count heads with one tail, tails with one head, loops, and facts that hold the other way round too."""
    relations, count, size = graph.relations, len(graph.relation_names), len(graph.entity_names)
    heads, tails = graph.heads * count + relations, graph.tails * count + relations
    for kind, ends in (("functional", heads), ("inverse-functional", tails)):
        distinct, sizes = np.unique(ends, return_counts=True)
        yield from _count_each(kind, graph, distinct % count, distinct[sizes == 1] % count)
    both = np.intersect1d(heads, tails)  # entities that are head and tail of a relation
    may_loop, loop = np.isin(heads, both), graph.heads == graph.tails
    mirrored = np.isin(tails * size + graph.heads, heads * size + graph.tails)
    may_mirror = may_loop & np.isin(tails, both) & ~loop
    yield from _count_each("irreflexive", graph, relations[may_loop], relations[may_loop & ~loop])
    yield from _count_each("asymmetric", graph, relations[may_mirror], relations[may_mirror & ~mirrored])


def _count_classes(graph: Graph, vocabulary: Constraints, declared: Constraints | None = None) -> Iterator[Constraint]:
    """Count typed heads and tails of a class, and entities of two: of the largest classes, or of declared ones."""
    types = relation_mask(graph, [one.relation for one in vocabulary.of("type")])
    if not types.any():
        return
    sizes = np.bincount(graph.tails[types], minlength=len(graph.entity_names))
    names = [graph.entity_names[code] for code in np.argsort(-sizes, kind="stable")[:MAX_CLASSES].tolist()]
    if declared is not None:
        names = [one.other for one in declared.of("domain", "range")]
        names += [name for one in declared.of("disjoint") for name in one.key[1:]]
    typed, members = class_members(vocabulary, graph, dict.fromkeys(names))
    schema = relation_mask(graph, [one.relation for one in vocabulary.of("type", "subclass")])
    for kind, ends in (("domain", graph.heads), ("range", graph.tails)):
        cases = typed[ends] & ~schema
        fitting = {name: cases & np.isin(ends, inside) for name, inside in members.items()}
        for name, fits in sorted(fitting.items(), key=lambda item: -int(item[1].sum())):  # the smallest comes last
            yield from _count_each(kind, graph, graph.relations[cases], graph.relations[fits], name)
    for one, two in combinations([name for name in members if len(members[name])], 2):
        both = len(np.intersect1d(members[one], members[two], assume_unique=True))
        n_cases = min(len(members[one]), len(members[two]))
        yield Constraint("disjoint", one, two, "soft", n_cases, 1 - both / n_cases, LEARNED)
