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
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.real.run import find_cells

from actc.bench.runs import run_experiment
from actc.methods.pooled import features, humps, regimes, solve
from actc.methods.pooled.regimes import Beliefs, make_regimes
from actc.methods.pooled.tuned import TUNED, Tuned

HERE = Path(__file__).parent
BUDGETS = (0, 1, 2, 5, 10, 20, 50, 100)
SHIPPED = "shipped"
CUT_TAU = Beliefs().tau[0]
# The third number is how much relations differ in intercept where one cut does for all.
TRIALS: dict[str, tuple[Tuned, Beliefs, float]] = {
    SHIPPED: (TUNED, Beliefs(), CUT_TAU),
    "one cut: tau=.8": (TUNED, Beliefs(), 0.8),
    "one cut: tau=.3": (TUNED, Beliefs(), 0.3),
    "alike: tau=1.2": (TUNED, Beliefs(tau=(1.2, 1.2)), CUT_TAU),
    "diff=.7,.6": (TUNED, Beliefs(diff=(0.7, 0.6)), CUT_TAU),
    "hump_shrink=8": (replace(TUNED, hump_shrink=8), Beliefs(), CUT_TAU),
    "hump_counts=0": (replace(TUNED, hump_counts=0.0), Beliefs(), CUT_TAU),
    "hump_counts=3": (replace(TUNED, hump_counts=3.0), Beliefs(), CUT_TAU),
    "hump_counts=12": (replace(TUNED, hump_counts=12.0), Beliefs(), CUT_TAU),
    "least_clear=.02": (replace(TUNED, least_clear=0.02), Beliefs(), CUT_TAU),
    "told=.9": (replace(TUNED, told=0.9), Beliefs(), CUT_TAU),
    "tilt=1.8": (TUNED, Beliefs(tilt=1.8), CUT_TAU),
    "tilt=2.8": (TUNED, Beliefs(tilt=2.8), CUT_TAU),
    "told_one=0": (TUNED, Beliefs(told_one=0.0), CUT_TAU),
    "off=1": (TUNED, Beliefs(off=1.0), CUT_TAU),
    "slopes=1.5": (TUNED, Beliefs(slopes=(1.5, 1.5, 1.5)), CUT_TAU),
}


@contextmanager
def changed(numbers: Tuned, beliefs: Beliefs, cut_tau: float) -> Iterator[None]:
    """Let the pooled method have other numbers for a while."""
    before = dict(regimes.REGIMES)
    for module in (features, humps, regimes, solve):
        module.TUNED = numbers  # type: ignore[attr-defined]
    for known in before:
        priors = list(make_regimes(beliefs, known))
        priors[2::3] = [replace(prior, tau=(cut_tau, prior.tau[1])) for prior in priors[2::3]]
        regimes.REGIMES[known] = tuple(priors)
    features.prepare_pool.cache_clear()
    try:
        yield
    finally:
        for module in (features, humps, regimes, solve):
            module.TUNED = TUNED  # type: ignore[attr-defined]
        regimes.REGIMES.update(before)
        features.prepare_pool.cache_clear()


def run_trials(repeats: int) -> dict[tuple[str, str], dict[int, float]]:
    """Return the mean accuracy in per cent by budget, for each trial and graph."""
    cells, found = find_cells(), defaultdict(lambda: defaultdict(list))
    for name, trial in TRIALS.items():
        with changed(*trial):
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
    print("| left out | chosen on the others | has there | shipped | without humps |")
    print("| --- " * 5 + "|")
    there = []
    for left in sorted({world(graph) for graph in graphs}):
        inside = [graph for graph in graphs if world(graph) == left]
        others = [graph for graph in graphs if world(graph) != left]
        best = max(TRIALS, key=lambda trial: np.mean([worth[trial, graph] for graph in others]))
        there.append([np.mean([worth[trial, graph] for graph in inside]) for trial in (best, SHIPPED, "hump_counts=0")])
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
