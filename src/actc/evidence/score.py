"""One way to score by evidence, for every command: from a training set to the log-odds of any candidates.

A training set is a table of proposals among which are holdout facts: facts of the graph that are taken out of it before
anything is looked up. From it the weight of each piece of evidence is learned; by the weights candidates get log-odds::

    training = create_training_set(graph, proposals, holdout)
    scored = score_evidence(graph, candidates, training)     # log-odds, and the evidence that reasons are made of
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from actc.data.progress import Progress, Stage, ignore_progress, no_stage
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence.model import EvidenceModel, Quantiles, fit_model, stack_pieces
from actc.evidence.plan import is_of_scores
from actc.evidence.steps import Limits
from actc.evidence.table import MEMORY, count_look_ups, gather_evidence, place_scores, rank_in_slots
from actc.graph.graph import Graph

PLACES = 5  # a holdout fact counts as one the model would have proposed when it is among so many best of a slot
TAKEN_OUT = 0.1  # share of the graph's facts that stand for unseen ones where there are none
MOST_TAKEN_OUT = 5000
MOST_DRAWN = 200_000  # proposals to learn from; of more, so many are drawn


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What the weights of evidence are learned from.

    Parameters
    ----------
    holdout : Triples
        Facts that the proposers did not know: models were not trained on them, rules were mined without them. They are
        taken out of the graph before the proposals are looked up.
    proposals : ScoredTriples
        N proposals. Their pieces count if they have any: leave them out where those of the holdout facts cannot be
        compared with those of the others.
    true : bool array of shape (N,)
        True for the proposals that are holdout facts.
    share : float, optional
        The share of true ones to expect among the others, which are unlabelled, if it is known from elsewhere, such as
        the share of the holdout that was proposed; else it is estimated.
    """

    holdout: Triples
    proposals: ScoredTriples
    true: BoolArray
    share: float | None = None

    @classmethod
    def among(cls, holdout: Triples, proposals: ScoredTriples) -> Self:
        """Find the holdout facts among proposals, which were made as if these were not known."""
        return cls(holdout, proposals, holdout.contains(proposals))

    @classmethod
    def placed_in(cls, holdout: ScoredTriples, pool: ScoredTriples) -> Self:
        """Put holdout facts among a pool, those that would have been proposed by their score.

        They have fewer rivals and lower scores than if the model had proposed them, so scores are left out.
        """
        fresh = holdout.take(~pool.contains(holdout))
        union = fresh.followed_by(pool).with_scores(np.append(fresh.scores, pool.scores))
        true = np.arange(len(union)) < len(fresh)
        near = best_place(union) <= PLACES
        rows = ~true | near if (true & near).sum() >= 2 else np.ones(len(union), dtype=np.bool_)
        return cls(holdout, union.take(rows).without_scores(), true[rows])

    @classmethod
    def from_graph(cls, graph: Graph, pool: Triples) -> Self:
        """Take some of the graph's own facts out of it, and put them among a pool; what was proposed does not count."""
        count = min(int(TAKEN_OUT * len(graph)), MOST_TAKEN_OUT)
        if count < 2:
            raise TableError(f"A graph of {len(graph)} facts is too small to learn from; it needs at least 20.")
        out = graph.take(np.random.default_rng(0).permutation(len(graph)) < count)
        fresh = out.take(~pool.contains(out))
        union = fresh.followed_by(pool.take(_draw(len(pool))) if len(pool) > MOST_DRAWN else pool)
        return cls(out, union.without_scores(), np.arange(len(union)) < len(fresh))

    def sampled(self) -> Self:
        """Return it with no more proposals than are needed to learn from; their places in slots are those among all."""
        if len(self.true) <= MOST_DRAWN:
            return self
        parts = (np.flatnonzero(self.true), np.flatnonzero(~self.true))
        rows = np.sort(np.concatenate([part[_draw(len(part))] for part in parts]))
        return replace(self, proposals=place_scores(self.proposals).take(rows), true=self.true[rows])


def _draw(count: int) -> IntArray:
    """Return rows at random, rising, no more than are needed to learn from."""
    return np.sort(np.random.default_rng(0).permutation(count)[:MOST_DRAWN])


def create_training_set(graph: Graph, proposals: ScoredTriples, holdout: Triples | None) -> TrainingSet:
    """Return the best training set there is.

    Holdout facts among the proposals, if two are there; else, if they have scores, the holdout facts put among the
    proposals; else some of the graph's own facts.

    Parameters
    ----------
    graph : Graph
        The known facts.
    proposals : ScoredTriples
        What was proposed as if the holdout facts were not known, with models' scores among the pieces.
    holdout : Triples or None
        Scored by the first model, if that is possible.
    """
    if holdout is not None:
        training = TrainingSet.among(holdout, proposals)
        if 2 <= training.true.sum() < len(proposals):
            return training.sampled()
        if isinstance(holdout, ScoredTriples) and "score" in proposals.pieces:
            pool = proposals.with_scores(proposals.pieces["score"])
            return TrainingSet.placed_in(holdout, pool.take(~training.true)).sampled()
    return TrainingSet.from_graph(graph, proposals)


