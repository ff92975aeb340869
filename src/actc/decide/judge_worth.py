"""What machine judges are worth: how each answers, given the truth, learnt from triples that people judged too.

A judge's answer is more or less probable by what is true (its weight), by whatever it says anyway (its readiness to say
"true"), by what the score and the evidence say, and by what other judges said (an echo of them tells nothing new). Its
answer adds to a triple's log-odds how much more probable it is of a true triple than of a false one: nothing for a
judge that agrees no better than chance, and the other way round for one that is wrong on purpose. Before there is any
triple that both judged, the weight is believed to be around ``PRIOR.weight``. Each relation may have a weight of its
own near the judge's, as far as the answers ask for it.

A judge that says how sure it is has many answers in the place of two, from surely false to surely true. Which of them
counts how much is learnt, not believed: they are only put in order (proportional odds, of which two answers are the
plain case), and how often it gives each, true or not, is known from all that it said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from actc.data.numeric import moderate, sigmoid
from actc.data.triples import BoolArray, FloatArray, IntArray

STEPS = 50

LEVELS = 12
"""Of a judge that says how sure it is: so many answers are told apart."""
FARTHEST = 5.0
"""The first of them, and the last, are as rare as these log-odds: where few are true, the rarest answers tell most."""
BANDS, LEAST_IN_BAND = 8, 50
"""Bands of triples, by what is believed without a judge, that its echo is found in; triples in each at least."""
MOST_PLACED, PLACINGS = 1000, 3
"""Triples on which answers are placed, and how often that is done, each time by a better weight."""
STEPS_TO_PLACE, PLACED_WITHIN = 10, 20.0
"""Steps to find the places, and log-odds within which they lie."""

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
        Standard deviation of how far it says what another judge says, whatever the truth.
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
class Scale:
    """The answers of a judge in order, and how often it gives each: in all, and where score and evidence say what.

    Parameters
    ----------
    edges : float array of shape (E,)
        Signals between one answer and the next, rising.
    cuts : float array of shape (B - 1,)
        Log-odds, without the judge, between one band of triples and the next.
    bands : int array of shape (M,)
        The band of each of some triples that it judged.
    believed : float array of shape (M,)
        P(true) of each, without it.
    before : float array of shape (M, judges before it)
        What these said.
    passed : bool array of shape (M, E)
        Which edges its own answer lies above.
    """

    edges: FloatArray
    cuts: FloatArray
    bands: IntArray
    believed: FloatArray
    before: FloatArray
    passed: BoolArray

    @classmethod
    def of(cls, signals: FloatArray, logits: FloatArray, judge: int) -> Scale:
        """Find the scale of a judge, from what all said of all triples, shape (N, J)."""
        there = np.flatnonzero(~np.isnan(signals[:, judge]))
        values = np.unique(signals[there, judge])
        if len(values) > LEVELS:
            shares = sigmoid(np.linspace(-FARTHEST, FARTHEST, LEVELS - 1))
            edges = np.unique(np.quantile(signals[there, judge], shares))
        else:
            edges = (values[1:] + values[:-1]) / 2 if len(values) > 1 else np.zeros(1)
        some = there[np.linspace(0, len(there) - 1, min(len(there), MOST_PLACED)).astype(np.int64)]
        bands = max(1, min(BANDS, len(some) // LEAST_IN_BAND))
        cuts = np.unique(np.quantile(logits[some], np.arange(1, bands) / bands)) if bands > 1 else np.zeros(0)
        band = np.searchsorted(cuts, logits[some])
        before = np.nan_to_num(signals[some, :judge])
        return cls(edges, cuts, band, sigmoid(logits[some]), before, signals[some, judge][:, None] > edges)

    def place(self, weight: float, echoes: FloatArray, share: float) -> Places:
        """Find where each edge lies for a judge of some weight, and how far it echoes score and evidence, if it does.

        No person's answer is needed for that: in all, and in each band, every edge is passed as often as it was. What a
        judge says because it is right as often as score and evidence are is what its weight says; the rest is echo.
        ``share`` is how far that is believed: a judge that knows more than score and evidence looks like an echo, too.
        """
        places, echo = np.zeros(len(self.edges)), np.zeros(len(self.cuts) + 1)
        counts, true = np.bincount(self.bands, minlength=len(echo)), self.believed[:, None]
        for step in range(2 * STEPS_TO_PLACE if len(self.bands) else 0):
            off = (self.before @ echoes + share * echo[self.bands])[:, None] - places
            if_true, if_false = sigmoid(off + weight), sigmoid(off - weight)
            missing = self.passed - if_true * true - if_false * (1 - true)
            steep = if_true * (1 - if_true) * true + if_false * (1 - if_false) * (1 - true)
            if step % 2 == 0:
                places -= np.clip(missing.sum(axis=0) / np.maximum(steep.sum(axis=0), 1e-3), -1, 1)
            elif share:
                more, less = (np.bincount(self.bands, table.sum(axis=1), len(echo)) for table in (missing, steep))
                echo += np.clip(more / np.maximum(less, 1e-3), -1, 1)
                echo = np.clip(echo - counts @ echo / counts.sum(), -PLACED_WITHIN, PLACED_WITHIN)
        places = np.maximum.accumulate(np.clip(places, -PLACED_WITHIN, PLACED_WITHIN))
        return Places(self.edges, self.cuts, places, share * echo)


@dataclass(frozen=True, eq=False)
class Places:
    """Where the answers of a judge lie, in log-odds, and its echo of score and evidence in each band of triples."""

    edges: FloatArray
    cuts: FloatArray
    places: FloatArray
    echo: FloatArray

    def between(self, signals: FloatArray, logits: FloatArray) -> Between:
        """Return the places below and above each answer, infinite at the ends, its echo aside."""
        ends = np.concatenate([[-np.inf], self.places, [np.inf]])
        at, echoed = np.searchsorted(self.edges, signals), self.echo[np.searchsorted(self.cuts, logits)]
        return ends[at] - echoed, ends[at + 1] - echoed


Between = tuple[FloatArray, FloatArray]


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
        Readiness, echo of each judge before it.
    covariance : float array of shape (P, P)
        Of the weight and the others.
    compared : int
        Triples that it and people judged.
    scale : Scale
        Its answers.
    echo : float
        The belief that it echoes score and evidence.
    """

    own: float
    by_relation: FloatArray
    others: FloatArray
    covariance: FloatArray
    compared: int
    scale: Scale
    echo: float

    @property
    def spread(self) -> float:
        """The standard deviation of its weight."""
        return float(np.sqrt(self.covariance[0, 0]))

    def add(self, signals: FloatArray, context: FloatArray, relations: IntArray, logits: FloatArray) -> FloatArray:
        """Return what its answers add to log-odds, shape (M,); 0 where it said nothing.

        Parameters
        ----------
        signals : float array of shape (M,)
            What it said, NaN where nothing.
        context : float array of shape (M, P - 1)
            What it may echo, see :func:`contexts`.
        relations : int array of shape (M,)
        logits : float array of shape (M,)
            What is believed without judges.
        """
        weight = self.by_relation[np.minimum(relations, len(self.by_relation) - 1)]
        between = self.scale.place(self.own, self.others[1:], self.echo).between(np.nan_to_num(signals), logits)
        if_true, if_false = (self._log_probability(between, context, weight, side) for side in (1.0, -1.0))
        return np.where(np.isnan(signals), 0.0, if_true - if_false)

    def _log_probability(self, between: Between, context: FloatArray, weight: FloatArray, truth: float) -> FloatArray:
        """Return the log of how probable its answers are if all triples are true (1), or false (-1)."""
        design = np.column_stack([np.full(len(context), truth), context])
        variance = np.einsum("mi,ij,mj->m", design, self.covariance, design, optimize=True)
        mean = weight * truth + context @ self.others
        below, above = (moderate(mean - place, variance) for place in between)
        return np.asarray(np.log(np.clip(below - above, 1e-9, 1)))


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
            context = contexts(signals[asked], at)
            added[asked] += judge.add(signals[asked, at], context, relations[asked], logits[asked])
        return added


