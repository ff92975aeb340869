"""Answers of machine judges, and P(true) by a method's fit and these: a logistic regression on answers of people.

People's answers stay the only labels. The terms are the log-odds of the method, a constant, the mean answer of all
judges, and each judge's own answers. Before any answer of people judges are believed a little on the mean, and no judge
more than another. How far single judges may differ is averaged over by the marginal likelihood (Laplace), with prior
probability 1 / (J + 1) that no judge knows anything. Thresholds stay those of the method, for candidates without an
answer of a judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.numeric import logit, moderate
from actc.data.triples import BoolArray, FloatArray, IntArray, Triples
from actc.methods.classifiers import fit_bayesian_logistic

CONSTANT = 0.0, 0.5
"""Prior mean and standard deviation of the constant: the method has inferred the share of true triples already."""
STEEPNESS = 1.0, 0.3
"""Of the factor of the method's log-odds."""
ALL_JUDGES = 1.0, 0.5
"""Of the weight of the mean answer, in units of its standard deviation. A judge that is right in 73% has weight 1."""
EACH_JUDGE = (0.1, 0.4, 1.5)
"""Standard deviations of the judges' own weights; each is tried. All were chosen with a list left out: see
benchmarks/real/README.md."""
ZERO = 1e-3
"""Standard deviation of weights that are 0."""
OTHER_TERMS = 3
"""Terms before the judges' own."""
FOLDS = 5
EDGE = 1e-6


def tabulate_signals(pool: Triples, judged: Answers) -> tuple[list[str], FloatArray]:
    """Return the J judges who answered about a pool, and the signals of their answers, shape (N, J); NaN without one.

    A signal is 2 p - 1 of the probability that a judge gave. Without one, or with one that contradicts the answer, it
    is 1 for true and -1 for false.
    """
    names, judges = np.unique(judged.who.astype(str), return_inverse=True)
    p = np.full(len(judged), 0.5) if judged.probability is None else judged.probability
    fits = np.where(judged.labels, p > 0.5, p < 0.5)
    signals, rows = np.full((len(pool), len(names)), np.nan), pool.rows_of(judged.triples)
    here = rows >= 0
    signals[rows[here], judges[here]] = np.where(fits, 2 * p - 1, np.where(judged.labels, 1.0, -1.0))[here]
    return names.tolist(), signals


def normal_scores(signals: FloatArray) -> FloatArray:
    """Return each judge's answers as normal quantiles of their ranks, shape (N, J); 0 where it gave none.

    Only the order of a judge's answers counts, and how rare they are: a rare "false" of a judge that calls nearly
    everything true counts more than its "true".
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    given = ~np.isnan(signals)
    ranks = rankdata(signals, axis=0, nan_policy="omit") - 0.5
    return np.where(given, ndtri(ranks / np.maximum(given.sum(axis=0), 1)), 0.0)


def make_design(signals: FloatArray, logits: FloatArray) -> FloatArray:
    """Return the terms of each triple, shape (N, 3 + J): constant, the method's log-odds, mean answer, each answer."""
    scores = normal_scores(signals)
    mean, spread = _mean_answer(signals, scores)
    return np.column_stack([np.ones(len(logits)), logits, mean / spread, scores])


def _mean_answer(signals: FloatArray, scores: FloatArray) -> tuple[FloatArray, float]:
    """Return the mean score of each triple's answers, shape (N,), and the standard deviation of these means."""
    answers = (~np.isnan(signals)).sum(axis=1)
    mean = scores.sum(axis=1) / np.maximum(answers, 1)
    return mean, float(mean[answers > 0].std() if answers.any() else 0.0) or 1.0


@dataclass(frozen=True, eq=False)
class JudgeWeights:
    """A mixture of Gaussians over the weights of the terms."""

    shares: FloatArray  # (K,)
    means: FloatArray  # (K, 3 + J)
    covariances: FloatArray  # (K, 3 + J, 3 + J)

    def probabilities(self, design: FloatArray) -> FloatArray:
        """Return P(true) of triples with these terms, shape (M,)."""
        p = np.zeros(len(design))
        for share, mean, covariance in zip(self.shares, self.means, self.covariances, strict=True):
            p += share * moderate(design @ mean, ((design @ covariance) * design).sum(axis=1))
        return p

    def linear(self, contrast: FloatArray) -> tuple[float, float]:
        """Return mean and standard deviation of a weighted sum of the weights."""
        middles = self.means @ contrast
        mean = float(self.shares @ middles)
        variance = self.shares @ (self.covariances @ contrast @ contrast + (middles - mean) ** 2)
        return mean, float(np.sqrt(variance))


