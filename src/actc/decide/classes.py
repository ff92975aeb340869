"""Which entities are of which class: types and subclasses, as far as a graph states them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from actc.data.constraints import Constraint, Constraints
from actc.data.triples import BoolArray, IntArray, Triples, as_vocabulary
from actc.graph.terms import RDF, RDFS

VOCABULARY = {
    "type": (f"{RDF}type", "rdf:type", "http://www.wikidata.org/prop/direct/P31", "P31"),
    "subclass": (f"{RDFS}subClassOf", "rdfs:subClassOf", "http://www.wikidata.org/prop/direct/P279", "P279"),
}
"""Names of the relations that give types and subclasses, where no constraint names them: those of RDF and Wikidata."""


def match_vocabulary(relations: Iterable[str]) -> Constraints:
    """Return which of a graph's relations give types and subclasses."""
    names = set(relations)
    each = [
        Constraint(kind, name, use="hard", source="its name")
        for kind, known in VOCABULARY.items()
        for name in known
        if name in names
    ]
    return Constraints(tuple(each))


def relation_mask(triples: Triples, names: Iterable[str]) -> BoolArray:
    """Return for each triple whether its relation is one of those named, shape (N,)."""
    codes = as_vocabulary(triples.relation_names).codes(list(names))
    return np.isin(triples.relations, codes[codes >= 0])


def superclasses(constraints: Constraints, facts: Triples) -> dict[str, set[str]]:
    """Return for each class that has a superclass all of its superclasses and itself."""
    above: dict[str, set[str]] = defaultdict(set)
    pairs = facts.take(relation_mask(facts, [one.relation for one in constraints.of("subclass")])).columns()
    for part, whole in zip(pairs["head"].tolist(), pairs["tail"].tolist(), strict=True):
        above[part].add(whole)
    closure: dict[str, set[str]] = {}
    for start in above:
        closure[start], queue = {start}, [start]
        while queue:
            new = above.get(queue.pop(), set()) - closure[start]
            closure[start] |= new
            queue += new
    return closure


def class_members(
    constraints: Constraints, facts: Triples, wanted: Iterable[str]
) -> tuple[BoolArray, dict[str, IntArray]]:
    """Return which entities have a type, shape (E,), and the sorted members of each wanted class and its subclasses."""
    types = facts.take(relation_mask(facts, [one.relation for one in constraints.of("type")]))
    above, names = superclasses(constraints, facts), facts.entity_names
    direct = {code: above.get(names[code], {names[code]}) for code in np.unique(types.tails).tolist()}
    members = {}
    for name in wanted:
        below = [code for code, classes in direct.items() if name in classes]
        members[name] = np.unique(types.heads[np.isin(types.tails, below)])
    typed = np.zeros(len(names), dtype=np.bool_)
    typed[types.heads] = True
    return typed, members
