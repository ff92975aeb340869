"""The evidence table of some candidates: one row each, one column per piece of evidence.

One plan, three faces: :func:`gather_evidence` holds the whole table, :func:`stream_evidence` gives it chunk by chunk,
and ``write_table.write_evidence`` writes it to Parquet without a value passing through Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from actc.errors import TableError
from actc.evidence import duckdb_engine as engine
from actc.evidence.plan import GRAPH_COLUMNS, NAMED_COLUMNS, Limits, score_columns, score_rows
from actc.graphs.graph import Graph
from actc.triples import FloatArray, IntArray, ScoredTriples, Triples

Progress = Callable[[int, int, str], None]
VOCABULARIES = ("entity_names", "relation_names")


@dataclass(frozen=True, eq=False)
class Proposals:
    """Triples to look at, and what their proposers say of each.

    Parameters
    ----------
    triples : Triples
        N triples.
    scores : tuple of float arrays of shape (N,)
        One for each model; NaN where a model has no score.
    marks : mapping of str to float array of shape (N,)
        Further pieces of evidence, such as who proposed it or the confidence of a rule; NaN where one is missing.
    """

    triples: Triples
    scores: tuple[FloatArray, ...] = ()
    marks: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = [len(column) for column in (*self.scores, *self.marks.values())]
        if set(lengths) - {len(self.triples)}:
            raise TableError(
                f"Each model must score the same {len(self.triples)} candidates; the columns have {lengths} rows."
            )

    @classmethod
    def of(cls, given: Self | ScoredTriples) -> Self:
        """Take a model's scored triples as its proposals."""
        return cls(given, (given.scores,)) if isinstance(given, ScoredTriples) else given

    def __len__(self) -> int:
        return len(self.triples)

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows, or those that a mask keeps."""
        rows = np.asarray(rows)
        marks = {name: values[rows] for name, values in self.marks.items()}
        return type(self)(self.triples.take(rows), tuple(scores[rows] for scores in self.scores), marks)


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
            raise TableError(f"The candidates have no {name!r}, which the lesson's proposals have; give both the same.")
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
    memory: str = "4GB",
    progress: Progress | None = None,
) -> Evidence:
    """Look up in a graph what speaks for and against each candidate.

    Parameters
    ----------
    graph : Graph
        Known facts. A candidate that is one of them is looked at as if it were not.
    candidates : Proposals or ScoredTriples
        Places in slots are counted among all of them.
    limits : Limits, optional
        How much is looked at.
    memory : str
        What the database may use; beyond that it writes to disk.
    progress : function of (done, total, name), optional
        Called after each step.
    """
    if not len(candidates):
        raise TableError("There are no candidates to look at.")
    parts = list(stream_evidence(graph, candidates, limits, memory, progress))
    if len(parts) == 1:
        return parts[0]
    values, named = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "named"))
    return replace(parts[0], candidates=Proposals.of(candidates).triples, values=values, named=named)


def place_scores(proposals: Proposals) -> Proposals:
    """Turn scores into marks: each, and its places in slots, counted among all of the proposals.

    Then some of the proposals may be looked at alone.
    """
    triples, models = Graph.of(proposals.triples), len(proposals.scores)
    with engine.open_tables(triples.take(np.arange(0)), triples, proposals.scores, "2GB") as connection:
        found = engine.place_scores(connection, models)
    marks = {name: _with_nan(found[name]) for name in score_columns(models)}
    return replace(proposals, scores=(), marks={**marks, **proposals.marks})


def stream_evidence(
    graph: Graph,
    candidates: Proposals | ScoredTriples,
    limits: Limits | None = None,
    memory: str = "4GB",
    progress: Progress | None = None,
) -> Iterator[Evidence]:
    """Give the evidence of a chunk of candidates after the other, in their order; options as :func:`gather_evidence`.

    Of each chunk 500 bytes per candidate are held, of all candidates only codes, scores and marks.
    """
    candidates = Proposals.of(candidates)
    work = Work.of(graph, candidates, limits, progress)
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
        candidates: Proposals | ScoredTriples,
        limits: Limits | None = None,
        progress: Progress | None = None,
    ) -> Self:
        asked = Proposals.of(candidates)
        limits = limits or Limits.for_count(len(asked))
        names = [tuple(sorted({*getattr(graph, one), *getattr(asked.triples, one)})) for one in VOCABULARIES]
        report = _count_steps(progress, engine.count_steps(limits, len(asked), len(asked.scores)))
        return cls(graph.recoded(*names), Graph.of(asked.triples).recoded(*names), asked.scores, limits, report)

    @property
    def models(self) -> int:
        return len(self.scores)

    @contextmanager
    def open(self, memory: str) -> Iterator[Any]:
        """Give a database in which everything is counted that is counted once."""
        with engine.open_tables(self.graph, self.asked, self.scores, memory) as connection:
            engine.count_graph(connection, self.limits, self.models, self.report)
            yield connection


def _fetch(connection: Any, work: Work, candidates: Proposals) -> Evidence:
    """Return the evidence of the chunk that was looked at last."""
    rows = connection.execute("SELECT * FROM evidence ORDER BY id").fetchnumpy()
    columns = score_columns(work.models)
    asked = connection.execute(score_rows(work.models)).fetchnumpy()
    pieces = [asked[name] for name in columns] + [rows[name] for name in GRAPH_COLUMNS]
    return Evidence(
        candidates.triples,
        (*columns, *GRAPH_COLUMNS, *candidates.marks),
        np.column_stack([*map(_with_nan, pieces), *candidates.marks.values()]),
        np.column_stack([rows[name] for name in NAMED_COLUMNS]).astype(np.int64),
        work.graph.entity_names,
        work.graph.relation_names,
    )


def _with_nan(column: Any) -> FloatArray:
    """Return a column of the database with NaN where it has NULL."""
    return np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)


def _count_steps(progress: Progress | None, total: int) -> engine.Report:
    done = 0

    def report(name: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total, name)

    return report
