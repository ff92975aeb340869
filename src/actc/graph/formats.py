"""Graphs in and out: one format per file, chosen by the file's name or by its own.

Every reader notes what it leaves out (``Graph.notes``) and names the line of what it cannot read; every writer writes
beside its place and renames at the end.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from actc.data.deliver import write_beside
from actc.errors import ActcError, FileError, OptionError, choose
from actc.graph import ntriples, quickstatements, rdf, tables
from actc.graph.graph import Graph
from actc.graph.terms import Base, Bases, as_bases

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

    def ending(self, name: str) -> str:
        """Return the first ending of this format, that of a gzip file if the given name is one's."""
        is_packed = name.lower().endswith(".gz")
        return next((suffix for suffix in self.suffixes if suffix.endswith(".gz") == is_packed), self.suffixes[0])


def read_graph(path: str | Path, format: str | None = None, base: Base = "") -> Graph:
    """Read a graph.

    Parameters
    ----------
    path : path
    format : str, optional
        A name in ``FORMATS``; by the file's name if not given.
    base : str, or two of them
        What IRIs begin with in RDF but names do not: ``http://www.wikidata.org/entity/``. It is taken off. A second one
        is that of relations: ``http://www.wikidata.org/prop/direct/``.
    """
    bases = as_bases(base)
    path = Path(path)
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    if path.is_dir():
        raise FileError(f"{path} is a folder; a graph is one file, such as graph.tsv or graph.nt.")
    found = find_format(path, format)
    if not path.is_file():
        raise FileError(f"{path} is no ordinary file; write what it gives into one first.")
    with _under_its_ending(path, found) as named:
        graph = found.read(named, bases)
    if not len(graph):
        raise FileError(f"{path}: there is no triple in the file. {' '.join(graph.notes)}".rstrip())
    return graph


def write_graph(
    path: str | Path, graph: Graph, format: str | None = None, base: Base = "", extras: Extras | None = None
) -> None:
    """Write a graph, and columns beside its triples where the format has a place for them.

    Parameters
    ----------
    path : path
    graph : Graph
    format, base
        As in :func:`read_graph`; here ``base`` is put before names that are not IRIs.
    extras : dict of columns, optional
        Aligned with the triples: score, probability, threshold, method, date, by.
    """
    path, bases = Path(path), as_bases(base)
    found = check_format(path, format, extras or {})
    with write_beside(path) as temporary:
        # Writers that look at the ending need that of the format.
        named = temporary.with_name(temporary.name + found.ending(path.name))
        try:
            with _errors_name(path, named):
                found.write(named, graph, bases, extras or {})
            named.replace(temporary)
        finally:
            named.unlink(missing_ok=True)


def read_extras(path: str | Path, graph: Graph, format: str | None = None) -> dict[str, Any]:
    """Read the columns beside a graph's triples that say where a fact comes from, as far as they are there."""
    path = Path(path)
    found = find_format(path, format)
    if found.read is not tables.read:
        return {}
    with _under_its_ending(path, found) as named:
        return tables.read_extras(named, graph)


def check_format(path: Path, name: str | None, extras: Iterable[str] = ()) -> GraphFormat:
    """Find the format to write in; refuse one without a place for the given columns."""
    found = find_format(path, name)
    if list(extras) and not found.carries:
        raise OptionError(f"{found.summary} has no place for {', '.join(extras)}; write those to a table beside it.")
    return found


@contextmanager
def _under_its_ending(path: Path, found: GraphFormat) -> Iterator[Path]:
    """Give a name of the file that has the format's ending, for readers that look at it."""
    if path.name.lower().endswith(found.suffixes):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="actc-") as folder:
        named = Path(folder) / f"graph{found.ending(path.name)}"
        os.symlink(path.resolve(), named)
        with _errors_name(path, named):
            yield named


