"""Which triple should be judged next, for the most right decisions in the pool?

A label moves the line of its relation, and with it the decisions that are near the edge. What one label is
expected to bring is worked out at a few points per relation, in closed form, so a pick costs the same
whatever the pool's size.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from functools import partial

import numpy as np

from actc.data.numeric import line_heights, moderate, moderation, psi, sigmoid, table_heights
from actc.data.triples import Annotations, FloatArray, IntArray, Picks
from actc.methods.pooled.features import POINTS, PreparedPool
from actc.methods.pooled.model import Posterior
from actc.methods.pooled.tuned import TUNED

RANDOM_CHECK = "A random check, to keep the estimates honest."
"""Why a triple that was drawn is asked; nothing in it says what would be decided now, which would sway people."""
SHARES = {"accepted": TUNED.check_accepted, "rejected": TUNED.check_rejected}
"""Which share of the questions is drawn from each set."""
_DENSITY_AT_0 = 1 / np.sqrt(2 * np.pi)
_AT_ONCE = 256  # relations whose tables of pairs of points are in memory
_CHUNK = 16  # relations worked out at a time, the most promising first
_AHEAD = 4  # relations of which the label after the next is worked out at a time


def which_set(question: int) -> str:
    """Return the set that a question is drawn from, by its number; empty where an answer shall teach most.

    Both kinds of checks come from the first questions on, each in its share, evenly spread.
    """
    checks = sum(SHARES.values())
    before = int(question * checks)
    if int((question + 1) * checks) == before:
        return ""
    rejected = SHARES["rejected"] / checks
    return "rejected" if int((before + 1) * rejected) > int(before * rejected) else "accepted"


def batch_size(count: int) -> int:
    """Return how many triples to pick after ``count`` labels before the model is fitted again."""
    return max(1, count // TUNED.labels_per_batch)


def _in_parts(count: int) -> list[slice]:
    return [slice(start, start + _AT_ONCE) for start in range(0, count, _AT_ONCE)]


def points_of(pool: PreparedPool, rows: IntArray) -> IntArray:
    """Return which point of its relation stands for each row, shape (n,)."""
    relations = pool.relations[rows]
    place = pool.places[rows] - pool.starts[relations]
    return np.asarray(np.minimum(place * POINTS // np.maximum(pool.counts[relations], 1), POINTS - 1))


@dataclass(eq=False)
class _Board:
    """The points of all relations and how uncertain each is now; ``covariance`` shrinks as a batch grows."""

    basis: FloatArray  # (R, Q, 3)
    mean: FloatArray  # (R, Q)
    share: FloatArray  # (R,) triples that a point stands for
    covariance: FloatArray  # (R, 3, 3)

    @classmethod
    def of(cls, posterior: Posterior) -> _Board:
        basis = psi(posterior.pool.points[:-1])
        mean = table_heights(basis, posterior.beta[:-1])
        return cls(basis, mean, posterior.pool.counts[:-1] / POINTS, posterior.covariance[:-1].copy())

    def _moments(self, relations: IntArray | slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return |cov| of all pairs of points, each one's weight, and its scale of s."""
        basis = self.basis[relations]
        pairs = basis @ self.covariance[relations] @ basis.transpose(0, 2, 1)
        variance = np.diagonal(pairs, axis1=1, axis2=2)
        k = 1 / moderation(variance)
        p = sigmoid(self.mean[relations] * k)
        w = np.maximum(p * (1 - p), 1e-9)
        scale = 1 / np.sqrt(variance + 1 / w)
        return np.abs(pairs), 0.5 * k * self.share[relations, None], scale

    def bounds(self) -> FloatArray:
        """Return a gain that no point of each relation exceeds, shape (R,), without a transcendental function.

        phi(t) - t Phi(-t) <= phi(0) / (1 + sqrt(pi/2) t + t^2).
        """
        found = np.empty(len(self.mean))
        for some in _in_parts(len(found)):
            pairs, weight, scale = self._moments(some)
            s = np.maximum(pairs * scale[..., None], 1e-300)
            t = np.abs(self.mean[some])[:, None, :] / s
            pairs /= 1 + t * (np.sqrt(np.pi / 2) + t)
            most = scale * (pairs @ weight[:, :, None])[..., 0]
            found[some] = most.max(axis=1) * _DENSITY_AT_0 * (1 + 1e-12)
        return found

    def gains(self, relations: IntArray) -> FloatArray:
        """Return the expected gain of a label at each point of some relations, shape (r, Q)."""
        from scipy.special import ndtr

        pairs, weight, scale = self._moments(relations)
        s = np.maximum(pairs * scale[..., None], 1e-300)  # (r, j, e)
        t = np.abs(self.mean[relations])[:, None, :] / s
        loss = _DENSITY_AT_0 * np.exp(-0.5 * t * t) - t * ndtr(-t)
        return np.asarray(np.maximum(np.einsum("rje,rje,re->rj", s, loss, weight), 0.0))

    def label(self, relations: IntArray, points: IntArray) -> None:
        """Take away what a label at a point of each of some relations would teach about it, whatever it will say."""
        basis, V = self.basis[relations, points], self.covariance[relations]
        reach = (V @ basis[:, :, None])[..., 0]
        variance = line_heights(basis, reach)
        p = moderate(self.mean[relations, points], variance)
        w = np.maximum(p * (1 - p), 1e-9)
        less = w / (1 + w * variance)
        self.covariance[relations] = V - reach[:, :, None] * reach[:, None, :] * less[:, None, None]


