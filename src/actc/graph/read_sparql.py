"""A graph out of a SPARQL store: complete, or refused.

Triples are counted by relation, read, compared with the counts, and counted again. Where the server has the Graph Store
Protocol a graph is one reply; else it is read relation by relation. A server may give fewer rows than it counted, with
status 200: then nothing is written, and the error names what to do.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_url
from urllib.parse import urlsplit

from actc.data.database import quote
from actc.data.deliver import write_beside
from actc.data.layout import open_reader
from actc.data.progress import Progress, ignore_progress
from actc.errors import MissingExtraError, OptionError, StoreError
from actc.graph.client import SparqlClient, StoreAddress, TransientError, refuse_odd_iri
from actc.graph.graph import note_repeats
from actc.graph.rdf import REIFIES, TERM, lines_sql, parse_rdf

ENDING = ".nt"
GRAPH_STORES = ("store", "data", "sparql-graph-crud", "rdf-graphs/service")
"""Where servers have the Graph Store Protocol: Oxigraph, Jena, Virtuoso, and RDF4J with GraphDB."""
MOST_LINE = 2_000_000
"""Bytes of a line that our reader takes."""
DUMP = "nothing is written. Have the server dump the graph to a file (N-Triples or Turtle), and give that file as GRAPH"
# As most servers write a line, and we do; anything else is parsed.
_IRI = rb'<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>"{}|^`\\\x7f]*>'
_LITERAL = rb'"(?:[^"\\\n\r]|\\[nrt"\\])*"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^' + _IRI + rb")?"
USUAL = re.compile(rb"(?m)^" + _IRI + b" " + _IRI + b" (?:" + _IRI + b"|" + _LITERAL + rb") \.\n")
TABS = re.compile(rb"(?m)^(" + _IRI + rb")\t(" + _IRI + rb")\t(" + _IRI + b"|" + _LITERAL + rb") ?\.$")
STRING = re.compile(rb'(?m)"\^\^<http://www\.w3\.org/2001/XMLSchema#string> \.$')
Notes = Counter[str]
"""How many triples were left out or changed, by reason."""


def match_triples(graph: str, relation: str = "") -> str:
    """Return the SPARQL pattern of a graph's triples, or of one relation's; an empty name is the default graph."""
    pattern = f"?s <{relation}> ?o" if relation else "?s ?p ?o"
    return f"GRAPH <{graph}> {{ {pattern} }}" if graph else pattern


def count_triples(client: SparqlClient, graph: str) -> dict[str, int]:
    """Count a graph's triples by relation; refuse a server whose counts do not add up."""
    store, pattern = client.store, match_triples(graph)
    rows = client.select(f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {pattern} }} GROUP BY ?p")
    whole = client.select(f"SELECT (COUNT(*) AS ?n) WHERE {{ {pattern} }}")
    total = sum(read_count(row.get("n", ""), store) for row in whole)
    counts = {refuse_odd_iri(row.get("p", ""), store): read_count(row.get("n", ""), store) for row in rows}
    if len(counts) < len(rows):
        raise StoreError(f"{store} counts a relation twice; read nothing.")
    if sum(counts.values()) != total:
        by_relation = f"{sum(counts.values()):,} relation by relation"
        raise StoreError(f"{store} counts {total:,} triples, and {by_relation}; read nothing.")
    return dict(sorted(counts.items()))


def read_count(text: str, store: StoreAddress) -> int:
    """Return a count that a store gave; refuse anything else."""
    if not re.fullmatch("[0-9]{1,15}", text):
        raise StoreError(f"{store} gives {store.quote_reply(repr(text[:50]))} where a count is needed.")
    return int(text)


def read_triples(client: SparqlClient, graphs: Sequence[str], folder: Path, progress: Progress) -> list[str]:
    """Read all triples of some graphs into files of N-Triples, one for each graph; return notes for the user."""
    counts = {graph: count_triples(client, graph) for graph in graphs}
    total = sum(sum(by_relation.values()) for by_relation in counts.values())
    if not total:
        places = ", ".join(graph or "the default graph" for graph in graphs)
        raise StoreError(f"{client.store}: there is no triple in {places}; --graph names another graph.")
    reader = _GraphReader(client, progress, total)
    for number, graph in enumerate(graphs):
        reader.read(graph, counts[graph], folder / f"{number}.nt")
    if {graph: count_triples(client, graph) for graph in graphs} != counts:
        raise StoreError(f"{client.store} changed while it was read: its counts are others now. Run it again.")
    return reader.describe_notes()


