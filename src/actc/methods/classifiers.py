"""The classifiers of step 2: one on the score alone for each group, all groups fitted at once.

An estimator is a function ``(scores, labels, group, count) -> probabilities``; its arrays are sorted by group, then by
score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from actc.data.numeric import sigmoid
from actc.data.triples import FloatArray, IntArray
from actc.errors import OptionError, choose
from actc.methods.gaussian_process import Probabilities, fit_gaussian_process

Estimator = Callable[[FloatArray, IntArray, IntArray, int], Probabilities]

INVERSE_PENALTY = 100.0  # the paper's "inverse of regularization strength"
STEPS = 100
TOLERANCE = 1e-6  # of the largest change of a standardised coefficient; the error left is about its square


def fit_logistic(scores: FloatArray, labels: IntArray, group: IntArray, count: int) -> Probabilities:
    """Logistic regression on the score, C = 100, at its optimum; all groups in one pass."""
    # In every group it minimises C * sum(log loss) + slope^2 / 2, the intercept free, as scikit-learn does.
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(starts, append=len(scores))
    centre = np.add.reduceat(scores, starts) / sizes
    centred = scores - np.repeat(centre, sizes)
    scale = np.sqrt(np.add.reduceat(centred**2, starts) / sizes)
    scale[scale == 0] = 1.0
    slope, intercept = _newton(centred / np.repeat(scale, sizes), labels, starts, sizes, scale**-2.0)
    lines = np.zeros((3, count))
    lines[:, group[starts]] = slope / scale, intercept, centre

    def probabilities(scores: FloatArray, group: IntArray, exact: bool = True) -> FloatArray:
        slope, intercept, centre = lines[:, group]
        return sigmoid(slope * (scores - centre) + intercept)

    return probabilities


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


def one_for_each_group(make: Callable[[], Any]) -> Estimator:
    """Return the estimator that fits a scikit-learn classifier of its own in each group; ``make`` returns a new one."""

    def fit(scores: FloatArray, labels: IntArray, group: IntArray, count: int) -> Probabilities:
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        parts = zip(group[starts].tolist(), np.split(scores, starts[1:]), np.split(labels, starts[1:]), strict=True)
        models = {g: make().fit(s[:, None], y) for g, s, y in parts}

        def probabilities(scores: FloatArray, group: IntArray, exact: bool = True) -> FloatArray:
            result = np.empty(len(scores))
            for g in np.unique(group).tolist():
                mine = group == g
                result[mine] = models[g].predict_proba(scores[mine, None])[:, 1]
            return result

        return probabilities

    return fit


def _logistic_regression() -> Any:
    """Stops before the optimum, as in the authors' code."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=INVERSE_PENALTY)


def _rational_quadratic() -> Any:
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels

    return GaussianProcessClassifier(kernels.RationalQuadratic(length_scale=0.1), optimizer=None)


def _rbf() -> Any:
    """As in the paper's text."""
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels

    return GaussianProcessClassifier(10.0 * kernels.RBF(10.0), optimizer=None)


def find_estimator(estimator: Any) -> Estimator:
    """Return the estimator of that name, of that classifier, or the function itself."""
    if isinstance(estimator, str):
        return choose("estimator", estimator, ESTIMATORS)
    if hasattr(estimator, "predict_proba"):
        from sklearn.base import clone

        return one_for_each_group(lambda: clone(estimator))
    if callable(estimator):
        return estimator  # type: ignore[no-any-return]
    raise OptionError(f"{estimator!r} is no estimator: give a name, a classifier with predict_proba, or a function.")


ESTIMATORS: dict[str, Estimator] = {
    "lr": fit_logistic,
    "lr-scikit-learn": one_for_each_group(_logistic_regression),
    "gp": fit_gaussian_process,
    "gp-rational-quadratic": one_for_each_group(_rational_quadratic),
    "gp-rbf": one_for_each_group(_rbf),
}
