"""Neo4j's import CSV: a folder with nodes.csv and relationships.csv, as ``neo4j-admin database import`` takes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import FileError
from actc.graphs.encode import read_columns
from actc.graphs.graph import Graph
from actc.graphs.terms import Bases
from actc.tables.database import open_database
from actc.tables.deliver import write_beside
from actc.tables.files import Layout, first_line, quote

NODES, RELATIONSHIPS = "nodes.csv", "relationships.csv"
HEADER = {"head": ":START_ID", "relation": ":TYPE", "tail": ":END_ID"}


def read(path: Path, base: Bases) -> Graph:
    """Read relationships.csv; the nodes' properties are ignored."""
    file = path / RELATIONSHIPS
    if not file.is_file():
        raise FileError(
            f"{path} is a folder without a graph that is known here: Neo4j's has a {RELATIONSHIPS}, LibKGE's an "
            "entity_ids.del, OpenKE's an entity2id.txt; give a file, or such a folder."
        )
    layout = _layout(file)
    return read_columns(layout, {name: layout.column(name) for name in HEADER})


def _layout(path: Path) -> Layout:
    header = [cell.split("(")[0] for cell in first_line(path).split(",")]
    for name in HEADER.values():
        if name not in header:
            raise FileError(f"{path}, line 1: the column {name!r} is missing.")
    return Layout(path, ",", True, len(header), {key: header.index(name) for key, name in HEADER.items()})


def write(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write both files; the columns beside the triples become properties of the relationships."""
    if path.exists() and not path.is_dir():
        raise FileError(f"{path} is a file; Neo4j's import takes a folder.")
    path.mkdir(parents=True, exist_ok=True)
    used = np.unique(np.concatenate([graph.heads, graph.tails]))
    names = np.array(graph.entity_names, dtype=object)[used]
    _write_csv(path / NODES, {":ID": names, "name": names, ":LABEL": np.full(len(used), "Entity", dtype=object)})
    columns = graph.columns()
    triples = {HEADER[key]: columns[key] for key in ("head", "tail", "relation")}
    _write_csv(path / RELATIONSHIPS, {**triples, **{_property(key, values): values for key, values in extras.items()}})


def _property(name: str, values: Any) -> str:
    return f"{name}:double" if _is_number(values) else f"{name}:string"


def _is_number(values: Any) -> bool:
    return bool(np.issubdtype(np.asarray(values).dtype, np.number))


def _write_csv(path: Path, columns: Mapping[str, Any]) -> None:
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    cells = ", ".join(_cell(name) if _is_number(array) else f'"{name}"' for name, array in arrays.items())
    with write_beside(path) as temporary, open_database() as connection:
        connection.register("rows_to_write", arrays)
        connection.execute(f"COPY (SELECT {cells} FROM rows_to_write) TO {quote(str(temporary))} (FORMAT csv, HEADER)")


def _cell(name: str) -> str:
    """Return the SQL of a number as Java reads it, where an infinite one is spelt out."""
    number = f'CAST("{name}" AS DOUBLE)'
    return (
        f"CASE WHEN isinf({number}) THEN CASE WHEN {number} < 0 THEN '-' ELSE '' END || 'Infinity' "
        f'ELSE CAST("{name}" AS VARCHAR) END AS "{name}"'
    )
