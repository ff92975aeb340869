"""Our own method: one model over all relations, which share strength.

A triple of relation r with centred, transformed score x is true with

    logit P(true) = psi(x) . beta_r        psi(x) = (1, min(x, 0), max(x, 0))
    beta_r = G_r theta + u_r               u_r ~ N(0, diag(tau^2)),   theta ~ N(mean, sd^2)

where G_r holds what the unlabelled scores of r say about it. The posterior is Gaussian around the mode
(Laplace), the tau are estimated (empirical Bayes). Relations meet only in theta, so the Hessian is an arrow
and is never laid out: every step costs one 3 x 3 block per relation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from actc.numeric import line_heights, line_variances, logit, moderate, psi, sigmoid, softplus
from actc.pooled.features import PreparedPool
from actc.pooled.tuned import TUNED
from actc.triples import Annotations, FloatArray, IntArray

FEATURES = ("c", "skew", "gap", "bskew")
"""The coefficients that say how a relation's line follows from its unlabelled scores."""


@dataclass(frozen=True)
class Prior:
    """What is believed before any label.

    Parameters
    ----------
    coefficients : mapping of str to (float, float)
        Mean and standard deviation of each shared coefficient.
    tau : (float, float)
        How much relations differ from what their features say: standard deviation of intercepts and of slopes.
    least_trust : float
        How much the features count at least; from there up to 1, as they bear each other out in the pool.
    freedom : float
        Degrees of freedom of Student's t, which is the prior of the intercept ("one"): pools differ in how many of
        their triples are true, and labels that contradict the prior widen it. Infinite for a Gaussian.
    """

    coefficients: Mapping[str, tuple[float, float]]
    tau: tuple[float, float] = (1.2, 0.5)
    least_trust: float = 1.0
    freedom: float = np.inf

    def on(self, pool: PreparedPool) -> Prior:
        """Return the prior for one pool."""
        trust = self.least_trust + (1 - self.least_trust) * pool.agreement
        scale = {name: trust if name in FEATURES else 1.0 for name in self.coefficients}
        return replace(
            self, coefficients={name: (scale[name] * mean, sd) for name, (mean, sd) in self.coefficients.items()}
        )

    def widened(self, theta: FloatArray, covariance: FloatArray) -> Prior:
        """Return the Gaussian that stands for the t distribution where theta is: one step of its EM algorithm."""
        if np.isinf(self.freedom):
            return self
        at = list(self.coefficients).index("one")
        mean, sd = self.coefficients["one"]
        square = (theta[at] - mean) ** 2 + covariance[at, at]
        wide = float(np.sqrt((self.freedom * sd**2 + square) / (self.freedom + 1)))
        return replace(self, coefficients={**self.coefficients, "one": (mean, wide)})

    @property
    def tau_squared(self) -> FloatArray:
        """Variances of a relation's own intercept, left and right slope, shape (3,)."""
        return np.array([self.tau[0], self.tau[1], self.tau[1]]) ** 2

    @property
    def mean(self) -> FloatArray:
        """Means, shape (P,)."""
        return np.array([mean for mean, _ in self.coefficients.values()])

    @property
    def precision(self) -> FloatArray:
        """Inverse variances, shape (P,)."""
        return np.array([sd**-2.0 for _, sd in self.coefficients.values()])


