"""Which triple should be judged next, for the most right decisions in the pool?

A label moves the line of its relation, and with it the decisions that are near the edge. What one label is
expected to bring is worked out at a few points per relation, in closed form, so a pick costs the same
whatever the pool's size.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from actc.numeric import line_heights, line_variances, moderate, moderation, psi, sigmoid, table_heights
from actc.pooled.features import POINTS, PreparedPool
from actc.pooled.model import Posterior
from actc.pooled.tuned import TUNED
from actc.triples import Annotations, FloatArray, IntArray, Picks

RANDOM_CHECK = "A random check, to keep the estimates honest."
PROMISE_CHECK = "A random check of what would be accepted, so that its precision can be promised."
_IMAGINED = np.array(TUNED.imagined)
_DENSITY_AT_0 = 1 / np.sqrt(2 * np.pi)
_CHUNK = 16  # relations worked out at a time, the most promising first
_AHEAD = 4  # relations of which the label after the next is worked out at a time


def is_audit(count: int) -> bool:
    """Say whether the pick after ``count`` labels is a uniform one."""
    return count >= TUNED.audit_from and count % TUNED.audit_every == 0


def is_promise_check(count: int) -> bool:
    """Say whether the pick after ``count`` labels checks what would be accepted, where a promise is wanted."""
    return count >= TUNED.check_from and count % TUNED.check_every == 1 and not is_audit(count)


def batch_size(count: int) -> int:
    """Return how many triples to pick after ``count`` labels before the model is fitted again."""
    return max(1, count // TUNED.labels_per_batch)


@lru_cache(maxsize=4)  # a posterior is frozen and compared by identity, so its gains are worked out once
def expected_gains(posterior: Posterior) -> FloatArray:
    """Return what a label at each point is expected to bring in right decisions, shape (R, POINTS)."""
    board = _Board.of(posterior)
    gains = board.gains(np.arange(len(posterior.pool.relation_names)))
    gains.flags.writeable = False
    return gains


def gains_of(posterior: Posterior, rows: IntArray) -> FloatArray:
    """Return the right decisions that a label on each of some rows of the pool is expected to bring, shape (n,)."""
    gains: FloatArray = expected_gains(posterior)[posterior.pool.relations[rows], points_of(posterior.pool, rows)]
    return gains


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
        return cls(basis, mean, posterior.pool.sizes[:-1] / POINTS, posterior.covariance[:-1].copy())

    def _moments(self, relations: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return |cov| of all pairs of points, each one's weight, and its scale of s for each m."""
        basis = self.basis[relations]
        pairs = basis @ self.covariance[relations] @ basis.transpose(0, 2, 1)
        variance = np.diagonal(pairs, axis1=1, axis2=2)
        k = 1 / moderation(variance)
        p = sigmoid(self.mean[relations] * k)
        w = np.maximum(p * (1 - p), 1e-9)
        scale = 1 / np.sqrt(variance + 1 / (_IMAGINED[:, None, None] * w))  # (m, r, j)
        return np.abs(pairs), 0.5 * k * self.share[relations, None], scale

    def bounds(self) -> FloatArray:
        """Return a gain that no point of each relation exceeds, shape (R,), without a transcendental function.

        phi(t) - t Phi(-t) <= phi(0) / (1 + sqrt(pi/2) t + t^2), and t is smallest for the most imagined labels.
        """
        pairs, weight, scale = self._moments(np.arange(len(self.mean)))
        s = np.maximum(pairs * scale[-1][..., None], 1e-300)
        t = np.abs(self.mean)[:, None, :] / s
        pairs /= 1 + t * (np.sqrt(np.pi / 2) + t)
        most = (scale / _IMAGINED[:, None, None]).max(axis=0) * (pairs @ weight[:, :, None])[..., 0]
        return np.asarray(most.max(axis=1) * _DENSITY_AT_0 * (1 + 1e-12))

    def gains(self, relations: IntArray) -> FloatArray:
        """Return the expected gain of a label at each point of some relations, shape (r, Q)."""
        from scipy.special import ndtr

        pairs, weight, scale = self._moments(relations)
        edge = np.abs(self.mean[relations])[None, :, None, :]
        s = np.maximum(pairs * scale[..., None], 1e-300)  # (m, r, j, e)
        t = edge / s
        loss = _DENSITY_AT_0 * np.exp(-0.5 * t * t) - t * ndtr(-t)
        gain = np.einsum("mrje,mrje,re->mrj", s, loss, weight) / _IMAGINED[:, None, None]
        return np.asarray(np.maximum(gain.max(axis=0), 0.0))

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
            order = np.argsort(-self.bound, kind="stable")[:_CHUNK]
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
        order = np.argsort(np.where(self.is_ahead, np.inf, -self.best), kind="stable")[:_AHEAD]
        order = order[np.isfinite(self.best[order]) & ~self.is_ahead[order]]
        self.board.label(order, self.point[order])
        gains = self.board.gains(order)
        self.next_point[order], self.next_best[order] = gains.argmax(axis=1), gains.max(axis=1)
        self.is_ahead[order] = True

    def close(self, relation: int) -> None:
        self.bound[relation] = self.best[relation] = -np.inf


