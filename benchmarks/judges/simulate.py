"""Simulated judges beside 50 answers of people: accuracy, calibration and intervals with and without them.

Run: ACTC_DATA=FOLDER ACTC_PROVING=FOLDER python benchmarks/judges/simulate.py --out benchmarks/judges/rows.csv.gz
and python benchmarks/judges/summarise.py, which reads the rows.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from actc.bench.cells import read_cell
from actc.data.answers import Annotations, Answers
from actc.data.triples import BoolArray, FloatArray, ScoredTriples
from actc.decide.case import Case

CELLS = {
    "codex-m": ("ACTC_DATA", "scores/codex-m/complex"),
    "codex-s": ("ACTC_DATA", "scores/codex-s/complex"),
    "umls-top": ("ACTC_PROVING", "umls-top/complex"),
    "nations-top": ("ACTC_PROVING", "nations-top/complex"),
    "wn18rr-top": ("ACTC_PROVING", "wn18rr-top/complex"),
}
"""CoDEx-S and nations are where the prior of weights was chosen; the other two were only measured."""
YES_NO = ("0.5", "0.6", "0.8", "0.9", "relations", "0.2")
GRADED = ("0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "upside down", "echo", "relations")
"""How often a judge is right that says yes or no; the area under the curve of one that says how sure it is."""
GOOD, BAD = 0.95, 0.6
"""The quality of a judge where it depends on the relation, in one half of the relations and in the other."""
FIELDS = ("cell", "quality", "repeat", "answers", "judge_accuracy", "accuracy_without", "accuracy_with",
          "brier_without", "brier_with", "ece_without", "ece_with", "weight", "decisions", "quantity", "truth",
          "share", "low", "high", "reading", "alone_low", "alone_high")  # fmt: skip


def brier(labels: BoolArray, probabilities: FloatArray) -> float:
    """Mean squared distance of probability and truth."""
    return float(np.mean((probabilities - labels) ** 2))


def calibration_error(labels: BoolArray, probabilities: FloatArray, bins: int = 10) -> float:
    """Expected calibration error: |mean probability - share of true ones| in equal-width bins, weighted by size."""
    which = np.minimum((probabilities * bins).astype(int), bins - 1)
    return float(np.abs(np.bincount(which, probabilities - labels, minlength=bins)).sum() / len(labels))


def read_pool(name: str) -> tuple[ScoredTriples, BoolArray, ScoredTriples | None]:
    """Return the candidates of a cell, which of them are true, and the known triples."""
    variable, path = CELLS[name]
    cell = read_cell(Path(os.environ[variable]) / path).with_evidence
    return cell.valid, cell.valid_labels, cell.known


def simulate_judge(quality: str, pool: ScoredTriples, truth: BoolArray, random: np.random.Generator) -> Answers:
    """Return a judge's answers on the whole pool."""
    count = len(pool)
    if quality == "relations":
        good = random.random(len(pool.relation_names)) < 0.5
        right = random.random(count) < np.where(good[pool.relations], GOOD, BAD)
    else:
        right = random.random(count) < float(quality)
    return Answers(pool.plain(), truth == right, who="simulated")


def simulate_graded(quality: str, pool: ScoredTriples, truth: BoolArray, random: np.random.Generator) -> Answers:
    """Return the graded answers of a judge: what it sees is Gaussian, apart by what is true, on a scale of its own."""
    count, apart = len(pool), np.zeros(len(pool))
    if quality == "echo":
        seen = 2 * (np.argsort(np.argsort(pool.scores)) / count - 0.5) + 0.5 * random.normal(size=count)
    else:
        area = {"upside down": 0.2}.get(quality)
        good = random.random(len(pool.relation_names)) < 0.5
        each = np.where(good[pool.relations], GOOD, BAD) if quality == "relations" else area or float(quality)
        apart = np.sqrt(2) * np.vectorize(NormalDist().inv_cdf)(np.broadcast_to(each, count))
        seen = random.normal(size=count) + apart * np.where(truth, 0.5, -0.5)
    p = 1 / (1 + np.exp(-2 * seen))
    return Answers(pool.plain(), seen > 0, p, who="simulated")