@contextmanager
def _errors_name(path: Path, temporary: Path) -> Iterator[None]:
    """Let errors name the file that a person knows, not the temporary one."""
    try:
        yield
    except ActcError as error:
        error.args = tuple(str(part).replace(str(temporary), str(path)) for part in error.args)
        raise


def find_format(path: Path, name: str | None) -> GraphFormat:
    """Find a format by its name, or by the file's."""
    if name is not None:
        return choose("graph format", name, FORMATS)
    endings = {suffix: found for found in FORMATS.values() for suffix in found.suffixes}
    fitting = [suffix for suffix in endings if path.name.lower().endswith(suffix)]
    if fitting:
        return endings[max(fitting, key=len)]  # .statements.ttl is more specific than .ttl
    known = ", ".join(endings)
    raise OptionError(f"{path}: no graph format goes by that name; it may end in {known}; or give a format.")


def as_table(path: Path, base: Base, folder: Path) -> Path:
    """Return a plain table with a graph's triples: its own file, or one that is written into a folder."""
    if find_format(path, None).read is tables.read:
        return path
    table = folder / "graph-names.parquet"
    write_graph(table, read_graph(path, base=base))
    return table


def _table(summary: str, *suffixes: str) -> GraphFormat:
    return GraphFormat(summary, suffixes, tables.read, tables.write, carries=True)


FORMATS = {
    "quickstatements": GraphFormat(
        "Wikidata QuickStatements",
        (".qs", ".quickstatements"),
        quickstatements.read,
        quickstatements.write,
        carries=True,
    ),
    "tsv": _table("Tab-separated triples", ".tsv", ".txt", ".tsv.gz"),
    "csv": _table("Comma-separated triples", ".csv", ".csv.gz"),
    "jsonl": _table("JSON lines of triples", ".jsonl", ".ndjson", ".jsonl.gz"),
    "parquet": _table("Parquet triples", ".parquet"),
    "ntriples": GraphFormat("N-Triples", (".nt", ".nt.gz"), ntriples.read, ntriples.write),
    "turtle-statements": GraphFormat(
        "Turtle with statements about triples",
        (".statements.ttl",),
        rdf.reader("TURTLE"),
        rdf.write_statements,
        carries=True,
    ),
    "turtle": GraphFormat("Turtle", (".ttl", ".turtle"), rdf.reader("TURTLE"), rdf.write_turtle, carries=True),
    "nquads": GraphFormat("N-Quads", (".nq", ".nq.gz"), rdf.reader("N_QUADS"), ntriples.write),
    "trig": GraphFormat("TriG", (".trig",), rdf.reader("TRIG"), rdf.writer("TRIG")),
    "rdfxml": GraphFormat("RDF/XML", (".rdf", ".owl"), rdf.reader("RDF_XML"), rdf.writer("RDF_XML")),
    "jsonld": GraphFormat("JSON-LD", (".jsonld",), rdf.reader("JSON_LD"), rdf.writer("JSON_LD")),
}


def find_ending(path: Path) -> str:
    """Return the ending of a graph's name."""
    endings = [ending for found in FORMATS.values() for ending in found.suffixes if path.name.lower().endswith(ending)]
    return max(endings, key=len)


def convert_graph(
    graph: str | Path, out: str | Path, *, source: str | None = None, target: str | None = None, base: Base = ""
) -> Graph:
    """Write a graph in another format, as ``actc convert`` does.

    Parameters
    ----------
    graph, out : path
        What to read and where to write; the endings name the formats.
    source, target : str, optional
        The formats, where the names do not say them.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.

    Returns
    -------
    Graph
        The graph; its ``notes`` are what a person should know: what was left out, and why.
    """
    written = check_format(Path(out), target)
    found = read_graph(Path(graph), source, base)
    extras = read_extras(Path(graph), found, source)
    write_graph(Path(out), found, target, base, extras if written.carries else None)
    lost = [f"{written.summary} has no place for {', '.join(extras)}: left out."] if extras else []
    return found if written.carries else replace(found, notes=(*found.notes, *lost))
