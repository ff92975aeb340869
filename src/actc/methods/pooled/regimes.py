"""What kind of pool is this? One prior per kind, averaged by what the pool and the answers say.

Two things differ between pools: whether few of the candidates are true, about half or most, and how relations differ.
Nobody knows beforehand which kind a pool is of. So the model is fitted once under the prior of each kind (a regime),
all in one pass, and the fits are averaged. Each is weighted by its share at the start times how well it predicted the
answers (Laplace's approximation of the marginal likelihood). Whether two clusters of scores mean anything is decided in
the same way: by how well the answers are predicted with them and without. What the fits disagree about is part of the
uncertainty of the average.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import FloatArray
from actc.methods.pooled import tuned
from actc.methods.pooled.features import PreparedPool
from actc.methods.pooled.model import Posterior, Priors, design
from actc.methods.pooled.solve import LabelTable, Modes, find_modes, weigh_valleys


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


def fit_regimes(pool: PreparedPool, annotations: Annotations, regimes: Priors) -> Posterior:
    """Return the average of all regimes' fits, with valleys and without."""
    log_shares = np.log(regime_shares(pool))
    fits = [_fit_each(pool, annotations, regimes, False)]
    log_weights = [log_shares + fits[0].evidence()]
    if len(weigh_valleys(pool)[0]):
        fits.append(_fit_each(pool, annotations, regimes, True))
        log_weights.append(log_shares + fits[1].evidence() - _log_evidence_of_valleys(pool, regimes))
    weights = np.exp(np.concatenate(log_weights) - np.max(log_weights))
    weights /= weights.sum()
    whole, count = design(pool, regimes.names), len(regimes.mean)
    large = np.flatnonzero(weights > tuned.LEAST_WEIGHT).tolist()
    parts = [fits[k // count].posterior(pool, whole, k % count, regimes.penalty[k % count]) for k in large]
    return average(pool, weights[large], parts)


@lru_cache(maxsize=8)
def _log_evidence_of_valleys(pool: PreparedPool, regimes: Priors) -> float:
    """Return how well the valleys alone were predicted, so that only answers count for them or against."""
    alone = np.log(regime_shares(pool)) + _fit_each(pool, Annotations(), regimes, True).evidence()
    return float(np.logaddexp.reduce(alone))


def _fit_each(pool: PreparedPool, annotations: Annotations, regimes: Priors, valleys: bool) -> Modes:
    """Return the mode under each prior."""
    labels = LabelTable.of(pool, annotations, valleys)
    return find_modes(labels, design(pool, regimes.names)[labels.relations], regimes)


def average(pool: PreparedPool, weights: FloatArray, parts: list[Posterior]) -> Posterior:
    """Return the mean and covariance of the mixture, which still has its parts."""
    weights = weights / weights.sum()
    beta = np.stack([part.beta for part in parts])
    mean = np.tensordot(weights, beta, 1)
    off = beta - mean
    within = np.tensordot(weights, np.stack([part.covariance for part in parts]), 1)
    between = np.einsum("k,kri,krj->rij", weights, off, off)
    return Posterior(pool, mean, within + between, tuple(zip(weights.tolist(), parts, strict=True)))
