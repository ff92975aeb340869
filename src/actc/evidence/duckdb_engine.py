"""The evidence plan in DuckDB: in memory, and in a temporary folder what its limit leaves no room for."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from actc.data.database import open_database, parse_memory
from actc.data.files import copy_options, quote
from actc.data.triples import FloatArray, IntArray
from actc.evidence import table
from actc.evidence.model import EvidenceModel
from actc.evidence.plan import (
    Step,
    candidate_steps,
    graph_steps,
    last_uses,
    score_rows,
    score_step,
    whole_rows,
)
from actc.evidence.table import Part, Work
from actc.graph.graph import Graph

Report = Callable[[str], None]
BATCH = 100_000  # candidates whose evidence is handed over together
PART = 100_000  # entities whose relatives are found together
FEW = 200_000  # facts and candidates for each thread
# Tables of the graph that no candidate needs.
PASSING = {"training_path", "target_entity"}


@contextmanager
def open_tables(graph: Graph, candidates: Graph, scores: Sequence[FloatArray], memory: str) -> Iterator[Any]:
    """Give a connection to a database with the tables ``fact`` and ``candidate``; both graphs share their names."""
    with tempfile.TemporaryDirectory(prefix="actc-") as spill, open_database() as connection:
        connection.execute(f"SET memory_limit={quote(memory)}; SET temp_directory={quote(spill)}")
        # Each thread needs room of its own: sixteen with two gigabytes ran out of memory at ten million candidates.
        # For a few rows more than one thread costs more than it gains.
        few = 1 + (len(graph) + len(candidates)) // FEW
        threads = max(1, min(os.cpu_count() or 1, round(parse_memory(memory) / 1e9), few))
        connection.execute(f"SET preserve_insertion_order=false; SET threads={threads}")
        put_tables(connection, graph, candidates, scores)
        yield connection


CODES = ", ".join(f"CAST({name} AS INTEGER) AS {name}" for name in "hrt")
"""Heads, relations and tails as whole numbers of four bytes."""


def put_facts(connection: Any, graph: Graph) -> None:
    """Make the table ``fact``."""
    given = {"h": graph.heads, "r": graph.relations, "t": graph.tails}
    _put(connection, "fact", f"SELECT DISTINCT {CODES} FROM given", given)


def put_tables(connection: Any, graph: Graph, candidates: Graph, scores: Sequence[FloatArray]) -> None:
    """Make the tables that the plan begins with."""
    put_facts(connection, graph)
    given = {"id": np.arange(len(candidates)), "h": candidates.heads, "r": candidates.relations, "t": candidates.tails}
    given |= {f"score{k}": np.asarray(column, dtype=np.float64) for k, column in enumerate(scores)}
    columns = "".join(
        f", CASE WHEN isnan(score{k}) THEN NULL ELSE score{k} END AS score{k}" for k in range(len(scores))
    )
    _put(connection, "candidate", f"SELECT id, {CODES}{columns} FROM given", given)


def put_names(connection: Any, graph: Graph) -> None:
    """Make the tables of names, for rows that people read."""
    for made, names in (("entity_name", graph.entity_names), ("relation_name", graph.relation_names)):
        given = {"code": np.arange(len(names)), "name": np.asarray(names, dtype=object)}
        _put(connection, made, "SELECT CAST(code AS INTEGER) AS code, name FROM given", given)


def _put(connection: Any, table: str, query: str, given: dict[str, Any]) -> None:
    connection.register("given", given)
    connection.execute(f"CREATE TABLE {table} AS {query}")
    connection.unregister("given")


def count_graph(connection: Any, work: Work) -> None:
    """Count what is counted once: the graph's tables, and the places of candidates in their slots."""
    steps = [score_step(k) for k in range(work.models)] + graph_steps(work.limits)

    def compress(name: str) -> None:
        # Tables in memory are compressed by this alone; else ten million facts would be written to disk and read again.
        if len(work.graph) > FEW:
            connection.execute("CHECKPOINT")
        work.report(name)

    _run_steps(connection, steps, {step.name for step in steps} - PASSING, compress)


def place_scores(connection: Any, models: int, rows: IntArray) -> dict[str, Any]:
    """Return the pieces that scores give of some of the candidates, in their order."""
    _run_steps(
        connection, [score_step(k) for k in range(models)], {f"scored{k}" for k in range(models)}, lambda name: None
    )
    _put(connection, "target", "SELECT id FROM given", {"id": rows})
    return dict(connection.execute(score_rows(models)).fetchnumpy())


