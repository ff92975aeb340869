"""How much better one ranking of proposals is than another, by the holdout facts among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.triples import BoolArray, FloatArray

RESAMPLES = 100


@dataclass(frozen=True)
class Ranking:
    """Average precision of the holdout facts among the proposals; the others count as false.

    Parameters
    ----------
    without, with_scores : float
        Without models' scores and with them.
    low, high : float
        Between them is what the scores bring, with a chance of nine in ten.
    """

    without: float
    with_scores: float
    low: float
    high: float

    @property
    def scores_help(self) -> bool:
        """Whether the holdout facts are ranked better with the models' scores."""
        return self.with_scores > self.without


def average_precision(true: BoolArray, cases: FloatArray, values: FloatArray) -> float:
    """Return the average precision of a ranking whose rows stand for ``cases`` proposals each."""
    order = np.argsort(-values, kind="stable")
    weights, right = cases[order], (cases * true)[order]
    return float((np.cumsum(right) / np.maximum(np.cumsum(weights), 1e-9)) @ right / max(right.sum(), 1e-9))


def compare_rankings(
    true: BoolArray, cases: FloatArray, without: FloatArray, with_scores: FloatArray, random: np.random.Generator
) -> Ranking:
    """Compare two rankings of the same proposals, each by weights that were learnt without the row.

    Parameters
    ----------
    true : bool array of shape (N,)
        True for holdout facts.
    cases : float array of shape (N,)
        For how many proposals each row stands.
    without, with_scores : float array of shape (N,)
        Log-odds.
    """
    gains = []
    for _ in range(RESAMPLES):
        drawn = cases * random.poisson(1.0, len(cases))
        gains.append(average_precision(true, drawn, with_scores) - average_precision(true, drawn, without))
    low, high = np.quantile(gains, [0.05, 0.95]).tolist()
    both = (average_precision(true, cases, values) for values in (without, with_scores))
    return Ranking(*(round(value, 4) for value in (*both, low, high)))
