"""The fit: the search for the posterior's mode, a posterior of all lines from there, the average over kinds of pools.

Several priors are fitted in one pass. For each, the mode is found by Newton's method and the covariance by Laplace's
approximation. Relations meet only in theta, so the Hessian is an arrow and is never laid out: every step costs one
3 x 3 block per relation that has an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

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
        return cls(relations, starts, group, psi(x[order]), truth[order], weight[order])

    def sum(self, values: FloatArray) -> FloatArray:
        """Sum values of shape (K, l, ...) over the labels of each relation."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=1)) if values.shape[1] else values


def weigh_valleys(pool: PreparedPool) -> tuple[IntArray, FloatArray]:
    """Return the relations with a clear valley, and what each of its three answers counts."""
    # In lists of answers valleys do not count: there they separate hard questions from easy ones.
    clear = (1 - pool.lists) * pool.features.get("clear", np.zeros(1))[:-1]
    seen = np.flatnonzero(clear > tuned.LEAST_CLEAR)
    return seen, tuned.VALLEY_ANSWERS / len(PLACES) * clear[seen]


@dataclass(frozen=True, eq=False)
class Modes:
    """Where the searches stand under K priors: the negative log posteriors there, and what Newton's steps need.

    Hessians are in blocks: theta's, and each relation's.
    """

    labels: LabelTable
    G: FloatArray  # (L, 3, P) see ``design``
    priors: Priors
    theta: FloatArray  # (K, P)
    u: FloatArray  # (K, L, 3) of the L labelled relations

    @cached_property
    def eta(self) -> FloatArray:
        """Every label's logit, shape (K, l)."""
        lines = np.einsum("lip,kp->kli", self.G, self.theta) + self.u
        return np.asarray(np.einsum("ij,kij->ki", self.labels.psi, lines[:, self.labels.group]))

    @cached_property
    def value(self) -> FloatArray:
        """The negative log posteriors, up to a constant, shape (K,)."""
        labels, priors = self.labels, self.priors
        likelihood = softplus(self.eta) @ labels.weight - self.eta @ (labels.weight * labels.truth)
        shared = (priors.precision * (self.theta - priors.mean) ** 2).sum(axis=1)
        own = (priors.penalty[:, None] * self.u**2).sum(axis=(1, 2))
        return np.asarray(likelihood + 0.5 * (shared + own))

    @cached_property
    def curvature(self) -> FloatArray:
        """The likelihood's Hessian of each relation, shape (K, L, 3, 3)."""
        labels, p = self.labels, sigmoid(self.eta)
        squares = labels.psi[:, :, None] * labels.psi[:, None, :]
        return labels.sum(squares * (labels.weight * p * (1 - p))[..., None, None])

    @cached_property
    def cross(self) -> FloatArray:
        """What theta and each relation's line have in common, shape (K, L, 3, P)."""
        return self.curvature @ self.G

    @cached_property
    def inverse(self) -> FloatArray:
        """The inverse Hessian of each relation, shape (K, L, 3, 3)."""
        return np.asarray(
            np.linalg.inv(self.curvature + self.priors.penalty[:, None, :, None] * np.eye(3)), dtype=np.float64
        )

    @cached_property
    def shared_curvature(self) -> FloatArray:
        """Theta's Hessian, the relations eliminated, shape (K, P, P)."""
        count, size = self.theta.shape
        flat, solved = (block.reshape(count, -1, size) for block in (self.cross, self.inverse @ self.cross))
        from_labels = self.G.reshape(-1, size).T @ flat - flat.transpose(0, 2, 1) @ solved
        return np.asarray(self.priors.precision[:, :, None] * np.eye(size) + from_labels)

    def step(self) -> tuple[FloatArray, FloatArray]:
        """Return Newton's step of theta and u under every prior."""
        labels, priors, (count, size) = self.labels, self.priors, self.theta.shape
        gradient = labels.sum(labels.psi * (labels.weight * (sigmoid(self.eta) - labels.truth))[..., None])
        own = gradient + priors.penalty[:, None] * self.u
        shared = gradient.reshape(count, -1) @ self.G.reshape(-1, size)
        shared = shared + priors.precision * (self.theta - priors.mean)
        solved = (self.inverse @ own[..., None])[..., 0]
        right = shared - np.einsum("kli,klip->kp", solved, self.cross)
        theta = np.linalg.solve(self.shared_curvature, right[..., None])[..., 0]
        return theta, solved - (self.inverse @ (self.cross @ theta[:, None, :, None]))[..., 0]

    def evidence(self) -> FloatArray:
        """Return the log marginal likelihood of the labels under each prior, shape (K,), by Laplace's method."""
        priors, count = self.priors, self.u.shape[1]
        shared = np.log(priors.precision).sum(axis=1) - np.linalg.slogdet(self.shared_curvature)[1]
        own = count * np.log(priors.penalty).sum(axis=1) + np.linalg.slogdet(self.inverse)[1].sum(axis=1)
        return np.asarray(0.5 * (shared + own) - self.value)

    def posterior(self, pool: PreparedPool, whole: FloatArray, k: int, penalty: FloatArray) -> Posterior:
        """Spread the fit under one prior from the labelled relations to all of them, each with a penalty, (3,)."""
        beta = whole @ self.theta[k]
        beta[self.labels.relations] += self.u[k]
        S = np.zeros((len(beta), 3, 3))
        S[self.labels.relations] = self.curvature[k]
        own = np.linalg.inv(S + np.diag(penalty))
        follow = own @ np.diag(penalty) @ whole
        return Posterior(pool, beta, own + follow @ np.linalg.inv(self.shared_curvature[k]) @ follow.transpose(0, 2, 1))


