"""How answers move the weights of the pieces of the graph's evidence.

What is believed of each candidate before, its logit, stays; the pieces of evidence add to it by weights around 0, how
far around being one of a few widths. How likely the answers are under each width, and under no weights at all, is how
much each counts: pieces that say nothing are turned down by the answers themselves.
"""

from __future__ import annotations

import numpy as np

from actc.data.numeric import sigmoid
from actc.data.triples import BoolArray, FloatArray
from actc.methods.pooled import tuned

_STEPS = 25  # of Newton's method, at most


def move_weights(pieces: FloatArray, logits: FloatArray, truth: BoolArray) -> FloatArray:
    """Return what answers make each piece add to the logit, per standard deviation, shape (F,)."""
    answers, widths = truth.astype(np.float64), len(tuned.PIECE_WIDTHS)
    fits = [_fit_width(pieces, logits, answers, width) for width in tuned.PIECE_WIDTHS]
    likelihood = np.array([_log_likelihood(logits, answers), *(value for _, value in fits)])
    prior = np.array([tuned.NO_PIECES, *[(1 - tuned.NO_PIECES) / widths] * widths])
    belief = np.exp(likelihood - likelihood.max()) * prior
    belief /= belief.sum()
    return np.asarray(belief[1:] @ np.stack([weights for weights, _ in fits]))


def _fit_width(pieces: FloatArray, logits: FloatArray, truth: FloatArray, width: float) -> tuple[FloatArray, float]:
    """Return the weights' mode under a Gaussian of one width, and the log of how likely it makes the answers."""
    weights, prior = np.zeros(pieces.shape[1]), np.eye(pieces.shape[1]) / width**2
    for _ in range(_STEPS):
        p = sigmoid(logits + pieces @ weights)
        hessian = (pieces * (p * (1 - p))[:, None]).T @ pieces + prior
        step = np.linalg.solve(hessian, pieces.T @ (p - truth) + weights / width**2)
        weights = weights - step
        if np.abs(step).max() < 1e-4:
            break
    volume = np.linalg.slogdet(hessian * width**2)[1]  # Laplace's approximation
    penalty = 0.5 * float(weights @ weights) / width**2 + 0.5 * float(volume)
    return weights, _log_likelihood(logits + pieces @ weights, truth) - penalty


def _log_likelihood(logits: FloatArray, truth: FloatArray) -> float:
    return float(truth @ logits - np.logaddexp(0, logits).sum())
