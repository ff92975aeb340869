"""The one search for the mode, and the one way from there to a posterior of all lines.

Several priors are fitted in one pass. For each, the mode is found by Newton's method and the covariance by Laplace's
approximation. Relations meet only in theta, so the Hessian is an arrow and is never laid out: every step costs one
3 x 3 block per relation that has an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from actc.data.numeric import psi, sigmoid, softplus
from actc.data.triples import Annotations, FloatArray, IntArray
from actc.methods.pooled.features import HUMPS, PreparedPool
from actc.methods.pooled.model import Posterior, Prior, design
from actc.methods.pooled.tuned import TUNED

_STEPS = 30  # of Newton's method, at most


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Annotations, and valleys where they count, sorted by relation, in the form that the Newton steps need."""

    relations: IntArray  # (L,) those that have a row here
    starts: IntArray  # (L,) where each begins
    group: IntArray  # (l,) which of the L
    psi: FloatArray  # (l, 3)
    squares: FloatArray  # (l, 9): psi psi^T
    truth: FloatArray  # (l,)
    weight: FloatArray  # (l,)

    @classmethod
    def of(cls, pool: PreparedPool, annotations: Annotations, valleys: bool = False) -> LabelTable:
        """Lay out the annotations of a pool.

        A clear valley, where valleys count, is like a few answers beside them: one false at the lower hump, one true at
        the upper, and one in doubt between them.
        """
        order = np.argsort(pool.places[annotations.rows])  # the result must not depend on the order of judging
        rows = annotations.rows[order]
        seen, weight = find_valleys(pool) if valleys else (rows[:0], np.zeros(0))
        relation = np.concatenate([pool.relations[rows], np.tile(seen, len(HUMPS))])
        x = np.concatenate([pool.x[rows], *(pool.features[name][seen] for name in HUMPS if valleys)])
        truth = np.concatenate([annotations.labels[order], np.repeat((0.0, 0.5, 1.0), len(seen))])
        weight = np.concatenate([np.ones(len(rows)), np.tile(weight, len(HUMPS))])
        order = np.argsort(relation, kind="stable")
        relations, starts, group = np.unique(relation[order], return_index=True, return_inverse=True)
        basis = psi(x[order])
        squares = (basis[:, :, None] * basis[:, None, :]).reshape(-1, 9)
        return cls(relations, starts, group, basis, squares, truth[order], weight[order])


def find_valleys(pool: PreparedPool) -> tuple[IntArray, FloatArray]:
    """Return the relations with a valley to speak of, and what each of its three answers counts.

    In lists of answers humps do not count: there they tell hard questions from easy ones.
    """
    clear = (1 - pool.listed) * pool.features.get("clear", np.zeros(1))[:-1]
    seen = np.flatnonzero(clear > TUNED.least_clear)
    return seen, TUNED.hump_counts / len(HUMPS) * clear[seen]


@dataclass(frozen=True, eq=False)
class Priors:
    """Priors of the same coefficients side by side; K priors, P coefficients."""

    mean: FloatArray  # (K, P)
    precision: FloatArray  # (K, P)
    penalty: FloatArray  # (K, 3): 1 / tau^2

    @classmethod
    def of(cls, priors: Sequence[Prior]) -> Priors:
        """Put some side by side."""
        return cls(
            np.stack([prior.mean for prior in priors]),
            np.stack([prior.precision for prior in priors]),
            np.stack([1 / prior.tau_squared for prior in priors]),
        )


@dataclass(frozen=True, eq=False)
class State:
    """Where the searches stand: theta (K, P), and u (K, L, 3) of the L labelled relations."""

    theta: FloatArray
    u: FloatArray


