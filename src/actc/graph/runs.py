"""What a folder decided, as a run in a store: facts, facts that were taken out, and where each comes from.

A run has a name of its own, made from what is in it: the same decisions are the same run, wherever and however often
they are published. Facts are in the named graph of that name; their provenance is in a second one beside it, as
statements (rdf:Statement), so that whoever reads the facts reads nothing else. A store is written in chunks of INSERT
DATA, in an order that a cut-off run can be repeated from.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from actc import __version__
from actc.data.files import load_json, ordinary
from actc.data.progress import Progress, ignore_progress
from actc.errors import FileError, OptionError, StoreError
from actc.graph.client import SparqlClient, Store, refuse_odd_iri
from actc.graph.formats import read_extras, read_graph
from actc.graph.graph import Graph, is_missing
from actc.graph.rdf import DOUBLE, PARTS, VOCABULARY
from actc.graph.read_sparql import count_triples, read_triples
from actc.graph.terms import BLANK, IRI, RDF, XSD, Base, as_bases, parse_rdf, term_columns

ACCEPTED, REMOVED, BEGUN = "accepted.tsv", "removed.tsv", "begun.json"
PROV = "http://www.w3.org/ns/prov#"
DATE, INTEGER = f"{XSD}date", f"{XSD}integer"
REMOVED_FROM = f"{VOCABULARY}removedFrom"
DEFAULT_GRAPH = f"{VOCABULARY}defaultGraph"
GENID = r"<?https?://[^/]*/\.well-known/genid/.*"
Columns = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Decided:
    """Facts and what stands beside each."""

    terms: Columns  # shape (N,); head, relation and tail as N-Triples writes them
    names: Graph  # the same as names
    extras: Columns = field(default_factory=dict)  # shape (N,); probability, method, date, reasons and the like
    # how many facts were left out because no update can name one of their ends: a blank node, or a text that a store
    # may take for an escape
    nameless: int = 0

    @classmethod
    def read(cls, path: Path, base: Base) -> Decided:
        """Read a table of facts; one that is not there, or has no row, is none."""
        if not path.exists() or _is_empty(path):
            nothing = Graph.from_columns([], [], [])
            return cls(nothing.columns(), nothing)
        graph = read_graph(path)
        # Of an escape SPARQL lets a server make any character before it parses.
        odd = re.compile(rf"{BLANK}|{GENID}|(?s:.*\\[uU].*)")
        nameless = np.array([odd.fullmatch(name) is not None for name in graph.entity_names], dtype=np.bool_)
        kept = np.flatnonzero(~(nameless[graph.heads] | nameless[graph.tails]))
        whole = cls(term_columns(graph, as_bases(base)), graph, read_extras(path, graph))
        return replace(whole.take(kept), nameless=len(graph) - len(kept))

    def __len__(self) -> int:
        """Return the number of facts."""
        return len(self.terms["head"])

    def triple(self, row: int) -> str:
        """Return a fact as N-Triples has it, without the dot."""
        return f"{self.terms['head'][row]} {self.terms['relation'][row]} {self.terms['tail'][row]}"

    def take(self, rows: Any) -> Decided:
        """Return some of the facts."""
        terms, extras = ({name: column[rows] for name, column in found.items()} for found in (self.terms, self.extras))
        return Decided(terms, self.names.take(rows), extras)

    def properties(self, row: int) -> list[str]:
        """Return the provenance of a fact: predicates and objects."""
        cells = ((name, column[row]) for name, column in self.extras.items())
        return [f"<{VOCABULARY}{name}> {_literal(name, cell)}" for name, cell in cells if not is_missing(cell)]


def _is_empty(path: Path) -> bool:
    """Return whether a table has a header and no row."""
    if path.suffix not in (".tsv", ".csv"):
        return False
    with ordinary(path).open("rb") as file:
        return len([line for line in (file.readline(), file.readline()) if line.strip()]) < 2


def _literal(name: str, cell: Any) -> str:
    """Return a value as a literal: a number, a date, or text."""
    if isinstance(cell, (float, np.floating, int, np.integer)):
        return f'"{float(cell)!r}"^^<{DOUBLE}>'.replace("inf", "INF")
    text = re.sub(r"\\(?=[uU])", "/", str(cell))  # see Decided.read
    if name == "date" and re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return f'"{text}"^^<{DATE}>'
    return quoted(text)


def quoted(text: str) -> str:
    """Return a text as a literal."""
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


@dataclass(frozen=True, eq=False)
class Run:
    """What one publication writes."""

    into: str  # the IRI under which runs lie
    # facts, removed: what was accepted, and what was taken out
    facts: Decided
    removed: Decided
    base: Base = ""  # what stands before names that are no IRIs

    @classmethod
    def read(cls, folder: str | Path, into: str, base: Base = "") -> Run:
        """Read what a folder of ``complete`` or ``check`` decided, or a table such as ``export --accepted`` writes."""
        folder = Path(folder)
        if not re.fullmatch(IRI, into):
            raise OptionError(f"--into: {into!r} is no IRI such as http://example.org/kg")
        if not folder.exists():
            raise FileError(f"{folder}: there is no such folder or table.")
        base = base or _base_of(folder)
        table, removed = (folder / ACCEPTED, folder / REMOVED) if folder.is_dir() else (folder, folder / REMOVED)
        if not table.exists() and not removed.exists():
            raise FileError(f"{folder} has neither {ACCEPTED} nor {REMOVED}: nothing was decided there yet.")
        return cls(into, Decided.read(table, base), Decided.read(removed, base), base)

    @cached_property
    def iri(self) -> str:
        """The name of the run, and of the graph with its facts: it is made from what is in it."""
        digest = hashlib.sha256()
        for decided in (self.facts, self.removed):
            for row in range(len(decided)):
                digest.update(" ".join((decided.triple(row), *decided.properties(row), "\n")).encode())
            digest.update(b"\n")
        return f"{self.into.rstrip('/#')}/run/{digest.hexdigest()[:16]}"

    @property
    def about(self) -> str:
        """The graph with the provenance of its facts."""
        return f"{self.iri}/provenance"

    @property
    def gone(self) -> str:
        """The graph with what was removed from which graph."""
        return f"{self.iri}/removed"

    def fact_lines(self) -> Iterator[str]:
        """Return the facts, one a line."""
        return (f"{self.facts.triple(row)} .\n" for row in range(len(self.facts)))

    def about_lines(self) -> Iterator[str]:
        """Return the provenance of the run and of each of its facts."""
        activity, maker = f"<{self.iri}/activity>", f"<{VOCABULARY}software/{__version__}>"
        yield f"<{self.iri}> <{RDF}type> <{PROV}Entity> .\n<{self.iri}> <{PROV}wasGeneratedBy> {activity} .\n"
        yield f"{activity} <{RDF}type> <{PROV}Activity> .\n{activity} <{PROV}wasAssociatedWith> {maker} .\n"
        yield f"{maker} <{RDF}type> <{PROV}SoftwareAgent> .\n"
        yield f'<{self.iri}> <{VOCABULARY}facts> "{len(self.facts)}"^^<{INTEGER}> .\n'
        for row in range(len(self.facts)) if self.facts.extras else ():
            yield from describe_fact(self.node(self.facts.triple(row)), self.facts, row)

    def removed_lines(self, graph: str, removed: Decided) -> Iterator[str]:
        """Return that facts were removed from a graph."""
        for row in range(len(removed)):
            node = self.node(f"{graph} {removed.triple(row)}")
            yield f"{node} <{REMOVED_FROM}> <{graph or DEFAULT_GRAPH}> .\n"
            yield from describe_fact(node, removed, row)

    def node(self, text: str) -> str:
        """Return a name for the provenance of a fact: always the same."""
        return f"<{self.iri}#{hashlib.sha256(text.encode()).hexdigest()[:20]}>"


def describe_fact(node: str, decided: Decided, row: int) -> Iterator[str]:
    """Return the lines about a fact: which one, and all that stands beside it."""
    yield f"{node} <{RDF}type> <{RDF}Statement> .\n"
    for part, name in zip(PARTS, ("head", "relation", "tail"), strict=True):
        yield f"{node} <{RDF}{part}> {decided.terms[name][row]} .\n"
    for words in decided.properties(row):
        yield f"{node} {words} .\n"


def _base_of(folder: Path) -> Base:
    """Return the base that a run of ``complete`` or ``check`` was given."""
    try:
        base = load_json(folder / BEGUN)["asked"]["--base"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return base if isinstance(base, (str, list)) else ""


CHUNK, SMALL = 10_000, 500
"""Lines in one update; and the number that is tried when a store refuses more: Virtuoso takes a thousand."""
MANY = 100_000
"""Triples that are taken out at once."""
QUERIES = {"/update": "/query", "/statements": "", "/sparql-auth": "/sparql"}
"""How the address of updates ends, and that of queries in its place: Oxigraph and Jena, GraphDB, Virtuoso."""


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
        return {graph: self._find_in(removed, refuse_odd_iri(graph, "--graph") if graph else "") for graph in graphs}

    def _find_in(self, removed: Decided, graph: str) -> Decided:
        there: set[int] = set()
        pattern = f"GRAPH <{graph}> {{ ?s ?p ?o }}" if graph else "?s ?p ?o"
        for rows in _chunks(iter(range(len(removed))), SMALL):
            values = " ".join(f"({row} {removed.triple(row)})" for row in rows)
            found = self.queries.select(
                f"SELECT DISTINCT ?row WHERE {{ VALUES (?row ?s ?p ?o) {{ {values} }} {pattern} }}"
            )
            there |= {int(row["row"]) for row in found if row.get("row", "").isdigit() and int(row["row"]) in rows}
        return removed.take(np.array(sorted(there), dtype=np.int64))

    def write(self, run: Run, removed: dict[str, Decided], progress: Progress) -> None:
        """Write the provenance of the facts, then the facts; what is removed is written down before it goes."""
        total = len(run.facts)
        for graph, decided in removed.items():
            self._insert(run.gone, run.removed_lines(graph, decided))
        self._insert(run.about, run.about_lines())
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

    def runs(self, into: str) -> dict[str, int]:
        """Return the runs that are under an IRI, and how many facts each wrote."""
        pattern = f"?run <{RDF}type> <{PROV}Entity> ; <{VOCABULARY}facts> ?facts"
        rows = self.queries.select(
            f"SELECT DISTINCT ?run ?facts WHERE {{ GRAPH ?g {{ {pattern} }} "
            f'FILTER(STRSTARTS(STR(?run), "{into.rstrip("/#")}/run/")) }}'
        )
        store = self.queries.store
        return {refuse_odd_iri(row.get("run", ""), store): int(row.get("facts", "0")) for row in rows}

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
