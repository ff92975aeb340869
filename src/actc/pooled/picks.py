"""Which triple should be judged next, for the most right decisions in the pool?

A label moves the line of its relation, and with it the decisions that are near the edge. What one label is
expected to bring is worked out at a few points per relation, in closed form, so a pick costs the same
whatever the pool's size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.pooled.features import POINTS, PreparedPool
from actc.pooled.model import Posterior, psi
from actc.three_steps.logistic import sigmoid
from actc.triples import Annotations, FloatArray, IntArray

AUDIT_FROM = 50
"""From this many labels on ..."""
AUDIT_EVERY = 5
"""... every fifth pick is uniform over the pool: a sample that no model chose keeps the intervals honest."""

_IMAGINED = np.array([1.0, 4.0, 16.0])  # one label rarely turns a decision; gains of several, shared among them, do
_DENSITY_AT_0 = 1 / np.sqrt(2 * np.pi)
_CHUNK = 16  # relations worked out at a time, the most promising first


def is_audit(count: int) -> bool:
    """Say whether the pick after ``count`` labels is a uniform one."""
    return count >= AUDIT_FROM and count % AUDIT_EVERY == 0


def batch_size(count: int) -> int:
    """Return how many triples to pick after ``count`` labels before the model is fitted again."""
    return max(1, count // 5)


def expected_gains(posterior: Posterior) -> FloatArray:
    """Return what a label at each point is expected to bring in right decisions, shape (R, POINTS)."""
    board = _Board.of(posterior)
    return board.gains(np.arange(len(posterior.pool.relation_names)))


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
        mean = (basis @ posterior.beta[:-1, :, None])[..., 0]
        return cls(basis, mean, posterior.pool.sizes[:-1] / POINTS, posterior.covariance[:-1].copy())

    def _moments(self, relations: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return |cov| of all pairs of points, each one's weight, and its scale of s for each m."""
        basis = self.basis[relations]
        pairs = basis @ self.covariance[relations] @ basis.transpose(0, 2, 1)
        variance = np.diagonal(pairs, axis1=1, axis2=2)
        k = 1 / np.sqrt(1 + np.pi * variance / 8)
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

    def label(self, relation: int, point: int) -> None:
        """Take away what a label at a point would teach about its relation, whatever it will say."""
        basis, V = self.basis[relation, point], self.covariance[relation]
        reach = V @ basis
        variance = float(basis @ reach)
        p = float(sigmoid(self.mean[relation, point] / np.sqrt(1 + np.pi * variance / 8)))
        w = max(p * (1 - p), 1e-9)
        self.covariance[relation] = V - np.outer(reach, reach) * (w / (1 + w * variance))


class _Race:
    """The best point of the board, worked out only for relations whose bound is not beaten already."""

    def __init__(self, board: _Board, open_relations: np.ndarray) -> None:
        self.board = board
        self.bound = np.where(open_relations, board.bounds(), -np.inf)
        self.best = np.full(len(self.bound), -np.inf)  # exact, where worked out
        self.point = np.zeros(len(self.bound), dtype=np.int64)

    def work_out(self, relations: IntArray) -> None:
        gains = self.board.gains(relations)
        self.point[relations] = gains.argmax(axis=1)
        self.best[relations] = gains.max(axis=1)
        self.bound[relations] = -np.inf

    def leader(self) -> tuple[int, int, float]:
        """Return the best relation, its best point and the gain; ties to the lowest."""
        while (self.bound >= self.best.max()).any() and np.isfinite(self.bound.max()):
            order = np.argsort(-self.bound, kind="stable")[:_CHUNK]
            self.work_out(order[np.isfinite(self.bound[order])])
        relation = int(self.best.argmax())
        return relation, int(self.point[relation]), float(self.best[relation])

    def close(self, relation: int) -> None:
        self.bound[relation] = self.best[relation] = -np.inf


def best_pick(posterior: Posterior) -> tuple[int, int, float]:
    """Return the relation and the point where a label brings most, and how many right decisions."""
    return _Race(_Board.of(posterior), posterior.pool.counts[:-1] > 0).leader()


def pick_expected_gain(
    posterior: Posterior, annotations: Annotations, count: int, random: np.random.Generator
) -> IntArray:
    """Return the next rows to judge: where labels pay most, and an audit pick now and then.

    Parameters
    ----------
    posterior : Posterior
        The fit on ``annotations``.
    annotations : Annotations
        What has been judged.
    count : int
        How many rows are wanted; fewer come back where the pool has fewer left.
    random : numpy.random.Generator
        Chooses among the members of a point, and the audit picks.
    """
    pool = posterior.pool
    free = _Unlabelled(pool, annotations)
    open_relations = free.left > 0
    race = _Race(_Board.of(posterior), open_relations)
    rows: list[int] = []
    while len(rows) < count and free.total > 0:
        if is_audit(len(annotations) + len(rows)):
            place = free.any_place(random)
        else:
            relation, point, _ = race.leader()
            place = free.near_point(relation, point, random)
            race.board.label(relation, point)
            race.work_out(np.array([relation]))
        relation = free.take(place)
        if free.left[relation] == 0:
            race.close(relation)
        rows.append(int(pool.members[place]))
    return np.array(rows, dtype=np.int64)


class _Unlabelled:
    """The places (rows grouped by relation, then score) nobody judged, found by rank, never listed."""

    def __init__(self, pool: PreparedPool, annotations: Annotations) -> None:
        self.pool = pool
        self.taken = np.sort(pool.places[annotations.rows])
        judged = np.bincount(pool.relations[annotations.rows], minlength=len(pool.counts))
        self.left = (pool.counts - judged)[:-1]
        self.total = len(pool) - len(annotations)

    def take(self, place: int) -> int:
        """Mark a place as judged and return its relation."""
        self.taken = np.insert(self.taken, np.searchsorted(self.taken, place), place)
        relation = int(self.pool.relations[self.pool.members[place]])
        self.left[relation] -= 1
        self.total -= 1
        return relation

    def _rank(self, place: int) -> int:
        """Return how many unlabelled places stand before one."""
        return place - int(np.searchsorted(self.taken, place))

    def _place(self, rank: int) -> int:
        """Return the unlabelled place that has ``rank`` others before it."""
        return rank + int(np.searchsorted(self.taken - np.arange(len(self.taken)), rank, side="right"))

    def any_place(self, random: np.random.Generator) -> int:
        """Return a uniform one of them; of a sample, one as if drawn from the whole pool."""
        if self.pool.sizes is self.pool.counts:
            return self._place(int(random.integers(self.total)))
        share = self.left * (self.pool.sizes / np.maximum(self.pool.counts, 1))[:-1]
        relation = int(random.choice(len(share), p=share / share.sum()))
        first = self._rank(int(self.pool.starts[relation]))
        return self._place(first + int(random.integers(self.left[relation])))

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
