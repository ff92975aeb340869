"""One way to score by evidence, for every command: from a training set to the log-odds of any candidates.

A training set is a table of proposals among which are holdout facts: facts of the graph that are taken out of it before
anything is looked up. From it the weight of each piece of evidence is learnt; by the weights candidates get log-odds::

    training = create_training_set(graph, proposals, holdout)
    scored = score_evidence(graph, candidates, training)     # log-odds, and the evidence that reasons are made of
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from actc.data.progress import Stage, no_stage
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence.model import EvidenceModel, Quantiles, fit_model, is_of_scores, pieces_of
from actc.evidence.steps import Limits
from actc.evidence.table import Engine, Evidence, Progress, Proposals, count_look_ups, gather_evidence, place_scores
from actc.graph.graph import Graph

PLACES = 5  # a holdout fact counts as one the model would have proposed when it is among so many best of a slot
TAKEN_OUT = 0.1  # share of the graph's facts that stand for unseen ones where there are none
MOST_TAKEN_OUT = 5000
MOST_LEARNT = 200_000  # proposals to learn from; of more, so many are drawn


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What the weights of evidence are learnt from.

    Parameters
    ----------
    holdout : Triples
        Facts that the proposers did not know: models were not trained on them, rules were mined without them. They are
        taken out of the graph before the proposals are looked up.
    proposals : Proposals
        N proposals. Their scores and marks count if they have any: leave them out where those of the holdout facts
        cannot be compared with those of the others.
    true : bool array of shape (N,)
        True for the proposals that are holdout facts.
    share : float, optional
        The share of true ones to expect among the others, which are unlabelled, if it is known from elsewhere, such as
        the share of the holdout that was proposed; else it is estimated.
    """

    holdout: Triples
    proposals: Proposals
    true: BoolArray
    share: float | None = None

    @classmethod
    def among(cls, holdout: Triples, proposals: Proposals | ScoredTriples) -> Self:
        """Find the holdout facts among proposals, which were made as if these were not known."""
        proposals = Proposals.of(proposals)
        return cls(holdout, proposals, holdout.contains(proposals.triples))

    @classmethod
    def placed_in(cls, holdout: ScoredTriples, pool: ScoredTriples) -> Self:
        """Put holdout facts among a pool, those that would have been proposed by their score.

        They have fewer rivals and lower scores than if the model had proposed them, so scores are left out.
        """
        fresh = holdout.take(pool.rows_of(holdout) < 0)
        union = fresh.followed_by(pool).with_scores(np.append(fresh.scores, pool.scores))
        true = np.arange(len(union)) < len(fresh)
        near = best_place(union) <= PLACES
        rows = ~true | near if (true & near).sum() >= 2 else np.ones(len(union), dtype=np.bool_)
        return cls(holdout, Proposals(union.take(rows)), true[rows])

    @classmethod
    def from_graph(cls, graph: Graph, pool: Triples) -> Self:
        """Take some of the graph's own facts out of it, and put them among a pool; what was proposed does not count."""
        count = min(int(TAKEN_OUT * len(graph)), MOST_TAKEN_OUT)
        if count < 2:
            raise TableError(f"A graph of {len(graph)} facts is too small to learn from; it needs at least 20.")
        out = graph.take(np.random.default_rng(0).permutation(len(graph)) < count)
        fresh = out.take(pool.rows_of(out) < 0)
        union = fresh.followed_by(pool.take(_draw(len(pool))) if len(pool) > MOST_LEARNT else pool)
        return cls(out, Proposals(union), np.arange(len(union)) < len(fresh))

    def sampled(self) -> Self:
        """Return it with no more proposals than are needed to learn from; their places in slots are those among all."""
        if len(self.true) <= MOST_LEARNT:
            return self
        parts = (np.flatnonzero(self.true), np.flatnonzero(~self.true))
        rows = np.sort(np.concatenate([part[_draw(len(part))] for part in parts]))
        proposals = place_scores(self.proposals, rows) if self.proposals.scores else self.proposals.take(rows)
        return replace(self, proposals=proposals, true=self.true[rows])


