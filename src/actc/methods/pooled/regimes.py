"""What kind of pool is this? One prior per kind, averaged by what the pool and the answers say.

Two things differ between pools: whether few of the candidates are true, about half or most, and what tells relations
apart. Nobody knows beforehand which kind a pool is of. So the model is fitted once under the prior of each kind (a
regime), all in one pass, and the fits are averaged. Each is weighted by its share at the start times how well it
predicted the answers (Laplace's approximation of the marginal likelihood). Whether humps of the scores mean anything is
decided in the same way: by how well the answers are predicted with them and without. What the fits disagree about is
part of the uncertainty that the average has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from actc.data.triples import Annotations, FloatArray
from actc.methods.pooled.features import PreparedPool
from actc.methods.pooled.model import Posterior, Prior, design
from actc.methods.pooled.solve import LabelTable, Modes, Priors, find_modes, find_valleys
from actc.methods.pooled.tuned import TUNED

Coefficient = tuple[float, float]


@dataclass(frozen=True)
class Beliefs:
    """The numbers of the regimes' priors: means with standard deviations, and taus.

    What the features tell was fitted to all validation labels of the eight CoDEx cells and rounded; the rest was
    chosen: benchmarks/real/choices.csv.
    """

    # How features move a relation's intercept and slopes where they tell, and the intercept that was fitted beside
    # them; where the graph's own triples are scored, gap tells most of what the others would. In the other regimes
    # they tell nothing, give or take.
    told: tuple[tuple[str, Coefficient], ...] = (("c", (1.0, 0.8)), ("skew", (-1.5, 0.7)), ("bskew", (0.3, 0.4)))
    told_with_known: tuple[tuple[str, Coefficient], ...] = (
        ("c", (0.4, 0.8)),
        ("skew", (-0.75, 0.7)),
        ("bskew", (0.3, 0.4)),
        ("gap", (-2.0, 0.9)),
    )
    told_one: float = -0.4
    untold: Coefficient = (0.0, 0.3)
    # The logit of a relation's median candidate is so far below 0 where few are true, and as far above 0 where most
    # are: log-odds of 1 to 10. How far off that and 0 may be.
    tilt: float = 2.3
    off: float = 0.5
    # How much steeper the curve is on the right; its slope where features tell, where relations are alike, and where
    # they are and few or most are true.
    diff: Coefficient = (0.7, 0.4)
    slopes: tuple[float, float, float] = (1.5, 2.0, 1.2)
    slope_off: float = 0.6
    # How much relations differ in intercept from the above, and how much where they are alike; and in slopes.
    tau: tuple[float, float] = (1.2, 0.3)
    slope_tau: float = 0.5


def make_regimes(beliefs: Beliefs, known: bool) -> tuple[Prior, ...]:
    """Return the nine priors, for pools without or with known triples.

    Few, half or most are true; in each of these, features tell relations apart, relations are alike, or one cut does
    for all of them.
    """
    told = dict(beliefs.told_with_known if known else beliefs.told)
    untold = dict.fromkeys(told, beliefs.untold)
    steep_told, steep_alike, steep_tilted = beliefs.slopes
    differ, alike = beliefs.tau
    # Scores are centred on their relation's median; a coefficient like the slope puts all cuts at one score.
    one_cut = {**untold, "c": (steep_alike, beliefs.untold[1])}

    def prior(features: dict[str, Coefficient], one: float, slope: float, tau: float) -> Prior:
        shared = {"one": (one, beliefs.off), "diff": beliefs.diff, "slope": (slope, beliefs.slope_off)}
        return Prior({**features, **shared}, (tau, beliefs.slope_tau))

    regimes: list[Prior] = []
    for base in (-beliefs.tilt, 0.0, beliefs.tilt):
        regimes += [
            prior(told, base + beliefs.told_one, steep_told, differ),
            prior(untold, base, steep_tilted if base else steep_alike, alike),
            prior(one_cut, base, steep_alike, differ),
        ]
    return tuple(regimes)


def find_shares(pool: PreparedPool) -> FloatArray:
    """Return each regime's weight before humps and answers, shape (9,).

    Where features disagree, half of the weight is on pools in which about half is true, and half on features that tell
    relations apart. As features agree, they tell how many candidates of each relation are true; and where relations
    differ in that, neither few nor most of all candidates are. As a pool looks like lists of answers, few are.
    """
    sure = 0.5 + (TUNED.told - 0.5) * pool.agreement
    rest = (1 - sure) / 2
    listed = TUNED.listed_trust * pool.listed
    bases = (1 - listed) * np.array([rest, sure, rest]) + listed * np.array([1.0, 0.0, 0.0])
    return np.outer(bases, [sure, rest, rest]).ravel()


def fit_regimes(pool: PreparedPool, annotations: Annotations, regimes: tuple[Prior, ...]) -> Posterior:
    """Return the average of all regimes' fits, with humps and without.

    Parameters
    ----------
    pool : PreparedPool
        The pool that the annotations refer to.
    annotations : Annotations
        What is known of it; may be empty.
    regimes : tuple of Prior
    """
    log_shares = np.log(find_shares(pool))
    fits = [_fit_each(pool, annotations, regimes, False)]
    log_weights = [log_shares + fits[0].evidence()]
    if len(find_valleys(pool)[0]):
        fits.append(_fit_each(pool, annotations, regimes, True))
        log_weights.append(log_shares + fits[1].evidence() - _log_evidence_of_valleys(pool, regimes))
    weights = np.exp(np.concatenate(log_weights) - np.max(log_weights))
    weights /= weights.sum()
    whole = design(pool, regimes[0].coefficients)
    kept = np.flatnonzero(weights > TUNED.least_weight).tolist()
    count = len(regimes)
    return average(pool, tuple((float(weights[k]), fits[k // count].posterior(pool, whole, k % count)) for k in kept))


@lru_cache(maxsize=8)
def _log_evidence_of_valleys(pool: PreparedPool, regimes: tuple[Prior, ...]) -> float:
    """Return how well the valleys alone were predicted, so that only answers speak for them or against."""
    found = np.log(find_shares(pool)) + _fit_each(pool, Annotations(), regimes, True).evidence()
    return float(np.logaddexp.reduce(found))


def _fit_each(pool: PreparedPool, annotations: Annotations, regimes: tuple[Prior, ...], valleys: bool) -> Modes:
    """Return the mode under each prior."""
    labels = LabelTable.of(pool, annotations, valleys)
    return find_modes(labels, design(pool, regimes[0].coefficients)[labels.relations], Priors.of(regimes))


def average(pool: PreparedPool, parts: tuple[tuple[float, Posterior], ...]) -> Posterior:
    """Return the mean and covariance of the mixture, which still knows its parts."""
    weights = np.array([weight for weight, _ in parts])
    weights /= weights.sum()
    beta = np.stack([part.beta for _, part in parts])
    mean = np.tensordot(weights, beta, 1)
    off = beta - mean
    within = np.tensordot(weights, np.stack([part.covariance for _, part in parts]), 1)
    between = np.einsum("k,kri,krj->rij", weights, off, off)
    mixture = tuple((float(weight), part) for weight, (_, part) in zip(weights, parts, strict=True))
    return Posterior(pool, mean, within + between, mixture)


REGIMES = {known: make_regimes(Beliefs(), known) for known in (False, True)}
"""The kinds of pools, without and with known triples."""
