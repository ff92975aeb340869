"""What machine judges are worth: how each answers, given the truth, learnt from triples that people judged too.

A judge's answer is more or less probable by what is true (its weight), by whatever it says anyway (its readiness to say
"true"), by what the score and the evidence say, and by what other judges said (an echo of them tells nothing new). Its
answer adds to a triple's log-odds how much more probable it is of a true triple than of a false one: nothing for a
judge that agrees no better than chance, and the other way round for one that is wrong on purpose. Before there is any
triple that both judged, the weight is believed to be around ``PRIOR.weight``. Each relation may have a weight of its
own near the judge's, as far as the answers ask for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from actc.numeric import moderate, sigmoid
from actc.triples import BoolArray, FloatArray, IntArray

STEPS = 50
ECHO_BOUND, ECHO_UNIT = 4.0, 2.0
"""Log-odds beyond the bound say no more than the bound; so many log-odds are one unit of an echo."""

STEEPNESS_SPREAD = 0.3
"""How far from 1 what log-odds are multiplied by is believed to lie."""


@dataclass(frozen=True)
class WeightPrior:
    """What is believed of judges before people judged what they judged; chosen on CoDEx-S and nations.

    Parameters
    ----------
    weight, spread : float
        Mean and standard deviation of a judge's weight, in log-odds: 0.7 is a judge that is right two times in three.
    readiness : float
        Standard deviation of its readiness to say "true", in log-odds.
    echo : float
        Standard deviation of how far it says what score and evidence, or another judge, say, whatever the truth.
    by_relation : tuple of float
        How far relations' weights may lie from the judge's; each is tried, and counts by how well it foresees answers.
    nothing : float
        The belief that it knows nothing: that its weight is 0.
    """

    weight: float = 0.7
    spread: float = 1.0
    readiness: float = 0.5
    echo: float = 0.3
    by_relation: tuple[float, ...] = (0.0, 0.5)
    nothing: float = 0.5


PRIOR = WeightPrior()


@dataclass(frozen=True, eq=False)
class JudgeWeight:
    """What one judge is worth.

    Parameters
    ----------
    own : float
        Its weight over all relations: the log-odds that its "true" adds, if it says true and false alike and echoes
        nobody.
    by_relation : float array of shape (R + 1,)
        The weight in each relation; the last is for any other.
    others : float array of shape (P - 1,)
        Readiness, echo of score and evidence, echo of each judge before it.
    covariance : float array of shape (P, P)
        Of the weight and the others.
    compared : int
        Triples that it and people judged.
    """

    own: float
    by_relation: FloatArray
    others: FloatArray
    covariance: FloatArray
    compared: int

    @property
    def spread(self) -> float:
        """The standard deviation of its weight."""
        return float(np.sqrt(self.covariance[0, 0]))

    def add(self, signals: FloatArray, context: FloatArray, relations: IntArray) -> FloatArray:
        """Return what its answers add to log-odds, shape (M,); 0 where it said nothing.

        Parameters
        ----------
        signals : float array of shape (M,)
            What it said, NaN where nothing.
        context : float array of shape (M, P - 1)
            What it may echo, see :func:`contexts`.
        """
        weight = self.by_relation[np.minimum(relations, len(self.by_relation) - 1)]
        said = np.where(np.isnan(signals), 0.0, signals)
        if_true, if_false = (self._log_probability(said, context, weight, side) for side in (1.0, -1.0))
        return np.where(np.isnan(signals), 0.0, if_true - if_false)

    def _log_probability(self, said: FloatArray, context: FloatArray, weight: FloatArray, truth: float) -> FloatArray:
        """Return the log of how probable its answers are if all triples are true (1), or false (-1)."""
        sure = np.abs(said) * truth
        design = np.column_stack([sure, context])
        variance = np.einsum("mi,ij,mj->m", design, self.covariance, design, optimize=True)
        p = moderate(weight * sure + context @ self.others, variance)
        return np.asarray(np.log(np.clip(np.where(said > 0, p, 1 - p), 1e-9, 1)))


@dataclass(frozen=True, eq=False)
class JudgeWeights:
    """What each of several judges is worth, heard one after the other."""

    judges: tuple[JudgeWeight, ...]

    def add(self, signals: FloatArray, relations: IntArray, logits: FloatArray) -> FloatArray:
        """Return what all judges add to the log-odds of triples, shape (M,).

        Parameters
        ----------
        signals : float array of shape (M, J)
            What each judge said, NaN where nothing.
        relations : int array of shape (M,)
            Codes.
        logits : float array of shape (M,)
            What is believed of each triple without judges.
        """
        added = np.zeros(len(signals))
        asked = np.flatnonzero(~np.isnan(signals).all(axis=1))  # most of a large pool may be left alone
        for at, judge in enumerate(self.judges):
            context = contexts(signals[asked], logits[asked], at)
            added[asked] += judge.add(signals[asked, at], context, relations[asked])
        return added


def contexts(signals: FloatArray, logits: FloatArray, judge: int) -> FloatArray:
    """Return what a judge may echo, shape (M, 2 + judge): anything, score and evidence, the judges before it."""
    believed = np.clip(logits, -ECHO_BOUND, ECHO_BOUND) / ECHO_UNIT
    before = np.nan_to_num(signals[:, :judge])
    return np.column_stack([np.ones(len(logits)), believed, before])


def learn_weights(
    signals: FloatArray,
    relations: IntArray,
    logits: FloatArray,
    truth: BoolArray,
    count: int,
    prior: WeightPrior = PRIOR,
) -> JudgeWeights:
    """Learn what judges are worth from the triples that people judged.

    Parameters
    ----------
    signals : float array of shape (l, J)
        What judges said of them, NaN where nothing.
    relations : int array of shape (l,)
        Their relations, of ``count``.
    logits : float array of shape (l,)
        What was believed of each without the judges, and without the person's answer to it.
    truth : bool array of shape (l,)
        What people said.
    """
    side = np.where(truth, 1.0, -1.0)
    found = []
    for at in range(signals.shape[1]):
        there = ~np.isnan(signals[:, at])
        context = contexts(signals, logits, at)[there]
        found.append(_learn_one(signals[there, at], side[there], context, relations[there], count, prior))
    return JudgeWeights(tuple(found))


def _learn_one(
    said: FloatArray, side: FloatArray, context: FloatArray, relations: IntArray, count: int, prior: WeightPrior
) -> JudgeWeight:
    """Fit one judge under each width of relations' weights; average by how well each foresees its answers."""
    ignorant = replace(prior, weight=0.0, spread=1e-3)
    fits = [_Fit.of(said, side, context, relations, 0.0, ignorant)]
    fits += [_Fit.of(said, side, context, relations, width, prior) for width in prior.by_relation]
    likelihood = np.array([fit.likelihood for fit in fits])
    others = len(prior.by_relation)
    belief = np.exp(likelihood - likelihood.max())
    belief *= np.array([prior.nothing, *[(1 - prior.nothing) / others] * others])
    belief /= belief.sum()
    means = np.stack([fit.mean for fit in fits])
    mean = belief @ means
    covariance = np.tensordot(belief, np.stack([fit.covariance for fit in fits]), 1)
    covariance = covariance + np.einsum("k,ki,kj->ij", belief, means - mean, means - mean)
    weights = np.full(count + 1, mean[0])
    for share, fit in zip(belief, fits, strict=True):
        weights[fit.relations] += share * fit.apart
    return JudgeWeight(float(mean[0]), weights, mean[1:], covariance, len(said))