class _Race:
    """The best point of the board, worked out only for relations whose bound is not beaten already.

    A label counts for its own relation only, so what a relation has to offer after its next label does not depend on
    the others: it is worked out ahead, for several of the leading relations in one go.
    """

    def __init__(self, board: _Board, open_relations: np.ndarray) -> None:
        self.board = board
        self.bound = np.where(open_relations, board.bounds(), -np.inf)
        self.best = np.full(len(self.bound), -np.inf)  # exact, where worked out
        self.point = np.zeros(len(self.bound), dtype=np.int64)
        self.next_best, self.next_point = self.best.copy(), self.point.copy()
        self.is_ahead = np.zeros(len(self.bound), dtype=np.bool_)  # whether these and the board are one label ahead
        self.at_first: dict[int, FloatArray] = {}  # gains before anything was picked, where worked out

    def work_out(self, relations: IntArray) -> None:
        gains = self.board.gains(relations)
        self.at_first.update(zip(relations.tolist(), gains, strict=True))
        self.point[relations] = gains.argmax(axis=1)
        self.best[relations] = gains.max(axis=1)
        self.bound[relations] = -np.inf

    def leader(self) -> tuple[int, int, float]:
        """Return the best relation, its best point and the gain; ties to the lowest."""
        while self.bound.max() >= self.best.max() and np.isfinite(self.bound.max()):
            order = _smallest(-self.bound, _CHUNK)
            self.work_out(order[np.isfinite(self.bound[order])])
        relation = int(self.best.argmax())
        return relation, int(self.point[relation]), float(self.best[relation])

    def label(self, relation: int) -> None:
        """Count on a label at the best point of a relation."""
        if not self.is_ahead[relation]:
            self._look_ahead()
        self.best[relation], self.point[relation] = self.next_best[relation], self.next_point[relation]
        self.is_ahead[relation] = False

    def _look_ahead(self) -> None:
        """Work out what the leading relations have to offer after one more label each."""
        order = _smallest(np.where(self.is_ahead, np.inf, -self.best), _AHEAD)
        order = order[np.isfinite(self.best[order]) & ~self.is_ahead[order]]
        self.board.label(order, self.point[order])
        gains = self.board.gains(order)
        self.next_point[order], self.next_best[order] = gains.argmax(axis=1), gains.max(axis=1)
        self.is_ahead[order] = True

    def close(self, relation: int) -> None:
        self.bound[relation] = self.best[relation] = -np.inf


