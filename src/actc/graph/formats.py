"""Graphs in and out: one format per file, chosen by the ending of the file's name.

Every reader notes what it leaves out (``Graph.notes``) and names the line of what it cannot read; every writer writes
beside its place and renames at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.deliver import write_beside
from actc.data.files import write_triples
from actc.data.frames import TRIPLE, Columns, read_frame
from actc.data.progress import Progress, ignore_progress
from actc.data.text_files import check_file
from actc.data.triples import Triples
from actc.errors import FileError, OptionError, TableError
from actc.graph.client import is_store, refuse_store_options
from actc.graph.graph import Graph, is_missing, read_provenance, read_table
from actc.graph.rdf import (
    Base,
    Bases,
    as_bases,
    read_ntriples,
    read_rdf,
    term_columns,
    write_lines,
    write_ntriples,
    write_rdf,
    write_statements,
)
from actc.graph.read_sparql import fetch_graph

Extras = Mapping[str, Any]


@dataclass(frozen=True)
class GraphFormat:
    """One way to write a graph down."""

    summary: str
    suffixes: tuple[str, ...]  # endings of the file names it goes by
    read: Callable[[Path, Bases], Graph]  # (path, bases) to a graph
    # (path, graph, bases, extras): ``extras`` are columns beside the triples, empty where a format has no place for
    # them
    write: Callable[[Path, Graph, Bases, Extras], None]
    carries: bool = False  # whether it has a place for such columns


def as_graph(given: Any) -> Graph:
    """Return the graph of a file, a table of triples, a data frame, rows of names, or PyKEEN's triples factory."""
    if isinstance(given, str | Path):
        return read_graph(given)
    if isinstance(given, Triples):
        return Graph.of(given)
    if hasattr(given, "label_triples"):
        given = given.label_triples(given.mapped_triples)
    if not isinstance(given, np.ndarray | list | tuple):
        return Graph.from_columns(*read_frame(given, TRIPLE))
    names = np.asarray(given, dtype=object)
    if names.ndim != 2 or names.shape[1] != 3:
        raise OptionError(f"Rows of head, relation and tail were expected, not an array of shape {names.shape}.")
    return Graph.from_columns(*names.T)


def read_graph(path: str | Path, base: Base = "", columns: Columns = None) -> Graph:
    """Read a graph.

    Parameters
    ----------
    path : path
        Its ending names the format.
    base : str, or two of them
        What IRIs begin with in RDF but names do not: ``http://www.wikidata.org/entity/``. It is taken off. A second one
        is that of relations: ``http://www.wikidata.org/prop/direct/``.
    columns : str or dict, optional
        The names of a table's columns: ``head=subj,relation=verb,tail=obj``.
    """
    bases = as_bases(base)
    path = Path(path)
    if str(path).startswith("sparql:"):
        raise OptionError(f"{path} is a store; a file is read here: make one with actc convert … --out graph.nt")
    check_file(path)
    graph = find_format(path).read(path, bases) if columns is None else read_table(path, bases, columns)
    if not len(graph):
        raise FileError(f"{path}: there is no triple in the file. {' '.join(graph.notes)}".rstrip())
    return graph


def write_graph(path: str | Path, graph: Graph, base: Base = "", extras: Extras | None = None) -> None:
    """Write a graph, and columns beside its triples where the format has a place for them.

    Parameters
    ----------
    path : path
        Its ending names the format.
    graph : Graph
    base
        As in :func:`read_graph`; here it is put before names that are not IRIs.
    extras : dict of columns, optional
        Aligned with the triples: score, probability, threshold, method, date, by.
    """
    path, bases = Path(path), as_bases(base)
    format = find_format(path)
    if extras and not format.carries:
        raise OptionError(f"{format.summary} has no place for {', '.join(extras)}; write those to a table beside it.")
    with write_beside(path) as temporary:
        format.write(temporary, graph, bases, extras or {})


def refuse_names(path: Path, triples: Triples, base: Base) -> None:
    """Refuse names that a graph in the format of a file cannot hold."""
    if find_format(path).read is not read_table:
        term_columns(Graph.of(triples), as_bases(base))


def read_extras(path: str | Path, graph: Graph, columns: Columns = None) -> dict[str, Any]:
    """Read the columns beside a graph's triples that say where a fact comes from, as far as they are there."""
    path = Path(path)
    return read_provenance(path, graph, columns) if find_format(path).read is read_table else {}


def find_format(path: Path) -> GraphFormat:
    """Find the format that a file's name names."""
    ending = find_ending(path)
    return next(format for format in FORMATS.values() if ending in format.suffixes)


def find_ending(path: Path) -> str:
    """Return the ending of a graph's name: the longest, as .statements.ttl is more specific than .ttl."""
    endings = [suffix for format in FORMATS.values() for suffix in format.suffixes]
    fitting = [ending for ending in endings if path.name.lower().endswith(ending)]
    if not fitting:
        raise OptionError(f"{path}: no graph format has this ending; save it under one of: {', '.join(endings)}.")
    return max(fitting, key=len)


def as_table(path: Path, base: Base, folder: Path, columns: Columns = None) -> Path:
    """Return a plain table with a graph's triples: its own file, or one that is written into a folder."""
    if columns is None and find_format(path).read is read_table:
        return path
    table = folder / "graph-names.parquet"
    write_graph(table, read_graph(path, base, columns))
    return table


HEURISTIC = "Q2539"  # machine learning
PEOPLE = ("person", "oracle")
"""Who decides by knowing, not by a heuristic: a person, or a file in their place."""