def learn(
    graph: Graph,
    training: TrainingSet,
    limits: Limits | None = None,
    progress: Progress = ignore_progress,
    memory: str = MEMORY,
) -> tuple[EvidenceModel, Graph]:
    """Learn the weights of evidence from a training set, whose holdout facts the graph may have or not.

    Candidates are to be looked up with every fact, in the graph that is returned: the ridge bears the small difference,
    and profits from each.
    """
    limits = limits or Limits.for_count(len(training.proposals))
    graph = Graph.of(graph)  # a table of its own: with it go the keys that are made to find triples
    whole = graph if graph.contains(training.holdout).all() else Graph.of(graph.union(training.holdout))
    before = whole.take(~training.holdout.contains(whole))
    table = gather_evidence(before, training.proposals, limits, progress, memory)
    return fit_model(table, training.true, training.share), Graph.of(whole)


def score_evidence(
    graph: Graph,
    candidates: Triples,
    training: TrainingSet,
    stage: Stage = no_stage,
) -> tuple[ScoredTriples, EvidenceModel]:
    """Learn the weights of evidence from a training set, and give candidates their log-odds by them.

    Parameters
    ----------
    graph : Graph
        The known facts; whether it has the holdout facts or not.
    candidates : ScoredTriples
        What is to be decided, with the pieces that the proposals of the training set have.
    training : TrainingSet
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to call with steps done, steps in all.

    Returns
    -------
    ScoredTriples
        The candidates: their scores are log-odds, their pieces the evidence.
    EvidenceModel
        The weights.
    """
    limits = Limits.for_count(max(len(candidates), len(training.proposals)))
    with stage("Evidence") as advance:
        progress = count_look_ups(advance, 2)
        model, graph = learn(graph, training, limits, progress)
        scored = gather_evidence(graph, candidates, limits, progress=progress)
    return scored.with_scores(model.log_odds(scored.pieces)), model


def best_place(triples: ScoredTriples) -> FloatArray:
    """Return each triple's rank by score in the better of its two slots, 1 the best, shape (N,)."""
    return np.minimum(*(rank_in_slots(triples, ends, triples.scores)[0] for ends in (triples.heads, triples.tails)))


LOG_ODDS_COUNT = 2.0  # the log-odds by evidence count as a piece of so many standard deviations
LOG_ODDS_PIECE = "log-odds by evidence"
"""The piece of a pool whose scores are the model's own, beside the pieces that the log-odds are made of."""


def score_pools(
    graph: Graph, pools: Sequence[ScoredTriples], training: TrainingSet | None = None
) -> list[ScoredTriples]:
    """Put the graph's evidence beside the candidates of several pools, scored alike; answers come from the first.

    Pieces are normal quantiles, whose weights answers may move. With a training set the scores become log-odds, and the
    pieces of scores from which nothing could be learned are left to the answers. Without it some of the graph's own
    facts teach, but for the scores: these stay, and the log-odds are one more piece.
    """
    has_holdout, training = training is not None, training or TrainingSet.from_graph(graph, pools[0])
    limits = Limits.for_count(max(len(training.proposals), *map(len, pools)))
    model, graph = learn(graph, training, limits)
    tables = [gather_evidence(graph, pool.with_pieces(score=pool.scores), limits) for pool in pools]
    first = tables[0].with_scores(model.log_odds(tables[0].pieces))
    names = () if model.with_scores else tuple(filter(is_of_scores, first.pieces))
    places = Quantiles.of(stack_pieces(first.pieces, names), np.ones(len(first)))
    scale = LOG_ODDS_COUNT / max(float(first.scores.std()), 1e-9)
    scored = list[ScoredTriples]()
    for one, pool in zip(tables, pools, strict=True):
        log_odds, normal = (
            model.log_odds(one.pieces),
            model.ridge.quantiles.transform(stack_pieces(one.pieces, model.columns)),
        )
        pieces = dict(zip(model.columns, normal.T, strict=True))
        if has_holdout:
            beside = places.transform(stack_pieces(one.pieces, names))
            pieces |= dict(zip(names, beside.T, strict=True))
        else:
            pieces[LOG_ODDS_PIECE] = scale * (log_odds - first.scores.mean())
        scored.append(replace(pool.with_scores(log_odds if has_holdout else pool.scores), pieces=pieces))
    return scored
