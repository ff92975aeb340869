"""A world of families: people, who married whom, whose children they are, and what follows; a part of it is hidden.

Everybody has one father and one mother. Some marry twice, so the spouse of a child's mother need not be its father, and
siblings may share one parent alone: rules propose second fathers and mothers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.graph.graph import Graph

HIDDEN, TWICE = 0.35, 0.4
Fact = tuple[str, str, str]


@dataclass(frozen=True, eq=False)
class World:
    """What is known, and what is true of the rest."""

    graph: Graph
    hidden: Graph


def make_world(families: int = 40, generations: int = 4, hidden: float = HIDDEN, seed: int = 0) -> World:
    """Draw families, and hide a share of what is true of them."""
    random = np.random.default_rng(seed)
    facts = sorted(_draw_families(families, generations, random))
    whole = Graph.from_columns(*zip(*facts, strict=True))
    out = random.random(len(whole)) < hidden
    return World(whole.take(~out), whole.take(out))


def _draw_families(families: int, generations: int, random: np.random.Generator) -> set[Fact]:
    men, women = ([f"{kind}{i}" for i in range(families)] for kind in "mw")
    facts, parents, number = set[Fact](), dict[str, tuple[str, str]](), families
    for _ in range(generations - 1):
        born: list[str] = []
        for man, woman in _couples(men, women, random):
            facts |= {(man, "spouse", woman), (woman, "spouse", man)}
            children = [f"{random.choice(['m', 'w'])}{number + i}" for i in range(int(random.integers(1, 4)))]
            number += len(children)
            parents |= dict.fromkeys(children, (man, woman))
            born += children
        men, women = ([one for one in born if one[0] == kind] for kind in "mw")
    return facts | _what_follows(parents)


def _couples(men: list[str], women: list[str], random: np.random.Generator) -> list[tuple[str, str]]:
    """Marry everybody who finds somebody; some a second time."""
    once = list(zip(random.permutation(men).tolist(), random.permutation(women).tolist(), strict=False))
    again = [pair for pair in zip(random.permutation(men).tolist(), women, strict=False) if random.random() < TWICE]
    return list(dict.fromkeys(once + again))


def _what_follows(parents: dict[str, tuple[str, str]]) -> set[Fact]:
    children: dict[str, list[str]] = {}
    facts = set[Fact]()
    for child, (father, mother) in parents.items():
        facts |= {(child, "father", father), (child, "mother", mother)}
        for parent in (father, mother):
            facts.add((parent, "child", child))
            children.setdefault(parent, []).append(child)
            facts |= {(child, "grandparent", grand) for grand in parents.get(parent, ())}
    for born in children.values():
        facts |= {(one, "sibling", two) for one in born for two in born if one != two}
    siblings = {(one, two) for one, relation, two in facts if relation == "sibling"}
    uncles = {(child, "uncle_or_aunt", two) for child, pair in parents.items() for one, two in siblings if one in pair}
    return facts | uncles
