"""The evidence plan on Spark: the same steps, each a Parquet table in a temporary folder until its last use.

A view upon a view would be planned again with all that is below it, which no planner survives for forty steps. On a
cluster the temporary folder must be one that every executor sees (``TMPDIR``).
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from actc.evidence.duckdb_engine import put_names, put_tables
from actc.evidence.plan import Step, candidate_steps, graph_steps, last_uses, score_step, whole_rows
from actc.evidence.table import Work
from actc.tables.database import open_database
from actc.tables.files import quote
from actc.tables.spark_session import open_session

GIVEN = ("fact", "candidate", "entity_name", "relation_name")


def write_rows(work: Work, out: Path, memory: int) -> None:
    """Write the rows of a work to a folder of Parquet parts; see ``actc.evidence.write_table.Engine``."""
    steps = [score_step(k) for k in range(work.models)] + graph_steps(work.limits) + candidate_steps(work.limits)
    with tempfile.TemporaryDirectory(prefix="actc-") as folder, open_session(None, memory) as session:
        _put_tables(session, work, Path(folder))
        _run_steps(session, work, steps, Path(folder))
        session.sql(whole_rows(work.models)).write.parquet(out.resolve().as_uri())


def _put_tables(session: Any, work: Work, folder: Path) -> None:
    """Hand the given tables over as files: rows made in Python one by one would take longer than the plan."""
    with open_database() as connection:
        put_tables(connection, work.graph, work.asked, work.scores)
        put_names(connection, work.graph)
        for name in GIVEN:
            connection.execute(f"COPY {name} TO {quote(str(folder / name))} (FORMAT parquet)")
            _view(session, folder, name)
    session.table("candidate").createOrReplaceTempView("candidate_part")


def _run_steps(session: Any, work: Work, steps: list[Step], folder: Path) -> None:
    gone = last_uses(steps, {"evidence", "asked", *(f"scored{k}" for k in range(work.models))})
    for step in steps:
        if step.part:
            session.sql(step.part_query).createOrReplaceTempView(step.part)
        session.sql(step.query).write.parquet((folder / step.name).as_uri())
        _view(session, folder, step.name)
        for name in gone.get(step.name, []):
            session.catalog.dropTempView(name)
            shutil.rmtree(folder / name)
        work.report(step.name)


def _view(session: Any, folder: Path, name: str) -> None:
    session.read.parquet((folder / name).as_uri()).createOrReplaceTempView(name)
