"""Which triple should be judged next, for the most right decisions in the pool?

A label moves the line of its relation, and with it the decisions that are near the edge. What one label is
expected to bring is computed at a few points per relation, in closed form. Of the pool's triples a pick reads only
which of them were judged and which are accepted.
"""

from __future__ import annotations

import numpy as np

from actc.data.answers import Annotations, Picks
from actc.data.numeric import line_heights, moderate, moderation, psi, sigmoid, table_heights
from actc.data.triples import FloatArray, IntArray
from actc.methods.pooled import tuned
from actc.methods.pooled.features import PreparedPool
from actc.methods.pooled.model import Posterior

RANDOM_CHECK = "A random check, to keep the estimates honest."
"""The reason of a triple that was drawn; it does not show what would be decided now, which would influence people."""
_AT_ONCE = 256  # relations whose tables of pairs of points are in memory


def which_set(question: int) -> str:
    """Return the set that a question is drawn from, by its number; empty where an answer shall bring most.

    Both kinds of checks come from the first questions on, each in its share, evenly spread.
    """
    checks = sum(tuned.CHECKS.values())
    before = int(question * checks)
    if int((question + 1) * checks) == before:
        return ""
    rejected = tuned.CHECKS["rejected"] / checks
    return "rejected" if int((before + 1) * rejected) > int(before * rejected) else "accepted"


def point_of(pool: PreparedPool, row: int) -> tuple[int, int]:
    """Return a row's relation, and which point of it stands for the row."""
    relation = int(pool.relations[row])
    place = int(pool.places[row] - pool.starts[relation])
    return relation, min(place * tuned.POINTS // max(int(pool.counts[relation]), 1), tuned.POINTS - 1)


class ExpectedGains:
    """What a label at each point of each relation is expected to bring, updated as a batch grows.

    ``gains`` has the shape (R, Q). A label counts for its own relation only.
    """

    def __init__(self, posterior: Posterior) -> None:
        self.basis = psi(posterior.pool.points[:-1])  # (R, Q, 3)
        self.mean = table_heights(self.basis, posterior.beta[:-1])  # (R, Q)
        self.share = posterior.pool.counts[:-1] / tuned.POINTS  # (R,) triples that a point stands for
        self.covariance = posterior.covariance[:-1].copy()  # (R, 3, 3), which shrinks
        parts = range(0, len(self.mean), _AT_ONCE)
        self.gains = np.concatenate([self._compute(slice(start, start + _AT_ONCE)) for start in parts])

    def _compute(self, relations: slice) -> FloatArray:
        from scipy.special import ndtr

        basis, mean = self.basis[relations], self.mean[relations]
        pairs = basis @ self.covariance[relations] @ basis.transpose(0, 2, 1)
        variance = np.diagonal(pairs, axis1=1, axis2=2)
        k = 1 / moderation(variance)
        p = sigmoid(mean * k)
        w = np.maximum(p * (1 - p), 1e-9)
        s = np.maximum(np.abs(pairs) * (1 / np.sqrt(variance + 1 / w))[..., None], 1e-300)  # (r, j, e)
        t = np.abs(mean)[:, None, :] / s
        loss = np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi) - t * ndtr(-t)
        return np.asarray(np.maximum(np.einsum("rje,rje,re->rj", s, loss, 0.5 * k * self.share[relations, None]), 0.0))

    def best(self) -> tuple[int, int]:
        """Return the relation and the point with the largest gain; ties to the lowest."""
        relation, point = np.unravel_index(self.gains.argmax(), self.gains.shape)
        return int(relation), int(point)

    def label(self, relation: int, point: int) -> None:
        """Take away what a label at a point would teach about its relation, whatever it will be."""
        one = slice(relation, relation + 1)
        basis, V = self.basis[one, point], self.covariance[one]
        reach = (V @ basis[:, :, None])[..., 0]
        variance = line_heights(basis, reach)
        p = moderate(self.mean[one, point], variance)
        w = np.maximum(p * (1 - p), 1e-9)
        less = w / (1 + w * variance)
        self.covariance[one] = V - reach[:, :, None] * reach[:, None, :] * less[:, None, None]
        self.gains[one] = self._compute(one)


