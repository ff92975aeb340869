"""The pooled method over log-odds by the graph's evidence: how answers move weights, which triples come next, the fit.

What is believed of each candidate before, its logit, stays; the pieces of evidence add to it by weights around 0, how
far around being one of a few widths. How likely the answers are under each width, and under no weights at all, is how
much each counts: pieces that say nothing are turned down by the answers themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from actc.data.numeric import moderate, sigmoid
from actc.data.triples import Annotations, BoolArray, FloatArray, IntArray, Picks, ScoredTriples, Thresholds
from actc.errors import OptionError
from actc.evidence.score import TriplesWithEvidence
from actc.methods.pooled.method import OWN_SELECTOR, Pooled, PooledFit
from actc.methods.pooled.model import Posterior
from actc.methods.pooled.picks import RANDOM_CHECK

# Half or twice the widths, and other beliefs, decide alike: benchmarks/evidence/choice.csv, widths and nothing.
WIDTHS = (0.05, 0.1, 0.2, 0.4)
NOTHING = 0.5  # the belief, before any answer, that the pieces have nothing to add
STEPS = 25


def move_weights(pieces: FloatArray, logits: FloatArray, truth: BoolArray) -> FloatArray:
    """Return what answers make each piece add to the logit, per standard deviation, shape (F,).

    Parameters
    ----------
    pieces : float array of shape (l, F)
        The pieces of evidence of the judged candidates.
    logits : float array of shape (l,)
        What is believed of them without the pieces.
    truth : bool array of shape (l,)
        The answers.
    """
    answers = truth.astype(np.float64)
    fits = [_fit_width(pieces, logits, answers, width) for width in WIDTHS]
    likelihood = np.array([_likelihood(logits, answers), *(value for _, value in fits)])
    belief = np.exp(likelihood - likelihood.max()) * np.array([NOTHING, *[(1 - NOTHING) / len(WIDTHS)] * len(WIDTHS)])
    belief /= belief.sum()
    return np.asarray(belief[1:] @ np.stack([weights for weights, _ in fits]))


def _fit_width(pieces: FloatArray, logits: FloatArray, truth: FloatArray, width: float) -> tuple[FloatArray, float]:
    """Return the weights' mode under a Gaussian of one width, and the log of how likely it makes the answers."""
    weights, prior = np.zeros(pieces.shape[1]), np.eye(pieces.shape[1]) / width**2
    for _ in range(STEPS):
        p = sigmoid(logits + pieces @ weights)
        hessian = (pieces * (p * (1 - p))[:, None]).T @ pieces + prior
        step = np.linalg.solve(hessian, pieces.T @ (p - truth) + weights / width**2)
        weights = weights - step
        if np.abs(step).max() < 1e-4:
            break
    volume = np.linalg.slogdet(hessian * width**2)[1]  # Laplace's approximation
    penalty = 0.5 * float(weights @ weights) / width**2 + 0.5 * float(volume)
    return weights, _likelihood(logits + pieces @ weights, truth) - penalty


def _likelihood(logits: FloatArray, truth: FloatArray) -> float:
    return float(truth @ logits - np.logaddexp(0, logits).sum())


LISTED_SHARE, LEAST = 0.02, 20  # of what nobody judged, and triples at least: the list has so many
FROM_LIST = (0.4, 0.8)  # of the questions: where the list should hold nothing, and where it should hold nothing else


def pick_listed(
    probabilities: FloatArray, relations: IntArray, answers: Annotations, count: int, random: np.random.Generator
) -> Picks:
    """Draw the next triples to judge, where what is sought is rare, each with a known probability.

    Part of the questions are drawn evenly from a list of the most probable ones, the others from all. Of these, a
    relation with four times as many triples has twice as many questions: the rates of all relations are soon known.

    Parameters
    ----------
    probabilities : float array of shape (N,)
        That each triple of the pool is what is sought, by the fit on the answers.
    relations : int array of shape (N,)
    answers : Annotations
        What has been judged.
    count : int
        How many are wanted; fewer come back where the pool has fewer left.
    random : numpy.random.Generator
    """
    size = len(probabilities)
    free = np.setdiff1d(np.arange(size), answers.rows)
    if not len(free):
        return Picks(free)
    length = max(int(LISTED_SHARE * len(free)), LEAST)
    top = free[np.argsort(-probabilities[free], kind="stable")[:length]]
    share = FROM_LIST[0] + (FROM_LIST[1] - FROM_LIST[0]) * float(probabilities[top].mean())
    everywhere, listed = np.zeros((2, size))
    everywhere[free] = np.maximum(np.bincount(relations), 1)[relations[free]] ** -0.5
    listed[top] = 1.0
    p = (1 - share) * everywhere / everywhere.sum() + share * listed / listed.sum()
    rows = random.choice(size, min(count, len(free)), replace=False, p=p / p.sum())
    left = 1 - np.append(0.0, np.cumsum(p[rows])[:-1])  # of the probability, when each is drawn
    chance = np.minimum(p[rows] / np.maximum(left, p[rows]), 1.0)
    return Picks(rows, "random", "pool", chance, RANDOM_CHECK)