class _GraphReader:
    """Reads graph after graph, each into a file; ``notes`` counts what was left out or changed."""

    def __init__(self, client: SparqlClient, progress: Progress, total: int) -> None:
        self.client, self.progress, self.total = client, progress, total
        url = urlsplit(client.query_url)
        self.skolem = f"{url.scheme}://{url.netloc}/.well-known/genid/"
        base = re.sub("/(query|sparql)/?$", "", client.query_url)
        self.stores = [] if url.query else [f"{base}/{name}" for name in GRAPH_STORES]
        self.notes = Notes()
        self.steady: bool | None = None  # whether blank nodes keep their labels from one reply to the next

    def read(self, graph: str, counts: dict[str, int], path: Path) -> None:
        """Read a graph at once where the server can give it so, else relation by relation."""
        path.touch()
        rows = sum(counts.values())
        for store in self.stores if rows else ():
            url = f"{store}?graph={quote_url(graph, safe='')}" if graph else f"{store}?default"
            with suppress(StoreError, TransientError):  # there is no graph store, or it gives less than all
                reply = self.client.read_triples(rows, url=url)
                size, notes = self._copy(reply, match_triples(graph), rows, path, 0)
                if size == rows:
                    self.notes += notes
                    self.stores = [store]
                    return
        self.stores = []  # what one graph is not to be had from, others are not
        os.truncate(path, 0)
        for relation, rows in counts.items():
            self._read_relation(graph, relation, rows, path)

    def _read_relation(self, graph: str, relation: str, rows: int, path: Path) -> None:
        """Read the triples of a relation behind those that a file has."""
        pattern, end = match_triples(graph, relation), path.stat().st_size
        query = f"CONSTRUCT {{ ?s <{relation}> ?o }} WHERE {{ {pattern} }}"

        def copy() -> tuple[int, Notes]:
            return self._copy(self.client.read_triples(rows, query=query), pattern, rows, path, end)

        size, notes = self.client.repeat(copy, DUMP)
        if size != rows:
            given = f"{size:,}" if size < rows else f"more than {rows:,}"
            raise StoreError(f"{self.client.store} counts {rows:,} triples of {relation}, and gives {given}; {DUMP}.")
        self.notes += notes

    def _copy(
        self, reply: AbstractContextManager[Iterator[bytes]], pattern: str, rows: int, path: Path, end: int
    ) -> tuple[int, Notes]:
        """Write a reply behind the first bytes of a file, no more than some rows; return how many, and the notes."""
        size, notes = 0, Notes()
        os.truncate(path, end)
        try:
            with reply as blocks, open(path, "ab") as file:
                for block in _whole_lines(blocks):
                    added, lines = self._check(block, pattern, notes)
                    size += added
                    if size > rows:
                        break
                    file.write(lines)
                    self.progress(added, self.total)
        except (StoreError, TransientError):
            self.progress(-min(size, rows), self.total)
            raise
        return size, notes

    def _check(self, block: bytes, pattern: str, notes: Notes) -> tuple[int, bytes]:
        """Return how many triples there are in whole lines, and those lines as we write them."""
        try:
            block.decode()
        except UnicodeDecodeError:
            raise TransientError("what it sends is not UTF-8") from None
        block = TABS.sub(rb"\1 \2 \3 .", block) if b"\t" in block else block
        usual = USUAL.findall(block) if len(block) < MOST_LINE else []
        lines = STRING.sub(b'" .', b"".join(usual))
        if len(usual) == block.count(b"\n"):
            return len(usual), lines
        rest = (USUAL.sub(b"", block) if usual else block).decode("utf-8", "replace")
        text = [line for line in rest.splitlines() if line.strip() and line[0] != "#"]
        short = [line for line in text if len(line.encode()) < MOST_LINE]
        notes["long"] += len(text) - len(short)
        try:
            quads = parse_rdf("N_TRIPLES", input="\n".join(short))
        except SyntaxError as error:
            reason = self.client.store.quote_reply(error.msg)
            raise TransientError(f"what it sends for {pattern} is no N-Triples ({reason})") from None
        except MissingExtraError:
            raise MissingExtraError("Reading what this store sends", "pyoxigraph", "store") from None
        written = [self._write(quad, pattern, notes) for quad in quads]
        return len(usual) + len(text), lines + "".join(written).encode()

    def _write(self, quad: Any, pattern: str, notes: Notes) -> str:
        """Return the line of a triple; none if it is left out."""
        terms = [str(quad.subject), str(quad.predicate), str(quad.object)]
        if not all(TERM.fullmatch(term) for term in terms):
            notes["annotations"] += 1
            return ""
        if any(term.startswith("_:") for term in terms):
            if not self._are_steady(pattern):
                notes["nameless"] += 1
                return ""
            notes["named"] += 1
            terms = [f"<{self.skolem}{term[2:]}>" if term.startswith("_:") else term for term in terms]
        return f"{' '.join(terms)} .\n"

    def _are_steady(self, pattern: str) -> bool:
        """Return whether blank nodes keep their labels, so that those of two replies can be compared."""
        if self.steady is None:
            query = f"SELECT ?s ?o WHERE {{ {pattern} . FILTER(isBlank(?s) || isBlank(?o)) }} LIMIT 20"
            first, second = (sorted(map(str, self.client.select(query))) for _ in range(2))
            self.steady = first == second
        return self.steady

    def describe_notes(self) -> list[str]:
        """Describe what was left out or changed."""
        texts = {
            "named": f"triples have a blank node, which is named {self.skolem}... now.",
            "nameless": "triples with a blank node are left out: its label does not last.",
            "annotations": f"triples about triples ({REIFIES}) are left out.",
            "long": f"triples of more than {MOST_LINE:,} bytes are left out.",
        }
        return [f"{self.notes[reason]:,} {text}" for reason, text in texts.items() if self.notes[reason]]


