"""The pooled method as a method: its options, and the fit that answers every question about it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from actc.data.triples import Annotations, BoolArray, FloatArray, IntArray, Picks, ScoredTriples, Thresholds
from actc.errors import OptionError, check_choice
from actc.methods.pooled.features import PreparedPool, prepare_pool
from actc.methods.pooled.log_odds import fit_log_odds, prepare_log_odds
from actc.methods.pooled.model import OBJECTIVES, Posterior, cut_intervals, cuts_at
from actc.methods.pooled.picks import batch_size, best_pick, pick_expected_gain
from actc.methods.pooled.regimes import REGIMES, fit_regimes
from actc.methods.select_triples import check_count, find_selector, select_triples

OWN_SELECTOR = "expected-gain"
LOG_ODDS = "log-odds"
PRIORS = ("pool", LOG_ODDS)


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
        ``pool``: what the pool itself tells is believed before any label; scores that are probabilities are believed.
        ``log-odds``: the scores are log-odds, and are believed.
    """

    summary: str = ""
    selector: str = OWN_SELECTOR
    objective: str = "accuracy"
    known: bool = False
    prior: str = "pool"

    @property
    def reads(self) -> str:
        """What it reads beside the pool: the scores of known triples, or nothing."""
        return "known" if self.known else "pool"

    @property
    def by_chance(self) -> bool:
        """Whether chance plays a part in what it selects."""
        return self.selector == OWN_SELECTOR or find_selector(self.selector).by_chance

    def batch(self, judged: int) -> int:
        """Return how many triples to judge before asking again."""
        return batch_size(judged)

    def fit(self, pool: ScoredTriples, answers: Annotations, known: ScoredTriples | None = None) -> PooledFit:
        """Return the fit on the answers, of which there may be none."""
        check_choice("prior of the pooled method", self.prior, PRIORS)
        check_choice("objective of the pooled method", self.objective, OBJECTIVES)
        if self.selector != OWN_SELECTOR:
            find_selector(self.selector)  # refuses a selector that does not exist
        return PooledFit(self, pool, answers, self._prepare(pool, known))

    def believes_scores(self, pool: ScoredTriples) -> bool:
        """Return whether the scores of a pool are taken for log-odds or probabilities."""
        return self.prior == LOG_ODDS or pool.probabilities

    def _prepare(self, pool: ScoredTriples, known: ScoredTriples | None) -> PreparedPool:
        if self.believes_scores(pool):
            return prepare_log_odds(pool)
        if not self.known:
            return prepare_pool(pool)
        if known is None:
            raise OptionError(
                "This method needs the known triples with scores: --known, --kg, or a train.tsv in the folder."
            )
        return prepare_pool(pool, known)


@dataclass(frozen=True, eq=False)
class PooledFit:
    """What the pooled method makes of the answers; each value is computed when it is first used.

    Parameters
    ----------
    method : Pooled
    pool, answers
        What it was fitted on.
    prepared : PreparedPool
        The pool with all that the method needs of it.
    """

    method: Pooled
    pool: ScoredTriples
    answers: Annotations
    prepared: PreparedPool = field(repr=False)
    squash: ClassVar[None] = None

    @cached_property
    def draws(self) -> Posterior:
        """Every relation's line as a Gaussian, from which any number of lines can be drawn."""
        if self.method.believes_scores(self.pool):
            return fit_log_odds(self.prepared, self.answers)
        return fit_regimes(self.prepared, self.answers, REGIMES[self.method.known])

    @cached_property
    def cuts(self) -> FloatArray:
        """Each relation's cut, the default last, shape (R + 1,)."""
        return cuts_at(self.draws, self.draws.beta, self._level)

    @cached_property
    def thresholds(self) -> Thresholds:
        """One cut per relation with an interval: between its ends, with nine chances in ten if the model holds."""
        return Thresholds.from_cuts(self.pool, self.answers, self.cuts, *cut_intervals(self.draws, cut=self._level))

    @cached_property
    def gain(self) -> float:
        """Right decisions in the pool that one more label, well chosen, is expected to add."""
        return best_pick(self.draws)[2]

    @cached_property
    def _level(self) -> float:
        """The logit from which on a triple is accepted."""
        return OBJECTIVES[self.method.objective](self.draws)

    def accepts(self, triples: ScoredTriples) -> BoolArray:
        """Return which triples are accepted, shape (M,): with the best accuracy, where P(true) >= 1/2."""
        return np.asarray(triples.scores >= self.cuts[self.prepared.relation_codes(triples)])

    def probabilities(self, triples: ScoredTriples) -> FloatArray:
        """Return P(true) of any triples, shape (M,).

        A line that is flat or falls with the score, which few answers can make of it, has no cut of its own; there
        P(true) stays on the side of 1/2 that the cut for the best accuracy says.
        """
        relations = self.prepared.relation_codes(triples)
        p = self.draws.probabilities(self.prepared.centred(triples.scores, relations), relations)
        likely = triples.scores >= self._even_cuts[relations]
        return np.where(likely, np.maximum(p, 0.5), np.minimum(p, np.nextafter(0.5, 0)))

    @cached_property
    def _even_cuts(self) -> FloatArray:
        """Where each relation's line crosses an even chance, the default last, shape (R + 1,)."""
        return cuts_at(self.draws, self.draws.beta)

    def _repr_html_(self) -> str:
        """Return the thresholds as a table, for a notebook."""
        return self.thresholds._repr_html_()

    def pick(self, count: int, random: np.random.Generator) -> Picks:
        """Return the next triples to judge."""
        if self.method.selector == OWN_SELECTOR:
            check_count(self.pool, self.answers, count)
            return pick_expected_gain(self.draws, self.answers, count, random, self._count_accepted())
        return select_triples(self.pool, self.answers, count, self.method.selector, random, self._estimate)

    def _count_accepted(self) -> IntArray:
        """Return how many rows of each relation are accepted, shape (R,), by search: a pick reads no whole pool."""
        scores, members, ends = self.pool.scores, self.prepared.members, self.prepared.starts.tolist()
        spans = zip(ends[:-1], ends[1:], self.cuts[:-1].tolist(), strict=False)
        return np.array(
            [
                end - bisect_left(range(end), cut, start, key=lambda at: scores[members[at]])
                for start, end, cut in spans
            ],
            dtype=np.int64,
        )

    def _estimate(self, relation: int | None = None) -> FloatArray:
        return self.probabilities(self.pool if relation is None else self.pool.as_if(relation))