LOG_ODDS = "pooled-evidence"
"""What the method for scores that are log-odds by evidence is called."""
LISTED = "listed"
DOUBTS = f"{LOG_ODDS}:selector={LISTED}"
"""The same where the scores are log-odds of being wrong: what is sought is rare, and stands in a list."""


@dataclass(frozen=True)
class PooledEvidence:
    """The pooled method over log-odds by the graph's evidence, such as ``actc evidence`` writes as scores.

    Where the pool has the pieces of evidence beside it (``score.TriplesWithEvidence``), answers move the weights of the
    pieces too. Where no facts were left to teach what the pieces are worth, it begins as ``pooled-known`` over the
    model's own score.

    Parameters
    ----------
    selector : str
        ``expected-gain`` (where a label is expected to set most decisions right), ``listed`` (drawn from the most
        probable ones, and from all relations), or a name in ``SELECTORS``.
    move : bool
        Whether answers move the weights of the pieces.
    """

    summary: str = ""
    selector: str = OWN_SELECTOR
    move: bool = True

    reads: ClassVar[str] = "evidence"

    @property
    def by_chance(self) -> bool:
        """Whether chance plays a part in what it selects."""
        return self._base.by_chance

    def batch(self, judged: int) -> int:
        """Return how many triples to judge before asking again."""
        return self._base.batch(judged)

    @property
    def _base(self) -> Pooled:
        return Pooled(selector=OWN_SELECTOR if self.selector == LISTED else self.selector, prior="log-odds")

    def fit(self, pool: ScoredTriples, answers: Annotations, known: ScoredTriples | None = None) -> EvidenceFit:
        """Return the fit on the answers, of which there may be none."""
        if isinstance(pool, TriplesWithEvidence) and not pool.with_log_odds:
            by_scores = replace(self._base, prior="pool", known=True)
            return EvidenceFit(self, pool, answers, by_scores.fit(pool, answers, known))
        return EvidenceFit(self, pool, answers, self._base.fit(pool, answers))


@dataclass(frozen=True, eq=False)
class EvidenceFit:
    """What the method makes of the answers; each value is computed when it is first used.

    Parameters
    ----------
    method : PooledEvidence
    pool, answers
        What it was fitted on.
    base : PooledFit
        The fit without moved weights.
    """

    method: PooledEvidence
    pool: ScoredTriples
    answers: Annotations
    base: PooledFit
    squash: ClassVar[None] = None

    @property
    def draws(self) -> Posterior:
        """Every relation's line as a Gaussian; what moved weights add is left out."""
        return self.base.draws

    @property
    def gain(self) -> float:
        """Right decisions in the pool that one more label, well chosen, is expected to add."""
        return self.base.gain

    @cached_property
    def moved(self) -> FloatArray | None:
        """By how much the answers moved the weight of each piece, shape (F,); None where nothing was moved."""
        if not (self.method.move and len(self.answers) and isinstance(self.pool, TriplesWithEvidence)):
            return None
        rows = np.sort(self.answers.rows)  # the result must not depend on the order of judging
        labels = self.answers.labels[np.argsort(self.answers.rows)]
        return move_weights(self.pool.pieces[rows], self._moments(self.pool)[0][rows], labels)

    @property
    def weights(self) -> dict[str, float]:
        """By how much the answers moved the weight of each piece: log-odds per standard deviation."""
        if self.moved is None or not isinstance(self.pool, TriplesWithEvidence):
            return {}
        return dict(zip(self.pool.piece_names, self.moved.tolist(), strict=True))

    @property
    def thresholds(self) -> Thresholds | None:
        """One cut per relation in the pool's log-odds; None where answers moved weights: no cut says that."""
        return self.base.thresholds if self.moved is None else None

    def accepts(self, triples: ScoredTriples) -> BoolArray:
        """Return which triples are accepted, shape (M,)."""
        return self.base.accepts(triples) if self.moved is None else self._moved_moments(triples)[0] >= 0

    def probabilities(self, triples: ScoredTriples) -> FloatArray:
        """Return P(true) of any triples, shape (M,)."""
        return self.base.probabilities(triples) if self.moved is None else moderate(*self._moved_moments(triples))

    def pick(self, count: int, random: np.random.Generator) -> Picks:
        """Return the next triples to judge."""
        if self.method.selector == LISTED:
            return pick_listed(self.base.probabilities(self.pool), self.pool.relations, self.answers, count, random)
        return self.base.pick(count, random)

    def _moved_moments(self, triples: ScoredTriples) -> tuple[FloatArray, FloatArray]:
        assert self.moved is not None
        if not isinstance(triples, TriplesWithEvidence):
            raise OptionError(
                "Answers moved the weights of evidence, so triples need theirs: weigh them with the pool."
            )
        mean, variance = self._moments(triples)
        return mean + triples.pieces @ self.moved, variance

    def _moments(self, triples: ScoredTriples) -> tuple[FloatArray, FloatArray]:
        prepared = self.base.prepared
        relations = prepared.relation_codes(triples)
        return self.draws.moments(prepared.centred(triples.scores, relations), relations)
