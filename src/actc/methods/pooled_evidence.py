"""The pooled method over log-odds by the graph's evidence: its options, and the fit that answers for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from actc.data.numeric import moderate
from actc.data.triples import Annotations, BoolArray, FloatArray, Picks, ScoredTriples, Thresholds
from actc.errors import OptionError
from actc.evidence.score import TriplesWithEvidence
from actc.methods.evidence_answers import move_weights
from actc.methods.pick_listed import pick_listed
from actc.methods.pooled.method import OWN_SELECTOR, Pooled, PooledFit
from actc.methods.pooled.model import Posterior

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
        ``expected-gain`` (where a label is expected to set most decisions right), ``listed`` (drawn from the list that
        a promise would be about, and by rank from the whole pool), or a name in ``SELECTORS``.
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
    """What the method makes of the answers; each thing is worked out when it is first asked for.

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
        """Say of any triples whether they are accepted, shape (M,)."""
        return self.base.accepts(triples) if self.moved is None else self._moved_moments(triples)[0] >= 0

    def probabilities(self, triples: ScoredTriples) -> FloatArray:
        """Return P(true) of any triples, shape (M,)."""
        return self.base.probabilities(triples) if self.moved is None else moderate(*self._moved_moments(triples))

    def pick(self, count: int, random: np.random.Generator) -> Picks:
        """Return the next triples to judge."""
        if self.method.selector == LISTED:
            return pick_listed(self.base.probabilities(self.pool), self.answers, count, random)
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
