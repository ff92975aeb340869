"""The search for the mode of the posterior, and the way from there to a posterior of all lines.

Several priors are fitted in one pass. For each, the mode is found by Newton's method and the covariance by Laplace's
approximation. Relations meet only in theta, so the Hessian is an arrow and is never laid out: every step costs one
3 x 3 block per relation that has an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from actc.data.answers import Annotations
from actc.data.numeric import psi, sigmoid, softplus
from actc.data.triples import FloatArray, IntArray
from actc.methods.pooled import tuned
from actc.methods.pooled.features import PLACES, PreparedPool
from actc.methods.pooled.model import Posterior, Priors, design

_STEPS = 30  # of Newton's method, at most


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Answers, and valleys where they count, sorted by relation, in the form that the Newton steps need."""

    relations: IntArray  # (L,) those that have a row here
    starts: IntArray  # (L,) where each begins
    group: IntArray  # (l,) which of the L
    psi: FloatArray  # (l, 3)
    squares: FloatArray  # (l, 9): psi psi^T
    truth: FloatArray  # (l,)
    weight: FloatArray  # (l,)

    @classmethod
    def of(cls, pool: PreparedPool, annotations: Annotations, valleys: bool = False) -> LabelTable:
        """Lay out the answers about a pool.

        A clear valley, where valleys count, is like a few answers beside them: one false at the lower cluster, one true
        at the upper, and one half true between them.
        """
        order = np.argsort(pool.places[annotations.rows])  # the result must not depend on the order of judging
        rows = annotations.rows[order]
        seen, weight = weigh_valleys(pool) if valleys else (rows[:0], np.zeros(0))
        relation = np.concatenate([pool.relations[rows], np.tile(seen, len(PLACES))])
        x = np.concatenate([pool.x[rows], *(pool.features[name][seen] for name in PLACES if valleys)])
        truth = np.concatenate([annotations.labels[order], np.repeat((0.0, 0.5, 1.0), len(seen))])
        weight = np.concatenate([np.ones(len(rows)), np.tile(weight, len(PLACES))])
        order = np.argsort(relation, kind="stable")
        relations, starts, group = np.unique(relation[order], return_index=True, return_inverse=True)
        basis = psi(x[order])
        squares = (basis[:, :, None] * basis[:, None, :]).reshape(-1, 9)
        return cls(relations, starts, group, basis, squares, truth[order], weight[order])

    def sum(self, values: FloatArray) -> FloatArray:
        """Sum values of shape (K, l, ...) over the labels of each relation."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=1)) if values.shape[1] else values


def weigh_valleys(pool: PreparedPool) -> tuple[IntArray, FloatArray]:
    """Return the relations with a clear valley, and what each of its three answers counts."""
    # In lists of answers valleys do not count: there they separate hard questions from easy ones.
    clear = (1 - pool.lists) * pool.features.get("clear", np.zeros(1))[:-1]
    seen = np.flatnonzero(clear > tuned.LEAST_CLEAR)
    return seen, tuned.VALLEY_ANSWERS / len(PLACES) * clear[seen]


class Point(NamedTuple):
    """Where the searches stand under K priors, and the negative log posteriors there, up to a constant."""

    theta: FloatArray  # (K, P)
    u: FloatArray  # (K, L, 3) of the L labelled relations
    eta: FloatArray  # (K, l) every label's logit
    value: FloatArray  # (K,)

    @classmethod
    def at(cls, theta: FloatArray, u: FloatArray, labels: LabelTable, G: FloatArray, priors: Priors) -> Point:
        """Compute the objectives at theta and u."""
        lines = np.einsum("lip,kp->kli", G, theta) + u
        eta = np.asarray(np.einsum("ij,kij->ki", labels.psi, lines[:, labels.group]))
        likelihood = softplus(eta) @ labels.weight - eta @ (labels.weight * labels.truth)
        shared = (priors.precision * (theta - priors.mean) ** 2).sum(axis=1)
        own = (priors.penalty[:, None] * u**2).sum(axis=(1, 2))
        return cls(theta, u, eta, np.asarray(likelihood + 0.5 * (shared + own)))


@dataclass(frozen=True, eq=False)
class Modes:
    """The negative log posteriors at a point, with gradients and Hessians as blocks: theta's (A) and relations' (D)."""

    point: Point
    labels: LabelTable
    priors: Priors
    gradient: FloatArray  # (K, L, 3) of the likelihood
    S: FloatArray  # (K, L, 3, 3)
    D_inverse: FloatArray  # (K, L, 3, 3)
    SG: FloatArray  # (K, L, 3, P)
    A: FloatArray  # (K, P, P), the relations eliminated

    @classmethod
    def at(cls, point: Point, labels: LabelTable, G: FloatArray, priors: Priors) -> Modes:
        """Lay out the blocks at a point."""
        count, size = point.theta.shape
        p = sigmoid(point.eta)
        gradient = labels.sum(labels.psi * (labels.weight * (p - labels.truth))[..., None])
        S = labels.sum(labels.squares * (labels.weight * p * (1 - p))[..., None]).reshape(count, -1, 3, 3)
        D_inverse = np.asarray(np.linalg.inv(S + priors.penalty[:, None, :, None] * np.eye(3)), dtype=np.float64)
        SG = S @ G
        flat, solved = SG.reshape(count, -1, size), (D_inverse @ SG).reshape(count, -1, size)
        from_labels = G.reshape(-1, size).T @ flat - flat.transpose(0, 2, 1) @ solved
        A = priors.precision[:, :, None] * np.eye(size) + from_labels
        return cls(point, labels, priors, gradient, S, D_inverse, SG, A)

    def step(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Newton's step of theta and u under every prior."""
        priors, count = self.priors, len(self.A)
        own = self.gradient + priors.penalty[:, None] * self.point.u
        shared = self.gradient.reshape(count, -1) @ G.reshape(-1, G.shape[-1])
        shared = shared + priors.precision * (self.point.theta - priors.mean)
        solved = (self.D_inverse @ own[..., None])[..., 0]
        right = shared - np.einsum("kli,klip->kp", solved, self.SG)
        theta = np.linalg.solve(self.A, right[..., None])[..., 0]
        return theta, solved - (self.D_inverse @ (self.SG @ theta[:, None, :, None]))[..., 0]

    def evidence(self) -> FloatArray:
        """Return the log marginal likelihood of the labels under each prior, shape (K,), by Laplace's method."""
        priors, count = self.priors, self.point.u.shape[1]
        shared = np.log(priors.precision).sum(axis=1) - np.linalg.slogdet(self.A)[1]
        own = count * np.log(priors.penalty).sum(axis=1) + np.linalg.slogdet(self.D_inverse)[1].sum(axis=1)
        return np.asarray(0.5 * (shared + own) - self.point.value)

    def posterior(self, pool: PreparedPool, whole: FloatArray, k: int) -> Posterior:
        """Spread the fit under one prior from the labelled relations to all of them."""
        beta = whole @ self.point.theta[k]
        beta[self.labels.relations] += self.point.u[k]
        S = np.zeros((len(beta), 3, 3))
        S[self.labels.relations] = self.S[k]
        penalty = np.diag(self.priors.penalty[k])
        own = np.linalg.inv(S + penalty)
        follow = own @ penalty @ whole
        return Posterior(pool, beta, own + follow @ np.linalg.inv(self.A[k]) @ follow.transpose(0, 2, 1))


