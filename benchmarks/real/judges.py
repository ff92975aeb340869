"""Fourteen language models judge DBpedia's facts: how good are the decisions after a few random answers of people?

    ACTC_REAL=folder python -m benchmarks.real.judges --out benchmarks/real/judges.csv

README.md describes the lists. Rows: list, scores, judges, answers, repeat, accuracy, AUC and Brier score on the facts
that no person judged, and the accuracy of the better constant there.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.judges.simulate import brier

from actc.data.answers import Annotations, Answers
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.decide.case import Case

FIELDS = ("list", "scores", "judges", "answers", "repeat", "accuracy", "auc", "brier", "constant")
ANSWERS = (0, 20, 50, 100)
GRID = ((14, "none"), (14, "mean vote"), (3, "none"), (1, "none"))
"""How many of the judges, drawn at random, and the pool's scores."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Facts, their labels, and the votes (1, -1 or NaN) of each judge, shape (N, J)."""

    triples: ScoredTriples
    labels: BoolArray
    votes: FloatArray

    def take(self, rows: IntArray) -> Judged:
        """Return some of the facts."""
        return Judged(self.triples.take(rows), self.labels[rows], self.votes[rows])


def read_judged(path: Path) -> Judged:
    """Read the facts, without a score."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        _, *rows = (line.rstrip("\n").split("\t") for line in file)
    heads, relations, tails, labels, *votes = zip(*rows, strict=True)
    signs = np.array([[{"1": 1.0, "0": -1.0}.get(vote, np.nan) for vote in column] for column in votes]).T
    triples = ScoredTriples.from_columns(heads, relations, tails, np.zeros(len(labels)))
    return Judged(triples, np.array(labels) == "1", signs)


def make_lists(judged: Judged) -> Iterator[tuple[str, Judged]]:
    """Return the facts as they are, half of them true, and mostly false."""
    yield "85% true", judged
    true, false = np.flatnonzero(judged.labels), np.flatnonzero(~judged.labels)
    for name, odds in (("50% true", 1.0), ("15% true", 15 / 85)):
        some = np.random.default_rng(5).choice(true, round(odds * len(false)), replace=False)
        yield name, judged.take(np.sort(np.concatenate([false, some])))


def measure(judged: Judged, scores: str, judges: int, answers: int, repeat: int) -> tuple[float, ...]:
    """Return accuracy, AUC, Brier score and the better constant's accuracy after one draw of answers."""
    from scipy.stats import rankdata

    random = np.random.default_rng([37, repeat])
    order = random.permutation(len(judged.labels))
    votes = judged.votes[:, np.sort(random.permutation(judged.votes.shape[1])[:judges])]
    rows, places = np.nonzero(~np.isnan(votes))
    odds = ((votes > 0).sum(axis=1) + 0.5) / ((votes < 0).sum(axis=1) + 0.5)
    values = np.log(odds) if scores == "mean vote" else np.zeros(len(odds))
    facts = judged.triples
    pool = ScoredTriples.from_columns(*facts.columns().values(), values)
    given = votes[rows, places]
    heard = Answers(pool.plain().take(rows), given > 0, (1 + given) / 2, who=places.astype(str).astype(object))
    told, rest = order[:answers], order[answers:]
    decisions = Case(pool, Annotations(told, judged.labels[told]), judged=heard).decisions
    assert decisions.probability is not None
    p, truth = decisions.probability[rest], judged.labels[rest]
    ranks, true = rankdata(p), int(truth.sum())
    auc = (ranks[truth].sum() - true * (true + 1) / 2) / (true * (len(truth) - true))
    accuracy = float((decisions.accepted[rest] == truth).mean())
    return accuracy, float(auc), brier(truth, p), max(float(truth.mean()), 1 - float(truth.mean()))


def main() -> None:
    """Write the rows and print their means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    judged = read_judged(Path(os.environ["ACTC_REAL"]) / "dbpedia-judges.tsv.gz")
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for name, facts in make_lists(judged):
            for judges, scores in GRID:
                for answers in ANSWERS:
                    found = [measure(facts, scores, judges, answers, repeat) for repeat in range(options.repeats)]
                    for repeat, row in enumerate(found):
                        writer.writerow([name, scores, judges, answers, repeat, *(f"{one:.4f}" for one in row)])
                    means = " ".join(f"{one:.3f}" for one in np.mean(found, axis=0))
                    print(f"{name}, scores {scores}, {judges} judges, {answers} answers: {means}", flush=True)


if __name__ == "__main__":
    main()
