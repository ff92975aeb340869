"""The classifiers of step 2: one on the score alone for each group, all groups fitted at once.

A classifier is a function ``(scores, labels, group, count) -> Fitted``; its arrays are sorted by group, then by score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from actc.data.numeric import sigmoid
from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.errors import OptionError, choose
from actc.methods.gaussian_process import fit_matern


class Fitted(Protocol):
    """Classifiers of all groups, fitted."""

    def probabilities(self, scores: FloatArray, group: IntArray) -> FloatArray:
        """Return P(true) of each score by its group's classifier."""

    def is_true(self, scores: FloatArray, group: IntArray) -> BoolArray:
        """Return where that probability is above one half; often cheaper than the probability."""


Estimator = Callable[[FloatArray, IntArray, IntArray, int], Fitted]

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
    """Logistic regression on the score, C = 100, at its optimum; all groups in one pass."""
    # In every group it minimises C * sum(log loss) + slope^2 / 2, the intercept free, as scikit-learn does.
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    present = group[starts]
    sizes = np.diff(starts, append=len(scores))
    centre = np.add.reduceat(scores, starts) / sizes
    centred = scores - np.repeat(centre, sizes)
    scale = np.sqrt(np.add.reduceat(centred**2, starts) / sizes)
    scale[scale == 0] = 1.0
    slope, intercept = _newton(centred / np.repeat(scale, sizes), labels, starts, sizes, scale**-2.0)
    fitted = FittedLogistic(np.zeros(count), np.zeros(count), np.zeros(count))
    fitted.slope[present], fitted.intercept[present], fitted.centre[present] = slope / scale, intercept, centre
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


class FittedClassifiers:
    """One scikit-learn classifier per group."""

    def __init__(self, models: dict[int, Any]) -> None:
        self._models = models

    def probabilities(self, scores: FloatArray, group: IntArray) -> FloatArray:
        """Return P(true) of each score by its group's classifier."""
        result = np.empty(len(scores))
        for g in np.unique(group).tolist():
            mine = group == g
            result[mine] = self._models[g].predict_proba(scores[mine, None])[:, 1]
        return result

    def is_true(self, scores: FloatArray, group: IntArray) -> BoolArray:
        """Return where that probability is above one half."""
        return self.probabilities(scores, group) > 0.5


def fit_each(make: Callable[[], Any], scores: FloatArray, labels: IntArray, group: IntArray) -> FittedClassifiers:
    """Fit a scikit-learn classifier of its own in each group; ``make`` returns a new one."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    parts = zip(group[starts].tolist(), np.split(scores, starts[1:]), np.split(labels, starts[1:]), strict=True)
    return FittedClassifiers({g: make().fit(s[:, None], y) for g, s, y in parts})


def fit_scikit_learn(scores: FloatArray, labels: IntArray, group: IntArray, count: int) -> Fitted:
    """Logistic regression by scikit-learn, which stops before the optimum, as in the authors' code."""
    from sklearn.linear_model import LogisticRegression

    return fit_each(lambda: LogisticRegression(C=100.0), scores, labels, group)


def fit_rational_quadratic(scores: FloatArray, labels: IntArray, group: IntArray, count: int) -> Fitted:
    """Gaussian process classification by scikit-learn, rational quadratic kernel, length 0.1."""
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels

    kernel = kernels.RationalQuadratic(length_scale=0.1)
    return fit_each(lambda: GaussianProcessClassifier(kernel, optimizer=None), scores, labels, group)


def fit_rbf(scores: FloatArray, labels: IntArray, group: IntArray, count: int) -> Fitted:
    """Gaussian process classification by scikit-learn, kernel 10 × RBF of length 10, as in the paper's text."""
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels

    kernel = 10.0 * kernels.RBF(10.0)
    return fit_each(lambda: GaussianProcessClassifier(kernel, optimizer=None), scores, labels, group)


def find_estimator(estimator: Any) -> Estimator:
    """Return the estimator of that name, of that classifier, or the function itself."""
    if isinstance(estimator, str):
        return choose("estimator", estimator, ESTIMATORS)
    if hasattr(estimator, "predict_proba"):
        from sklearn.base import clone

        return lambda scores, labels, group, count: fit_each(lambda: clone(estimator), scores, labels, group)
    if callable(estimator):
        return estimator  # type: ignore[no-any-return]
    raise OptionError(f"{estimator!r} is no estimator: give a name, a classifier with predict_proba, or a function.")


ESTIMATORS: dict[str, Estimator] = {
    "lr": fit_logistic,
    "lr-scikit-learn": fit_scikit_learn,
    "gp": fit_matern,
    "gp-rational-quadratic": fit_rational_quadratic,
    "gp-rbf": fit_rbf,
}
