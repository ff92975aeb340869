"""The plan on a cluster, or on this machine: DataFrame expressions only, no row ever passes through Python.

The executors need neither actc nor Python. Parts may lie anywhere that Spark can read; names with ``://`` are left to
Spark, all others are files that every executor sees under the same name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import Window
from pyspark.sql import functions as sql

from actc.decide.plan import Decided, DecisionPlan
from actc.decide.together import hold_back
from actc.errors import ActcError, FileError, OptionError
from actc.frames import call_columns
from actc.tables.curves import Curves
from actc.tables.parts import COLUMNS, Candidates
from actc.tables.progress import Progress
from actc.tables.spark_session import open_session, run_action

EMPTY_NAME = "actc: empty name"
NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"  # Java also reads 1d and 1f as numbers


def run(plan: DecisionPlan, candidates: Candidates, out: Path, progress: Progress) -> Decided:
    """Count, check, write; see ``actc.decide.decide_candidates.Engine``."""
    if out.suffix:
        raise OptionError(f"{out.name}: Spark writes a folder of parts; give --out a name that ends in /.")
    with open_session(plan.master, plan.memory) as session:
        rows = _read_files(session, candidates)
        return _carry_out(session, plan, rows, out.resolve().as_uri(), progress)


def run_remote(plan: DecisionPlan, urls: Sequence[str], out: str, overwrite: bool, progress: Progress) -> Decided:
    """Do the same with Parquet files and an output that Spark's file systems (hdfs://, s3a://) hold."""
    with open_session(plan.master, plan.memory) as session:
        with _read_errors(urls[0]):
            rows = _name_columns(session.read.parquet(*urls), urls[0])
        files = _FileSystem(session, out)
        if files.exists(out) and not overwrite:
            raise FileError(f"{out} is there already; choose another name or give --overwrite.")
        unfinished = out.rstrip("/") + ".unfinished"
        files.delete(unfinished)
        decided = _carry_out(session, plan, rows, unfinished, progress)
        files.replace(unfinished, out)
    return decided


def _carry_out(session: Any, plan: DecisionPlan, rows: Any, out: str, progress: Progress) -> Decided:
    joined = _join(session, plan, rows)
    with _read_errors(out):
        counts = run_action(session, _count(joined).collect, progress, (0, 30))
        if any(row["relation"] is None or row["bad"] for row in counts):
            raise _find_row(joined)
        held = _hold_back(session, plan, joined) if len(plan.constraints) else None
        written = _choose(session, plan, joined)
        try:
            run_action(session, lambda: written.write.parquet(out), progress, (30, 100))
        except Exception as error:
            raise (_find_row(joined, "head", "tail") if EMPTY_NAME in str(error) else error) from None
        found = {row["relation"]: (row["accepted"], None) for row in counts}
        if plan.looks_back:
            found = _look_back(session, plan, out)
    pairs = [found.get(row["relation"], (0, np.nan)) for row in counts]
    return Decided(
        tuple(row["relation"] for row in counts),
        np.array([row["threshold"] for row in counts], dtype=np.float64),
        np.array([row["candidates"] for row in counts], dtype=np.int64),
        np.array([count for count, _ in pairs], dtype=np.int64),
        np.array([mean for _, mean in pairs], dtype=np.float64) if plan.curves is not None else None,
        None if held is None else np.array([held.get(row["relation"], 0) for row in counts], dtype=np.int64),
    )


class _Tables:
    """Tables in Spark, for :func:`actc.decide.together.hold_back`; each is worked out once, where it is made."""

    row_number = "monotonically_increasing_id()"

    def __init__(self, session: Any) -> None:
        self._session = session

    def make(self, name: str, query: str) -> None:
        self._session.sql(query).localCheckpoint().createOrReplaceTempView(name)

    def move(self, name: str, to: str) -> None:
        self._session.table(name).createOrReplaceTempView(to)

    def drop(self, *names: str) -> None:
        for name in names:
            self._session.catalog.dropTempView(name)

    def put(self, name: str, columns: Mapping[str, Any]) -> None:
        _make_table(self._session, dict(columns)).createOrReplaceTempView(name)

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._session.sql(query).collect()]


