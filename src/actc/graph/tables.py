"""Plain tables: TSV, CSV and Parquet with the columns head, relation, tail (or subject, predicate, object)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actc.data.files import TRIPLE, Layout, find_layout, require, with_columns, write_triples
from actc.graph.encode import read_columns
from actc.graph.graph import Graph
from actc.graph.provenance import COLUMNS, read_provenance
from actc.graph.terms import Bases


def read(path: Path, base: Bases) -> Graph:
    """Read a table; columns beside the triple are left to :func:`read_extras`."""
    layout = find_layout(path)
    require(layout, TRIPLE)
    return read_columns(layout, _triple(layout))


def read_extras(path: Path, graph: Graph) -> dict[str, Any]:
    """Read the columns beside the triples that say where a fact comes from; a table without a header has none."""
    layout = with_columns(find_layout(path), COLUMNS)
    return read_provenance(layout, _triple(layout), graph) if layout.has_header else {}


def _triple(layout: Layout) -> dict[str, str]:
    return {name: f"CAST({layout.column(name)} AS VARCHAR)" for name in TRIPLE}


def write(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write the triples, and the columns beside them."""
    write_triples(path, {**graph.columns(), **extras})
