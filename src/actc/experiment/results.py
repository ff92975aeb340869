"""What an experiment found, ready to be averaged: the tidy rows folded into one array per method and cell.

Two standard errors can stand behind an average over budgets, and they answer different questions:

* **over repeats**: had other triples been drawn for annotation, how far would the average move? Each repeat
  grows one set of annotations through all budgets, so its budgets are averaged first and the repeats
  compared after;
* **over budgets**: how much do the budgets' own means differ? This is the paper's plus-minus, and says
  nothing of luck: it stays the same however often the experiment is repeated.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from actc.errors import TableError
from actc.triples import FloatArray, IntArray

METRICS = ("accuracy", "f1")


class Run(NamedTuple):
    """One method on one cell: the scores of one model for one data set."""

    dataset: str
    model: str
    method: str


class Estimate(NamedTuple):
    """An average in per cent with its standard errors; None where one is not defined."""

    value: float
    over_repeats: float | None
    over_budgets: float | None


@dataclass(frozen=True, eq=False)
class Results:
    """Accuracy and F1 of every run.

    Parameters
    ----------
    budgets : int array of shape (B,)
        How many annotations were bought, rising.
    runs : dict of Run to float array of shape (2, B, repeats)
        Accuracy and F1 as fractions. A method that draws nothing at random has one repeat.
    """

    budgets: IntArray
    runs: dict[Run, FloatArray]

    def select(self, run: Run, metric: str, budget: int | None = None) -> FloatArray:
        """Return one metric of one run in per cent: shape (B, repeats), or (1, repeats) for one budget."""
        values: FloatArray = 100.0 * self.runs[run][METRICS.index(metric)]
        return values if budget is None else values[self.budgets == budget]

    def estimate(self, run: Run, metric: str, budget: int | None = None) -> Estimate:
        """Average one metric of one run over the repeats and over all budgets, or at one budget."""
        return self.estimate_mean([run], metric, budget)

    def estimate_mean(self, runs: Sequence[Run], metric: str, budget: int | None = None) -> Estimate:
        """Average the same method over several cells.

        Cells of one data set may share their draws, so repeat k is averaged over the cells before repeats are
        compared; where the draws are not shared this is right as well.
        """
        values = np.mean([self.select(run, metric, budget) for run in runs], axis=0)
        return Estimate(float(values.mean()), standard_error(values.mean(axis=0)), standard_error(values.mean(axis=1)))

    def only(self, runs: Container[Run]) -> Results:
        """Return the results of some runs alone."""
        return Results(self.budgets, {run: values for run, values in self.runs.items() if run in runs})

    def first_repeats(self, count: int) -> Results:
        """Return the results of the first repeats alone, so that runs of different length can be compared."""
        return Results(self.budgets, {run: values[:, :, :count] for run, values in self.runs.items()})

    def methods(self) -> list[str]:
        """Name the methods, in the order they came."""
        return list(dict.fromkeys(run.method for run in self.runs))

    def cells(self) -> list[tuple[str, str]]:
        """Name the cells, (data set, model), in the order they came."""
        return list(dict.fromkeys((run.dataset, run.model) for run in self.runs))


def standard_error(values: FloatArray) -> float | None:
    """Return the standard error of the mean of some values; None for a single one."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def collect_results(
    datasets: Sequence[str],
    models: Sequence[str],
    methods: Sequence[str],
    budgets: ArrayLike,
    repeats: ArrayLike,
    accuracy: ArrayLike,
    f1: ArrayLike,
) -> Results:
    """Fold tidy rows, in any order, refusing runs that lack a budget or a repeat."""
    names = list(zip(datasets, models, methods, strict=True))
    codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
    run_codes = np.array([codes[name] for name in names])
    levels, budget_codes = np.unique(np.asarray(budgets), return_inverse=True)
    repeat_codes = np.asarray(repeats, dtype=np.int64)
    values = np.array([accuracy, f1], dtype=np.float64)
    order = np.lexsort((repeat_codes, budget_codes, run_codes))
    starts = np.searchsorted(run_codes[order], np.arange(len(codes) + 1))
    runs = {}
    for name, code in codes.items():
        rows = order[starts[code] : starts[code + 1]]
        repeat_count = int(repeat_codes[rows].max()) + 1
        expected = np.arange(len(levels) * repeat_count)
        if not np.array_equal(budget_codes[rows] * repeat_count + repeat_codes[rows], expected):
            raise TableError(
                f"The rows of {name[2]} on {name[0]} {name[1]} are not complete: {len(rows)} of "
                f"{len(expected)} ({len(levels)} budgets, {repeat_count} repeats). Run it to its end."
            )
        runs[Run(*name)] = values[:, rows].reshape(2, len(levels), repeat_count)
    return Results(levels.astype(np.int64), runs)
