"""Logistic regression on one score, fitted in all groups at once by one Newton iteration.

In every group it minimises ``C * sum(log loss) + slope^2 / 2``, the intercept free: scikit-learn's
``LogisticRegression(C=100)``, to full convergence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.data.numeric import sigmoid
from actc.data.triples import BoolArray, FloatArray, IntArray

INVERSE_PENALTY = 100.0  # the paper's "inverse of regularization strength"
STEPS = 100
TOLERANCE = 1e-6  # of the largest change of a standardised coefficient; the error left is about its square


@dataclass(frozen=True, eq=False)
class FittedLogistic:
    """P(true) = sigmoid(slope * (score - centre) + intercept), one of each per group."""

    slope: FloatArray
    intercept: FloatArray
    centre: FloatArray

    def _logits(self, scores: FloatArray, group: IntArray) -> FloatArray:
        return self.slope[group] * (scores - self.centre[group]) + self.intercept[group]

    def probabilities(self, scores: FloatArray, group: IntArray) -> FloatArray:
        """Return P(true) of each score by its group's classifier."""
        return sigmoid(self._logits(scores, group))

    def is_true(self, scores: FloatArray, group: IntArray) -> BoolArray:
        """Return where that probability is above one half."""
        return self._logits(scores, group) > 0


def fit_logistic(scores: FloatArray, labels: IntArray, group: IntArray, count: int) -> FittedLogistic:
    """Fit every group that has a point; arrays are sorted by group."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    found = group[starts]
    sizes = np.diff(starts, append=len(scores))
    centre = np.add.reduceat(scores, starts) / sizes
    centred = scores - np.repeat(centre, sizes)
    scale = np.sqrt(np.add.reduceat(centred**2, starts) / sizes)
    scale[scale == 0] = 1.0
    slope, intercept = _newton(centred / np.repeat(scale, sizes), labels, starts, sizes, scale**-2.0)
    fitted = FittedLogistic(np.zeros(count), np.zeros(count), np.zeros(count))
    fitted.slope[found], fitted.intercept[found], fitted.centre[found] = slope / scale, intercept, centre
    return fitted


def _newton(
    x: FloatArray, labels: IntArray, starts: IntArray, sizes: IntArray, penalty: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Minimise in the coordinates of the standardised score x, where the penalty is ``penalty * slope^2 / 2``."""
    slope, intercept = np.zeros(len(starts)), np.zeros(len(starts))
    sign = 1.0 - 2.0 * labels
    logit, loss = np.zeros(len(x)), np.full(len(starts), np.inf)

    def total(values: FloatArray) -> FloatArray:
        return np.add.reduceat(values, starts)

    step_slope, step_intercept = slope, intercept
    for _ in range(STEPS):
        new_loss = INVERSE_PENALTY * total(np.logaddexp(0.0, sign * logit)) + penalty * slope**2 / 2
        worse = new_loss > loss + 1e-9 * np.abs(loss)
        if worse.any():  # a Newton step went too far in some groups: halve it there, keep the others
            step_slope, step_intercept = (
                np.where(worse, step_slope / 2, 0.0),
                np.where(worse, step_intercept / 2, 0.0),
            )
            slope, intercept = slope - step_slope, intercept - step_intercept
            logit = np.repeat(slope, sizes) * x + np.repeat(intercept, sizes)
            continue
        loss = new_loss
        p = sigmoid(logit)
        error = INVERSE_PENALTY * (p - labels)
        weight = INVERSE_PENALTY * p * (1.0 - p) + 1e-12
        g_slope, g_intercept = total(error * x) + penalty * slope, total(error)
        h_cross, h_intercept = total(weight * x), total(weight)
        h_slope = total(weight * x * x) + penalty
        determinant = h_slope * h_intercept - h_cross**2
        step_slope = -(h_intercept * g_slope - h_cross * g_intercept) / determinant
        step_intercept = -(h_slope * g_intercept - h_cross * g_slope) / determinant
        slope, intercept = slope + step_slope, intercept + step_intercept
        logit = np.repeat(slope, sizes) * x + np.repeat(intercept, sizes)
        if max(np.abs(step_slope).max(), np.abs(step_intercept).max()) < TOLERANCE:
            break
    return slope, intercept
