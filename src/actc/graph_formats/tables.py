"""Plain tables: TSV, CSV and Parquet with the columns head, relation, tail (or subject, predicate, object)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actc.files import find_layout, require, write_triples
from actc.graph import Graph
from actc.graph_formats.encode import connect, encode

TRIPLE = ("head", "relation", "tail")


def read(path: Path, base: str = "") -> Graph:
    """Read a table; columns beside the triple are ignored."""
    layout = find_layout(path)
    require(layout, TRIPLE)
    columns = ", ".join(f"CAST({layout.column(name)} AS VARCHAR) AS {name}" for name in TRIPLE)
    with connect(path) as connection:
        connection.execute(f"CREATE TEMP TABLE named AS SELECT {columns} FROM {layout.source}")
        return encode(connection, layout.where)


def write(path: Path, graph: Graph, base: str, extras: Mapping[str, Any]) -> None:
    """Write the triples, and the columns beside them."""
    write_triples(path, {**graph.columns(), **extras})
