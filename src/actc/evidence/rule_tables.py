"""Where the tables of the rules' plan are: in DuckDB."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from actc.evidence.duckdb_engine import put_facts
from actc.evidence.steps import Step
from actc.graphs.graph import Graph
from actc.tables.database import open_database
from actc.tables.files import quote


@dataclass
class RuleTables:
    """Tables in a database."""

    connection: Any

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
def open_rule_tables(graph: Graph, memory: int) -> Iterator[RuleTables]:
    """Give a database with the table ``fact``; what its memory leaves no room for is in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="actc-") as spill, open_database() as connection:
        connection.execute(f"SET memory_limit='{memory // 1000}KB'; SET temp_directory={quote(spill)}")
        connection.execute("SET preserve_insertion_order=false")
        put_facts(connection, graph)
        yield RuleTables(connection)
