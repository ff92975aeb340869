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
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_url
from urllib.parse import urlsplit

from actc.data.deliver import write_beside
from actc.data.files import open_reader, quote, quote_file
from actc.data.progress import Progress, ignore_progress
from actc.errors import MissingExtraError, OptionError, StoreError
from actc.graph.client import TRIES, RequestError, SparqlClient, Store, refuse_odd_iri
from actc.graph.graph import note_repeats
from actc.graph.terms import REIFIES, TERM, parse_rdf

GRAPH_STORES = ("store", "data", "sparql-graph-crud", "rdf-graphs/service")
"""Where servers have the Graph Store Protocol: Oxigraph, Jena, Virtuoso, and RDF4J with GraphDB."""
MOST_LINE = 2_000_000
"""Bytes of a line that our reader takes."""
NAMED = "named"
"""Why a triple is noted that is there: its blank node has a name now."""
DUMP = "nothing is written. Have the server dump the graph to a file (N-Triples or Turtle), and give that file as GRAPH"
# As most servers write a line, and we do; anything else is parsed.
_IRI = rb'<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>"{}|^`\\\x7f]*>'
_LITERAL = rb'"(?:[^"\\\n\r]|\\[nrt"\\])*"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^' + _IRI + rb")?"
USUAL = re.compile(rb"(?m)^" + _IRI + b" " + _IRI + b" (?:" + _IRI + b"|" + _LITERAL + rb") \.\n")
TABS = re.compile(rb"(?m)^(" + _IRI + rb")\t(" + _IRI + rb")\t(" + _IRI + b"|" + _LITERAL + rb") ?\.$")
STRING = re.compile(rb'(?m)"\^\^<http://www\.w3\.org/2001/XMLSchema#string> \.$')


@dataclass(frozen=True)
class Part:
    """Triples that are read at once."""

    graph: str  # the named graph they are in; empty for the default graph
    relation: str  # empty for all of the graph's
    rows: int  # how many the server counts

    @property
    def where(self) -> str:
        """The pattern of its triples."""
        pattern = f"?s <{self.relation}> ?o" if self.relation else "?s ?p ?o"
        return f"GRAPH <{self.graph}> {{ {pattern} }}" if self.graph else f"{pattern} ."

    @property
    def query(self) -> str:
        """The query that gives them."""
        return f"CONSTRUCT {{ ?s <{self.relation}> ?o }} WHERE {{ {self.where} }}"


def count_triples(client: SparqlClient, graphs: tuple[str, ...]) -> list[Part]:
    """Count the triples of each relation, and all together; refuse a server whose counts do not add up."""
    found = []
    for graph in graphs:
        pattern = f"GRAPH <{graph}> {{ ?s ?p ?o }}" if graph else "?s ?p ?o"
        rows = client.select(f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {pattern} }} GROUP BY ?p")
        whole = client.select(f"SELECT (COUNT(*) AS ?n) WHERE {{ {pattern} }}")
        store = client.store
        parts = [Part(graph, refuse_odd_iri(row.get("p", ""), store), _read_count(row, store)) for row in rows]
        in_all, by_relation = sum(_read_count(row, store) for row in whole), sum(part.rows for part in parts)
        if len({part.relation for part in parts}) < len(parts):
            raise StoreError(f"{store} counts a relation twice; read nothing.")
        if in_all != by_relation:
            raise StoreError(
                f"{store} counts {in_all:,} triples, and {by_relation:,} relation by relation; read nothing."
            )
        found += parts
    return sorted(found, key=lambda part: (part.graph, part.relation))


def _read_count(row: dict[str, str], store: Store) -> int:
    text = row.get("n", "")
    if not re.fullmatch("[0-9]{1,15}", text):
        raise StoreError(f"{store} gives {store.quote_reply(repr(text[:50]))} where a count is needed.")
    return int(text)


def read_triples(client: SparqlClient, graphs: tuple[str, ...], folder: Path, progress: Progress) -> list[str]:
    """Read all triples of some graphs into files of N-Triples, one for each graph; return what a person should know."""
    parts = count_triples(client, graphs)
    if not parts:
        places = ", ".join(graph or "the default graph" for graph in graphs)
        raise StoreError(f"{client.store}: there is no triple in {places}; --graph names another graph.")
    reader = _Reader(client, progress, sum(part.rows for part in parts))
    for number, graph in enumerate(graphs):
        reader.read([part for part in parts if part.graph == graph], graph, folder / f"{number}.nt")
    if count_triples(client, graphs) != parts:
        raise StoreError(f"{client.store} changed while it was read: its counts are others now. Run it again.")
    return reader.notes()


