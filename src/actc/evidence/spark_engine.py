"""The evidence plan on Spark: the same steps, each a Parquet table in a temporary folder until its last use.

A view upon a view would be planned again with all that is below it, which no planner survives for forty steps. On a
cluster the temporary folder must be one that every executor sees (``TMPDIR``). Executors need neither actc nor Python:
log-odds, too, are expressions of columns.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.ml.feature import Bucketizer
from pyspark.sql import functions as sql

from actc.data.database import in_one_sentence, open_database, open_spark, quote
from actc.data.triples import FloatArray
from actc.evidence.plan import candidate_steps, last_uses, whole_rows
from actc.evidence.score import HAS, EvidenceModel
from actc.evidence.steps import graph_steps
from actc.evidence.table import Work, put_names, put_tables

GIVEN = ("fact", "candidate", "entity_name", "relation_name")


def write_evidence(work: Work, model: EvidenceModel, out: Path, memory: int, master: str | None = None) -> None:
    """Write candidates with their log-odds and evidence to a folder of parts, by Spark."""
    started = open_spark(master, memory)
    with tempfile.TemporaryDirectory(prefix="actc-") as name, started as session, in_one_sentence():
        _put_tables(session, work, Path(name))
        _run_steps(session, work, Path(name))
        _add_log_odds(session.table("evidence"), model).createOrReplaceTempView("evidence")
        session.sql(whole_rows(work.scores, "e.log_odds")).write.parquet(out.resolve().as_uri())


def _put_tables(session: Any, work: Work, folder: Path) -> None:
    """Hand the given tables over as files: rows made in Python one by one would take longer than the plan."""
    with open_database() as connection:
        put_tables(connection, work)
        put_names(connection, work.graph)
        for name in GIVEN:
            connection.execute(f"COPY {name} TO {quote(str(folder / name))} (FORMAT parquet)")
            _view(session, folder, name)
    session.table("candidate").createOrReplaceTempView("candidate_part")


def _run_steps(session: Any, work: Work, folder: Path) -> None:
    steps = graph_steps(work.limits) + candidate_steps(work.limits, work.scores)
    gone = last_uses(steps, {"evidence"})
    for step in steps:
        if step.part:
            session.sql(step.part_query).createOrReplaceTempView(step.part)
        session.sql(step.query).write.parquet((folder / step.name).as_uri())
        _view(session, folder, step.name)
        for name in gone.get(step.name, []):
            session.catalog.dropTempView(name)
            shutil.rmtree(folder / name)
        work.report()


def _view(session: Any, folder: Path, name: str) -> None:
    session.read.parquet((folder / name).as_uri()).createOrReplaceTempView(name)


def _add_log_odds(rows: Any, model: EvidenceModel) -> Any:
    """Add the column ``log_odds``, as ``EvidenceModel.log_odds`` does.

    Which two points of a curve a value is between is looked up by a class of Spark's own.
    """
    quantiles, ridge = model.ridge.quantiles, model.ridge
    pieces = {f"piece{k}": _piece(name) for k, name in enumerate(model.columns)}
    between = [f"between{k}" for k in range(len(pieces))]
    splits = [[-np.inf, *points.tolist(), np.inf] for points in quantiles.values]
    pieced = rows.withColumns(pieces).fillna(0.0, list(pieces))
    there = {f"there{k}": ~sql.isnan(sql.coalesce(piece, sql.lit(np.nan))) for k, piece in enumerate(pieces.values())}
    if pieces:
        finder = Bucketizer(splitsArray=splits, inputCols=list(pieces), outputCols=between, handleInvalid="keep")
        pieced = finder.transform(pieced.withColumns(there))
    added = []
    curves = zip(quantiles.values, quantiles.normal, ridge.weights.tolist(), strict=True)
    for k, (points, curve, weight) in enumerate(curves):
        begin, level, slope = (_array(one, sql.col(f"between{k}")) for one in _lines(points, curve))
        height = slope * (sql.col(f"piece{k}") - begin) + level
        added.append(sql.when(sql.col(f"there{k}"), height).otherwise(0.0) * sql.lit(weight))
    return pieced.withColumn("log_odds", sum(added, sql.lit(ridge.intercept))).drop(*pieces, *between, *there)


def _piece(name: str) -> Any:
    """Return a piece of evidence in single precision, as ``stack_pieces`` does; NULL or NaN if it is missing."""
    column = sql.col(name.removeprefix(HAS)).cast("double")
    if name.startswith(HAS):
        return sql.when(column.isNull() | sql.isnan(column), 0.0).otherwise(1.0)
    return column.cast("float").cast("double")


def _lines(points: FloatArray, curve: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return where each straight part of a curve begins, its height there and its slope; level beyond both ends."""
    rise = np.append(0.0, np.append(np.diff(curve) / np.diff(points), 0.0))
    return np.append(points[:1], points), np.append(curve[:1], curve), rise


def _array(numbers: FloatArray, place: Any) -> Any:
    """Return the number at a place; all of them travel as one text, whose every digit is read back."""
    return sql.from_json(sql.lit(json.dumps(numbers.tolist())), "array<double>")[place.cast("int")]
