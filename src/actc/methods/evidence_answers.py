"""Answers move what the pieces of evidence are worth, as far as they bear it out.

What is believed of each candidate before, its logit, stays; the pieces add to it by weights that are around 0, how far
around being one of a few widths. How likely the answers are under each width, and under no weights at all, says how
much each counts: pieces that say nothing are turned down by the answers themselves.
"""

from __future__ import annotations

import numpy as np

from actc.data.numeric import sigmoid
from actc.data.triples import BoolArray, FloatArray

# Half or twice the widths, and other beliefs, decide alike: benchmarks/evidence/choice.csv, widths and nothing.
WIDTHS = (0.05, 0.1, 0.2, 0.4)
NOTHING = 0.5  # the belief, before any answer, that the pieces have nothing to add
STEPS = 25


def move_weights(pieces: FloatArray, logits: FloatArray, truth: BoolArray) -> FloatArray:
    """Return what answers make each piece add to the logit, per standard deviation, shape (F,).

    Parameters
    ----------
    pieces : float array of shape (l, F)
        The pieces of evidence of the judged candidates.
    logits : float array of shape (l,)
        What is believed of them without the pieces.
    truth : bool array of shape (l,)
        The answers.
    """
    answers = truth.astype(np.float64)
    fits = [_fit_width(pieces, logits, answers, width) for width in WIDTHS]
    likelihood = np.array([_likelihood(logits, answers), *(value for _, value in fits)])
    belief = np.exp(likelihood - likelihood.max()) * np.array([NOTHING, *[(1 - NOTHING) / len(WIDTHS)] * len(WIDTHS)])
    belief /= belief.sum()
    return np.asarray(belief[1:] @ np.stack([weights for weights, _ in fits]))


def _fit_width(pieces: FloatArray, logits: FloatArray, truth: FloatArray, width: float) -> tuple[FloatArray, float]:
    """Return the weights' mode under a Gaussian of one width, and the log of how likely it makes the answers."""
    weights, prior = np.zeros(pieces.shape[1]), np.eye(pieces.shape[1]) / width**2
    for _ in range(STEPS):
        p = sigmoid(logits + pieces @ weights)
        hessian = (pieces * (p * (1 - p))[:, None]).T @ pieces + prior
        step = np.linalg.solve(hessian, pieces.T @ (p - truth) + weights / width**2)
        weights = weights - step
        if np.abs(step).max() < 1e-4:
            break
    volume = np.linalg.slogdet(hessian * width**2)[1]  # Laplace's approximation
    penalty = 0.5 * float(weights @ weights) / width**2 + 0.5 * float(volume)
    return weights, _likelihood(logits + pieces @ weights, truth) - penalty


def _likelihood(logits: FloatArray, truth: FloatArray) -> float:
    return float(truth @ logits - np.logaddexp(0, logits).sum())
