"""Do the scores of a relation fall into two humps, and where is the valley between them?

Where a model tells true from false well, scores pile up in two places, and the valley between them is a good cut before
anybody was asked. Two normal curves are fitted to each relation's scores, and to a few of the whole pool's beside them.
How much the valley counts is how deep it is, times the chance that there are two curves at all and not one (by the
Bayesian information criterion), times a factor that grows with the number of scores.

Scores are taken as they are, since a transform by rank would flatten the humps. So the humps, unlike all else in this
room, depend on the scale of the scores; scores that all lie between 0 and 1 are unfolded to log-odds first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.data.numeric import logit, sigmoid
from actc.data.triples import FloatArray, IntArray
from actc.methods.pooled.tuned import TUNED

_POINTS = 41  # quantiles that stand for the scores of a relation
_ROUNDS = 30  # of expectation and maximisation
_GRID = 41  # places between the humps at which the valley is looked for
_PARAMETERS = 3  # that two curves have more than one
_AT_ONCE = 1024  # relations whose tables are in memory


@dataclass(frozen=True, eq=False)
class Humps:
    """The humps of each relation.

    Parameters
    ----------
    low, valley, high : float array of shape (R + 1,)
        The scores of the lower hump, of the valley and of the upper hump.
    clear : float array of shape (R + 1,)
        How clearly the valley is seen, 0 ... 1.
    """

    low: FloatArray
    valley: FloatArray
    high: FloatArray
    clear: FloatArray


def find_humps(grouped: FloatArray, ascending: FloatArray, starts: IntArray, counts: IntArray) -> Humps:
    """Find the valley of each relation.

    Parameters
    ----------
    grouped : float array of shape (N,)
        Scores by relation, rising in each.
    ascending : float array of shape (N,)
        All scores, rising.
    starts, counts : int array of shape (R + 1,)
        Where each relation begins in ``grouped``, and how many scores it has.
    """
    unfold = ascending[0] >= 0 and ascending[-1] <= 1
    scale = max(abs(ascending[0]), abs(ascending[-1]), 1e-300)  # squares must not overflow
    grouped, ascending = (_unfold(scores) if unfold else scores / scale for scores in (grouped, ascending))
    distinct = np.unique(ascending)
    if len(distinct) < len(ascending):
        grouped = _spread_ties(grouped, np.repeat(np.arange(len(counts)), counts), distinct)
        ascending = _spread_ties(ascending, np.zeros(len(ascending)), distinct)
    whole = quantile_points(ascending, np.array([0]), np.array([len(ascending)]), _POINTS)
    places, clear = np.zeros((3, len(counts))), np.zeros(len(counts))
    # Of two scores or fewer no valley is ever clear enough to count, so none is looked for.
    enough = np.flatnonzero(counts / (counts + TUNED.hump_shrink) > TUNED.least_clear)
    for some in np.split(enough, range(_AT_ONCE, len(enough), _AT_ONCE)):
        own = quantile_points(grouped, starts[some], counts[some], _POINTS)
        points = np.concatenate([own, np.repeat(whole, len(own), axis=0)], axis=1)
        places[:, some], clear[some] = _find_valleys(points, _weigh(counts[some]))
    low, valley, high = sigmoid(places) if unfold else places * scale
    return Humps(low, valley, high, clear * counts / (counts + TUNED.hump_shrink))


def _unfold(scores: FloatArray) -> FloatArray:
    """Return log-odds; 0 and 1 are half a score away from them."""
    edge = 0.5 / len(scores)
    return logit(np.clip(scores, edge, 1 - edge))


def _spread_ties(rising: FloatArray, group: FloatArray, distinct: FloatArray) -> FloatArray:
    """Spread equal scores of a group evenly over their place, halfway to the next lower and higher score of the pool.

    Rounded scores would otherwise look like a hump each.
    """
    if len(distinct) == 1:
        return rising
    middle = 0.5 * (distinct[1:] + distinct[:-1])
    low = np.append(2 * distinct[0] - middle[0], middle)
    high = np.append(middle, 2 * distinct[-1] - middle[-1])
    is_first = np.append(True, (rising[1:] != rising[:-1]) | (group[1:] != group[:-1]))
    first = np.flatnonzero(is_first)
    size, run = np.diff(np.append(first, len(rising))), np.cumsum(is_first) - 1
    at = np.searchsorted(distinct, rising)
    spread = low[at] + (high[at] - low[at]) * (np.arange(len(rising)) - first[run] + 0.5) / size[run]
    return np.where(size[run] > 1, spread, rising)


def _weigh(counts: IntArray) -> FloatArray:
    """Return how many scores each point stands for: a relation's own, and beside them a few of the whole pool."""
    each = np.stack([counts, np.full(len(counts), TUNED.shrink)], axis=1) / _POINTS
    return np.repeat(each, _POINTS, axis=1)