def _draw(count: int) -> IntArray:
    """Return rows at random, rising, no more than are needed to learn from."""
    return np.sort(np.random.default_rng(0).permutation(count)[:MOST_LEARNT])


def create_training_set(graph: Graph, proposals: Proposals | ScoredTriples, holdout: Triples | None) -> TrainingSet:
    """Return the best training set there is.

    Holdout facts among the proposals, if two are there; else, if they have scores, the holdout facts put among the
    proposals; else some of the graph's own facts.

    Parameters
    ----------
    graph : Graph
        The known facts.
    proposals : Proposals
        What was proposed as if the holdout facts were not known.
    holdout : Triples or None
        Scored by the first model, if that is possible.
    """
    proposals = Proposals.of(proposals)
    if holdout is not None:
        training = TrainingSet.among(holdout, proposals)
        if 2 <= training.true.sum() < len(proposals):
            return training.sampled()
        if isinstance(holdout, ScoredTriples) and proposals.scores:
            pool = proposals.triples.with_scores(proposals.scores[0])
            return TrainingSet.placed_in(holdout, pool.take(~training.true)).sampled()
    return TrainingSet.from_graph(graph, proposals.triples)


@dataclass(frozen=True, eq=False)
class ScoredEvidence:
    """Candidates with their evidence, and their log-odds by a model, shape (N,)."""

    evidence: Evidence
    model: EvidenceModel
    log_odds: FloatArray

    @property
    def candidates(self) -> ScoredTriples:
        """The candidates, their score being the log-odds."""
        return self.evidence.candidates.with_scores(self.log_odds)

    @property
    def pieces(self) -> FloatArray:
        """The pieces that the model reads, as normal quantiles, shape (N, F)."""
        return self.model.ridge.quantiles.transform(pieces_of(self.evidence, self.model.columns))

    def take(self, rows: ArrayLike) -> Self:
        """Return some of the candidates."""
        rows = np.asarray(rows)
        return replace(self, evidence=self.evidence.take(rows), log_odds=self.log_odds[rows])


@dataclass(frozen=True, eq=False)
class EvidenceScorer:
    """A model with the graph that candidates are looked up in, and how much is looked up: as for its training set."""

    model: EvidenceModel
    graph: Graph
    limits: Limits

    def score(self, candidates: Proposals | ScoredTriples, progress: Progress | None = None) -> ScoredEvidence:
        """Return the log-odds of candidates with their evidence, in memory."""
        evidence = gather_evidence(self.graph, candidates, self.limits, progress=progress)
        return ScoredEvidence(evidence, self.model, self.model.log_odds(evidence))


