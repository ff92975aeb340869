"""Turtle, through pyoxigraph; columns beside a triple are written as its annotation (RDF 1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import FileError
from actc.graphs.graph import Graph
from actc.graphs.terms import (
    REIFIES,
    entity_name,
    name_quoted_heads,
    note_terms,
    parse_rdf,
    relation_name,
    syntax_error,
    term_columns,
    write_lines,
)
from actc.tables.files import quote

VOCABULARY = "urn:actc:"


def read(path: Path, base: str = "") -> Graph:
    """Read a file; annotations of triples are left out, with a note."""
    triples, notes = _without_annotations(_parse(path))
    columns = list(zip(*triples, strict=True)) or [(), (), ()]
    entities = {term: entity_name(term, base) for term in {*columns[0], *columns[2]}}
    kinds = {term: relation_name(term, base) for term in set(columns[1])}
    heads, relations, tails = (
        [names[term] for term in column] for names, column in zip((entities, kinds, entities), columns, strict=True)
    )
    graph = name_quoted_heads(Graph.from_columns(heads, relations, tails), base)
    return note_terms(replace(graph, notes=(*graph.notes, *notes)))


def _parse(path: Path) -> list[Any]:
    try:
        return parse_rdf("TURTLE", path=path)
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
        # A property without a value is left out, and an annotation without a property.
        properties = ", ".join(_property(name, columns[f"x_{name}"]) for name in extras)
        line += f"coalesce(' {{| ' || nullif(concat_ws(' ; ', {properties}), '') || ' |}}', '') || "
    write_lines(path, columns, line + "' .'")


def _property(name: str, values: Any) -> str:
    """Return the SQL of one property: a number as xsd:double, anything else as a string."""
    column = f'"x_{name}"'
    if np.issubdtype(values.dtype, np.number):
        value = f"format('{{:e}}', CAST({column} AS DOUBLE))"
    else:
        value = f"CAST({column} AS VARCHAR)"
        for plain, escaped in (("'\\'", "'\\\\'"), ("'\"'", "'\\\"'"), ("chr(10)", "'\\n'"), ("chr(13)", "'\\r'")):
            value = f"replace({value}, {plain}, {escaped})"
        value = f"'\"' || {value} || '\"'"
    return f"{quote(f'<{VOCABULARY}{name}> ')} || {value}"