def find_modes(labels: LabelTable, G: FloatArray, priors: Priors, start: Modes | None = None) -> Modes:
    """Walk to the mode under every prior; a step is halved until its objective does not rise."""
    zero = np.zeros((len(priors.mean), len(labels.relations), 3))
    modes = Modes(labels, G, priors, priors.mean, zero) if start is None else replace(start, priors=priors)
    for _ in range(_STEPS if len(labels.group) else 0):
        (step_theta, step_u), size, before = modes.step(), np.ones(len(zero)), modes
        while True:
            theta, u = before.theta - size[:, None] * step_theta, before.u - size[:, None, None] * step_u
            modes = replace(before, theta=theta, u=u)
            worse = (modes.value > before.value) & (size >= 1e-3)
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        if np.abs(before.value - modes.value).max() < 1e-5:
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
    return modes.posterior(pool, whole, 0, now.penalty[0])


def _widen(modes: Modes, prior: Priors, freedom: float) -> FloatArray:
    """Return the precisions with the intercept's from the Gaussian that stands for the t distribution where it is."""
    precision = prior.precision.copy()
    if np.isfinite(freedom):
        at = prior.names.index("one")
        square = (modes.theta[0, at] - prior.mean[0, at]) ** 2 + np.linalg.inv(modes.shared_curvature[0])[at, at]
        precision[0, at] = (freedom + 1) / (freedom / prior.precision[0, at] + square)
    return precision


def _update_tau(modes: Modes, prior: Priors) -> FloatArray:
    """Return 1 / tau^2, shape (1, 3), that makes the relations' own deviations about as large as they look."""
    follow = modes.inverse[0] @ modes.cross[0]
    spread = modes.inverse[0] + follow @ np.linalg.inv(modes.shared_curvature[0]) @ follow.transpose(0, 2, 1)
    expected = (modes.u[0] ** 2 + np.diagonal(spread, axis1=1, axis2=2)).sum(axis=0)
    count, start = len(spread), 1 / prior.penalty[0]
    of_intercept, of_slope = tuned.TAU_COUNTS
    intercept = (of_intercept * start[0] + expected[0]) / (of_intercept + count)
    slope = (of_slope * start[1] + expected[1] + expected[2]) / (of_slope + 2 * count)
    return 1 / np.array([[intercept, slope, slope]])


# What kind of pool is this? One prior per kind, averaged by what the pool and the answers say.
#
# Two things differ between pools: whether few of the candidates are true, about half or most, and how relations differ.
# Nobody knows beforehand which kind a pool is of. So the model is fitted once under the prior of each kind (a regime),
# all in one pass, and the fits are averaged. Each is weighted by its share at the start times how well it predicted the
# answers (Laplace's approximation of the marginal likelihood). Whether two clusters of scores mean anything is decided
# in the same way: by how well the answers are predicted with them and without. What the fits disagree about is part of
# the uncertainty of the average.


