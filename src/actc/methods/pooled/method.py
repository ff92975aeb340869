"""The pooled method as a method: its options, and the fit that answers every question about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from actc.data.answers import Annotations, Picks
from actc.data.numeric import moderate
from actc.data.triples import BoolArray, FloatArray, ScoredTriples, Thresholds
from actc.errors import OptionError, check_choice
from actc.evidence.score import LOG_ODDS_PIECE
from actc.methods.classifiers import fit_bayesian_logistic
from actc.methods.pooled import tuned
from actc.methods.pooled.features import LOG_ODDS, PROBABILITIES, RANKS, PreparedPool, prepare_pool
from actc.methods.pooled.model import OBJECTIVES, Posterior, Priors, cut_intervals, cuts_at
from actc.methods.pooled.picks import pick_expected_gain, pick_rare
from actc.methods.pooled.solve import fit_prior, fit_regimes
from actc.methods.select_triples import check_count, find_selector, select_triples

EXPECTED_GAIN, RARE = "expected-gain", "rare"
READS = ("pool", "known", "evidence")
EVIDENCE_METHOD = "pooled-evidence"
"""The method for scores that are log-odds by evidence."""
WRONG_FACTS_METHOD = f"{EVIDENCE_METHOD}:selector={RARE}"
"""The same where the scores are log-odds of being wrong: wrong facts are rare, and stand in a list."""


LOG_ODDS_PRIOR = Priors.of((tuned.LOG_ODDS, tuned.LOG_ODDS_TAU))


@dataclass(frozen=True)
class Pooled:
    """One model over all relations, which share strength; works from zero labels on.

    Scores that are probabilities are believed; other scores are read by their ranks, unless ``reads=evidence``.

    Parameters
    ----------
    selector : str
        ``expected-gain`` (where a label is expected to set most decisions right), ``rare`` (where few are true: drawn
        from the most probable ones, and from all relations), or a name in ``SELECTORS``.
    objective : str
        What the cuts should make best on the pool: ``accuracy`` or ``f1``.
    reads : str
        What it reads beside the pool's scores. ``pool``: nothing. ``known``: the scores of triples that the graph holds
        already. ``evidence``: the graph's evidence for each candidate; then scores are log-odds, such as ``actc
        evidence`` writes, and answers move the weights of the pieces of evidence, where the pool has them beside it.
    move : bool
        Whether answers move the weights of the pieces.
    """

    summary: str = ""
    selector: str = EXPECTED_GAIN
    objective: str = "accuracy"
    reads: str = "pool"
    move: bool = True

    @property
    def is_random(self) -> bool:
        """Whether it selects at random."""
        return self.selector in (EXPECTED_GAIN, RARE) or find_selector(self.selector).is_random

    def batch(self, judged: int) -> int:
        """Return how many triples to judge before asking again."""
        return max(1, judged // tuned.LABELS_IN_BATCH)

    def fit(self, pool: ScoredTriples, answers: Annotations, known: ScoredTriples | None = None) -> PooledFit:
        """Return the fit on the answers, of which there may be none."""
        check_choice("source of the pooled method", self.reads, READS)
        check_choice("objective of the pooled method", self.objective, OBJECTIVES)
        if self.selector not in (EXPECTED_GAIN, RARE):
            find_selector(self.selector)  # refuses a selector that does not exist
        # Where no facts were left to learn from what the pieces are worth, it starts from the model's own score.
        log_odds = self.reads == "evidence" and LOG_ODDS_PIECE not in pool.pieces
        kind = PROBABILITIES if pool.probabilities else LOG_ODDS if log_odds else RANKS
        reads_known = kind == RANKS and self.reads != "pool"
        if reads_known and known is None:
            raise OptionError(
                "This method needs the known triples with scores: --known, --graph, or a train.tsv in the folder."
            )
        return PooledFit(self, pool, answers, prepare_pool(pool, known if reads_known else None, kind))


@dataclass(frozen=True, eq=False)
class PooledFit:
    """What the pooled method makes of the answers; each value is computed when it is first used."""

    method: Pooled
    pool: ScoredTriples
    answers: Annotations
    prepared: PreparedPool = field(repr=False)
    squash: ClassVar[None] = None

    @cached_property
    def posterior(self) -> Posterior:
        """Every relation's line as a Gaussian; what moved weights add is left out."""
        if self.prepared.scale.kind == RANKS:
            return fit_regimes(self.prepared, self.answers)
        return fit_prior(self.prepared, self.answers, LOG_ODDS_PRIOR)

    @cached_property
    def moved(self) -> FloatArray | None:
        """By how much the answers moved the weight of each piece, shape (F,); None where nothing was moved."""
        reads_pieces = self.method.reads == "evidence" and self.method.move
        if not (reads_pieces and len(self.answers) and self.pool.pieces):
            return None
        order = np.argsort(self.answers.rows)  # the result must not depend on the order of judging
        rows = self.answers.rows[order]
        pieces = np.column_stack([piece[rows] for piece in self.pool.pieces.values()])
        return move_weights(pieces, self._moments(self.pool)[0][rows], self.answers.labels[order])

    @cached_property
    def cuts(self) -> FloatArray:
        """Each relation's cut, the default last, shape (R + 1,); what moved weights add is left out."""
        return cuts_at(self.posterior, self._level)

    @cached_property
    def thresholds(self) -> Thresholds | None:
        """One cut per relation with a 90% interval, if the model holds; None where answers moved weights."""
        if self.moved is not None:
            return None
        interval = cut_intervals(self.posterior, cut=self._level)
        return Thresholds.from_cuts(self.pool, self.answers.rows, self.cuts, *interval)

    @cached_property
    def _level(self) -> float:
        """The logit from which on a triple is accepted."""
        return OBJECTIVES[self.method.objective](self.posterior)

    def accepts(self, triples: ScoredTriples) -> BoolArray:
        """Return which triples are accepted, shape (M,): with the best accuracy, where P(true) >= 1/2."""
        if self.moved is not None:
            return np.asarray(self._moved_moments(triples)[0] >= 0)
        return np.asarray(triples.scores >= self.cuts[self.prepared.relation_codes(triples)])

    def probabilities(self, triples: ScoredTriples) -> FloatArray:
        """Return P(true) of any triples, shape (M,).

        A line that is flat or falls with the score, which few answers can make of it, has no cut of its own; there
        P(true) stays on the side of 1/2 that the cut for the best accuracy gives.
        """
        return self._line_probabilities(triples) if self.moved is None else moderate(*self._moved_moments(triples))

    def _line_probabilities(self, triples: ScoredTriples) -> FloatArray:
        p = moderate(*self._moments(triples))
        # Where each relation's line crosses P(true) = 1/2.
        cuts = cuts_at(self.posterior)[self.prepared.relation_codes(triples)]
        return np.where(triples.scores >= cuts, np.maximum(p, 0.5), np.minimum(p, np.nextafter(0.5, 0)))

    def _moments(self, triples: ScoredTriples) -> tuple[FloatArray, FloatArray]:
        relations = self.prepared.relation_codes(triples)
        return self.posterior.moments(self.prepared.centred(triples.scores, relations), relations)

    def _moved_moments(self, triples: ScoredTriples) -> tuple[FloatArray, FloatArray]:
        if triples.pieces.keys() != self.pool.pieces.keys():
            raise OptionError(
                "Answers moved the weights of evidence, so triples need theirs: weigh them with the pool."
            )
        assert self.moved is not None
        mean, variance = self._moments(triples)
        return mean + np.column_stack(list(triples.pieces.values())) @ self.moved, variance

    def pick(self, count: int, random: np.random.Generator) -> Picks:
        """Return the next triples to judge."""
        if self.method.selector == RARE:
            p = self._line_probabilities(self.pool)
            return pick_rare(p, self.pool.relations, self.answers, count, random)
        if self.method.selector == EXPECTED_GAIN:
            check_count(self.pool, self.answers, count)
            relations = self.pool.relations
            cut = self.pool.scores >= self.cuts[relations]  # moved weights decide, but do not choose questions
            accepted = np.bincount(relations[cut], minlength=len(self.pool.relation_names))
            return pick_expected_gain(self.posterior, self.answers, count, random, accepted)
        return select_triples(self.pool, self.answers, count, self.method.selector, random, self._estimate)

    def _estimate(self, relation: int | None = None) -> FloatArray:
        return self._line_probabilities(self.pool if relation is None else self.pool.as_if(relation))


def move_weights(pieces: FloatArray, logits: FloatArray, labels: BoolArray) -> FloatArray:
    """Return what answers make each piece of evidence add to the logit, per standard deviation, shape (F,).

    The logit that a candidate had before is an offset; pieces add to it by weights around 0. How far around is one of a
    few widths. They are averaged by how probable each makes the answers, and so is a model without any weights: answers
    turn down pieces that do not help.
    """
    zeros = np.zeros(pieces.shape[1])
    nothing = float(labels @ logits - np.logaddexp(0, logits).sum())
    fits = [fit_bayesian_logistic(pieces, labels, zeros, zeros + width, logits) for width in tuned.PIECE_WIDTHS]
    likelihood = np.array([nothing, *(log_evidence for *_, log_evidence in fits)])
    shares = np.array([tuned.NO_PIECES, *[(1 - tuned.NO_PIECES) / len(fits)] * len(fits)])
    shares *= np.exp(likelihood - likelihood.max())
    return np.asarray(shares[1:] @ np.stack([weights for weights, *_ in fits]) / shares.sum())
