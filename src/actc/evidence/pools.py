"""Pools with the graph's evidence beside their scores: where answers move the weights of the pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from actc.data.triples import FloatArray, ScoredTriples
from actc.evidence.plan import Limits
from actc.evidence.quantiles import Quantiles
from actc.evidence.weigh import Lesson, Weighed, learn
from actc.evidence.worth import pieces_of, score_pieces
from actc.graph.graph import Graph

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
        True when the scores are log-odds by all the evidence. False when there were no facts that the model was not
        trained on: then the scores are the model's own.
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


def weigh_pools(graph: Graph, pools: Sequence[ScoredTriples], lesson: Lesson | None = None) -> list[WeighedTriples]:
    """Put the graph's evidence beside the candidates of several pools, weighed alike.

    Parameters
    ----------
    graph : Graph
        All known facts.
    pools : sequence of ScoredTriples
        What is to be decided; the first is where answers come from.
    lesson : Lesson, optional
        With facts that the model was not trained on. Without it some of the graph's own facts teach what the pieces
        are worth, but for the scores: these stay, and the log-odds that were learnt are one more piece.
    """
    taught, lesson = lesson is not None, lesson or Lesson.taken(graph, pools[0])
    learnt = learn(graph, lesson, Limits.for_count(max(len(lesson.proposals), *map(len, pools))))
    weighed = [learnt.weigh(pool) for pool in pools]
    return _with_log_odds(weighed) if taught else _with_scores(weighed, pools)


def _with_log_odds(weighed: Sequence[Weighed]) -> list[WeighedTriples]:
    """Take log-odds as scores; the pieces of scores that the lesson could not weigh are left to the answers."""
    first = weighed[0]
    names = () if first.worth.with_scores else score_pieces(first.evidence)
    places = Quantiles.of(pieces_of(first.evidence, names), np.ones(len(first.evidence)))
    return [
        WeighedTriples.of(
            one.candidates,
            np.column_stack([one.pieces, places.transform(pieces_of(one.evidence, names))]),
            (*one.worth.columns, *names),
            taught=True,
        )
        for one in weighed
    ]


def _with_scores(weighed: Sequence[Weighed], pools: Sequence[ScoredTriples]) -> list[WeighedTriples]:
    """Leave the models' scores; the log-odds are one more piece."""
    like = weighed[0].log_odds
    scale = TAUGHT_COUNTS / max(float(like.std()), 1e-9)
    return [
        WeighedTriples.of(
            pool,
            np.column_stack([one.pieces, scale * (one.log_odds - like.mean())]),
            (*one.worth.columns, "taught"),
            taught=False,
        )
        for one, pool in zip(weighed, pools, strict=True)
    ]
