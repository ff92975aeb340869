"""The evidence table of some candidates: one row each, one column per piece of evidence.

One plan, three faces: :func:`gather_evidence` holds the whole table, :func:`stream_evidence` gives it chunk by chunk,
and ``write_table.write_evidence`` writes it to Parquet without a value passing through Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from actc.errors import TableError
from actc.evidence import duckdb_engine as engine
from actc.evidence.plan import GRAPH_COLUMNS, NAMED_COLUMNS, Limits, question_columns, question_rows
from actc.graphs.graph import Graph
from actc.triples import FloatArray, IntArray, ScoredTriples

Progress = Callable[[int, int, str], None]
VOCABULARIES = ("entity_names", "relation_names")


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the graph and the models say of candidates, in the order of the candidates.

    Parameters
    ----------
    candidates : ScoredTriples
        N candidates.
    columns : tuple of str
        Names of the F pieces of evidence.
    values : float array of shape (N, F)
    named : int array of shape (N, M)
        Codes that the sentences name, in the order of ``NAMED_COLUMNS``.
    entity_names, relation_names : tuple of str
        Of the codes in ``named``; slot 2 r is relation r from its head, 2 r + 1 from its tail.
    """

    candidates: ScoredTriples
    columns: tuple[str, ...]
    values: FloatArray
    named: IntArray
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)

    def column(self, name: str) -> FloatArray:
        """Return one piece of evidence, shape (N,)."""
        return np.asarray(self.values[:, self.columns.index(name)])

    def name_codes(self, name: str) -> IntArray:
        """Return the codes of one thing that sentences name, shape (N,)."""
        return np.asarray(self.named[:, list(NAMED_COLUMNS).index(name)])

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
    candidates: ScoredTriples,
    other_scores: Sequence[FloatArray] = (),
    limits: Limits | None = None,
    memory: str = "4GB",
    progress: Progress | None = None,
) -> Evidence:
    """Look up in a graph what speaks for and against each candidate.

    Parameters
    ----------
    graph : Graph
        Known facts. A candidate that is one of them is looked at as if it were not.
    candidates : ScoredTriples
        Candidates with a model's scores; the places in their questions are counted among all of them.
    other_scores : sequence of float arrays of shape (N,)
        What other models give the same candidates.
    limits : Limits, optional
        How much is looked at.
    memory : str
        What the database may use; beyond that it writes to disk.
    progress : function of (done, total, name), optional
        Called after each step.

    Returns
    -------
    Evidence
    """
    parts = list(stream_evidence(graph, candidates, other_scores, limits, memory, progress))
    if len(parts) == 1:
        return parts[0]
    values, named = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "named"))
    return replace(parts[0], candidates=candidates, values=values, named=named)


def stream_evidence(
    graph: Graph,
    candidates: ScoredTriples,
    other_scores: Sequence[FloatArray] = (),
    limits: Limits | None = None,
    memory: str = "4GB",
    progress: Progress | None = None,
) -> Iterator[Evidence]:
    """Give the evidence of a chunk of candidates after the other, in their order; options as :func:`gather_evidence`.

    Of each chunk 500 bytes per candidate are held, of all candidates only codes and scores.
    """
    work = Work.of(graph, candidates, other_scores, limits, progress)
    with work.open(memory) as connection:
        for chunk in engine.look_at_chunks(connection, work.limits, len(candidates), work.report):
            rows = np.arange(chunk * engine.CHUNK, min((chunk + 1) * engine.CHUNK, len(candidates)))
            yield _fetch(connection, work, candidates.take(rows) if len(rows) < len(candidates) else candidates)


@dataclass(frozen=True, eq=False)
class Work:
    """One gathering: facts and candidates by the same codes, and how it is done."""

    graph: Graph
    asked: Graph
    scores: tuple[FloatArray, ...]
    limits: Limits
    report: engine.Report

    @classmethod
    def of(
        cls,
        graph: Graph,
        candidates: ScoredTriples,
        other_scores: Sequence[FloatArray],
        limits: Limits | None,
        progress: Progress | None,
    ) -> Self:
        scores = (candidates.scores, *other_scores)
        if any(len(column) != len(candidates) for column in scores):
            lengths = [len(column) for column in scores]
            raise TableError(
                f"Each model must score the same {len(candidates)} candidates; the columns have {lengths} rows."
            )
        limits = limits or Limits.for_count(len(candidates))
        names = [tuple(sorted({*getattr(graph, one), *getattr(candidates, one)})) for one in VOCABULARIES]
        report = _count_steps(progress, engine.count_steps(limits, len(candidates), len(scores)))
        return cls(graph.recoded(*names), Graph.of(candidates).recoded(*names), scores, limits, report)

    @property
    def models(self) -> int:
        return len(self.scores)

    @contextmanager
    def open(self, memory: str) -> Iterator[Any]:
        """Give a database in which everything is counted that is counted once."""
        with engine.open_tables(self.graph, self.asked, self.scores, memory) as connection:
            engine.count_graph(connection, self.limits, self.models, self.report)
            yield connection


def _fetch(connection: Any, work: Work, candidates: ScoredTriples) -> Evidence:
    """Return the evidence of the chunk that was looked at last."""
    rows = connection.execute("SELECT * FROM evidence ORDER BY id").fetchnumpy()
    columns = question_columns(work.models)
    asked = connection.execute(question_rows(work.models)).fetchnumpy()
    pieces = [asked[name] for name in columns] + [rows[name] for name in GRAPH_COLUMNS]
    return Evidence(
        candidates,
        (*columns, *GRAPH_COLUMNS),
        np.column_stack(pieces).astype(np.float64),
        np.column_stack([rows[name] for name in NAMED_COLUMNS]).astype(np.int64),
        work.graph.entity_names,
        work.graph.relation_names,
    )


def _count_steps(progress: Progress | None, total: int) -> engine.Report:
    done = 0

    def report(name: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total, name)

    return report