@dataclass(frozen=True, eq=False)
class Modes:
    """The negative log posteriors at a state, with gradients and Hessians as blocks: theta's (A) and relations' (D)."""

    state: State
    labels: LabelTable
    priors: Priors
    value: FloatArray  # (K,)
    gradient: FloatArray  # (K, L, 3) of the likelihood
    S: FloatArray  # (K, L, 3, 3)
    D_inverse: FloatArray  # (K, L, 3, 3)
    SG: FloatArray  # (K, L, 3, P)
    A: FloatArray  # (K, P, P), the relations eliminated

    @classmethod
    def at(
        cls, state: State, eta: FloatArray, value: FloatArray, labels: LabelTable, G: FloatArray, priors: Priors
    ) -> Modes:
        """Lay out the blocks where every label's logit is ``eta``, shape (K, l), and the objectives are ``value``."""
        count, size = len(state.theta), G.shape[-1]
        p = sigmoid(eta)
        gradient = _sum_groups(labels.psi * (labels.weight * (p - labels.truth))[..., None], labels)
        S = _sum_groups(labels.squares * (labels.weight * p * (1 - p))[..., None], labels).reshape(count, -1, 3, 3)
        D_inverse = inverse(S + priors.penalty[:, None, :, None] * np.eye(3))
        SG = S @ G
        flat, solved = SG.reshape(count, -1, size), (D_inverse @ SG).reshape(count, -1, size)
        from_labels = G.reshape(-1, size).T @ flat - flat.transpose(0, 2, 1) @ solved
        A = priors.precision[:, :, None] * np.eye(size) + from_labels
        return cls(state, labels, priors, value, gradient, S, D_inverse, SG, A)

    def step(self, G: FloatArray) -> State:
        """Return Newton's step under every prior."""
        priors, state, count = self.priors, self.state, len(self.A)
        own = self.gradient + priors.penalty[:, None] * state.u
        shared = self.gradient.reshape(count, -1) @ G.reshape(-1, G.shape[-1])
        shared = shared + priors.precision * (state.theta - priors.mean)
        solved = (self.D_inverse @ own[..., None])[..., 0]
        right = shared - np.einsum("kli,klip->kp", solved, self.SG)
        theta = np.linalg.solve(self.A, right[..., None])[..., 0]
        u = solved - (self.D_inverse @ (self.SG @ theta[:, None, :, None]))[..., 0]
        return State(theta, u)

    def evidence(self) -> FloatArray:
        """Return the log marginal likelihood of the labels under each prior, shape (K,), by Laplace's method."""
        priors, count = self.priors, self.state.u.shape[1]
        shared = np.log(priors.precision).sum(axis=1) - np.linalg.slogdet(self.A)[1]
        own = count * np.log(priors.penalty).sum(axis=1) + np.linalg.slogdet(self.D_inverse)[1].sum(axis=1)
        return np.asarray(0.5 * (shared + own) - self.value)

    def posterior(self, pool: PreparedPool, whole: FloatArray, k: int) -> Posterior:
        """Spread the fit under one prior from the labelled relations to all of them."""
        beta = whole @ self.state.theta[k]
        beta[self.labels.relations] += self.state.u[k]
        S = np.zeros((len(beta), 3, 3))
        S[self.labels.relations] = self.S[k]
        penalty = np.diag(self.priors.penalty[k])
        own = inverse(S + penalty)
        follow = own @ penalty @ whole
        return Posterior(pool, beta, own + follow @ inverse(self.A[k]) @ follow.transpose(0, 2, 1))


def find_modes(labels: LabelTable, G: FloatArray, priors: Priors, start: State | None = None) -> Modes:
    """Walk to the mode under every prior; a step is halved until its objective does not rise.

    Parameters
    ----------
    labels : LabelTable
    G : float array of shape (L, 3, P)
        How the lines of the labelled relations follow from theta.
    priors : Priors
    start : State, optional
        Where to begin; at the priors' means by default.
    """
    count = len(priors.mean)
    state = start or State(priors.mean, np.zeros((count, len(labels.relations), 3)))
    eta = _heights(state, labels, G)
    modes = Modes.at(state, eta, _values(state, eta, labels, priors), labels, G, priors)
    for _ in range(_STEPS if len(labels.group) else 0):
        before, step, size = modes, modes.step(G), np.ones(count)
        while True:
            trial = State(
                before.state.theta - size[:, None] * step.theta, before.state.u - size[:, None, None] * step.u
            )
            eta = _heights(trial, labels, G)
            value = _values(trial, eta, labels, priors)
            worse = (value > before.value) & (size >= 1e-3)
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        modes = Modes.at(trial, eta, value, labels, G, priors)
        if np.abs(before.value - modes.value).max() < 1e-5:
            break
    return modes


