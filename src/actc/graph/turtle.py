"""Turtle; columns beside a triple are written as its annotation.

In one of two ways: as RDF 1.2 annotates a triple, ``s p o {| … |} .``, or as a statement about it (rdf:Statement),
which every reader of RDF takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.files import quote
from actc.graph.graph import Graph
from actc.graph.rdf import PARTS
from actc.graph.terms import RDF, XSD, Bases, term_columns, write_lines

VOCABULARY = "urn:actc:"
DOUBLE = f"{XSD}double"


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