def find_modes(labels: LabelTable, G: FloatArray, priors: Priors, start: Modes | None = None) -> Modes:
    """Walk to the mode under every prior; a step is halved until its objective does not rise."""
    count = len(priors.mean)
    zero = np.zeros((count, len(labels.relations), 3))
    theta, u = (priors.mean, zero) if start is None else start.point[:2]
    modes = Modes.at(Point.at(theta, u, labels, G, priors), labels, G, priors)
    for _ in range(_STEPS if len(labels.group) else 0):
        before, size = modes.point, np.ones(count)
        step_theta, step_u = modes.step(G)
        while True:
            theta, u = before.theta - size[:, None] * step_theta, before.u - size[:, None, None] * step_u
            point = Point.at(theta, u, labels, G, priors)
            worse = (point.value > before.value) & (size >= 1e-3)
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        modes = Modes.at(point, labels, G, priors)
        if np.abs(before.value - point.value).max() < 1e-5:
            break
    return modes


def fit_prior(pool: PreparedPool, annotations: Annotations, prior: Priors, freedom: float = tuned.FREEDOM) -> Posterior:
    """Return the posterior of all lines under one prior, whose widths are estimated along with the lines.

    How much relations differ (tau): empirical Bayes. How wide the prior of the intercept ("one") is: one step of the EM
    algorithm of Student's t, with ``freedom`` degrees of freedom. Both in turn with the search for the mode.
    """
    labels, whole = LabelTable.of(pool, annotations), design(pool, prior.names)
    now, modes = prior, None
    for _ in range(tuned.TAU_ROUNDS):
        modes = find_modes(labels, whole[labels.relations], now, modes)
        now = replace(now, precision=_widen(modes, prior, freedom), penalty=_update_tau(modes, prior))
    assert modes is not None
    return replace(modes, priors=now).posterior(pool, whole, 0)


def _widen(modes: Modes, prior: Priors, freedom: float) -> FloatArray:
    """Return the precisions with the intercept's from the Gaussian that stands for the t distribution where it is."""
    precision = prior.precision.copy()
    if np.isfinite(freedom):
        at = prior.names.index("one")
        square = (modes.point.theta[0, at] - prior.mean[0, at]) ** 2 + np.linalg.inv(modes.A[0])[at, at]
        precision[0, at] = (freedom + 1) / (freedom / prior.precision[0, at] + square)
    return precision


def _update_tau(modes: Modes, prior: Priors) -> FloatArray:
    """Return 1 / tau^2, shape (1, 3), that makes the relations' own deviations about as large as they look."""
    follow = modes.D_inverse[0] @ modes.SG[0]
    spread = modes.D_inverse[0] + follow @ np.linalg.inv(modes.A[0]) @ follow.transpose(0, 2, 1)
    expected = (modes.point.u[0] ** 2 + np.diagonal(spread, axis1=1, axis2=2)).sum(axis=0)
    count, start = len(spread), 1 / prior.penalty[0]
    of_intercept, of_slope = tuned.TAU_COUNTS
    intercept = (of_intercept * start[0] + expected[0]) / (of_intercept + count)
    slope = (of_slope * start[1] + expected[1] + expected[2]) / (of_slope + 2 * count)
    return 1 / np.array([[intercept, slope, slope]])
