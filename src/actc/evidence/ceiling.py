"""How many unlabelled proposals are true: a logistic curve with a ceiling, fitted to holdout facts among them.

Of the true proposals of a relation that look alike, the same share is labelled, namely those in the holdout. So the
probability that a proposal is labelled rises with its log-odds to a ceiling below 1, and the ceiling is that share.
Above the least tenth of the holdout facts the curve may rise faster, never slower: a slow rise there could be an ever
higher ceiling. A few true ones stand anywhere (the lapse).

One relation may lack half of its facts and another hardly any, so each has its own ceiling, around a common one; how
far around is inferred (MacKay's fixed point): relations with few holdout facts stay near the common ceiling. All have
the same one unless the evidence for others (Laplace's approximation) is very strong, for each on average. The curve
below the ceiling is the same for all: where a relation could rise elsewhere too, one of which few proposals are
labelled could as well lack many facts as be proposed by bad rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from actc.data.numeric import sigmoid
from actc.data.triples import BoolArray, FloatArray, IntArray

BINS = 64  # of each relation; holdout facts count as much as all others together
LEAST = 0.1  # of the holdout facts are below the knot
STEEPER = 0.5  # of the slope below the knot is the most that counts of the rise above it: a step has no slope
BOUNDS = ((-8, 8), (-20, 20), (-2, 4), (-8, 4), (-15, -1))  # ceiling, place, slope, bend, lapse
STARTS = ((-1.5, 0.0, 0.5, -2.0, -7.0), (1.0, 0.0, 0.5, -2.0, -7.0))
COMMON = len(BOUNDS)
FARTHEST = 6.0  # that a relation may be from the common ceiling
WIDTH = 0.5  # of the ceilings, to begin with
LEAST_WIDTH = 0.01
ALIKE = 0.0
VERY_STRONG = 5.0  # log of a Bayes factor, by Kass and Raftery (1995)
ROUNDS = 50
SETTLED = 0.005  # change of the width


@dataclass(frozen=True, eq=False)
class Ceiling:
    """What the curves say of each of R relations.

    Parameters
    ----------
    unlabelled : float array of shape (R,)
        How many true ones are among the unlabelled.
    slope : float
        By how much the log-odds have to be multiplied: true ones among the unlabelled flatten them. Above the knot.
    offset : float array of shape (R,)
        What has to be added to those of a relation's unlabelled proposals, beside what is added to all: the log of the
        share of its true ones that are not labelled.
    fitted, width
        What was fitted, for another fit to start from.
    """

    unlabelled: FloatArray
    slope: float
    offset: FloatArray
    fitted: FloatArray
    width: float


def fit_ceiling(
    log_odds: FloatArray,
    true: BoolArray,
    cases: FloatArray,
    relations: IntArray,
    count: int,
    begin: Ceiling | None = None,
) -> Ceiling:
    """Fit the curves by likelihood, and how far relations differ by that of the curves.

    Parameters
    ----------
    log_odds : float array of shape (N,)
        Of proposals, each by weights that were learned without it.
    true : bool array of shape (N,)
        True for holdout facts; the others are unlabelled.
    cases : float array of shape (N,)
        For how many proposals each stands.
    relations : int array of shape (N,)
        Codes below ``count``.
    count : int
    begin : Ceiling, optional
        A fit to nearly the same proposals, to start from; how far relations differ stays.
    """
    knot, spread = float(np.quantile(log_odds[true], LEAST)), max(float(log_odds[true].std()), 1e-6)
    curves = _BinnedProposals.of((log_odds - knot) / spread, true, cases, relations, count)
    if begin is None:
        fitted, width = _settle(curves)
    else:
        fitted, width = curves.search(begin.fitted, begin.width).x, begin.width
    ceiling, _, p = curves.probabilities(fitted)
    hidden = curves.others * p * (1 - ceiling) / ceiling / (1 - p)
    steep, more = np.exp(fitted[2:4])
    slope, labelled = float(steep + min(more, STEEPER * steep)) / spread, sigmoid(fitted[0] + fitted[COMMON:])
    return Ceiling(curves.sums(hidden), slope, np.log1p(-labelled), fitted, width)


@dataclass(frozen=True, eq=False)
class _BinnedProposals:
    """Binned proposals: the mean place of each of B bins, its labelled and other proposals, its relation."""

    place: FloatArray
    labelled: FloatArray
    others: FloatArray
    relations: IntArray
    count: int

    @classmethod
    def of(
        cls, place: FloatArray, true: BoolArray, cases: FloatArray, relations: IntArray, count: int
    ) -> _BinnedProposals:
        order = np.lexsort((place, relations))
        order = order[cases[order] > 0]
        place, true, cases, relations = place[order], true[order], cases[order], relations[order]
        size = [np.bincount(relations, cases * rows, minlength=count) for rows in (true, ~true)]
        mass = cases / np.maximum(np.where(true, size[0][relations], size[1][relations]), 1e-9)
        whole = (size[0] > 0).astype(np.float64) + (size[1] > 0)
        before = np.cumsum(mass) - mass / 2 - (np.cumsum(whole) - whole)[relations]
        bins = (before / whole[relations] * BINS).astype(np.int64).clip(0, BINS - 1) + BINS * relations
        used, bins = np.unique(bins, return_inverse=True)
        counts, labelled = (np.bincount(bins, rows).astype(np.float64) for rows in (cases, cases * true))
        return cls(np.bincount(bins, cases * place) / counts, labelled, counts - labelled, used // BINS, count)

    def probabilities(self, given: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return each bin's ceiling, its place on the curve, and the probability that one in it is labelled."""
        ceiling = sigmoid(given[0] + given[COMMON + self.relations])
        steep, more, lapse = np.exp(given[2]), np.exp(given[3]), sigmoid(given[4])
        curve = sigmoid(given[1] + steep * self.place + more * np.maximum(self.place, 0))
        return ceiling, curve, (ceiling * (lapse + (1 - lapse) * curve)).clip(1e-12, 1 - 1e-12)

    def loss(self, given: FloatArray, width: float) -> tuple[float, FloatArray]:
        """Return minus the log of likelihood and prior, by the number of proposals, and its slopes."""
        ceiling, curve, p = self.probabilities(given)
        steep, more, lapse = np.exp(given[2]), np.exp(given[3]), sigmoid(given[4])
        value = self.labelled * np.log(p) + self.others * np.log1p(-p)
        by_p = self.labelled / p - self.others / (1 - p)
        by_ceiling = p * (1 - ceiling) * by_p
        by_curve = ceiling * (1 - lapse) * curve * (1 - curve) * by_p
        by_lapse = ceiling * lapse * (1 - lapse) * (1 - curve) * by_p
        bend = more * np.maximum(self.place, 0)
        common = [by_ceiling.sum(), by_curve.sum(), steep * by_curve @ self.place, by_curve @ bend, by_lapse.sum()]
        wide = max(width, LEAST_WIDTH)
        around = given[COMMON:] / wide
        slopes = np.append(common, self.sums(by_ceiling) - around / wide)
        total = float(self.labelled.sum() + self.others.sum())
        return -(float(value.sum()) - 0.5 * float(around @ around)) / total, -slopes / total

    def search(self, start: FloatArray, width: float) -> Any:
        """Return SciPy's result for the mode under a given width, from a start on."""
        from scipy.optimize import minimize

        apart = (0.0, 0.0) if width == ALIKE else (-FARTHEST, FARTHEST)
        bounds, tight = (*BOUNDS, *[apart] * self.count), {"ftol": 1e-10, "gtol": 1e-7, "maxiter": 500}
        return minimize(self.loss, start, (width,), jac=True, method="L-BFGS-B", bounds=bounds, options=tight)

    def information(self, given: FloatArray, width: float) -> FloatArray:
        """Return one over the variance of each relation's ceiling, shape (R,)."""
        ceiling, _, p = self.probabilities(given)
        weight = (self.labelled + self.others) / (p * (1 - p))
        return self.sums(weight * (p * (1 - ceiling)) ** 2) + 1 / width**2

    def likelihood(self, given: FloatArray, width: float) -> float:
        """Return the log of how likely the labels are, relations being so far apart: Laplace's approximation."""
        mode = -self.loss(given, width)[0] * float(self.labelled.sum() + self.others.sum())
        if width == ALIKE:
            return mode
        return mode - 0.5 * float(np.log(self.information(given, width) * width**2).sum())  # 0 where there are none

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum of each relation's bins, shape (R,)."""
        return np.bincount(self.relations, values, minlength=self.count).astype(np.float64)


def _settle(curves: _BinnedProposals) -> tuple[FloatArray, float]:
    """Return the fit and how far relations differ, each given the other; they do not unless it is very likely.

    The width is what their ceilings suggest, each as far as it is known better than by the width.
    """
    starts = [curves.search(np.append(start, np.zeros(curves.count)), ALIKE) for start in STARTS]
    common = fitted = np.asarray(min(starts, key=lambda fit: fit.fun).x)
    width, seen = WIDTH, np.bincount(curves.relations, minlength=curves.count) > 0
    for _ in range(ROUNDS):
        fitted = curves.search(fitted, width).x
        around = fitted[COMMON:][seen]
        known = (1 - 1 / curves.information(fitted, width)[seen] / width**2).clip(0, 1).sum()
        before, width = width, float(np.sqrt(around @ around / max(known, 1e-3)).clip(LEAST_WIDTH, FARTHEST))
        if abs(width - before) < SETTLED:
            break
    fitted = curves.search(fitted, width).x
    gained = curves.likelihood(fitted, width) - curves.likelihood(common, ALIKE)
    return (fitted, width) if gained > VERY_STRONG * seen.sum() else (common, ALIKE)
