"""What kind of pool is this? One prior per kind, averaged by what the labels say.

Pools fall into a few kinds. In one, relations differ in how many of their candidates are true, and the shape of their
scores tells; in another all relations are alike; in a third one cut does for all of them; a model's own proposals are
mostly false. Nobody knows beforehand which kind a pool is of, and a handful of labels tells. So the model is fitted
once under the prior of each kind (a regime), all in one pass, and the fits are averaged, each weighted by its
probability: its weight at the start times how well it foresaw the labels (Laplace's approximation of the marginal
likelihood). What the fits disagree about is part of the doubt that the average carries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from actc.numeric import sigmoid, softplus
from actc.pooled.features import PreparedPool
from actc.pooled.model import FEATURES, PRIORS, LabelTable, Posterior, Prior, design, inverse
from actc.pooled.tuned import TUNED
from actc.triples import Annotations, FloatArray, IntArray

_STEPS = 30  # of Newton's method, at most


@dataclass(frozen=True, eq=False)
class Regime:
    """One kind of pool.

    Parameters
    ----------
    kind : str
        A name in ``KINDS``: how its weight follows from the pool's agreement.
    prior : Prior
        What is believed of such pools.
    share : float
        Its weight before anything is known of the pool.
    """

    kind: str
    prior: Prior
    share: float


def weigh_features(agreement: float) -> float:
    """Return the weight of regimes whose features tell relations apart, in pools whose features agree so much."""
    return float(_trust(agreement) * TUNED.agreeing**agreement)


def weigh_one_cut(agreement: float) -> float:
    """Return the weight of regimes in which relations differ, and a relation's centre alone tells by how much."""
    return float((1 - _trust(agreement)) * TUNED.agreeing**agreement)


def weigh_alike(agreement: float) -> float:
    """Return the weight of regimes in which relations do not differ, which features that agree speak against."""
    return float((1 - _trust(0.0)) * (1 - agreement) ** 2)


def weigh_always(agreement: float) -> float:
    """Return the weight of regimes that have nothing to do with features: always the same."""
    return 1.0


def weigh_never(agreement: float) -> float:
    """Return the weight of regimes that only lists of answers speak for."""
    return 0.0


def _trust(agreement: float) -> float:
    least, most = TUNED.feature_trust
    return least + (most - least) * agreement


KINDS = {
    "features": weigh_features,  # the shape of a relation's scores tells how many of its candidates are true
    "alike": weigh_alike,  # about the same share is true in every relation
    "one-cut": weigh_one_cut,  # one cut for all relations
    "proposals": weigh_always,  # a model's own proposals: mostly false
    "lists": weigh_never,  # the same, nearly all false
    "mostly-true": weigh_always,
}
IN_LISTS = ("proposals", "lists")
"""The kinds that a pool is of if it looks like lists of answers to questions."""


def make_regimes(features: Prior, one: float, steep: float) -> tuple[Regime, ...]:
    """Return the regimes, given the prior of pools whose features tell.

    Parameters
    ----------
    features : Prior
        What is believed of the features' coefficients there.
    one, steep : float
        The intercept there, and the slope where scores tell true from false well.

    Shares and numbers: benchmarks/proving/trials.csv.gz; of the kind "features": features.csv.gz beside it.
    """

    def prior(features_tell: bool, tau: float, slope: float, intercept: float) -> Prior:
        coefficients = dict(features.coefficients)
        for name in FEATURES:
            if name in coefficients:
                mean, sd = coefficients[name]
                coefficients[name] = (mean, sd) if features_tell else (0.0, 0.3)
        return Prior({**coefficients, "one": (intercept, 0.5), "slope": (slope, 0.5)}, (tau, 0.5))

    def one_cut(slope: float) -> Prior:
        # Scores are centred on their relation's median; a coefficient like the slope puts all cuts at one score.
        coefficients = {name: (0.0, 0.4) for name in FEATURES if name in features.coefficients}
        return Prior(
            {**features.coefficients, **coefficients, "c": (slope, 0.4), "one": (-0.3, 0.5), "slope": (slope, 0.5)},
            (0.8, 0.5),
        )

    return (
        Regime("alike", prior(False, 0.3, 1.5, -0.6), 0.1375),
        Regime("alike", prior(False, 0.3, 2.8, -0.6), 0.1375),
        Regime("one-cut", one_cut(1.5), 0.1375),
        Regime("one-cut", one_cut(2.8), 0.1375),
        Regime("features", prior(True, 0.8, 1.5, one), 0.22),
        Regime("features", prior(True, 1.5, 1.5, one), 0.1925),
        Regime("features", prior(True, 1.2, steep, one), 0.06875),
        Regime("proposals", prior(False, 0.3, 1.5, -2.2), 0.12),
        Regime("proposals", prior(False, 0.3, 0.4, -2.0), 0.10),
        Regime("proposals", prior(True, 1.2, 2.6, -2.2), 0.08),
        Regime("proposals", prior(True, 0.8, 1.5, -1.5), 0.10),
        Regime("lists", prior(False, 0.8, 2.6, -3.2), 0.20),
        Regime("lists", prior(True, 1.2, 2.6, -3.2), 0.20),
        Regime("mostly-true", prior(False, 1.2, 1.5, 0.8), 0.05),
    )