def design(pool: PreparedPool, prior: Prior) -> FloatArray:
    """Return G, shape (R + 1, 3, P): how each relation's intercept and two slopes follow from theta."""
    zero, one = np.zeros(len(pool.counts)), np.ones(len(pool.counts))
    skew = pool.features["skew"]
    columns = {
        "one": (one, zero, zero),
        "c": (pool.features["c"], zero, zero),
        "skew": (skew, zero, zero),
        "gap": (pool.features.get("gap", zero), zero, zero),
        "bskew": (zero, skew, skew),
        "diff": (zero, -one, one),
        "slope": (zero, one, one),
    }
    return np.stack([np.stack(columns[name], axis=-1) for name in prior.coefficients], axis=-1)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What the labels leave possible: every relation's broken line as a Gaussian.

    Parameters
    ----------
    pool : PreparedPool
        What it was fitted on.
    beta : float array of shape (R + 1, 3)
        Mean of intercept, left slope, right slope; the last row is "any other relation".
    covariance : float array of shape (R + 1, 3, 3)
        V.
    theta, theta_covariance : float array of shape (P,), (P, P)
        The shared coefficients.
    follow : float array of shape (R + 1, 3, P)
        M: how beta moves with theta, given the labels.
    own : float array of shape (R + 1, 3, 3)
        D^-1: what is uncertain of beta when theta is known.
    tau_squared : float array of shape (3,)
        How much relations differ from what their features say.
    mixture : tuple of (float, Posterior)
        What it is the average of, each with its weight; empty where it is one fit. The shared coefficients are then
        those of the heaviest part.
    fitted : Posterior, optional
        What it was before labels overruled some lines (``overrule``); None where none was.
    fragile : int array of shape (K,)
        The relations whose overruling hangs on a single label: without it the fitted line would decide.
    """

    pool: PreparedPool
    beta: FloatArray
    covariance: FloatArray
    theta: FloatArray
    theta_covariance: FloatArray
    follow: FloatArray
    own: FloatArray
    tau_squared: FloatArray
    mixture: tuple[tuple[float, Posterior], ...] = ()
    fitted: Posterior | None = None
    fragile: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def logits(self, x: FloatArray, relations: IntArray) -> FloatArray:
        """Return the mean logit of triples with centred scores x."""
        return line_heights(psi(x), self.beta[relations])

    def moments(self, x: FloatArray, relations: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the logit of triples with centred scores x."""
        basis = psi(x)
        return line_heights(basis, self.beta[relations]), line_variances(basis, self.covariance[relations])

    def probabilities(self, x: FloatArray, relations: IntArray) -> FloatArray:
        """Return P(true), the logit's uncertainty averaged out."""
        return moderate(*self.moments(x, relations))


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Annotations sorted by relation, in the form that the Newton steps need."""

    relations: IntArray  # (K,) the labelled ones
    starts: IntArray  # (K,) where each begins
    group: IntArray  # (l,) which of the K
    psi: FloatArray  # (l, 3)
    squares: FloatArray  # (l, 9): psi psi^T
    truth: FloatArray  # (l,)

    @classmethod
    def of(cls, pool: PreparedPool, annotations: Annotations) -> LabelTable:
        order = np.argsort(pool.places[annotations.rows])  # the result must not depend on the order of judging
        rows = annotations.rows[order]
        relations, starts, group = np.unique(pool.relations[rows], return_index=True, return_inverse=True)
        basis = psi(pool.x[rows])
        squares = (basis[:, :, None] * basis[:, None, :]).reshape(-1, 9)
        return cls(relations, starts, group, basis, squares, annotations.labels[order].astype(np.float64))


@dataclass(eq=False)
class _State:
    """Where the search stands: theta (P,) and u (K, 3) of the labelled relations."""

    theta: FloatArray
    u: FloatArray


def fit(pool: PreparedPool, annotations: Annotations, prior: Prior, rounds: int = TUNED.rounds) -> Posterior:
    """Find the posterior of all lines, given the annotations.

    Parameters
    ----------
    pool : PreparedPool
        The pool that the annotations refer to.
    annotations : Annotations
        What is known of it; may be empty.
    prior : Prior
        Belief about the shared coefficients.
    rounds : int
        How often Newton's method and the update of tau alternate.
    """
    labels, believed = LabelTable.of(pool, annotations), prior.on(pool)
    whole = design(pool, believed)
    G = whole[labels.relations]
    prior, tau_squared = believed, believed.tau_squared
    state = _State(prior.mean, np.zeros((len(labels.relations), 3)))
    for _ in range(rounds):
        state = _newton(state, labels, G, prior, 1 / tau_squared)
        arrow = _Arrow.at(state, labels, G, prior, 1 / tau_squared)
        tau_squared = _update_tau(state, arrow, prior)
        prior = believed.widened(state.theta, inverse(arrow.A))
    return _posterior(pool, whole, labels, state, arrow, tau_squared)


def _objective(state: _State, labels: LabelTable, G: FloatArray, prior: Prior, penalty: FloatArray) -> float:
    """Return the negative log posterior, up to a constant."""
    eta = line_heights(labels.psi, (G @ state.theta + state.u)[labels.group])
    likelihood = softplus(eta).sum() - labels.truth @ eta
    off = state.theta - prior.mean
    return float(likelihood + 0.5 * (prior.precision @ off**2 + (penalty * state.u**2).sum()))


@dataclass(frozen=True, eq=False)
class _Arrow:
    """The Hessian at a state, as blocks: theta's (A, the relations eliminated) and each relation's (D)."""

    gradient: FloatArray  # (K, 3) of the likelihood
    S: FloatArray  # (K, 3, 3)
    D_inverse: FloatArray  # (K, 3, 3)
    SG: FloatArray  # (K, 3, P)
    A: FloatArray  # (P, P)

    @classmethod
    def at(cls, state: _State, labels: LabelTable, G: FloatArray, prior: Prior, penalty: FloatArray) -> _Arrow:
        eta = line_heights(labels.psi, (G @ state.theta + state.u)[labels.group])
        p = sigmoid(eta)
        gradient = _sum_groups(labels.psi * (p - labels.truth)[:, None], labels)
        S = _sum_groups(labels.squares * (p * (1 - p))[:, None], labels).reshape(-1, 3, 3)
        D_inverse = inverse(S + np.diag(penalty))
        SG = S @ G
        A = np.diag(prior.precision) + _gram(G, SG) - _gram(SG, D_inverse @ SG)
        return cls(gradient, S, D_inverse, SG, A)


def _gram(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the sum over relations of left^T right, for arrays of shape (K, 3, P)."""
    return left.reshape(-1, left.shape[-1]).T @ right.reshape(-1, right.shape[-1])


