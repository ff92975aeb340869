"""From three columns of strings, anywhere in DuckDB, to a graph: ten million triples in seconds and little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.database import open_database
from actc.data.files import Layout, read_failed
from actc.data.triples import Triples, Vocabulary
from actc.errors import FileError
from actc.graph.graph import Graph, note_repeats


@contextmanager
def connect(path: Path) -> Iterator[Any]:
    """Open a database in memory that spills to a temporary folder; its errors become sentences about the file."""
    import duckdb

    with open_database() as connection:
        try:
            yield connection
        except duckdb.Error as error:
            raise read_failed(path, error) from None


def read_columns(layout: Layout, triple: Mapping[str, str]) -> Graph:
    """Read a graph from a file laid out in columns; ``triple`` is the SQL of head, relation and tail."""
    columns = ", ".join(f"{sql} AS {name}" for name, sql in triple.items())
    with connect(layout.path) as connection:
        connection.execute(f"CREATE TEMP TABLE named AS SELECT {columns} FROM {layout.source}")
        return encode(connection, layout.where)


def encode(
    connection: Any, where: Callable[[int], str], entity_name: str = "term", relation_name: str = "term"
) -> Graph:
    """Encode the table ``named``, whose columns head, relation and tail are strings, and drop it.

    Parameters
    ----------
    connection : duckdb connection
    where : callable
        Says where a 0-based row of the table stands in its file, for messages.
    entity_name, relation_name : str
        SQL that turns a ``term`` into a name; it sees every distinct term once.
    """
    _refuse_empty_cells(connection, where)
    vocabularies = {
        "entity": ("SELECT head AS term FROM named UNION SELECT tail FROM named", entity_name),
        "kind": ("SELECT DISTINCT relation AS term FROM named", relation_name),
    }
    for table, (terms, name) in vocabularies.items():
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT term, name, "
            "CAST(dense_rank() OVER (ORDER BY name) - 1 AS INTEGER) AS code "
            f"FROM (SELECT term, {name} AS name FROM ({terms}))"
        )
    codes = connection.execute(
        "SELECT h.code AS head, r.code AS relation, t.code AS tail FROM named "
        "JOIN entity h ON head = h.term JOIN kind r ON relation = r.term JOIN entity t ON tail = t.term"
    ).fetchnumpy()
    connection.execute("DROP TABLE named")
    entities, relations = (
        Vocabulary(
            connection.execute(f"SELECT DISTINCT name, code FROM {table} ORDER BY code").fetchnumpy()["name"].tolist()
        )
        for table in vocabularies
    )
    heads, kinds, tails = (np.ma.getdata(codes[name]) for name in ("head", "relation", "tail"))
    # Joins return rows in any order: sorted, a file gives the same graph every time.
    listed = Triples(heads, kinds, tails, entities, relations)
    once = listed.sorted_once()
    return Graph.of(once, note_repeats(len(listed) - len(once)))


def _refuse_empty_cells(connection: Any, where: Callable[[int], str]) -> None:
    empty = "head IS NULL OR relation IS NULL OR tail IS NULL"
    if connection.execute(f"SELECT count(*) FROM named WHERE {empty}").fetchone()[0]:
        numbered = "SELECT row_number() OVER () - 1 AS row, * FROM named"
        row, head, relation = connection.execute(
            f"SELECT row, head, relation FROM ({numbered}) WHERE {empty} LIMIT 1"
        ).fetchall()[0]
        column = "head" if head is None else "relation" if relation is None else "tail"
        raise FileError(f"{where(row)}: there is nothing in column {column}.")