def read_as_yes_or_no(judged: Answers) -> Answers:
    """Return the same answers without how sure they are."""
    return replace(judged, probability=None)


def quality_of(decisions: BoolArray, truth: BoolArray) -> dict[str, float]:
    """Return what the bounds are about."""
    both = int((decisions & truth).sum())
    shares = {"precision": both / max(int(decisions.sum()), 1), "recall": both / max(int(truth.sum()), 1)}
    return {"accuracy": float((decisions == truth).mean()), **shares}


def judges(
    pool: ScoredTriples, truth: BoolArray, random: np.random.Generator, graded: bool
) -> Iterator[tuple[str, str, Answers]]:
    """Return judges: their quality, how their answers are read, and the answers."""
    for quality in GRADED if graded else YES_NO:
        judged = (simulate_graded if graded else simulate_judge)(quality, pool, truth, random)
        if graded:
            yield quality, "graded", judged
        yield quality, "yes or no", read_as_yes_or_no(judged)


def measure(
    name: str, pool: ScoredTriples, truth: BoolArray, known: Any, repeat: int, count: int, graded: bool
) -> list[dict[str, Any]]:
    """Return the rows of one draw of people's answers, one for each judge, with and without it, and quantity."""
    from scipy.stats import binomtest

    random = np.random.default_rng([16, repeat])
    rows = random.permutation(len(pool))[:count]
    answers = Annotations(
        rows, truth[rows], selection="random", sampling_frame="pool", inclusion_probability=1 / len(pool)
    )
    plain = Case(pool, answers, known, "pooled-evidence-rndm:move=false")
    took = plain.left_out_probabilities >= 0.5
    alone = binomtest(int((took == answers.labels).sum()), count).proportion_ci(0.9)  # by people's answers alone
    found = []
    for quality, reading, judged in judges(pool, truth, random, graded):
        case = Case(pool, answers, known, plain.method, judged, fitted=plain.fit)
        assert case.judge_adjusted is not None
        rest = np.setdiff1d(np.arange(len(pool)), rows)
        about: dict[str, Any] = {
            "cell": name, "quality": quality, "reading": reading, "repeat": repeat, "answers": count,
            "judge_accuracy": float((judged.labels == truth).mean()),
            "weight": case.judge_adjusted.weight(0)[0], "alone_low": alone.low, "alone_high": alone.high,
        }  # fmt: skip
        for label, one in (("without", plain), ("with", case)):
            p, accepted = one.decisions.probability, one.decisions.accepted
            assert p is not None
            about |= {
                f"accuracy_{label}": float((accepted == truth)[rest].mean()),
                f"brier_{label}": brier(truth[rest], p[rest]),
                f"ece_{label}": calibration_error(truth[rest], p[rest]),
            }
        for kind, one in (("thresholds", plain), ("heeded", case)):
            assert one.estimates is not None
            for quantity, value in quality_of(one.decisions.accepted, truth).items():
                share = one.estimates.overall[quantity]
                assert share is not None
                told = {"decisions": kind, "quantity": quantity, "truth": value, "share": share.middle}
                found.append(about | told | {"low": share.low, "high": share.high})
    return found


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cells", nargs="*", default=["codex-m", "umls-top"], choices=list(CELLS))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--answers", type=int, nargs="*", default=[50])
    parser.add_argument("--graded", action="store_true", help="judges that say how sure they are")
    options = parser.parse_args()
    with gzip.open(options.out, "wt", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for name in options.cells:
            pool, truth, known = read_pool(name)
            for repeat in range(options.first, options.first + options.repeats):
                for count in options.answers:
                    for row in measure(name, pool, truth, known, repeat, count, options.graded):
                        writer.writerow({key: f"{v:.5f}" if isinstance(v, float) else v for key, v in row.items()})
                print(name, repeat, flush=True)


if __name__ == "__main__":
    main()
