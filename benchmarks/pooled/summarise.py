"""Print the tables of docs/pooled.md from the committed rows."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
Table = dict[tuple[str, str, int], list[tuple[float, float]]]


def read_rows(name: str) -> Table:
    """Return (accuracy, F1) pairs in % by method, cell and budget, repeats in order."""
    table: Table = defaultdict(list)
    with gzip.open(HERE / name, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = row["method"], f"{row['dataset']}/{row['model']}", int(row["budget"])
            table[key].append((100 * float(row["accuracy"]), 100 * float(row["f1"])))
    return table


def mean_by_budget(table: Table, method: str, within: str = "") -> dict[int, np.ndarray]:
    """Return the mean accuracy and F1 over cells and repeats at each budget, the cells' datasets ending as given."""
    found: dict[int, list[np.ndarray]] = defaultdict(list)
    for (name, cell, budget), values in table.items():
        if name == method and cell.split("/")[0].endswith(within):
            found[budget].append(np.mean(values, axis=0))
    return {budget: np.mean(values, axis=0) for budget, values in sorted(found.items())}


def print_cells(table: Table) -> None:
    """Print accuracy/F1 by budget, the mean of the ten paper budgets, and the pairs won against ACTC."""
    budgets = (0, 1, 2, 5, 10, 50, 200, 500, 1000)
    print(f"{'':28}" + "".join(f"{budget:>11}" for budget in budgets) + "       mean   pairs won")
    for method in dict.fromkeys(key[0] for key in table):
        means = mean_by_budget(table, method)
        shown = "".join(f"{means[b][0]:6.1f}/{means[b][1]:4.1f}" if b in means else f"{'–':>11}" for b in budgets)
        ten = np.mean([value for budget, value in means.items() if budget > 0], axis=0)
        print(f"{method:28}{shown}  {ten[0]:.2f}/{ten[1]:.2f}   {pairs_won(table, method)}")


def pairs_won(table: Table, method: str, other: str = "actc-lr-rndm") -> str:
    """Count (cell, budget) pairs in which a method's mean is above another's, in accuracy and in F1."""
    won, total = np.zeros(2, dtype=int), 0
    for (name, cell, budget), values in table.items():
        if name == method and budget > 0:
            won += np.mean(values, axis=0) > np.mean(table[other, cell, budget], axis=0)
            total += 1
    return f"{won[0]}, {won[1]} of {total}"


def print_probabilities() -> None:
    """Print calibration error and Brier score in %, averaged over cells, budgets and repeats."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with open(HERE / "probabilities.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["method"]].append((100 * float(row["calibration_error"]), 100 * float(row["brier"])))
    for method, values in found.items():
        error, squared = np.mean(values, axis=0)
        print(f"{method:28} calibration error {error:5.2f}   Brier {squared:5.2f}")


if __name__ == "__main__":
    print_cells(read_rows("cells.csv.gz"))
    print()
    print_probabilities()
