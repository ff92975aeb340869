"""P(true) by a method's fit and machine judges: a logistic regression; people's answers stay the only labels.

Its terms are the log-odds of the method, a constant, what all judges answer on the mean, and each judge's own answers.
Before any answer of people judges are believed a little on the mean, and no judge more than another. How far single
judges may differ is averaged over by the marginal likelihood (Laplace), with one chance in J + 1 that no judge knows
anything. Thresholds stay those of the method, for candidates without a judge's answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from actc.data.answers import Annotations
from actc.data.numeric import logit, moderate, sigmoid, softplus
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.decide.judge_answers import JudgeAnswers
from actc.methods.named import Fit, Method
from actc.methods.pooled.model import leave_one_out

CONSTANT = 0.0, 0.5
"""Prior mean and standard deviation of the constant: the method has inferred the share of true triples already."""
STEEPNESS = 1.0, 0.3
"""Of the factor of the method's log-odds."""
ALL_JUDGES = 1.0, 0.5
"""Of the weight of the mean answer, in units of its standard deviation. A judge that is right in 73% has weight 1."""
EACH_JUDGE = (0.1, 0.4, 1.5)
"""Standard deviations of the judges' own weights; each is tried. All were chosen with a list left out: see
benchmarks/real/README.md."""
NOTHING = 1e-3
"""Standard deviation of weights that are 0."""
OTHERS = 3
"""Terms before the judges' own."""
STEPS = 50
FOLDS = 5
MOST_FOLDED = 500
"""With more answers than these, one answer more or less moves the fit too little to matter."""
EDGE = 1e-6


def normal_scores(signals: FloatArray) -> FloatArray:
    """Return each judge's answers as normal quantiles of their ranks, shape (N, J); 0 where it gave none.

    Only the order of a judge's answers counts, and how rare they are: a rare "false" of a judge that calls nearly
    everything true counts more than its "true".
    """
    from scipy.special import ndtri

    scores = np.zeros(signals.shape)
    for judge, column in enumerate(signals.T):
        given = ~np.isnan(column)
        _, places, counts = np.unique(column[given], return_inverse=True, return_counts=True)
        middle = np.cumsum(counts) - 0.5 * counts
        scores[given, judge] = ndtri(middle / max(int(given.sum()), 1))[places]
    return scores


def make_design(signals: FloatArray, logits: FloatArray) -> FloatArray:
    """Return the terms of each triple, shape (N, 3 + J): constant, the method's log-odds, mean answer, each answer."""
    scores = normal_scores(signals)
    answers = (~np.isnan(signals)).sum(axis=1)
    mean = scores.sum(axis=1) / np.maximum(answers, 1)
    spread = float(mean[answers > 0].std()) if answers.any() else 0.0
    return np.column_stack([np.ones(len(logits)), logits, mean / (spread or 1.0), scores])


@dataclass(frozen=True, eq=False)
class Posterior:
    """A mixture of Gaussians over the weights of the terms.

    Parameters
    ----------
    shares : float array of shape (K,)
    means : float array of shape (K, 3 + J)
    covariances : float array of shape (K, 3 + J, 3 + J)
    """

    shares: FloatArray
    means: FloatArray
    covariances: FloatArray

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


def fit_posterior(design: FloatArray, labels: BoolArray) -> Posterior:
    """Fit the weights to labelled triples, of which there may be none."""
    judges = design.shape[1] - OTHERS
    kinds = [((0.0, NOTHING), NOTHING, 1 / (judges + 1))]
    kinds += [(ALL_JUDGES, each, judges / (judges + 1) / len(EACH_JUDGE)) for each in EACH_JUDGE]
    modes, beliefs = [], []
    for together, each, share in kinds:
        own = np.tile([0.0, each], (judges, 1))
        start, deviations = np.vstack([CONSTANT, STEEPNESS, together, own]).T
        mode, covariance, evidence = _find_mode(design, labels, start, deviations)
        modes.append((mode, covariance))
        beliefs.append(evidence + np.log(share))
    shares = np.exp(np.array(beliefs) - max(beliefs))
    means, covariances = (np.stack(part) for part in zip(*modes, strict=True))
    return Posterior(shares / shares.sum(), means, covariances)


