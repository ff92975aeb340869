"""Bayesian logistic regression: Newton's method to the posterior's mode, and Laplace's approximation around it."""

from __future__ import annotations

import numpy as np

from actc.data.numeric import sigmoid, softplus
from actc.data.triples import BoolArray, FloatArray

STEPS = 50
LEAST_STEP = 1e-6


def fit_bayesian_logistic(
    design: FloatArray,
    labels: BoolArray,
    means: FloatArray,
    deviations: FloatArray,
    offsets: FloatArray | float = 0.0,
) -> tuple[FloatArray, FloatArray, float]:
    """Return mode and covariance of the posterior of the weights, and the log marginal likelihood of the labels.

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
