"""The log-odds of any number of candidates: evidence is looked up and forgotten chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from actc.evidence.plan import Limits
from actc.evidence.table import Progress, stream_evidence
from actc.evidence.worth import Worth, compare_rivals, pieces_of
from actc.graphs.graph import Graph
from actc.triples import FloatArray, ScoredTriples


def score_in_chunks(
    worth: Worth, graph: Graph, candidates: ScoredTriples, limits: Limits, progress: Progress | None = None
) -> FloatArray:
    """Return the log-odds of each candidate as :meth:`Worth.log_odds` gives them for all at once, shape (N,).

    Trees compare a candidate with its rivals, which may be in other chunks: for these everything is looked up twice.

    Parameters
    ----------
    worth : Worth
    graph : Graph
        The facts to look at candidates with.
    candidates : ScoredTriples
    limits : Limits
        How much is looked at: the same as when the worth was learnt.
    progress : callable, optional
        Told of each step: how many are done, of how many in all, its name.
    """

    def chunks() -> Iterator[FloatArray]:
        for part in stream_evidence(graph, candidates, limits=limits, progress=progress):
            yield pieces_of(part, worth.columns)

    log_odds = np.concatenate([worth.ridge.log_odds(table) for table in chunks()])
    if worth.trees is None:
        return log_odds
    rivals, scored, done = compare_rivals(log_odds, candidates), [], 0
    for table in chunks():
        scored.append(worth.trees.log_odds(np.column_stack([table, rivals[done : done + len(table)]])))
        done += len(table)
    return np.concatenate(scored)
