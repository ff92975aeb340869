"""A better graph without a model and without an answer: families, some of whose facts are hidden, found by rules."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.complete.run import complete_graph
from actc.data.files import write_triples
from actc.graph.formats import read_graph
from actc.graph.graph import Graph

FAMILIES, HIDDEN = 30, 0.2


@dataclass(frozen=True)
class BetterGraph:
    """What came of a graph whose hidden facts are known.

    Parameters
    ----------
    facts, hidden : int
        How many facts the graph has, and how many were hidden from it.
    accepted, true : int
        How many facts were added, and how many of these were among the hidden ones.
    folder : Path
        What `actc complete` wrote.
    rules : tuple of str
        Some of the rules by which facts were found.
    """

    facts: int
    hidden: int
    accepted: int
    true: int
    folder: Path
    rules: tuple[str, ...]

    def tell(self) -> str:
        """Say how much better the graph is."""
        return (
            f"{self.facts:,} facts about {FAMILIES} families; {self.hidden:,} more are hidden. The graph's own rules "
            f"propose facts, and nobody is asked: {self.accepted:,} facts are added, {self.true:,} of them true, so "
            f"{self.true:,} of the {self.hidden:,} hidden facts are found."
        )


def make_families(random: np.random.Generator) -> Graph:
    """Return facts about families of three generations, each of which follows from others."""
    facts: list[tuple[str, str, str]] = []
    for k in range(FAMILIES):
        old, young = (f"Grandpa {k}", f"Grandma {k}"), [f"{name} {k}" for name in ("Ann", "Bob", "Cleo")]
        children = {
            parent: [f"{parent}'s {name}" for name in ("Dan", "Eve")] for parent in young[: random.integers(1, 4)]
        }
        couples = [(old, young), *(((parent, f"{parent}'s love"), theirs) for parent, theirs in children.items())]
        for couple, theirs in couples:
            facts += [(one, "married", other) for one, other in itertools.permutations(couple)]
            facts += [(one, "sibling", other) for one, other in itertools.permutations(theirs, 2)]
            for parent, child in itertools.product(couple, theirs):
                facts += [(parent, "parent", child), (child, "child", parent)]
        facts += [(one, "grandparent", child) for theirs in children.values() for one in old for child in theirs]
    return Graph.from_columns(*zip(*facts, strict=True))


def complete_families(folder: Path, seed: int = 0) -> BetterGraph:
    """Hide a fifth of the facts, and complete the rest, as ``actc complete --budget 0`` does."""
    random = np.random.default_rng(seed)
    world = make_families(random)
    hidden = random.random(len(world)) < HIDDEN
    folder.mkdir(parents=True, exist_ok=True)
    write_triples(folder / "families.tsv", world.take(~hidden).columns())
    out = folder / "better"
    complete_graph(folder / "families.tsv", out, budget=0, seed=seed)
    accepted, missing = read_graph(out / "accepted.tsv"), world.take(hidden)
    lines = (out / "accepted.tsv").read_text(encoding="utf-8").splitlines()
    place = lines[0].split("\t").index("rule")
    rules = dict.fromkeys(line.split("\t")[place] for line in lines[1:])
    right = int(missing.contains(accepted).sum())
    return BetterGraph(int((~hidden).sum()), len(missing), len(accepted), right, out, tuple(rules)[:3])
