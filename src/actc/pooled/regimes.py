"""What kind of pool is this? One prior per kind, averaged by what the pool and the answers say.

Two things differ between pools: whether about half of the candidates are true or hardly any, and what tells relations
apart. Nobody knows beforehand which kind a pool is of. So the model is fitted once under the prior of each kind (a
regime), all in one pass, and the fits are averaged. Each is weighted by its share at the start times how well it
foresaw the humps of the scores and the answers (Laplace's approximation of the marginal likelihood). What the fits
disagree about is part of the doubt that the average carries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from actc.pooled.features import PreparedPool
from actc.pooled.model import Posterior, Prior, design
from actc.pooled.solve import LabelTable, Priors, find_modes
from actc.pooled.tuned import TUNED
from actc.triples import Annotations, FloatArray

Coefficient = tuple[float, float]


@dataclass(frozen=True)
class Beliefs:
    """The numbers of the regimes' priors: means with standard deviations, and taus.

    What the features tell was fitted to all validation labels of the eight CoDEx cells and rounded; the rest was
    chosen: benchmarks/proving/choices.csv.gz.
    """

    # How features move a relation's intercept and slopes where they tell; where the graph's own triples are scored,
    # gap tells most of what the others would. In the other regimes they tell nothing, give or take.
    told: tuple[tuple[str, Coefficient], ...] = (("c", (1.0, 0.8)), ("skew", (-1.5, 0.7)), ("bskew", (0.3, 0.4)))
    told_with_known: tuple[tuple[str, Coefficient], ...] = (
        ("c", (0.4, 0.8)),
        ("skew", (-0.75, 0.7)),
        ("bskew", (0.3, 0.4)),
        ("gap", (-2.0, 0.9)),
    )
    untold: Coefficient = (0.0, 0.3)
    # The logit of a relation's median candidate where about half is true, and where hardly any is; how far off it may
    # be.
    half: float = -0.4
    few: float = -2.6
    off: float = 0.5
    # How much steeper the curve is on the right; its slope where features tell, where relations are alike, and where
    # they are and few are true.
    diff: Coefficient = (0.7, 0.4)
    slopes: tuple[float, float, float] = (1.5, 2.0, 1.2)
    slope_off: float = 0.6
    # How much relations differ in intercept from what is said above: where features tell, where they are alike, where
    # one cut does for all; and in slopes.
    tau: tuple[float, float, float] = (1.2, 0.3, 0.8)
    slope_tau: float = 0.5


@dataclass(frozen=True, eq=False)
class Regime:
    """One kind of pool.

    Parameters
    ----------
    prior : Prior
        What is believed of such pools.
    told : bool
        Whether features tell relations apart, so that features that agree speak for it.
    few : bool
        Whether hardly any candidate is true, so that lists of answers speak for it.
    """

    prior: Prior
    told: bool = False
    few: bool = False


def make_regimes(beliefs: Beliefs, known: bool) -> tuple[Regime, ...]:
    """Return the regimes, for pools without and with known triples."""
    told = dict(beliefs.told_with_known if known else beliefs.told)
    untold = dict.fromkeys(told, beliefs.untold)
    steep_told, steep_alike, steep_few = beliefs.slopes
    tau_told, tau_alike, tau_cut = beliefs.tau

    def prior(features: dict[str, Coefficient], one: float, slope: float, tau: float) -> Prior:
        shared = {"one": (one, beliefs.off), "diff": beliefs.diff, "slope": (slope, beliefs.slope_off)}
        return Prior({**features, **shared}, (tau, beliefs.slope_tau))

    # Scores are centred on their relation's median; a coefficient like the slope puts all cuts at one score.
    one_cut = {**untold, "c": (steep_alike, beliefs.untold[1])}
    return (
        Regime(prior(told, beliefs.half, steep_told, tau_told), told=True),
        Regime(prior(untold, beliefs.half, steep_alike, tau_alike)),
        Regime(prior(one_cut, beliefs.half, steep_alike, tau_cut)),
        Regime(prior(told, beliefs.few, steep_told, tau_told), few=True),
        Regime(prior(untold, beliefs.few, steep_few, tau_alike), few=True),
    )


def find_shares(pool: PreparedPool, regimes: tuple[Regime, ...]) -> FloatArray:
    """Return each regime's weight before humps and answers, shape (K,).

    As features agree, the regime in which they tell gains; the others share what is left. As a pool looks like lists
    of answers, the regimes in which few are true gain.
    """
    least, most = TUNED.told
    first = np.array([regime.told for regime in regimes])
    told = least + (most - least) * pool.agreement
    shares = np.where(first, told, (1 - told) / max(np.sum(~first), 1))
    few = np.array([regime.few for regime in regimes])
    listed = TUNED.listed_trust * pool.listed if few.any() else 0.0
    return np.asarray((1 - listed) * shares / shares.sum() + listed * few / max(few.sum(), 1))


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
    start = _start(pool, regimes)
    if not len(annotations):
        return average(pool, start)
    # A few labels of one relation say little about the others where features do not agree or do not matter, so the
    # start is kept in the average beside them, as if it were worth that many labels.
    kept = TUNED.start_counts * max(1 - pool.agreement, pool.listed)
    kept /= kept + len(annotations)
    found = _fit_each(pool, annotations, regimes)
    parts = [((1 - kept) * weight, part) for weight, part in found]
    return average(pool, (*parts, *((kept * weight, part) for weight, part in start if kept > 0)))


@lru_cache(maxsize=8)
def _start(pool: PreparedPool, regimes: tuple[Regime, ...]) -> tuple[tuple[float, Posterior], ...]:
    """Return each regime's weight and its lines before any label."""
    return _fit_each(pool, Annotations(), regimes)


def _fit_each(
    pool: PreparedPool, annotations: Annotations, regimes: tuple[Regime, ...]
) -> tuple[tuple[float, Posterior], ...]:
    """Return the weight and the fit of each regime that has any weight to speak of."""
    labels, whole = LabelTable.of(pool, annotations), design(pool, regimes[0].prior.coefficients)
    modes = find_modes(labels, whole[labels.relations], Priors.of([regime.prior for regime in regimes]))
    log_weights = np.log(find_shares(pool, regimes)) + modes.evidence()
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    return tuple(
        (float(weights[k]), modes.posterior(pool, whole, k))
        for k in np.flatnonzero(weights > TUNED.least_weight).tolist()
    )


def average(pool: PreparedPool, parts: tuple[tuple[float, Posterior], ...]) -> Posterior:
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
    return Posterior(pool, mean, within + between, main.theta, main.theta_covariance, main.follow, main.own, mixture)


REGIMES = {known: make_regimes(Beliefs(), known) for known in (False, True)}
"""The kinds of pools, without and with known triples."""
