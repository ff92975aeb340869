"""DuckDB as everything here uses it: in memory, and silent."""

from __future__ import annotations

from typing import Any


def open_database() -> Any:
    """Open a database in memory, which closes at the end of a ``with`` block."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar=false")  # it would write into the standard output
    return connection
