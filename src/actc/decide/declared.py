"""Constraints that somebody wrote down: RDFS and OWL, shapes (SHACL), and Wikidata's property constraints.

What RDFS and OWL say *follows* (domain, range, symmetric, inverse) forbids nothing in an open world, so it is soft;
what contradicts (functional, disjoint, asymmetric) is hard, and so is a shape. Whatever is not understood is counted
and said.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from actc.data.constraints import Constraint, Constraints
from actc.data.triples import Triples
from actc.graph.terms import RDF, RDFS, XSD

OWL = "http://www.w3.org/2002/07/owl#"
SH = "http://www.w3.org/ns/shacl#"
WIKIDATA = "http://www.wikidata.org/"
TYPE = f"{RDF}type"

OWL_KINDS = {
    "FunctionalProperty": ("functional", "hard"),
    "InverseFunctionalProperty": ("inverse-functional", "hard"),
    "AsymmetricProperty": ("asymmetric", "hard"),
    "IrreflexiveProperty": ("irreflexive", "hard"),
    "SymmetricProperty": ("symmetric", "soft"),
}
PLAIN = {"Class", "ObjectProperty", "DatatypeProperty", "AnnotationProperty", "Ontology", "NamedIndividual", "Thing",
         "AllDisjointClasses", "AllDisjointProperties"}  # fmt: skip
PAIRS = {
    f"{RDFS}domain": ("domain", "soft"),
    f"{RDFS}range": ("range", "soft"),
    f"{OWL}inverseOf": ("inverse", "soft"),
    f"{OWL}disjointWith": ("disjoint", "hard"),
    f"{OWL}propertyDisjointWith": ("not-both", "hard"),
}
WIKIDATA_KINDS = {
    "Q19474404": "functional",
    "Q52060874": "functional",
    "Q21502410": "inverse-functional",
    "Q21510862": "symmetric",
    "Q21510855": "inverse",
    "Q21503250": "domain",
    "Q21510865": "range",
}
"""Single value, single best value, distinct values, symmetric, inverse, subject type, value type."""
MANDATORY, INSTANCE_OR_PART = "Q21502408", {"Q21503252", "Q30208840"}
# Parts of a shape that nothing added can violate, or that say who is meant or how it is told.
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
        The graph that they shall hold in, if it is another. An IRI is taken for what is called so there, or for the one
        relation or class that is called as its last part.
    """
    schema = _Schema.of(graph, _Names(graph if facts is None else facts))
    found = [*_read_owl(schema), *_read_shapes(schema), *_read_wikidata(schema)]
    each = {one.key: one for one in reversed(found)}  # of two that say the same the first
    return Constraints(tuple(reversed(each.values())), tuple(schema.notes()))


@dataclass(frozen=True, eq=False)
class _Names:
    """What relations and classes of constraints are called in the graph."""

    facts: Triples

    def relation(self, name: str) -> str:
        known = self.facts.relation_names
        if name in known.places:
            return name
        ending = [one for one in known if _last(one) == _last(name)]
        return ending[0] if len(ending) == 1 else name

    def entity(self, name: str) -> str:
        known = self.facts.entity_names.places
        return _last(name) if name not in known and _last(name) in known else name


def _last(name: str) -> str:
    return re.split("[/#]", name)[-1]


