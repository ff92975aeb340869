"""What does a pool say about its relations before any label?

Everything here is computed once per pool (and its known triples); a fit then costs the same whatever the pool's size.
In order: the transform of the scores, the relations' features and points, the valleys between clusters of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from actc.data.numeric import cut_between, logit, sigmoid
from actc.data.triples import FloatArray, IntArray, ScoredTriples, Vocabulary
from actc.methods.pooled import tuned

PLACES = ("low", "valley", "high")
"""The features that say where a relation's two clusters of scores and the valley between them lie."""
RANKS, LOG_ODDS, PROBABILITIES = "ranks", "log-odds", "probabilities"


@dataclass(frozen=True, eq=False)
class Scale:
    """How scores are read.

    Of the kind ``ranks``: as normal quantiles of their mid-rank in the pool, since nobody knows what they mean;
    ``log-odds``: as they are; ``probabilities``: as log-odds, none of which is quite sure.
    """

    kind: str
    scores: FloatArray  # (D,) the distinct scores of the pool, rising
    before: IntArray  # (D + 1,) how many pool scores are smaller than each of them; the last is N

    def transform(self, scores: FloatArray) -> FloatArray:
        """Return z of any scores, in the pool or not."""
        if self.kind == LOG_ODDS:
            return scores
        if self.kind == PROBABILITIES:
            return logit(np.clip(scores, tuned.LEAST_PROBABILITY, 1 - tuned.LEAST_PROBABILITY))
        less = self.before[np.searchsorted(self.scores, scores, side="left")]
        not_more = self.before[np.searchsorted(self.scores, scores, side="right")]
        return self._normal_quantiles(less + not_more)

    def to_cuts(self, z: FloatArray) -> FloatArray:
        """Return the cut on the score for each cut on z; of ranks midway between the pool scores around it."""
        if self.kind == LOG_ODDS:
            return z
        if self.kind == PROBABILITIES:  # beyond the least and the greatest log-odds all or nothing is accepted
            least, greatest = logit(np.array([tuned.LEAST_PROBABILITY, 1 - tuned.LEAST_PROBABILITY]))
            return np.where(z <= least, -np.inf, np.where(z > greatest, np.inf, sigmoid(z)))
        above, last = np.searchsorted(self.z, z, side="left"), len(self.scores) - 1
        low = np.where(above > 0, self.scores[above - 1], -np.inf)
        return cut_between(low, np.where(above <= last, self.scores[np.minimum(above, last)], np.inf))

    @cached_property
    def z(self) -> FloatArray:
        """What each distinct score of the pool becomes, shape (D,)."""
        if self.kind == RANKS:
            return self._normal_quantiles(self.before[:-1] + self.before[1:])
        return self.transform(self.scores)

    def _normal_quantiles(self, twice_rank: IntArray) -> FloatArray:
        from statistics import NormalDist  # scipy.special takes longer to load than most pools to fit

        count = int(self.before[-1])
        p = np.clip(twice_rank / (2 * count), 0.5 / count, 1 - 0.5 / count)
        return np.fromiter(map(NormalDist().inv_cdf, p.ravel().tolist()), np.float64, p.size).reshape(p.shape)


@dataclass(frozen=True, eq=False)
class PreparedPool:
    """A pool with all that the pooled method needs of it; row R of a relations' table is "any other"."""

    scale: Scale
    relation_names: Vocabulary
    relations: IntArray  # (N,) codes
    x: FloatArray  # (N,) transformed score minus its relation's centre
    members: IntArray  # (N,) rows grouped by relation, with rising score in each group
    places: IntArray  # (N,) where each row stands in ``members``
    starts: IntArray  # (R + 2,) where each relation's group begins
    counts: IntArray  # (R + 1,) size of each group
    # Each (R + 1,): "c", "skew" and, with known triples, "gap"; x of "low", "valley" and "high" (``PLACES``), and how
    # "clear" the valley is, 0 ... 1.
    features: dict[str, FloatArray]
    points: FloatArray  # (R + 1, POINTS) quantiles of x in each relation, each standing for ``counts / POINTS`` triples
    agreement: float  # how well the features agree with each other, 0 ... 1
    lists: float  # how much the pool looks like a model's lists of answers to questions, 0 ... 1

    def __len__(self) -> int:
        return len(self.x)

    def relation_codes(self, triples: ScoredTriples) -> IntArray:
        """Return this pool's code of each triple's relation; R for relations the pool has no triple of."""
        names = self.relation_names
        return names.translate(triples.relations, triples.relation_names, default=len(names))

    def centred(self, scores: FloatArray, relations: IntArray) -> FloatArray:
        """Return x of any scores, given this pool's relation codes."""
        return self.scale.transform(scores) - self.features["c"][relations]


