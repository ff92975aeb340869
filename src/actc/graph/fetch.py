"""A store's graph as a file, so that whatever reads a graph reads a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from actc.data.deliver import write_beside
from actc.data.files import quote
from actc.data.progress import Progress, ignore_progress
from actc.errors import OptionError
from actc.graph.address import Store
from actc.graph.client import SparqlClient, refuse_odd_iri
from actc.graph.encode import connect
from actc.graph.graph import note_repeats
from actc.graph.read_sparql import lines_of, read_triples

ENDING = ".nt"


def fetch_graph(
    store: str | Store,
    out: str | Path,
    graphs: Sequence[str] = (),
    key_from: str | None = None,
    user_from: str | None = None,
    progress: Progress = ignore_progress,
) -> tuple[str, ...]:
    """Read a store's graph into a file of N-Triples, sorted: complete, or not at all.

    Parameters
    ----------
    store : str or Store
        ``sparql:http://host/query``.
    out : path
        A file that ends in .nt.
    graphs : sequence of str
        IRIs of named graphs; without any the default graph.
    key_from, user_from : str, optional
        Environment variables that hold a bearer token, or user:password.
    progress : callable
        Called with triples read, triples in all.

    Returns
    -------
    tuple of str
        What a person should know: what was left out or changed.
    """
    found, out = store if isinstance(store, Store) else Store.of(store, key_from, user_from), Path(out)
    if out.suffix != ENDING:
        raise OptionError(f"{out}: a store is read into a file that ends in {ENDING}.")
    named = tuple(dict.fromkeys(refuse_odd_iri(graph, "--graph") for graph in graphs)) or ("",)
    with write_beside(out) as unfinished:
        lines = unfinished.with_name("lines")
        lines.mkdir()
        with SparqlClient(found) as client:
            notes = read_triples(client, named, lines, progress)
        repeats = _sort(lines, unfinished)
    return (*notes, *note_repeats(repeats))


def _sort(lines: Path, out: Path) -> int:
    """Write lines in order, each once, so that a store that did not change gives the same file; return the repeats."""
    source = lines_of(*sorted(lines.iterdir()))
    with connect(lines) as connection:
        written = connection.execute(
            f"COPY (SELECT DISTINCT line FROM {source} ORDER BY line) "
            f"TO {quote(str(out))} "
            "(FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE '')"
        ).fetchone()[0]
        return int(connection.execute(f"SELECT count(*) FROM {source}").fetchone()[0]) - int(written)
