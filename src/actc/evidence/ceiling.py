"""How many unlabelled proposals are true: a logistic curve with a ceiling, fitted to holdout facts among them.

Of the true proposals that look alike, the same share is labelled, namely those in the holdout. So the chance that a
proposal is a labelled one rises with its log-odds to a ceiling below 1, and the ceiling is that share. Above the least
tenth of the holdout facts the curve may rise faster, never slower: a slow rise there could be an ever higher ceiling.
It does so only where the likelihood gains by it.
A few true ones stand anywhere (the lapse).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from actc.numeric import sigmoid
from actc.triples import BoolArray, FloatArray

BINS = 64  # of holdout facts, and of the others
LEAST = 0.1  # of the holdout facts are below the knot
NONE = -8.0  # the log of what the curve rises more above the knot, where it does not bend
GAIN = 2.0  # in log-likelihood, for which it bends
STEEPER = 0.5  # of the slope below the knot is the most that counts of the rise above it: a step has no slope
BOUNDS = ((-8, 8), (-20, 20), (-2, 4), (NONE, 4), (-15, -1))
STARTS = ((-1.5, 0.0, 0.5, -2.0, -7.0), (1.0, 0.0, 0.5, -2.0, -7.0))


@dataclass(frozen=True)
class Ceiling:
    """What the curve says.

    Parameters
    ----------
    labelled : float
        The share of the true ones that are labelled.
    slope : float
        By how much the log-odds have to be multiplied: true ones among the unlabelled flatten them. Above the knot.
    share : float
        The share of true ones among the unlabelled.
    fitted : tuple of float
        What was fitted, for another fit to start from.
    """

    labelled: float
    slope: float
    share: float
    fitted: tuple[float, ...]


def fit_ceiling(
    log_odds: FloatArray, true: BoolArray, cases: FloatArray, starts: Sequence[tuple[float, ...]] = STARTS
) -> Ceiling:
    """Fit the curve by likelihood.

    Parameters
    ----------
    log_odds : float array of shape (N,)
        Of proposals, each by weights that were learnt without it.
    true : bool array of shape (N,)
        True for holdout facts; the others are unlabelled.
    cases : float array of shape (N,)
        For how many proposals each stands.
    starts : sequence of tuples of float
        Where the search starts.
    """
    from scipy.optimize import minimize

    knot, spread = float(np.quantile(log_odds[true], LEAST)), max(float(log_odds[true].std()), 1e-6)
    place, labelled, others = _bin((log_odds - knot) / spread, true, cases)
    high = np.maximum(place, 0)

    def loss(given: FloatArray) -> tuple[float, FloatArray]:
        ceiling, lapse, steep, more = sigmoid(given[0]), sigmoid(given[4]), np.exp(given[2]), np.exp(given[3])
        curve = sigmoid(given[1] + steep * place + more * high)
        chance = (ceiling * (lapse + (1 - lapse) * curve)).clip(1e-12, 1 - 1e-12)
        value = labelled * np.log(chance) + others * np.log1p(-chance)
        by_chance = labelled / chance - others / (1 - chance)
        by_curve = ceiling * (1 - lapse) * curve * (1 - curve)
        by_lapse = ceiling * lapse * (1 - lapse) * (1 - curve)
        slopes = np.array(
            [chance * (1 - ceiling), by_curve, by_curve * steep * place, by_curve * more * high, by_lapse]
        )
        return -float(value.sum()) / cases.sum(), -(slopes @ by_chance) / cases.sum()

    def search(bounds: Sequence[tuple[float, float]]) -> Any:
        tight = {"ftol": 1e-12, "gtol": 1e-9, "maxiter": 500}
        fits = [minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=tight) for start in starts]
        return min(fits, key=lambda fit: float(fit.fun))

    plain, bent = search((*BOUNDS[:3], (NONE, NONE), BOUNDS[4])), search(BOUNDS)
    best = bent.x if (plain.fun - bent.fun) * len(true) > GAIN else plain.x
    ceiling = float(sigmoid(best[0]))
    share = labelled.sum() * (1 - ceiling) / ceiling / others.sum()
    share = float(np.clip(share, 0.5 / others.sum(), 0.9))
    slope = np.exp(best[2]) + min(np.exp(best[3]), STEEPER * np.exp(best[2]))
    return Ceiling(ceiling, float(slope) / spread, share, tuple(best))


def _bin(place: FloatArray, true: BoolArray, cases: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean place of each bin, and how many labelled and other proposals are in it."""
    grid = np.linspace(0, 1, BINS + 1)[1:-1]
    edges = np.unique(np.concatenate([np.quantile(place[rows], grid) for rows in (true, ~true)]))
    bins = np.searchsorted(edges, place, side="right")
    counts = np.bincount(bins, cases)
    used = counts > 0
    middle = np.bincount(bins, cases * place)[used] / counts[used]
    labelled = np.bincount(bins, cases * true, minlength=len(counts))[used].astype(np.float64)
    return middle, labelled, np.asarray(counts[used] - labelled, dtype=np.float64)