@dataclass(frozen=True, eq=False)
class _Fit:
    """The mode under one width of relations' weights, and Laplace's approximation around it."""

    mean: FloatArray  # (P,) the weight, then the others
    covariance: FloatArray  # (P, P)
    relations: IntArray  # (L,) those that people judged something of
    apart: FloatArray  # (L,) their weights, less the judge's own
    likelihood: float

    @classmethod
    def of(
        cls,
        said: FloatArray,
        side: FloatArray,
        context: FloatArray,
        relations: IntArray,
        width: float,
        prior: WeightPrior,
    ) -> _Fit:
        sure, size = np.abs(said) * side, 1 + context.shape[1]
        used, place = np.unique(relations, return_inverse=True)
        own = np.zeros((len(said), len(used) if width else 0))
        if width:
            own[np.arange(len(said)), place] = sure
        design = np.column_stack([sure, context, own])
        start = np.zeros(design.shape[1])
        start[0] = prior.weight
        echoes = np.full(size - 2, prior.echo)
        deviations = np.concatenate([[prior.spread, prior.readiness], echoes, np.full(own.shape[1], width or 1.0)])
        weights, hessian = _find_mode(design, said > 0, start, deviations)
        covariance = np.asarray(np.linalg.inv(hessian), dtype=np.float64)
        off = (weights - start) / deviations
        volume = float(np.linalg.slogdet(hessian * np.outer(deviations, deviations))[1])
        value = _likelihood(design @ weights, said > 0) - 0.5 * float(off @ off) - 0.5 * volume
        apart = weights[size:] if width else np.zeros(len(used))
        return cls(weights[:size], covariance[:size, :size], used, apart, value)


def _find_mode(
    design: FloatArray, said: BoolArray, start: FloatArray, deviations: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mode of weights around ``start``, and the Hessian there; steps are halved until they do not hurt."""
    held, weights = 1 / deviations**2, start.copy()

    def cost(at: FloatArray) -> float:
        return 0.5 * float(held @ (at - start) ** 2) - _likelihood(design @ at, said)

    def curve(at: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = sigmoid(design @ at)
        return p, (design * (p * (1 - p))[:, None]).T @ design + np.diag(held)

    now = cost(weights)
    for _ in range(STEPS):
        p, hessian = curve(weights)
        step = np.linalg.solve(hessian, design.T @ (p - said) + held * (weights - start))
        size = 1.0
        while (new := cost(weights - size * step)) > now + 1e-12 and size > 1e-6:
            size /= 2
        weights, done, now = weights - size * step, now - new < 1e-9, new
        if done:
            break
    return weights, curve(weights)[1]


def learn_steepness(logits: FloatArray, truth: BoolArray) -> float:
    """Return by how much to multiply log-odds so that people's answers bear them out: around 1, more where they do.

    Parameters
    ----------
    logits : float array of shape (l,)
        What was believed of triples without the answers to them.
    truth : bool array of shape (l,)
        The answers.
    """
    if not len(truth):
        return 1.0
    one = np.array([1.0])
    return float(np.clip(_find_mode(logits[:, None], truth, one, STEEPNESS_SPREAD * one)[0][0], 0.2, 5.0))


def _likelihood(logits: FloatArray, said: BoolArray) -> float:
    return float(logits[said].sum() - np.logaddexp(0, logits).sum())
