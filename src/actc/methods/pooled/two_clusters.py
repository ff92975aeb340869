"""Do the scores of a relation form two clusters, and where is the valley between them?

Where a model separates true from false well, the valley between the two clusters of scores is a good cut before any
answer. A mixture of two normal distributions is fitted to each relation's scores, and to a few of the whole pool's
beside them. How clear the valley is: how deep it is, times the probability that there are two clusters and not one (by
the Bayesian information criterion), times a factor that grows with the number of scores.

Scores are taken as they are, since a transform by rank would flatten the clusters. So this, unlike the other features,
depends on the scale of the scores; scores that all lie between 0 and 1 are made log-odds first.
"""

from __future__ import annotations

import numpy as np

from actc.data.numeric import logit, sigmoid
from actc.data.triples import FloatArray, IntArray
from actc.methods.pooled import tuned

_POINTS = 41  # quantiles that stand for the scores of a relation
_STEPS = 30  # of expectation and maximisation
_GRID = 41  # places between the clusters at which the valley is looked for
_PARAMETERS = 3  # that two normal distributions have more than one
_AT_ONCE = 1024  # relations whose tables are in memory

Mixture = tuple[FloatArray, FloatArray, FloatArray]
"""Share, mean and variance of two normal distributions for each group, each of shape (groups, 2)."""


def find_valleys(
    grouped: FloatArray, ascending: FloatArray, starts: IntArray, counts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Find the valley of each relation.

    ``grouped`` has the scores by relation, rising in each; ``ascending`` all scores, rising. Returns the scores of the
    lower cluster, the valley and the upper cluster, shape (3, R + 1), and how clear each valley is, 0 ... 1.
    """
    within_unit = ascending[0] >= 0 and ascending[-1] <= 1
    scale = max(abs(ascending[0]), abs(ascending[-1]), 1e-300)  # squares must not overflow
    grouped, ascending = (_log_odds(scores) if within_unit else scores / scale for scores in (grouped, ascending))
    whole = quantile_points(ascending, np.array([0]), np.array([len(ascending)]), _POINTS)
    places, clear = np.zeros((3, len(counts))), np.zeros(len(counts))
    reliability = counts / (counts + tuned.VALLEY_SHRINK)
    # With fewer scores no valley is ever clear enough; of few distinct scores each would look like a cluster.
    distinct = len(np.unique(ascending)) / len(ascending)
    enough = np.flatnonzero((reliability > tuned.LEAST_CLEAR) & (distinct > tuned.LEAST_DISTINCT))
    for some in np.split(enough, range(_AT_ONCE, len(enough), _AT_ONCE)):
        own = quantile_points(grouped, starts[some], counts[some], _POINTS)
        points = np.concatenate([own, np.repeat(whole, len(own), axis=0)], axis=1)
        # How many scores each point stands for: a relation's own, and beside them a few of the whole pool.
        each = np.stack([counts[some], np.full(len(some), tuned.SHRINK)], axis=1) / _POINTS
        places[:, some], clear[some] = _find_valleys(points, np.repeat(each, _POINTS, axis=1))
    return sigmoid(places) if within_unit else places * scale, clear * reliability


def _log_odds(scores: FloatArray) -> FloatArray:
    """Return log-odds; 0 and 1 are half a score away from them."""
    edge = 0.5 / len(scores)
    return logit(np.clip(scores, edge, 1 - edge))


def quantile_points(grouped: FloatArray, starts: IntArray, counts: IntArray, points: int) -> FloatArray:
    """Interpolate each group's sorted values at positions (q + 1/2) n / points - 1/2, shape (groups, points)."""
    last = np.maximum(counts - 1, 0)[:, None]
    position = np.clip((np.arange(points) + 0.5) * counts[:, None] / points - 0.5, 0, last)
    low = position.astype(np.int64)
    high = np.minimum(low + 1, last)
    at = np.minimum(starts, len(grouped) - 1)[:, None]
    low_value, high_value = grouped[at + low], grouped[at + high]
    return np.where(counts[:, None] > 0, low_value + (position - low) * (high_value - low_value), 0.0)


def _find_valleys(points: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return lower cluster, valley and upper cluster, shape (3, groups), and how clear it is, shape (groups,)."""
    order = np.argsort(points, axis=1, kind="stable")
    x, weight = np.take_along_axis(points, order, 1), np.take_along_axis(weight, order, 1)
    total = weight.sum(axis=1)
    middle = np.einsum("gp,gp->g", weight, x) / total
    width = np.sqrt(np.einsum("gp,gp->g", weight, (x - middle[:, None]) ** 2) / total) + 1e-12
    x = (x - middle[:, None]) / width[:, None]
    lower_half = np.cumsum(weight, axis=1) <= 0.5 * total[:, None]
    mixture = _maximise(x, weight[..., None] * np.stack([lower_half, ~lower_half], axis=-1))
    for _ in range(_STEPS):
        heights = _log_heights(mixture, x)
        both = np.logaddexp(heights[..., 0], heights[..., 1])
        mixture = _maximise(x, weight[..., None] * np.exp(heights - both[..., None]))
    gain = np.einsum("gp,gp->g", weight, both + 0.5 * x**2)
    two = sigmoid(gain - 0.5 * _PARAMETERS * np.log(total))
    valley, depth = _valley(mixture)
    mean = mixture[1]
    return middle + width * np.stack([mean.min(axis=1), valley, mean.max(axis=1)]), two * depth


def _maximise(x: FloatArray, weight: FloatArray) -> Mixture:
    """Return the mixture of points that belong to each of the two by ``weight``, shape (groups, points, 2)."""
    count = weight.sum(axis=1)
    mean = np.einsum("gp,gpk->gk", x, weight) / np.maximum(count, 1e-9)
    off = np.einsum("gpk,gpk->gk", weight, (x[..., None] - mean[:, None]) ** 2)
    # As if each had two scores more, half as wide as all scores are: none shrinks to a point.
    variance, share = (off + 2 * 0.5**2) / (count + 2), count + 2
    return share / share.sum(axis=1, keepdims=True), mean, variance


def _log_heights(mixture: Mixture, x: FloatArray) -> FloatArray:
    """Return the log density of both, shape (groups, points, 2), up to a constant."""
    share, mean, variance = mixture
    off = (x[..., None] - mean[:, None]) ** 2 / variance[:, None]
    return np.asarray(np.log(share)[:, None] - 0.5 * np.log(variance)[:, None] - 0.5 * off)


def _valley(mixture: Mixture) -> tuple[FloatArray, FloatArray]:
    """Return the lowest place between the two means, and how deep it is below the lower of the two peaks."""
    first, last = mixture[1][:, :1], mixture[1][:, 1:]
    between = first + (last - first) * np.linspace(0, 1, _GRID)
    height = np.exp(_log_heights(mixture, between)).sum(axis=2)
    lowest = height.argmin(axis=1)
    before = np.arange(_GRID) <= lowest[:, None]
    peaks = np.minimum(np.where(before, height, 0).max(axis=1), np.where(before, 0, height).max(axis=1))
    rows = np.arange(len(height))
    depth = 1 - height[rows, lowest] / np.maximum(np.maximum(peaks, height[rows, lowest]), 1e-300)
    return between[rows, lowest], depth
