"""What does a pool say about its relations before any label?

Everything here is computed once per pool (and its known triples); a fit then costs the same whatever the pool's size.
In order: the transform of the scores, the relations' features, their points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from actc.data.numeric import cut_between, logit, sigmoid
from actc.data.triples import FloatArray, IntArray, ScoredTriples, as_vocabulary
from actc.methods.pooled import tuned
from actc.methods.pooled.two_clusters import find_valleys, quantile_points

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
        """Return the cut in scores for each cut in z; of ranks midway between the two pool scores around it."""
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
    relation_names: tuple[str, ...]
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
        names = as_vocabulary(self.relation_names)
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


def _gaps(
    names: tuple[str, ...], known: ScoredTriples, scale: Scale, median: FloatArray, counts: IntArray
) -> FloatArray:
    """Return how much higher known triples score than candidates, relative to the average relation."""
    relations = as_vocabulary(names).translate(known.relations, known.relation_names, default=len(names))
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