def _sum_groups(values: FloatArray, labels: LabelTable) -> FloatArray:
    if not len(values):
        return values
    return np.asarray(np.add.reduceat(values, labels.starts, axis=0))


def inverse(matrices: FloatArray) -> FloatArray:
    """Return the inverses of matrices, shape (..., n, n)."""
    return np.asarray(np.linalg.inv(matrices), dtype=np.float64)


def _newton(
    state: _State, labels: LabelTable, G: FloatArray, prior: Prior, penalty: FloatArray, steps: int = 30
) -> _State:
    """Walk to the mode; the step is halved until the objective does not rise."""
    value = _objective(state, labels, G, prior, penalty)
    for _ in range(steps):
        arrow = _Arrow.at(state, labels, G, prior, penalty)
        own = arrow.gradient + penalty * state.u
        shared = arrow.gradient.ravel() @ G.reshape(-1, G.shape[-1]) + prior.precision * (state.theta - prior.mean)
        own_solved = np.einsum("kij,kj->ki", arrow.D_inverse, own)
        d_theta = np.linalg.solve(arrow.A, shared - own_solved.ravel() @ arrow.SG.reshape(-1, G.shape[-1]))
        d_u = own_solved - np.einsum("kij,kj->ki", arrow.D_inverse, arrow.SG @ d_theta)
        size = 1.0
        while True:
            trial = _State(state.theta - size * d_theta, state.u - size * d_u)
            new = _objective(trial, labels, G, prior, penalty)
            if new <= value or size < 1e-3:
                break
            size /= 2
        state, change, value = trial, value - new, new
        if abs(change) < 1e-5:
            break
    return state


def _update_tau(state: _State, arrow: _Arrow, prior: Prior) -> FloatArray:
    """Return tau^2 that makes the relations' own deviations about as large as they look."""
    follow = arrow.D_inverse @ arrow.SG
    spread = arrow.D_inverse + follow @ inverse(arrow.A) @ follow.transpose(0, 2, 1)
    expected = (state.u**2 + np.diagonal(spread, axis1=1, axis2=2)).sum(axis=0)
    count, start = len(state.u), prior.tau_squared
    of_intercept, of_slope = TUNED.tau_weight
    intercept = (of_intercept * start[0] + expected[0]) / (of_intercept + count)
    slope = (of_slope * start[1] + expected[1] + expected[2]) / (of_slope + 2 * count)
    return np.array([intercept, slope, slope])


def _posterior(
    pool: PreparedPool,
    whole: FloatArray,
    labels: LabelTable,
    state: _State,
    arrow: _Arrow,
    tau_squared: FloatArray,
) -> Posterior:
    """Spread the fit from the labelled relations to all of them."""
    beta = whole @ state.theta
    beta[labels.relations] += state.u
    S = np.zeros((len(beta), 3, 3))
    S[labels.relations] = arrow.S
    penalty = np.diag(1 / tau_squared)
    own = inverse(S + penalty)
    follow = own @ penalty @ whole
    theta_covariance = inverse(arrow.A)
    covariance = own + follow @ theta_covariance @ follow.transpose(0, 2, 1)
    return Posterior(pool, beta, covariance, state.theta, theta_covariance, follow, own, tau_squared)


def cut_for_accuracy(posterior: Posterior) -> float:
    """Return the logit from which on a triple is accepted, for the most right decisions."""
    return 0.0


def cut_for_f1(posterior: Posterior) -> float:
    """Return the logit from which on a triple is accepted, for the best expected F1 on the pool."""
    pool = posterior.pool
    p = posterior.probabilities(pool.x, pool.relations)
    order = np.argsort(-p, kind="stable")
    p, weight = p[order], pool.weights[order]
    true = np.cumsum(weight * p)
    expected = 2 * true / (np.cumsum(weight) + true[-1])
    cut = np.clip(p[np.argmax(expected)], 1e-6, 0.5)
    return float(logit(cut))


