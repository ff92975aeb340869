"""A SPARQL store that is written to: lines of N-Triples into a named graph and out of it, in chunks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from actc.data.progress import Progress, ignore_progress
from actc.errors import StoreError
from actc.graph.client import SparqlClient, StoreAddress, refuse_odd_iri
from actc.graph.read_sparql import count_triples, match_triples, read_triples

CHUNK, SMALL = 10_000, 500
"""Lines in one update; and the number that is tried when a store refuses more: Virtuoso takes a thousand."""
MANY = 100_000
"""Triples that are taken out at once."""
QUERIES = {"/update": "/query", "/statements": "", "/sparql-auth": "/sparql"}
"""How the address of updates ends, and that of queries in its place: Oxigraph and Jena, GraphDB, Virtuoso."""


class SparqlTarget:
    """A store with an address for updates and one for queries; a graph without a name is the default graph."""

    def __init__(self, store: StoreAddress, query_at: str | None = None) -> None:
        ending = next((ending for ending in QUERIES if store.url.endswith(ending)), "")
        url = query_at or store.url.removesuffix(ending) + QUERIES.get(ending, "")
        self.most = CHUNK
        self.store = store
        self.updates = SparqlClient(store)
        self.queries = SparqlClient(StoreAddress.of(f"sparql:{url}").with_secrets_of(store))

    def __enter__(self) -> SparqlTarget:
        """Return the target."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Close the connections."""
        self.updates.__exit__()
        self.queries.__exit__()

    def count(self, graph: str) -> int:
        """Count the triples of a graph."""
        return sum(count_triples(self.queries, graph).values())

    def find(self, triples: list[str], graph: str) -> list[int]:
        """Return the places of the triples that a graph contains."""
        pattern = match_triples(refuse_odd_iri(graph, "--graph") if graph else "")
        places: set[int] = set()
        for chunk in _chunks(range(len(triples)), SMALL):
            values = " ".join(f"({place} {triples[place]})" for place in chunk)
            query = f"SELECT DISTINCT ?place WHERE {{ VALUES (?place ?s ?p ?o) {{ {values} }} {pattern} }}"
            texts = {row.get("place", "") for row in self.queries.select(query)}
            places |= {place for place in chunk if str(place) in texts}
        return sorted(places)

    def insert(self, graph: str, lines: Iterable[str], progress: Progress = ignore_progress, total: int = 0) -> None:
        """Insert lines into a graph."""
        for chunk in _chunks(lines, CHUNK):
            self._update("INSERT", graph, chunk)
            progress(len(chunk), total)

    def delete(self, graph: str, lines: list[str]) -> None:
        """Delete lines from a graph."""
        self._update("DELETE", graph, lines)

    def _update(self, verb: str, graph: str, lines: list[str]) -> None:
        """Insert or delete lines; in small chunks from then on, where the store refuses a large one."""
        for start in range(0, len(lines), self.most):
            part = lines[start : start + self.most]
            text = "".join(part)
            data = f"GRAPH <{graph}> {{\n{text}}}" if graph else f"\n{text}"
            try:
                self.updates.update(f"{verb} DATA {{ {data} }}")
            except StoreError:
                if len(part) <= SMALL:
                    raise
                self.most = SMALL
                self._update(verb, graph, part)

    def expect(self, graph: str, wanted: int) -> None:
        """Refuse a store whose graph does not have as many triples as were written."""
        count = self.count(graph)
        if count != wanted:
            raise StoreError(f"{self.store}: {graph} has {count:,} facts, not {wanted:,}; publish it again.")

    def drop(self, graph: str) -> None:
        """Take out a named graph, a large one in chunks: a server may give up on one long transaction."""
        for _ in range(self.count(graph) // MANY):
            some = f"{{ SELECT ?s ?p ?o WHERE {{ {match_triples(graph)} }} LIMIT {MANY} }}"
            self.updates.update(f"DELETE {{ {match_triples(graph)} }} WHERE {{ {some} }}")
        self.updates.update(f"DROP SILENT GRAPH <{graph}>")
        self.expect(graph, 0)

    def read(self, graph: str) -> str:
        """Read all triples of a graph as N-Triples; none where there is no such graph."""
        if not self.count(graph):
            return ""
        with tempfile.TemporaryDirectory(prefix="actc-") as folder:
            read_triples(self.queries, (graph,), Path(folder), ignore_progress)
            return (Path(folder) / "0.nt").read_text(encoding="utf-8")


def _chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    remaining = iter(items)
    while chunk := list(islice(remaining, size)):
        yield chunk
