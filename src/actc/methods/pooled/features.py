"""What does a pool say about its relations before any label?

Everything here is computed once per pool (and its known triples); fitting and picking then cost the same
whatever the pool's size. In order: the transform of the scores, the relations' features, their points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from actc.data.numeric import cut_between
from actc.data.triples import FloatArray, IntArray, ScoredTriples, as_vocabulary
from actc.methods.pooled.humps import find_humps, quantile_points
from actc.methods.pooled.tuned import TUNED

POINTS = TUNED.points
"""How many points stand for the triples of one relation when picks are weighed."""

HUMPS = ("low", "valley", "high")
"""The features that say where a relation's humps and the valley between them lie."""


@dataclass(frozen=True, eq=False)
class NormalScores:
    """The transform of scores to normal quantiles of their mid-rank in the pool.

    Parameters
    ----------
    scores : float array of shape (D,)
        The distinct scores of the pool, rising.
    before : int array of shape (D + 1,)
        How many pool scores are smaller than each of them; the last is N.
    z : float array of shape (D,)
        What each becomes.
    """

    scores: FloatArray
    before: IntArray
    z: FloatArray

    @classmethod
    def of_sorted(cls, scores: FloatArray) -> NormalScores:
        """Learn the transform from the pool's scores, rising."""
        first = np.flatnonzero(np.r_[True, scores[1:] != scores[:-1]])
        before = np.r_[first, len(scores)]
        return cls(scores[first], before, _quantile(before[:-1] + before[1:], len(scores)))

    def transform(self, scores: FloatArray) -> FloatArray:
        """Return z of any scores, in the pool or not."""
        less = self.before[np.searchsorted(self.scores, scores, side="left")]
        not_more = self.before[np.searchsorted(self.scores, scores, side="right")]
        return _quantile(less + not_more, int(self.before[-1]))

    def to_cuts(self, z: FloatArray) -> FloatArray:
        """Return the cut in scores for each cut in z: midway between the two pool scores around it."""
        above, last = np.searchsorted(self.z, z, side="left"), len(self.scores) - 1
        low = np.where(above > 0, self.scores[above - 1], -np.inf)
        return cut_between(low, np.where(above <= last, self.scores[np.minimum(above, last)], np.inf))


def _quantile(twice_rank: IntArray, count: int) -> FloatArray:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(twice_rank / (2 * count), 0.5 / count, 1 - 0.5 / count)))


@dataclass(frozen=True, eq=False)
class PreparedPool:
    """A pool with all that the pooled method needs of it; row R of a relations' table is "any other".

    Parameters
    ----------
    normal : NormalScores
        The transform of scores.
    relation_names : tuple of str
        The pool's relations.
    relations : int array of shape (N,)
        The pool's relation codes.
    x : float array of shape (N,)
        Transformed score minus its relation's centre.
    members : int array of shape (N,)
        Rows grouped by relation, with rising score in each group.
    places : int array of shape (N,)
        Where each row stands in ``members``.
    starts : int array of shape (R + 2,)
        Where each relation's group begins.
    counts : int array of shape (R + 1,)
        Size of each group.
    features : dict of str to float array of shape (R + 1,)
        "c", "skew" and, with known triples, "gap"; x of "low", "valley" and "high" (``HUMPS``), and how "clear" the
        valley is, 0 ... 1.
    points : float array of shape (R + 1, POINTS)
        Quantiles of x in each relation, each standing for ``counts / POINTS`` triples.
    agreement : float
        How much the features bear each other out, 0 ... 1.
    listed : float
        How much the pool looks like lists of answers to questions, 0 ... 1.
    """

    normal: NormalScores
    relation_names: tuple[str, ...]
    relations: IntArray
    x: FloatArray
    members: IntArray
    places: IntArray
    starts: IntArray
    counts: IntArray
    features: dict[str, FloatArray]
    points: FloatArray
    agreement: float
    listed: float

    def __len__(self) -> int:
        return len(self.x)

    def relation_codes(self, triples: ScoredTriples) -> IntArray:
        """Return this pool's code of each triple's relation; R for relations the pool has no triple of."""
        names = as_vocabulary(self.relation_names)
        return names.translate(triples.relations, triples.relation_names, default=len(names))

    def centred(self, scores: FloatArray, relations: IntArray) -> FloatArray:
        """Return x of any scores, given this pool's relation codes."""
        return self.normal.transform(scores) - self.features["c"][relations]


