"""Print what the committed rows say: accuracy by graph and budget, regret, the choice of the prior.

python benchmarks/proving/summarise.py
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
METHODS = ("pooled", "pooled-known")
# People or a dictionary judged their candidates, or the world is closed; in the others false triples were made up.
REAL = ("codex-s", "codex-m", "sample", "umls-top", "nations-top")

Means = dict[tuple[str, str, int], tuple[float, float]]


def read_means() -> Means:
    """Return accuracy and F1 in per cent by graph, method and budget: the mean of a graph's cells."""
    cells = defaultdict(list)
    with gzip.open(HERE / "rows.csv.gz", "rt", encoding="utf-8") as file:
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
    """Print accuracy of ACTC, v2 and the shipped version."""
    graphs, budgets = names(means)
    print("| graph | method |", " | ".join(map(str, budgets)), "| mean of ten |")
    print("| --- " * (len(budgets) + 3) + "|")
    for graph in graphs:
        for method in ("actc-lr-rndm", "pooled:prior=v2", "pooled", "pooled-known:prior=v2", "pooled-known"):
            cells = [f"{means[graph, method, b][0]:.1f}" if (graph, method, b) in means else "–" for b in budgets]
            print(f"| {graph} | `{method}` |", " | ".join(cells), f"| {mean_of_ten(means, graph, method):.2f} |")


def mean_of_ten(means: Means, graph: str, method: str, which: int = 0) -> float:
    """Return the mean over the budgets above 0."""
    return float(np.mean([values[which] for (g, m, b), values in means.items() if (g, m) == (graph, method) and b > 0]))


def find_regrets(means: Means, method: str) -> dict[str, tuple[float, float]]:
    """Return, by graph, how far the worst budget is below the own start, and (from 5 on) below ACTC-LR_rndm."""
    graphs, budgets = names(means)
    regrets = {}
    for graph in graphs:
        mine = {b: means[graph, method, b][0] for b in budgets if (graph, method, b) in means}
        rival = {b: means[graph, "actc-lr-rndm", b][0] for b in mine if (graph, "actc-lr-rndm", b) in means}
        start = max(mine[0] - value for value in mine.values())
        regrets[graph] = (start, max(rival[b] - mine[b] for b in rival if b >= 5))
    return regrets


def print_regrets(means: Means) -> None:
    """Print the table of regrets."""
    print("\n| graph | " + " | ".join(f"`{m}` below its start | below ACTC from 5 on" for m in METHODS) + " |")
    print("| --- " * 5 + "|")
    tables = [find_regrets(means, method) for method in METHODS]
    for graph in tables[0]:
        print(
            f"| {graph} | "
            + " | ".join(f"{start:.1f} | {rival:+.1f}" for start, rival in (t[graph] for t in tables))
            + " |"
        )


def read_trials() -> dict[tuple[str, str], dict[str, float]]:
    """Return the mean accuracy over ten budgets and both methods, by trial and graph."""
    found = defaultdict(list)
    with gzip.open(HERE / "trials.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if int(row["budget"]):
                found[row["trial"], row["graph"]].append(100 * float(row["accuracy"]))
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for (trial, graph), values in found.items():
        table[trial][graph] = float(np.mean(values))
    return table


def choose(trials: dict[str, dict[str, float]], left_out: tuple[str, ...]) -> str:
    """Return the trial with the best mean over the other graphs, real pools counting twice."""

    def worth(trial: str) -> float:
        graphs = [graph for graph in trials[trial] if graph not in left_out]
        weights = [2.0 if graph in REAL else 1.0 for graph in graphs]
        return float(np.average([trials[trial][graph] for graph in graphs], weights=weights))

    return max((trial for trial in trials if trial != "v2"), key=worth)


def print_choice() -> None:
    """Print which trial is chosen when a graph is left out, and what it then has there."""
    trials = read_trials()
    print("\n| left out | chosen on the others | accuracy there | v2 there |")
    print("| --- | --- | --- | --- |")
    for group in (("codex-s", "codex-m"), *((g,) for g in sorted(trials["v2"]) if g not in ("codex-s", "codex-m"))):
        chosen = choose(trials, group)
        there, before = (np.mean([trials[name][graph] for graph in group]) for name in (chosen, "v2"))
        print(f"| {', '.join(group)} | {chosen} | {there:.2f} | {before:.2f} |")


# Which kinds to add where a pool looks like lists of answers: trials that differ in nothing else.
LOW = ("kept", "low-1", "low-2", "low-3", "low-5", "low-6")
LISTS = (("codex-m-top", "codex-s-top"), ("fb15k-237-top",), ("wn18rr-top",))


def read_lists() -> dict[tuple[str, str], float]:
    """Return the mean accuracy over six budgets and both methods, by trial and graph, of the trials with lists."""
    found = defaultdict(list)
    with gzip.open(HERE / "lists.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if 0 < int(row["budget"]) <= 50:
                found[row["trial"], row["graph"]].append(100 * float(row["accuracy"]))
    return {key: float(np.mean(values)) for key, values in found.items()}


def print_low_choice() -> None:
    """Print which kinds are chosen when a graph of lists is left out, and what they then have there."""
    means = read_lists()

    def worth(trial: str, graphs: tuple[tuple[str, ...], ...]) -> float:
        return float(np.mean([np.mean([means[trial, name] for name in names]) for names in graphs]))

    print("\n| lists left out | chosen on the others | accuracy there | without new kinds |")
    print("| --- | --- | --- | --- |")
    for group in LISTS:
        others = tuple(graph for graph in LISTS if graph != group)
        chosen = max(LOW, key=lambda trial: worth(trial, others))
        there = " | ".join(f"{worth(trial, (group,)):.2f}" for trial in (chosen, "kept"))
        print(f"| {', '.join(group)} | {chosen} | {there} |")


def choose_features(method: str) -> list[tuple[tuple[str, ...], str]]:
    """Return which numbers of the kind "features" are chosen when a graph is left out, by a method's own means."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(HERE / "features.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["method"] == method and int(row["budget"]):
                found[row["trial"]][row["graph"]].append(100 * float(row["accuracy"]))
    common = sorted(set.intersection(*(set(graphs) for graphs in found.values())))
    table = {trial: {graph: float(np.mean(graphs[graph])) for graph in common} for trial, graphs in found.items()}
    worlds = (("codex-s", "codex-m"), *((graph,) for graph in common if graph not in ("codex-s", "codex-m")))
    return [(left, choose(table, left)) for left in worlds]


def print_features_choice() -> None:
    """Print the same."""
    print("\n| method | left out | chosen on the others |\n| --- | --- | --- |")
    for method in METHODS:
        for left, chosen in choose_features(method):
            print(f"| `{method}` | {', '.join(left)} | {chosen} |")


if __name__ == "__main__":
    found = read_means()
    print_accuracy(found)
    print_regrets(found)
    print_choice()
    print_low_choice()
    print_features_choice()