def pick_expected_gain(
    posterior: Posterior, annotations: Annotations, count: int, random: np.random.Generator, accepted: IntArray
) -> Picks:
    """Return the next triples to judge: where answers bring most, and random draws that check what is decided now.

    Every question has its inclusion probability: that a check draws it, or that it is taken of the members of the point
    where an answer brings most, whichever way it came about. ``accepted`` is how many rows of each relation, those with
    the highest scores, are accepted now. Fewer than ``count`` come back where the pool has fewer left.
    """
    pool, left = posterior.pool, Unjudged(posterior.pool, annotations, accepted)
    gains = ExpectedGains(posterior)
    first = gains.gains.copy()
    gains.gains[left.of_relation() == 0] = -np.inf
    picked: list[tuple[int, str, str, float, str]] = []
    gain_share = 1 - sum(tuned.CHECKS.values())
    while len(picked) < count and left.of_relation().any():
        relation, point = gains.best()
        frame = which_set(len(annotations) + len(picked))
        place, frame = left.draw(frame, random) if frame else (left.draw_near(relation, point, random), "")
        probability = left.check_probability(place) + gain_share * left.near_probability(relation, point, place)
        if not frame:
            gains.label(relation, point)
        row = int(pool.members[place])
        reason = RANDOM_CHECK if frame else _gain_in_words(float(first[point_of(pool, row)]))
        selection = "gain" if not frame else "random" if frame == "pool" else "check"
        picked.append((row, selection, frame, probability, reason))
        left.take(place)
        taken = pool.relations[row]
        if left.of_relation()[taken] == 0:
            gains.gains[taken] = -np.inf
    rows, selections, frames, probabilities, reasons = zip(*picked, strict=True) if picked else ((),) * 5
    drawn = {"selection": selections, "sampling_frame": frames, "inclusion_probability": probabilities}
    return Picks(np.array(rows, dtype=np.int64), reasons, **drawn)


def _gain_in_words(gain: float) -> str:
    if gain < 0.05:
        return "It is where an answer still teaches the most, though little."
    return f"An answer here is expected to put about {gain:.1f} other decisions right."