def write_quickstatements(path: Path, graph: Graph, base: Bases, extras: Extras) -> None:
    """Write Wikidata QuickStatements (version 1), a statement a line.

    A statement that a method decided gets the reference "based on heuristic" (P887), and "retrieved" (P813) if it has a
    date; a statement of a person, or of the graph as it was, gets none.
    """
    for letter, names, kind in (
        ("Q", graph.entity_names, "an item (Q…)"),
        ("P", graph.relation_names, "a property (P…)"),
    ):
        wrong = next((name for name in names if not re.fullmatch(f"{letter}[1-9][0-9]*", name)), None)
        if wrong is not None:
            raise TableError(f"{wrong!r} is not the id of {kind}; QuickStatements takes Wikidata's ids only.")
    nothing = [None] * len(graph)
    columns = [list(column) for column in graph.columns().values()]
    decided = (list(extras.get(name, nothing)) for name in ("method", "by", "date"))
    rows = zip(*columns, *decided, strict=True)
    write_lines(path, [f"{head}\t{relation}\t{tail}{_reference(*how)}\n" for head, relation, tail, *how in rows])


def _reference(method: Any, by: Any, date: Any) -> str:
    """Return the reference of a statement: none if a person decided it, or nobody."""
    if by in PEOPLE or (is_missing(method) and by not in ("method", "judges")):
        return ""
    day = "" if is_missing(date) else str(date)[:10]
    if day and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", day):
        raise TableError(f"{str(date)!r} is no date (column date); write it as 2026-11-15.")
    return f"\tS887\t{HEURISTIC}" + (f"\tS813\t+{day}T00:00:00Z/11" if day else "")


def _refuse_quickstatements(path: Path, base: Bases) -> Graph:
    raise FileError(f"{path}: QuickStatements are written, not read; give the graph as a table or as N-Triples.")


def _table(summary: str, *suffixes: str) -> GraphFormat:
    return GraphFormat(
        summary,
        suffixes,
        read_table,
        lambda path, graph, base, extras: write_triples(path, {**graph.columns(), **extras}),
        carries=True,
    )


FORMATS = {
    "quickstatements": GraphFormat(
        "Wikidata QuickStatements",
        (".qs", ".quickstatements"),
        _refuse_quickstatements,
        write_quickstatements,
        carries=True,
    ),
    "tsv": _table("Tab-separated triples", ".tsv", ".txt", ".tsv.gz"),
    "csv": _table("Comma-separated triples", ".csv", ".csv.gz"),
    "jsonl": _table("JSON lines of triples", ".jsonl", ".ndjson", ".jsonl.gz"),
    "parquet": _table("Parquet triples", ".parquet"),
    "ntriples": GraphFormat("N-Triples", (".nt", ".nt.gz"), read_ntriples, write_ntriples),
    "turtle-statements": GraphFormat(
        "Turtle with statements about triples",
        (".statements.ttl",),
        partial(read_rdf, "TURTLE"),
        write_statements,
        carries=True,
    ),
    "turtle": GraphFormat("Turtle", (".ttl", ".turtle"), partial(read_rdf, "TURTLE"), write_ntriples),
    "nquads": GraphFormat("N-Quads", (".nq", ".nq.gz"), partial(read_rdf, "N_QUADS"), write_ntriples),
    "trig": GraphFormat("TriG", (".trig",), partial(read_rdf, "TRIG"), partial(write_rdf, "TRIG")),
    "rdfxml": GraphFormat("RDF/XML", (".rdf", ".owl"), partial(read_rdf, "RDF_XML"), partial(write_rdf, "RDF_XML")),
    "jsonld": GraphFormat("JSON-LD", (".jsonld",), partial(read_rdf, "JSON_LD"), partial(write_rdf, "JSON_LD")),
}


def convert_graph(
    graph: str | Path,
    out: str | Path,
    *,
    base: Base = "",
    graphs: Sequence[str] = (),
    key_from: str | None = None,
    columns: Columns = None,
    progress: Progress = ignore_progress,
) -> Graph:
    """Write a graph in another format, as ``actc convert`` does.

    Parameters
    ----------
    graph : path or str
        A file whose ending names the format, or a store: ``sparql:http://host/query``.
    out : path
        Where to write; the ending names the format.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    graphs : sequence of str
        Of a store: IRIs of named graphs; without any the default graph.
    key_from : str, optional
        Of a store: the environment variable that holds a bearer token, or user:password.
    columns : str or dict, optional
        Of a table: the names of its columns.
    progress : callable
        Called with triples read from a store, triples in all.

    Returns
    -------
    Graph
        The graph; its ``notes`` are what a person should know: what was left out, and why.
    """
    format = find_format(Path(out))
    if is_store(str(graph)):
        fetched = Path(f"{out}.graph.nt")
        if fetched.exists():
            raise FileError(f"{fetched} is there already; the store is read into it: choose another name.")
        try:
            notes = fetch_graph(str(graph), fetched, graphs, key_from, progress)
            read = convert_graph(fetched, out, base=base)
        finally:
            fetched.unlink(missing_ok=True)
        return replace(read, notes=(*notes, *read.notes))
    refuse_store_options(graph, graphs, key_from)
    read = read_graph(graph, base, columns)
    extras = read_extras(graph, read, columns)
    write_graph(out, read, base, extras if format.carries else None)
    if format.carries or not extras:
        return read
    return replace(read, notes=(*read.notes, f"{format.summary} has no place for {', '.join(extras)}: left out."))
