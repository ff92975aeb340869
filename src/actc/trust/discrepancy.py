"""How far off may the pooled model be, beyond what it admits itself?

Some judged triples were picked uniformly (all of them under random selection; every fifth under the model's own picks).
On those, what people said minus what the model would have said without their answer is an unbiased look at the model's
error, whatever the truth's curve is like. The error of a share is believed to be small before any such look and is
corrected by them: a difference estimator, shrunk while there are few. Where the looks contradict the model, they stand
alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.errors import ChoiceError
from actc.numeric import moderate, sigmoid
from actc.pooled.model import Posterior
from actc.pooled.picks import is_audit, is_promise_check
from actc.triples import Annotations, BoolArray, FloatArray, IntArray
from actc.trust.tuned import TUNED

PICKS = ("unknown", "random", "expected-gain")
"""How judged triples were picked: nobody knows; by a random draw; by the pooled method itself, in this order."""


def uniform_picks(count: int, picks: str) -> BoolArray:
    """Say of the first ``count`` judged triples which were picked uniformly over the pool.

    Only for labels in files, whose order is all that is left of how they were picked; whoever has the ``Picks``
    reads their own marks.
    """
    if picks not in PICKS:
        raise ChoiceError("way of picking", picks, PICKS)
    if picks == "random":
        return np.ones(count, dtype=np.bool_)
    if picks == "expected-gain":
        return np.array([is_audit(at) for at in range(count)], dtype=np.bool_)
    return np.zeros(count, dtype=np.bool_)


def drawn_picks(count: int, picks: str, promised: float = 0.0) -> BoolArray:
    """Say of the first ``count`` answers which are on triples drawn at random, from the pool or from a list to accept.

    Parameters
    ----------
    picks : {"unknown", "random", "expected-gain"}
        How the judged triples were picked. Where nobody knows, all are taken as drawn at random.
    promised : float
        The precision whose list the pooled method was told to check, if any.
    """
    if picks == "unknown":
        return np.ones(count, dtype=np.bool_)
    checks = [promised > 0 and is_promise_check(at) for at in range(count)]
    return uniform_picks(count, picks) | np.array(checks, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Looks:
    """Uniformly picked, judged triples, and what the model says of each without its answer.

    Parameters
    ----------
    labels : bool array of shape (u,)
        The answers.
    logits, variances : float array of shape (u,)
        Mean and variance of each one's logit.
    relations : int array of shape (u,)
        The relation of each.
    """

    labels: BoolArray
    logits: FloatArray
    variances: FloatArray
    relations: IntArray

    @property
    def probabilities(self) -> FloatArray:
        """P(true) without the answer."""
        return moderate(self.logits, self.variances)

    @property
    def residuals(self) -> FloatArray:
        """Answer minus P(true)."""
        return self.labels - self.probabilities

    def take(self, mask: BoolArray) -> Looks:
        """Return some of them."""
        return Looks(self.labels[mask], self.logits[mask], self.variances[mask], self.relations[mask])


def look(posterior: Posterior, annotations: Annotations, uniform: BoolArray) -> Looks:
    """Take each uniform pick's answer out of the fit, approximately: one step of Newton's method backwards.

    Parameters
    ----------
    posterior : Posterior
        The fit on ``annotations``; of lines that labels overruled, the fitted ones count.
    uniform : bool array of shape (l,)
        Which annotations were uniform picks.
    """
    pool, rows, labels = posterior.pool, annotations.rows[uniform], annotations.labels[uniform]
    relations = pool.relations[rows]
    logits, variances = (posterior.fitted or posterior).moments(pool.x[rows], relations)
    p = sigmoid(logits)
    without = variances / np.maximum(1 - p * (1 - p) * variances, TUNED.least_information)
    return Looks(labels, logits - without * (labels - p), without, relations)


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
    counts: IntArray,
    sums: FloatArray,
    squares: FloatArray,
    alone: bool = False,
    believed: float = TUNED.believed,
) -> Correction:
    """Return how far shares of true triples are off, given the residuals of the looks at each set.

    Parameters
    ----------
    shares : float array
        What the model expects of each set.
    counts, sums, squares : arrays of the same shape
        Number, sum and sum of squares of the residuals in each set.
    alone : bool
        Let the looks speak alone, without the belief that the error is small.
    believed : float
        How large the error of a share p is believed to be before any look, in units of sqrt(p (1 - p)).
    """
    bernoulli = np.maximum(shares * (1 - shares), TUNED.least_spread)
    seen = np.maximum(counts, 1)
    mean = sums / seen
    # Two made-up true answers and two made-up false ones, as Agresti and Coull have it: where one in six is true, ten
    # looks without a true one are no wonder, and do not mean that there is no spread.
    count, total = counts + 4, sums + 2 - 4 * shares
    spread = (squares + 2 * (1 - shares) ** 2 + 2 * shares**2 - total**2 / count) / (count - 1)
    error = np.where(counts > 0, spread / seen, np.inf)
    degrees = np.maximum(counts + 1.0, 2.0)
    if alone:
        return Correction(mean, np.sqrt(error), degrees)
    believed_error = believed**2 * bernoulli
    weight = believed_error / (believed_error + error)
    # The belief counts for the degrees of freedom in proportion to its weight: it is no estimate.
    return Correction(weight * mean, np.sqrt(believed_error * (1 - weight)), degrees / np.maximum(weight, 0.05))


def misfit(looks: Looks, accepted: BoolArray, spread: tuple[float, float]) -> float:
    """Return how surprising the looks are to the model: a p-value for accepted and rejected ones together.

    Parameters
    ----------
    accepted : bool array of shape (u,)
        Which looks are above their cut.
    spread : pair of float
        Posterior variance of the share of true triples among accepted and among rejected ones.
    """
    from scipy.stats import chi2

    statistic, parts = 0.0, 0
    p = looks.probabilities
    for mine, variance in ((accepted, spread[0]), (~accepted, spread[1])):
        count = int(mine.sum())
        if count:
            expected = float((p * (1 - p))[mine].mean()) / count + variance
            statistic += float(looks.residuals[mine].mean()) ** 2 / max(expected, 1e-12)
            parts += 1
    return float(chi2.sf(statistic, parts)) if parts else 1.0