@dataclass(frozen=True, eq=False)
class _Priors:
    """The regimes' priors side by side; K regimes, P coefficients."""

    mean: FloatArray  # (K, P)
    precision: FloatArray  # (K, P)
    penalty: FloatArray  # (K, 3): 1 / tau^2
    log_share: FloatArray  # (K,)

    @classmethod
    def of(cls, regimes: tuple[Regime, ...], pool: PreparedPool) -> _Priors:
        priors = [regime.prior for regime in regimes]
        shares = _shares(regimes, pool)
        return cls(
            np.stack([prior.mean for prior in priors]),
            np.stack([prior.precision for prior in priors]),
            np.stack([1 / prior.tau_squared for prior in priors]),
            np.log(shares),
        )


def _shares(regimes: tuple[Regime, ...], pool: PreparedPool) -> FloatArray:
    """Return each regime's weight before any label, shape (K,)."""
    shares = np.array([regime.share * KINDS[regime.kind](pool.agreement) for regime in regimes])
    in_lists = np.array([regime.share * (regime.kind in IN_LISTS) for regime in regimes])
    shares /= shares.sum()
    if not in_lists.any():
        return shares
    trust = TUNED.listed_trust * pool.listed
    return np.asarray((1 - trust) * shares + trust * in_lists / in_lists.sum())


@lru_cache(maxsize=8)
def _possible(pool: PreparedPool, regimes: tuple[Regime, ...]) -> tuple[Regime, ...]:
    """Return the regimes that have any weight in a pool."""
    return tuple(regime for regime, share in zip(regimes, _shares(regimes, pool), strict=True) if share > 0)


def fit_regimes(pool: PreparedPool, annotations: Annotations, regimes: tuple[Regime, ...]) -> Posterior:
    """Return the average of all regimes' fits.

    Parameters
    ----------
    pool : PreparedPool
        The pool that the annotations refer to.
    annotations : Annotations
        What is known of it; may be empty.
    regimes : tuple of Regime
    """
    regimes = _possible(pool, regimes)
    start = _start(pool, regimes)
    if not len(annotations):
        return _average(pool, start)
    labels, priors = LabelTable.of(pool, annotations), _Priors.of(regimes, pool)
    whole = design(pool, regimes[0].prior)
    modes = _find_modes(labels, whole[labels.relations], priors)
    weights = _weights(priors.log_share + modes.evidence())
    # A few labels of one relation say little about the others where features do not agree or do not matter, so the
    # start is kept in the average beside them, as if it were worth that many labels.
    kept = TUNED.start_counts * max(1 - pool.agreement, pool.listed)
    kept /= kept + len(annotations)
    found = modes.posteriors(pool, whole, np.flatnonzero(weights > TUNED.least_weight))
    parts = [((1 - kept) * weights[k], posterior) for k, posterior in found]
    return _average(pool, (*parts, *((kept * weight, posterior) for weight, posterior in start if kept > 0)))