def quantile_points(grouped: FloatArray, starts: IntArray, counts: IntArray, points: int) -> FloatArray:
    """Interpolate each group's sorted values at positions (q + 1/2) n / points - 1/2, shape (groups, points)."""
    last = np.maximum(counts - 1, 0)[:, None]
    position = np.clip((np.arange(points) + 0.5) * counts[:, None] / points - 0.5, 0, last)
    low = position.astype(np.int64)
    high = np.minimum(low + 1, last)
    at = np.minimum(starts, len(grouped) - 1)[:, None]
    low_value, high_value = grouped[at + low], grouped[at + high]
    return np.where(counts[:, None] > 0, low_value + (position - low) * (high_value - low_value), 0.0)


@dataclass(frozen=True, eq=False)
class _Bells:
    """Two weighted normal curves for each group, shape (groups, 2) each; a little is added to every variance."""

    share: FloatArray
    mean: FloatArray
    variance: FloatArray

    @classmethod
    def of(cls, x: FloatArray, weight: FloatArray) -> _Bells:
        """Return the curves of points that belong to each of the two by ``weight``, shape (groups, points, 2)."""
        count = weight.sum(axis=1)
        mean = np.einsum("gp,gpk->gk", x, weight) / np.maximum(count, 1e-9)
        off = np.einsum("gpk,gpk->gk", weight, (x[..., None] - mean[:, None]) ** 2)
        # As if each curve had two scores more, half as wide as all scores are: no curve shrinks to a point.
        variance, share = (off + 2 * 0.5**2) / (count + 2), count + 2
        return cls(share / share.sum(axis=1, keepdims=True), mean, variance)

    def log_heights(self, x: FloatArray) -> FloatArray:
        """Return the logarithm of both curves' heights, shape (groups, points, 2), up to a constant."""
        off = (x[..., None] - self.mean[:, None]) ** 2 / self.variance[:, None]
        return np.asarray(np.log(self.share)[:, None] - 0.5 * np.log(self.variance)[:, None] - 0.5 * off)


def _find_valleys(points: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where lower hump, valley and upper hump lie, shape (3, groups), and how clear it is, shape (groups,)."""
    order = np.argsort(points, axis=1, kind="stable")
    x, weight = np.take_along_axis(points, order, 1), np.take_along_axis(weight, order, 1)
    total = weight.sum(axis=1)
    middle = np.einsum("gp,gp->g", weight, x) / total
    width = np.sqrt(np.einsum("gp,gp->g", weight, (x - middle[:, None]) ** 2) / total) + 1e-12
    x = (x - middle[:, None]) / width[:, None]
    curves = _first_guess(x, weight)
    for _ in range(_ROUNDS):
        heights = curves.log_heights(x)
        both = np.logaddexp(heights[..., 0], heights[..., 1])
        curves = _Bells.of(x, weight[..., None] * np.exp(heights - both[..., None]))
    gain = np.einsum("gp,gp->g", weight, both + 0.5 * x**2)
    two = sigmoid(gain - 0.5 * _PARAMETERS * np.log(total))
    valley, depth = _valley(curves)
    places = np.stack([curves.mean.min(axis=1), valley, curves.mean.max(axis=1)])
    return middle + width * places, two * depth


def _first_guess(x: FloatArray, weight: FloatArray) -> _Bells:
    """Return the curves of the lower and the upper half."""
    low = np.cumsum(weight, axis=1) <= 0.5 * weight.sum(axis=1, keepdims=True)
    return _Bells.of(x, weight[..., None] * np.stack([low, ~low], axis=-1))


def _valley(curves: _Bells) -> tuple[FloatArray, FloatArray]:
    """Return the lowest place between the two means, and how deep it is below the lower of the two humps."""
    first, last = curves.mean[:, :1], curves.mean[:, 1:]
    between = first + (last - first) * np.linspace(0, 1, _GRID)
    height = np.exp(curves.log_heights(between)).sum(axis=2)
    lowest = height.argmin(axis=1)
    before = np.arange(_GRID) <= lowest[:, None]
    humps = np.minimum(np.where(before, height, 0).max(axis=1), np.where(before, 0, height).max(axis=1))
    rows = np.arange(len(height))
    depth = 1 - height[rows, lowest] / np.maximum(np.maximum(humps, height[rows, lowest]), 1e-300)
    return between[rows, lowest], depth
