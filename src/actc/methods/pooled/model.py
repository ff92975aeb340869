"""Our own method: one model over all relations, which share strength.

A triple of relation r with centred, transformed score x is true with

    logit P(true) = psi(x) . beta_r        psi(x) = (1, min(x, 0), max(x, 0))
    beta_r = G_r theta + u_r               u_r ~ N(0, diag(tau^2)),   theta ~ N(mean, sd^2)

where G_r holds what the unlabelled scores of r say about it. The posterior is Gaussian around the mode (``solve``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from actc.data.answers import Annotations
from actc.data.numeric import line_heights, line_variances, logit, moderate, psi, sigmoid
from actc.data.triples import FloatArray, IntArray
from actc.methods.pooled.features import PreparedPool
from actc.methods.pooled.tuned import Coefficient


@dataclass(frozen=True, eq=False)
class Priors:
    """K priors of the same P coefficients side by side."""

    names: tuple[str, ...]  # see ``design``
    mean: FloatArray  # (K, P)
    precision: FloatArray  # (K, P) inverse variances
    penalty: FloatArray  # (K, 3): 1 / tau^2, how little relations differ from what their features predict

    @classmethod
    def of(cls, *priors: tuple[Mapping[str, Coefficient], tuple[float, float]]) -> Priors:
        """Make them of coefficients with means and standard deviations, and tau of intercepts and of slopes."""
        numbers = np.array([list(coefficients.values()) for coefficients, _ in priors])
        tau = np.array([[intercept, slope, slope] for _, (intercept, slope) in priors])
        return cls(tuple(priors[0][0]), numbers[..., 0], numbers[..., 1] ** -2.0, 1 / tau**2)


def design(pool: PreparedPool, names: Collection[str]) -> FloatArray:
    """Return G, shape (R + 1, 3, P): how each relation's intercept and two slopes follow from coefficients."""
    zero, one = np.zeros(len(pool.counts)), np.ones(len(pool.counts))
    skew = pool.features["skew"]
    columns = {
        "one": (one, zero, zero),
        "c": (pool.features["c"], zero, zero),
        "skew": (skew, zero, zero),
        "gap": (pool.features.get("gap", zero), zero, zero),
        "bskew": (zero, skew, skew),
        "diff": (zero, -one, one),
        "slope": (zero, one, one),
    }
    return np.stack([np.stack(columns[name], axis=-1) for name in names], axis=-1)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What the labels leave possible: every relation's broken line as a Gaussian."""

    pool: PreparedPool
    beta: FloatArray  # (R + 1, 3) mean of intercept, left slope, right slope; the last row is "any other relation"
    covariance: FloatArray  # (R + 1, 3, 3)
    mixture: tuple[tuple[float, Posterior], ...] = ()  # what it is the average of, each with its weight

    def moments(self, x: FloatArray, relations: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the logit of triples with centred scores x."""
        basis = psi(x)
        return line_heights(basis, self.beta[relations]), line_variances(basis, self.covariance[relations])

    def probabilities(self, x: FloatArray, relations: IntArray) -> FloatArray:
        """Return P(true), the logit's uncertainty averaged out."""
        return moderate(*self.moments(x, relations))


def cut_for_accuracy(posterior: Posterior) -> float:
    """Return the logit from which on a triple is accepted, for the most right decisions."""
    return 0.0


def cut_for_f1(posterior: Posterior) -> float:
    """Return the logit from which on a triple is accepted, for the best expected F1 on the pool."""
    pool = posterior.pool
    p = posterior.probabilities(pool.x, pool.relations)
    order = np.argsort(-p, kind="stable")
    p = p[order]
    true = np.cumsum(p)
    expected = 2 * true / (np.arange(1, len(p) + 1) + true[-1])
    cut = np.clip(p[np.argmax(expected)], 1e-6, 0.5)
    return float(logit(cut))


def cuts_at(posterior: Posterior, level: float = 0.0) -> FloatArray:
    """Return where each relation's line crosses a logit, as cuts in scores, shape (R + 1,)."""
    return posterior.pool.scale.to_cuts(posterior.pool.features["c"] + crossings(posterior.beta, level))


def crossings(beta: FloatArray, level: float = 0.0) -> FloatArray:
    """Return x where lines with coefficients beta, shape (..., 3), cross a logit.

    A side that is flat or falls never reaches the logit: where it starts below, nothing is accepted; else everything.
    """
    height = level - beta[..., 0]
    slope = np.where(height < 0, beta[..., 1], beta[..., 2])
    with np.errstate(over="ignore"):  # of slopes that are nearly flat
        return np.asarray(np.where(slope > 0, height / np.where(slope > 0, slope, 1.0), np.copysign(np.inf, height)))


OBJECTIVES = {"accuracy": cut_for_accuracy, "f1": cut_for_f1}


_DRAWS, _AT_ONCE = 400, 512  # lines drawn of each relation, and relations whose draws are in memory
LEAST_INFORMATION = 0.05  # what is left where the answer of a label that stands nearly alone is taken out


def cut_intervals(posterior: Posterior, cut: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return bounds of every cut in scores, with nine chances in ten: lower and upper, each of shape (R + 1,)."""
    random, places = np.random.default_rng(0), np.empty((2, len(posterior.beta)))
    for start in range(0, len(posterior.beta), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        lines = draw_lines(posterior, some, _DRAWS, random)
        places[:, some] = np.quantile(crossings(lines, cut), [0.05, 0.95], axis=0, method="nearest")
    low, high = posterior.pool.scale.to_cuts(posterior.pool.features["c"] + places)  # rising, so it keeps quantiles
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
