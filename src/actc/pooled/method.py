"""The pooled method as a method: its options, and the questions everyone asks a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from actc.errors import ChoiceError, OptionError
from actc.pooled.draws import cut_intervals
from actc.pooled.features import PreparedPool, prepare_pool
from actc.pooled.model import OBJECTIVES, PRIORS, Posterior, find_cuts, fit
from actc.pooled.picks import batch_size, best_pick, pick_expected_gain
from actc.pooled.settle import settle
from actc.three_steps.select_triples import Estimate, select_triples
from actc.triples import Annotations, FloatArray, IntArray, ScoredTriples


@dataclass(frozen=True, eq=False)
class Foresight:
    """What a fit expects of itself.

    Parameters
    ----------
    gain : float
        Right decisions in the pool that one more label, well chosen, is expected to add.
    lower, upper : float array of shape (R + 1,)
        Between these lies each cut, with nine chances in ten if the model holds; the default is last.
    """

    gain: float
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class Pooled:
    """One model over all relations, which share strength; works from zero labels on.

    Parameters
    ----------
    selector : str
        ``expected-gain`` (where a label is expected to set most decisions right), or a name in ``SELECTORS``.
    objective : str
        What the cuts should make best on the pool: ``accuracy`` or ``f1``.
    known : bool
        Whether to learn about relations from the scores of triples that the graph holds already.
    prior : str
        What is believed before any label, see ``PRIORS``.
    """

    summary: str = ""
    selector: str = "expected-gain"
    objective: str = "accuracy"
    known: bool = False
    prior: str = "v2"

    wants_squashed: ClassVar[bool] = False
    least_budget: ClassVar[int] = 0

    @property
    def needs_known(self) -> bool:
        """Whether it cannot do without the known triples' scores."""
        return self.known

    def batch(self, judged: int) -> int:
        """Return how many triples to judge before asking again."""
        return batch_size(judged)

    def select(
        self,
        pool: ScoredTriples,
        annotations: Annotations,
        count: int,
        random: np.random.Generator,
        known: ScoredTriples | None = None,
    ) -> IntArray:
        """Return the rows of the next triples to judge."""

        def estimate(relation: int | None = None) -> FloatArray:
            return self.estimate(pool, annotations, pool if relation is None else pool.as_if(relation), known)

        def where_it_pays(
            pool: ScoredTriples, annotations: Annotations, count: int, random: np.random.Generator, _: Estimate
        ) -> IntArray:
            return pick_expected_gain(self.fit(pool, annotations, known), annotations, count, random)

        selector = where_it_pays if self.selector == "expected-gain" else self.selector
        return select_triples(pool, annotations, count, selector, random, estimate)

    def find_cuts(
        self, pool: ScoredTriples, annotation_sets: Sequence[Annotations], known: ScoredTriples | None = None
    ) -> FloatArray:
        """Return each set's cuts, shape (S, R + 1), the default last."""
        if self.objective not in OBJECTIVES:
            raise ChoiceError("objective of the pooled method", self.objective, OBJECTIVES)
        return np.stack(
            [find_cuts(self.fit(pool, annotations, known), self.objective) for annotations in annotation_sets]
        )

    def estimate(
        self,
        pool: ScoredTriples,
        annotations: Annotations,
        triples: ScoredTriples,
        known: ScoredTriples | None = None,
    ) -> FloatArray:
        """Return P(true) of any triples."""
        posterior = self.fit(pool, annotations, known)
        relations = posterior.pool.relation_codes(triples)
        return posterior.probabilities(posterior.pool.centred(triples.scores, relations), relations)

    def foresee(self, pool: ScoredTriples, annotations: Annotations, known: ScoredTriples | None = None) -> Foresight:
        """Return what one more label is expected to bring, and how far each cut may be off."""
        posterior = self.fit(pool, annotations, known)
        lower, upper = cut_intervals(posterior, cut=OBJECTIVES[self.objective](posterior))
        return Foresight(best_pick(posterior)[2], lower, upper)

    def fit(self, pool: ScoredTriples, annotations: Annotations, known: ScoredTriples | None = None) -> Posterior:
        """Return the posterior of all relations' lines."""
        if self.prior not in PRIORS:
            raise ChoiceError("prior of the pooled method", self.prior, PRIORS)
        recipe = PRIORS[self.prior]
        posterior = fit(self._prepare(pool, known), annotations, recipe.with_known if self.known else recipe.pool_only)
        return settle(posterior, annotations) if recipe.settles else posterior

    def _prepare(self, pool: ScoredTriples, known: ScoredTriples | None) -> PreparedPool:
        if not self.known:
            return prepare_pool(pool)
        if known is None:
            raise OptionError(
                "This method needs the known triples with scores: --known, --kg, or a train.tsv in the folder."
            )
        return prepare_pool(pool, known)
