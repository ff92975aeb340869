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


def gains(means: Means, method: str, version: str, which: int = 0) -> dict[str, float]:
    """Return by how much the mean of ten budgets is above a version before, by graph."""
    graphs = names(means)[0]
    return {
        graph: mean_of_ten(means, graph, method, which) - mean_of_ten(means, graph, f"{method}:prior={version}", which)
        for graph in graphs
    }


def find_regrets(means: Means, method: str) -> dict[str, tuple[float, float, float, float]]:
    """Return, by graph, how far the worst budget is below: the own start; ACTC-LR_rndm from 5, at 1 and 2; v2 at 0."""
    graphs, budgets = names(means)
    regrets = {}
    for graph in graphs:
        mine = {b: means[graph, method, b][0] for b in budgets if (graph, method, b) in means}
        rival = {b: means[graph, "actc-lr-rndm", b][0] for b in mine if (graph, "actc-lr-rndm", b) in means}
        below = {b: rival[b] - mine[b] for b in rival}
        regrets[graph] = (
            max(mine[0] - value for value in mine.values()),
            max(below[b] for b in below if b >= 5),
            max(below[b] for b in below if b < 5),
            means[graph, f"{method}:prior=v2", 0][0] - mine[0],
        )
    return regrets


def print_regrets(means: Means) -> None:
    """Print the tables of regrets."""
    for method in METHODS:
        print(f"\n| `{method}` | below its start | ACTC from 5 on | at 1 and 2 | v2 at 0 | over v2 | over v3 |")
        print("| --- " * 7 + "|")
        over = [gains(means, method, version) for version in VERSIONS]
        for graph, found in find_regrets(means, method).items():
            figures = [*found, *(by_graph[graph] for by_graph in over)]
            print(f"| {graph} | " + " | ".join(f"{figure:+.1f}" for figure in figures) + " |")
        means_over = " | ".join(f"{np.mean(list(by_graph.values())):+.2f}" for by_graph in over)
        print(f"| mean | | | | | {means_over} |")


def print_choices() -> None:
    """Print which trial is chosen when a world is left out, and what it then has there."""
    print("\n| left out | chosen on the others | accuracy there | of what is shipped | without humps |")
    print("| --- " * 5 + "|")
    for left, chosen, there in choose.choose(choose.read_choices()):
        shown = " | ".join(f"{there[trial]:.2f}" for trial in (chosen, choose.SHIPPED, "hump_counts=0"))
        print(f"| {', '.join(left)} | {chosen} | {shown} |")


if __name__ == "__main__":
    found = read_means()
    print_accuracy(found)
    print_regrets(found)
    print_choices()
