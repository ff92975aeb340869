"""A model's scores of triples: names in, scores out, whatever the model."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from actc.data.progress import Progress, ignore_progress
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.graph.graph import Graph

BATCH = 65_536


class Scorer(Protocol):
    """A model that has been read: it knows names by codes, and answers two questions about codes."""

    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]

    def score(self, heads: IntArray, relations: IntArray, tails: IntArray) -> FloatArray:
        """Return the score of each triple, shape (N,); bigger is more plausible."""

    def answers(self, known: IntArray, relations: IntArray, *, heads: bool) -> FloatArray:
        """Return the score of every entity as the tail (or the head) of each question, shape (Q, E).

        In whichever precision: it is compared within each question, and may be written over.
        """


def score_triples(scorer: Scorer, graph: Graph, progress: Progress = ignore_progress) -> ScoredTriples:
    """Return the graph's triples with the model's scores; ``progress`` gets the triples just scored, and all."""
    codes = graph.recoded(scorer.entity_names, scorer.relation_names)
    refuse_strangers(graph, codes)
    scores = np.empty(len(graph))
    for start in range(0, len(graph), BATCH):
        rows = slice(start, start + BATCH)
        scores[rows] = scorer.score(codes.heads[rows], codes.relations[rows], codes.tails[rows])
        progress(len(scores[rows]), len(graph))
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise TableError(f"The model scores {graph.triple(row)} with {scores[row]}; its weights are damaged.")
    return graph.with_scores(scores)


def knows(scorer: Scorer, triples: Triples) -> BoolArray:
    """Return for each triple whether the model knows all of its names, shape (N,)."""
    codes = triples.recoded(scorer.entity_names, scorer.relation_names)
    return np.asarray((codes.heads >= 0) & (codes.relations >= 0) & (codes.tails >= 0))


def score_known(scorer: Scorer, graph: Graph) -> FloatArray:
    """Return the model's score of each triple, NaN where it does not know a name, shape (N,)."""
    rows, scores = np.flatnonzero(knows(scorer, graph)), np.full(len(graph), np.nan)
    scores[rows] = score_triples(scorer, graph.take(rows)).scores
    return scores


def refuse_strangers(graph: Graph, codes: Graph) -> None:
    """Refuse triples with names that the model does not know: ``codes`` are the same in its codes, -1 for those."""
    ends, known_ends = np.append(graph.heads, graph.tails), np.append(codes.heads, codes.tails)
    for kind, names, used, known in (
        ("entities", graph.entity_names, ends, known_ends),
        ("relations", graph.relation_names, graph.relations, codes.relations),
    ):
        strangers, count = [names[code] for code in np.unique(used[known < 0]).tolist()], len(np.unique(used))
        if strangers and len(strangers) == count:
            raise TableError(f"The model knows none of the {count} {kind}; it was trained on another graph.")
        if strangers:
            some = ", ".join(map(repr, strangers[:3]))
            raise TableError(
                f"The model does not know {len(strangers)} of the {count} {kind} ({some}); leave those out or train it "
                "on them."
            )
