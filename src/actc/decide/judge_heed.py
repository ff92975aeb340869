"""A fit that heeds machine judges: the method's own belief of each triple, plus what judges add to it.

People's answers stay the only labels. Thresholds stay those of the method, for candidates that no judge was asked
about; where judges spoke, the decision is the one that score and judges lead to together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from actc.data.numeric import logit, moderate, sigmoid
from actc.data.triples import Annotations, BoolArray, FloatArray, IntArray, ScoredTriples
from actc.decide.judge_answers import JudgeAnswers
from actc.decide.judge_worth import JudgeWeights, Scale, learn_steepness, learn_weights
from actc.methods.named import Fit, Method
from actc.methods.pooled.model import leave_one_out

FOLDS = 5
MOST_FOLDED = 500
"""With more answers than these, one answer more or less moves the fit too little to matter."""
EDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Heeded:
    """What a method makes of people's answers, and what judges add.

    Parameters
    ----------
    method, pool, answers, known
        What the fit was made of; people's answers only.
    fit : Fit
        The method's own fit.
    judged : JudgeAnswers
        What machines said of rows of the pool.
    """

    method: Method
    pool: ScoredTriples
    answers: Annotations
    known: ScoredTriples | None
    fit: Fit
    judged: JudgeAnswers

    @cached_property
    def signals(self) -> FloatArray:
        """What each judge said of each triple of the pool, shape (N, J)."""
        return self.judged.table(len(self.pool))

    @property
    def asked(self) -> BoolArray:
        """Which triples of the pool a judge called true or false, shape (N,)."""
        found = np.zeros(len(self.pool), dtype=np.bool_)
        found[self.judged.rows] = True
        return found

    @cached_property
    def unswayed(self) -> FloatArray:
        """The log-odds of each answered triple by a fit that was not told the answer, judges aside, shape (l,)."""
        rows = self.answers.rows
        if not len(rows):
            return np.zeros(0)
        if self.fit.draws is not None:
            return logit(np.clip(moderate(*leave_one_out(self.fit.draws, self.answers)), EDGE, 1 - EDGE))
        if len(rows) > MOST_FOLDED:
            return self._logits(self.fit, rows)
        found = np.zeros(len(rows))
        for fold in _folds(rows):
            rest = self.method.fit(self.pool, self.answers.take(~fold), self.known)
            found[fold] = self._logits(rest, rows[fold])
        return found

    @cached_property
    def steepness(self) -> float:
        """By how much the method's log-odds are multiplied before judges add to them."""
        return learn_steepness(self.unswayed, self.answers.labels)

    def _logits(self, fit: Fit, rows: IntArray) -> FloatArray:
        p = fit.probabilities(self.pool.take(rows))
        return np.zeros(len(rows)) if p is None else logit(np.clip(p, EDGE, 1 - EDGE))

    @cached_property
    def weights(self) -> JudgeWeights:
        """What each judge is worth."""
        return self._learn(np.ones(len(self.answers), dtype=np.bool_))

    def _learn(self, kept: BoolArray) -> JudgeWeights:
        rows, count = self.answers.rows[kept], len(self.pool.relation_names)
        return learn_weights(
            self.signals[rows],
            self.pool.relations[rows],
            self.steepness * self.unswayed[kept],
            self.answers.labels[kept],
            count,
            scales=self._scales,
        )

    @cached_property
    def _base(self) -> FloatArray | None:
        return self.fit.probabilities(self.pool)

    @cached_property
    def _scales(self) -> list[Scale]:
        """Each judge's answers in order, and how often it gives them, from all that it said."""
        rows = np.flatnonzero(self.asked)
        base = np.full(len(rows), 0.5) if self._base is None else self._base[rows]
        logits = self.steepness * logit(np.clip(base, EDGE, 1 - EDGE))
        return [Scale.of(self.signals[rows], logits, judge) for judge in range(self.signals.shape[1])]

    @cached_property
    def probabilities(self) -> FloatArray | None:
        """P(true) of each triple of the pool by score, evidence, people's answers and judges, shape (N,)."""
        return None if self._base is None else self._combine(self._base, np.arange(len(self.pool)), self.weights)

    @cached_property
    def left(self) -> float:
        """The variance of what is not known of triples that judges leave, as a share of that without them."""
        if self.probabilities is None or self._base is None:
            return 1.0
        alone = sigmoid(self.steepness * logit(np.clip(self._base, EDGE, 1 - EDGE)))
        after, before = (float((p * (1 - p)).sum()) for p in (self.probabilities, alone))
        return min(after / max(before, EDGE), 1.0)

    @cached_property
    def foreseen(self) -> FloatArray:
        """P(true) of each answered triple, judges heeded, by weights that were not told its answer, shape (l,)."""
        rows, found = self.answers.rows, np.zeros(len(self.answers))
        base = sigmoid(self.unswayed)
        for fold in _folds(rows):
            weights = self._learn(~fold) if len(rows) <= MOST_FOLDED else self.weights
            found[fold] = self._combine(base[fold], rows[fold], weights)
        return found

    def _combine(self, base: FloatArray, rows: IntArray, weights: JudgeWeights) -> FloatArray:
        logits = self.steepness * logit(np.clip(base, EDGE, 1 - EDGE))
        return sigmoid(logits + weights.add(self.signals[rows], self.pool.relations[rows], logits))


def _folds(rows: IntArray) -> list[BoolArray]:
    """Split answers into parts that do not depend on the order of judging."""
    place = np.empty(len(rows), dtype=np.int64)
    place[np.argsort(rows, kind="stable")] = np.arange(len(rows))
    return [place % FOLDS == fold for fold in range(min(FOLDS, len(rows)))]
