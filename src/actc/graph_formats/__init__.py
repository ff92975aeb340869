"""Graphs in and out: one format per file, chosen by the file's name or by its own.

Every reader says what it leaves out (``Graph.notes``) and names the line of what it cannot read; every writer writes
beside its place and renames at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actc.errors import ChoiceError, FileError, OptionError
from actc.files import write_beside
from actc.graph import Graph
from actc.graph_formats import id_files, kgtk, neo4j, ntriples, quickstatements, tables, turtle

Extras = Mapping[str, Any]


@dataclass(frozen=True)
class GraphFormat:
    """One way to write a graph down.

    Parameters
    ----------
    summary : str
    suffixes : tuple of str
        Endings of the file names it goes by.
    read : callable
        (path, base) to a graph.
    write : callable
        (path, graph, base, extras): ``extras`` are columns beside the triples, empty where a format has no place for
        them.
    carries : bool
        Whether it has a place for such columns.
    is_folder : bool
        Whether it is a folder of several files.
    """

    summary: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, str], Graph]
    write: Callable[[Path, Graph, str, Extras], None]
    carries: bool = False
    is_folder: bool = False


def read_graph(path: str | Path, format: str | None = None, base: str = "") -> Graph:
    """Read a graph.

    Parameters
    ----------
    path : path
    format : str, optional
        A name in ``FORMATS``; by the file's name if not given.
    base : str
        What IRIs begin with in RDF but names do not: ``http://www.wikidata.org/entity/``. It is taken off.
    """
    path = Path(path)
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    found = find_format(path, format)
    if path.is_dir() != found.is_folder:
        raise FileError(f"{path} is {'a folder' if path.is_dir() else 'a file'}; {found.summary} was expected.")
    graph = found.read(path, base)
    if not len(graph):
        raise FileError(f"{path}: there is no triple in the file. {' '.join(graph.notes)}".rstrip())
    return graph


def write_graph(
    path: str | Path, graph: Graph, format: str | None = None, base: str = "", extras: Extras | None = None
) -> None:
    """Write a graph, and columns beside its triples where the format has a place for them.

    Parameters
    ----------
    path : path
    graph : Graph
    format, base
        As in :func:`read_graph`; here ``base`` is put before names that are not IRIs.
    extras : dict of columns, optional
        Aligned with the triples: score, probability, threshold, method, date, decided_by.
    """
    path = Path(path)
    found = find_format(path, format)
    if extras and not found.carries:
        raise OptionError(f"{found.summary} has no place for {', '.join(extras)}; write those to a table beside it.")
    if found.is_folder:
        found.write(path, graph, base, extras or {})
        return
    with write_beside(path) as temporary:
        # Writers that look at the suffix need the one that was asked for.
        named = temporary.with_name(temporary.name + "".join(path.suffixes[-2:]))
        try:
            found.write(named, graph, base, extras or {})
            named.replace(temporary)
        finally:
            named.unlink(missing_ok=True)


def find_format(path: Path, name: str | None) -> GraphFormat:
    """Find a format by its name, or by the file's."""
    if name is not None:
        if name not in FORMATS:
            raise ChoiceError("graph format", name, FORMATS)
        return FORMATS[name]
    if path.is_dir():
        holds = {"openke": id_files.OPENKE.entities, "libkge": id_files.LIBKGE.entities}
        return FORMATS[next((kind for kind, file in holds.items() if (path / file).is_file()), "neo4j")]
    ending = path.name.lower()
    for found in FORMATS.values():
        if any(ending.endswith(suffix) for suffix in found.suffixes):
            return found
    known = ", ".join(suffix for found in FORMATS.values() for suffix in found.suffixes)
    raise OptionError(f"{path}: no graph format goes by that name; it may end in {known}; or give a format.")


FORMATS = {
    "kgtk": GraphFormat("KGTK edges", (".kgtk.tsv", ".kgtk.tsv.gz", ".kgtk"), kgtk.read, kgtk.write, carries=True),
    "quickstatements": GraphFormat(
        "Wikidata QuickStatements",
        (".qs", ".quickstatements"),
        quickstatements.read,
        quickstatements.write,
        carries=True,
    ),
    "tsv": GraphFormat("Tab-separated triples", (".tsv", ".txt", ".tsv.gz"), tables.read, tables.write, carries=True),
    "csv": GraphFormat("Comma-separated triples", (".csv", ".csv.gz"), tables.read, tables.write, carries=True),
    "parquet": GraphFormat("Parquet triples", (".parquet",), tables.read, tables.write, carries=True),
    "ntriples": GraphFormat("N-Triples", (".nt", ".nt.gz"), ntriples.read, ntriples.write),
    "turtle": GraphFormat("Turtle", (".ttl", ".turtle"), turtle.read, turtle.write, carries=True),
    "neo4j": GraphFormat("Neo4j import CSV, a folder", (), neo4j.read, neo4j.write, carries=True, is_folder=True),
    "openke": GraphFormat("OpenKE's folder", (), id_files.OPENKE.read_graph, id_files.OPENKE.write, is_folder=True),
    "libkge": GraphFormat("LibKGE's folder", (), id_files.LIBKGE.read_graph, id_files.LIBKGE.write, is_folder=True),
}