def _smallest(values: FloatArray, count: int) -> IntArray:
    """Return the places of the smallest values, the smallest first, ties to the lowest place; quicker than a sort."""
    edge = np.partition(values, min(count, len(values)) - 1)[min(count, len(values)) - 1]
    places = np.flatnonzero(values <= edge)
    return np.asarray(places[np.argsort(values[places], kind="stable")[:count]])


def best_pick(posterior: Posterior) -> tuple[int, int, float]:
    """Return the relation and the point where a label brings most, and how many right decisions."""
    return _Race(_Board.of(posterior), posterior.pool.counts[:-1] > 0).leader()


def pick_expected_gain(
    posterior: Posterior, annotations: Annotations, count: int, random: np.random.Generator, accepted: IntArray
) -> Picks:
    """Return the next triples to judge: where answers teach most, and random draws that check what is decided now.

    Every question has its inclusion probability beside it: of being drawn by a check, or of being the member that was
    taken of the point where an answer teaches most, whichever way it came about.

    Parameters
    ----------
    posterior : Posterior
        The fit on ``annotations``.
    annotations : Annotations
        What has been judged.
    count : int
        How many are wanted; fewer come back where the pool has fewer left.
    random : numpy.random.Generator
        Chooses among the members of a point or of a set.
    accepted : int array of shape (R,)
        How many rows of each relation, those with the highest scores, are accepted now.
    """
    pool = posterior.pool
    free = _Unlabelled(pool, annotations)
    race = _Race(_Board.of(posterior), free.left > 0)
    checks = _Checks(free, accepted, annotations)
    found: list[tuple[int, str, str, float]] = []
    while len(found) < count and free.total > 0:
        leader, point, _ = race.leader()
        frame = which_set(len(annotations) + len(found))
        place, frame = checks.draw(frame, random) if frame else (free.near_point(leader, point, random), "")
        probability = checks.probability(place) + free.probability_near(leader, point, place) * (
            1 - sum(SHARES.values())
        )
        if not frame:
            race.label(leader)
        selection = "gain" if not frame else "random" if frame == "pool" else "check"
        found.append((place, selection, frame, probability))
        checks.take(place)
        relation = free.take(place)
        if free.left[relation] == 0:
            race.close(relation)
    return _explain(pool, found, race)


class _Checks:
    """Random draws from what is accepted now, and from the rest.

    Parameters
    ----------
    free : _Unlabelled
    accepted : int array of shape (R,)
        How many rows of each relation, those with the highest scores, are accepted now.
    annotations : Annotations
        What has been judged; earlier checks count for the spread.
    """

    def __init__(self, free: _Unlabelled, accepted: IntArray, annotations: Annotations) -> None:
        self.free, pool = free, free.pool
        self.bottom = pool.starts[1 : len(accepted) + 1] - accepted  # from which place on a relation is accepted
        relations = pool.relations[annotations.rows]
        judged = pool.places[annotations.rows] >= self.bottom[relations]
        count = partial(np.bincount, minlength=len(accepted))
        self.left = {
            "accepted": accepted - count(relations[judged]),
            "rejected": pool.counts[:-1] - accepted - count(relations[~judged]),
        }
        self.drawn = {frame: count(relations[annotations.sampling_frame == frame]) for frame in self.left}

    def _set_of(self, place: int) -> tuple[str, int]:
        relation = int(self.free.pool.relations[self.free.pool.members[place]])
        return "accepted" if place >= self.bottom[relation] else "rejected", relation

    def take(self, place: int) -> None:
        """Mark a place as judged."""
        frame, relation = self._set_of(place)
        self.left[frame][relation] -= 1

    def draw(self, frame: str, random: np.random.Generator) -> tuple[int, str]:
        """Return a place of the set and the set; of the whole pool, where nothing of the set is left."""
        left, drawn = self.left[frame], self.drawn[frame]
        if not left.any():
            return self.free.any_place(random), "pool"
        # None that brings many goes unlooked: a relation that should have had two checks by now comes first.
        due = left * (left * (drawn.sum() + 1) >= 2 * left.sum()) * (drawn == 0)
        share = np.cumsum(due if due.any() else left)
        relation = int(np.searchsorted(share, random.random() * share[-1], side="right"))
        drawn[relation] += 1
        start = self.bottom if frame == "accepted" else self.free.pool.starts
        first = self.free.rank(int(start[relation]))
        return self.free.place(first + int(random.integers(left[relation]))), frame

    def probability(self, place: int) -> float:
        """Return the probability that a question is a check, and about this place."""
        frame, _ = self._set_of(place)
        share = sum(share for one, share in SHARES.items() if one == frame or not self.left[one].any())
        return float(share / self.left[frame].sum())


