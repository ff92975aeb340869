"""Which numbers of the prior would be chosen without each graph? Every cell that is there, one command.

    ACTC_PROVING=folder python benchmarks/proving/choose.py --repeats 3

Each trial changes one thing of what is shipped. Writes choices.csv.gz (means by trial, graph and budget), from which
``choose`` takes, for each graph, the trial with the best mean over all other graphs: the choice is fixed before the
graph that is left out is looked at. summarise.py prints the table.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.proving.run import find_cells

from actc.experiment.runs import run_experiment
from actc.pooled import features, humps, regimes, solve
from actc.pooled.regimes import Beliefs, Regime, make_regimes
from actc.pooled.tuned import TUNED, Tuned

HERE = Path(__file__).parent
BUDGETS = (0, 1, 2, 5, 10, 20, 50)
METHODS = ("pooled", "pooled-known")
SHIPPED = "shipped"
Change = tuple[Tuned, Beliefs, Callable[[tuple[Regime, ...]], tuple[Regime, ...]]]


def all_of(found: tuple[Regime, ...]) -> tuple[Regime, ...]:
    """Keep all regimes."""
    return found


def without_one_cut(found: tuple[Regime, ...]) -> tuple[Regime, ...]:
    """Leave out the regime in which one cut does for all relations."""
    return found[:2] + found[3:]


TRIALS: dict[str, Change] = {
    SHIPPED: (TUNED, Beliefs(), all_of),
    "hump_counts=0": (replace(TUNED, hump_counts=0.0), Beliefs(), all_of),
    "hump_counts=3": (replace(TUNED, hump_counts=3.0), Beliefs(), all_of),
    "hump_counts=12": (replace(TUNED, hump_counts=12.0), Beliefs(), all_of),
    "told=.3": (replace(TUNED, told=(0.3, 0.98)), Beliefs(), all_of),
    "start_counts=0": (replace(TUNED, start_counts=0.0), Beliefs(), all_of),
    "few=-2.2": (TUNED, Beliefs(few=-2.2), all_of),
    "few=-3": (TUNED, Beliefs(few=-3.0), all_of),
    "slopes=1.8": (TUNED, Beliefs(slopes=(1.8, 1.8, 1.8)), all_of),
    "without one cut": (TUNED, Beliefs(), without_one_cut),
}


@contextmanager
def changed(change: Change) -> Iterator[None]:
    """Let the pooled method have other numbers for a while."""
    numbers, beliefs, keep = change
    before = dict(regimes.REGIMES)
    for module in (features, humps, regimes, solve):
        module.TUNED = numbers  # type: ignore[attr-defined]
    regimes.REGIMES.update({known: keep(make_regimes(beliefs, known)) for known in before})
    features.prepare_pool.cache_clear()
    try:
        yield
    finally:
        for module in (features, humps, regimes, solve):
            module.TUNED = TUNED  # type: ignore[attr-defined]
        regimes.REGIMES.update(before)
        features.prepare_pool.cache_clear()


Table = dict[str, dict[str, dict[str, dict[int, tuple[float, float]]]]]


def read_choices() -> Table:
    """Return accuracy and F1 in per cent by method, trial, graph and budget."""
    table: Table = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    with gzip.open(HERE / "choices.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            figures = float(row["accuracy"]), float(row["f1"])
            table[row["method"]][row["trial"]][row["graph"]][int(row["budget"])] = figures
    return table


def choose(table: Table) -> list[tuple[tuple[str, ...], str, dict[str, float]]]:
    """Return, for each world left out, the trial with the best mean over the others, and what trials have there."""
    worth = {
        trial: {
            graph: float(np.mean([table[m][trial][graph][b][0] for m in METHODS for b in table[m][trial][graph] if b]))
            for graph in table[METHODS[0]][trial]
        }
        for trial in table[METHODS[0]]
    }
    chosen = []
    for left in worlds(list(worth[SHIPPED])):
        others = [graph for graph in worth[SHIPPED] if graph not in left]
        best = max(worth, key=lambda trial: np.mean([worth[trial][graph] for graph in others]))
        chosen.append((left, best, {trial: float(np.mean([worth[trial][g] for g in left])) for trial in worth}))
    return chosen


def worlds(graphs: list[str]) -> list[tuple[str, ...]]:
    """Group the graphs that are of one world, CoDEx's and its lists, WordNet's, Freebase's and theirs."""
    names = {graph.removesuffix("-top").removesuffix("-s").removesuffix("-m") for graph in graphs}
    return [tuple(g for g in sorted(graphs) if g == n or g.startswith(f"{n}-")) for n in sorted(names)]


def run_trials(names: list[str], repeats: int) -> None:
    """Run some trials and write the means of all."""
    cells, rows = find_cells(), []
    for name in names:
        with changed(TRIALS[name]):
            for cell in cells:
                found = defaultdict(list)
                for row in run_experiment([cell], METHODS, BUDGETS, repeats=repeats, seed=12345, jobs=1):
                    found[row.method, row.budget].append((100 * row.accuracy, 100 * row.f1))
                rows += [(name, cell.dataset, *key, *np.mean(values, axis=0)) for key, values in found.items()]
        print(name, flush=True)
        write_means(rows)


def write_means(rows: list[tuple[str, str, str, int, float, float]]) -> None:
    """Write the mean over the cells of each graph."""
    means = defaultdict(list)
    for trial, graph, method, budget, *figures in rows:
        means[trial, graph, method, budget].append(figures)
    path = HERE / "choices.csv.gz"
    with gzip.GzipFile(path, "wb", mtime=0) as packed, io.TextIOWrapper(packed, newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("trial", "graph", "method", "budget", "accuracy", "f1"))
        for key, values in means.items():
            writer.writerow((*key, *(f"{value:.3f}" for value in np.mean(values, axis=0))))


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    run_trials(list(TRIALS), parser.parse_args().repeats)


if __name__ == "__main__":
    main()
