"""Turtle, through pyoxigraph; columns beside a triple are written as its annotation (RDF 1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import FileError
from actc.files import quote
from actc.graph import Graph
from actc.graph_formats.terms import (
    from_term,
    import_pyoxigraph,
    note_terms,
    syntax_error,
    term_columns,
    write_lines,
)

VOCABULARY = "urn:actc:"
REIFIES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"


def read(path: Path, base: str = "") -> Graph:
    """Read a file; annotations of triples are left out, with a note."""
    triples, notes = _without_annotations(_parse(path))
    columns = list(zip(*triples, strict=True)) or [(), (), ()]
    names = {term: from_term(term, base) for column in columns for term in column}
    heads, relations, tails = ([names[term] for term in column] for column in columns)
    graph = Graph.from_columns(heads, relations, tails)
    return note_terms(replace(graph, notes=(*graph.notes, *notes)))


def _parse(path: Path) -> list[Any]:
    oxigraph = import_pyoxigraph()
    try:
        return list(oxigraph.parse(path=path, format=oxigraph.RdfFormat.TURTLE))
    except SyntaxError as error:
        raise syntax_error(path, error.lineno or 1, error) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: the file cannot be read ({error}).") from None


def _without_annotations(quads: list[Any]) -> tuple[list[tuple[str, str, str]], list[str]]:
    annotating = {str(quad.subject) for quad in quads if quad.predicate.value == REIFIES}
    triples = [
        (str(quad.subject), str(quad.predicate), str(quad.object))
        for quad in quads
        if str(quad.subject) not in annotating
    ]
    notes = [f"{len(annotating)} annotations of triples are left out."] if annotating else []
    return triples, notes


def write(path: Path, graph: Graph, base: str, extras: Mapping[str, Any]) -> None:
    """Write the triples, each with its annotation if there are columns for one."""
    columns = {**term_columns(graph, base), **{f"x_{name}": np.asarray(values) for name, values in extras.items()}}
    line = "head || ' ' || relation || ' ' || tail || "
    if extras:
        parts = " || ' ; ' || ".join(_property(name, columns[f"x_{name}"]) for name in extras)
        line += f"' {{| ' || {parts} || ' |}}' || "
    write_lines(path, columns, line + "' .'")


def _property(name: str, values: Any) -> str:
    """Return the SQL of one property: a number as xsd:double, anything else as a string."""
    column = f'"x_{name}"'
    if np.issubdtype(values.dtype, np.number):
        value = f"format('{{:e}}', CAST({column} AS DOUBLE))"
    else:
        value = f"'\"' || replace(replace(CAST({column} AS VARCHAR), '\\', '\\\\'), '\"', '\\\"') || '\"'"
    return f"{quote(f'<{VOCABULARY}{name}> ')} || {value}"
