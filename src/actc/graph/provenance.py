"""Where a fact comes from: columns beside the triples of a table, as `actc complete` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from actc.data.files import Layout
from actc.data.triples import BoolArray, FloatArray, encode_columns
from actc.errors import FileError
from actc.graph.encode import connect
from actc.graph.graph import Graph

NUMBERS = ("score", "probability", "threshold")
COLUMNS = (*NUMBERS, "method", "date", "by", "reasons")
PEOPLE = ("person", "oracle")
"""Who decides by knowing, not by a heuristic: a person, or a file that stands for one."""


def read_provenance(
    layout: Layout,
    triple: Mapping[str, str],
    graph: Graph,
) -> dict[str, Any]:
    """Read the known columns of a table and align them with the triples of the graph that was read from it.

    Parameters
    ----------
    layout : Layout
        Whose ``position`` has the known columns that are there.
    triple : dict
        The SQL of head, relation and tail.
    graph : Graph

    Returns
    -------
    dict of columns
        Numbers as floats, others as strings; NaN or None where a cell is empty. Of repeated triples the first counts.
    """
    found = [name for name in COLUMNS if name in layout.position]
    if not found:
        return {}
    wanted = {**triple, **{name: f"CAST({layout.column(name)} AS VARCHAR)" for name in found}}
    columns = ", ".join(f'{sql} AS "{name}"' for name, sql in wanted.items())
    with connect(layout.path) as connection:
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
    """Say of each triple whether a method or a machine decided it, not a person, nor the one who wrote the graph."""
    nothing = [None] * count
    methods, deciders = (list(extras.get(name, nothing)) for name in ("method", "by"))
    if "method" not in extras:
        return np.array([decider in ("method", "judges") for decider in deciders], dtype=np.bool_)
    pairs = zip(methods, deciders, strict=True)
    return np.array([not is_missing(method) and decider not in PEOPLE for method, decider in pairs], dtype=np.bool_)


def is_missing(value: Any) -> bool:
    """Say whether a cell is empty: None, NaN, NaT or no text."""
    return value is None or str(value).strip() == "" or value != value
