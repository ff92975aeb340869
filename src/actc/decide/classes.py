"""Who is of which class: types and subclasses, as far as a graph says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from actc.data.constraints import Constraint, Constraints
from actc.data.triples import BoolArray, IntArray, Triples, as_vocabulary
from actc.graph.terms import RDF, RDFS

TYPES = (
    f"{RDF}type",
    "rdf:type",
    "http://www.wikidata.org/prop/direct/P31",
    "P31",
)
SUBCLASSES = (
    f"{RDFS}subClassOf",
    "rdfs:subClassOf",
    "http://www.wikidata.org/prop/direct/P279",
    "P279",
)
"""What relations of classes are called, where nobody says it: RDF's and Wikidata's names."""


def find_vocabulary(relations: Iterable[str]) -> Constraints:
    """Return which of a graph's relations speak of classes."""
    pairs = (("type", TYPES), ("subclass", SUBCLASSES))
    names = set(relations)
    found = [(kind, name) for kind, known in pairs for name in known if name in names]
    return Constraints(tuple(Constraint(kind, name, use="hard", source="its name") for kind, name in found))


def classes_above(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Return every class that each class is a part of, itself included, from pairs of class and larger class."""
    above: dict[str, set[str]] = defaultdict(set)
    for part, whole in pairs:
        above[part].add(whole)
    found: dict[str, frozenset[str]] = {}
    for start in list(above):
        seen, left = {start}, [start]
        while left:
            new = above.get(left.pop(), set()) - seen
            seen |= new
            left += new
        found[start] = frozenset(seen)
    return found


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of entities.

    Parameters
    ----------
    typed : bool array of shape (E,)
        Which entities have a class at all.
    members : dict of str to int array
        The entities of each class that was asked for, its subclasses' included; rising.
    """

    typed: BoolArray
    members: dict[str, IntArray]

    def has(self, name: str, entities: IntArray) -> BoolArray:
        """Say of entities whether they are of a class."""
        return np.isin(entities, self.members.get(name, np.zeros(0, dtype=np.int64)))


def find_classes(constraints: Constraints, facts: Triples, wanted: Iterable[str]) -> Classes:
    """Look up who is of which of the wanted classes."""
    told = relation_mask(facts, [one.relation for one in constraints.of("type")])
    entities, classes = facts.heads[told], facts.tails[told]
    above, names = subclass_pairs(constraints, facts), facts.entity_names
    used = np.unique(classes)
    ups = {int(code): above.get(names[code], frozenset((names[code],))) for code in used.tolist()}
    members = {}
    for name in dict.fromkeys(wanted):
        below = [code for code, up in ups.items() if name in up]
        members[name] = np.unique(entities[np.isin(classes, below)])
    typed = np.zeros(len(names), dtype=np.bool_)
    typed[entities] = True
    return Classes(typed, members)


def subclass_pairs(constraints: Constraints, facts: Triples) -> dict[str, frozenset[str]]:
    """Return the classes above each class by the facts."""
    rows = facts.take(relation_mask(facts, [one.relation for one in constraints.of("subclass")]))
    columns = rows.columns()
    return classes_above(zip(columns["head"].tolist(), columns["tail"].tolist(), strict=True))


def relation_mask(triples: Triples, names: Iterable[str]) -> BoolArray:
    """Say of triples whether they are of one of some relations."""
    codes = as_vocabulary(triples.relation_names).codes(list(names))
    return np.isin(triples.relations, codes[codes >= 0])
