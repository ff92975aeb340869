"""What useless evidence costs: CoDEx cells whose known facts are shuffled, pooled-evidence beside pooled-known.

Run: python benchmarks/evidence/shuffled.py --out benchmarks/evidence/shuffled.csv
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from actc.bench.cells import Cell, load_cell
from actc.bench.runs import run_experiment

MODELS = ("complex", "conve", "transe", "rescal")


def shuffle_facts(cell: Cell) -> Cell:
    """Return a cell whose known facts have anybody's head and tail; relations and scores stay."""
    assert cell.known is not None
    rng = np.random.default_rng(0)
    known = replace(cell.known, heads=rng.permutation(cell.known.heads), tails=rng.permutation(cell.known.tails))
    return replace(cell, known=known.unique())


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--datasets", nargs="*", default=["codex-s", "codex-m"])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    cells = [shuffle_facts(load_cell(dataset, model)) for dataset in options.datasets for model in MODELS]
    budgets = (20, 50, 100, 200, 500, 1000)
    run_experiment(cells, ["pooled-known", "pooled-evidence"], budgets, repeats=options.repeats, out=options.out)


if __name__ == "__main__":
    main()