def _find_mode(
    design: FloatArray, labels: BoolArray, start: FloatArray, deviations: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return mode, covariance and log marginal likelihood of a logistic regression; Newton's method, Laplace."""
    side, precision = np.where(labels, 1.0, -1.0), 1 / deviations**2

    def cost(weights: FloatArray) -> float:
        return float(softplus(-side * (design @ weights)).sum() + 0.5 * precision @ (weights - start) ** 2)

    def hessian(weights: FloatArray) -> FloatArray:
        p = sigmoid(design @ weights)
        return (design.T * (p * (1 - p))) @ design + np.diag(precision)

    weights, now = start, cost(start)
    for _ in range(STEPS):
        gradient = design.T @ (sigmoid(design @ weights) - labels) + precision * (weights - start)
        step, size = np.linalg.solve(hessian(weights), gradient), 1.0
        while (new := cost(weights - size * step)) > now and size > EDGE:  # steps are halved until they do not hurt
            size /= 2
        if now - new < 1e-9:
            break
        weights, now = weights - size * step, new
    curvature = hessian(weights)
    volume = float(np.linalg.slogdet(curvature * np.outer(deviations, deviations))[1])
    return weights, np.asarray(np.linalg.inv(curvature), dtype=np.float64), -now - 0.5 * volume


@dataclass(frozen=True, eq=False)
class JudgeAdjustedFit:
    """What a method makes of people's answers, and how judges change it.

    Parameters
    ----------
    method, pool, answers, known
        What the fit was made of; people's answers only.
    fit : Fit
        The method's own fit, which has probabilities.
    judged : JudgeAnswers
        What machines answered about rows of the pool.
    """

    method: Method
    pool: ScoredTriples
    answers: Annotations
    known: ScoredTriples | None
    fit: Fit
    judged: JudgeAnswers

    @property
    def asked(self) -> BoolArray:
        """Which triples of the pool have an answer of a judge, shape (N,)."""
        found = np.zeros(len(self.pool), dtype=np.bool_)
        found[self.judged.rows] = True
        return found

    @cached_property
    def left_out_logits(self) -> FloatArray:
        """The method's log-odds of each answered triple without its answer, judges aside, shape (l,)."""
        rows = self.answers.rows
        if not len(rows):
            return np.zeros(0)
        if self.fit.posterior is not None:
            return _clipped_logit(moderate(*leave_one_out(self.fit.posterior, self.answers)))
        if len(rows) > MOST_FOLDED:
            return self._logits(self.fit, rows)
        found = np.zeros(len(rows))
        for fold in _folds(rows):
            rest = self.method.fit(self.pool, self.answers.take(~fold), self.known)
            found[fold] = self._logits(rest, rows[fold])
        return found

    def _logits(self, fit: Fit, rows: IntArray) -> FloatArray:
        p = fit.probabilities(self.pool.take(rows))
        return np.zeros(len(rows)) if p is None else _clipped_logit(p)

    @cached_property
    def design(self) -> FloatArray:
        """The terms of each triple of the pool, shape (N, 3 + J)."""
        base = self.fit.probabilities(self.pool)
        assert base is not None
        return make_design(self.judged.table(len(self.pool)), _clipped_logit(base))

    @cached_property
    def _answered(self) -> FloatArray:
        """The terms of each answered triple, as they are without its answer, shape (l, 3 + J)."""
        terms = self.design[self.answers.rows]
        terms[:, 1] = self.left_out_logits
        return terms

    @cached_property
    def posterior(self) -> Posterior:
        """The weights of the terms."""
        return fit_posterior(self._answered, self.answers.labels)

    @cached_property
    def probabilities(self) -> FloatArray:
        """P(true) of each triple of the pool by score, evidence, people's answers and judges, shape (N,)."""
        return self.posterior.probabilities(self.design)

    @cached_property
    def foreseen(self) -> FloatArray:
        """P(true) of each answered triple by weights that were fitted without its answer, shape (l,)."""
        p = np.zeros(len(self.answers))
        many = len(self.answers) > MOST_FOLDED
        for fold in _folds(self.answers.rows):
            posterior = self.posterior if many else fit_posterior(self._answered[~fold], self.answers.labels[~fold])
            p[fold] = posterior.probabilities(self._answered[fold])
        return p

    def weight(self, judge: int) -> tuple[float, float]:
        """Return the log-odds that the "true" of a judge adds if no other judge answers, and how unsure they are."""
        given = self.judged.judges == judge
        signals, scores = self.judged.signals[given], self.design[self.judged.rows[given], OTHERS + judge]
        sides = [scores[side].mean() if side.any() else 0.0 for side in (signals > 0, signals <= 0)]
        contrast = np.zeros(self.design.shape[1])
        contrast[OTHERS + judge] = (sides[0] - sides[1]) / 2
        contrast[OTHERS - 1] = contrast[OTHERS + judge] * self._per_score
        return self.posterior.linear(contrast)

    @property
    def _per_score(self) -> float:
        """By how much the mean answer's term changes with the answer of a judge that is alone."""
        answers = np.maximum(np.bincount(self.judged.rows, minlength=len(self.pool)), 1)
        return 1.0 / float((self.design[self.asked, OTHERS:].sum(axis=1) / answers[self.asked]).std() or 1.0)


def _clipped_logit(p: FloatArray) -> FloatArray:
    return logit(np.clip(p, EDGE, 1 - EDGE))


def _folds(rows: IntArray) -> list[BoolArray]:
    """Split answers into parts that do not depend on the order of judging."""
    place = np.empty(len(rows), dtype=np.int64)
    place[np.argsort(rows, kind="stable")] = np.arange(len(rows))
    return [place % FOLDS == fold for fold in range(min(FOLDS, len(rows)))]
