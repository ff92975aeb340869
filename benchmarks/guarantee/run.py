"""Guarantees by testing a list: recall, lists made and lists broken, beside a prototype and an oracle.

    ACTC_PROVING=folder OMP_NUM_THREADS=1 python benchmarks/guarantee/run.py --repeats 20

``folder`` holds GRAPH/MODEL/ as benchmarks/proving reads them; the eight CoDEx cells are run too. Writes rows.csv: of
each way, pool, budget, target and repeat the accepted facts that nobody judged, the true ones among them, and the true
ones among all that nobody judged. before.csv has the same rows of the version before list tests. The prototype: 30
answers teach, three lists that end where the mean of P(true) is .95, .92 and .88 (of ``.9``; its errors scaled for
other targets), Clopper-Pearson each at a third of the error. The oracle: the longest list by P(true) after 30 answers
with the precision asked for. ``--half 0`` and ``--half 1`` run every second pool only.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from actc.decide.list_test import largest_passing, nested_lists, plan_rounds
from actc.experiment.cells import Cell, read_cell
from actc.experiment.datasets import load_cell
from actc.methods import METHODS
from actc.triples import Annotations, FloatArray, IntArray

HERE = Path(__file__).parent
BUDGETS, TARGETS, CONFIDENCE = (50, 100, 300), (0.8, 0.9, 0.95), 0.9
COLUMNS = ("way", "pool", "budget", "target", "repeat", "accepted", "true", "possible")
METHOD = METHODS["pooled"]


def find_cells() -> list[Cell]:
    """Read the pools of the proving ground and of CoDEx."""
    named = os.environ.get("ACTC_PROVING")
    folders = sorted(Path(named).glob("*/*/")) if named else []
    models = ("complex", "conve", "rescal", "transe")
    codex = [load_cell(data, model) for data in ("codex-m", "codex-s") for model in models]
    return [*(read_cell(folder, with_known=False) for folder in folders), *codex]


class Trial:
    """One repeat on one pool: answers by the method's own picks, shared by all ways."""

    def __init__(self, cell: Cell, repeat: int, most: int) -> None:
        self.pool, self.labels, self.repeat = cell.valid, cell.valid_labels, repeat
        random, answers = np.random.default_rng([repeat, 7]), Annotations()
        while len(answers) < most:
            picks = METHOD.fit(self.pool, answers).pick(min(METHOD.batch(len(answers)), most - len(answers)), random)
            answers = answers.plus(picks.answered(self.labels[picks.rows]))
        self.rows = answers.rows

    def order(self, rows: IntArray, random: np.random.Generator) -> tuple[IntArray, FloatArray]:
        """Fit on the answers about some rows; return the other rows by descending P(true), and P(true)."""
        p = METHOD.fit(self.pool, Annotations(rows, self.labels[rows])).probabilities(self.pool)
        rest = np.setdiff1d(np.arange(len(self.pool)), rows)
        rest = rest[np.lexsort((random.random(len(rest)), -p[rest]))]
        return rest, p[rest]

    def list_test(self, budget: int, target: float) -> tuple[IntArray, IntArray]:
        """Return the accepted rows and the judged ones, by the product's way."""
        random = np.random.default_rng([self.repeat, 1])
        teach, rounds = plan_rounds(budget, target, CONFIDENCE)
        judged, best = self.rows[:teach], np.zeros(0, dtype=np.int64)
        for part in rounds:
            order, p = self.order(judged, random)
            sizes = nested_lists(p, target)
            if not len(sizes):
                continue
            places = random.permutation(sizes[-1])[: part.draws]
            size = largest_passing(sizes, places, self.labels[order[places]], target, part.alpha)
            judged = np.append(judged, order[places])
            best = max(best, order[:size], key=len)
        return np.setdiff1d(best, judged), judged

    def prototype(self, budget: int, target: float) -> tuple[IntArray, IntArray]:
        """Return the accepted rows and the judged ones, by the prototype's way."""
        from scipy.stats import binom

        random = np.random.default_rng([self.repeat, 2])
        order, p = self.order(self.rows[:30], random)
        means = np.cumsum(p) / np.arange(1, len(p) + 1)
        ends = [np.flatnonzero(means >= 1 - error * (1 - target)) for error in (0.5, 0.8, 1.2)]
        sizes = [int(end[-1]) + 1 if len(end) else 0 for end in ends]
        places, size = random.permutation(sizes[-1])[: budget - 30], 0
        for end in sizes:
            labels = self.labels[order[places[places < end]]]
            if len(labels) and binom.cdf((~labels).sum(), len(labels), 1 - target) <= (1 - CONFIDENCE) / 3:
                size = end
        judged = np.append(self.rows[:30], order[places])
        return np.setdiff1d(order[:size], judged), judged

    def oracle(self, budget: int, target: float) -> tuple[IntArray, IntArray]:
        """Return the longest list by P(true) that is good enough."""
        order, _ = self.order(self.rows[:30], np.random.default_rng([self.repeat, 2]))
        good = np.flatnonzero(np.cumsum(self.labels[order]) >= target * np.arange(1, len(order) + 1))
        return order[: good[-1] + 1 if len(good) else 0], self.rows[:30]


WAYS = {"list-test": Trial.list_test, "prototype": Trial.prototype, "oracle": Trial.oracle}


def run_pool(cell: Cell, repeats: int) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one pool."""
    most = max(30, *(plan_rounds(budget, target, CONFIDENCE)[0] for budget in BUDGETS for target in TARGETS))
    for repeat in range(repeats):
        trial = Trial(cell, repeat, most)
        for way, accept in WAYS.items():
            for budget in BUDGETS:
                for target in TARGETS:
                    accepted, judged = accept(trial, budget, target)
                    possible = int(trial.labels.sum() - trial.labels[judged].sum())
                    true = int(trial.labels[accepted].sum())
                    name = f"{cell.dataset}/{cell.model}"
                    yield way, name, budget, target, repeat, len(accepted), true, possible


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--out", type=Path, default=HERE / "rows.csv")
    options = parser.parse_args()
    cells = find_cells() if options.half is None else find_cells()[options.half :: 2]
    with options.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for cell in cells:
            writer.writerows(run_pool(cell, options.repeats))
            print(cell.dataset, cell.model, flush=True)


if __name__ == "__main__":
    main()
