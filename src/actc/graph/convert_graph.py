"""A graph written in another format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from actc.graph.formats import check_format, read_extras, read_graph, write_graph
from actc.graph.graph import Graph
from actc.graph.terms import Base


@dataclass(frozen=True, eq=False)
class Converted:
    """A graph that was written in another format.

    Parameters
    ----------
    graph : Graph
    notes : tuple of str
        What a person should know: what was left out, and why.
    """

    graph: Graph
    notes: tuple[str, ...] = ()


def convert_graph(
    graph: str | Path, out: str | Path, *, source: str | None = None, target: str | None = None, base: Base = ""
) -> Converted:
    """Write a graph in another format, as ``actc convert`` does.

    Parameters
    ----------
    graph, out : path
        What to read and where to write; the endings name the formats.
    source, target : str, optional
        The formats, where the names do not say them.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    """
    written = check_format(Path(out), target)
    found = read_graph(Path(graph), source, base)
    extras = read_extras(Path(graph), found, source)
    write_graph(Path(out), found, target, base, extras if written.carries else None)
    lost = [f"{written.summary} has no place for {', '.join(extras)}: left out."] if extras else []
    return Converted(found, (*found.notes, *([] if written.carries else lost)))
