"""RDF: Turtle, TriG, N-Quads, RDF/XML and JSON-LD, as pyoxigraph reads them, and out again.

Named graphs are taken together. Annotations of triples, whether RDF 1.2's or statements, are left out, with a note. In
Turtle columns beside a triple are written as its annotation: as RDF 1.2 has it, ``s p o {| … |} .``, or as a statement
about it (rdf:Statement), which every reader of RDF takes.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.files import check_gzip, quote
from actc.errors import FileError, TableError
from actc.graph.graph import Graph
from actc.graph.terms import (
    RDF,
    REIFIES,
    XSD,
    Bases,
    entity_name,
    import_pyoxigraph,
    name_quoted_heads,
    note_terms,
    parse_rdf,
    relation_name,
    syntax_error,
    term_columns,
    write_lines,
)

TOO_LONG = "a line, a text or a comment in it is longer than 16 MB, or there is not enough memory; split the file."
PARTS = ("subject", "predicate", "object")


def reader(syntax: str) -> Callable[[Path, Bases], Graph]:
    """Return a function that reads files of a syntax, a name in pyoxigraph's ``RdfFormat``."""

    def read(path: Path, base: Bases) -> Graph:
        quads = _parse(path, syntax)
        triples, notes = _without_annotations(quads)
        columns = list(zip(*triples, strict=True)) or [(), (), ()]
        entities = {term: entity_name(term, base.entities) for term in {*columns[0], *columns[2]}}
        kinds = {term: relation_name(term, base.relations) for term in set(columns[1])}
        heads, relations, tails = (
            [names[term] for term in column] for names, column in zip((entities, kinds, entities), columns, strict=True)
        )
        graph = name_quoted_heads(Graph.from_columns(heads, relations, tails), base.entities)
        return note_terms(replace(graph, notes=(*graph.notes, *notes, *_note_graphs(quads))))

    return read


def writer(syntax: str) -> Callable[[Path, Graph, Bases, Mapping[str, Any]], None]:
    """Return a function that writes files of a syntax, a name in pyoxigraph's ``RdfFormat``."""

    def write(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
        oxigraph, terms = import_pyoxigraph(), term_columns(graph, base)
        columns = (terms[name].tolist() for name in ("head", "relation", "tail"))
        lines = "\n".join(f"{' '.join(triple)} ." for triple in zip(*columns, strict=True))
        quads = parse_rdf("N_TRIPLES", input=lines)
        if syntax == "RDF_XML":
            _refuse_what_xml_cannot_hold(quads)
        triples = (oxigraph.Triple(quad.subject, quad.predicate, quad.object) for quad in quads)
        oxigraph.serialize(triples, str(path), format=getattr(oxigraph.RdfFormat, syntax))

    return write


def _refuse_what_xml_cannot_hold(quads: list[Any]) -> None:
    for relation in sorted({quad.predicate.value for quad in quads}):
        if not re.search(r"[A-Za-z_][\w.\-]*$", relation):
            raise TableError(f"RDF/XML has no name for the relation {relation}: it must end in a letter's word.")
    texts = (quad.object.value for quad in quads if hasattr(quad.object, "datatype"))
    odd = next((text for text in texts if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", text)), None)
    if odd is not None:
        raise TableError(f"RDF/XML cannot hold the text {odd[:50]!r}: XML has no place for its control characters.")


def _parse(path: Path, syntax: str) -> list[Any]:
    if syntax == "RDF_XML":
        refuse_doctype(path, path.read_bytes())
    try:
        check_gzip(path)
        source = {"input": gzip.decompress(path.read_bytes())} if path.suffix.lower() == ".gz" else {"path": path}
        return parse_rdf(syntax, **source)
    except SyntaxError as error:
        raise syntax_error(path, error.lineno or 1, error) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: the file cannot be read ({error}).") from None
    except MemoryError:
        raise FileError(f"{path}: {TOO_LONG}") from None


def refuse_doctype(path: Path, content: bytes) -> None:
    """Refuse RDF/XML with a DOCTYPE: its entities can turn a few lines into more than memory holds."""
    if re.search(rb"<!doctype", content, re.IGNORECASE):
        raise FileError(f"{path}: RDF/XML with a DOCTYPE is not read; save the graph as Turtle or N-Triples.")


def _note_graphs(quads: list[Any]) -> list[str]:
    named = {str(quad.graph_name) for quad in quads} - {"DEFAULT"}
    return [f"{len(named)} named graphs are taken together."] if named else []


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


VOCABULARY = "urn:actc:"
DOUBLE = f"{XSD}double"


def write_turtle(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write Turtle: the triples, each with its annotation (RDF 1.2) if there are columns for one."""
    annotation = _annotation(extras, "' {| '", "' |}'")
    write_lines(path, _columns(graph, base, extras), f"{TRIPLE} || {annotation} || ' .'")


def write_statements(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write Turtle: the triples, each followed by a statement about it (rdf:Statement) if there are columns for one."""
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
