"""The evidence table of some candidates: one row each, one column per piece of evidence.

One plan, two faces: :func:`gather_evidence` holds the whole table, ``write_table.write_weighed`` weighs and writes it
chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from actc.data.triples import FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence import duckdb_engine
from actc.evidence.plan import GRAPH_COLUMNS, NAMED_COLUMNS, Limits, score_columns
from actc.evidence.work import NO_COLUMN, Engine, Progress, Work, with_nan
from actc.evidence.work import Proposals as Proposals
from actc.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the graph and the models say of candidates, in the order of the candidates.

    Parameters
    ----------
    candidates : Triples
        N candidates.
    columns : tuple of str
        Names of the F pieces of evidence.
    values : float array of shape (N, F)
        NaN where a piece is missing.
    named : int array of shape (N, M)
        Codes that the sentences name, in the order of ``NAMED_COLUMNS``.
    entity_names, relation_names : tuple of str
        Of the codes in ``named``; slot 2 r is relation r from its head, 2 r + 1 from its tail.
    """

    candidates: Triples
    columns: tuple[str, ...]
    values: FloatArray
    named: IntArray
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)

    def column(self, name: str) -> FloatArray:
        """Return one piece of evidence, shape (N,)."""
        if name not in self.columns:
            raise TableError(NO_COLUMN.format(name))
        return np.asarray(self.values[:, self.columns.index(name)])

    def take(self, rows: ArrayLike) -> Self:
        """Return the evidence of some candidates."""
        rows = np.asarray(rows)
        return replace(self, candidates=self.candidates.take(rows), values=self.values[rows], named=self.named[rows])

    def only(self, columns: Sequence[str]) -> Self:
        """Return some of the pieces."""
        places = [self.columns.index(name) for name in columns]
        return replace(self, columns=tuple(columns), values=self.values[:, places])


def gather_evidence(
    graph: Graph,
    candidates: Proposals | ScoredTriples,
    limits: Limits | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Evidence:
    """Look up in a graph what speaks for and against each candidate, and hold it: half a kilobyte for each.

    Parameters
    ----------
    graph : Graph
        Known facts. A candidate that is one of them is looked at as if it were not.
    candidates : Proposals or ScoredTriples
        Places in slots are counted among all of them.
    limits : Limits, optional
        How much is looked at.
    engine : Engine, optional
        Who looks: ``duckdb_engine.Duckdb()`` if not given.
    progress : function of (done, total, name), optional
        Called after each step.
    """
    if not len(candidates):
        raise TableError("There are no candidates to look at.")
    candidates = Proposals.of(candidates)
    work = Work.of(graph, candidates, limits, progress)
    columns = (*score_columns(work.models), *GRAPH_COLUMNS)
    values = np.empty((len(candidates), len(columns) + len(candidates.marks)))
    named = np.empty((len(candidates), len(NAMED_COLUMNS)), dtype=np.int64)
    for part in (engine or duckdb_engine.Duckdb()).look(work):
        rows = work.rows[part.ids]
        values[rows, : len(columns)], named[rows] = part.values(columns), part.values(NAMED_COLUMNS)
    for place, mark in enumerate(candidates.marks.values(), start=len(columns)):
        values[:, place] = mark
    names = work.graph.entity_names, work.graph.relation_names
    return Evidence(candidates.triples, (*columns, *candidates.marks), values, named, *names)


def place_scores(proposals: Proposals, rows: IntArray | None = None) -> Proposals:
    """Turn scores into marks: each, and its places in slots, counted among all of the proposals.

    Then some of the proposals may be looked at alone.

    Parameters
    ----------
    proposals : Proposals
    rows : int array, optional
        Those that are wanted, rising; all if not given.
    """
    rows = np.arange(len(proposals)) if rows is None else rows
    triples, models = Graph.of(proposals.triples), len(proposals.scores)
    with duckdb_engine.open_tables(triples.take(np.arange(0)), triples, proposals.scores, "2GB") as connection:
        found = duckdb_engine.place_scores(connection, models, rows)
    marks = {name: with_nan(found[name]) for name in score_columns(models)}
    some = replace(proposals, scores=()).take(rows)
    return replace(some, marks={**marks, **some.marks})
