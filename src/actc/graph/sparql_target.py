"""A SPARQL store that is written to: chunks of INSERT DATA, in an order that a cut-off run can be repeated from."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.progress import Progress, ignore_progress
from actc.errors import OptionError, StoreError
from actc.graph.client import SparqlClient, Store, refuse_odd_iri
from actc.graph.rdf import PARTS
from actc.graph.read_sparql import count_triples, read_triples
from actc.graph.runs import DEFAULT_GRAPH, REMOVED_FROM, STATEMENTS, TRIPLE_TERMS, Decided, Run
from actc.graph.terms import RDF, parse_rdf

CHUNK, SMALL = 10_000, 500
"""Lines in one update; and the number that is tried when a store refuses more: Virtuoso takes a thousand."""
MANY = 100_000
"""Triples that are taken out at once."""
QUERIES = {"/update": "/query", "/statements": "", "/sparql-auth": "/sparql"}
"""How the address of updates ends, and that of queries in its place: Oxigraph and Jena, GraphDB, Virtuoso."""
TRY = "ASK { BIND(<<( <urn:a> <urn:b> <urn:c> )>> AS ?t) FILTER(isTRIPLE(?t)) }"


class SparqlTarget:
    """A store with an address for updates and one for queries."""

    def __init__(self, store: Store, query_at: str | None = None) -> None:
        ending = next((ending for ending in QUERIES if store.place.endswith(ending)), "")
        place = query_at or store.place.removesuffix(ending) + QUERIES.get(ending, "")
        self.most = CHUNK
        self.updates = SparqlClient(store)
        self.queries = SparqlClient(Store.of(f"sparql:{place}").with_secrets_of(store))

    def __enter__(self) -> SparqlTarget:
        """Return the target."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Close the connections."""
        self.updates.__exit__()
        self.queries.__exit__()

    def find(self, removed: Decided, graphs: tuple[str, ...]) -> dict[str, Decided]:
        """Return which facts each of some graphs holds; an empty name is the default graph's."""
        return {graph: self._held(removed, refuse_odd_iri(graph, "--graph") if graph else "") for graph in graphs}

    def _held(self, removed: Decided, graph: str) -> Decided:
        held: list[int] = []
        pattern = f"GRAPH <{graph}> {{ ?s ?p ?o }}" if graph else "?s ?p ?o"
        for rows in _chunks(iter(range(len(removed))), SMALL):
            values = " ".join(f"({row} {removed.triple(row)})" for row in rows)
            found = self.queries.select(
                f"SELECT DISTINCT ?row WHERE {{ VALUES (?row ?s ?p ?o) {{ {values} }} {pattern} }}"
            )
            held += [int(row["row"]) for row in found if row.get("row", "").isdigit() and int(row["row"]) in rows]
        return removed.take(np.array(sorted(set(held)), dtype=np.int64))

    def describe(self, run: Run) -> list[str]:
        """Describe how the store gets the provenance of facts."""
        form = "triple terms of RDF 1.2" if self.form == TRIPLE_TERMS else "statements (reification)"
        return [f"Where they come from is written as {form} into {run.about}."] if run.facts.extras else []

    @property
    def form(self) -> str:
        """How a fact is spoken of: triple terms, where the store takes them in a query."""
        if not hasattr(self, "_form"):
            self.queries.ask("ASK {}")  # a store that does not answer raises its own error
            try:
                takes = self.queries.ask(TRY)
            except StoreError:
                takes = False
            self._form = TRIPLE_TERMS if takes else STATEMENTS
        return self._form

    def write(self, run: Run, removed: dict[str, Decided], progress: Progress) -> None:
        """Write the provenance of the facts, then the facts; what is removed is written down before it goes."""
        total = len(run.facts)
        for graph, decided in removed.items():
            self._insert(run.gone, run.removed_lines(graph, decided))
        self._insert(run.about, run.about_lines(self.form))
        self._insert(run.iri, run.fact_lines(), lambda lines: progress(lines, total))
        for graph, decided in removed.items():
            self._update("DELETE", graph, [f"{decided.triple(row)} .\n" for row in range(len(decided))])
        self._expect(run.iri, total)

    def _insert(self, graph: str, lines: Iterator[str], report: Callable[[int], Any] = lambda lines: None) -> None:
        for chunk in _chunks(lines, CHUNK):
            self._update("INSERT", graph, chunk)
            report(len(chunk))

    def _update(self, verb: str, graph: str, lines: list[str]) -> None:
        """Insert or delete lines; in small chunks from then on, where the store refuses a large one."""
        for start in range(0, len(lines), self.most):
            part = lines[start : start + self.most]
            text = "".join(part)
            try:
                data = f"GRAPH <{graph}> {{\n{text}}}" if graph else f"\n{text}"
                self.updates.update(f"{verb} DATA {{ {data} }}")
            except StoreError:
                if len(part) <= SMALL:
                    raise
                self.most = SMALL
                self._update(verb, graph, part)

    def _expect(self, graph: str, wanted: int) -> None:
        found = self._count(graph)
        if found != wanted:
            raise StoreError(f"{self.updates.store}: {graph} has {found:,} facts, not {wanted:,}; publish it again.")

    def _count(self, graph: str) -> int:
        return sum(piece.rows for piece in count_triples(self.queries, (graph,)))

    def look(self, run: str) -> tuple[int, dict[str, int]]:
        """Return how many facts of a run are there, and how many came out of which graph."""
        facts, removed = self._count(refuse_odd_iri(run, "--run")), self._removed(run)
        if not facts and not removed and not self._count(f"{run}/provenance"):
            raise OptionError(f"{self.updates.store}: there is no run {run}.")
        return facts, {graph: len(lines) for graph, lines in removed.items()}

    def withdraw(self, run: str) -> None:
        """Put back what the run removed, then take out what it wrote; the note of what was removed goes last."""
        for graph, lines in self._removed(run).items():
            self._insert(graph, iter(lines))
        for graph in (run, f"{run}/provenance", f"{run}/removed"):
            self._drop(graph)

    def _drop(self, graph: str) -> None:
        """Take out a named graph, a large one in chunks: a server may give up on one long transaction."""
        for _ in range(self._count(graph) // MANY):
            some = f"{{ SELECT ?s ?p ?o WHERE {{ GRAPH <{graph}> {{ ?s ?p ?o }} }} LIMIT {MANY} }}"
            self.updates.update(f"DELETE {{ GRAPH <{graph}> {{ ?s ?p ?o }} }} WHERE {{ {some} }}")
        self.updates.update(f"DROP SILENT GRAPH <{graph}>")
        self._expect(graph, 0)

    def _removed(self, run: str) -> dict[str, list[str]]:
        """Read what a run removed, whole: lines of facts by graph."""
        graph = f"{run}/removed"
        if not self._count(graph):
            return {}
        with tempfile.TemporaryDirectory(prefix="actc-") as folder:
            read_triples(self.queries, (graph,), Path(folder), ignore_progress)
            text = (Path(folder) / "0.nt").read_text(encoding="utf-8")
        about: dict[str, dict[str, str]] = {}
        for quad in parse_rdf("N_TRIPLES", input=text):
            about.setdefault(str(quad.subject), {})[quad.predicate.value] = str(quad.object)
        lines: dict[str, list[str]] = {}
        for properties in about.values():
            place = properties.get(REMOVED_FROM, "")[1:-1]
            fact = " ".join(properties.get(f"{RDF}{part}", "") for part in PARTS)
            if place:
                lines.setdefault("" if place == DEFAULT_GRAPH else place, []).append(f"{fact} .\n")
        return lines


def _chunks(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while chunk := list(islice(rows, size)):
        yield chunk
