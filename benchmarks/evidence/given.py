"""Triples from text, without a graph: is what `actc complete --candidates` decides better than the confidences?

Run: python benchmarks/evidence/given.py --out benchmarks/evidence/given.csv
500 extracted triples, 73% or 30% of them true, with confidences in steps of .05: calibrated, or around .75 whatever the
share (``sure``). ``plain``: no triple is evidence for another. ``families``: facts of a made world of families, wrong
ones with another tail, another relation, or the wrong way round. ``way``: the command's own (``complete``), the same
with the evidence at other weights (0: the confidences alone), the paper's ``actc-lr-rndm`` on the confidences. Accuracy
is that of the decisions on all 500, the judged ones among them; ``all`` that of accepting all. The weight in use was
chosen on these generators: the rows do not test it.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from families import make_families

from actc.complete import given
from actc.complete.answers import ask_oracle
from actc.complete.candidates import Candidates
from actc.complete.given import score_given
from actc.data.numeric import logit, sigmoid
from actc.data.triples import BoolArray, FloatArray, ScoredTriples, encode_columns
from actc.decide.case import Case
from actc.graph.graph import Graph
from actc.methods.pooled.method import EVIDENCE_METHOD

FIELDS = ("kind", "share", "confidences", "way", "answers", "seed", "accuracy", "all")
BUDGETS = (0, 20, 50, 100)
WEIGHTS = (0.0, 0.3, 0.5, 1.0)
SIZE, STEP = 500, 0.05
NOTHING = Graph.of(encode_columns([], [], []))


def make_plain(share: float, random: np.random.Generator) -> tuple[Graph, BoolArray]:
    """Make triples of which none is evidence for another."""
    names = [f"e{row}" for row in range(SIZE)]
    relations = [f"r{code}" for code in random.integers(20, size=SIZE)]
    return Graph.from_columns(names, relations, names[::-1]), random.random(SIZE) < share


def make_world(share: float, random: np.random.Generator) -> tuple[Graph, BoolArray]:
    """Draw facts of some families, and make wrong triples of the same people and relations."""
    world = Graph.from_columns(*zip(*make_families(random, 12, 4), strict=True))
    facts = {world.triple(row) for row in range(len(world))}
    first = np.argsort(world.heads + world.tails, kind="stable")[: int(1.5 * SIZE * share)]
    true = [world.triple(row) for row in random.permutation(first)[: int(SIZE * share)].tolist()]
    people = sorted({name for head, _, tail in true for name in (head, tail)})
    wrong: dict[tuple[str, str, str], None] = {}
    while len(wrong) < SIZE - len(true):
        head, relation, tail = true[random.integers(len(true))]
        made = (
            (head, relation, people[random.integers(len(people))]),
            (head, world.relation_names[random.integers(len(world.relation_names))], tail),
            (tail, relation, head),
        )[random.integers(3)]
        if made not in facts and made[0] != made[2]:
            wrong[made] = None
    triples = Graph.from_columns(*zip(*true, *wrong, strict=True))
    labels = np.array([triples.triple(row) in facts for row in range(len(triples))])
    return triples, labels


def make_confidences(labels: BoolArray, triples: Graph, level: float, random: np.random.Generator) -> FloatArray:
    """Make confidences around a level, of each relation its own, true triples higher by 1.8 on the mean."""
    levels = logit(np.array(level)) + 0.3 * random.normal(size=len(triples.relation_names))
    noise = np.where(labels, 0.5, -1.3) + 1.2 * random.normal(size=len(labels))
    return np.round(sigmoid(levels[triples.relations] + noise) / STEP) * STEP


def look_up(triples: Graph) -> FloatArray:
    """Return the log-odds that the triples give each other, of which the command takes a part."""
    with patch.object(given, "OWN_WEIGHT", 1.0):
        nothing = np.zeros(len(triples))
        scored = replace(triples.with_scores(nothing), further={"confidence": nothing})
        return score_given(NOTHING, Candidates(scored)).triples.scores


def measure(kind: str, share: float, seed: int) -> Iterator[tuple[object, ...]]:
    """Decide in each way after so many answers."""
    random = np.random.default_rng(seed)
    triples, labels = {"plain": make_plain, "families": make_world}[kind](share, random)
    evidence = look_up(triples)
    for name, level in (("calibrated", share), ("sure", 0.75)):
        confidences = make_confidences(labels, triples, level, random)
        ways: dict[str, tuple[ScoredTriples, str]] = {
            "actc-lr-rndm": (triples.with_scores(confidences), "actc-lr-rndm")
        }
        log_odds = logit(confidences.clip(1 - given.SURE, given.SURE))
        for weight in WEIGHTS:
            scored = triples.with_scores(log_odds + weight * evidence)
            ways["complete" if weight == given.OWN_WEIGHT else f"weight {weight:g}"] = scored, EVIDENCE_METHOD
        for way, (pool, method) in ways.items():
            for budget in BUDGETS if method != "actc-lr-rndm" else BUDGETS[1:]:
                case = ask_oracle(Case(pool, method=method), labels, budget=budget, seed=seed)
                accuracy = float((case.decisions.accepted == labels).mean())
                yield kind, share, name, way, budget, seed, round(accuracy, 4), round(float(labels.mean()), 4)


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for kind in ("plain", "families"):
            for share in (0.73, 0.3):
                for seed in range(options.seeds):
                    writer.writerows(measure(kind, share, seed))
                    file.flush()


if __name__ == "__main__":
    main()
