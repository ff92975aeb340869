"""Decisions on a cluster, or on this machine: Spark SQL; but for what competes, no row passes through Python.

The executors need neither actc nor Python. Parquet files may lie anywhere that Spark can read; names with ``://`` are
left to Spark, all others are files that every executor sees under the same name. Tables of other formats become Parquet
in a temporary folder (``TMPDIR``), which executors must see too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow
from pyspark.sql import functions as sql

from actc.data.database import open_spark, run_action
from actc.data.files import describe_bad_row, name_further
from actc.data.frames import SCORED, TRIPLE, Columns, call_columns
from actc.data.layout import Layout
from actc.data.progress import Progress
from actc.decide.decide_sql import EMPTY_NAME, UNNAMED, DecisionCounts, DecisionPlan, Rows, carry_out
from actc.errors import ActcError, FileError, OptionError

NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"  # Java also reads 1d and 1f as numbers


def run(plan: DecisionPlan, candidates: Layout, out: Path, progress: Progress) -> DecisionCounts:
    """Write what the plan asks for to a folder of parts, and count."""
    if out.suffix:
        raise OptionError(f"{out.name}: Spark writes a folder of parts; give --out a name that ends in /.")
    own, further = {name: candidates.columns[name] for name in SCORED}, tuple(name_further(candidates).values())
    with open_spark(plan.master, plan.memory) as session:
        rows = _read_parquet(session, _addresses(candidates), SCORED, own, further)
        return carry_out(plan, SparkTables(session, plan, rows, out.resolve().as_uri(), progress))


def run_remote(
    plan: DecisionPlan, urls: Sequence[str], out: str, overwrite: bool, progress: Progress
) -> DecisionCounts:
    """Do the same with Parquet files and an output that Spark's file systems (hdfs://, s3a://) hold."""
    with open_spark(plan.master, plan.memory) as session:
        rows = _read_parquet(session, urls, SCORED, plan.named)
        path = session._jvm.org.apache.hadoop.fs.Path
        files = path(out).getFileSystem(session._jsc.hadoopConfiguration())
        if files.exists(path(out)) and not overwrite:
            raise FileError(f"{out} is there already; choose another name or give --overwrite.")
        unfinished = out.rstrip("/") + ".unfinished"
        files.delete(path(unfinished), True)
        decided = carry_out(plan, SparkTables(session, plan, rows, unfinished, progress))
        files.delete(path(out), True)
        if not files.rename(path(unfinished), path(out)):
            raise FileError(f"{unfinished} could not be renamed to {out}; it is complete, rename it yourself.")
    return decided


class SparkTables:
    """Tables in Spark, as :class:`actc.decide.decide_sql.Tables` describes them."""

    forbidden: Mapping[str, str] = {UNNAMED: EMPTY_NAME}

    def __init__(self, session: Any, plan: DecisionPlan, rows: Any, out: str, progress: Progress) -> None:
        self._session, self._rows, self._out, self._progress = session, rows, out, progress
        rows.createOrReplaceTempView("candidate")
        if plan.facts is not None:
            facts = [plan.facts] if isinstance(plan.facts, str) else _addresses(plan.facts)
            _read_parquet(session, facts, TRIPLE).createOrReplaceTempView("fact")

    def quote_name(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def put(self, name: str, columns: Mapping[str, Any]) -> None:
        # Through Arrow: other tables of Python's are made by a Python worker on an executor.
        self._session.createDataFrame(pyarrow.table(dict(columns))).createOrReplaceTempView(name)

    def fetch(self, query: str, span: tuple[int, int] | None = None) -> Rows:
        with _read_errors(self._out):
            table = self._session.sql(query)
            rows = table.collect() if span is None else run_action(self._session, table.collect, self._progress, span)
        return [tuple(row) for row in rows]

    def write(self, query: str, span: tuple[int, int]) -> None:
        with _read_errors(self._out):
            rows = self._session.sql(query)
            try:
                run_action(self._session, lambda: rows.write.parquet(self._out), self._progress, span)
            except Exception as error:
                raise (self.find_bad_row(UNNAMED) if EMPTY_NAME in str(error) else error) from None

    def open_output(self, columns: tuple[str, ...]) -> None:
        with _read_errors(self._out):
            self._session.read.parquet(self._out).createOrReplaceTempView("written")

    def find_bad_row(self, condition: str) -> FileError:
        row = self._rows.where(condition).select(*TRIPLE, "text", "file").first()
        triple = (row["head"], row["relation"], row["tail"])
        return FileError(f"{row['file']}: {describe_bad_row(*triple, row['text'])} It is in the row of {triple}.")


def _addresses(layout: Layout) -> list[str]:
    return [path.resolve().as_uri() for path in layout.paths]


def _read_parquet(
    session: Any, places: Sequence[str], names: Sequence[str], chosen: Columns = None, further: Sequence[str] = ()
) -> Any:
    """Return columns of Parquet files by their names here; those further ones are called further0, ..."""
    with _read_errors(places[0]):
        table = session.read.parquet(*places)
    own = call_columns(table.columns, chosen)
    missing = [name for name in names if name not in own]
    if missing:
        raise FileError(f"{places[0]}: the column {missing[0]!r} is missing (its columns: {', '.join(table.columns)}).")
    columns = {name: sql.col(f"`{own[name]}`") for name in names}
    if "score" not in columns:
        columns = {name: column.cast("string") for name, column in columns.items()}
    else:
        score, text = columns["score"], columns["score"].cast("string")
        if dict(table.dtypes)[own["score"]] == "string":
            score = sql.when(text.rlike(NUMBER), score.try_cast("double"))
        columns |= {"score": score.cast("double"), "relation": columns["relation"].cast("string")}
        columns |= {"text": text, "file": sql.input_file_name()}
    columns |= {f"further{at}": sql.col(f"`{name}`") for at, name in enumerate(further)}
    return table.select(*(column.alias(name) for name, column in columns.items()))


@contextmanager
def _read_errors(place: str) -> Iterator[None]:
    """Turn an error of Spark about an unreadable part into one sentence."""
    try:
        yield
    except ActcError:
        raise
    except Exception as error:  # py4j and pyspark share no base class
        text = str(error)
        part = re.search(r"\b(?:file|hdfs|s3a?|abfss?|gs):/\S+?\.(?:parquet|csv|tsv|txt)(?:\.gz)?", text)
        reason = text.strip().splitlines()[0]
        raise FileError(f"{part[0] if part else place}: Spark could not read or write it ({reason}).") from None
