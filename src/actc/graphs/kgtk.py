"""KGTK edge files: tab-separated, with the columns node1, label, node2 (and any others, which carry provenance).

A value at the end of an edge ('Paris'@fr, a number, a date, a point) is a literal here, as in RDF. Where a kind of
value also stands at the beginning of edges, as numbers do in files that use them for ids, all of that kind are names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from actc.errors import FileError
from actc.graphs.encode import read_columns
from actc.graphs.graph import Graph, note_repeats
from actc.graphs.kgtk_values import SIGILS, kind_of, to_literal, to_name, to_symbol, to_value
from actc.graphs.provenance import COLUMNS, NUMBERS, read_provenance
from actc.graphs.terms import Bases, literals, note_terms
from actc.tables.files import Layout, check_gzip, first_line, write_triples
from actc.triples import Triples, Vocabulary

ALIASES = {
    "head": ("node1", "from", "subject"),
    "relation": ("label", "predicate", "relation"),
    "tail": ("node2", "to", "object"),
}
T = TypeVar("T", bound=Triples)


def read(path: Path, base: Bases) -> Graph:
    """Read the edges; columns beside them are left to :func:`read_extras`."""
    layout = _layout(path)
    cells = read_columns(layout, _triple(layout))
    named = _name(cells)
    once = named.sorted_once()
    return note_terms(replace(once, notes=(*cells.notes, *note_repeats(len(named) - len(once)))))


def read_extras(path: Path, graph: Graph) -> dict[str, Any]:
    """Read the columns beside the edges that say where a fact comes from."""
    layout = _layout(path)
    return read_provenance(layout, _triple(layout), graph, _name, _plain)


def _plain(name: str, cell: str) -> str:
    if name in NUMBERS:
        return cell.strip('"')
    return cell.removeprefix("^") if name == "date" else to_name(cell)


def _triple(layout: Layout) -> dict[str, str]:
    return {name: layout.column(name) for name in ALIASES}


def _layout(path: Path) -> Layout:
    check_gzip(path)
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


def _name(cells: T) -> T:
    """Return triples of cells as triples of names and literals."""
    kept = _head_kinds(cells)
    entities, codes = Vocabulary.encode([_entity(cell, kept) for cell in cells.entity_names])
    relations, kinds = Vocabulary.encode([to_name(cell) for cell in cells.relation_names])
    return replace(
        cells,
        heads=codes[cells.heads],
        relations=kinds[cells.relations],
        tails=codes[cells.tails],
        entity_names=entities,
        relation_names=relations,
    )


def _entity(cell: str, kept: set[str]) -> str:
    kind = kind_of(cell)
    return to_name(cell) if kind is None or kind in kept else to_literal(cell)


def _head_kinds(triples: Triples) -> set[str]:
    """Return the kinds of values that names at the beginning of edges look like."""
    heads = (triples.entity_names[code] for code in np.unique(triples.heads).tolist())
    found = {kind_of(name) for name in heads if name[0] in SIGILS or name in ("True", "False")}
    return {kind for kind in found if kind is not None}


def write(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write the edges with an id each, and the columns beside them; literals as KGTK's values."""
    is_literal = literals(graph).tolist()
    pairs = list(zip(graph.entity_names, is_literal, strict=True))
    values = {name: to_value(name) for name, literal in pairs if literal}
    kept = _head_kinds(graph) - {kind_of(value) for value in values.values()}
    cells = np.array([values.get(name) or to_symbol(name, kept) for name, _ in pairs], dtype=object)
    relations = np.array([to_symbol(name, ()) for name in graph.relation_names], dtype=object)
    table = {"node1": cells[graph.heads], "label": relations[graph.relations], "node2": cells[graph.tails]}
    ids = [f"E{row}" for row in range(1, len(graph) + 1)]
    write_triples(path, {"id": ids, **table, **{name: _column(name, column) for name, column in extras.items()}})


def _column(name: str, column: Any) -> Any:
    """Return a column beside the edges as KGTK writes it: dates with their sign, what is no number in quotes."""
    if name in NUMBERS:
        numbers = np.asarray(column, dtype=np.float64)
        infinite = np.isinf(numbers)
        if not infinite.any():
            return numbers
        texts = np.array([repr(number) for number in numbers.tolist()], dtype=object)
        texts[np.isnan(numbers)] = None
        texts[infinite] = np.where(numbers[infinite] > 0, '"Infinity"', '"-Infinity"')
        return texts
    cells = np.asarray(column, dtype=object)
    written = {cell: _word(name, cell) for cell in dict.fromkeys(cells.tolist()) if isinstance(cell, str)}
    return np.array([written.get(cell, cell) for cell in cells.tolist()], dtype=object)


def _word(name: str, cell: str) -> str:
    dated = f"^{cell}"
    return dated if name == "date" and kind_of(dated) == "date" else to_symbol(cell, ())