class Unjudged:
    """The places (rows grouped by relation, then score) that nobody judged, and random draws from them."""

    def __init__(self, pool: PreparedPool, annotations: Annotations, accepted: IntArray) -> None:
        def count(relations: IntArray) -> IntArray:
            return np.bincount(relations, minlength=len(accepted))

        self.pool, self.free = pool, np.ones(len(pool), dtype=np.bool_)
        places, relations = pool.places[annotations.rows], pool.relations[annotations.rows]
        self.free[places] = False
        self.bottom = pool.starts[1 : len(accepted) + 1] - accepted  # from which place on a relation is accepted
        judged = places >= self.bottom[relations]
        self.left = {
            "accepted": accepted - count(relations[judged]),
            "rejected": pool.counts[:-1] - accepted - count(relations[~judged]),
        }
        self.drawn = {frame: count(relations[annotations.sampling_frame == frame]) for frame in self.left}

    def of_relation(self) -> IntArray:
        """Return how many of each relation are left, shape (R,)."""
        return self.left["accepted"] + self.left["rejected"]

    def take(self, place: int) -> None:
        """Mark a place as judged."""
        frame, relation = self._set_of(place)
        self.left[frame][relation] -= 1
        self.free[place] = False

    def _set_of(self, place: int) -> tuple[str, int]:
        relation = int(self.pool.relations[self.pool.members[place]])
        return "accepted" if place >= self.bottom[relation] else "rejected", relation

    def _draw_between(self, start: int, end: int, random: np.random.Generator) -> int:
        """Return a uniform one of the unjudged places from ``start`` to ``end``, which is not among them."""
        free = np.flatnonzero(self.free[start:end])
        return start + int(free[random.integers(len(free))])

    def draw(self, frame: str, random: np.random.Generator) -> tuple[int, str]:
        """Return a place of the set and the set; of the whole pool, where nothing of the set is left."""
        left, drawn = self.left[frame], self.drawn[frame]
        if not left.any():
            return self._draw_between(0, len(self.pool), random), "pool"
        share = np.cumsum(left * self._favour(frame))
        relation = int(np.searchsorted(share, random.random() * share[-1], side="right"))
        drawn[relation] += 1
        start, bottom, end = self.pool.starts[relation], self.bottom[relation], self.pool.starts[relation + 1]
        return self._draw_between(*((bottom, end) if frame == "accepted" else (start, bottom)), random), frame

    def _favour(self, frame: str) -> IntArray:
        """Return how often a check takes a place of each relation, against others: more often where one is due."""
        left, drawn = self.left[frame], self.drawn[frame]
        is_due = (drawn == 0) & (left * (drawn.sum() + 1) >= 2 * left.sum())  # two checks were expected by now
        return np.where(is_due, tuned.DUE, 1)

    def check_probability(self, place: int) -> float:
        """Return the probability that a question is a check, and about this place."""
        frame, relation = self._set_of(place)
        left, favour = self.left[frame], self._favour(frame)
        of_pool = sum(share for one, share in tuned.CHECKS.items() if not self.left[one].any())
        return float(tuned.CHECKS[frame] * favour[relation] / (left @ favour) + of_pool / left.sum())

    def draw_near(self, relation: int, point: int, random: np.random.Generator) -> int:
        """Return a uniform one of the places that a point stands for, else the nearest of the relation."""
        low, high = self._bounds(relation, point)
        if self.free[low:high].any():
            return self._draw_between(low, high, random)
        start, end = self.pool.starts[relation : relation + 2].tolist()
        free = start + np.flatnonzero(self.free[start:end])  # the caller asks only for relations with something left
        return int(free[np.argmin(np.where(free < low, low - free, free - high + 1))])

    def near_probability(self, relation: int, point: int, place: int) -> float:
        """Return the probability that :meth:`draw_near` takes a place."""
        low, high = self._bounds(relation, point)
        left = np.count_nonzero(self.free[low:high])
        if left:
            return 1 / left if low <= place < high else 0.0
        return float(self.pool.starts[relation] <= place < self.pool.starts[relation + 1])

    def _bounds(self, relation: int, point: int) -> tuple[int, int]:
        """Return the first place that a point stands for, and the one after its last."""
        start, count = int(self.pool.starts[relation]), int(self.pool.counts[relation])
        return start + point * count // tuned.POINTS, start - (-(point + 1) * count // tuned.POINTS)


def pick_listed(
    probabilities: FloatArray, relations: IntArray, answers: Annotations, count: int, random: np.random.Generator
) -> Picks:
    """Draw the next triples to judge, where true ones are rare, each with a known probability.

    Part of the questions are drawn evenly from a list of the most probable ones, the others from all. Of these, a
    relation with four times as many triples has twice as many questions: the rates of all relations are soon known.
    """
    size = len(probabilities)
    free = np.setdiff1d(np.arange(size), answers.rows)
    if not len(free):
        return Picks(free)
    length = max(int(tuned.LIST_SHARE * len(free)), tuned.LEAST_LIST)
    top = free[np.argsort(-probabilities[free], kind="stable")[:length]]
    least, most = tuned.FROM_LIST
    share = least + (most - least) * float(probabilities[top].mean())
    everywhere, of_list = np.zeros((2, size))
    everywhere[free] = np.maximum(np.bincount(relations), 1)[relations[free]] ** -0.5
    of_list[top] = 1.0
    p = (1 - share) * everywhere / everywhere.sum() + share * of_list / of_list.sum()
    rows = random.choice(size, min(count, len(free)), replace=False, p=p / p.sum())
    left = 1 - np.append(0.0, np.cumsum(p[rows])[:-1])  # of the probability, when each is drawn
    probability = np.minimum(p[rows] / np.maximum(left, p[rows]), 1.0)
    return Picks(rows, RANDOM_CHECK, selection="random", sampling_frame="pool", inclusion_probability=probability)
