"""KGTK edge files: tab-separated, with the columns node1, label, node2 (and any others, which carry provenance)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actc.errors import FileError
from actc.graphs.encode import read_columns
from actc.graphs.graph import Graph
from actc.graphs.provenance import COLUMNS, read_provenance
from actc.tables.files import Layout, first_line, write_triples

ALIASES = {
    "head": ("node1", "from", "subject"),
    "relation": ("label", "predicate", "relation"),
    "tail": ("node2", "to", "object"),
}


def read(path: Path, base: str = "") -> Graph:
    """Read the edges; columns beside them are left to :func:`read_extras`."""
    layout = _layout(path)
    return read_columns(layout, _triple(layout))


def read_extras(path: Path, graph: Graph) -> dict[str, Any]:
    """Read the columns beside the edges that say where a fact comes from."""
    layout = _layout(path)
    return read_provenance(layout, _triple(layout), graph)


def _triple(layout: Layout) -> dict[str, str]:
    return {name: f"replace({layout.column(name)}, '\\|', '|')" for name in ALIASES}


def _layout(path: Path) -> Layout:
    header = first_line(path).split("\t")
    position: dict[str, int | str] = {}
    for name, aliases in ALIASES.items():
        found = next((alias for alias in aliases if alias in header), None)
        if found is None:
            raise FileError(
                f"{path}, line 1: the column {aliases[0]!r} is missing; KGTK edges have node1, label, node2."
            )
        position[name] = header.index(found)
    position.update({name: header.index(name) for name in COLUMNS if name in header})
    return Layout(path, "\t", True, len(header), position)


def write(path: Path, graph: Graph, base: str, extras: Mapping[str, Any]) -> None:
    """Write the edges with an id each, and the columns beside them."""
    columns = graph.columns()
    escaped = {key: [name.replace("|", "\\|") for name in column] for key, column in columns.items()}
    table = {"node1": escaped["head"], "label": escaped["relation"], "node2": escaped["tail"]}
    ids = [f"E{row}" for row in range(1, len(graph) + 1)]
    write_triples(path, {"id": ids, **table, **extras})
