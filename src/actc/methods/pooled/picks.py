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
    before, after = int(question * checks), int((question + 1) * checks)
    if before == after:
        return ""
    rejected = tuned.CHECKS["rejected"] / checks
    return "accepted" if int(before * rejected) == int(after * rejected) else "rejected"


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
    picked: list[tuple[int, str, str, float, str]] = []
    gain_share = 1 - sum(tuned.CHECKS.values())
    while len(picked) < count and left.left.any():
        gains.gains[~left.left.any(axis=0)] = -np.inf
        relation, point = gains.best()
        near, frame = left.near(relation, point), which_set(len(annotations) + len(picked))
        place, frame = left.draw(frame, random) if frame else (int(random.choice(near)), "")
        probability = left.check_probability(place) + gain_share * float((near == place).any() / len(near))
        if not frame:
            gains.label(relation, point)
        gain = first[relation, point]
        others = "another decision" if gain < 1.5 else f"about {gain:.0f} other decisions"
        reason = RANDOM_CHECK if frame else f"Your answer may also correct {others}."
        selection = "gain" if not frame else "random" if frame == "pool" else "check"
        picked.append((int(pool.members[place]), selection, frame, probability, reason))
        left.take(place)
    rows, selections, frames, probabilities, reasons = zip(*picked, strict=True) if picked else ((),) * 5
    drawn = {"selection": selections, "sampling_frame": frames, "inclusion_probability": probabilities}
    return Picks(np.array(rows, dtype=np.int64), reasons, **drawn)


FRAMES = ("rejected", "accepted")


class Unjudged:
    """The places (rows grouped by relation, then score) that nobody judged, and random draws from them."""

    def __init__(self, pool: PreparedPool, annotations: Annotations, accepted: IntArray) -> None:
        self.pool, self.free, size = pool, np.ones(len(pool), dtype=np.bool_), len(accepted)
        # (3, R) where each relation's rejected rows begin, and its accepted ones, and where these end
        self.bounds = np.stack([pool.starts[:size], pool.starts[1 : size + 1] - accepted, pool.starts[1 : size + 1]])
        self.left = np.diff(self.bounds, axis=0)  # (2, R) of each of ``FRAMES``
        relations = pool.relations[annotations.rows]
        self.drawn = np.stack(
            [np.bincount(relations[annotations.sampling_frame == frame], minlength=size) for frame in FRAMES]
        )
        for place in pool.places[annotations.rows].tolist():
            self.take(place)

    def take(self, place: int) -> None:
        """Mark a place as judged."""
        self.left[self._set_of(place)] -= 1
        self.free[place] = False

    def _set_of(self, place: int) -> tuple[int, int]:
        relation = int(self.pool.relations[self.pool.members[place]])
        return int(place >= self.bounds[1, relation]), relation

    def draw(self, frame: str, random: np.random.Generator) -> tuple[int, str]:
        """Return a place of the set and the set; of the whole pool, where nothing of the set is left."""
        side, (start, end) = FRAMES.index(frame), (0, len(self.pool))
        if self.left[side].any():
            weights = np.cumsum(self._weights(side))
            relation = int(np.searchsorted(weights, random.random() * weights[-1], side="right"))
            self.drawn[side, relation] += 1
            start, end = self.bounds[side : side + 2, relation].tolist()
        else:
            frame = "pool"
        return start + int(random.choice(np.flatnonzero(self.free[start:end]))), frame

    def _weights(self, side: int) -> IntArray:
        """Return how often a check takes each relation, against others: more often where one is due."""
        left, drawn = self.left[side], self.drawn[side]
        is_due = (drawn == 0) & (left * (drawn.sum() + 1) >= 2 * left.sum())  # two checks were expected by now
        return np.asarray(left * np.where(is_due, tuned.DUE, 1))

    def check_probability(self, place: int) -> float:
        """Return the probability that a question is a check, and about this place."""
        side, relation = self._set_of(place)
        weights = self._weights(side)
        of_set = tuned.CHECKS[FRAMES[side]] * weights[relation] / (self.left[side, relation] * weights.sum())
        of_pool = sum(tuned.CHECKS[frame] for frame, left in zip(FRAMES, self.left, strict=True) if not left.any())
        return float(of_set + of_pool / self.left.sum())

    def near(self, relation: int, point: int) -> IntArray:
        """Return the unjudged places of a relation that a point stands for; where none is left, the nearest one."""
        start, count = int(self.pool.starts[relation]), int(self.pool.counts[relation])
        low, high = start + point * count // tuned.POINTS, start - (-(point + 1) * count // tuned.POINTS)
        places = low + np.flatnonzero(self.free[low:high])
        if len(places):
            return places
        places = start + np.flatnonzero(self.free[start : start + count])
        return places[[np.argmin(np.maximum(low - places, places - high + 1))]]


def pick_rare(
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
    everywhere[free] = np.bincount(relations)[relations[free]] ** -0.5
    of_list[top] = 1.0
    p = (1 - share) * everywhere / everywhere.sum() + share * of_list / of_list.sum()
    rows = random.choice(size, min(count, len(free)), replace=False, p=p / p.sum())
    left = 1 - np.append(0.0, np.cumsum(p[rows])[:-1])  # of the probability, when each is drawn
    probability = p[rows] / np.maximum(left, p[rows])
    return Picks(rows, RANDOM_CHECK, selection="random", sampling_frame="pool", inclusion_probability=probability)
