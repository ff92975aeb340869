"""The evidence table of some candidates: one row each, one column per piece of evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from actc.errors import TableError
from actc.evidence.plan import (
    GRAPH_COLUMNS,
    NAMED_COLUMNS,
    QUESTION_COLUMNS,
    Limits,
    Step,
    candidate_steps,
    graph_steps,
    last_uses,
    question_query,
)
from actc.graphs.graph import Graph
from actc.tables.database import open_database
from actc.triples import FloatArray, IntArray, ScoredTriples

Progress = Callable[[int, int, str], None]
CHUNK = 500_000  # candidates looked at together; more would only take more memory


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
    limits = limits or Limits.for_count(len(candidates))
    scores = [candidates.scores, *other_scores]
    if any(len(column) != len(candidates) for column in scores):
        lengths = [len(column) for column in scores]
        raise TableError(
            f"Each model must score the same {len(candidates)} candidates; the columns have {lengths} rows."
        )
    entity_names = tuple(sorted({*graph.entity_names, *candidates.entity_names}))
    relation_names = tuple(sorted({*graph.relation_names, *candidates.relation_names}))
    with _open(memory) as connection:
        _put_facts(connection, graph.recoded(entity_names, relation_names))
        _put_candidates(connection, Graph.of(candidates).recoded(entity_names, relation_names), scores)
        steps, chunks = graph_steps(limits), -(-len(candidates) // CHUNK)
        report = _count_steps(progress, len(steps) + chunks * len(candidate_steps(limits)) + len(scores))
        _run_steps(connection, steps, {step.name for step in steps} - {"lesson", "lesson_path"}, report)
        parts = [_look_at(connection, chunk, limits, report) for chunk in range(chunks)]
        asked = [_fetch(connection, question_query(f"score{k}"), QUESTION_COLUMNS, report) for k in range(len(scores))]
    values = {name: np.concatenate([part[name] for part in parts]) for name in (*GRAPH_COLUMNS, *NAMED_COLUMNS)}
    columns = [f"{name}_{k + 1}" if k else name for k in range(len(scores)) for name in QUESTION_COLUMNS]
    pieces = [part[name] for part in asked for name in QUESTION_COLUMNS] + [values[name] for name in GRAPH_COLUMNS]
    return Evidence(
        candidates,
        (*columns, *GRAPH_COLUMNS),
        np.column_stack(pieces).astype(np.float64),
        np.column_stack([values[name] for name in NAMED_COLUMNS]).astype(np.int64),
        entity_names,
        relation_names,
    )


@contextmanager
def _open(memory: str) -> Iterator[Any]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, open_database() as connection:
        connection.execute(f"SET memory_limit='{memory}'; SET temp_directory='{folder}'")
        connection.execute("SET preserve_insertion_order=false")
        yield connection


def _put_facts(connection: Any, graph: Graph) -> None:
    connection.register("facts_given", {"h": graph.heads, "r": graph.relations, "t": graph.tails})
    connection.execute("CREATE TABLE fact AS SELECT DISTINCT h, r, t FROM facts_given")
    connection.unregister("facts_given")


def _put_candidates(connection: Any, triples: Graph, scores: Sequence[FloatArray]) -> None:
    table = {"id": np.arange(len(triples)), "h": triples.heads, "r": triples.relations, "t": triples.tails}
    table |= {f"score{k}": np.asarray(column, dtype=np.float64) for k, column in enumerate(scores)}
    connection.register("candidates_given", table)
    connection.execute("CREATE TABLE candidate AS SELECT * FROM candidates_given")
    connection.unregister("candidates_given")


def _run_steps(connection: Any, steps: list[Step], kept: set[str], report: Callable[[str], None]) -> None:
    gone = last_uses(steps, kept)
    for step in steps:
        connection.execute(f"CREATE TABLE {step.name} AS {step.query}")
        for name in gone.get(step.name, []):
            connection.execute(f"DROP TABLE {name}")
        report(step.name)


def _look_at(connection: Any, chunk: int, limits: Limits, report: Callable[[str], None]) -> dict[str, Any]:
    steps = [
        step._replace(query=step.query.replace("FROM candidate c", f"FROM ({_part_of_candidates(chunk)}) c"))
        for step in candidate_steps(limits)
    ]
    _run_steps(connection, steps, {"evidence"}, report)
    rows: dict[str, Any] = connection.execute("SELECT * FROM evidence ORDER BY id").fetchnumpy()
    connection.execute("DROP TABLE evidence")
    return rows


def _part_of_candidates(chunk: int) -> str:
    return f"SELECT * FROM candidate WHERE id >= {chunk * CHUNK} AND id < {(chunk + 1) * CHUNK}"


def _fetch(connection: Any, query: str, columns: Sequence[str], report: Callable[[str], None]) -> dict[str, Any]:
    rows: dict[str, Any] = connection.execute(f"SELECT * FROM ({query}) q ORDER BY id").fetchnumpy()
    report("question")
    return {name: rows[name] for name in columns}


def _count_steps(progress: Progress | None, total: int) -> Callable[[str], None]:
    done = 0

    def report(name: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total, name)

    return report
