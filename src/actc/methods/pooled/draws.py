"""How sure are we? How far a cut could be off, and what would be thought of an answered triple without its answer."""

from __future__ import annotations

import numpy as np

from actc.data.numeric import sigmoid
from actc.data.triples import Annotations, FloatArray
from actc.methods.pooled.model import Posterior, crossings

_DRAWS, _AT_ONCE = 400, 512  # lines drawn of each relation, and relations whose draws are in memory
LEAST_INFORMATION = 0.05  # what is left where the answer of a label that stands nearly alone is taken out


def cut_intervals(posterior: Posterior, cut: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return bounds of every cut in scores, with nine chances in ten: lower and upper, each of shape (R + 1,)."""
    random, found = np.random.default_rng(0), np.empty((2, len(posterior.beta)))
    for start in range(0, len(posterior.beta), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        lines = draw_lines(posterior, some, _DRAWS, random)
        found[:, some] = np.quantile(crossings(lines, cut), [0.05, 0.95], axis=0, method="nearest")
    low, high = posterior.pool.normal.to_cuts(posterior.pool.features["c"] + found)  # rising, so it keeps quantiles
    return low, high


def draw_lines(posterior: Posterior, some: slice, draws: int, random: np.random.Generator) -> FloatArray:
    """Return lines of some relations, shape (draws, r, 3), each relation by itself; of an average, by its parts."""
    parts = posterior.mixture or ((1.0, posterior),)
    counts = random.multinomial(draws, [weight for weight, _ in parts])
    lines = []
    for (_, part), count in zip(parts, counts.tolist(), strict=True):
        values, vectors = np.linalg.eigh(part.covariance[some])  # however near to singular it is
        root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
        normal = random.standard_normal((count, len(root), 3))
        lines.append(part.beta[some] + np.einsum("rij,drj->dri", root, normal))
    return np.concatenate(lines)


def leave_one_out(posterior: Posterior, annotations: Annotations) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each answered triple's logit without its answer, each of shape (l,).

    Approximately: one step of Newton's method backwards.
    """
    rows = annotations.rows
    logits, variances = posterior.moments(posterior.pool.x[rows], posterior.pool.relations[rows])
    p = sigmoid(logits)
    without = variances / np.maximum(1 - p * (1 - p) * variances, LEAST_INFORMATION)
    return logits - without * (annotations.labels - p), without