def find_cuts(posterior: Posterior, objective: str = "accuracy") -> FloatArray:
    """Return each relation's cut in scores, shape (R + 1,); the last is for any other relation."""
    return cuts_at(posterior, posterior.beta, OBJECTIVES[objective](posterior))


def cuts_at(posterior: Posterior, beta: FloatArray, level: float = 0.0) -> FloatArray:
    """Return where lines with coefficients beta, shape (..., R + 1, 3), cross a logit, as cuts in scores."""
    return posterior.pool.normal.to_cuts(posterior.pool.features["c"] + crossings(beta, level))


def crossings(beta: FloatArray, level: float = 0.0) -> FloatArray:
    """Return x where lines with coefficients beta, shape (..., 3), cross a logit."""
    height = level - beta[..., 0]
    return np.asarray(height / np.maximum(np.where(height < 0, beta[..., 1], beta[..., 2]), TUNED.slope_floor))


def line_through(beta: FloatArray, x: FloatArray) -> FloatArray:
    """Return lines of the same slopes, shape (k, 3), whose intercept makes them cross 0 at x, shape (k,)."""
    slope = np.maximum(np.where(x < 0, beta[:, 1], beta[:, 2]), TUNED.slope_floor)
    return np.column_stack([-x * slope, beta[:, 1:]])


OBJECTIVES = {"accuracy": cut_for_accuracy, "f1": cut_for_f1}

_V1_SHARED = {"bskew": (0.6, 0.5), "diff": (0.0, 0.5), "slope": (1.5, 0.7)}


@dataclass(frozen=True)
class Version:
    """A version of the method.

    Parameters
    ----------
    pool_only, with_known : Prior
        What is believed without and with known triples.
    overrules : bool
        Whether labels may overrule a line.
    averages : bool
        Whether the prior is one of several kinds of pools, between which labels decide (``regimes``).
    of_log_odds : bool
        Whether scores are taken as log-odds (``log_odds``).
    """

    pool_only: Prior
    with_known: Prior
    overrules: bool = False
    averages: bool = False
    of_log_odds: bool = False


# Means and spreads of the coefficients fitted to all validation labels of the eight CoDEx cells, rounded; but the
# intercept (one) is free to be elsewhere, since other pools have other shares of true triples. In every cell the curve
# is flat on the left and steep on the right (diff), and a relation's median triple is false (one).
_V2_SHARED = {"bskew": (0.3, 0.4), "slope": (1.5, 0.5)}
_V2_POOL_ONLY = Prior(
    {"one": (-0.35, 0.5), "c": (1.0, 0.8), "skew": (-1.5, 0.7), "diff": (0.7, 0.4), **_V2_SHARED},
    tau=(1.2, 0.6),
    least_trust=0.1,
    freedom=1.0,
)
_V2_WITH_KNOWN = Prior(
    {"one": (-0.45, 0.5), "c": (0.4, 0.7), "skew": (-0.75, 0.5), "gap": (-2.0, 0.9), "diff": (0.9, 0.4), **_V2_SHARED},
    tau=(0.8, 0.6),
    least_trust=0.1,
    freedom=1.0,
)

# Scores that evidence made. All pool labels of six proving cells ask for intercepts from -1.4 to .4 and slopes from .9
# to 1.6 (docs/evidence.md); half and twice these widths decide nearly alike (benchmarks/evidence/choice.csv, line and
# tau).
_LOG_ODDS = Prior(
    {"one": (0.0, 0.5), "diff": (0.0, 0.25), "slope": (1.0, 0.3)},
    tau=(0.6, 0.25),
    freedom=2.0,
)


def _without_features(prior: Prior) -> Prior:
    return replace(prior, coefficients={k: v for k, v in prior.coefficients.items() if k not in FEATURES})


PRIORS: dict[str, Version] = {
    "v1": Version(
        Prior({"one": (0.0, 0.8), "c": (0.7, 0.8), "skew": (-1.0, 0.8), **_V1_SHARED}),
        Prior({"one": (0.0, 0.8), "c": (0.3, 0.8), "skew": (-0.7, 0.8), "gap": (-2.0, 1.0), **_V1_SHARED}),
    ),
    "v2": Version(_V2_POOL_ONLY, _V2_WITH_KNOWN, overrules=True),
    "v3": Version(_V2_POOL_ONLY, _V2_WITH_KNOWN, overrules=True, averages=True),
    "plain": Version(_without_features(_V2_POOL_ONLY), _without_features(_V2_POOL_ONLY), overrules=True),
    "log-odds": Version(_LOG_ODDS, _LOG_ODDS, overrules=True, of_log_odds=True),
}
"""Versions of the method: v1 as first specified; v2 better on CoDEx; v3, the default, averages over kinds of pools;
plain is v2, but blind to relations' features; log-odds is for scores that are log-odds already."""