def fit_weights(design: FloatArray, labels: BoolArray) -> JudgeWeights:
    """Fit the weights to labelled triples, of which there may be none."""
    judges = design.shape[1] - OTHER_TERMS
    priors = [((0.0, ZERO), ZERO, 1 / (judges + 1))]
    priors += [(ALL_JUDGES, each, judges / (judges + 1) / len(EACH_JUDGE)) for each in EACH_JUDGE]
    means, covariances, log_shares = [], [], []
    for mean_answer, each, share in priors:
        start, deviations = np.array([CONSTANT, STEEPNESS, mean_answer, *[(0.0, each)] * judges]).T
        mean, covariance, evidence = fit_bayesian_logistic(design, labels, start, deviations)
        means.append(mean)
        covariances.append(covariance)
        log_shares.append(evidence + np.log(share))
    shares = np.exp(np.array(log_shares) - max(log_shares))
    return JudgeWeights(shares / shares.sum(), np.stack(means), np.stack(covariances))


@dataclass(frozen=True, eq=False)
class JudgeAdjustedFit:
    """P(true) of a method's fit on people's answers, adjusted by the answers of judges."""

    answers: Annotations  # people's
    names: list[str]  # the judges
    signals: FloatArray  # (N, J) of their answers on each triple of the pool; NaN without one
    base: FloatArray  # (N,) P(true) of each triple of the pool by the method
    left_out: FloatArray  # (l,) the same of each triple that people answered, by a fit without this answer

    @cached_property
    def judged(self) -> IntArray:
        """The rows of the pool that a judge answered."""
        return np.flatnonzero((~np.isnan(self.signals)).any(axis=1))

    @cached_property
    def design(self) -> FloatArray:
        """The terms of each triple of the pool, shape (N, 3 + J)."""
        return make_design(self.signals, _clipped_logit(self.base))

    @cached_property
    def _answered(self) -> FloatArray:
        """The terms of each answered triple, as they are without its answer, shape (l, 3 + J)."""
        terms = self.design[self.answers.rows]
        terms[:, 1] = _clipped_logit(self.left_out)
        return terms

    @cached_property
    def weights(self) -> JudgeWeights:
        """The weights of the terms."""
        return fit_weights(self._answered, self.answers.labels)

    @cached_property
    def probabilities(self) -> FloatArray:
        """P(true) of each triple of the pool by score, evidence, people's answers and judges, shape (N,)."""
        return self.weights.probabilities(self.design)

    @cached_property
    def left_out_probabilities(self) -> FloatArray:
        """P(true) of each answered triple by weights that were fitted without its answer, shape (l,)."""
        p = np.zeros(len(self.answers))
        folds = np.unique(self.answers.rows, return_inverse=True)[1] % FOLDS  # whatever the order of judging
        for number in np.unique(folds).tolist():
            mine = folds == number
            weights = fit_weights(self._answered[~mine], self.answers.labels[~mine])
            p[mine] = weights.probabilities(self._answered[mine])
        return p

    def weight(self, judge: int) -> tuple[float, float]:
        """Return the log-odds that the "true" of a judge adds if no other judge answers, and how unsure they are."""
        signals, scores = self.signals[:, judge], self.design[:, OTHER_TERMS + judge]
        sides = [scores[side].mean() if side.any() else 0.0 for side in (signals > 0, signals <= 0)]
        contrast, half = np.zeros(self.design.shape[1]), (sides[0] - sides[1]) / 2
        contrast[OTHER_TERMS + judge] = half
        # By how much the mean answer changes with this one alone.
        contrast[OTHER_TERMS - 1] = half / _mean_answer(self.signals, self.design[:, OTHER_TERMS:])[1]
        return self.weights.linear(contrast)


def _clipped_logit(p: FloatArray) -> FloatArray:
    return logit(np.clip(p, EDGE, 1 - EDGE))