def contexts(signals: FloatArray, judge: int) -> FloatArray:
    """Return what a judge may say anyway, and what those before it said, shape (M, 1 + judge)."""
    return np.column_stack([np.ones(len(signals)), np.nan_to_num(signals[:, :judge])])


def learn_weights(
    signals: FloatArray,
    relations: IntArray,
    logits: FloatArray,
    truth: BoolArray,
    count: int,
    scales: Sequence[Scale] | None = None,
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
    scales : sequence of Scale, optional
        The judges' answers to all triples; to these alone, if not given.
    """
    side = np.where(truth, 1.0, -1.0)
    found = []
    for at in range(signals.shape[1]):
        there = ~np.isnan(signals[:, at])
        context = contexts(signals, at)[there]
        scale = Scale.of(signals, logits, at) if scales is None else scales[at]
        said = signals[there, at], logits[there]
        found.append(_learn_one(scale, said, side[there], context, relations[there], count))
    return JudgeWeights(tuple(found))


def _learn_one(
    scale: Scale,
    said: tuple[FloatArray, FloatArray],
    side: FloatArray,
    context: FloatArray,
    relations: IntArray,
    count: int,
) -> JudgeWeight:
    """Fit one judge under each width of relations' weights; average by how well each foresees its answers."""
    ignorant = replace(PRIOR, weight=0.0, spread=1e-3)
    kinds = [(0.0, ignorant, PRIOR.nothing)]
    kinds += [(width, PRIOR, (1 - PRIOR.nothing) / len(PRIOR.by_relation)) for width in PRIOR.by_relation]
    ways = [(echo, *kind) for echo in (0.0, 1.0) for kind in kinds]
    fits = [_Fit.of(scale, echo, said, side, context, relations, width, one) for echo, width, one, _ in ways]
    likelihood = np.array([fit.likelihood for fit in fits])
    belief = np.exp(likelihood - likelihood.max()) * np.array([share for *_, share in ways])
    belief /= belief.sum()
    means = np.stack([fit.mean for fit in fits])
    mean = belief @ means
    covariance = np.tensordot(belief, np.stack([fit.covariance for fit in fits]), 1)
    covariance = covariance + np.einsum("k,ki,kj->ij", belief, means - mean, means - mean)
    weights = np.full(count + 1, mean[0])
    for share, fit in zip(belief, fits, strict=True):
        weights[fit.relations] += share * fit.apart
    return JudgeWeight(
        float(mean[0]), weights, mean[1:], covariance, len(side), scale, float(belief[len(kinds) :].sum())
    )


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
        scale: Scale,
        echo: float,
        said: tuple[FloatArray, FloatArray],
        side: FloatArray,
        context: FloatArray,
        relations: IntArray,
        width: float,
        prior: WeightPrior,
    ) -> _Fit:
        size = 1 + context.shape[1]
        used, place = np.unique(relations, return_inverse=True)
        own = np.zeros((len(side), len(used) if width else 0))
        if width:
            own[np.arange(len(side)), place] = side
        design = np.column_stack([side, context, own])
        start = np.zeros(design.shape[1])
        start[0] = prior.weight
        echoes = np.full(size - 2, prior.echo)
        deviations = np.concatenate([[prior.spread, prior.readiness], echoes, np.full(own.shape[1], width or 1.0)])
        weights = start.copy()
        for _ in range(PLACINGS):
            between = scale.place(weights[0], weights[2:size], echo).between(*said)
            weights, hessian = _find_mode(design, between, start, deviations)
        covariance = np.asarray(np.linalg.inv(hessian), dtype=np.float64)
        off = (weights - start) / deviations
        volume = float(np.linalg.slogdet(hessian * np.outer(deviations, deviations))[1])
        value = _likelihood(design @ weights, between) - 0.5 * float(off @ off) - 0.5 * volume
        apart = weights[size:] if width else np.zeros(len(used))
        return cls(weights[:size], covariance[:size, :size], used, apart, value)