def _explain(pool: PreparedPool, found: list[tuple[int, str, str, float]], race: _Race) -> Picks:
    """Return the picks with their reasons, by what an answer was expected to bring before any of them."""
    places = np.array([place for place, *_ in found], dtype=np.int64)
    rows = pool.members[places]
    chosen = zip(found, pool.relations[rows].tolist(), points_of(pool, rows).tolist(), strict=True)
    reasons = [RANDOM_CHECK if one[2] else _gain_in_words(race.at_first[r][point]) for one, r, point in chosen]
    selection, sampling_frame = (np.array([one[at] for one in found], dtype=object) for at in (1, 2))
    return Picks(rows, selection, sampling_frame, np.array([one[3] for one in found]), np.array(reasons, dtype=object))


def _gain_in_words(gain: float) -> str:
    if gain < 0.05:
        return "It is where an answer still teaches the most, though little."
    return f"An answer here is expected to put about {gain:.1f} other decisions right."


class _Unlabelled:
    """The places (rows grouped by relation, then score) nobody judged, found by rank, never listed."""

    def __init__(self, pool: PreparedPool, annotations: Annotations) -> None:
        self.pool = pool
        self.taken: list[int] = np.sort(pool.places[annotations.rows]).tolist()  # a list: one more is put in quickly
        judged = np.bincount(pool.relations[annotations.rows], minlength=len(pool.counts))
        self.left = (pool.counts - judged)[:-1]
        self.total = len(pool) - len(annotations)

    def take(self, place: int) -> int:
        """Mark a place as judged and return its relation."""
        insort(self.taken, place)
        relation = int(self.pool.relations[self.pool.members[place]])
        self.left[relation] -= 1
        self.total -= 1
        return relation

    def rank(self, place: int) -> int:
        """Return how many unlabelled places stand before one."""
        return place - bisect_left(self.taken, place)

    def place(self, rank: int) -> int:
        """Return the unlabelled place that has ``rank`` others before it."""
        return rank + bisect_right(range(len(self.taken)), rank, key=lambda at: self.taken[at] - at)

    def any_place(self, random: np.random.Generator) -> int:
        """Return a uniform one of them."""
        return self.place(int(random.integers(self.total)))

    def near_point(self, relation: int, point: int, random: np.random.Generator) -> int:
        """Return a uniform one of those that a point stands for, else the nearest of the relation."""
        start, count = int(self.pool.starts[relation]), int(self.pool.counts[relation])
        low, high = self._bounds(relation, point)
        first, last = self.rank(low), self.rank(high)
        if first < last:
            return self.place(int(random.integers(first, last)))
        below = self.place(first - 1) if first > self.rank(start) else None
        above = self.place(first) if first < self.rank(start + count) else None
        if below is None or (above is not None and above - high + 1 < low - below):
            assert above is not None  # the caller asks only for relations with something left
            return above
        return below

    def probability_near(self, relation: int, point: int, place: int) -> float:
        """Return the probability that :meth:`near_point` takes a place."""
        low, high = self._bounds(relation, point)
        left = self.rank(high) - self.rank(low)
        return 1 / left if left and low <= place < high else float(not left and self._is_of(relation, place))

    def _is_of(self, relation: int, place: int) -> bool:
        return bool(self.pool.starts[relation] <= place < self.pool.starts[relation + 1])

    def _bounds(self, relation: int, point: int) -> tuple[int, int]:
        """Return the first place that a point stands for, and the one after its last."""
        start, count = int(self.pool.starts[relation]), int(self.pool.counts[relation])
        return start + point * count // POINTS, start - (-(point + 1) * count // POINTS)
