"""Turtle, through pyoxigraph; columns beside a triple are written as its annotation.

In one of two ways: as RDF 1.2 annotates a triple, ``s p o {| … |} .``, or as a statement about it (rdf:Statement),
which every reader of RDF takes.
"""

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
    Bases,
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
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
DOUBLE = "http://www.w3.org/2001/XMLSchema#double"
PARTS = ("subject", "predicate", "object")


def read(path: Path, base: Bases) -> Graph:
    """Read a file; annotations of triples are left out, with a note."""
    triples, notes = _without_annotations(_parse(path))
    columns = list(zip(*triples, strict=True)) or [(), (), ()]
    entities = {term: entity_name(term, base.entities) for term in {*columns[0], *columns[2]}}
    kinds = {term: relation_name(term, base.relations) for term in set(columns[1])}
    heads, relations, tails = (
        [names[term] for term in column] for names, column in zip((entities, kinds, entities), columns, strict=True)
    )
    graph = name_quoted_heads(Graph.from_columns(heads, relations, tails), base.entities)
    return note_terms(replace(graph, notes=(*graph.notes, *notes)))


def _parse(path: Path) -> list[Any]:
    try:
        return parse_rdf("TURTLE", path=path)
    except SyntaxError as error:
        raise syntax_error(path, error.lineno or 1, error) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: the file cannot be read ({error}).") from None


def _without_annotations(quads: list[Any]) -> tuple[list[tuple[str, str, str]], list[str]]:
    annotating = {str(quad.subject) for quad in quads if quad.predicate.value == REIFIES} | _statements(quads)
    triples = [
        (str(quad.subject), str(quad.predicate), str(quad.object))
        for quad in quads
        if str(quad.subject) not in annotating
    ]
    notes = [f"{len(annotating)} annotations of triples are left out."] if annotating else []
    return triples, notes


def _statements(quads: list[Any]) -> set[str]:
    """Return what is a statement about a triple: what has a subject, a predicate and an object."""
    having = [{str(quad.subject) for quad in quads if quad.predicate.value == f"{RDF}{part}"} for part in PARTS]
    return set.intersection(*having)


def write(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write the triples, each with its annotation (RDF 1.2) if there are columns for one."""
    annotation = _annotation(extras, "' {| '", "' |}'")
    write_lines(path, _columns(graph, base, extras), f"{TRIPLE} || {annotation} || ' .'")


def write_statements(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write the triples, each followed by a statement about it (rdf:Statement) if there are columns for one."""
    parts = [f"'<{RDF}{part}> ' || {name}" for part, name in zip(PARTS, ("head", "relation", "tail"), strict=True)]
    about = " || ' ; ' || ".join([f"' .' || chr(10) || '[] a <{RDF}Statement>'", *parts, "''"])
    annotation = _annotation(extras, about, "''")
    write_lines(path, _columns(graph, base, extras), f"{TRIPLE} || {annotation} || ' .'")


TRIPLE = "head || ' ' || relation || ' ' || tail"


def _columns(graph: Graph, base: Bases, extras: Mapping[str, Any]) -> dict[str, Any]:
    return {**term_columns(graph, base), **{f"x_{name}": np.asarray(values) for name, values in extras.items()}}


def _annotation(extras: Mapping[str, Any], before: str, after: str) -> str:
    """Return the SQL of all properties between two others; without a value a property, without any all is left out."""
    if not extras:
        return "''"
    properties = ", ".join(_property(name, np.asarray(values)) for name, values in extras.items())
    return f"coalesce({before} || nullif(concat_ws(' ; ', {properties}), '') || {after}, '')"


def _property(name: str, values: Any) -> str:
    """Return the SQL of one property: a number as xsd:double, anything else as a string."""
    column = f'"x_{name}"'
    if np.issubdtype(values.dtype, np.number):
        # Every digit, and infinity by the name that xsd:double has for it.
        number = f"CAST({column} AS DOUBLE)"
        text = f"CASE WHEN isinf({number}) THEN upper(CAST({number} AS VARCHAR)) ELSE CAST({number} AS VARCHAR) END"
        value = f"'\"' || {text} || '\"^^<{DOUBLE}>'"
    else:
        value = f"CAST({column} AS VARCHAR)"
        for plain, escaped in (("'\\'", "'\\\\'"), ("'\"'", "'\\\"'"), ("chr(10)", "'\\n'"), ("chr(13)", "'\\r'")):
            value = f"replace({value}, {plain}, {escaped})"
        value = f"'\"' || {value} || '\"'"
    return f"{quote(f'<{VOCABULARY}{name}> ')} || {value}"