def lines_of(*paths: Path) -> str:
    """Return the SQL of the lines of some files: a table with one column, ``line``."""
    files = ", ".join(map(quote_file, paths))
    return (
        f"read_csv([{files}], columns={{'line': 'VARCHAR'}}, delim='\x01', header=false, quote='', escape='', "
        "auto_detect=false, strict_mode=false)"
    )


class _Reader:
    """Reads graph after graph, each into a file; ``noted`` counts triples that are left out or changed, by relation."""

    def __init__(self, client: SparqlClient, progress: Progress, total: int) -> None:
        self.client, self.progress, self.total = client, progress, total
        place = urlsplit(client.store.place)
        self.skolem = f"{place.scheme}://{place.netloc}/.well-known/genid/"
        base = re.sub("/(query|sparql)/?$", "", client.store.place)
        self.stores = [] if place.query else [f"{base}/{name}" for name in GRAPH_STORES]
        self.noted: Counter[tuple[str, str]] = Counter()
        self.steady: bool | None = None  # whether blank nodes keep their labels from one reply to the next

    def read(self, parts: list[Part], graph: str, path: Path) -> None:
        """Read a graph at once where the server can give it so, else relation by relation."""
        path.touch()
        whole = Part(graph, "", sum(part.rows for part in parts))
        for store in self.stores if whole.rows else ():
            address = f"{store}?graph={quote_url(graph, safe='')}" if graph else f"{store}?default"
            with suppress(StoreError, RequestError):  # there is no graph store, or it gives less than all
                got, noted = self._copy(self.client.read_triples(whole.rows, address=address), whole, path)
                if got == whole.rows and self._count(path, noted) == {part.relation: part.rows for part in parts}:
                    self.noted += noted
                    self.stores = [store]
                    return
        self.stores = []  # what one graph is not to be had from, others are not
        os.truncate(path, 0)
        for part in parts:
            self._read_relation(part, path)

    def _read_relation(self, part: Part, path: Path) -> None:
        size, trouble = path.stat().st_size, RequestError()
        for attempt in range(TRIES):
            try:
                got, noted = self._copy(self.client.read_triples(part.rows, query=part.query), part, path, size)
                break
            except RequestError as error:
                trouble = error
                self.client.pause(attempt)
        else:
            raise StoreError(f"{self.client.store} cannot be read: {trouble}; {DUMP}.")
        if got != part.rows:
            given = f"{got:,}" if got < part.rows else f"more than {part.rows:,}"
            problem = f"{self.client.store} counts {part.rows:,} triples of {part.relation}, and gives {given}"
            raise StoreError(f"{problem}; {DUMP}.")
        self.noted += noted

    def _copy(
        self, reply: AbstractContextManager[Iterator[bytes]], part: Part, path: Path, size: int = 0
    ) -> tuple[int, Counter[tuple[str, str]]]:
        """Write a reply behind the first bytes of a file; return how many triples it has, and what is noted of them."""
        got, noted = 0, Counter[tuple[str, str]]()
        os.truncate(path, size)
        try:
            with reply as blocks, open(path, "ab") as file:
                for block in _whole_lines(blocks):
                    rows, lines = self._check(block, part, noted)
                    got += rows
                    if got > part.rows:
                        break
                    file.write(lines)
                    self.progress(rows, self.total)
        except (StoreError, RequestError):
            self.progress(-min(got, part.rows), self.total)
            raise
        return got, noted

    def _count(self, path: Path, noted: Counter[tuple[str, str]]) -> dict[str, int]:
        """Count the triples of each relation that a reply had, those that it leaves out among them."""
        with open_reader(path) as connection:
            query = f"SELECT split_part(line, ' ', 2), count(*) FROM {lines_of(path)} GROUP BY ALL"
            found = Counter({term[1:-1]: int(count) for term, count in connection.execute(query).fetchall()})
        for (why, relation), count in noted.items():
            found[relation] += 0 if why == NAMED else count
        return dict(found)

    def _check(self, block: bytes, part: Part, noted: Counter[tuple[str, str]]) -> tuple[int, bytes]:
        """Return how many triples there are in whole lines, and those lines as we write them."""
        try:
            block.decode()
        except UnicodeDecodeError:
            raise RequestError("what it sends is not UTF-8") from None
        block = TABS.sub(rb"\1 \2 \3 .", block) if b"\t" in block else block
        usual = USUAL.findall(block) if len(block) < MOST_LINE else []
        lines = STRING.sub(b'" .', b"".join(usual))
        if len(usual) == block.count(b"\n"):
            return len(usual), lines
        rest = (USUAL.sub(b"", block) if usual else block).decode("utf-8", "replace")
        text = [line for line in rest.splitlines() if line.strip() and line[0] != "#"]
        short = [line for line in text if len(line.encode()) < MOST_LINE]
        for line in text:
            if len(line.encode()) >= MOST_LINE:
                noted["long", line.partition(" ")[2].partition(" ")[0][1:-1]] += 1
        try:
            quads = parse_rdf("N_TRIPLES", input="\n".join(short))
        except SyntaxError as error:
            raise RequestError(
                f"what it sends for {part.relation or 'a graph'} is no N-Triples "
                f"({self.client.store.quote_reply(error.msg)})"
            ) from None
        except MissingExtraError:
            raise MissingExtraError("Reading what this store sends", "pyoxigraph", "store") from None
        written = [self._line(quad, part, noted) for quad in quads]
        return len(usual) + len(text), lines + "".join(written).encode()

    def _line(self, quad: Any, part: Part, noted: Counter[tuple[str, str]]) -> str:
        terms = [str(quad.subject), str(quad.predicate), str(quad.object)]
        if not all(TERM.fullmatch(term) for term in terms):
            noted["annotations", quad.predicate.value] += 1
            return ""
        if any(term.startswith("_:") for term in terms):
            if not self._are_steady(part):
                noted["nameless", quad.predicate.value] += 1
                return ""
            noted[NAMED, quad.predicate.value] += 1
            terms = [f"<{self.skolem}{term[2:]}>" if term.startswith("_:") else term for term in terms]
        return f"{' '.join(terms)} .\n"

    def _are_steady(self, part: Part) -> bool:
        """Return whether blank nodes keep their labels, so that those of two replies can be compared."""
        if self.steady is None:
            query = f"SELECT ?s ?o WHERE {{ {part.where} FILTER(isBlank(?s) || isBlank(?o)) }} LIMIT 20"
            first, second = (sorted(map(str, self.client.select(query))) for _ in range(2))
            self.steady = first == second
        return self.steady

    def notes(self) -> list[str]:
        """Describe what was left out or changed."""
        counts = Counter[str]()
        for (why, _), count in self.noted.items():
            counts[why] += count
        texts = {
            NAMED: f"triples have a blank node, which is named {self.skolem}... now.",
            "nameless": "triples with a blank node are left out: its label does not last.",
            "annotations": f"triples about triples ({REIFIES}) are left out.",
            "long": f"triples of more than {MOST_LINE:,} bytes are left out.",
        }
        return [f"{counts[why]:,} {text}" for why, text in texts.items() if counts[why]]


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
            raise RequestError("it sends a line that does not end")
        pending, size = [rest], len(rest)
    last = b"".join(pending)
    if last.strip():
        yield last if last.endswith(b"\n") else last + b"\n"  # half a line is no N-Triples, and is found out


