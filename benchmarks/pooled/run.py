"""What the pooled method is worth: on the eight CoDEx cells, and as odds.

    python benchmarks/pooled/run.py cells            writes cells.csv.gz
    python benchmarks/pooled/run.py probabilities    writes probabilities.csv
    python benchmarks/pooled/run.py pictures         writes thresholds.csv, picks.csv

``plot.py`` draws the figures from the rows and ``summarise.py`` prints the tables of docs/pooled.md.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from actc.bench.cells import Cell, load_cell
from actc.bench.measurements import COLUMNS, Row
from actc.bench.runs import PAPER_BUDGETS, draw_orders, run_experiment
from actc.data.answers import Annotations
from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.methods.named import METHODS, Method, finds_cuts
from actc.methods.pooled.features import prepare_pool

HERE = Path(__file__).parent
MODELS = ("complex", "conve", "transe", "rescal")
BUDGETS = (0, *PAPER_BUDGETS)
SEED = 12345
JOBS = os.cpu_count() or 1

METHODS_ON_CELLS = (
    "pooled-rndm",
    "pooled",
    "pooled-known",
    "pooled-known-rndm",
    "actc-lr-rndm",
    "localopt-acc",
)


def brier(labels: BoolArray, probabilities: FloatArray) -> float:
    """Mean squared distance of probability and truth."""
    return float(np.mean((probabilities - labels) ** 2))


def calibration_error(labels: BoolArray, probabilities: FloatArray, bins: int = 10) -> float:
    """Expected calibration error: |mean probability - share of true ones| in equal-width bins, weighted by size."""
    which = np.minimum((probabilities * bins).astype(int), bins - 1)
    return float(np.abs(np.bincount(which, probabilities - labels, minlength=bins)).sum() / len(labels))


def read_cells() -> list[Cell]:
    """Read the eight cells."""
    return [load_cell(data, model) for data in ("codex-s", "codex-m") for model in MODELS]


def run_cells(repeats: int = 20) -> None:
    """Measure every method on the eight cells."""
    rows = run_experiment(read_cells(), METHODS_ON_CELLS, BUDGETS, repeats=repeats, seed=SEED, jobs=JOBS, progress=show)
    write_rows(HERE / "cells.csv.gz", rows)


def run_probabilities(repeats: int = 2) -> None:
    """Measure the calibration of probabilities on test, beside ACTC's classifier and one global Platt scaling."""
    with open(HERE / "probabilities.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("dataset", "model", "method", "budget", "repeat", "calibration_error", "brier"))
        for cell in read_cells():
            for name, estimate in PROBABILITIES.items():
                for budget, repeat, p in estimate(cell, repeats):
                    error, squared = calibration_error(cell.test_labels, p), brier(cell.test_labels, p)
                    writer.writerow((cell.dataset, cell.model, name, budget, repeat, f"{error:.6f}", f"{squared:.6f}"))


Estimates = Iterator[tuple[int, int, FloatArray]]


def estimate_pooled(name: str) -> Callable[[Cell, int], Estimates]:
    """Return probabilities by a pooled method with its own picks."""

    def estimates(cell: Cell, repeats: int) -> Estimates:
        method = METHODS[name]
        for repeat in range(repeats):
            random, annotations = np.random.default_rng([SEED, repeat]), Annotations()
            for budget in PAPER_BUDGETS:
                while len(annotations) < budget:
                    count = min(budget - len(annotations), method.batch(len(annotations)))
                    picks = method.fit(cell.valid, annotations, cell.known).pick(count, random)
                    annotations = annotations.plus(picks.answered(cell.valid_labels[picks.rows]))
                yield budget, repeat, method.fit(cell.valid, annotations, cell.known).probabilities(cell.test)

    return estimates


def estimate_random(name: str) -> Callable[[Cell, int], Estimates]:
    """Return probabilities by a method that judges random triples."""

    def estimates(cell: Cell, repeats: int) -> Estimates:
        view = cell.squashed if finds_cuts(METHODS[name]) else cell
        for repeat, rows in enumerate(draw_orders(len(cell.valid), PAPER_BUDGETS, repeats, SEED, "numpy")):
            for budget in PAPER_BUDGETS:
                judged = Annotations(rows[:budget], cell.valid_labels[rows[:budget]])
                yield budget, repeat, METHODS[name].fit(view.valid, judged, view.known).probabilities(view.test)

    return estimates


def estimate_platt(cell: Cell, repeats: int) -> Estimates:
    """Return probabilities by one logistic curve of the score for all relations, random triples."""
    for repeat, rows in enumerate(draw_orders(len(cell.valid), PAPER_BUDGETS, repeats, SEED, "numpy")):
        for budget in PAPER_BUDGETS:
            scores, labels = cell.valid.scores[rows[:budget], None], cell.valid_labels[rows[:budget]]
            # Platt's own targets; they also make one class enough.
            true, false = labels.sum(), (~labels).sum()
            targets = np.where(labels, (true + 1) / (true + 2), 1 / (false + 2))
            model = LogisticRegression(C=1e6, max_iter=1000)
            model.fit(
                np.vstack([scores, scores]),
                np.repeat([True, False], len(labels)),
                sample_weight=np.concatenate([targets, 1 - targets]),
            )
            yield budget, repeat, model.predict_proba(cell.test.scores[:, None])[:, 1]


def run_pictures(judged: int = 50) -> None:
    """Write, for one cell and one repeat, where the cuts are and where the labels went."""
    cell = read_cells()[4]
    pool, labels, prepared = cell.valid, cell.valid_labels, prepare_pool(cell.valid)
    rows = draw_orders(len(pool), [judged], 1, SEED, "numpy")[0]
    picked = _pick(METHODS["pooled"], cell, judged)
    sets = {
        "all labels": (METHODS["localopt-acc"], np.arange(len(pool))),
        "ACTC": (METHODS["actc-lr-rndm"], rows),
        "pooled, no label": (METHODS["pooled"], rows[:0]),
        "pooled, same labels": (METHODS["pooled-rndm"], rows),
        "pooled, own picks": (METHODS["pooled"], picked),
    }
    with open(HERE / "thresholds.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("relation", "triples", "method", "accepted_share"))
        for name, (method, judged_rows) in sets.items():
            taken = method.fit(pool, Annotations(judged_rows, labels[judged_rows])).accepts(pool)
            accepted = np.bincount(pool.relations, taken) / pool.relation_counts
            for code, relation in enumerate(pool.relation_names):
                writer.writerow((relation, pool.relation_counts[code], name, f"{accepted[code]:.4f}"))
    with open(HERE / "picks.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("method", "relation", "rank", "label"))
        for name, chosen in (("random", rows), ("pooled", picked)):
            codes = pool.relations[chosen]
            rank = (prepared.places[chosen] - prepared.starts[codes] + 0.5) / prepared.counts[codes]
            for code, at, label in zip(codes, rank, labels[chosen], strict=True):
                writer.writerow((name, pool.relation_names[code], f"{at:.4f}", int(label)))


def _pick(method: Method, cell: Cell, judged: int) -> IntArray:
    random, annotations = np.random.default_rng([SEED, 0]), Annotations()
    while len(annotations) < judged:
        count = min(judged - len(annotations), method.batch(len(annotations)))
        picks = method.fit(cell.valid, annotations, cell.known).pick(count, random)
        annotations = annotations.plus(picks.answered(cell.valid_labels[picks.rows]))
    return annotations.rows


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write tidy rows, compressed, without a date in the file."""
    lines = [",".join(COLUMNS)]
    lines += [",".join((*map(str, row[:5]), *(f"{value:.5f}" for value in row[5:8]))) for row in rows]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def show(done: int, total: int) -> None:
    """Say that work goes on."""
    print(".", end="", file=sys.stderr, flush=True)


PROBABILITIES: dict[str, Callable[[Cell, int], Estimates]] = {
    "pooled-known": estimate_pooled("pooled-known"),
    "pooled": estimate_pooled("pooled"),
    "pooled-known-rndm": estimate_random("pooled-known-rndm"),
    "actc-lr-rndm": estimate_random("actc-lr-rndm"),
    "global Platt scaling": estimate_platt,
}

if __name__ == "__main__":
    parts = {
        "cells": run_cells,
        "probabilities": run_probabilities,
        "pictures": run_pictures,
    }
    parts[sys.argv[1]]()