@lru_cache(maxsize=4)  # tables are frozen and compared by identity, so the same pool is prepared once
def prepare_pool(pool: ScoredTriples, known: ScoredTriples | None = None, kind: str = RANKS) -> PreparedPool:
    """Transform the scores, measure the relations and lay out their points.

    Where scores are log-odds or probabilities, nothing is read from where a relation's scores lie.
    """
    scores, relations, relation_names, by_score = pool.scores, pool.relations, pool.relation_names, pool.by_score
    rising = scores[by_score]
    first = np.flatnonzero(np.r_[True, rising[1:] != rising[:-1]])
    scale = Scale(kind, rising[first], np.r_[first, len(rising)])
    # A stable sort of 16-bit integers is a radix sort: ten times as fast.
    codes = relations.astype(np.uint16) if len(relation_names) <= 2**16 else relations
    grouped = np.argsort(codes[by_score], kind="stable")
    members = by_score[grouped]
    places = np.empty(len(scores), dtype=np.int64)
    places[members] = np.arange(len(scores))
    counts = np.r_[np.bincount(relations, minlength=len(relation_names)), 0]
    starts = np.r_[0, np.cumsum(counts)]
    z, of_members = np.repeat(scale.z, np.diff(scale.before))[grouped], relations[members]
    features, agreement = {"c": np.zeros(len(counts)), "skew": np.zeros(len(counts))}, 0.0
    if kind == RANKS:
        median, shrink = _medians(z, starts[:-1], counts), counts / (counts + tuned.SHRINK)
        features = {"c": shrink * median, "skew": shrink * _skewness(z, of_members, counts)}
        agreement = _agreement(features["c"], features["skew"], counts)
        if known is not None:
            features["gap"] = np.clip(shrink * _gaps(relation_names, known, scale, median, counts), -3, 3)
        valleys, features["clear"] = find_valleys(scores[members], rising, starts[:-1], counts)
        features |= {name: scale.transform(at) - features["c"] for name, at in zip(PLACES, valleys, strict=True)}
    x = z - features["c"][of_members]
    points = quantile_points(x, starts[:-1], counts, tuned.POINTS)
    layout = (relation_names, relations, x[places], members, places, starts, counts)
    return PreparedPool(scale, *layout, features, points, agreement, _looks_like_lists(pool))


def _medians(grouped: FloatArray, starts: IntArray, counts: IntArray) -> FloatArray:
    """Return the median of each sorted group, 0 for an empty one."""
    return quantile_points(grouped, starts, counts, 1)[:, 0]


def _skewness(z: FloatArray, relations: IntArray, counts: IntArray) -> FloatArray:
    """Return m3 / m2^1.5 of each relation, within -3 ... 3; 0 where there are too few."""
    size, safe = len(counts), np.maximum(counts, 1)
    mean = np.bincount(relations, z, minlength=size) / safe
    off = z - mean[relations]
    second = np.bincount(relations, off**2, minlength=size) / safe
    third = np.bincount(relations, off**3, minlength=size) / safe
    measured = (counts > 2) & (second > 1e-12)
    return np.where(measured, np.clip(third / np.where(measured, second, 1.0) ** 1.5, -3, 3), 0.0)


def _gaps(names: Vocabulary, known: ScoredTriples, scale: Scale, median: FloatArray, counts: IntArray) -> FloatArray:
    """Return how much higher known triples score than candidates, relative to the average relation."""
    relations = names.translate(known.relations, known.relation_names, default=len(names))
    z = scale.transform(known.scores)
    order = np.lexsort((z, relations))
    known_counts = np.bincount(relations, minlength=len(counts))
    known_median = _medians(z[order], np.r_[0, np.cumsum(known_counts)[:-1]], known_counts)
    measured = (known_counts >= tuned.LEAST_KNOWN) & (counts > 0)
    if not measured.any():
        return np.zeros(len(counts))
    gap = known_median - median
    return np.where(measured, gap - np.average(gap[measured], weights=counts[measured]), 0.0)