def _hold_back(session: Any, plan: DecisionPlan, joined: Any) -> dict[str, int]:
    """Find out what constraints hold back; return how many of each relation."""
    if plan.facts is not None:
        table = _read_facts(session, plan.facts)
        table.select(*(sql.col(name).cast("string") for name in ("head", "relation", "tail"))).createOrReplaceTempView(
            "known"
        )
    rows = _with_words(session, plan, joined)
    p, bar = sql.lit(0.5), sql.lit(0.0)
    if plan.curves is not None:
        rows = rows.withColumn("coupled", sql.lit(None).cast("double"))
        rows = _with_probability(plan.curves, rows, _make_table(session, plan.knots))
        p, bar = sql.col("probability"), sql.col("bar")
    said = sql.when(sql.col("by").isin("person", "oracle"), sql.col("word"))
    names = (sql.col(name).cast("string").alias(name) for name in ("head", "relation", "tail"))
    accepted = sql.when(_alone(), 1).otherwise(0).alias("accepted")
    rows.select(*names, "score", p.alias("p"), accepted, bar.alias("bar"), said.alias("word")).createOrReplaceTempView(
        "decided"
    )
    hold_back(_Tables(session), plan.constraints, plan.facts is not None)
    counted = session.sql("SELECT relation, count(*) AS n FROM verdict WHERE out = 1 GROUP BY relation").collect()
    return {row["relation"]: row["n"] for row in counted}


def _read_facts(session: Any, facts: Candidates | str) -> Any:
    if isinstance(facts, Candidates):
        return _read_files(session, facts, ("head", "relation", "tail"))
    with _read_errors(facts):
        return session.read.parquet(facts)


def _with_verdict(session: Any, plan: DecisionPlan, rows: Any) -> Any:
    """Add what constraints hold back (out = 1), and the probability that they leave a triple."""
    if not len(plan.constraints):
        return rows.withColumns({"out": sql.lit(0), "coupled": sql.lit(None).cast("double")})
    verdict = session.table("verdict")
    same = [rows[name].cast("string") == verdict[name] for name in ("head", "relation", "tail")]
    told = rows.join(verdict, same, "left").drop(*(verdict[name] for name in ("head", "relation", "tail")))
    by = sql.when(sql.col("out") == 1, sql.lit("constraint")).otherwise(sql.col("by"))
    return told.withColumns({"by": by, "out": sql.coalesce("out", sql.lit(0))})


def _alone() -> Any:
    return sql.coalesce(sql.col("word") == 1, sql.col("score") >= sql.col("threshold"))


def _read_files(session: Any, candidates: Candidates, columns: Sequence[str] = COLUMNS) -> Any:
    layout = candidates.layout
    paths = [path.resolve().as_uri() for path in candidates.paths]
    if layout.delimiter is None:
        return _name_columns(session.read.parquet(*paths), str(layout.path), columns)
    schema = ", ".join(f"c{i} STRING" for i in range(layout.width))
    quoting = '"' if layout.quoted else ""
    reader = session.read.schema(schema).option("sep", layout.delimiter).option("header", layout.has_header)
    reader = reader.option("quote", quoting).option("escape", quoting).option("mode", "FAILFAST")
    return _rename(reader.csv(paths), {name: layout.column(name) for name in columns})


def _name_columns(table: Any, path: str, columns: Sequence[str] = COLUMNS) -> Any:
    found = call_columns(table.columns)
    missing = [name for name in columns if name not in found]
    if missing:
        raise FileError(f"{path}: the column {missing[0]!r} is missing (found: {', '.join(table.columns)}).")
    return _rename(table, {name: found[name] for name in columns})