ENDING = ".nt"


def fetch_graph(
    store: str | Store,
    out: str | Path,
    graphs: Sequence[str] = (),
    key_from: str | None = None,
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
    key_from : str, optional
        The environment variable that holds a bearer token, or user:password.
    progress : callable
        Called with triples read, triples in all.

    Returns
    -------
    tuple of str
        What a person should know: what was left out or changed.
    """
    found, out = store if isinstance(store, Store) else Store.of(store, key_from), Path(out)
    if out.suffix != ENDING:
        raise OptionError(f"{out}: a store is read into a file that ends in {ENDING}.")
    named = tuple(dict.fromkeys(refuse_odd_iri(graph, "--graph") for graph in graphs)) or ("",)
    with write_beside(out) as unfinished:
        lines = unfinished.with_name("lines")
        lines.mkdir()
        with SparqlClient(found) as client:
            notes = read_triples(client, named, lines, progress)
        repeats = _sort(lines, unfinished)
        if repeats and any(_count_repeats(path) for path in lines.iterdir()):
            raise StoreError(f"{found} gives some triples twice in the place of others; {DUMP}.")
    return (*notes, *note_repeats(repeats))


def _sort(lines: Path, out: Path) -> int:
    """Write lines in order, each once, so that a store that did not change gives the same file; return the repeats."""
    source = lines_of(*sorted(lines.iterdir()))
    with open_reader(lines) as connection:
        connection.execute(
            f"COPY (SELECT DISTINCT line FROM {source} ORDER BY line) "
            f"TO {quote(str(out))} "
            "(FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE '')"
        )
    return _count_repeats(*sorted(lines.iterdir()))


def _count_repeats(*paths: Path) -> int:
    with open_reader(paths[0]) as connection:
        query = f"SELECT count(*) - count(DISTINCT line) FROM {lines_of(*paths)}"
        return int(connection.execute(query).fetchone()[0])
