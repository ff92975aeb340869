"""What does each tuned number of the pooled method bring? Each is moved by itself, on halves of the validation splits.

    ACTC_DATA=... python benchmarks/pooled/tuned.py

writes tuned.csv: field, value, chosen (whether it is the one in use), method, accuracy (mean over the cells and the
budgets 20, 100 and 500, in %), against_chosen (points), at_500. One half of a validation split is the pool, the
other is measured on.
"""

from __future__ import annotations

import csv
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from actc.experiment.cells import Cell, read_cell
from actc.experiment.runs import run_experiment
from actc.pooled import features, humps, model, overrule, picks, regimes, solve
from actc.pooled.tuned import TUNED

HERE = Path(__file__).parent
MODULES = (features, humps, model, overrule, picks, regimes, solve)
CELLS = [f"{data}/{name}" for data in ("codex-s", "codex-m") for name in ("complex", "transe", "conve", "rescal")]
BUDGETS, REPEATS = (20, 100, 500), 1
VARIANTS: dict[str, list[object]] = {
    "shrink": [2, 32],
    "strong": [0.075, 0.3],
    "slope_floor": [0.03, 0.3],
    "audit_every": [2, 10_000],
    "imagined": [(1.0,), (16.0,)],
    "overrule_from": [0, 10_000],
    "line_counts": [3.0, 30.0],
    "margin": [0.0, 2.0],
    "walk": [0.3, 1.5],
}


def halves(name: str) -> Cell:
    """Return a cell whose pool and test are halves of one validation split."""
    cell = read_cell(Path(os.environ["ACTC_DATA"]) / "scores" / name, with_known=False)
    order = np.random.default_rng(7).permutation(len(cell.valid))
    pool, rest = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    labels = cell.valid_labels
    return replace(
        cell,
        valid=cell.valid.take(pool),
        valid_labels=labels[pool],
        test=cell.valid.take(rest),
        test_labels=labels[rest],
    )


def use(**changes: object) -> None:
    """Let the pooled method work with other numbers."""
    tuned = replace(TUNED, **changes)  # type: ignore[arg-type]
    for module in MODULES:
        module.TUNED = tuned  # type: ignore[attr-defined]
    picks._IMAGINED = np.array(tuned.imagined)
    features.prepare_pool.cache_clear()


def measure(cells: list[Cell]) -> dict[str, tuple[float, float]]:
    """Return each method's mean accuracy in %, over all budgets and at the largest."""
    rows = run_experiment(cells, ["pooled", "pooled-rndm"], BUDGETS, repeats=REPEATS, seed=1)
    found = {}
    for method in ("pooled", "pooled-rndm"):
        mine = [row for row in rows if row.method == method]
        last = [row.accuracy for row in mine if row.budget == BUDGETS[-1]]
        found[method] = (100 * float(np.mean([row.accuracy for row in mine])), 100 * float(np.mean(last)))
    return found


def main() -> None:
    """Move one number after the other."""
    cells = [halves(name) for name in CELLS]
    use()
    plain = measure(cells)
    table = []
    for field, values in VARIANTS.items():
        for value in [getattr(TUNED, field), *values]:
            use(**{field: value})
            found = plain if value == getattr(TUNED, field) else measure(cells)
            for method, (mean, last) in found.items():
                chosen = int(value == getattr(TUNED, field))
                change = mean - plain[method][0]
                table.append((field, value, chosen, method, f"{mean:.2f}", f"{change:+.2f}", f"{last:.2f}"))
            print(table[-2:], flush=True)
    use()
    with open(HERE / "tuned.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("field", "value", "chosen", "method", "accuracy", "against_chosen", "at_500"))
        writer.writerows(table)


if __name__ == "__main__":
    main()
