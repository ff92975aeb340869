"""Any number of candidates weighed and written chunk by chunk, in bounded memory, on one machine or on many."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from actc.data.database import parse_memory
from actc.data.files import copy_options, refuse_tabs
from actc.errors import ChoiceError, OptionError, needing
from actc.evidence.duckdb_engine import Duckdb
from actc.evidence.weigh import Learnt
from actc.evidence.work import Engine, Progress, Proposals, Work


def write_weighed(
    learnt: Learnt, candidates: Proposals, out: Path, engine: Engine, progress: Progress | None = None
) -> None:
    """Write candidates: head, relation, tail, score (the log-odds), then one column per piece of evidence.

    Parameters
    ----------
    learnt : Learnt
    candidates : Proposals
        Their marks are not written.
    out : Path
        A .parquet, .tsv or .csv file, or a folder of Parquet parts, which has no ending. Rows are in the order of the
        candidates; of more than a chunk, relation by relation; Spark gives them no order.
    engine : Engine
        See :func:`open_engine`.
    """
    if out.suffix:
        names = candidates.triples.entity_names.array, candidates.triples.relation_names.array
        refuse_tabs(out, dict(zip(("head", "relation"), names, strict=True)))
    engine.write(Work.of(learnt.graph, candidates, learnt.limits, progress), learnt.worth, out)


def open_engine(name: str, memory: str, master: str | None, out: Path) -> Engine:
    """Return the engine of a name, and refuse an output that it could not write."""
    if name not in ENGINES:
        raise ChoiceError("engine", name, ENGINES)
    parse_memory(memory)
    if name == "spark" and out.suffix:
        raise OptionError(f"{out.name}: Spark writes a folder of parts; give a name without an ending.")
    if out.suffix:
        copy_options(out)  # refuses an ending that no table has
    return ENGINES[name](memory, master)


def _open_duckdb(memory: str, master: str | None) -> Engine:
    if master is not None:
        raise OptionError("--master is the address of a Spark cluster; give --engine spark too.")
    return Duckdb(memory)


def _open_spark(memory: str, master: str | None) -> Engine:
    with needing("The engine spark", "pyspark", "spark"):
        from actc.evidence.spark_engine import Spark
    return Spark(parse_memory(memory), master)


ENGINES: dict[str, Callable[[str, str | None], Engine]] = {"duckdb": _open_duckdb, "spark": _open_spark}
