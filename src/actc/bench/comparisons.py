"""Is one method better than another? Paired differences with bootstrap intervals; no claim without one.

Methods of one experiment see the same draws, so repeat k of one is compared with repeat k of the other:
what both owe to a lucky draw cancels. Repeats are resampled whole, all budgets and all cells together,
because the budgets of a repeat are nested and cells of one data set may share their draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from actc.bench.measurements import Measurements
from actc.bench.rows import Run
from actc.data.triples import FloatArray
from actc.errors import OptionError


@dataclass(frozen=True)
class Difference:
    """A mean difference in percentage points and the interval that holds it with the given confidence."""

    mean: float
    lower: float
    upper: float

    @property
    def verdict(self) -> str:
        """Say "win" or "loss" where the interval leaves zero out, "tie" otherwise."""
        return "win" if self.lower > 0 else "loss" if self.upper < 0 else "tie"


@dataclass(frozen=True, eq=False)
class Comparison:
    """How the first method does against the second.

    Parameters
    ----------
    first, second, metric : str
        What is compared; positive differences speak for the first.
    by_budget : dict of int to Difference
        Mean over the cells, budget by budget.
    average : Difference
        Mean over the cells and the budgets.
    by_cell : dict of (data set, model) to Difference
        Mean over the budgets, cell by cell.
    has_chance : bool
        False where neither method draws anything at random: the differences are facts about these cells, their
        intervals are empty, and nothing follows for other draws.
    """

    first: str
    second: str
    metric: str
    by_budget: dict[int, Difference]
    average: Difference
    by_cell: dict[tuple[str, str], Difference]
    has_chance: bool

    def count(self, verdict: str) -> int:
        """Count the cells with a verdict."""
        return sum(difference.verdict == verdict for difference in self.by_cell.values())


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
    """Compare two methods on the cells that have both."""
    wanted = results.cells() if cells is None else cells
    shared = [cell for cell in wanted if {Run(*cell, first), Run(*cell, second)} <= results.runs.keys()]
    if not shared:
        raise OptionError(f"No cell has both {first} and {second}, so they cannot be compared.")
    pairs = _pair(results, shared, first, second, metric)
    repeats = pairs.shape[2]
    counts = np.random.default_rng(0).multinomial(repeats, np.full(repeats, 1.0 / repeats), size=resamples)
    means, draws = pairs.mean(axis=2), pairs @ counts.T / repeats
    tail = (1.0 - confidence) / 2.0

    def summarise(mean: float, drawn: FloatArray) -> Difference:
        lower, upper = np.quantile(drawn, [tail, 1.0 - tail])
        return Difference(float(mean), float(lower), float(upper))

    by_budget = {
        int(budget): summarise(means[:, at].mean(), draws[:, at].mean(axis=0))
        for at, budget in enumerate(results.budgets)
    }
    by_cell = {cell: summarise(means[at].mean(), draws[at].mean(axis=0)) for at, cell in enumerate(shared)}
    average = summarise(means.mean(), draws.mean(axis=(0, 1)))
    return Comparison(first, second, metric, by_budget, average, by_cell, repeats > 1)


def _pair(results: Measurements, cells: Sequence[tuple[str, str]], first: str, second: str, metric: str) -> FloatArray:
    """Return first less second, shape (cells, B, repeats)."""
    one, other = ([results.select(Run(*cell, method), metric) for cell in cells] for method in (first, second))
    counts = {values.shape[1] for values in (*one, *other)}
    # A method without chance has one repeat, which stands beside every repeat of the other.
    if len(counts - {1}) > 1:
        raise OptionError(
            f"{first} and {second} have {' or '.join(map(str, sorted(counts)))} repeats; "
            "paired methods need the same repeats in every cell."
        )
    return np.array(np.broadcast_arrays(*(a - b for a, b in zip(one, other, strict=True))))
