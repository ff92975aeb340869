"""The evidence plan in DuckDB: in memory, and in a temporary folder what its limit leaves no room for."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from actc.evidence.plan import (
    Limits,
    Step,
    candidate_steps,
    graph_steps,
    last_uses,
    score_rows,
    score_step,
    whole_rows,
)
from actc.graphs.graph import Graph
from actc.tables.database import open_database
from actc.tables.files import quote
from actc.triples import FloatArray

Report = Callable[[str], None]
CHUNK = 1_000_000  # candidates looked at together; more would only take more memory
PART = 100_000  # entities whose relatives are found together
# Tables of the graph that no candidate needs.
PASSING = {"lesson_path", "asked_entity"}


@contextmanager
def open_tables(graph: Graph, candidates: Graph, scores: Sequence[FloatArray], memory: str) -> Iterator[Any]:
    """Give a connection to a database with the tables ``fact`` and ``candidate``; both graphs share their names."""
    with tempfile.TemporaryDirectory(prefix="actc-") as spill, open_database() as connection:
        connection.execute(f"SET memory_limit={quote(memory)}; SET temp_directory={quote(spill)}")
        connection.execute("SET preserve_insertion_order=false")
        put_tables(connection, graph, candidates, scores)
        yield connection


def put_tables(connection: Any, graph: Graph, candidates: Graph, scores: Sequence[FloatArray]) -> None:
    """Make the tables that the plan begins with; codes are whole numbers of four bytes."""
    codes = ", ".join(f"CAST({name} AS INTEGER) AS {name}" for name in "hrt")
    given = {"h": graph.heads, "r": graph.relations, "t": graph.tails}
    _put(connection, "fact", f"SELECT DISTINCT {codes} FROM given", given)
    given = {"id": np.arange(len(candidates)), "h": candidates.heads, "r": candidates.relations, "t": candidates.tails}
    given |= {f"score{k}": np.asarray(column, dtype=np.float64) for k, column in enumerate(scores)}
    columns = "".join(
        f", CASE WHEN isnan(score{k}) THEN NULL ELSE score{k} END AS score{k}" for k in range(len(scores))
    )
    _put(connection, "candidate", f"SELECT id, {codes}{columns} FROM given", given)


def put_names(connection: Any, graph: Graph) -> None:
    """Make the tables of names, for rows that people read."""
    for table, names in (("entity_name", graph.entity_names), ("relation_name", graph.relation_names)):
        given = {"code": np.arange(len(names)), "name": np.asarray(names, dtype=object)}
        _put(connection, table, "SELECT CAST(code AS INTEGER) AS code, name FROM given", given)


def _put(connection: Any, table: str, query: str, given: dict[str, Any]) -> None:
    connection.register("given", given)
    connection.execute(f"CREATE TABLE {table} AS {query}")
    connection.unregister("given")


def count_steps(limits: Limits, candidates: int, models: int) -> int:
    """Return how many steps there will be to report."""
    return len(graph_steps(limits)) + models + -(-candidates // CHUNK) * len(candidate_steps(limits))


def count_graph(connection: Any, limits: Limits, models: int, report: Report) -> None:
    """Count what is counted once: the graph's tables, and the places of candidates in their slots."""
    steps = [score_step(k) for k in range(models)] + graph_steps(limits)

    def compress(name: str) -> None:
        # Tables in memory are compressed by this alone; else ten million facts would be written to disk and read again.
        connection.execute("CHECKPOINT")
        report(name)

    _run_steps(connection, steps, {step.name for step in steps} - PASSING, compress)


def place_scores(connection: Any, models: int) -> dict[str, Any]:
    """Return the pieces that scores give of all candidates, in their order."""
    _run_steps(
        connection, [score_step(k) for k in range(models)], {f"scored{k}" for k in range(models)}, lambda name: None
    )
    connection.execute("CREATE VIEW asked AS SELECT * FROM candidate")
    return dict(connection.execute(score_rows(models)).fetchnumpy())


def look_at_chunks(connection: Any, limits: Limits, candidates: int, report: Report) -> Iterator[int]:
    """Make the table ``evidence`` for one chunk of the candidates after another, and give the number of each."""
    for chunk, start in enumerate(range(0, candidates, CHUNK)):
        ids = f"id >= {start} AND id < {start + CHUNK}"
        connection.execute(f"CREATE OR REPLACE VIEW candidate_part AS SELECT * FROM candidate WHERE {ids}")
        _run_steps(connection, candidate_steps(limits), {"evidence", "asked"}, report)
        yield chunk
        connection.execute("DROP TABLE evidence; DROP TABLE asked")


def copy_rows(connection: Any, models: int, out: Path) -> None:
    """Write the rows of one chunk to a Parquet file."""
    connection.execute(f"COPY ({whole_rows(models)}) TO {quote(str(out))} (FORMAT parquet)")


def _run_steps(connection: Any, steps: list[Step], kept: set[str], report: Report) -> None:
    gone = last_uses(steps, kept)
    for step in steps:
        if step.part:
            _run_in_parts(connection, step)
        else:
            connection.execute(f"CREATE TABLE {step.name} AS {step.query}")
        for name in gone.get(step.name, []):
            connection.execute(f"DROP TABLE {name}")
        report(step.name)


def _run_in_parts(connection: Any, step: Step) -> None:
    """Make a table part by part, since all at once would be sorted on disk."""
    (entities,) = connection.execute("SELECT count(*) FROM asked_entity").fetchone()
    parts = max(-(-entities // PART), 1)
    for part in range(parts):
        connection.execute(
            f"CREATE OR REPLACE VIEW {step.part} AS SELECT * FROM ({step.part_query}) p WHERE p.u % {parts} = {part}"
        )
        make = f"CREATE TABLE {step.name} AS" if part == 0 else f"INSERT INTO {step.name}"
        connection.execute(f"{make} {step.query}")
    connection.execute(f"DROP VIEW {step.part}")