def _agreement(centre: FloatArray, skew: FloatArray, counts: IntArray) -> float:
    """Return how well the features agree, 0 ... 1."""
    # Many true triples push a relation's scores up and leave a tail below: a high centre and a negative skew are two
    # symptoms of one cause. Where they do not go together, relations differ in something else, such as the level of
    # their scores, and the features should not be trusted with the share of true triples.
    weight = counts / counts.sum()
    covariance = float(weight @ ((centre - weight @ centre) * (weight @ skew - skew)))
    unshrunk = covariance / (weight @ (counts / (counts + tuned.SHRINK)) ** 2)
    return float(np.clip(unshrunk / tuned.STRONG_COVARIANCE, 0, 1))


def _looks_like_lists(pool: ScoredTriples) -> float:
    """Return how much a pool looks like lists of answers to questions, 0 ... 1."""
    # A model's own proposals are its best few answers to each question (a head and a relation, or a relation and a
    # tail), and few of them are true. So nearly every question of one side has several candidates. In other pools some
    # have, too: there are entities that stand in one relation to many others.
    shares = []
    for ends in (pool.heads, pool.tails):
        questions = ends.astype(np.int64) * len(pool.relation_names) + pool.relations
        shares.append((np.unique(questions, return_counts=True)[1] >= tuned.LIST_LENGTH).mean())
    few, most = tuned.LISTS_BETWEEN
    return float(np.clip((max(shares) - few) / (most - few), 0, 1))


# The valley between two clusters of scores.
#
# Where a model separates true from false well, the valley between the two clusters of scores is a good cut before any
# answer. A mixture of two normal distributions is fitted to each relation's scores, and to a few of the whole pool's
# beside them. How clear the valley is: how deep it is, times the probability that there are two clusters and not one
# (by the Bayesian information criterion), times a factor that grows with the number of scores.
#
# Scores are taken as they are, since a transform by rank would flatten the clusters. So this, unlike the other
# features, depends on the scale of the scores; scores that all lie between 0 and 1 are made log-odds first.

_QUANTILES = 41  # quantiles that stand for the scores of a relation
_EM_STEPS = 30  # of expectation and maximisation
_GRID = 41  # places between the clusters at which the valley is looked for
_MORE_PARAMETERS = 3  # that two normal distributions have more than one
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
    whole = quantile_points(ascending, np.array([0]), np.array([len(ascending)]), _QUANTILES)
    places, clear = np.zeros((3, len(counts))), np.zeros(len(counts))
    reliability = counts / (counts + tuned.VALLEY_SHRINK)
    # With fewer scores no valley is ever clear enough; of few distinct scores each would look like a cluster.
    distinct = len(np.unique(ascending)) / len(ascending)
    enough = np.flatnonzero((reliability > tuned.LEAST_CLEAR) & (distinct > tuned.LEAST_DISTINCT))
    for some in np.split(enough, range(_AT_ONCE, len(enough), _AT_ONCE)):
        own = quantile_points(grouped, starts[some], counts[some], _QUANTILES)
        points = np.concatenate([own, np.repeat(whole, len(own), axis=0)], axis=1)
        # How many scores each point stands for: a relation's own, and beside them a few of the whole pool.
        each = np.stack([counts[some], np.full(len(some), tuned.SHRINK)], axis=1) / _QUANTILES
        places[:, some], clear[some] = _find_valleys(points, np.repeat(each, _QUANTILES, axis=1))
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
    for _ in range(_EM_STEPS):
        heights = _log_heights(mixture, x)
        both = np.logaddexp(heights[..., 0], heights[..., 1])
        mixture = _maximise(x, weight[..., None] * np.exp(heights - both[..., None]))
    gain = np.einsum("gp,gp->g", weight, both + 0.5 * x**2)
    two = sigmoid(gain - 0.5 * _MORE_PARAMETERS * np.log(total))
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
