"""What would be chosen without each pool? One number of `pooled` at a time is changed, on all pools.

    ACTC_PROVING=folder ACTC_REAL=folder python -m benchmarks.real.choose --repeats 2

Writes choices.csv (trial, graph, budget, accuracy: the mean of the graph's cells) and prints, for each world left out
(CoDEx and its lists are one), the trial with the best mean over all other worlds, and what it has there.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.real.run import find_cells

from actc.bench.runs import run_experiment
from actc.methods.pooled import features, solve, tuned

HERE = Path(__file__).parent
BUDGETS = (0, 1, 2, 5, 10, 20, 50, 100)
SHIPPED = "shipped"
# Numbers of methods/pooled/tuned.py that are changed.
TRIALS: dict[str, dict[str, Any]] = {
    SHIPPED: {},
    "EQUAL_TAU=1.2": {"EQUAL_TAU": 1.2},
    "SLOPE_DIFFERENCE=.7,.6": {"SLOPE_DIFFERENCE": (0.7, 0.6)},
    "VALLEY_SHRINK=8": {"VALLEY_SHRINK": 8},
    "VALLEY_ANSWERS=0": {"VALLEY_ANSWERS": 0.0},
    "VALLEY_ANSWERS=3": {"VALLEY_ANSWERS": 3.0},
    "VALLEY_ANSWERS=12": {"VALLEY_ANSWERS": 12.0},
    "LEAST_CLEAR=.02": {"LEAST_CLEAR": 0.02},
    "FEATURES_WEIGHT=.9": {"FEATURES_WEIGHT": 0.9},
    "BASE_LOGIT=1.8": {"BASE_LOGIT": 1.8},
    "BASE_LOGIT=2.8": {"BASE_LOGIT": 2.8},
    "FEATURES_INTERCEPT=0": {"FEATURES_INTERCEPT": 0.0},
    "BASE_SD=1": {"BASE_SD": 1.0},
    "SLOPES=1.5": {"SLOPES": (1.5, 1.5, 1.5)},
}
CACHED = (features.prepare_pool, solve.regime_priors)


@contextmanager
def changed(numbers: dict[str, Any]) -> Iterator[None]:
    """Let the pooled method have other numbers for a while."""
    before = {name: getattr(tuned, name) for name in numbers}
    for values in (numbers, before):
        for name, value in values.items():
            setattr(tuned, name, value)
        for cached in CACHED:
            cached.cache_clear()
        if values is numbers:
            yield


def run_trials(repeats: int) -> dict[tuple[str, str], dict[int, float]]:
    """Return the mean accuracy in per cent by budget, for each trial and graph."""
    cells, found = find_cells(), defaultdict(lambda: defaultdict(list))
    for name, trial in TRIALS.items():
        with changed(trial):
            for cell in cells:
                for row in run_experiment([cell], ["pooled"], BUDGETS, repeats=repeats, seed=12345, jobs=1):
                    found[name, cell.dataset][row.budget].append(100 * row.accuracy)
        print(name, flush=True)
    return {key: {b: float(np.mean(values)) for b, values in table.items()} for key, table in found.items()}


def world(graph: str) -> str:
    """Return what graphs of one world have in common: CoDEx's and its lists, WordNet's, Freebase's and theirs."""
    return graph.removesuffix("-top").removesuffix("-s").removesuffix("-m")


def print_choices(found: dict[tuple[str, str], dict[int, float]]) -> None:
    """Print what is chosen without each world, and what that has there."""
    worth = {key: float(np.mean([value for budget, value in table.items() if budget])) for key, table in found.items()}
    graphs = list(dict.fromkeys(graph for _, graph in worth))
    print("| left out | chosen on the others | has there | shipped | without valleys |")
    print("| --- " * 5 + "|")
    there = []
    for left in sorted({world(graph) for graph in graphs}):
        inside = [graph for graph in graphs if world(graph) == left]
        others = [graph for graph in graphs if world(graph) != left]
        best = max(TRIALS, key=lambda trial: np.mean([worth[trial, graph] for graph in others]))
        there.append([np.mean([worth[one, graph] for graph in inside]) for one in (best, SHIPPED, "VALLEY_ANSWERS=0")])
        print(f"| {left} | {best} | " + " | ".join(f"{value:.2f}" for value in there[-1]) + " |")
    print("| mean of the worlds | | " + " | ".join(f"{value:.2f}" for value in np.mean(there, axis=0)) + " |")


def main() -> None:
    """Run, write and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2)
    found = run_trials(parser.parse_args().repeats)
    with open(HERE / "choices.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("trial", "graph", "budget", "accuracy"))
        writer.writerows(
            (*key, budget, f"{value:.3f}") for key, table in found.items() for budget, value in table.items()
        )
    print_choices(found)


if __name__ == "__main__":
    main()