def learn(
    graph: Graph,
    training: TrainingSet,
    limits: Limits | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> EvidenceScorer:
    """Learn the weights of evidence from a training set, whose holdout facts the graph may hold or not."""
    limits = limits or Limits.for_count(len(training.proposals))
    graph = Graph.of(graph)  # a table of its own: with it go the keys that are made to find triples
    whole = graph if graph.contains(training.holdout).all() else Graph.of(graph.union(training.holdout))
    before = whole.take(~training.holdout.contains(whole))
    table = gather_evidence(before, training.proposals, limits, engine, progress)
    # Candidates are looked up with every fact: the ridge bears the small difference, and profits from each.
    return EvidenceScorer(fit_model(table, training.true, training.share), Graph.of(whole), limits)


def score_evidence(
    graph: Graph,
    candidates: Proposals | ScoredTriples,
    training: TrainingSet,
    stage: Stage = no_stage,
) -> ScoredEvidence:
    """Learn the weights of evidence from a training set, and give candidates their log-odds by them.

    Parameters
    ----------
    graph : Graph
        The known facts; whether it has the holdout facts or not.
    candidates : Proposals
        What is to be decided, with the scores and marks that its proposals have.
    training : TrainingSet
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to call with steps done, steps in all.
    """
    limits = Limits.for_count(max(len(candidates), len(training.proposals)))
    with stage("Evidence") as advance:
        progress = count_look_ups(advance, 2)
        return learn(graph, training, limits, progress).score(candidates, progress)


def best_place(triples: ScoredTriples) -> FloatArray:
    """Return each triple's place by score in the better of its two slots, 1 the best, shape (N,)."""
    places = []
    for end in (triples.heads, triples.tails):
        slot = end * len(triples.relation_names) + triples.relations
        order = np.lexsort((-triples.scores, slot))
        begins = np.append(True, np.diff(slot[order]) != 0)
        place = np.empty(len(order))
        place[order] = np.arange(len(order)) - np.flatnonzero(begins)[np.cumsum(begins) - 1] + 1
        places.append(place)
    return np.minimum(*places)


LOG_ODDS_COUNT = 2.0  # the log-odds by evidence count as a piece of so many standard deviations


@dataclass(frozen=True, eq=False, repr=False)
class TriplesWithEvidence(ScoredTriples):
    """Scored triples and what the graph says of each.

    Parameters
    ----------
    pieces : float array of shape (N, F)
        The pieces of evidence as normal quantiles; answers may move their weights.
    piece_names : tuple of str
        The F names.
    with_log_odds : bool
        True when the scores are log-odds by all the evidence. False when there were no facts that the model was not
        trained on: then the scores are the model's own.
    """

    pieces: FloatArray = field(kw_only=True)
    piece_names: tuple[str, ...] = field(kw_only=True)
    with_log_odds: bool = field(kw_only=True)

    @classmethod
    def of(cls, triples: ScoredTriples, pieces: FloatArray, names: tuple[str, ...], with_log_odds: bool) -> Self:
        """Put pieces beside triples."""
        codes = (triples.heads, triples.relations, triples.tails, triples.entity_names, triples.relation_names)
        return cls(*codes, scores=triples.scores, pieces=pieces, piece_names=names, with_log_odds=with_log_odds)

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows."""
        return replace(super().take(rows), pieces=self.pieces[np.asarray(rows)])


def score_pools(
    graph: Graph, pools: Sequence[ScoredTriples], training: TrainingSet | None = None
) -> list[TriplesWithEvidence]:
    """Put the graph's evidence beside the candidates of several pools, scored alike; answers come from the first.

    With a training set the scores become log-odds, and the pieces of scores from which nothing could be learnt are
    left to the answers. Without it some of the graph's own facts teach, but for the scores: these stay, and the
    log-odds are one more piece.
    """
    has_holdout, training = training is not None, training or TrainingSet.from_graph(graph, pools[0])
    scorer = learn(graph, training, Limits.for_count(max(len(training.proposals), *map(len, pools))))
    scored = [scorer.score(pool) for pool in pools]
    first, found = scored[0], list[TriplesWithEvidence]()
    names = () if scorer.model.with_scores else tuple(filter(is_of_scores, first.evidence.columns))
    places = Quantiles.of(pieces_of(first.evidence, names), np.ones(len(first.evidence)))
    scale = LOG_ODDS_COUNT / max(float(first.log_odds.std()), 1e-9)
    for one, pool in zip(scored, pools, strict=True):
        if has_holdout:
            beside, called = places.transform(pieces_of(one.evidence, names)), names
        else:
            beside, called = (scale * (one.log_odds - first.log_odds.mean()))[:, None], ("log-odds by evidence",)
        triples, pieces = one.candidates if has_holdout else pool, np.column_stack([one.pieces, beside])
        found.append(TriplesWithEvidence.of(triples, pieces, (*scorer.model.columns, *called), has_holdout))
    return found
