"""Pools with the graph's evidence beside their scores: what ``pooled-evidence`` works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from actc.errors import TableError
from actc.evidence.plan import Limits
from actc.evidence.quantiles import Quantiles
from actc.evidence.table import Evidence, gather_evidence
from actc.evidence.weigh import Held, learn_from_held
from actc.evidence.worth import Worth, learn_worth, pieces_of, score_columns
from actc.graphs.graph import Graph
from actc.triples import FloatArray, ScoredTriples

TAKEN_OUT = 0.1  # share of the graph's facts that stand for unseen ones where there are none
MOST_TAKEN_OUT = 5000
TAUGHT_COUNTS = 2.0  # what the graph taught counts as a piece of so many standard deviations


@dataclass(frozen=True, eq=False, repr=False)
class WeighedTriples(ScoredTriples):
    """Scored triples and what the graph says of each.

    Parameters
    ----------
    pieces : float array of shape (N, F)
        The pieces of evidence as normal quantiles; answers may move their weights.
    piece_names : tuple of str
        The F names.
    taught : bool
        True when the scores are log-odds by all the evidence, learnt from facts that the model was not trained on.
        False when there are no such facts: then the scores are the model's own.
    """

    pieces: FloatArray = field(kw_only=True)
    piece_names: tuple[str, ...] = field(kw_only=True)
    taught: bool = field(kw_only=True)

    @classmethod
    def of(cls, triples: ScoredTriples, pieces: FloatArray, names: tuple[str, ...], taught: bool) -> Self:
        """Put pieces beside triples."""
        codes = (triples.heads, triples.relations, triples.tails, triples.entity_names, triples.relation_names)
        return cls(*codes, scores=triples.scores, pieces=pieces, piece_names=names, taught=taught)

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows."""
        return replace(super().take(rows), pieces=self.pieces[np.asarray(rows)])


def weigh_pools(graph: Graph, pools: Sequence[ScoredTriples], held: Held | None = None) -> list[WeighedTriples]:
    """Put the graph's evidence beside the candidates of several pools, weighed alike.

    Parameters
    ----------
    graph : Graph
        All known facts, the held ones too.
    pools : sequence of ScoredTriples
        What is to be decided; the first is where answers come from.
    held : Held, optional
        Facts that the model was not trained on. Without them the graph's own facts teach what the pieces are worth,
        but for scores, which such facts flatter; scores stay and what was taught is one more piece.
    """
    lesson = len(held.proposals) if held is not None else len(pools[0]) + _count_taken_out(graph)
    limits = Limits.for_count(max(lesson, *map(len, pools)))
    if held is not None:
        worth, seen = learn_from_held(graph, held, limits)
        tables = [gather_evidence(seen, pool, limits=limits) for pool in pools]
        names = () if worth.with_scores else score_columns(tables[0])
        places = Quantiles.of(pieces_of(tables[0], names), np.ones(len(pools[0])))
        return [_with_log_odds(worth, table, names, places) for table in tables]
    worth = learn_from_known(graph, pools[0], limits)
    tables = [gather_evidence(graph, pool, limits=limits) for pool in pools]
    like = worth.log_odds(tables[0])
    return [_with_piece(worth, table, float(like.mean()), float(like.std())) for table in tables]


def learn_from_known(graph: Graph, pool: ScoredTriples, limits: Limits) -> Worth:
    """Learn what the pieces are worth from some of the graph's own facts, taken out of it, against a pool."""
    count = _count_taken_out(graph)
    if count < 2:
        raise TableError(f"A graph of {len(graph)} facts is too small to learn from; it needs at least 20.")
    out = np.random.default_rng(0).permutation(len(graph)) < count
    unseen = graph.take(out)
    fresh = unseen.take(pool.rows_of(unseen) < 0)
    union = fresh.followed_by(pool).with_scores(np.zeros(len(fresh) + len(pool)))
    lesson = gather_evidence(graph.take(~out), union, limits=limits)
    return learn_worth(lesson, np.arange(len(union)) < len(fresh), own_questions=False, with_scores=False)


def _count_taken_out(graph: Graph) -> int:
    return min(int(TAKEN_OUT * len(graph)), MOST_TAKEN_OUT)


def _with_log_odds(worth: Worth, evidence: Evidence, names: tuple[str, ...], places: Quantiles) -> WeighedTriples:
    """Give log-odds as scores; pieces that the held facts could not weigh, ``names``, stand beside for the answers."""
    scored = evidence.candidates.with_scores(worth.log_odds(evidence))
    pieces = np.column_stack([_pieces(worth, evidence), places.transform(pieces_of(evidence, names))])
    return WeighedTriples.of(scored, pieces, (*worth.columns, *names), True)


def _with_piece(worth: Worth, evidence: Evidence, mean: float, spread: float) -> WeighedTriples:
    taught = TAUGHT_COUNTS * (worth.log_odds(evidence) - mean) / max(spread, 1e-9)
    pieces = np.column_stack([_pieces(worth, evidence), taught])
    return WeighedTriples.of(evidence.candidates, pieces, (*worth.columns, "taught"), False)


def _pieces(worth: Worth, evidence: Evidence) -> FloatArray:
    return worth.ridge.quantiles.transform(pieces_of(evidence, worth.columns))
