"""Worlds that are known whole: families of several generations, some facts of which are hidden.

Run: python benchmarks/evidence/families.py families unequal --out FOLDER
It writes FOLDER/WORLD/{train,valid,test}.tsv; test is what is hidden. ``families`` hides a fifth of the facts of every
relation, and one fact in a hundred that is given is wrong. ``unequal`` hides half of the facts of some relations and a
fiftieth of the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np

Fact = tuple[str, str, str]
PLAIN, RICH = 0.02, 0.5  # hidden shares of ``unequal``
OFTEN_HIDDEN = ("uncle", "aunt", "nephew", "niece", "grandparent")


def make_families(random: np.random.Generator, couples: int, generations: int) -> list[Fact]:
    """Return all facts of families: couples have up to five children, most of whom marry within the generation."""
    parents: dict[str, tuple[str, str]] = {}
    male: dict[str, bool] = {}
    pairs = [(f"m0_{k}", f"f0_{k}") for k in range(couples)]
    married = list(pairs)
    for generation in range(1, generations):
        children = []
        for pair in pairs:
            for _ in range(int(random.integers(0, 6))):
                name = f"p{generation}_{len(children)}"
                children.append(name)
                parents[name], male[name] = pair, bool(random.random() < 0.5)
        men, women = ([child for child in children if male[child] == one] for one in (True, False))
        random.shuffle(men)
        random.shuffle(women)
        pairs = [pair for pair in zip(men, women, strict=False) if parents[pair[0]] != parents[pair[1]]]
        pairs = pairs[: int(0.8 * len(pairs))]
        married += pairs
    for man, woman in married:
        male[man], male[woman] = True, False
    return sorted(set(tell(parents, male, married)))


def tell(parents: dict[str, tuple[str, str]], male: dict[str, bool], married: list[tuple[str, str]]) -> Iterable[Fact]:
    """Give every fact twelve relations and grandparents have, the one who is the uncle first."""
    children: dict[str, list[str]] = {}
    for child, pair in parents.items():
        for parent in pair:
            children.setdefault(parent, []).append(child)
    spouse = {a: b for pair in married for a, b in (pair, pair[::-1])}
    for man, woman in married:
        yield man, "husband", woman
        yield woman, "wife", man
    for child, pair in parents.items():
        siblings = [other for other in children[pair[0]] if other != child]
        for parent in pair:
            yield parent, "father" if male[parent] else "mother", child
            yield child, "son" if male[child] else "daughter", parent
            for grandparent in parents.get(parent, ()):
                yield grandparent, "grandparent", child
        for other in siblings:
            yield child, "brother" if male[child] else "sister", other
        for other in siblings:
            for young in children.get(other, []):
                for elder in filter(None, (child, spouse.get(child))):
                    yield elder, "uncle" if male[elder] else "aunt", young
                    yield young, "nephew" if male[young] else "niece", elder


def hide(
    facts: list[Fact], shares: dict[str, float], wrong: float, random: np.random.Generator
) -> dict[str, list[Fact]]:
    """Return what is given, in two files, and what is hidden; some of what is given gets another tail."""
    out = np.array([random.random() < shares[fact[1]] for fact in facts])
    given = [fact for fact, hidden in zip(facts, out, strict=True) if not hidden]
    people, true = sorted({fact[0] for fact in facts}), set(facts)
    for place in np.flatnonzero(random.random(len(given)) < wrong):
        head, relation, _ = given[place]
        other = (head, relation, people[int(random.integers(len(people)))])
        if other not in true:
            given[place] = other
    valid = random.random(len(given)) < 0.1
    split = {name: [fact for fact, one in zip(given, valid, strict=True) if one == keep] for name, keep in
             (("train", False), ("valid", True))}  # fmt: skip
    return split | {"test": [fact for fact, hidden in zip(facts, out, strict=True) if hidden]}


def write_world(name: str, folder: Path, seed: int) -> None:
    """Write the three files of one world."""
    random = np.random.default_rng(seed)
    facts = make_families(random, couples=60, generations=5)
    relations = {fact[1] for fact in facts}
    shares = {one: 0.2 if name == "families" else RICH if one in OFTEN_HIDDEN else PLAIN for one in relations}
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for part, rows in hide(facts, shares, 0.01 if name == "families" else 0.0, random).items():
        (place / f"{part}.tsv").write_text("".join("\t".join(fact) + "\n" for fact in rows), encoding="utf-8")


def main() -> None:
    """Write worlds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("world", nargs="+", choices=("families", "unequal"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    for world in options.world:
        write_world(world, options.out, options.seed)


if __name__ == "__main__":
    main()
