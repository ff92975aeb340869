"""The argument GRAPH: a file, or a store, which is read into a file before the command begins."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from actc.cli.parts import claim_output, credential_options, graph_option, progress_bar, say

BESIDE = ".graph.nt"
"""What is added to the name of the output for the file that a store is read into."""


def takes_graph(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument GRAPH, and options for stores; the command gets a path."""

    @wraps(command)
    def run(graph: str, graphs: tuple[str, ...], key_from: str | None, user_from: str | None, **options: Any) -> Any:
        from actc.errors import OptionError
        from actc.graph.client import Store, is_store

        if not is_store(graph):
            given = [
                name
                for name, value in (("--graph", graphs), ("--key-from", key_from), ("--user-from", user_from))
                if value
            ]
            if given:
                raise OptionError(f"{given[0]} is for stores; {graph} is a file.")
            return command(graph=Path(graph), **options)
        store = Store.of(graph, key_from, user_from)
        with _fetched(store, graphs, **{name: options.get(name) for name in ("out", "overwrite", "quiet")}) as path:
            return command(graph=path, **options)

    return click.argument("graph")(graph_option(credential_options(run)))


@contextmanager
def _fetched(
    store: Any, graphs: tuple[str, ...], out: Path | None, overwrite: bool | None, quiet: bool | None
) -> Iterator[Path]:
    """Read a store into a file beside the output; it stays where the output is a folder, which may be gone on with."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="actc-") as folder:
            yield _fetch(store, Path(folder) / f"graph{BESIDE}", graphs, bool(quiet))
        return
    if overwrite is not None and not out.is_dir():
        claim_output(out, overwrite=overwrite)  # before long work; the command itself asks again
    path = Path(f"{out if out.name else out.absolute()}{BESIDE}")  # "." has no name
    claim_output(path, overwrite=overwrite is not False)  # a command without --overwrite goes on in its own folder
    try:
        yield _fetch(store, path, graphs, bool(quiet))
    finally:
        if not out.is_dir():
            path.unlink(missing_ok=True)


def _fetch(store: Any, path: Path, graphs: tuple[str, ...], quiet: bool) -> Path:
    from actc.graph.read_sparql import fetch_graph

    with progress_bar("Triples", quiet) as advance:
        notes = fetch_graph(store, path, graphs, progress=advance)
    say(quiet, *notes)
    return path
