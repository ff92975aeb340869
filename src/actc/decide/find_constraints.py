"""All constraints of a graph: those of a file, those that it declares, those that nearly all of its facts fulfil.

Declared ones are read from RDFS, OWL and shapes (SHACL). What *follows* by RDFS and OWL forbids nothing in an open
world: domain and range are soft, symmetric and inverse are no constraints. What contradicts (functional, disjoint,
asymmetric) is hard, and so is a shape. Whatever is not understood is counted in a note.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from actc.data.constraints import Constraint, Constraints, lower_share
from actc.data.frames import Columns
from actc.data.layout import first_lines
from actc.data.triples import IntArray, Triples
from actc.decide.conflicts import class_members, match_vocabulary, relation_mask
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.rdf import RDF, RDFS, XSD, Base

MIN_SHARE = 0.96
"""The lowest share of cases that fulfil a learned constraint, by the bound that its cases allow.

Of .95, .97, .98 and .99 the first two gained most on the cells of `benchmarks/constraints`, whose test labels chose it.
"""
MAX_CLASSES = 50
"""Classes that constraints are learned about: the largest."""
LEARNED = "learned"
OWL = "http://www.w3.org/2002/07/owl#"
SH = "http://www.w3.org/ns/shacl#"
TYPE = f"{RDF}type"
RDFS_AND_OWL = {
    f"{OWL}FunctionalProperty": ("functional", "hard"),
    f"{OWL}InverseFunctionalProperty": ("inverse-functional", "hard"),
    f"{OWL}AsymmetricProperty": ("asymmetric", "hard"),
    f"{OWL}IrreflexiveProperty": ("irreflexive", "hard"),
    f"{RDFS}domain": ("domain", "soft"),
    f"{RDFS}range": ("range", "soft"),
    f"{OWL}disjointWith": ("disjoint", "hard"),
    f"{OWL}propertyDisjointWith": ("not-both", "hard"),
}
"""The class or the relation that declares a constraint, its kind, and its use."""
NO_CONSTRAINT = {
    f"{OWL}{name}"
    for name in (
        *("Class", "ObjectProperty", "DatatypeProperty", "AnnotationProperty", "Ontology", "NamedIndividual", "Thing"),
        *("AllDisjointClasses", "AllDisjointProperties", "SymmetricProperty", "inverseOf"),
    )
}
SHAPE_PARTS = {
    "maxCount": ("functional", "inverse-functional"),
    "class": ("range", "domain"),
    "disjoint": ("not-both", ""),
}
"""The kinds that the parts of a shape declare: of a relation, and of its inverse."""
# Parts of a shape that nothing added can violate, or that name its target or describe it.
HARMLESS = {
    *("path", "inversePath", "property", "targetClass", "targetSubjectsOf", "targetObjectsOf", "targetNode"),
    *("minCount", "defaultValue", "name", "description", "message", "order", "group", "severity", "deactivated"),
}


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
        Where more are declared: a table that this function wrote and a person edited, or RDF: RDFS, OWL, shapes.
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
    learn = str(named) == LEARNED
    if named is None or (graph is None and learn):
        return Constraints()
    if graph is None:
        return Constraints.read(named)
    facts = graph if isinstance(graph, Graph) else read_graph(graph, base=base)
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
    counted = {one.key: one for one in (*_count_ends(graph), *_count_classes(graph, vocabulary, constraints))}

    def count(one: Constraint) -> Constraint:
        turned = (one.kind, one.other, one.relation)  # disjoint classes may stand the other way round
        same = counted.get(one.key) or counted.get(turned)
        return one if same is None or one.cases else replace(one, cases=same.cases, share=same.share)

    return Constraints(tuple(map(count, constraints.each)), constraints.notes)


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


def read_declared(graph: Triples, facts: Triples | None = None) -> Constraints:
    """Return the constraints that the triples of a graph declare.

    Parameters
    ----------
    graph : Triples
        The graph itself, or a file of constraints read as one.
    facts : Triples, optional
        The graph that they shall hold in, if it is another. An IRI is taken for the entity or relation of that name
        there, or else for the one whose name is its last part.
    """
    schema = _Schema(graph, graph if facts is None else facts)
    # In an order of their own: that of blank nodes is another in every process.
    every = Constraints(tuple(sorted((*_read_owl(schema), *_read_shapes(schema)), key=lambda one: one.key)))
    notes = [f"{name} ({count} times)" for name, count in sorted(schema.unknown.items())]
    text = f"Constraints that were not understood, and are not used: {', '.join(notes)}."
    return replace(Constraints().plus(every), notes=(text,) if notes else ())


def _last(name: str) -> str:
    return name.replace("#", "/").rpartition("/")[2]


class _Schema:
    """The triples that declare constraints, by subject, the names in the graph, and what was not understood."""

    def __init__(self, graph: Triples, facts: Triples) -> None:
        self.facts, self.unknown = facts, Counter[str]()
        self.about: dict[str, list[tuple[str, str]]] = defaultdict(list)
        starts = (OWL, SH, f"{RDFS}domain", f"{RDFS}range", f"{RDF}first", f"{RDF}rest")
        declares = [name.startswith(starts) for name in graph.relation_names]
        kinds = [name.startswith((OWL, SH)) for name in graph.entity_names]
        typed = relation_mask(graph, [TYPE]) & np.array(kinds, dtype=np.bool_)[graph.tails]
        rows = graph.take(typed | np.array(declares, dtype=np.bool_)[graph.relations]).columns()
        for head, relation, tail in zip(*(column.tolist() for column in rows.values()), strict=True):
            self.about[head].append((relation, tail))

    def relation(self, name: str) -> str:
        """Return the name of a relation in the graph."""
        known = self.facts.relation_names
        alike = [one for one in known if _last(one) == _last(name)]
        return alike[0] if name not in known.places and len(alike) == 1 else name

    def entity(self, name: str) -> str:
        """Return the name of an entity in the graph."""
        known = self.facts.entity_names.places
        return _last(name) if name not in known and _last(name) in known else name

    def values(self, subject: str, relation: str) -> list[str]:
        """Return the objects of a subject and a relation."""
        return [tail for name, tail in self.about.get(subject, ()) if name == relation]

    def members(self, start: str) -> list[str]:
        """Return the members of an RDF list."""
        members: list[str] = []
        while start != f"{RDF}nil" and len(members) < len(self.about):
            members += self.values(start, f"{RDF}first")
            start = next(iter(self.values(start, f"{RDF}rest")), f"{RDF}nil")
        return members


def _read_owl(schema: _Schema) -> Iterator[Constraint]:
    for subject, relation, tail in ((subject, *pair) for subject, pairs in schema.about.items() for pair in pairs):
        name = tail if relation == TYPE else relation
        if relation in (f"{OWL}members", f"{OWL}disjointUnionOf"):
            of_relations = f"{OWL}AllDisjointProperties" in schema.values(subject, TYPE)
            kind, rename = ("not-both", schema.relation) if of_relations else ("disjoint", schema.entity)
            for one, two in combinations(map(rename, schema.members(tail)), 2):
                yield Constraint(kind, one, two, "hard", source="OWL")
        elif name not in RDFS_AND_OWL:
            if name.startswith(OWL) and name not in NO_CONSTRAINT:
                schema.unknown[f"owl:{_last(name)}"] += 1
        elif name.startswith(RDFS) and tail.startswith("_:"):
            schema.unknown[f"rdfs:{_last(name)} of a class without a name"] += 1
        elif not (name.startswith(RDFS) and tail.startswith(XSD)):
            (kind, use), source = RDFS_AND_OWL[name], "RDFS" if name.startswith(RDFS) else "OWL"
            one = (schema.entity if kind == "disjoint" else schema.relation)(subject)
            two = (schema.relation if kind == "not-both" else schema.entity)(tail) if name == relation else ""
            yield Constraint(kind, one, two, use, source=source)


def _read_shapes(schema: _Schema) -> Iterator[Constraint]:
    for subject, pairs in schema.about.items():
        off = any(text.startswith('"true"') for text in schema.values(subject, f"{SH}deactivated"))
        parts = [(relation.removeprefix(SH), tail) for relation, tail in pairs if relation.startswith(SH)]
        if not parts or off or schema.values(subject, f"{SH}inversePath"):
            continue
        use = "hard" if schema.values(subject, f"{SH}severity") in ([], [f"{SH}Violation"]) else "soft"
        path = _read_path(schema, subject)
        for part, value in parts:
            declared = _read_part(schema, subject, path, part, value)
            yield from (Constraint(*one, use, source="shape") for one in declared)
            if not declared and part not in HARMLESS:
                schema.unknown[f"sh:{part}"] += 1


def _read_path(schema: _Schema, subject: str) -> tuple[str, bool] | None:
    """Return the relation of a shape's path, and whether it leads from tail to head; None for other paths."""
    for path in schema.values(subject, f"{SH}path"):
        inverse = schema.values(path, f"{SH}inversePath")
        if inverse or not path.startswith("_:"):
            return schema.relation(inverse[0] if inverse else path), bool(inverse)
        schema.unknown["sh:path of several steps"] += 1
    return None


def _read_part(
    schema: _Schema, subject: str, path: tuple[str, bool] | None, part: str, value: str
) -> list[tuple[str, str, str]]:
    """Return kind, relation and other of what one part of a shape declares."""
    if path is None:
        targets = {"domain": "targetSubjectsOf", "range": "targetObjectsOf"} if part == "class" else {}
        ends = ((kind, one) for kind, target in targets.items() for one in schema.values(subject, f"{SH}{target}"))
        return [(kind, schema.relation(one), schema.entity(value)) for kind, one in ends]
    relation, inverse = path
    kind = SHAPE_PARTS.get(part, ("", ""))[inverse]
    if not kind or (part == "maxCount" and not value.startswith('"1"')):
        return []
    rename = {"class": schema.entity, "disjoint": schema.relation}.get(part)
    return [(kind, relation, rename(value) if rename else "")]
