"""Wikidata QuickStatements (version 1): a statement a line, referenced as machine-made statements have to be.

Every statement gets the reference "based on heuristic" (P887); with a date, "retrieved" (P813) too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import FileError, TableError
from actc.graph import Graph
from actc.graph_formats.terms import write_lines

HEURISTIC = "Q2539"  # machine learning
ITEM, PROPERTY = re.compile(r"Q[1-9][0-9]*"), re.compile(r"P[1-9][0-9]*")


def read(path: Path, base: str = "") -> Graph:
    """Read statements between items; others (values, labels, qualifier-only lines) are refused with their line."""
    triples = []
    for number, line in enumerate(_lines(path), start=1):
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) < 3 or not (
            ITEM.fullmatch(cells[0]) and PROPERTY.fullmatch(cells[1]) and ITEM.fullmatch(cells[2])
        ):
            raise FileError(
                f"{path}, line {number}: a statement between two items was expected (Q1, P31, Q5 and so on)."
            )
        triples.append(cells[:3])
    return Graph.from_columns(*(zip(*triples, strict=True) if triples else ((), (), ())))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise FileError(f"{path}: the text is not UTF-8; convert the file first.") from None


def write(path: Path, graph: Graph, base: str, extras: Mapping[str, Any]) -> None:
    """Write the statements; of the columns beside them only the date has a place here."""
    _refuse_other_names(graph)
    columns: dict[str, Any] = graph.columns()
    line = f"head || '\t' || relation || '\t' || tail || '\tS887\t{HEURISTIC}'"
    if "date" in extras:
        columns["day"] = np.array([str(date)[:10] for date in extras["date"]], dtype=object)
        line += " || '\tS813\t+' || day || 'T00:00:00Z/11'"
    write_lines(path, columns, line)


def _refuse_other_names(graph: Graph) -> None:
    for pattern, names, kind in (
        (ITEM, graph.entity_names, "an item (Q…)"),
        (PROPERTY, graph.relation_names, "a property (P…)"),
    ):
        wrong = next((name for name in names if not pattern.fullmatch(name)), None)
        if wrong is not None:
            raise TableError(f"{wrong!r} is not the id of {kind}; QuickStatements takes Wikidata's ids only.")