def fit_alone(pool: PreparedPool, annotations: Annotations, prior: Prior, freedom: float = np.inf) -> Posterior:
    """Return the posterior of all lines under one prior, whose widths are found along with the lines.

    How much relations differ (tau): empirical Bayes. How wide the prior of the intercept ("one") is: one step of the EM
    algorithm of Student's t. Both in turn with the search for the mode.

    Parameters
    ----------
    pool : PreparedPool
        The pool that the annotations refer to.
    annotations : Annotations
        What is known of it; may be empty.
    prior : Prior
    freedom : float
        Degrees of freedom of Student's t, which is the prior of the intercept: labels that contradict it widen it.
        Infinite for a Gaussian.
    """
    labels, whole = LabelTable.of(pool, annotations), design(pool, prior.coefficients)
    priors, start = Priors.of([prior]), None
    for _ in range(TUNED.rounds):
        modes = find_modes(labels, whole[labels.relations], priors, start)
        start = modes.state
        penalty = _update_tau(modes, prior)
        priors = Priors(priors.mean, _widen(modes, prior, freedom), penalty)
    return replace(modes, priors=replace(modes.priors, penalty=penalty)).posterior(pool, whole, 0)


def _widen(modes: Modes, prior: Prior, freedom: float) -> FloatArray:
    """Return the precisions with the intercept's from the Gaussian that stands for the t distribution where it is."""
    precision = prior.precision[None].copy()
    if np.isfinite(freedom):
        at = list(prior.coefficients).index("one")
        mean, sd = prior.coefficients["one"]
        square = (modes.state.theta[0, at] - mean) ** 2 + inverse(modes.A[0])[at, at]
        precision[0, at] = (freedom + 1) / (freedom * sd**2 + square)
    return precision


def _update_tau(modes: Modes, prior: Prior) -> FloatArray:
    """Return 1 / tau^2, shape (1, 3), that makes the relations' own deviations about as large as they look."""
    follow = modes.D_inverse[0] @ modes.SG[0]
    spread = modes.D_inverse[0] + follow @ inverse(modes.A[0]) @ follow.transpose(0, 2, 1)
    expected = (modes.state.u[0] ** 2 + np.diagonal(spread, axis1=1, axis2=2)).sum(axis=0)
    count, start = len(spread), prior.tau_squared
    of_intercept, of_slope = TUNED.tau_weight
    intercept = (of_intercept * start[0] + expected[0]) / (of_intercept + count)
    slope = (of_slope * start[1] + expected[1] + expected[2]) / (of_slope + 2 * count)
    return 1 / np.array([[intercept, slope, slope]])


def _heights(state: State, labels: LabelTable, G: FloatArray) -> FloatArray:
    """Return every label's logit under every prior, shape (K, l)."""
    lines = np.einsum("lip,kp->kli", G, state.theta) + state.u
    return np.asarray(np.einsum("ij,kij->ki", labels.psi, lines[:, labels.group]))


def _values(state: State, eta: FloatArray, labels: LabelTable, priors: Priors) -> FloatArray:
    """Return the negative log posterior under each prior, up to a constant."""
    likelihood = softplus(eta) @ labels.weight - eta @ (labels.weight * labels.truth)
    shared = (priors.precision * (state.theta - priors.mean) ** 2).sum(axis=1)
    own = (priors.penalty[:, None] * state.u**2).sum(axis=(1, 2))
    return np.asarray(likelihood + 0.5 * (shared + own))


def _sum_groups(values: FloatArray, labels: LabelTable) -> FloatArray:
    """Sum values of shape (K, l, ...) over the labels of each relation."""
    return np.asarray(np.add.reduceat(values, labels.starts, axis=1)) if values.shape[1] else values


def inverse(matrices: FloatArray) -> FloatArray:
    """Return the inverses of matrices, shape (..., n, n)."""
    return np.asarray(np.linalg.inv(matrices), dtype=np.float64)
