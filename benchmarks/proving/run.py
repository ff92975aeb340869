"""How far does `pooled` carry? Every cell that is there, one command.

    ACTC_PROVING=folder python benchmarks/proving/run.py --repeats 20

``folder`` holds GRAPH/MODEL/ with valid, test and train as `actc bench` reads them. The eight CoDEx cells of this
repository and the packaged sample are run too. Writes rows.csv.gz, from which summarise.py prints the tables of
docs/pooled.md and plot.py draws a panel for each graph.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import os
from collections.abc import Iterable
from pathlib import Path

from actc.experiment.cells import Cell, read_cell
from actc.experiment.datasets import load_cell
from actc.experiment.plans import PAPER_BUDGETS
from actc.experiment.rows import Row
from actc.experiment.runs import run_experiment
from actc.sample import load_sample

HERE = Path(__file__).parent
METHODS = ("actc-lr-rndm", "pooled", "pooled-known")
COLUMNS = ("dataset", "model", "method", "budget", "repeat", "accuracy", "f1")


def find_cells() -> list[Cell]:
    """Read the cells of the proving ground, CoDEx and the packaged sample."""
    named = os.environ.get("ACTC_PROVING")
    folders = sorted(Path(named).glob("*/*/")) if named else []
    codex = [
        load_cell(data, model) for data in ("codex-s", "codex-m") for model in ("complex", "conve", "transe", "rescal")
    ]
    sample = load_sample()
    own = Cell("sample", "sample", sample.valid, sample.valid_labels, sample.test, sample.test_labels, sample.known)
    return [*map(read_cell, folders), *codex, own]


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
        rows += run_experiment([cell], METHODS, budgets, repeats=options.repeats, seed=12345, jobs=options.jobs)
        print(cell.dataset, cell.model, flush=True)
    write_rows(HERE / "rows.csv.gz", rows)


if __name__ == "__main__":
    main()
