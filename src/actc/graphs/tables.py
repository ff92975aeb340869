"""Plain tables: TSV, CSV and Parquet with the columns head, relation, tail (or subject, predicate, object)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from actc.graphs.encode import read_columns
from actc.graphs.graph import Graph
from actc.graphs.provenance import COLUMNS, read_provenance
from actc.graphs.terms import Bases
from actc.tables.database import open_database
from actc.tables.files import TRIPLE, Layout, find_layout, first_line, require, write_triples


def read(path: Path, base: Bases) -> Graph:
    """Read a table; columns beside the triple are left to :func:`read_extras`."""
    layout = find_layout(path)
    require(layout, TRIPLE)
    return read_columns(layout, _triple(layout))


def read_extras(path: Path, graph: Graph) -> dict[str, Any]:
    """Read the columns beside the triples that say where a fact comes from; a table without a header has none."""
    layout = find_layout(path)
    if not layout.has_header:
        return {}
    names = _column_names(layout)
    known = {name: names[name] for name in COLUMNS if name in names}
    return read_provenance(replace(layout, position={**layout.position, **known}), _triple(layout), graph)


def _triple(layout: Layout) -> dict[str, str]:
    return {name: f"CAST({layout.column(name)} AS VARCHAR)" for name in TRIPLE}


def _column_names(layout: Layout) -> dict[str, int | str]:
    if layout.delimiter is None:
        with open_database() as connection:
            found = connection.execute(f"DESCRIBE SELECT * FROM {layout.source}").fetchall()
        return {row[0].lower(): row[0] for row in found}
    quoting: Any = csv.QUOTE_MINIMAL if layout.delimiter == "," else csv.QUOTE_NONE
    header = next(csv.reader([first_line(layout.path)], delimiter=layout.delimiter, quoting=quoting))
    return {cell.strip().lower(): place for place, cell in enumerate(header)}


def write(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write the triples, and the columns beside them."""
    write_triples(path, {**graph.columns(), **extras})