@lru_cache(maxsize=2)
def regime_priors(known: bool) -> Priors:
    """Return the nine priors, for pools without or with scores of known triples.

    Few, half or most are true; in each of these, features predict how relations differ, relations are equal, or one cut
    does for all of them.
    """
    features = tuned.FEATURES[known]
    equal = dict.fromkeys(features, tuned.NO_FEATURE)
    slope_features, slope_equal, slope_tilted = tuned.SLOPES
    # Scores are centred on their relation's median; a coefficient like the slope puts all cuts at one score.
    one_cut = {**equal, "c": (slope_equal, tuned.NO_FEATURE[1])}

    regimes = []
    for base in (-tuned.BASE_LOGIT, 0.0, tuned.BASE_LOGIT):
        for own, one, slope, tau in (
            (features, base + tuned.FEATURES_INTERCEPT, slope_features, tuned.TAU),
            (equal, base, slope_tilted if base else slope_equal, tuned.EQUAL_TAU),
            (one_cut, base, slope_equal, tuned.TAU),
        ):
            shared = {"one": (one, tuned.BASE_SD), "diff": tuned.SLOPE_DIFFERENCE, "slope": (slope, tuned.SLOPE_SD)}
            regimes.append(({**own, **shared}, (tau, tuned.SLOPE_TAU)))
    return Priors.of(*regimes)


def regime_shares(pool: PreparedPool) -> FloatArray:
    """Return each regime's weight before valleys and answers, shape (9,).

    Where features disagree, half of the weight is on pools in which about half is true, and half on features that
    predict how relations differ. As features agree, they predict how many candidates of each relation are true; and
    where relations differ in that, neither few nor most of all candidates are. As a pool looks like lists, few are.
    """
    sure = 0.5 + (tuned.FEATURES_WEIGHT - 0.5) * pool.agreement
    rest = (1 - sure) / 2
    lists = tuned.LISTS_TRUST * pool.lists
    bases = (1 - lists) * np.array([rest, sure, rest]) + lists * np.array([1.0, 0.0, 0.0])
    return np.outer(bases, [sure, rest, rest]).ravel()


def fit_regimes(pool: PreparedPool, annotations: Annotations) -> Posterior:
    """Return the average of all regimes' fits, with valleys and without: the mixture's mean and covariance."""
    log_shares = np.log(regime_shares(pool))
    fits = [_fit_each(pool, annotations, False)]
    log_weights = [log_shares + fits[0].evidence()]
    if len(weigh_valleys(pool)[0]):
        fits.append(_fit_each(pool, annotations, True))
        log_weights.append(log_shares + fits[1].evidence() - _log_evidence_of_valleys(pool))
    weights = np.exp(np.concatenate(log_weights) - np.max(log_weights))
    weights /= weights.sum()
    regimes, count = fits[0].priors, len(log_shares)
    whole = design(pool, regimes.names)
    large = np.flatnonzero(weights > tuned.LEAST_WEIGHT).tolist()
    parts = [fits[k // count].posterior(pool, whole, k % count, regimes.penalty[k % count]) for k in large]
    weights = weights[large] / weights[large].sum()
    mean = np.tensordot(weights, np.stack([part.beta for part in parts]), 1)
    off = np.stack([part.beta for part in parts]) - mean
    within = np.tensordot(weights, np.stack([part.covariance for part in parts]), 1)
    between = np.einsum("k,kri,krj->rij", weights, off, off)
    return Posterior(pool, mean, within + between, tuple(zip(weights.tolist(), parts, strict=True)))


@lru_cache(maxsize=8)
def _log_evidence_of_valleys(pool: PreparedPool) -> float:
    """Return how well the valleys alone were predicted, so that only answers count for them or against."""
    alone = np.log(regime_shares(pool)) + _fit_each(pool, Annotations(), True).evidence()
    return float(np.logaddexp.reduce(alone))


def _fit_each(pool: PreparedPool, annotations: Annotations, valleys: bool) -> Modes:
    """Return the mode under each prior."""
    regimes, labels = regime_priors("gap" in pool.features), LabelTable.of(pool, annotations, valleys)
    return find_modes(labels, design(pool, regimes.names)[labels.relations], regimes)
