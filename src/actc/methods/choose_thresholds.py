"""Step 3: where to cut, relation by relation?

A decision set is sorted once; cumulative sums then give the quality of every possible cut, for all groups together.
The candidates are the scores of the decision set; a triple is predicted true when its score is at least the cut;
among equally good cuts the lowest score wins, as in the authors' code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from actc.data.triples import FloatArray, IntArray
from actc.errors import choose
from actc.methods.estimate_labels import DecisionSets


class Tally(NamedTuple):
    """What a cut at each element of a decision set would do: everything from that element upwards is predicted true."""

    true_below: FloatArray  # (M,) sum of the labels of the group's elements below this one
    true_above: FloatArray  # (M,) and from this one on
    below: FloatArray  # (M,) how many elements these are
    above: FloatArray


def choose_thresholds(
    decision_sets: DecisionSets, objective: str | Objective = "accuracy", as_printed: bool = False
) -> FloatArray:
    """Return the best cut of every group, shape (count,); NaN for groups without any element.

    ``as_printed``, for annotations alone, breaks ties as Algorithm 1 is printed: the score that was annotated first
    wins, and where no cut decides any annotation correctly, the cut is 0.
    """
    cuts = np.full(decision_sets.count, np.nan)
    if not decision_sets.scores.size:
        return cuts
    group = decision_sets.group
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    quality = _quality_of_cuts(decision_sets, starts, objective)
    best = np.maximum.reduceat(quality, starts)
    where = np.flatnonzero(quality == np.repeat(best, np.diff(starts, append=quality.size)))
    if as_printed:
        where = where[np.lexsort((decision_sets.order[where], group[where]))]
    groups, first = np.unique(group[where], return_index=True)
    cuts[groups] = decision_sets.scores[where[first]]
    if as_printed:
        cuts[groups[best <= 0]] = 0.0
    return cuts


def _quality_of_cuts(decision_sets: DecisionSets, starts: IntArray, objective: str | Objective) -> FloatArray:
    """Return the objective of a cut at each element; a cut cannot separate equal scores, so they get one value."""
    if isinstance(objective, str):
        objective = choose("objective", objective, OBJECTIVES)
    scores, labels = decision_sets.scores, decision_sets.labels
    sizes = np.diff(starts, append=scores.size)
    index = np.arange(scores.size)
    run_starts = np.diff(scores, prepend=np.nan) != 0
    run_starts[starts] = True
    first = np.maximum.accumulate(np.where(run_starts, index, 0))
    below = (first - np.repeat(starts, sizes)).astype(np.float64)
    running = np.concatenate([[0.0], np.cumsum(labels)])
    true_below = running[first] - np.repeat(running[starts], sizes)
    true_above = np.repeat(running[starts + sizes], sizes) - running[first]
    return objective(Tally(true_below, true_above, below, np.repeat(sizes, sizes) - below))


Objective = Callable[[Tally], FloatArray]


def count_correct(tally: Tally) -> FloatArray:
    """Count correct decisions: false ones below the cut, true ones above (accuracy times the size)."""
    return tally.below - tally.true_below + tally.true_above


def f1_score(tally: Tally) -> FloatArray:
    """Harmonic mean of precision and recall: 2 TP / (predicted true + really true)."""
    return 2 * tally.true_above / np.maximum(tally.above + tally.true_above + tally.true_below, 1e-300)


OBJECTIVES: dict[str, Objective] = {"accuracy": count_correct, "f1": f1_score}
