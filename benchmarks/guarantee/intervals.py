"""Intervals of precision and accuracy: how often they hold the truth, and how wide they are.

    ACTC_PROVING=folder OMP_NUM_THREADS=1 python benchmarks/guarantee/intervals.py --repeats 7

``folder`` holds GRAPH/MODEL/ as benchmarks/real reads them; the eight CoDEx cells are run too. Writes intervals.csv: of
each pool, number of answers and repeat the estimate, its 90% interval and the truth, for answers by the method's own
questions. Rows that are there already are not worked out again. Prints the share of intervals that hold the truth.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from run import find_cells

from actc.bench.cells import Cell
from actc.data.answers import Annotations
from actc.decide.case import Case
from actc.methods.named import METHODS

HERE = Path(__file__).parent
COUNTS = (20, 50, 100)
COLUMNS = ("pool", "answers", "repeat", "quantity", "truth", "low", "middle", "high")


def answer_questions(cell: Cell, repeat: int) -> Annotations:
    """Answer the questions that the method picks."""
    method, random, answers = METHODS["pooled"], np.random.default_rng([repeat, 7]), Annotations()
    while len(answers) < max(COUNTS):
        picks = method.fit(cell.valid, answers).pick(method.batch(len(answers)), random)
        answers = answers.plus(picks.answered(cell.valid_labels[picks.rows]))
    return answers


def estimate(cell: Cell, answers: Annotations) -> Iterator[tuple[str, ...]]:
    """Yield each quantity, the truth about the pool, and the estimate."""
    case, labels = Case(cell.valid, answers), cell.valid_labels
    accepted, found = case.decisions.accepted, case.estimates
    assert found is not None
    truth = {"precision": labels[accepted].mean() if accepted.any() else np.nan}
    truth["accuracy"] = (accepted == labels).mean()
    for name, value in truth.items():
        share = found.overall[name]
        if share is not None and not np.isnan(value):
            yield name, *(f"{number:.4f}" for number in (value, share.low, share.middle, share.high))


def run(path: Path, repeats: int) -> None:
    """Add the rows that are missing."""
    done = set(pd.read_csv(path)[["pool", "repeat"]].itertuples(index=False, name=None)) if path.exists() else set()
    with path.open("a", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        if not done:
            table.writerow(COLUMNS)
        for cell in find_cells():
            name = f"{cell.dataset}/{cell.model}"
            for repeat in range(repeats):
                if (name, repeat) not in done:
                    answers = answer_questions(cell, repeat)
                    rows = [(n, repeat, *row) for n in COUNTS for row in estimate(cell, answers.first(n))]
                    table.writerows((name, *row) for row in rows)
                    file.flush()


def summarise(path: Path) -> None:
    """Print how often intervals hold, in all and in the pools where they hold least, and their half width."""
    rows, cases = pd.read_csv(path), ["quantity", "answers"]
    rows["held"] = (rows.low <= rows.truth + 1e-4) & (rows.truth <= rows.high + 1e-4)
    rows["half_width"] = (rows.high - rows.low) / 2
    rows["error"] = rows.middle - rows.truth
    shown = rows.groupby(cases)[["held", "half_width", "error"]].mean().round(3)
    print(shown.assign(runs=rows.groupby(cases).size()).to_string())
    by_pool = rows.groupby([*cases, "pool"]).held.mean().sort_values()
    print("\nleast held\n", by_pool.head(8).round(2).to_string())


def main() -> None:
    """Run, write and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, default=HERE / "intervals.csv")
    options = parser.parse_args()
    run(options.out, options.repeats)
    summarise(options.out)


if __name__ == "__main__":
    main()
