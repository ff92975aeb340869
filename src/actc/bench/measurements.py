"""The rows of an experiment, folded to be averaged: the tidy rows into one array per method and cell.

Two standard errors can stand behind an average over budgets, and they answer different questions:

* **over repeats**: had other triples been drawn for annotation, how far would the average move? Each repeat
  grows one set of annotations through all budgets, so its budgets are averaged first and the repeats
  compared after;
* **over budgets**: how much do the budgets' own means differ? This is the paper's plus-minus, and does
  not measure luck: it stays the same however often the experiment is repeated.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from actc.bench.rows import Row, Run, read_rows
from actc.data.triples import FloatArray, IntArray
from actc.errors import FileError, OptionError, TableError

PAPER_METRICS = ("accuracy", "f1")


class Average(NamedTuple):
    """An average in per cent with its standard errors; None where one is not defined."""

    value: float
    over_repeats: float | None
    over_budgets: float | None


@dataclass(frozen=True, eq=False)
class Measurements:
    """Accuracy and F1 of every run."""

    budgets: IntArray  # shape (B,); how many annotations were bought, rising
    # shape (2, B, repeats); accuracy and F1 as fractions. A method that draws nothing at random has one repeat.
    runs: dict[Run, FloatArray]

    def select(self, run: Run, metric: str, budget: int | None = None) -> FloatArray:
        """Return one metric of one run in per cent: shape (B, repeats), or (1, repeats) for one budget."""
        values: FloatArray = 100.0 * self.runs[run][PAPER_METRICS.index(metric)]
        return values if budget is None else values[self.budgets == budget]

    def average(self, run: Run, metric: str, budget: int | None = None) -> Average:
        """Average one metric of one run over the repeats and over all budgets, or at one budget."""
        return self.average_over([run], metric, budget)

    def average_over(self, runs: Sequence[Run], metric: str, budget: int | None = None) -> Average:
        """Average the same method over several cells.

        Cells of one data set may share their draws, so repeat k is averaged over the cells before repeats are
        compared; where the draws are not shared this is right as well.
        """
        values = np.mean([self.select(run, metric, budget) for run in runs], axis=0)
        return Average(float(values.mean()), standard_error(values.mean(axis=0)), standard_error(values.mean(axis=1)))

    def only(self, runs: Container[Run]) -> Measurements:
        """Return the measurements of some runs alone."""
        return Measurements(self.budgets, {run: values for run, values in self.runs.items() if run in runs})

    def first_repeats(self, count: int) -> Measurements:
        """Return the measurements of the first repeats alone, so that runs of different length can be compared."""
        return Measurements(self.budgets, {run: values[:, :, :count] for run, values in self.runs.items()})

    def methods(self) -> list[str]:
        """Name the methods, in the order they came."""
        return list(dict.fromkeys(run.method for run in self.runs))

    def cells(self) -> list[tuple[str, str]]:
        """Name the cells, (data set, model), in the order they came."""
        return list(dict.fromkeys((run.dataset, run.model) for run in self.runs))


def standard_error(values: FloatArray) -> float | None:
    """Return the standard error of the mean of some values; None for a single one."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def read_measurements(path: Path) -> Measurements:
    """Fold the rows of a file, of whatever methods and cells it has."""
    rows = read_rows(path)
    if not rows:
        raise FileError(f"{path} holds no rows.")
    return fold_rows(rows)


def fold_rows(rows: Sequence[Row]) -> Measurements:
    """Fold tidy rows, in any order, refusing runs that lack a budget or a repeat."""
    datasets, models, methods, budgets, repeats, accuracy, f1, *_ = zip(*rows, strict=True)
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
        mine = order[starts[code] : starts[code + 1]]
        repeat_count = int(repeat_codes[mine].max()) + 1
        expected = len(levels) * repeat_count  # of which a damaged file can make any number
        if len(mine) != expected or not np.array_equal(
            budget_codes[mine] * repeat_count + repeat_codes[mine], np.arange(expected)
        ):
            raise TableError(
                f"The rows of {name[2]} on {name[0]} {name[1]} are not complete: {len(mine)} of "
                f"{expected} ({len(levels)} budgets, {repeat_count} repeats). Run it to its end."
            )
        runs[Run(*name)] = values[:, mine].reshape(2, len(levels), repeat_count)
    return Measurements(levels.astype(np.int64), runs)


class Difference(NamedTuple):
    """A mean difference in percentage points and the interval that holds it with the given confidence."""

    mean: float
    lower: float
    upper: float

    @property
    def verdict(self) -> str:
        """Return "win" or "loss" where the interval leaves zero out, "tie" otherwise."""
        return "win" if self.lower > 0 else "loss" if self.upper < 0 else "tie"


class Comparison(NamedTuple):
    """How the first method does against the second; positive differences speak for the first."""

    first: str
    second: str
    by_budget: dict[int, Difference]  # mean over the cells, budget by budget
    average: Difference  # mean over the cells and the budgets
    by_cell: dict[tuple[str, str], Difference]  # mean over the budgets, cell by cell
    # false where neither method draws anything at random: the differences are facts about these cells, their intervals
    # are empty, and nothing follows for other draws
    is_random: bool


def compare_methods(
    results: Measurements,
    first: str,
    second: str,
    metric: str = "accuracy",
    *,
    cells: Sequence[tuple[str, str]] | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two methods on the cells that have both, repeat by repeat, with bootstrap intervals."""
    wanted = results.cells() if cells is None else cells
    shared = [cell for cell in wanted if {Run(*cell, first), Run(*cell, second)} <= results.runs.keys()]
    if not shared:
        raise OptionError(f"No cell has both {first} and {second}, so they cannot be compared.")
    one, other = ([results.select(Run(*cell, method), metric) for cell in shared] for method in (first, second))
    counts = {values.shape[1] for values in (*one, *other)}
    if len(counts - {1}) > 1:
        raise OptionError(
            f"{first} and {second} have {' or '.join(map(str, sorted(counts)))} repeats; "
            "paired methods need the same repeats in every cell."
        )
    # A method that is not random has one repeat, which stands beside every repeat of the other.
    pairs = np.array(np.broadcast_arrays(*(a - b for a, b in zip(one, other, strict=True))))  # (cells, B, repeats)
    repeats, tail = pairs.shape[2], (1.0 - confidence) / 2.0
    drawn = np.random.default_rng(0).multinomial(repeats, np.full(repeats, 1.0 / repeats), size=resamples)
    means, draws = pairs.mean(axis=2), pairs @ drawn.T / repeats

    def summarise(mean: float, draws: FloatArray) -> Difference:
        lower, upper = np.quantile(draws, [tail, 1.0 - tail])
        return Difference(float(mean), float(lower), float(upper))

    return Comparison(
        first,
        second,
        {b: summarise(means[:, at].mean(), draws[:, at].mean(axis=0)) for at, b in enumerate(results.budgets.tolist())},
        summarise(means.mean(), draws.mean(axis=(0, 1))),
        {cell: summarise(means[at].mean(), draws[at].mean(axis=0)) for at, cell in enumerate(shared)},
        repeats > 1,
    )