def find_promised(posterior: Posterior, precision: float) -> IntArray:
    """Return from which place on each relation would be accepted under a promise, shape (R,); its end if from none.

    The list takes the most probable points first, as long as the model expects somewhat more of it than is promised.
    """
    pool = posterior.pool
    board = _Board.of(posterior)
    variance = line_variances(board.basis, board.covariance[:, None])
    p = np.maximum.accumulate(moderate(board.mean, variance), axis=1)
    order = np.argsort(-p, axis=None, kind="stable")
    weight = np.repeat(board.share, POINTS)[order]
    until = np.cumsum(weight)
    expected = np.cumsum(weight * p.ravel()[order]) / np.maximum(until, 1e-9)
    aim = precision + TUNED.check_above * (1 - precision)
    enough = np.flatnonzero((expected >= aim) | (until <= TUNED.check_least * until[-1]))
    taken = np.zeros(p.size, dtype=np.bool_)
    taken[order[: enough[-1] + 1 if enough.size else 1]] = True
    rejected = POINTS - taken.reshape(p.shape).sum(axis=1)
    return np.asarray(pool.starts[: len(p)] + rejected * pool.counts[:-1] // POINTS)


def best_pick(posterior: Posterior) -> tuple[int, int, float]:
    """Return the relation and the point where a label brings most, and how many right decisions."""
    return _Race(_Board.of(posterior), posterior.pool.counts[:-1] > 0).leader()


def pick_expected_gain(
    posterior: Posterior, annotations: Annotations, count: int, random: np.random.Generator, promised: float = 0.0
) -> Picks:
    """Return the next triples to judge: where labels pay most, and an audit pick now and then.

    Parameters
    ----------
    posterior : Posterior
        The fit on ``annotations``.
    annotations : Annotations
        What has been judged.
    count : int
        How many are wanted; fewer come back where the pool has fewer left.
    random : numpy.random.Generator
        Chooses among the members of a point, and the audit picks.
    promised : float
        A precision that will be promised of what is accepted; some picks then check what would be. 0 for none.
    """
    pool = posterior.pool
    free = _Unlabelled(pool, annotations)
    race = _Race(_Board.of(posterior), free.left > 0)
    bottom = find_promised(posterior, promised) if promised else None
    rows: list[int] = []
    kinds: list[str] = []
    while len(rows) < count and free.total > 0:
        place, kind = _check(free, bottom, len(annotations) + len(rows), random)
        if place is None:
            relation, point, _ = race.leader()
            place = free.near_point(relation, point, random)
            race.label(relation)
        relation = free.take(place)
        if free.left[relation] == 0:
            race.close(relation)
        rows.append(int(pool.members[place]))
        kinds.append(kind)
    return _explain(pool, np.array(rows, dtype=np.int64), kinds, race)


def _check(
    free: _Unlabelled, bottom: IntArray | None, judged: int, random: np.random.Generator
) -> tuple[int | None, str]:
    """Return the place of a random check and its reason, if the next pick is one."""
    if is_audit(judged):
        return free.any_place(random), RANDOM_CHECK
    if bottom is not None and is_promise_check(judged):
        place = free.any_place_from(bottom, random)
        return place, PROMISE_CHECK if place is not None else ""
    return None, ""


def _explain(pool: PreparedPool, rows: IntArray, kinds: list[str], race: _Race) -> Picks:
    """Say of each pick why it is asked, by what an answer was expected to bring before any of them."""
    chosen = zip(kinds, pool.relations[rows].tolist(), points_of(pool, rows).tolist(), strict=True)
    reasons = [kind or _gain_in_words(race.at_first[r][point]) for kind, r, point in chosen]
    return Picks(rows, np.array([kind == RANDOM_CHECK for kind in kinds], dtype=np.bool_), tuple(reasons))


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

    def _rank(self, place: int) -> int:
        """Return how many unlabelled places stand before one."""
        return place - bisect_left(self.taken, place)

    def _place(self, rank: int) -> int:
        """Return the unlabelled place that has ``rank`` others before it."""
        return rank + bisect_right(range(len(self.taken)), rank, key=lambda at: self.taken[at] - at)

    def any_place(self, random: np.random.Generator) -> int:
        """Return a uniform one of them; of a sample, one as if drawn from the whole pool."""
        if self.pool.sizes is self.pool.counts:
            return self._place(int(random.integers(self.total)))
        share = self.left * (self.pool.sizes / np.maximum(self.pool.counts, 1))[:-1]
        relation = int(random.choice(len(share), p=share / share.sum()))
        first = self._rank(int(self.pool.starts[relation]))
        return self._place(first + int(random.integers(self.left[relation])))

    def any_place_from(self, bottom: IntArray, random: np.random.Generator) -> int | None:
        """Return a uniform one of those at or above each relation's own place, shape (R,); None where none is left."""
        pool = self.pool
        firsts = [self._rank(place) for place in bottom.tolist()]
        ends = [self._rank(place) for place in pool.starts[1 : len(bottom) + 1].tolist()]
        left = np.maximum(np.subtract(ends, firsts), 0)
        share = np.cumsum(left * (pool.sizes / np.maximum(pool.counts, 1))[:-1])
        if not share[-1]:
            return None
        relation = int(np.searchsorted(share, random.random() * share[-1], side="right"))
        return self._place(firsts[relation] + int(random.integers(left[relation])))

    def near_point(self, relation: int, point: int, random: np.random.Generator) -> int:
        """Return a uniform one of those that a point stands for, else the nearest of the relation."""
        start, count = int(self.pool.starts[relation]), int(self.pool.counts[relation])
        low = start + point * count // POINTS
        high = start - (-(point + 1) * count // POINTS)
        first, last = self._rank(low), self._rank(high)
        if first < last:
            return self._place(int(random.integers(first, last)))
        below = self._place(first - 1) if first > self._rank(start) else None
        above = self._place(first) if first < self._rank(start + count) else None
        if below is None or (above is not None and above - high + 1 < low - below):
            assert above is not None  # the caller asks only for relations with something left
            return above
        return below
