"""Where the tables of the rules' plan are: in DuckDB, or on Spark."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from actc.errors import ChoiceError, MissingExtraError
from actc.evidence.duckdb_engine import put_facts
from actc.evidence.steps import Step
from actc.graphs.graph import Graph
from actc.tables.database import open_database
from actc.tables.files import quote


class Store(Protocol):
    """Where the tables of the plan are."""

    in_parts: bool

    def make(self, step: Step) -> None:
        """Make a table, in the place of one that is there."""

    def add(self, step: Step, first: bool) -> None:
        """Add rows to a table, a new one if this is the first part."""

    def view(self, name: str, query: str) -> None:
        """Make a view."""

    def row(self, query: str) -> Sequence[Any]:
        """Return the first row of a query."""

    def table(self, query: str) -> dict[str, Any]:
        """Return the columns of a query."""


@dataclass
class DuckdbStore:
    """Tables in DuckDB."""

    connection: Any
    in_parts: bool = True

    def make(self, step: Step) -> None:
        """Make a table, in the place of one that is there."""
        self.add(step, first=True)

    def add(self, step: Step, first: bool) -> None:
        """Add rows to a table, a new one if this is the first part."""
        begin = f"CREATE OR REPLACE TABLE {step.name} AS" if first else f"INSERT INTO {step.name}"
        self.connection.execute(f"{begin} {step.query}")

    def view(self, name: str, query: str) -> None:
        """Make a view."""
        self.connection.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")

    def row(self, query: str) -> Sequence[Any]:
        """Return the first row of a query."""
        return tuple(self.connection.execute(query).fetchone())

    def table(self, query: str) -> dict[str, Any]:
        """Return the columns of a query."""
        return dict(self.connection.execute(query).fetchnumpy())


@contextmanager
def open_duckdb(graph: Graph, memory: int) -> Iterator[DuckdbStore]:
    """Give a database with the table ``fact``; what its memory leaves no room for is in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="actc-") as spill, open_database() as connection:
        connection.execute(f"SET memory_limit='{memory // 1000}KB'; SET temp_directory={quote(spill)}")
        connection.execute("SET preserve_insertion_order=false")
        put_facts(connection, graph)
        yield DuckdbStore(connection)


@dataclass
class SparkStore:
    """Tables on Spark, each Parquet in a folder; Spark divides its own work."""

    session: Any
    folder: Path
    in_parts: bool = False

    def make(self, step: Step) -> None:
        """Make a table, in the place of one that is there."""
        place = self.folder / step.name
        if place.exists():
            shutil.rmtree(place)
        self.session.sql(step.query).write.parquet(place.as_uri())
        self.session.read.parquet(place.as_uri()).createOrReplaceTempView(step.name)

    def add(self, step: Step, first: bool) -> None:
        """Make a table: there is one part."""
        self.make(step)

    def view(self, name: str, query: str) -> None:
        """Make a view."""
        self.session.sql(query).createOrReplaceTempView(name)

    def row(self, query: str) -> Sequence[Any]:
        """Return the first row of a query."""
        return tuple(self.session.sql(query).first())

    def table(self, query: str) -> dict[str, Any]:
        """Return the columns of a query, which is on the tables' files."""
        with open_database() as connection:
            for name in ("proposal", "rule"):
                files = quote(str(self.folder / name / "*.parquet"))
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet({files})")
            return dict(connection.execute(query).fetchnumpy())


@contextmanager
def open_spark(graph: Graph, memory: int) -> Iterator[SparkStore]:
    """Give a Spark session with the table ``fact``; on a cluster TMPDIR must be a folder that every executor sees."""
    try:
        from actc.tables.spark_session import open_session
    except ModuleNotFoundError as error:
        if error.name not in ("pyspark", "py4j"):
            raise
        raise MissingExtraError("The engine spark", "pyspark", "spark") from None
    with tempfile.TemporaryDirectory(prefix="actc-") as folder, open_session(None, memory) as session:
        with open_duckdb(graph, memory) as store:
            store.connection.execute(f"COPY fact TO {quote(str(Path(folder) / 'fact'))} (FORMAT parquet)")
        session.read.parquet((Path(folder) / "fact").as_uri()).createOrReplaceTempView("fact")
        yield SparkStore(session, Path(folder))


ENGINES: dict[str, Callable[[Graph, int], Any]] = {"duckdb": open_duckdb, "spark": open_spark}


def open_store(engine: str, graph: Graph, memory: int) -> Any:
    """Give the store of an engine, with the table ``fact``, for a ``with`` block."""
    if engine not in ENGINES:
        raise ChoiceError("engine", engine, ENGINES)
    return ENGINES[engine](graph, memory)
