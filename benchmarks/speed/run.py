"""How fast is one repeat (ten budgets)? And how many times faster than the plain program, in one and the same run?

    OMP_NUM_THREADS=1 python benchmarks/speed/run.py

writes rows.csv: cell, method, milliseconds (best of several, one core), plain_milliseconds, ratio, same_decisions.
The plain program is timed on one repeat; actc, by turns with it, on the same annotations.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from actc import METHODS
from actc.bench.cells import Cell, load_cell
from actc.bench.measurements import PAPER_METRICS
from actc.bench.metrics import measure_decisions
from actc.bench.runs import PAPER_BUDGETS, draw_orders
from actc.data.answers import Annotations

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from plain import calibrate  # noqa: E402

LIMITS = {"localopt-acc": 3, "actc-lr-rndm": 15, "actc-gp-rndm": 50, "globalopt-f1": 15}  # milliseconds, CoDEx-S
TURNS = 7


def annotation_sets(cell: Cell) -> list[Annotations]:
    """Return the ten nested annotation sets of one repeat."""
    rows = draw_orders(len(cell.valid), PAPER_BUDGETS, 1, 12345, "numpy")[0]
    return [Annotations(rows[:budget], cell.valid_labels[rows[:budget]]) for budget in PAPER_BUDGETS]


def time_actc(cell: Cell, method: str, sets: list[Annotations]) -> float:
    """Milliseconds to find all thresholds and score them on test."""
    start = perf_counter()
    measure_decisions(cell.test_labels, cell.accept(METHODS[method].find_cuts(cell.valid, sets)), PAPER_METRICS)
    return 1000 * (perf_counter() - start)


def time_plain(cell: Cell, kind: str, sets: list[Annotations]) -> tuple[float, np.ndarray]:
    """Milliseconds of the plain program, and its cuts in the shape of find_cuts."""
    pool = cell.valid
    scores = {pool.triple(row): float(pool.scores[row]) for row in range(len(pool))}
    start = perf_counter()
    tables = []
    for one in sets:
        labels = {pool.triple(r): float(y) for r, y in zip(one.rows.tolist(), one.labels.tolist(), strict=True)}
        tables.append(calibrate(scores, labels, kind))
    elapsed = 1000 * (perf_counter() - start)
    return elapsed, np.array([[cuts.get(name, cuts[""]) for name in (*pool.relation_names, "")] for cuts in tables])


def main() -> None:
    """Time every cell and method."""
    rows = []
    for name in ("codex-s/complex-authors", "codex-m/complex"):
        cell = load_cell(*name.split("/")).squashed
        sets = annotation_sets(cell)
        for method in LIMITS:
            times = [time_actc(cell, method, sets) for _ in range(TURNS)]
            plain, same = "", ""
            if method.startswith("actc") and "authors" in name:
                plain, cuts = time_plain(cell, method.split("-")[1], sets)
                times += [time_actc(cell, method, sets) for _ in range(TURNS)]
                ours = METHODS[method].find_cuts(cell.valid, sets)
                decide = [cell.valid.scores >= table[:, cell.valid.relations] for table in (ours, cuts)]
                same = f"{np.mean(decide[0] == decide[1]):.5f}"
            ratio = f"{plain / min(times):.0f}" if plain else ""
            rows.append((name, method, f"{min(times):.2f}", f"{plain:.0f}" if plain else "", ratio, same))
            print(*rows[-1])
    with open(HERE / "rows.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("cell", "method", "milliseconds", "plain_milliseconds", "ratio", "same_decisions"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