class Engine(Protocol):
    """What looks up the evidence of candidates."""

    def look(self, work: Work) -> Iterator[Part]:
        """Give what is found of some candidates after the other, of each once."""

    def write(self, work: Work, model: EvidenceModel, out: Path) -> None:
        """Write candidates with their log-odds and evidence to a file, or to a folder of parts that has no ending."""


@dataclass(frozen=True)
class Duckdb:
    """DuckDB on this machine.

    Parameters
    ----------
    memory : str
        What it may use; beyond that it writes to disk.
    """

    memory: str = "4GB"

    def look(self, work: Work) -> Iterator[Part]:
        """Give what is found of some candidates after the other, of each once."""
        for connection, ids in self._look_at_chunks(work):
            yield from _fetch(connection, ids)

    def write(self, work: Work, model: EvidenceModel, out: Path) -> None:
        """Write candidates with their log-odds and evidence to a file, or to a folder of parts that has no ending."""
        (out.parent if out.suffix else out).mkdir(exist_ok=True)
        options = copy_options(out if out.suffix else out / "part.parquet")
        rows = f"{whole_rows(work.models, 'w.score')} JOIN scored w ON w.id = e.id ORDER BY e.id"
        parts: list[Path] = []
        for connection, ids in self._look_at_chunks(work):
            if not parts:
                put_names(connection, work.graph)
            found = [(part.ids, model.log_odds(part)) for part in _fetch(connection, ids)]
            columns = (np.concatenate(column) for column in zip(*found, strict=True))
            _put(connection, "scored", "SELECT * FROM given", dict(zip(("id", "score"), columns, strict=True)))
            name = out.name if len(ids) == len(work.candidates) else f"part-{len(parts):05d}{out.suffix}"
            parts.append(out.with_name(name) if out.suffix else out / f"part-{len(parts):05d}.parquet")
            header = options if len(parts) == 1 else options.replace("HEADER", "HEADER false")
            _copy(connection, rows, parts[-1], header)
            connection.execute("DROP TABLE scored")
            if out.suffix and ids.stop == len(work.candidates) and len(parts) > 1:
                _join(connection, parts, out)

    def _look_at_chunks(self, work: Work) -> Iterator[tuple[Any, range]]:
        """Give a database with the table ``evidence`` of one chunk after another, and the chunk's ids."""
        steps = candidate_steps(work.limits, work.models)
        with open_tables(work.graph, work.candidates, work.scores, self.memory) as connection:
            count_graph(connection, work)
            for start in range(0, len(work.candidates), table.CHUNK):
                ids = range(start, min(start + table.CHUNK, len(work.candidates)))
                where = f"id >= {ids.start} AND id < {ids.stop}"
                connection.execute(f"CREATE OR REPLACE VIEW candidate_part AS SELECT * FROM candidate WHERE {where}")
                _run_steps(connection, steps, {"evidence"}, work.report)
                yield connection, ids
                connection.execute("DROP TABLE evidence")


def _fetch(connection: Any, ids: range) -> Iterator[Part]:
    """Give the table ``evidence`` batch by batch."""
    for start in range(ids.start, ids.stop, BATCH):
        where = f"id >= {start} AND id < {start + BATCH}"
        found = connection.execute(f"SELECT * FROM evidence WHERE {where}").fetchnumpy()
        yield Part(np.ma.getdata(found.pop("id")), found)


def _copy(connection: Any, query: str, out: Path, options: str) -> None:
    connection.execute(f"COPY ({query}) TO {quote(str(out))} ({options})")


def _join(connection: Any, parts: list[Path], out: Path) -> None:
    """Make one file of parts in their order, and remove them."""
    if ".parquet" in out.suffixes:
        connection.execute("SET preserve_insertion_order=true")
        files = ", ".join(quote(str(part)) for part in parts)
        _copy(connection, f"SELECT * FROM read_parquet([{files}])", out, copy_options(out))
    else:
        with out.open("wb") as whole:
            for part in parts:
                with part.open("rb") as rows:
                    shutil.copyfileobj(rows, whole)
    for part in parts:
        part.unlink()


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
    (entities,) = connection.execute("SELECT count(*) FROM target_entity").fetchone()
    parts = max(-(-entities // PART), 1)
    for part in range(parts):
        connection.execute(
            f"CREATE OR REPLACE VIEW {step.part} AS SELECT * FROM ({step.part_query}) p WHERE p.u % {parts} = {part}"
        )
        make = f"CREATE TABLE {step.name} AS" if part == 0 else f"INSERT INTO {step.name}"
        connection.execute(f"{make} {step.query}")
    connection.execute(f"DROP VIEW {step.part}")