def _find_mode(
    design: FloatArray, between: Between, start: FloatArray, deviations: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mode of weights around ``start``, and the Hessian there; steps are halved until they do not hurt."""
    held, weights = 1 / deviations**2, start.copy()

    def cost(at: FloatArray) -> float:
        return 0.5 * float(held @ (at - start) ** 2) - _likelihood(design @ at, between)

    def curve(at: FloatArray) -> tuple[FloatArray, FloatArray]:
        below, above = (sigmoid(design @ at - place) for place in between)
        steep = below * (1 - below) + above * (1 - above)
        return below + above - 1, (design * steep[:, None]).T @ design + np.diag(held)

    now = cost(weights)
    for _ in range(STEPS):
        off, hessian = curve(weights)
        step = np.linalg.solve(hessian, design.T @ off + held * (weights - start))
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
    between = np.where(truth, 0.0, -np.inf), np.where(truth, np.inf, 0.0)
    return float(np.clip(_find_mode(logits[:, None], between, one, STEEPNESS_SPREAD * one)[0][0], 0.2, 5.0))


def _likelihood(logits: FloatArray, between: Between) -> float:
    """Return the log of how probable it is that all lie between their places."""
    below, above = (sigmoid(logits - place) for place in between)
    return float(np.log(np.maximum(below - above, 1e-12)).sum())