def _rename(table: Any, names: dict[str, str]) -> Any:
    if "score" not in names:
        return table.select(*(sql.col(f"`{column}`").cast("string").alias(name) for name, column in names.items()))
    score = sql.col(f"`{names['score']}`")
    if dict(table.dtypes)[names["score"]] == "string":
        score = sql.when(score.rlike(NUMBER), score.try_cast("double"))
    return table.select(
        sql.col(f"`{names['head']}`").alias("head"),
        sql.col(f"`{names['relation']}`").cast("string").alias("relation"),
        sql.col(f"`{names['tail']}`").alias("tail"),
        score.cast("double").alias("score"),
        sql.col(f"`{names['score']}`").cast("string").alias("text"),
        sql.input_file_name().alias("file"),
    )


def _join(session: Any, plan: DecisionPlan, rows: Any) -> Any:
    cuts = _make_table(session, plan.cuts)
    joined = rows.join(sql.broadcast(cuts), rows["relation"] == cuts["name"], "left")
    joined = joined.withColumn("threshold", sql.coalesce("cut", sql.lit(float(plan.thresholds.default))))
    if plan.curves is None:
        return joined
    unseen = {"code": sql.lit(len(plan.curves.relation_names)), "bar": sql.lit(plan.default_bar)}
    return joined.withColumns({name: sql.coalesce(name, value) for name, value in unseen.items()})


def _make_table(session: Any, columns: dict[str, Any]) -> Any:
    """Make a table of a few columns without a Python worker, which ``createDataFrame`` would start on an executor.

    All cells travel as one text, and as text, for JSON has no infinity; Spark reads every digit back.
    """
    kinds = {"O": "string", "f": "double", "i": "bigint"}
    texts = [[str(cell) for cell in values.tolist()] for values in columns.values()]
    cells = sql.from_json(sql.lit(json.dumps(list(zip(*texts, strict=True)))), "array<array<string>>")
    rows = session.range(1, numPartitions=1).select(sql.explode(cells).alias("row"))
    return rows.select(
        *(
            sql.col("row")[place].cast(kinds[values.dtype.kind]).alias(name)
            for place, (name, values) in enumerate(columns.items())
        )
    )


def _count(joined: Any) -> Any:
    return (
        joined.groupBy("relation")
        .agg(
            sql.first("threshold").alias("threshold"),
            sql.count("*").alias("candidates"),
            sql.count_if(sql.col("score") >= sql.col("threshold")).alias("accepted"),
            sql.count_if(_is_bad()).alias("bad"),
        )
        .orderBy("relation")
    )


def _is_bad() -> Any:
    score = sql.col("score")
    return score.isNull() | sql.isnan(score) | (sql.abs(score) == float("inf"))


def _with_words(session: Any, plan: DecisionPlan, joined: Any) -> Any:
    """Add who decided, and whether a word of somebody's accepts a triple (1, 0, NULL where nobody spoke)."""
    if not len(plan.exceptions):
        nothing = {"word": sql.lit(None).cast("bigint"), "told": sql.lit(None).cast("double"), "by": sql.lit("method")}
        return joined.withColumns(nothing)
    words = _make_table(session, plan.words)
    same = [joined[name].cast("string") == words[name] for name in ("head", "relation", "tail")]
    told = joined.join(sql.broadcast(words), same, "left").drop(*(words[name] for name in ("head", "relation", "tail")))
    return told.withColumn("by", sql.coalesce("who", sql.lit("method")))


