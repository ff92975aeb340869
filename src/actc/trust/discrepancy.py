"""How far off may the pooled model be, beyond what it admits itself?

Of every answer whose chance to be asked is known, what people said minus what the model would have said without that
answer (its leave-one-out residual) counts by the inverse of the chance: together they are an unbiased estimate of the
model's error, whatever the truth's curve is like and wherever the questions went. The error of a share is believed to
be small before any such answer and is corrected by them: a difference estimator, shrunk while there are few (active
statistical inference, Zrnic and Candes 2024). Where the answers contradict the model, they stand alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from actc.numeric import moderate
from actc.pooled.draws import leave_one_out
from actc.pooled.model import Posterior
from actc.triples import Annotations, BoolArray, FloatArray, IntArray
from actc.trust.tuned import TUNED


@dataclass(frozen=True, eq=False)
class Answered:
    """Answered triples, and what the model says of each without its answer.

    Parameters
    ----------
    labels : bool array of shape (l,)
        The answers.
    logits, variances : float array of shape (l,)
        Mean and variance of each one's logit.
    relations : int array of shape (l,)
        The relation of each.
    weights : float array of shape (l,)
        The inverse of the chance that each had to be asked; 0 where nobody knows it.
    drawn : bool array of shape (l,)
        Which were drawn at random from a set: without any of these in a part, its answers prove nothing.
    """

    labels: BoolArray
    logits: FloatArray
    variances: FloatArray
    relations: IntArray
    weights: FloatArray
    drawn: BoolArray

    @property
    def probabilities(self) -> FloatArray:
        """P(true) without the answer."""
        return moderate(self.logits, self.variances)

    @property
    def residuals(self) -> FloatArray:
        """Answer minus P(true)."""
        return self.labels - self.probabilities

    @property
    def plain_draw(self) -> bool:
        """Whether all were drawn at random, each triple of the pool with the same chance."""
        return bool(len(self.drawn) and self.drawn.all() and np.ptp(self.weights) <= 1e-9 * self.weights.max())

    def sums(self, mask: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return of some of them how many equally weighted answers they are worth, and as many residuals' sums.

        Returns
        -------
        count, total, squares : float
            Effective number of answers (Kish), sum of the residuals and of their squares.
        """
        weights, residuals = self.weights[mask], self.residuals[mask]
        whole = weights.sum()
        if not self.drawn[mask].any():
            return np.asarray(0.0), np.asarray(0.0), np.asarray(0.0)
        count = whole**2 / (weights**2).sum()
        share = weights / whole * count
        return np.asarray(count), np.asarray(share @ residuals), np.asarray(share @ residuals**2)


def answers_left_out(posterior: Posterior, annotations: Annotations) -> Answered:
    """Return what the model says of each answered triple without its answer."""
    logits, variances = leave_one_out(posterior, annotations)
    return replace(with_own_answers(posterior, annotations), logits=logits, variances=variances)


def with_own_answers(posterior: Posterior, annotations: Annotations) -> Answered:
    """Return the same by the fit as it is, each answer in it."""
    pool, relations = posterior.pool, posterior.pool.relations[annotations.rows]
    moments = posterior.moments(pool.x[annotations.rows], relations)
    weights = np.where(annotations.proves, 1 / annotations.chance, 0.0)
    drawn = annotations.proves & (annotations.within != "")
    return Answered(annotations.labels, *moments, relations, weights, drawn)


@dataclass(frozen=True, eq=False)
class Correction:
    """What to add to the model's share of true triples: a Student t around ``mean``. Arrays or numbers alike."""

    mean: FloatArray
    scale: FloatArray
    degrees: FloatArray

    def draw(self, count: int, random: np.random.Generator) -> FloatArray:
        """Return draws of a single correction, shape (count,)."""
        return np.asarray(self.mean + self.scale * random.standard_t(self.degrees, count))


def correct(
    shares: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
    alone: bool = False,
    believed: float = TUNED.believed,
    spread: float = 0.0,
    left: float = 1.0,
) -> Correction:
    """Return how far shares of true triples are off, given the residuals of the answers in each set.

    Parameters
    ----------
    shares : float array
        What the model expects of each set.
    counts, sums, squares : arrays of the same shape
        Effective number, sum and sum of squares of the residuals in each set.
    alone : bool
        Let the answers speak alone, without the belief that the error is small.
    believed : float
        How large the error of a share p is believed to be before any answer, in units of sqrt(p (1 - p)).
    spread : float
        The variance of the share that the model admits itself.
    left : float
        The residuals' variance that judges leave, as a share of that without them.
    """
    bernoulli = np.maximum(shares * (1 - shares), TUNED.least_spread)
    seen = np.maximum(counts, 1)
    mean = sums / seen
    # Two made-up true answers and two made-up false ones, as Agresti and Coull have it: where one in six is true, ten
    # answers without a true one are no wonder, and do not mean that there is no spread. Where judges make predictions
    # sharper, made-up answers lie as much less apart from them as others do.
    each = 2 * left
    count, total = counts + 2 * each, sums + each * (1 - 2 * shares)
    variance = (squares + each * ((1 - shares) ** 2 + shares**2) - total**2 / count) / (count - 1)
    error = np.where(counts > 0, variance / seen, np.inf)
    degrees = np.maximum(counts + 1.0, 2.0)
    if alone:
        return Correction(mean, np.sqrt(error), degrees)
    believed_error = believed**2 * bernoulli + spread
    weight = believed_error / (believed_error + error)
    # The belief counts for the degrees of freedom in proportion to its weight: it is no estimate.
    return Correction(weight * mean, np.sqrt(believed_error * (1 - weight)), degrees / np.maximum(weight, 0.05))


def misfit(answers: Answered, accepted: BoolArray, spread: tuple[float, float]) -> float:
    """Return how surprising the answers are to the model: a p-value for accepted and rejected ones together.

    Parameters
    ----------
    accepted : bool array of shape (l,)
        Which answered triples are above their cut.
    spread : pair of float
        Posterior variance of the share of true triples among accepted and among rejected ones.
    """
    from scipy.special import chdtrc

    statistic, parts = 0.0, 0
    p = answers.probabilities
    for mine, variance in ((accepted, spread[0]), (~accepted, spread[1])):
        count, total, _ = (float(value) for value in answers.sums(mine))
        if count:
            expected = float(np.average((p * (1 - p))[mine], weights=answers.weights[mine])) / count + variance
            statistic += (total / count) ** 2 / max(expected, 1e-12)
            parts += 1
    return float(chdtrc(parts, statistic)) if parts else 1.0
