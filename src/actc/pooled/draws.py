"""How sure are we? Draws from the posterior: how far a cut could be off, and what would be gained if all were known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from actc.numeric import drawn_probabilities, even_places, sigmoid
from actc.pooled.model import Posterior, crossings
from actc.triples import Annotations, FloatArray, IntArray

MOST_DRAWN = 4096
"""Relations whose lines are drawn together; of a pool with more, those that are asked for, or some after others."""
_AT_ONCE, _FEWER = 512, 100  # of those, of which all lines are drawn: how many together, and how often each
LEAST_INFORMATION = 0.05  # what is left where the answer of a label that stands nearly alone is taken out


def draw_lines(posterior: Posterior, draws: int, random: np.random.Generator) -> FloatArray:
    """Return every relation's line, shape (draws, R + 1, 3), relations moving together with theta."""
    if posterior.mixture:
        return _draw_from_parts(posterior, draws, random)
    shared = random.standard_normal((draws, len(posterior.theta))) @ _root(posterior.theta_covariance).T
    alone = random.standard_normal((draws, len(posterior.beta), 3))
    own = np.einsum("rij,drj->dri", _root(posterior.own), alone)
    return np.asarray(posterior.beta + np.einsum("rip,dp->dri", posterior.follow, shared) + own)


def _draw_from_parts(posterior: Posterior, draws: int, random: np.random.Generator) -> FloatArray:
    """Draw which part holds, then its lines."""
    weights = np.array([weight for weight, _ in posterior.mixture])
    counts = random.multinomial(draws, weights / weights.sum())
    parts = zip(posterior.mixture, counts.tolist(), strict=True)
    return np.concatenate([draw_lines(part, count, random) for (_, part), count in parts if count])


def draw_probabilities(
    posterior: Posterior, relations: IntArray, x: FloatArray, draws: int, random: np.random.Generator
) -> FloatArray:
    """Return P(true) of K triples, given relation and centred score, under each drawn set of lines: (draws, K)."""
    if len(posterior.beta) > MOST_DRAWN:
        wanted, relations = np.unique(relations, return_inverse=True)
        posterior = _lines_of(posterior, wanted)
    return drawn_probabilities(draw_lines(posterior, draws, random), relations, x)


def _lines_of(posterior: Posterior, relations: IntArray) -> Posterior:
    """Return the lines of some relations alone, to draw from."""
    tables = {name: getattr(posterior, name)[relations] for name in ("beta", "covariance", "follow", "own")}
    mixture = tuple((weight, _lines_of(part, relations)) for weight, part in posterior.mixture)
    return replace(posterior, **tables, mixture=mixture)


def _root(covariance: FloatArray) -> FloatArray:
    """Return a matrix whose square is the covariance, however near to singular that is."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0))[..., None, :])


def leave_one_out(posterior: Posterior, annotations: Annotations) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each answered triple's logit without its answer, each of shape (l,).

    Approximately: one step of Newton's method backwards.
    """
    rows = annotations.rows
    logits, variances = posterior.moments(posterior.pool.x[rows], posterior.pool.relations[rows])
    p = sigmoid(logits)
    without = variances / np.maximum(1 - p * (1 - p) * variances, LEAST_INFORMATION)
    return logits - without * (annotations.labels - p), without


def gain_left(posterior: Posterior, draws: int = 400, points: int = 2000) -> float:
    """Return how much accuracy would rise if the lines were known exactly: what labels can still bring."""
    pool = posterior.pool
    rows = pool.members[even_places(len(pool), min(points, len(pool)))]
    x, relations = pool.x[rows], pool.relations[rows]
    p = draw_probabilities(posterior, relations, x, draws, np.random.default_rng(0))
    accepted = posterior.logits(x, relations) >= 0
    return float((np.maximum(p, 1 - p) - np.where(accepted, p, 1 - p)).mean())


def cut_intervals(posterior: Posterior, cut: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return bounds of every cut in scores, with nine chances in ten: lower and upper, each of shape (R + 1,)."""
    random, found = np.random.default_rng(0), np.empty((2, len(posterior.beta)))
    size, draws = (len(posterior.beta), 400) if len(posterior.beta) <= MOST_DRAWN else (_AT_ONCE, _FEWER)
    for start in range(0, len(posterior.beta), size):
        some = np.arange(start, min(start + size, len(posterior.beta)))
        lines = draw_lines(_lines_of(posterior, some), draws, random)
        found[:, some] = np.quantile(crossings(lines, cut), [0.05, 0.95], axis=0, method="nearest")
    low, high = posterior.pool.normal.to_cuts(posterior.pool.features["c"] + found)  # rising, so it keeps quantiles
    return low, high
