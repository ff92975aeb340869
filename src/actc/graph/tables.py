"""Plain tables: TSV, CSV and Parquet with the columns head, relation, tail (or subject, predicate, object)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.files import TRIPLE, Layout, find_layout, open_reader, require, with_columns, write_triples
from actc.data.triples import BoolArray, FloatArray, encode_columns
from actc.errors import FileError
from actc.graph.graph import Graph, read_columns
from actc.graph.terms import Bases

NUMBERS = ("score", "probability", "threshold")
COLUMNS = (*NUMBERS, "method", "date", "by", "reasons")
PEOPLE = ("person", "oracle")
"""Who decides by knowing, not by a heuristic: a person, or a file that stands for one."""


def read_provenance(
    layout: Layout,
    triple: Mapping[str, str],
    graph: Graph,
) -> dict[str, Any]:
    """Read the known columns of a table and align them with the triples of the graph that was read from it."""
    found = [name for name in COLUMNS if name in layout.position]
    if not found:
        return {}
    wanted = {**triple, **{name: f"CAST({layout.column(name)} AS VARCHAR)" for name in found}}
    columns = ", ".join(f'{sql} AS "{name}"' for name, sql in wanted.items())
    with open_reader(layout.path) as connection:
        table = connection.execute(f"SELECT {columns} FROM {layout.source}").fetchnumpy()
    cells = {name: _filled(column) for name, column in table.items()}
    # In its own order, repeats and all: of equal rows the first is found.
    rows = encode_columns(cells["head"], cells["relation"], cells["tail"]).rows_of(graph)
    values = {name: _numbers(layout, name, cells[name]) if name in NUMBERS else cells[name] for name in found}
    return {name: column[rows] for name, column in values.items()}


def _filled(column: Any) -> Any:
    cells = np.ma.getdata(column).astype(object)
    cells[np.ma.getmaskarray(column)] = None
    return cells


def _numbers(layout: Layout, name: str, cells: Any) -> FloatArray:
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells.tolist()):
        try:
            values[row] = np.nan if cell is None else float(cell)
        except ValueError:
            raise FileError(f"{layout.where(row)}: {cell!r} is not a number (column {name}).") from None
    return values


def made_by_method(extras: Mapping[str, Any], count: int) -> BoolArray:
    """Return for each triple whether a method or a machine decided it, not a person, nor the graph's author."""
    nothing = [None] * count
    methods, deciders = (list(extras.get(name, nothing)) for name in ("method", "by"))
    if "method" not in extras:
        return np.array([decider in ("method", "judges") for decider in deciders], dtype=np.bool_)
    pairs = zip(methods, deciders, strict=True)
    return np.array([not is_missing(method) and decider not in PEOPLE for method, decider in pairs], dtype=np.bool_)


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, NaT or no text."""
    return value is None or str(value).strip() == "" or value != value


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
