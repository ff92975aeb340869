"""Guarantees by testing a list: recall, lists made and lists broken, beside a prototype and an oracle.

    ACTC_PROVING=folder OMP_NUM_THREADS=1 python benchmarks/guarantee/run.py --repeats 20

``folder`` holds GRAPH/MODEL/ as benchmarks/real reads them; the eight CoDEx cells are run too. Writes
rows.csv: of each way, pool, budget, target and repeat the accepted facts that nobody judged, the true ones among them,
and the true ones among all that nobody judged; ``list-test`` is the product (`ask_oracle` with a target precision).

before.csv has the rows of the version before list tests. The prototype: 30 answers
teach, three lists that end where the mean of P(true) is .95, .92 and .88 (of ``.9``; its errors scaled for other
targets), Clopper-Pearson each at a third of the error. The oracle: the longest list by P(true) after 30 answers with
the precision asked for.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from actc.bench.cells import Cell, load_cell, read_cell
from actc.complete.answers import ask_oracle
from actc.data.answers import Annotations
from actc.data.triples import FloatArray, IntArray
from actc.decide.case import Case
from actc.decide.guarantee import TargetPrecision
from actc.methods.named import METHODS

HERE = Path(__file__).parent
BUDGETS, TARGETS, CONFIDENCE = (50, 100, 300), (0.8, 0.9, 0.95), 0.9
COLUMNS = ("way", "pool", "budget", "target", "repeat", "accepted", "true", "possible")
TAUGHT = 30
METHOD = METHODS["pooled"]


def find_cells() -> list[Cell]:
    """Read the pools of the proving ground and of CoDEx."""
    named = os.environ.get("ACTC_PROVING")
    folders = sorted(Path(named).glob("*/*/")) if named else []
    models = ("complex", "conve", "rescal", "transe")
    codex = [load_cell(data, model) for data in ("codex-m", "codex-s") for model in models]
    return [*(read_cell(folder, with_known=False) for folder in folders), *codex]


class Trial:
    """One repeat on one pool: thirty answers by the method's own picks teach prototype and oracle."""

    def __init__(self, cell: Cell, repeat: int) -> None:
        self.pool, self.labels, self.repeat = cell.valid, cell.valid_labels, repeat
        random, answers = np.random.default_rng([repeat, 7]), Annotations()
        while len(answers) < TAUGHT:
            picks = METHOD.fit(self.pool, answers).pick(METHOD.batch(len(answers)), random)
            answers = answers.plus(picks.answered(self.labels[picks.rows]))
        self.rows = answers.rows[:TAUGHT]

    def order(self, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """Fit on the answers about some rows; return the other rows by descending P(true), and P(true)."""
        random = np.random.default_rng([self.repeat, 2])
        p = METHOD.fit(self.pool, Annotations(rows, self.labels[rows])).probabilities(self.pool)
        rest = np.setdiff1d(np.arange(len(self.pool)), rows)
        rest = rest[np.lexsort((random.random(len(rest)), -p[rest]))]
        return rest, p[rest]

    def list_test(self, budget: int, target: float) -> tuple[IntArray, IntArray]:
        """Return the accepted rows and the judged ones, by the product."""
        case = Case(self.pool, target=TargetPrecision(target, CONFIDENCE))
        case = ask_oracle(case, self.labels, budget=budget, seed=self.repeat)
        judged = case.annotations.rows
        return np.setdiff1d(np.flatnonzero(case.decisions.accepted), judged), judged

    def prototype(self, budget: int, target: float) -> tuple[IntArray, IntArray]:
        """Return the accepted rows and the judged ones, by the prototype's way."""
        from scipy.stats import binom

        random = np.random.default_rng([self.repeat, 2])
        order, p = self.order(self.rows)
        means = np.cumsum(p) / np.arange(1, len(p) + 1)
        ends = [np.flatnonzero(means >= 1 - error * (1 - target)) for error in (0.5, 0.8, 1.2)]
        sizes = [int(end[-1]) + 1 if len(end) else 0 for end in ends]
        places, size = random.permutation(sizes[-1])[: budget - TAUGHT], 0
        for end in sizes:
            labels = self.labels[order[places[places < end]]]
            if len(labels) and binom.cdf((~labels).sum(), len(labels), 1 - target) <= (1 - CONFIDENCE) / 3:
                size = end
        judged = np.append(self.rows, order[places])
        return np.setdiff1d(order[:size], judged), judged

    def oracle(self, budget: int, target: float) -> tuple[IntArray, IntArray]:
        """Return the longest list by P(true) that is good enough."""
        order, _ = self.order(self.rows)
        good = np.flatnonzero(np.cumsum(self.labels[order]) >= target * np.arange(1, len(order) + 1))
        return order[: good[-1] + 1 if len(good) else 0], self.rows


WAYS = {"list-test": Trial.list_test, "prototype": Trial.prototype, "oracle": Trial.oracle}


def run_trial(trial: Trial) -> Iterator[tuple[object, ...]]:
    """Yield what each way accepts."""
    for way, accept in WAYS.items():
        for budget in BUDGETS:
            for target in TARGETS:
                accepted, judged = accept(trial, budget, target)
                possible = int(trial.labels.sum() - trial.labels[judged].sum())
                true = int(trial.labels[accepted].sum())
                yield way, budget, target, trial.repeat, len(accepted), true, possible


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    with (options.out / "rows.csv").open("w", newline="") as rows:
        table = csv.writer(rows, lineterminator="\n")
        table.writerow(COLUMNS)
        for cell in find_cells():
            name = f"{cell.dataset}/{cell.model}"
            for repeat in range(options.repeats):
                table.writerows((way, name, *more) for way, *more in run_trial(Trial(cell, repeat)))
            print(name, flush=True)


if __name__ == "__main__":
    main()