@lru_cache(maxsize=8)
def _start(pool: PreparedPool, regimes: tuple[Regime, ...]) -> tuple[tuple[float, Posterior], ...]:
    """Return each regime's weight and its lines before any label."""
    priors, whole = _Priors.of(regimes, pool), design(pool, regimes[0].prior)
    nothing = _State(priors.mean, np.zeros((len(regimes), 0, 3)))
    no_labels, no_logits = LabelTable.of(pool, Annotations()), np.zeros((len(regimes), 0))
    modes = _Modes.at(nothing, no_logits, np.zeros(len(regimes)), no_labels, whole[:0], priors)
    weights = _weights(priors.log_share)
    return tuple((float(weights[k]), part) for k, part in modes.posteriors(pool, whole, np.arange(len(regimes))))


def _weights(log_weights: FloatArray) -> FloatArray:
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def _average(pool: PreparedPool, parts: tuple[tuple[float, Posterior], ...]) -> Posterior:
    """Return the mean and covariance of the mixture, which still knows its parts."""
    weights = np.array([weight for weight, _ in parts])
    weights /= weights.sum()
    beta = np.stack([part.beta for _, part in parts])
    mean = np.tensordot(weights, beta, 1)
    off = beta - mean
    within = np.tensordot(weights, np.stack([part.covariance for _, part in parts]), 1)
    between = np.einsum("k,kri,krj->rij", weights, off, off)
    main = parts[int(weights.argmax())][1]
    mixture = tuple((float(weight), part) for weight, (_, part) in zip(weights, parts, strict=True))
    return Posterior(
        pool,
        mean,
        within + between,
        main.theta,
        main.theta_covariance,
        main.follow,
        main.own,
        main.tau_squared,
        mixture,
    )


@dataclass(frozen=True, eq=False)
class _State:
    """Where the searches stand: theta (K, P), and u (K, L, 3) of the L labelled relations."""

    theta: FloatArray
    u: FloatArray


@dataclass(frozen=True, eq=False)
class _Modes:
    """The negative log posteriors at a state, with gradients and Hessians as blocks; see ``model``."""

    state: _State
    labels: LabelTable
    priors: _Priors
    value: FloatArray  # (K,)
    gradient: FloatArray  # (K, L, 3) of the likelihood
    S: FloatArray  # (K, L, 3, 3)
    D_inverse: FloatArray  # (K, L, 3, 3)
    SG: FloatArray  # (K, L, 3, P)
    A: FloatArray  # (K, P, P)

    @classmethod
    def at(
        cls, state: _State, eta: FloatArray, value: FloatArray, labels: LabelTable, G: FloatArray, priors: _Priors
    ) -> _Modes:
        """Lay out the blocks where every label's logit is ``eta``, shape (K, l), and the objectives are ``value``."""
        count, size = len(state.theta), G.shape[-1]
        p = sigmoid(eta)
        gradient = _sum_groups(labels.psi * (p - labels.truth)[..., None], labels)
        S = _sum_groups(labels.squares * (p * (1 - p))[..., None], labels).reshape(count, -1, 3, 3)
        D_inverse = inverse(S + priors.penalty[:, None, :, None] * np.eye(3))
        SG = S @ G
        flat, solved = SG.reshape(count, -1, size), (D_inverse @ SG).reshape(count, -1, size)
        from_labels = G.reshape(-1, size).T @ flat - flat.transpose(0, 2, 1) @ solved
        A = priors.precision[:, :, None] * np.eye(size) + from_labels
        return cls(state, labels, priors, value, gradient, S, D_inverse, SG, A)

    def step(self, G: FloatArray) -> _State:
        """Return Newton's step for every regime."""
        priors, state, count = self.priors, self.state, len(self.A)
        own = self.gradient + priors.penalty[:, None] * state.u
        shared = self.gradient.reshape(count, -1) @ G.reshape(-1, G.shape[-1])
        shared = shared + priors.precision * (state.theta - priors.mean)
        solved = (self.D_inverse @ own[..., None])[..., 0]
        right = shared - np.einsum("kli,klip->kp", solved, self.SG)
        theta = np.linalg.solve(self.A, right[..., None])[..., 0]
        u = solved - (self.D_inverse @ (self.SG @ theta[:, None, :, None]))[..., 0]
        return _State(theta, u)

    def evidence(self) -> FloatArray:
        """Return the log marginal likelihood of the labels under each regime, shape (K,), by Laplace's method."""
        priors, count = self.priors, self.state.u.shape[1]
        shared = np.log(priors.precision).sum(axis=1) - np.linalg.slogdet(self.A)[1]
        own = count * np.log(priors.penalty).sum(axis=1) + np.linalg.slogdet(self.D_inverse)[1].sum(axis=1)
        return np.asarray(0.5 * (shared + own) - self.value)

    def posteriors(self, pool: PreparedPool, whole: FloatArray, chosen: IntArray) -> list[tuple[int, Posterior]]:
        """Spread some regimes' fits from the labelled relations to all of them."""
        found = []
        for k in chosen.tolist():
            beta = whole @ self.state.theta[k]
            beta[self.labels.relations] += self.state.u[k]
            S = np.zeros((len(beta), 3, 3))
            S[self.labels.relations] = self.S[k]
            penalty = np.diag(self.priors.penalty[k])
            own = inverse(S + penalty)
            follow = own @ penalty @ whole
            theta_covariance = inverse(self.A[k])
            covariance = own + follow @ theta_covariance @ follow.transpose(0, 2, 1)
            tau_squared = 1 / self.priors.penalty[k]
            theta = self.state.theta[k]
            found.append((k, Posterior(pool, beta, covariance, theta, theta_covariance, follow, own, tau_squared)))
        return found


