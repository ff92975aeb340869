"""RDF terms and plain names: an IRI is named by itself, less a base; other terms by their N-Triples text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from actc.database import open_database
from actc.errors import FileError, MissingExtraError, TableError
from actc.graph import Graph

# Written for two engines: Python's and DuckDB's (RE2), which has no look-around.
IRI = r"[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{}|^`\\]*"
BLANK = r"_:[^\x00-\x20<>\"{}|^`\\]*[^\x00-\x20<>\"{}|^`\\.]"
LITERAL = r"\"(?:[^\"\\\n\r]|\\.)*\"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^<" + IRI + ">)?"
WITH_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://.*")


def to_terms(names: Sequence[str], base: str, may_be_literal: Sequence[bool]) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Return each name as an N-Triples term: IRIs in brackets, blank nodes and literals as they are.

    Parameters
    ----------
    names : sequence of str
    base : str
        Put before names that are not IRIs.
    may_be_literal : sequence of bool
        False for relations and for names at the head of a triple, where no literal can stand.
    """
    pairs = zip(names, may_be_literal, strict=True)
    return np.array([_to_term(name, base, literal) for name, literal in pairs], dtype=object)


def _to_term(name: str, base: str, may_be_literal: bool) -> str:
    if may_be_literal and re.fullmatch(LITERAL, name):
        return name
    return name if re.fullmatch(BLANK, name) else f"<{to_iri(name, base)}>"


def to_iri(name: str, base: str) -> str:
    """Return a name as an IRI: itself, or the base and the name with whatever an IRI cannot hold escaped."""
    if base and not WITH_SCHEME.fullmatch(name):
        # A colon is escaped too: otherwise "a:b" would come back as an IRI of its own.
        return base + quote(name, safe="")
    if not re.fullmatch(IRI, name):
        raise TableError(f"{name!r} is no IRI; give a base to put before names, such as http://example.org/")
    return name


def from_term(term: str, base: str) -> str:
    """Return the name of an N-Triples term."""
    if not term.startswith("<"):
        return term
    iri = term[1:-1]
    return unquote(iri[len(base) :]) if base and iri.startswith(base) else iri


def term_columns(graph: Graph, base: str) -> dict[str, Any]:
    """Return the terms of a graph's triples: head, relation, tail, each an object array of shape (N,)."""
    never_head = np.ones(len(graph.entity_names), dtype=np.bool_)
    never_head[graph.heads] = False
    entities = to_terms(graph.entity_names, base, never_head.tolist())
    relations = to_terms(graph.relation_names, base, [False] * len(graph.relation_names))
    return {"head": entities[graph.heads], "relation": relations[graph.relations], "tail": entities[graph.tails]}


def note_terms(graph: Graph) -> Graph:
    """Say which triples have an end that is no IRI."""
    blank, literal = (_starting(graph, prefix) for prefix in ("_:", '"'))
    touched, ending = int((blank[graph.heads] | blank[graph.tails]).sum()), int(literal[graph.tails].sum())
    notes = list(graph.notes)
    if touched:
        notes.append(f"{touched} triples have a blank node, kept under its label, which holds in this file only.")
    if ending:
        notes.append(f"{ending} triples end in a literal, kept as N-Triples writes it.")
    return replace(graph, notes=tuple(notes))


def without_literals(graph: Graph) -> Graph:
    """Leave out the triples that end in a literal, which no embedding can learn from; say so."""
    ending = _starting(graph, '"')[graph.tails]
    if not ending.any():
        return graph
    kept = graph.take(~ending)
    columns = kept.columns()
    notes = [note for note in graph.notes if "end in a literal" not in note]
    notes.append(f"{int(ending.sum())} triples that end in a literal are left out.")
    heads, relations, tails = (columns[name].tolist() for name in ("head", "relation", "tail"))
    return Graph.from_columns(heads, relations, tails, tuple(notes))


def _starting(graph: Graph, prefix: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.array([name.startswith(prefix) for name in graph.entity_names], dtype=np.bool_)


def import_pyoxigraph() -> Any:
    """Import pyoxigraph, or say what to install."""
    try:
        import pyoxigraph
    except ImportError:
        raise MissingExtraError("Reading this RDF", "pyoxigraph", "rdf") from None
    return pyoxigraph


def syntax_error(path: Path, line: int, error: Exception) -> FileError:
    """Say in one sentence what pyoxigraph could not parse."""
    problem = re.sub(r"^Parser error at line \d+ (between columns \d+ and \d+|column \d+): ", "", str(error))
    return FileError(f"{path}, line {line}: {re.sub(r' [(]line [0-9]+[)]$', '', problem)}.")


def write_lines(path: Path, columns: Mapping[str, Any], line: str) -> None:
    """Write one line for each row: an SQL expression of its columns."""
    from actc.files import quote as as_literal

    compression = ", COMPRESSION gzip" if path.suffix == ".gz" else ""
    with open_database() as connection:
        connection.register("rows_to_write", dict(columns))
        # A delimiter that no line can hold, and no quoting: the lines are written as they are.
        connection.execute(
            f"COPY (SELECT {line} FROM rows_to_write) TO {as_literal(str(path))} "
            f"(FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE ''{compression})"
        )