def _choose(session: Any, plan: DecisionPlan, joined: Any) -> Any:
    joined = _with_verdict(session, plan, _with_words(session, plan, joined))
    accepted = _alone() & (sql.col("out") == 0)
    rows = joined if plan.keep_all else joined.where(accepted)
    if plan.best_only:
        said = sql.when(sql.col("by") == "method", 1).otherwise(sql.coalesce(2 * sql.col("word"), sql.lit(1)))
        best_first = Window.partitionBy("head", "relation").orderBy(said.desc(), sql.desc("score"), sql.asc("tail"))
        rows = rows.withColumn("place", sql.row_number().over(best_first))
        accepted = accepted & (sql.col("place") == 1)
        rows = rows if plan.keep_all else rows.where(accepted)
    empty = sql.col("head").isNull() | sql.col("tail").isNull()
    head = sql.when(empty, sql.raise_error(sql.lit(EMPTY_NAME))).otherwise(sql.col("head"))
    rows = rows.withColumn("head", head).withColumn("accepted", accepted)
    if plan.curves is not None:
        rows = _with_probability(plan.curves, rows, _make_table(session, plan.knots))
    return rows.select(*plan.columns)


def _with_probability(curves: Curves, rows: Any, knots: Any) -> Any:
    position = (sql.col("score") - sql.lit(curves.low)) * sql.lit(curves.scale)
    position = sql.least(sql.greatest(position, sql.lit(0.0)), sql.lit(float(curves.knots - 1)))
    rows = rows.withColumn("position", position)
    at = sql.col("code") * curves.knots + sql.floor("position")
    rows = rows.join(sql.broadcast(knots), at == knots["knot"])
    line = sql.col("start") + (sql.col("position") - sql.floor("position")) * sql.col("rise")
    return rows.withColumn("probability", sql.coalesce("coupled", "told", line))


def _look_back(session: Any, plan: DecisionPlan, out: str) -> dict[str, Any]:
    """Count the accepted rows of the output by relation, and average their probability."""
    table = session.read.parquet(out)
    table = table.where("accepted") if plan.keep_all else table
    mean = sql.avg("probability") if plan.curves is not None else sql.lit(None)
    counted = table.groupBy("relation").agg(sql.count("*").alias("count"), mean.alias("mean")).collect()
    return {row["relation"]: (row["count"], row["mean"]) for row in counted}


def _find_row(joined: Any, *names: str) -> FileError:
    """Say which file holds a row with an empty name (or, without names, no score), and what is wrong with it."""
    bad = sql.lit(False) if names else _is_bad()
    for name in names or ("relation",):
        bad = bad | sql.col(name).isNull()
    row = joined.where(bad).select("head", "relation", "tail", "text", "file").first()
    triple = (row["head"], row["relation"], row["tail"])
    empty = [name for name in ("head", "relation", "tail") if row[name] is None]
    if empty or row["text"] is None:
        return FileError(f"{row['file']}: there is nothing in column {(*empty, 'score')[0]} of {triple}.")
    return FileError(f"{row['file']}: the score of {triple} is {row['text']!r}; every score must be a finite number.")


@contextmanager
def _read_errors(place: str) -> Iterator[None]:
    """Turn what Spark says about an unreadable part into one sentence."""
    try:
        yield
    except ActcError:
        raise
    except Exception as error:  # py4j and pyspark share no base class
        text = str(error)
        part = re.search(r"\b(?:file|hdfs|s3a?|abfss?|gs):/\S+?\.(?:parquet|csv|tsv|txt)(?:\.gz)?", text)
        reason = text.strip().splitlines()[0]
        raise FileError(f"{part[0] if part else place}: Spark could not read or write it ({reason}).") from None


class _FileSystem:
    """The few things that are done with Hadoop's file systems."""

    def __init__(self, session: Any, url: str) -> None:
        self._path = session._jvm.org.apache.hadoop.fs.Path
        self._files = self._path(url).getFileSystem(session._jsc.hadoopConfiguration())

    def exists(self, url: str) -> bool:
        return bool(self._files.exists(self._path(url)))

    def delete(self, url: str) -> None:
        self._files.delete(self._path(url), True)

    def replace(self, source: str, target: str) -> None:
        self.delete(target)
        if not self._files.rename(self._path(source), self._path(target)):
            raise FileError(f"{source} could not be renamed to {target}; it is complete, rename it yourself.")
