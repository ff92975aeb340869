"""Is `pooled` right on lists of every kind? Every pool that is there, one command.

    ACTC_PROVING=folder ACTC_REAL=folder python -m benchmarks.real.run --repeats 20

README.md describes the pools. Writes rows.csv.gz, from which plot.py draws a panel for each graph.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from actc.bench.cells import Cell, load_cell, read_cell
from actc.bench.measurements import Row
from actc.bench.runs import PAPER_BUDGETS, run_experiment
from actc.bench.sample import load_sample
from actc.data.numeric import logit, sigmoid
from actc.data.triples import BoolArray, ScoredTriples

HERE = Path(__file__).parent
METHODS = ("actc-lr-rndm", "pooled", "pooled-known")
COLUMNS = ("dataset", "model", "method", "budget", "repeat", "accuracy", "f1")


def find_cells() -> list[Cell]:
    """Read the pools of the two folders, CoDEx and the packaged sample, and make the confidences."""
    proving, real = os.environ.get("ACTC_PROVING"), os.environ.get("ACTC_REAL")
    folders = sorted(Path(proving).glob("*/*/")) if proving else []
    codex = [
        load_cell(data, model) for data in ("codex-s", "codex-m") for model in ("complex", "conve", "transe", "rescal")
    ]
    sample = load_sample()
    own = Cell("sample", "sample", sample.valid, sample.valid_labels, sample.test, sample.test_labels, sample.known)
    judged = [read_judged(Path(real) / "dbpedia-judges.tsv.gz")] if real else []
    return [*map(read_cell, folders), *codex, own, *judged, make_confidences()]


def read_judged(path: Path) -> Cell:
    """Read facts with a label and the votes of judges: the score is the log-odds of the mean vote."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        _, *rows = (line.rstrip("\n").split("\t") for line in file)
    heads, relations, tails, labels, *votes = zip(*rows, strict=True)
    true, false = ((np.array(votes) == vote).sum(axis=0) for vote in ("1", "0"))
    triples = ScoredTriples.from_columns(heads, relations, tails, np.log((true + 0.5) / (false + 0.5)))
    return halve("dbpedia", "judges", triples, np.array(labels) == "1")


def make_confidences(share: float = 0.73, size: int = 1000, step: float = 0.05, seed: int = 0) -> Cell:
    """Make triples of twenty relations, mostly true, with confidences in steps of 0.05."""
    random = np.random.default_rng(seed)
    labels, relations = random.random(size) < share, random.integers(20, size=size)
    level = logit(np.array(share)) + 0.3 * random.normal(size=20)[relations]
    confidences = sigmoid(level + np.where(labels, 0.5, -1.3) + 1.2 * random.normal(size=size))
    names = [f"e{i}" for i in range(size)]
    triples = ScoredTriples.from_columns(
        names, [f"r{i}" for i in relations], names[::-1], np.round(confidences / step) * step, probabilities=True
    )
    return halve("confidences", "made", triples, labels)


def halve(dataset: str, model: str, triples: ScoredTriples, labels: BoolArray) -> Cell:
    """Return a cell whose pool is one half of the triples and whose test is the other."""
    order = np.random.default_rng(0).permutation(len(labels))
    pool, test = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    return Cell(dataset, model, triples.take(pool), labels[pool], triples.take(test), labels[test])


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows, without their seconds, so that two machines write the same file."""
    with gzip.GzipFile(path, "wb", mtime=0) as packed, io.TextIOWrapper(packed, newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow((*row[:5], f"{row.accuracy:.5f}", f"{row.f1:.5f}"))


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    rows: list[Row] = []
    for cell in find_cells():
        budgets = [budget for budget in (0, *PAPER_BUDGETS) if budget <= len(cell.valid)]
        methods = METHODS if cell.known is not None else METHODS[:2]
        rows += run_experiment([cell], methods, budgets, repeats=options.repeats, seed=12345, jobs=options.jobs)
        print(cell.dataset, cell.model, flush=True)
    write_rows(HERE / "rows.csv.gz", rows)


if __name__ == "__main__":
    main()
