"""The classifiers of step 2: one on the score alone for each group, all groups fitted at once.

An estimator is a function ``(scores, labels, group, count) -> probabilities``; its arrays are sorted by group, then by
score. Beside them logistic regression with any terms and a normal prior of their weights.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from actc.data.numeric import sigmoid, softplus
from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.errors import OptionError, choose
from actc.methods.gaussian_process import Probabilities, fit_gaussian_process

Estimator = Callable[[FloatArray, IntArray, IntArray, int], Probabilities]

INVERSE_PENALTY = 100.0  # the paper's "inverse of regularization strength"
STEPS = 100
LEAST_STEP = 1e-6
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


def _newton(x: FloatArray, labels: IntArray, starts: IntArray, sizes: IntArray, penalty: FloatArray) -> FloatArray:
    """Return slope and intercept of each group in the coordinates of the standardised score x, shape (2, groups).

    There the penalty is ``penalty * slope^2 / 2``.
    """
    lines, step = np.zeros((2, 2, len(starts)))
    sign, loss = 1.0 - 2.0 * labels, np.full(len(starts), np.inf)

    def total(values: FloatArray) -> FloatArray:
        return np.add.reduceat(values, starts)

    for _ in range(STEPS):
        slope, intercept = lines
        logit = np.repeat(slope, sizes) * x + np.repeat(intercept, sizes)
        new_loss = INVERSE_PENALTY * total(np.logaddexp(0.0, sign * logit)) + penalty * slope**2 / 2
        worse = new_loss > loss + 1e-9 * np.abs(loss)
        if worse.any():  # a Newton step went too far in some groups: halve it there, keep the others
            step = np.where(worse, step / 2, 0.0)
            lines = lines - step
            continue
        loss, p = new_loss, sigmoid(logit)
        error = INVERSE_PENALTY * (p - labels)
        weight = INVERSE_PENALTY * p * (1.0 - p) + 1e-12
        g_slope, g_intercept = total(error * x) + penalty * slope, total(error)
        h_cross, h_intercept = total(weight * x), total(weight)
        h_slope = total(weight * x * x) + penalty
        determinant = h_slope * h_intercept - h_cross**2
        down = [h_intercept * g_slope - h_cross * g_intercept, h_slope * g_intercept - h_cross * g_slope]
        step = -np.array(down) / determinant
        lines = lines + step
        if np.abs(step).max() < TOLERANCE:
            break
    return lines


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


def _make_classifier(name: str) -> Any:
    """Return a classifier of scikit-learn's."""
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels
    from sklearn.linear_model import LogisticRegression

    if name == "lr-scikit-learn":  # stops before the optimum, as in the authors' code
        return LogisticRegression(C=INVERSE_PENALTY)
    kernel = 10.0 * kernels.RBF(10.0) if name == "gp-rbf" else kernels.RationalQuadratic(length_scale=0.1)
    return GaussianProcessClassifier(kernel, optimizer=None)


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


ESTIMATORS: dict[str, Estimator] = {"lr": fit_logistic, "gp": fit_gaussian_process} | {
    name: one_for_each_group(partial(_make_classifier, name))
    for name in ("lr-scikit-learn", "gp-rational-quadratic", "gp-rbf")
}


def fit_bayesian_logistic(
    design: FloatArray,
    labels: BoolArray,
    means: FloatArray,
    deviations: FloatArray,
    offsets: FloatArray | float = 0.0,
) -> tuple[FloatArray, FloatArray, float]:
    """Return mode and covariance of the posterior of the weights, and the log marginal likelihood of the labels.

    By Newton's method, and Laplace's approximation around the mode.

    Parameters
    ----------
    design : float array of shape (n, F)
        The terms of each case.
    labels : bool array of shape (n,)
    means, deviations : float array of shape (F,)
        The prior of the weights: independent normal distributions.
    offsets : float array of shape (n,)
        What is added to the logit of each case.
    """
    side, precision = np.where(labels, 1.0, -1.0), 1 / deviations**2

    def cost(weights: FloatArray) -> float:
        misfit = softplus(-side * (design @ weights + offsets)).sum()
        return float(misfit + 0.5 * precision @ (weights - means) ** 2)

    def hessian(weights: FloatArray) -> FloatArray:
        p = sigmoid(design @ weights + offsets)
        return (design.T * (p * (1 - p))) @ design + np.diag(precision)

    weights, now = means, cost(means)
    for _ in range(STEPS):
        gradient = design.T @ (sigmoid(design @ weights + offsets) - labels) + precision * (weights - means)
        step, size = np.linalg.solve(hessian(weights), gradient), 1.0
        while (new := cost(weights - size * step)) > now and size > LEAST_STEP:  # steps are halved until they help
            size /= 2
        if now - new < 1e-9:
            break
        weights, now = weights - size * step, new
    curvature = hessian(weights)
    volume = float(np.linalg.slogdet(curvature * np.outer(deviations, deviations))[1])
    return weights, np.asarray(np.linalg.inv(curvature), dtype=np.float64), -now - 0.5 * volume
