"""Declared constraints: RDFS and OWL, shapes (SHACL), and Wikidata's property constraints.

What *follows* by RDFS and OWL forbids nothing in an open world: domain and range are soft, symmetric and inverse are no
constraints. What contradicts (functional, disjoint, asymmetric) is hard, and so is a shape. Whatever is not understood
is counted in a note.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from actc.data.constraints import Constraint, Constraints
from actc.data.triples import Triples
from actc.graph.terms import RDF, RDFS, XSD

OWL = "http://www.w3.org/2002/07/owl#"
SH = "http://www.w3.org/ns/shacl#"
WIKIDATA = "http://www.wikidata.org/"
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
WIKIDATA_KINDS = {
    "Q19474404": "functional",
    "Q52060874": "functional",
    "Q21502410": "inverse-functional",
    "Q21503250": "domain",
    "Q21510865": "range",
}
"""Single value, single best value, distinct values, subject type, value type."""
MANDATORY, INSTANCE_OR_PART = "Q21502408", {"Q21503252", "Q30208840"}
STATEMENT, KIND, DIRECT = (f"{WIKIDATA}prop/{part}P2302" for part in ("", "statement/", "direct/"))
QUALIFIERS = {f"{WIKIDATA}prop/qualifier/{one}": one for one in ("P2303", "P2308", "P2309", "P2316")}
# Parts of a shape that nothing added can violate, or that name its target or describe it.
HARMLESS = {
    *("path", "inversePath", "property", "targetClass", "targetSubjectsOf", "targetObjectsOf", "targetNode"),
    *("minCount", "defaultValue", "name", "description", "message", "order", "group", "severity", "deactivated"),
}


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
    every = Constraints((*_read_owl(schema), *_read_shapes(schema), *_read_wikidata(schema)))
    notes = [f"{name} ({count} times)" for name, count in sorted(schema.unknown.items())]
    text = f"Constraints that were not understood, and are not used: {', '.join(notes)}."
    return replace(Constraints().plus(every), notes=(text,) if notes else ())


def _last(name: str) -> str:
    return re.split("[/#]", name)[-1]


class _Schema:
    """The triples that declare constraints, by subject, the names in the graph, and what was not understood."""

    def __init__(self, graph: Triples, facts: Triples) -> None:
        self.facts, self.unknown = facts, Counter[str]()
        self.about: dict[str, list[tuple[str, str]]] = defaultdict(list)
        starts = (OWL, SH, f"{RDFS}domain", f"{RDFS}range", f"{RDF}first", f"{RDF}rest")
        exact = {STATEMENT, KIND, DIRECT, *QUALIFIERS}
        kinds = [name.startswith(starts) or name in exact for name in graph.relation_names]
        declares = np.array(kinds, dtype=np.bool_)[graph.relations]
        typed = np.array([name == TYPE for name in graph.relation_names], dtype=np.bool_)[graph.relations]
        ends = np.array([name.startswith((OWL, SH)) for name in graph.entity_names], dtype=np.bool_)
        rows = graph.take(np.flatnonzero(declares | (typed & ends[graph.tails]))).columns()
        for head, relation, tail in zip(*(column.tolist() for column in rows.values()), strict=True):
            self.about[head].append((relation, tail))

    def relation(self, name: str) -> str:
        """Return the name of a relation in the graph."""
        known = self.facts.relation_names
        ending = [] if name in known.places else [one for one in known if _last(one) == _last(name)]
        return ending[0] if len(ending) == 1 else name

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
        parts = [(relation.removeprefix(SH), tail) for relation, tail in pairs if relation.startswith(SH)]
        off = any(text.startswith('"true"') for text in schema.values(subject, f"{SH}deactivated"))
        if not parts or off or schema.values(subject, f"{SH}inversePath"):
            continue
        severity = schema.values(subject, f"{SH}severity")
        use = "soft" if severity and severity[0] != f"{SH}Violation" else "hard"
        for part, value in parts:
            declared = list(_read_part(schema, subject, part, value))
            yield from (Constraint(*one, use, source="shape") for one in declared)
            if not declared and part not in HARMLESS:
                schema.unknown[f"sh:{part}"] += 1


def _read_part(schema: _Schema, subject: str, part: str, value: str) -> Iterator[tuple[str, str, str]]:
    """Yield kind, relation and other of what one part of a shape declares."""
    path = _read_path(schema, subject)
    if path is None:
        if part == "class":
            for target, kind in (("targetSubjectsOf", "domain"), ("targetObjectsOf", "range")):
                for relation in schema.values(subject, f"{SH}{target}"):
                    yield kind, schema.relation(relation), schema.entity(value)
        return
    relation, inverse = path
    if part == "maxCount" and re.match('"1"', value):
        yield "inverse-functional" if inverse else "functional", relation, ""
    elif part == "class":
        yield "domain" if inverse else "range", relation, schema.entity(value)
    elif part == "disjoint" and not inverse:
        yield "not-both", relation, schema.relation(value)


def _read_path(schema: _Schema, subject: str) -> tuple[str, bool] | None:
    """Return the relation of a shape's path, and whether it leads from tail to head; None for other paths."""
    for path in schema.values(subject, f"{SH}path"):
        inverse = schema.values(path, f"{SH}inversePath")
        if inverse or not path.startswith("_:"):
            return schema.relation(inverse[0] if inverse else path), bool(inverse)
        schema.unknown["sh:path of several steps"] += 1
    return None


def _read_wikidata(schema: _Schema) -> Iterator[Constraint]:
    for subject in schema.about:
        statements = schema.values(subject, STATEMENT)
        for statement in statements:
            qualifiers = {
                part: [*map(_last, schema.values(statement, relation))] for relation, part in QUALIFIERS.items()
            }
            for kind in schema.values(statement, KIND):
                yield from _read_statement(schema, subject, kind, qualifiers)
        for kind in [] if statements else schema.values(subject, DIRECT):
            yield from _read_statement(schema, subject, kind, {})


def _read_statement(schema: _Schema, subject: str, kind: str, qualifiers: dict[str, list[str]]) -> Iterator[Constraint]:
    """Yield the constraint of one statement; truthy ones lack qualifiers: only plain kinds are read of them."""
    code = _last(kind)
    name = WIKIDATA_KINDS.get(code)
    others, needs_class = qualifiers.get("P2308", []), name in ("domain", "range")
    odd = needs_class and not (others and set(qualifiers.get("P2309", [])) <= INSTANCE_OR_PART)
    if name is None or odd:
        schema.unknown[f"Wikidata's {code}" + (" without what it is about" if name else "")] += 1
    elif len(others) > 1:  # any of several classes: no single one is required
        schema.unknown[f"Wikidata's {code} of several classes"] += 1
    else:
        # A hard constraint would exclude the exceptions that it names.
        hard = qualifiers.get("P2316") == [MANDATORY] and not qualifiers.get("P2303")
        other = schema.entity(f"{WIKIDATA}entity/{others[0]}") if others else ""
        yield Constraint(name, schema.relation(subject), other, "hard" if hard else "soft", source="Wikidata")