def _find_modes(labels: LabelTable, G: FloatArray, priors: _Priors) -> _Modes:
    """Walk to every regime's mode; a regime's step is halved until its objective does not rise."""
    count = len(priors.mean)
    start = _State(priors.mean, np.zeros((count, len(labels.relations), 3)))
    eta = _heights(start, labels, G)
    modes = _Modes.at(start, eta, _values(start, eta, labels, priors), labels, G, priors)
    for _ in range(_STEPS):
        before, step, size = modes, modes.step(G), np.ones(count)
        while True:
            trial = _State(
                before.state.theta - size[:, None] * step.theta, before.state.u - size[:, None, None] * step.u
            )
            eta = _heights(trial, labels, G)
            value = _values(trial, eta, labels, priors)
            worse = (value > before.value) & (size >= 1e-3)
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        modes = _Modes.at(trial, eta, value, labels, G, priors)
        if np.abs(before.value - modes.value).max() < 1e-5:
            break
    return modes


def _heights(state: _State, labels: LabelTable, G: FloatArray) -> FloatArray:
    """Return every label's logit under every regime, shape (K, l)."""
    lines = np.einsum("lip,kp->kli", G, state.theta) + state.u
    return np.asarray(np.einsum("ij,kij->ki", labels.psi, lines[:, labels.group]))


def _values(state: _State, eta: FloatArray, labels: LabelTable, priors: _Priors) -> FloatArray:
    """Return the negative log posterior of each regime, up to a constant."""
    likelihood = softplus(eta).sum(axis=1) - eta @ labels.truth
    shared = (priors.precision * (state.theta - priors.mean) ** 2).sum(axis=1)
    own = (priors.penalty[:, None] * state.u**2).sum(axis=(1, 2))
    return np.asarray(likelihood + 0.5 * (shared + own))


def _sum_groups(values: FloatArray, labels: LabelTable) -> FloatArray:
    """Sum values of shape (K, l, ...) over the labels of each relation."""
    return np.asarray(np.add.reduceat(values, labels.starts, axis=1)) if values.shape[1] else values


REGIMES = {
    False: make_regimes(PRIORS["v3"].pool_only, one=-0.42, steep=2.4),
    True: make_regimes(PRIORS["v3"].with_known, one=-0.35, steep=2.8),
}
"""The kinds of pools, without and with known triples."""
