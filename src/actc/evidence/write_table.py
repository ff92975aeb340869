"""The evidence table of any number of candidates as Parquet, written by an engine in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from actc.errors import ChoiceError, MissingExtraError, OptionError
from actc.evidence import duckdb_engine
from actc.evidence.plan import Limits
from actc.evidence.table import Progress, Proposals, Work
from actc.graphs.graph import Graph
from actc.tables.database import parse_memory
from actc.tables.deliver import deliver
from actc.tables.files import quote
from actc.triples import ScoredTriples

Engine = Callable[[Work, Path, str], None]
"""Writes the rows of a work to a path, a folder of parts or a file that ends in .parquet, in so much memory."""


def write_evidence(
    graph: Graph,
    candidates: Proposals | ScoredTriples,
    out: str | Path,
    limits: Limits | None = None,
    memory: str = "4GB",
    engine: str = "duckdb",
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write the evidence of any number of candidates to Parquet: head, relation, tail, then one column per piece.

    Parameters
    ----------
    candidates : Proposals or ScoredTriples
        Their marks are not written.
    out : path
        A file that ends in .parquet, or a folder of parts; rows in the order of the candidates.
    memory : str
        What the engine may use, such as ``4GB``; the codes and scores of graph and candidates come on top.
    engine : str
        ``duckdb``, or ``spark`` (which writes a folder).
    overwrite : bool
        Whether an output that is there may be replaced.

    Returns
    -------
    Path
        ``out``; it is complete or absent. The other options are those of ``table.gather_evidence``.
    """
    out = Path(out)
    if engine not in ENGINES:
        raise ChoiceError("engine", engine, ENGINES)
    if out.suffix not in ("", ".parquet") or (out.suffix and engine == "spark"):
        raise OptionError(
            f"{out.name}: {engine} writes evidence as Parquet; give the name of a folder without an ending."
        )
    parse_memory(memory)
    work = Work.of(graph, candidates, limits, progress)
    with deliver(out, overwrite) as place:
        ENGINES[engine](work, place, memory)
    return out


def _write_duckdb(work: Work, out: Path, memory: str) -> None:
    folder = out.with_name("parts") if out.suffix else out
    folder.mkdir()
    with work.open(memory) as connection:
        duckdb_engine.put_names(connection, work.graph)
        for chunk in duckdb_engine.look_at_chunks(connection, work.limits, len(work.asked), work.report):
            duckdb_engine.copy_rows(connection, work.models, folder / f"part-{chunk:05d}.parquet")
        if out.suffix:
            _join_parts(connection, folder, out)


def _join_parts(connection: Any, folder: Path, out: Path) -> None:
    parts = quote(str(folder / "*.parquet"))
    connection.execute("SET preserve_insertion_order=true")
    connection.execute(f"COPY (SELECT * FROM read_parquet({parts})) TO {quote(str(out))} (FORMAT parquet)")


def _write_spark(work: Work, out: Path, memory: str) -> None:
    try:
        from actc.evidence import spark_engine
    except ModuleNotFoundError as error:
        if error.name not in ("pyspark", "py4j"):
            raise
        raise MissingExtraError("The engine spark", "pyspark", "spark") from None
    spark_engine.write_rows(work, out, parse_memory(memory))


ENGINES: dict[str, Engine] = {"duckdb": _write_duckdb, "spark": _write_spark}