def _whole_lines(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Give blocks of whole lines, of a megabyte or so."""
    pending: list[bytes] = []
    size = 0
    for part in parts:
        pending.append(part)
        size += len(part)
        if size < 1 << 20:
            continue
        block, newline, rest = b"".join(pending).rpartition(b"\n")
        if newline:
            yield block + newline
        elif size > 64 * MOST_LINE:
            raise TransientError("it sends a line that does not end")
        pending, size = [rest], len(rest)
    last = b"".join(pending)
    if last.strip():
        yield last if last.endswith(b"\n") else last + b"\n"  # half a line is no N-Triples: the parser refuses it


def fetch_graph(
    store: str | StoreAddress,
    out: str | Path,
    graphs: Sequence[str] = (),
    key_from: str | None = None,
    progress: Progress = ignore_progress,
) -> tuple[str, ...]:
    """Read a store's graph into a file of N-Triples, sorted: complete, or not at all.

    Parameters
    ----------
    store : str or StoreAddress
        ``sparql:http://host/query``.
    out : path
        A file that ends in .nt.
    graphs : sequence of str
        IRIs of named graphs; without any the default graph.
    key_from : str, optional
        The environment variable that contains a bearer token, or user:password.
    progress : callable
        Called with triples read, triples in all.

    Returns
    -------
    tuple of str
        Notes for the user: what was left out or changed.
    """
    address, out = store if isinstance(store, StoreAddress) else StoreAddress.of(store, key_from), Path(out)
    if out.suffix != ENDING:
        raise OptionError(f"{out}: a store is read into a file that ends in {ENDING}.")
    named = tuple(dict.fromkeys(refuse_odd_iri(graph, "--graph") for graph in graphs)) or ("",)
    with write_beside(out) as unfinished:
        lines = unfinished.with_name("lines")
        lines.mkdir()
        with SparqlClient(address) as client:
            notes = read_triples(client, named, lines, progress)
        paths = sorted(lines.iterdir())
        with open_reader(paths[0]) as connection:
            # In order, each once, so that a store that did not change gives the same file.
            connection.execute(
                f"COPY (SELECT DISTINCT line FROM {lines_sql(*paths)} ORDER BY line) TO {quote(str(unfinished))} "
                "(FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE '')"
            )

            def count_repeats(some: list[Path]) -> int:
                query = f"SELECT count(*) - count(DISTINCT line) FROM {lines_sql(*some)}"
                return int(connection.execute(query).fetchone()[0])

            repeats = count_repeats(paths)
            if repeats and any(count_repeats([path]) for path in paths):
                raise StoreError(f"{address} gives some triples twice in the place of others; {DUMP}.")
    return (*notes, *note_repeats(repeats))
