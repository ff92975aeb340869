"""Simulated judges beside 50 answers of people: accuracy, calibration and bounds with and without them.

Run: ACTC_DATA=FOLDER ACTC_PROVING=FOLDER python benchmarks/judges/simulate.py --out benchmarks/judges/rows.csv.gz
and python benchmarks/judges/summarise.py, which reads the rows.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from actc.judges.ppi import PoweredQuality, assess_decisions

from actc.experiment.cells import read_cell
from actc.judges.answers import JudgeAnswers
from actc.judges.heed import Heeded, heed_judges
from actc.methods import find_method
from actc.metrics import brier, calibration_error
from actc.triples import Annotations, BoolArray, ScoredTriples

CELLS = {
    "codex-m": ("ACTC_DATA", "scores/codex-m/complex"),
    "codex-s": ("ACTC_DATA", "scores/codex-s/complex"),
    "umls-top": ("ACTC_PROVING", "umls-top/complex"),
    "nations-top": ("ACTC_PROVING", "nations-top/complex"),
}
"""CoDEx-S and nations are where the prior of weights was chosen; the other two were only measured."""
QUALITIES = ("0.5", "0.6", "0.8", "0.9", "relations", "0.2")
GOOD, BAD = 0.95, 0.6
"""How often a judge whose quality depends on the relation is right, in one half of the relations and in the other."""
FIELDS = ("cell", "quality", "repeat", "answers", "judge_accuracy", "accuracy_without", "accuracy_with",
          "brier_without", "brier_with", "ece_without", "ece_with", "weight", "decisions", "quantity", "truth",
          "share", "low", "high", "alone_low", "alone_high", "worth")  # fmt: skip


def simulate_judge(quality: str, pool: ScoredTriples, truth: BoolArray, random: np.random.Generator) -> JudgeAnswers:
    """Return a judge's answers on the whole pool."""
    count = len(pool)
    if quality == "relations":
        good = random.random(len(pool.relation_names)) < 0.5
        right = random.random(count) < np.where(good[pool.relations], GOOD, BAD)
    else:
        right = random.random(count) < float(quality)
    rows, nobody = np.arange(count), np.full(count, np.nan)
    return JudgeAnswers.of(rows, np.zeros(count, dtype=np.int64), truth == right, nobody, ("simulated",))


def quality_of(decisions: BoolArray, truth: BoolArray) -> dict[str, float]:
    """Return what the bounds are about."""
    both = int((decisions & truth).sum())
    shares = {"precision": both / max(int(decisions.sum()), 1), "recall": both / max(int(truth.sum()), 1)}
    return {"accuracy": float((decisions == truth).mean()), **shares}


def assess(heeded: Heeded, decisions: BoolArray, took: BoolArray) -> PoweredQuality:
    """Return the bounds of decisions."""
    assert heeded.probabilities is not None
    return assess_decisions(decisions, heeded.probabilities, heeded.answers.labels, heeded.foreseen, took)


def measure(
    name: str, pool: ScoredTriples, truth: BoolArray, known: Any, repeat: int, count: int
) -> list[dict[str, Any]]:
    """Return the rows of one draw of people's answers, one for each judge and quantity."""
    random = np.random.default_rng([16, repeat])
    rows = random.permutation(len(pool))[:count]
    answers, method = Annotations(rows, truth[rows]), find_method("pooled-evidence-rndm")
    plainly = heed_judges(method, pool, answers, JudgeAnswers.none(), known)
    found = []
    for quality in QUALITIES:
        judged = simulate_judge(quality, pool, truth, random)
        heeded = replace(plainly, judged=judged)
        vars(heeded)["unswayed"] = plainly.unswayed  # judges aside, so the same for all of them
        base = heeded.fit.probabilities(pool)
        assert base is not None
        assert heeded.probabilities is not None
        plain = base >= 0.5
        rest = np.setdiff1d(np.arange(len(pool)), rows)
        about = {
            "cell": name, "quality": quality, "repeat": repeat, "answers": count,
            "judge_accuracy": float(((judged.signals > 0) == truth).mean()),
            "accuracy_without": float((plain == truth)[rest].mean()),
            "accuracy_with": float((heeded.decisions == truth)[rest].mean()),
            "weight": heeded.weights.judges[0].own,
        }  # fmt: skip
        for label, p in (("without", base), ("with", heeded.probabilities)):
            about |= {
                f"brier_{label}": brier(truth[rest], p[rest]),
                f"ece_{label}": calibration_error(truth[rest], p[rest]),
            }
        both = ("thresholds", plain, heeded.unswayed >= 0), ("heeded", heeded.decisions, heeded.foreseen >= 0.5)
        for kind, decisions, took in both:
            powered, real = assess(heeded, decisions, took), quality_of(decisions, truth)
            for quantity, value in real.items():
                one = getattr(powered, quantity)
                found.append(about | {
                    "decisions": kind, "quantity": quantity, "truth": value, "share": one.share,
                    "low": one.interval.low, "high": one.interval.high, "alone_low": one.alone.low,
                    "alone_high": one.alone.high, "worth": one.worth,
                })  # fmt: skip
    return found


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cells", nargs="*", default=["codex-m", "umls-top"], choices=list(CELLS))
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--answers", type=int, default=50)
    options = parser.parse_args()
    with gzip.open(options.out, "wt", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for name in options.cells:
            variable, path = CELLS[name]
            cell = read_cell(Path(os.environ[variable]) / path).weighed
            for repeat in range(options.repeats):
                for row in measure(name, cell.valid, cell.valid_labels, cell.known, repeat, options.answers):
                    writer.writerow({key: f"{v:.5f}" if isinstance(v, float) else v for key, v in row.items()})
                print(name, repeat, flush=True)


if __name__ == "__main__":
    main()
