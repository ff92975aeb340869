"""Print what the committed rows say: accuracy by graph and budget, regrets, what would be chosen without each graph.

python -m benchmarks.proving.summarise
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np
from benchmarks.proving import choose

HERE = Path(__file__).parent
METHODS = ("pooled", "pooled-known")
VERSIONS = ("v2", "v3")
"""Versions before this one, whose rows were kept (before.csv.gz) and whose code is gone."""
CODEX = ("codex-s", "codex-m")

Means = dict[tuple[str, str, int], tuple[float, float]]


def read_means(files: tuple[str, ...] = ("rows.csv.gz", "before.csv.gz")) -> Means:
    """Return accuracy and F1 in per cent by graph, method and budget: the mean of a graph's cells."""
    cells = defaultdict(list)
    for name in files:
        with gzip.open(HERE / name, "rt", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = (row["dataset"], row["model"], row["method"], int(row["budget"]))
                cells[key].append((100 * float(row["accuracy"]), 100 * float(row["f1"])))
    graphs = defaultdict(list)
    for (dataset, _, method, budget), values in cells.items():
        graphs[dataset, method, budget].append(np.mean(values, axis=0))
    return {key: tuple(np.mean(values, axis=0)) for key, values in graphs.items()}


def names(means: Means) -> tuple[list[str], list[int]]:
    """Return the graphs and the budgets."""
    return sorted({graph for graph, _, _ in means}), sorted({budget for _, _, budget in means})


def print_accuracy(means: Means) -> None:
    """Print accuracy and F1 of ACTC, the versions before, and what is shipped."""
    graphs, budgets = names(means)
    print("| graph | method |", " | ".join(map(str, budgets)), "| mean of ten |")
    print("| --- " * (len(budgets) + 3) + "|")
    for graph in graphs:
        for method in ("actc-lr-rndm", *(v for m in METHODS for v in (*(f"{m}:prior={n}" for n in VERSIONS), m))):
            figures = [means.get((graph, method, budget)) for budget in budgets]
            cells = ["–" if found is None else f"{found[0]:.1f}/{found[1]:.1f}" for found in figures]
            ten = "/".join(f"{mean_of_ten(means, graph, method, which):.2f}" for which in (0, 1))
            print(f"| {graph} | `{method}` |", " | ".join(cells), f"| {ten} |")


def mean_of_ten(means: Means, graph: str, method: str, which: int = 0) -> float:
    """Return the mean over the budgets above 0."""
    return float(np.mean([values[which] for (g, m, b), values in means.items() if (g, m) == (graph, method) and b > 0]))


def find_regrets(means: Means, method: str) -> dict[str, tuple[float, ...]]:
    """Return by graph how far the worst budget is below, and how far the mean is above.

    Below: the own start; ACTC-LR_rndm from 5 answers on, at 1 and 2; v2 at 0. Above v2 and v3: the mean accuracy over
    ten budgets; the mean F1 up to 5 answers.
    """
    graphs, budgets = names(means)
    regrets = {}
    for graph in graphs:
        mine = {b: means[graph, method, b] for b in budgets if (graph, method, b) in means}
        rival = {b: means[graph, "actc-lr-rndm", b][0] for b in mine if (graph, "actc-lr-rndm", b) in means}
        below = {b: rival[b] - mine[b][0] for b in rival}
        before = [{b: means[graph, f"{method}:prior={version}", b] for b in mine} for version in VERSIONS]
        regrets[graph] = (
            max(mine[0][0] - value[0] for value in mine.values()),
            max(below[b] for b in below if b >= 5),
            max(below[b] for b in below if b < 5),
            before[0][0][0] - mine[0][0],
            *(float(np.mean([mine[b][0] - old[b][0] for b in mine if b > 0])) for old in before),
            *(float(np.mean([mine[b][1] - old[b][1] for b in mine if b <= 5])) for old in before),
        )
    return regrets


def print_regrets(means: Means) -> None:
    """Print the tables of regrets."""
    for method in METHODS:
        print(
            f"\n| `{method}` | own start | ACTC from 5 | ACTC at 1, 2 | v2 at 0 | over v2 | over v3 | F1, v2 | F1, v3 |"
        )
        print("| --- " * 9 + "|")
        regrets = find_regrets(means, method)
        for graph, found in regrets.items():
            print(f"| {graph} | " + " | ".join(f"{figure:+.1f}" for figure in found) + " |")
        over = np.mean(list(regrets.values()), axis=0)[4:]
        print(f"| mean of `{method}` | | | | | " + " | ".join(f"{figure:+.2f}" for figure in over) + " |")


def print_choices(means: Means) -> None:
    """Print which trial is chosen when a world is left out, and what it then has there, beside the versions before."""
    print("\n| left out | chosen on the others | has there | shipped | without humps | v2 | v3 |")
    print("| --- " * 7 + "|")
    figures = []
    for left, chosen, there in choose.choose(choose.read_choices()):
        before = [
            np.mean([means[g, f"{m}:prior={v}", b][0] for g in left for m in METHODS for b in choose.BUDGETS if b])
            for v in VERSIONS
        ]
        figures.append([*(there[trial] for trial in (chosen, choose.SHIPPED, "hump_counts=0")), *before])
        print(f"| {', '.join(left)} | {chosen} | " + " | ".join(f"{figure:.2f}" for figure in figures[-1]) + " |")
    print("| mean of the worlds | | " + " | ".join(f"{figure:.2f}" for figure in np.mean(figures, axis=0)) + " |")


if __name__ == "__main__":
    found = read_means()
    print_accuracy(found)
    print_regrets(found)
    print_choices(found)
