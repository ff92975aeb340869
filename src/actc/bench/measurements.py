"""What experiments write, tidy rows as CSV, one for each measurement; and these folded to be averaged and compared.

Two standard errors can stand behind an average over budgets, and they answer different questions:

* **over repeats**: had other triples been drawn for annotation, how far would the average move? Each repeat
  grows one set of annotations through all budgets, so its budgets are averaged first and the repeats
  compared after;
* **over budgets**: how much do the budgets' own means differ? This is the paper's plus-minus, and does
  not measure luck: it stays the same however often the experiment is repeated.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from actc.data.text_files import open_text, readable, write_csv
from actc.data.triples import FloatArray, IntArray
from actc.errors import FileError, OptionError, TableError

COLUMNS = ("dataset", "model", "method", "budget", "repeat", "accuracy", "f1", "seconds")
PAPER_METRICS = ("accuracy", "f1")


class Run(NamedTuple):
    """One method on one cell: the scores of one model for one data set."""

    dataset: str
    model: str
    method: str


class Row(NamedTuple):
    """One measurement; accuracy, F1 and further metrics in 0...1 on the test triples.

    ``seconds`` is the time to select and calibrate, all budgets of a repeat sharing it evenly. ``further`` holds the
    metrics beside accuracy and F1; in a file each has a column, after the others.
    """

    dataset: str
    model: str
    method: str
    budget: int
    repeat: int
    accuracy: float
    f1: float
    seconds: float
    further: tuple[float, ...] = ()

    @property
    def run(self) -> Run:
        """The method and the cell."""
        return Run(self.dataset, self.model, self.method)


def write_rows(path: str | Path, rows: Iterable[Row], metrics: Sequence[str] = ()) -> None:
    """Write rows as CSV, complete or not at all; ``metrics`` names the further ones."""
    write_csv(path, [(*COLUMNS, *metrics), *map(format_row, rows)])


def format_row(row: Row) -> tuple[Any, ...]:
    """Return a row as it is written, fractions and seconds with six digits."""
    return (*row[:5], *(f"{value:.6f}" for value in (row.accuracy, row.f1, row.seconds, *row.further)))


def read_rows(path: Path) -> list[Row]:
    """Read all whole lines of a file of rows; the last may have been cut off."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such file of rows.")
    with open_text(path) as text:
        lines = text.read().splitlines(keepends=True)
    columns = tuple(lines[0].rstrip("\n").split(",")) if lines else ()
    if columns[: len(COLUMNS)] != COLUMNS:
        raise FileError(f"{path}, line 1: the columns {','.join(COLUMNS)} were expected.")
    whole = [line for line in lines[1:] if line.endswith("\n")]
    rows = []
    with readable(path):
        for number, cells in enumerate(csv.reader(whole), 2):
            try:
                dataset, model, method, budget, repeat, *numbers = cells
                accuracy, f1, seconds, *further = map(float, numbers)
                if len(cells) != len(columns):
                    raise ValueError
                run = Run(dataset, model, method)
                rows.append(Row(*run, int(budget), int(repeat), accuracy, f1, seconds, tuple(further)))
            except ValueError:
                raise FileError(f"{path}, line {number}: this is no row of an experiment.") from None
    return rows


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

    def average(self, runs: Sequence[Run], metric: str, budget: int | None = None) -> Average:
        """Average one method over its runs, in one or several cells, over the repeats and over all budgets or at one.

        Cells of one data set may share their draws, so repeat k is averaged over the cells before repeats are
        compared; where the draws are not shared this is right as well.
        """
        values = np.mean([self.select(run, metric, budget) for run in runs], axis=0)
        return Average(float(values.mean()), standard_error(values.mean(axis=0)), standard_error(values.mean(axis=1)))

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


def read_measurements(path: Path, runs: Container[Run] | None = None) -> Measurements:
    """Fold the rows of a file, of whatever methods and cells it has, or of some runs alone."""
    rows = [row for row in read_rows(path) if runs is None or row.run in runs]
    if not rows:
        raise FileError(f"{path} holds no rows.")
    return fold_rows(rows)


def fold_rows(rows: Sequence[Row]) -> Measurements:
    """Fold tidy rows, in any order, refusing runs that lack a budget or a repeat."""
    budgets, by_run = sorted({row.budget for row in rows}), dict[Run, list[Row]]()
    for row in rows:
        by_run.setdefault(row.run, []).append(row)
    runs = {}
    for run, own in by_run.items():
        own.sort(key=lambda row: (row.budget, row.repeat))
        repeats = max(row.repeat for row in own) + 1
        expected = len(budgets) * repeats  # of which a damaged file can make any number
        steps = [(row.budget, row.repeat) for row in own]
        if len(own) != expected or steps != list(itertools.product(budgets, range(repeats))):
            raise TableError(
                f"The rows of {run.method} on {run.dataset} {run.model} are not complete: {len(own)} of "
                f"{expected} ({len(budgets)} budgets, {repeats} repeats). Run it to its end."
            )
        values = np.array([(row.accuracy, row.f1) for row in own]).T
        runs[run] = values.reshape(2, len(budgets), repeats)
    return Measurements(np.array(budgets), runs)


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
        {b: summarise(means[:, at].mean(), draws[:, at].mean(axis=0)) for at, b in enumerate(results.budgets.tolist())},
        summarise(means.mean(), draws.mean(axis=(0, 1))),
        {cell: summarise(means[at].mean(), draws[at].mean(axis=0)) for at, cell in enumerate(shared)},
        repeats > 1,
    )
