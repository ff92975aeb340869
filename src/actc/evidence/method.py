"""The pooled method over the graph's evidence: its options, and the fit that answers every question about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from actc.errors import OptionError
from actc.evidence.answers import Moved, move_weights
from actc.evidence.weighed import WeighedTriples
from actc.numeric import moderate
from actc.pooled.method import OWN_SELECTOR, Pooled, PooledFit
from actc.pooled.model import Posterior
from actc.triples import Annotations, FloatArray, Picks, ScoredTriples, Thresholds


@dataclass(frozen=True)
class PooledEvidence:
    """The pooled method over a score that knows what the graph says of each candidate.

    Where facts that the model was not trained on taught what evidence is worth, the score is the log-odds by all the
    evidence; else it is ``pooled-known`` over the model's own score. Either way answers move the weights of the pieces.

    Parameters
    ----------
    selector : str
        ``expected-gain`` (where a label is expected to set most decisions right), or a name in ``SELECTORS``.
    move : bool
        Whether answers move the weights of the pieces.
    """

    summary: str = ""
    selector: str = OWN_SELECTOR
    move: bool = True

    wants_squashed: ClassVar[bool] = False
    least_budget: ClassVar[int] = 0
    needs_known: ClassVar[bool] = True
    needs_evidence: ClassVar[bool] = True
    knows_doubt: ClassVar[bool] = True
    takes_sketch: ClassVar[bool] = False

    @property
    def by_chance(self) -> bool:
        """Whether chance plays a part in what it selects."""
        return Pooled(selector=self.selector).by_chance

    def batch(self, judged: int) -> int:
        """Return how many triples to judge before asking again."""
        return Pooled(selector=self.selector).batch(judged)

    def fit(self, pool: ScoredTriples, answers: Annotations, known: ScoredTriples | None = None) -> EvidenceFit:
        """Return the fit on the answers, of which there may be none; the pool must have its evidence beside it."""
        if not isinstance(pool, WeighedTriples):
            missing = "the known triples, which are the graph" if known is None else "the evidence beside the pool"
            raise OptionError(
                f"This method needs {missing}: `actc bench` looks it up from a train.tsv in the folder; elsewhere run "
                "`actc evidence` first and calibrate the scores that it writes with pooled:prior=log-odds."
            )
        if pool.taught:
            base = Pooled(selector=self.selector, prior="log-odds").fit(pool, answers)
        else:
            base = Pooled(selector=self.selector, known=True).fit(pool, answers, known)
        return EvidenceFit(self, pool, answers, base)

    def find_cuts(
        self, pool: ScoredTriples, annotation_sets: Sequence[Annotations], known: ScoredTriples | None = None
    ) -> FloatArray:
        """Return each set's cuts, shape (S, R + 1): 0, since scores that answers moved are log-odds."""
        return np.zeros((len(annotation_sets), len(pool.relation_names) + 1))


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
    pool: WeighedTriples
    answers: Annotations
    base: PooledFit
    squash: ClassVar[None] = None

    @property
    def draws(self) -> Posterior:
        """Every relation's line as a Gaussian, what moved weights add being left aside."""
        return self.base.draws

    @property
    def gain(self) -> float:
        """Right decisions in the pool that one more label, well chosen, is expected to add."""
        return self.base.gain

    @cached_property
    def moved(self) -> Moved:
        """By how much the answers moved the weights of the pieces."""
        if not self.method.move:
            return Moved(np.zeros(self.pool.pieces.shape[1]), 1.0)
        rows = np.sort(self.answers.rows)  # the result must not depend on the order of judging
        labels = self.answers.labels[np.argsort(self.answers.rows)]
        return move_weights(self.pool.pieces[rows], self._moments(self.pool)[0][rows], labels)

    @property
    def weights(self) -> dict[str, float]:
        """By how much the answers moved the weight of each piece: log-odds per standard deviation."""
        return dict(zip(self.pool.piece_names, self.moved.weights.tolist(), strict=True))

    @cached_property
    def thresholds(self) -> Thresholds:
        """0 for every relation, in units of the scores that :meth:`rescored` gives."""
        return Thresholds.from_cuts(self.pool, self.answers, np.zeros(len(self.pool.relation_names) + 1))

    def rescored(self, triples: WeighedTriples) -> ScoredTriples:
        """Return triples with log-odds by score, evidence and answers as scores."""
        return triples.with_scores(self._moments(triples)[0] + triples.pieces @ self.moved.weights)

    def probabilities(self, triples: ScoredTriples) -> FloatArray:
        """Return P(true) of any triples that have their evidence beside them, shape (M,)."""
        if not isinstance(triples, WeighedTriples):
            raise OptionError("This method needs the evidence beside the triples; use weigh_pools.")
        mean, variance = self._moments(triples)
        return moderate(mean + triples.pieces @ self.moved.weights, variance)

    def pick(self, count: int, random: np.random.Generator) -> Picks:
        """Return the next triples to judge."""
        return self.base.pick(count, random)

    def _moments(self, triples: ScoredTriples) -> tuple[FloatArray, FloatArray]:
        prepared = self.base.prepared
        relations = prepared.relation_codes(triples)
        return self.draws.moments(prepared.centred(triples.scores, relations), relations)