@dataclass(frozen=True, eq=False)
class _Schema:
    """The triples that speak of constraints, by subject, and what was not understood."""

    about: dict[str, list[tuple[str, str]]]
    names: _Names
    strange: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, graph: Triples, names: _Names) -> _Schema:
        starts = (OWL, SH, f"{RDFS}domain", f"{RDFS}range", f"{RDF}first", f"{RDF}rest")
        kinds = [name.startswith(starts) or bool(_wikidata_part(name)) for name in graph.relation_names]
        speaks = np.array(kinds, dtype=np.bool_)[graph.relations]
        typed = np.array([name == TYPE for name in graph.relation_names], dtype=np.bool_)[graph.relations]
        ends = np.array([name.startswith((OWL, SH)) for name in graph.entity_names], dtype=np.bool_)
        rows = graph.take(np.flatnonzero(speaks | (typed & ends[graph.tails]))).columns()
        about: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for head, relation, tail in zip(*(column.tolist() for column in rows.values()), strict=True):
            about[head].append((relation, tail))
        return cls(dict(about), names)

    def values(self, subject: str, relation: str) -> list[str]:
        return [tail for name, tail in self.about.get(subject, ()) if name == relation]

    def members(self, start: str) -> list[str]:
        """Return what a list of RDF holds."""
        found: list[str] = []
        while start != f"{RDF}nil" and len(found) < len(self.about):
            found += self.values(start, f"{RDF}first")
            start = next(iter(self.values(start, f"{RDF}rest")), f"{RDF}nil")
        return found

    def notes(self) -> Iterator[str]:
        if self.strange:
            told = ", ".join(f"{name} ({count} times)" for name, count in sorted(self.strange.items()))
            yield f"Constraints that were not understood, and are not used: {told}."


def _read_owl(schema: _Schema) -> Iterator[Constraint]:
    for subject, pairs in schema.about.items():
        for relation, tail in pairs:
            if relation == TYPE and tail.startswith(OWL):
                kind, use = OWL_KINDS.get(tail[len(OWL) :], ("", ""))
                if kind:
                    yield Constraint(kind, schema.names.relation(subject), use=use, source="OWL")
                elif tail[len(OWL) :] not in PLAIN:
                    schema.strange[f"owl:{tail[len(OWL) :]}"] += 1
            elif relation in PAIRS:
                yield from _pair(schema, subject, relation, tail)
            elif relation in (f"{OWL}members", f"{OWL}disjointUnionOf"):
                yield from _apart(schema, subject, schema.members(tail))
            elif relation.startswith(OWL):
                schema.strange[f"owl:{relation[len(OWL) :]}"] += 1


def _pair(schema: _Schema, subject: str, relation: str, tail: str) -> Iterator[Constraint]:
    kind, use = PAIRS[relation]
    source = "RDFS" if relation.startswith(RDFS) else "OWL"
    names = schema.names
    if kind in ("domain", "range"):
        if tail.startswith("_:"):
            schema.strange[f"rdfs:{kind} of a class without a name"] += 1
        elif not tail.startswith(XSD):
            yield Constraint(kind, names.relation(subject), names.entity(tail), use, source=source)
    elif kind == "disjoint":
        yield Constraint(kind, names.entity(subject), names.entity(tail), use, source=source)
    else:
        one, two = names.relation(subject), names.relation(tail)
        yield Constraint(kind, one, two, use, source=source)
        if kind == "inverse":
            yield Constraint(kind, two, one, use, source=source)


def _apart(schema: _Schema, subject: str, members: list[str]) -> Iterator[Constraint]:
    are_relations = f"{OWL}AllDisjointProperties" in schema.values(subject, TYPE)
    rename = schema.names.relation if are_relations else schema.names.entity
    for one, two in combinations(map(rename, members), 2):
        yield Constraint("not-both" if are_relations else "disjoint", one, two, "hard", source="OWL")


def _read_shapes(schema: _Schema) -> Iterator[Constraint]:
    for subject, pairs in schema.about.items():
        parts = [(relation[len(SH) :], tail) for relation, tail in pairs if relation.startswith(SH)]
        if not parts or schema.values(subject, f"{SH}inversePath") or _is_off(schema, subject):
            continue
        severity = schema.values(subject, f"{SH}severity")
        use = "soft" if severity and severity[0] != f"{SH}Violation" else "hard"
        for part, value in parts:
            found = list(_read_part(schema, subject, part, value))
            yield from (Constraint(*one, use, source="shape") for one in found)
            if not found and part not in HARMLESS:
                schema.strange[f"sh:{part}"] += 1


def _is_off(schema: _Schema, subject: str) -> bool:
    return any(text.startswith('"true"') for text in schema.values(subject, f"{SH}deactivated"))


