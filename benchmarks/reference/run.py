"""The authors' scores, their draws, 100 repeats: rows that tests/bench/test_reference.py checks, kept as means.

    python benchmarks/reference/run.py

writes means.csv: dataset, model, draws, method, budget ("mean" over the ten), repeats, accuracy, f1 in %.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

from actc import METHODS, run_experiment
from actc.bench.cells import load_cell
from actc.bench.measurements import Row

HERE = Path(__file__).parent
VARIANTS = [
    "actc-lr-dens:default=annotations",
    "actc-lr-dens:selector=farthest-mean",
    "actc-lr-rndm:selector=uncertainty",
    "actc-lr-rndm:selector=density-weighted",
    "actc-lr-rndm:as_printed=true",
    "globalopt-f1:default=half",
    "globalopt-f1:step=0.01",
]
LAST_RELATION = "actc-lr-rndm:selector=uncertainty-last-relation,estimator=lr-scikit-learn"


def means(rows: list[Row], draws: str) -> list[tuple[object, ...]]:
    """Fold repeats into means in %, by budget and over all budgets."""
    table = []
    for method in dict.fromkeys(row.method for row in rows):
        mine = [row for row in rows if row.method == method]
        repeats = len({row.repeat for row in mine})
        for budget in [*sorted({row.budget for row in mine}), "mean"]:
            chosen = [row for row in mine if budget in (row.budget, "mean")]
            quality = 100 * np.array([[row.accuracy, row.f1] for row in chosen]).mean(axis=0)
            table.append(("codex-s", "complex-authors", draws, method, budget, repeats, *quality.round(3)))
    return table


def main() -> None:
    """Run everything on one core."""
    cell = load_cell("codex-s", "complex-authors")
    methods = [name for name in METHODS if not name.startswith("pooled")] + VARIANTS
    table = []
    for draws in ("authors", "numpy"):
        table += means(run_experiment([cell], methods, repeats=100, draws=draws), draws)
    if os.environ.get("PYTHONHASHSEED", "random") == "0":
        table += means(run_experiment([cell], [LAST_RELATION], repeats=1), "hash seed 0")
    else:
        print("Run with PYTHONHASHSEED=0 to add the authors' uncertainty row, which depends on it.")
    with open(HERE / "means.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("dataset", "model", "draws", "method", "budget", "repeats", "accuracy", "f1"))
        writer.writerows(table)


if __name__ == "__main__":
    main()