@lru_cache(maxsize=4)  # tables are frozen and compared by identity, so the same pool is prepared once
def prepare_pool(pool: ScoredTriples, known: ScoredTriples | None = None) -> PreparedPool:
    """Transform the scores, measure the relations and lay out their points.

    Parameters
    ----------
    pool : ScoredTriples
        The candidates.
    known : ScoredTriples, optional
        Triples that the graph holds already, scored by the same model.
    """
    scores, relations, relation_names, by_score = pool.scores, pool.relations, pool.relation_names, pool.by_score
    normal = NormalScores.of_sorted(scores[by_score])
    grouped = np.argsort(_narrow(relations[by_score], len(relation_names)), kind="stable")
    members = by_score[grouped]
    places = np.empty(len(scores), dtype=np.int64)
    places[members] = np.arange(len(scores))
    counts = np.r_[np.bincount(relations, minlength=len(relation_names)), 0]
    starts = np.r_[0, np.cumsum(counts)]
    z_grouped = np.repeat(normal.z, np.diff(normal.before))[grouped]
    of_members = relations[members]

    median = _medians(z_grouped, starts[:-1], counts)
    shrink = counts / (counts + TUNED.shrink)
    features = {"c": shrink * median, "skew": shrink * _skewness(z_grouped, of_members, counts)}
    if known is not None:
        features["gap"] = np.clip(shrink * _gaps(relation_names, known, normal, median, counts), -3, 3)
    humps = find_humps(scores[members], scores[by_score], starts[:-1], counts)
    found = zip(HUMPS, (humps.low, humps.valley, humps.high), strict=True)
    features |= {name: normal.transform(place) - features["c"] for name, place in found}
    features["clear"] = humps.clear
    x_grouped = z_grouped - features["c"][of_members]
    return PreparedPool(
        normal=normal,
        relation_names=relation_names,
        relations=relations,
        x=x_grouped[places],
        members=members,
        places=places,
        starts=starts,
        counts=counts,
        features=features,
        points=quantile_points(x_grouped, starts[:-1], counts, POINTS),
        agreement=_agreement(features["c"], features["skew"], counts),
        listed=_looks_listed(pool),
    )


def _narrow(codes: IntArray, count: int) -> np.ndarray:
    # A stable sort of 16-bit integers is a radix sort: ten times as fast.
    return codes.astype(np.uint16) if count <= 2**16 else codes


def _medians(grouped: FloatArray, starts: IntArray, counts: IntArray) -> FloatArray:
    """Return the median of each sorted group, 0 for an empty one."""
    last = len(grouped) - 1
    low = np.minimum(starts + np.maximum(counts - 1, 0) // 2, last)
    high = np.minimum(starts + counts // 2, last)
    return np.where(counts > 0, 0.5 * (grouped[low] + grouped[high]), 0.0)


def _skewness(z: FloatArray, relations: IntArray, counts: IntArray) -> FloatArray:
    """Return m3 / m2^1.5 of each relation, within -3 ... 3; 0 where it says nothing."""
    size, safe = len(counts), np.maximum(counts, 1)
    mean = np.bincount(relations, z, minlength=size) / safe
    off = z - mean[relations]
    second = np.bincount(relations, off**2, minlength=size) / safe
    third = np.bincount(relations, off**3, minlength=size) / safe
    measured = (counts > 2) & (second > 1e-12)
    return np.where(measured, np.clip(third / np.where(measured, second, 1.0) ** 1.5, -3, 3), 0.0)


def _gaps(
    names: tuple[str, ...], known: ScoredTriples, normal: NormalScores, median: FloatArray, counts: IntArray
) -> FloatArray:
    """Return how much higher known triples score than candidates, relative to the average relation."""
    relations = as_vocabulary(names).translate(known.relations, known.relation_names, default=len(names))
    z = normal.transform(known.scores)
    order = np.lexsort((z, relations))
    known_counts = np.bincount(relations, minlength=len(counts))
    known_median = _medians(z[order], np.r_[0, np.cumsum(known_counts)[:-1]], known_counts)
    measured = (known_counts >= TUNED.known_enough) & (counts > 0)
    if not measured.any():
        return np.zeros(len(counts))
    gap = known_median - median
    return np.where(measured, gap - np.average(gap[measured], weights=counts[measured]), 0.0)


def _agreement(centre: FloatArray, skew: FloatArray, counts: IntArray) -> float:
    """Return how much the features bear each other out, 0 ... 1.

    Many true triples push a relation's scores up and leave a tail below: a high centre and a negative skew are two
    symptoms of one cause. Where they do not go together, relations differ in something else, such as the level
    of their scores, and the features should not be trusted with the share of true triples.
    """
    weight = counts / counts.sum()
    together = float(weight @ ((centre - weight @ centre) * (weight @ skew - skew)))
    unshrunk = together / (weight @ (counts / (counts + TUNED.shrink)) ** 2)
    return float(np.clip(unshrunk / TUNED.strong, 0, 1))


def _looks_listed(pool: ScoredTriples) -> float:
    """Return how much a pool looks like lists of answers to questions, 0 ... 1.

    A model's own proposals are its best few answers to each question (a head and a relation, or a relation and a tail),
    and few of them are true. So nearly every question of one side has several candidates. In other pools some have,
    too: there are entities that stand in one relation to many others.
    """
    several = max(_share_with_several(pool, ends) for ends in (pool.heads, pool.tails))
    few, most = TUNED.listed_between
    return float(np.clip((several - few) / (most - few), 0, 1))


def _share_with_several(pool: ScoredTriples, ends: IntArray) -> float:
    """Return which share of the questions that begin (or end) with these entities has several candidates."""
    questions = ends.astype(np.int64) * len(pool.relation_names) + pool.relations
    counts = np.unique(questions, return_counts=True)[1]
    return float((counts >= TUNED.several).mean())