def _read_part(schema: _Schema, subject: str, part: str, value: str) -> Iterator[tuple[str, str, str]]:
    """Give what one part of a shape says: kind, relation, other."""
    path = _path(schema, subject)
    if path is None:
        if part == "class":
            for target, kind in (("targetSubjectsOf", "domain"), ("targetObjectsOf", "range")):
                for relation in schema.values(subject, f"{SH}{target}"):
                    yield kind, schema.names.relation(relation), schema.names.entity(value)
        return
    relation, turned = path
    if part == "maxCount" and re.match('"1"', value):
        yield "inverse-functional" if turned else "functional", relation, ""
    elif part == "class":
        yield "domain" if turned else "range", relation, schema.names.entity(value)
    elif part == "disjoint" and not turned:
        yield "not-both", relation, schema.names.relation(value)


def _path(schema: _Schema, subject: str) -> tuple[str, bool] | None:
    """Return the relation of a shape's path, and whether it is walked from tail to head; None for other paths."""
    for path in schema.values(subject, f"{SH}path"):
        turned = schema.values(path, f"{SH}inversePath")
        if turned:
            return schema.names.relation(turned[0]), True
        if not path.startswith("_:"):
            return schema.names.relation(path), False
        schema.strange["sh:path of several steps"] += 1
    return None


def _wikidata_part(name: str) -> str:
    """Return what a predicate of Wikidata's constraints is: P2302, ps:P2302, pq:P2308 …; empty if it is none."""
    known = {
        f"{WIKIDATA}prop/P2302": "p",
        f"{WIKIDATA}prop/direct/P2302": "wdt",
        f"{WIKIDATA}prop/statement/P2302": "ps",
        **{f"{WIKIDATA}prop/qualifier/{one}": one for one in ("P2303", "P2306", "P2308", "P2309", "P2316")},
    }
    return known.get(name, "")


def _read_wikidata(schema: _Schema) -> Iterator[Constraint]:
    whole = set[str]()
    for subject in schema.about:
        for statement in schema.values(subject, f"{WIKIDATA}prop/P2302"):
            whole.add(subject)
            for kind in schema.values(statement, f"{WIKIDATA}prop/statement/P2302"):
                told = {part: [*map(_last, schema.values(statement, f"{WIKIDATA}prop/qualifier/{part}"))]
                        for part in ("P2303", "P2306", "P2308", "P2309", "P2316")}  # fmt: skip
                yield from _wikidata(schema, subject, kind, told)
    for subject in schema.about.keys() - whole:
        for kind in schema.values(subject, f"{WIKIDATA}prop/direct/P2302"):
            yield from _wikidata(schema, subject, kind, {})


def _wikidata(schema: _Schema, subject: str, kind: str, told: dict[str, list[str]]) -> Iterator[Constraint]:
    """Give the constraints of one statement; of the truthy ones, which lack what they are about, only the plain."""
    code = kind.rpartition("/")[2]
    name, relation = WIKIDATA_KINDS.get(code), schema.names.relation(subject)
    others = told.get("P2306" if name == "inverse" else "P2308", [])
    needs = name in ("inverse", "domain", "range")
    odd = needs and name != "inverse" and not set(told.get("P2309", [])) <= INSTANCE_OR_PART
    if name is None or (needs and not others) or odd:
        schema.strange[f"Wikidata's {code}" + (" without what it is about" if name else "")] += 1
        return
    if len(others) > 1:  # any of several classes: no single one is required
        schema.strange[f"Wikidata's {code} of several classes"] += 1
        return
    # Exceptions that it names would be held back by a hard one.
    use = "hard" if told.get("P2316") == [MANDATORY] and not told.get("P2303") else "soft"
    rename = schema.names.relation if name == "inverse" else schema.names.entity
    other = rename(f"{WIKIDATA}entity/{others[0]}") if others else ""
    yield Constraint(name, relation, other, use, source="Wikidata")
