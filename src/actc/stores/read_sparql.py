"""A graph out of a SPARQL store: complete, or refused.

Triples are counted by relation, read relation by relation, and counted again. No page is asked for by its number: where
a server gives fewer rows than it counted, which it may do with status 200, a relation is read in parts, each with a
count of its own, by what a hash of head and tail begins with. Parts that are whole are kept, so that a run which was
cut off goes on.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from actc.errors import MissingExtraError, StoreError
from actc.graphs.terms import REIFIES, TERM, parse_rdf
from actc.stores.client import TRIES, RequestError, SparqlClient, refuse_odd_iri
from actc.tables.files import ordinary
from actc.tables.progress import Progress

MOST_ROWS = 10_000_000
"""In one reply: what is lost when a run is cut off, at most. Parts are slower: each is a scan of its relation."""
FEWEST_ROWS = 500
"""A server that cannot give so many at once cannot be read."""
MOST_DIGITS = 8
MOST_LINE = 2_000_000
"""Bytes of a line that our reader takes."""
LINES, JOURNAL = "triples.nt", "journal.jsonl"
KEY = 'MD5(CONCAT(IF(isBlank(?s), "", STR(?s)), " ", IF(isBlank(?o), "", STR(?o))))'
# As most servers write a line, and we do; anything else is parsed.
_IRI = rb'<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>"{}|^`\\\x7f]*>'
_LITERAL = rb'"(?:[^"\\\n\r]|\\[nrt"\\])*"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^' + _IRI + rb")?"
USUAL = re.compile(rb"(?m)^" + _IRI + b" " + _IRI + b" (?:" + _IRI + b"|" + _LITERAL + rb") \.\n")
TABS = re.compile(rb"(?m)^(" + _IRI + rb")\t(" + _IRI + rb")\t(" + _IRI + b"|" + _LITERAL + rb") ?\.$")
STRING = re.compile(rb'(?m)"\^\^<http://www\.w3\.org/2001/XMLSchema#string> \.$')


@dataclass(frozen=True)
class Piece:
    """Triples that are read at once.

    Parameters
    ----------
    graph : str
        The named graph they are in; empty for the default graph.
    relation : str
    begins : str
        What the hash of head and tail begins with; empty for all of the relation's.
    rows : int
        How many the server counts.
    """

    graph: str
    relation: str
    begins: str
    rows: int

    @property
    def where(self) -> str:
        """The pattern of its triples."""
        pattern = f"?s <{self.relation}> ?o"
        pattern = f"GRAPH <{self.graph}> {{ {pattern} }}" if self.graph else f"{pattern} ."
        return pattern + (f" FILTER(STRSTARTS({KEY}, '{self.begins}'))" if self.begins else "")

    @property
    def query(self) -> str:
        """What is asked to get them."""
        return f"CONSTRUCT {{ ?s <{self.relation}> ?o }} WHERE {{ {self.where} }}"


@dataclass
class Journal:
    """What was read already, in a folder of its own: lines of N-Triples, and which pieces they are.

    Parameters
    ----------
    folder : Path
    done : dict
        (graph, relation, begins) of the pieces that are whole, to how many rows each has.
    size : int
        Bytes of the lines that are whole; what is behind them was cut off.
    most : int
        Rows in one reply, as far as is known.
    counts : dict
        What else was counted: blank nodes, lines left out.
    """

    folder: Path
    done: dict[tuple[str, str, str], int] = field(default_factory=dict)
    size: int = 0
    most: int = MOST_ROWS
    counts: dict[str, int] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, wanted: dict[str, Any]) -> Journal:
        """Begin, or go on where a run for the same, of a store with the same counts, was cut off."""
        found, lines, entries = cls(folder), folder / LINES, _read_entries(folder / JOURNAL)
        there = lines.stat().st_size if lines.exists() else -1
        if not entries or entries[0] != wanted or any(entry["size"] > there for entry in entries[1:]):
            entries = [wanted]
            lines.write_bytes(b"")
        for entry in entries[1:]:
            found.size, found.most, found.counts = entry["size"], entry["most"], entry["counts"]
            found.done[tuple(entry["piece"])] = entry["rows"]
        os.truncate(lines, found.size)
        (folder / JOURNAL).write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")
        return found

    @property
    def rows(self) -> int:
        """How many triples are there."""
        return sum(self.done.values())

    def add(self, piece: Piece, size: int, counts: dict[str, int]) -> None:
        """Keep a piece that is whole: its lines are on disk before it is said to be there."""
        self.size, self.counts = size, counts
        key = (piece.graph, piece.relation, piece.begins)
        self.done[key] = piece.rows
        entry = {"piece": key, "rows": piece.rows, "size": size, "most": self.most, "counts": counts}
        with open(self.folder / JOURNAL, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _read_entries(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a journal up to one that was cut off."""
    entries: list[dict[str, Any]] = []
    try:
        for line in ordinary(path).read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else ():
            entries.append(json.loads(line))
            if not line.endswith("\n"):
                return entries[:-1]
    except ValueError:
        pass
    return entries


def count_triples(client: SparqlClient, graphs: tuple[str, ...]) -> list[Piece]:
    """Count the triples of each relation, and all together; refuse a server whose counts do not add up."""
    found = []
    for graph in graphs:
        pattern = f"GRAPH <{graph}> {{ ?s ?p ?o }}" if graph else "?s ?p ?o"
        rows = client.select(f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {pattern} }} GROUP BY ?p")
        whole = client.select(f"SELECT (COUNT(*) AS ?n) WHERE {{ {pattern} }}")
        told = str(client.store)
        pieces = [Piece(graph, refuse_odd_iri(row.get("p", ""), told), "", _number(row, told)) for row in rows]
        in_all, by_relation = sum(_number(row, told) for row in whole), sum(piece.rows for piece in pieces)
        if in_all != by_relation:
            raise StoreError(
                f"{told} counts {in_all:,} triples, and {by_relation:,} relation by relation; read nothing."
            )
        found += pieces
    return sorted(found, key=lambda piece: (piece.graph, piece.relation))


def _number(row: dict[str, str], told: str) -> int:
    text = row.get("n", "")
    if not re.fullmatch(r"\d{1,15}", text):
        raise StoreError(f"{told} gives {text[:50]!r} where a count was asked for.")
    return int(text)


def read_triples(client: SparqlClient, graphs: tuple[str, ...], folder: Path, progress: Progress) -> list[str]:
    """Read all triples of some graphs into ``LINES`` in a folder; return what a person should know.

    Parameters
    ----------
    client : SparqlClient
    graphs : tuple of str
        IRIs of named graphs; an empty one is the default graph.
    folder : Path
        Where parts are kept; one that a run before left is gone on with.
    progress : callable
        Called with triples read, triples in all.
    """
    pieces = count_triples(client, graphs)
    if not pieces:
        told = ", ".join(graph or "the default graph" for graph in graphs)
        raise StoreError(f"{client.store}: there is no triple in {told}; --graph names another graph.")
    counted = [[piece.graph, piece.relation, piece.rows] for piece in pieces]
    journal = Journal.open(folder, {"store": str(client.store), "counted": counted})
    reader = _Reader(client, journal, progress, sum(piece.rows for piece in pieces))
    before = journal.rows
    for piece in pieces:
        reader.read(piece)
    if count_triples(client, graphs) != pieces:
        raise StoreError(f"{client.store} changed while it was read: its counts are others now. Run it again.")
    return [*([f"{before:,} triples had been read by a run that was cut off."] if before else []), *reader.notes()]


class _Reader:
    """Reads piece after piece into the journal's lines."""

    def __init__(self, client: SparqlClient, journal: Journal, progress: Progress, total: int) -> None:
        self.client, self.journal, self.progress, self.total = client, journal, progress, total
        host = urlsplit(client.store.place)
        self.skolem = f"{host.scheme}://{host.netloc}/.well-known/genid/"
        self.shown = 0  # of the triples, as progress
        self.steady: bool | None = None  # whether blank nodes keep their labels from one reply to the next

    def read(self, piece: Piece) -> None:
        """Read a piece, in parts where it is too large."""
        graph, relation, begins = key = (piece.graph, piece.relation, piece.begins)
        if key in self.journal.done or not piece.rows:
            return
        begun = any(done[:2] == (graph, relation) and done[2].startswith(begins) for done in self.journal.done)
        if piece.rows > self.journal.most or begun:
            for part in self._split(piece):
                self.read(part)
            return
        got, counts = self._take(piece)
        if got == piece.rows:
            self.journal.add(piece, os.path.getsize(self.journal.folder / LINES), counts)
            return
        if got > piece.rows:
            raise self._mismatch(piece, f"more than {piece.rows:,}")
        if got < FEWEST_ROWS:  # no limit of rows explains it
            raise self._mismatch(piece, f"{got:,}")
        self.journal.most = min(self.journal.most, got)
        self.read(piece)

    def _mismatch(self, piece: Piece, got: str) -> StoreError:
        told = f"{self.client.store} counts {piece.rows:,} triples of {piece.relation}"
        return StoreError(f"{told}, and gives {got}; nothing is written, and the parts that are whole are kept.")

    def _split(self, piece: Piece) -> list[Piece]:
        """Count the parts of a piece, by more digits of the hash."""
        digits, told = 1, str(self.client.store)
        while digits < 2 and piece.rows / 16**digits > self.journal.most / 2:
            digits += 1
        end = len(piece.begins) + digits
        if end > MOST_DIGITS:
            raise StoreError(
                f"{told} gives {self.journal.most:,} rows at a time, and {piece.rows:,} triples of {piece.relation} "
                "cannot be told apart by head and tail; blank nodes, perhaps."
            )
        query = f"SELECT ?h (COUNT(*) AS ?n) WHERE {{ {piece.where} BIND(SUBSTR({KEY}, 1, {end}) AS ?h) }} GROUP BY ?h"
        rows = self.client.select(query)
        parts = [replace(piece, begins=row.get("h", ""), rows=_number(row, told)) for row in rows]
        odd = [part.begins for part in parts if not re.fullmatch(f"{piece.begins}[0-9a-f]{{{digits}}}", part.begins)]
        if odd or sum(part.rows for part in parts) != piece.rows:
            raise self._mismatch(piece, f"{sum(part.rows for part in parts):,} in parts")
        return sorted(parts, key=lambda part: part.begins)

    def _take(self, piece: Piece) -> tuple[int, dict[str, int]]:
        """Read the rows of a piece behind those that are there; smaller ones where the server breaks off."""
        path, trouble = self.journal.folder / LINES, RequestError()
        for attempt in range(TRIES):
            os.truncate(path, self.journal.size)
            try:
                with open(path, "ab") as file:
                    return self._copy(piece, file)
            except RequestError as error:
                trouble = error
                self.client.pause(attempt)
        if piece.rows // 16 < FEWEST_ROWS:
            raise StoreError(f"{self.client.store} cannot be read: {trouble}.") from None
        return piece.rows // 16, {}  # as if it had been cut: smaller parts may do

    def _copy(self, piece: Piece, file: Any) -> tuple[int, dict[str, int]]:
        got, counts = 0, dict(self.journal.counts)
        self.progress(self.journal.rows - self.shown, self.total)
        self.shown = self.journal.rows
        with self.client.construct(piece.query, piece.rows) as parts:
            for block in _whole_lines(parts):
                rows, lines = self._check(block, piece, counts)
                got += rows
                if got > piece.rows:
                    break
                file.write(lines)
                self.progress(rows, self.total)
                self.shown += rows
        file.flush()
        os.fsync(file.fileno())
        return got, counts

    def _check(self, block: bytes, piece: Piece, counts: dict[str, int]) -> tuple[int, bytes]:
        """Return how many triples there are in whole lines, and those lines as we write them."""
        block = TABS.sub(rb"\1 \2 \3 .", block) if b"\t" in block else block
        usual = USUAL.findall(block) if len(block) < MOST_LINE else []
        lines = STRING.sub(b'" .', b"".join(usual))
        if len(usual) == block.count(b"\n"):
            return len(usual), lines
        rest = (USUAL.sub(b"", block) if usual else block).decode("utf-8", "replace")
        text = [line for line in rest.splitlines() if line.strip() and line[0] != "#"]
        short = [line for line in text if len(line.encode()) < MOST_LINE]
        counts["long"] = counts.get("long", 0) + len(text) - len(short)
        try:
            quads = parse_rdf("N_TRIPLES", input="\n".join(short))
        except SyntaxError as error:
            raise RequestError(f"what it sends for {piece.relation} is no N-Triples ({error.msg})") from None
        except MissingExtraError:
            raise MissingExtraError("Reading what this store sends", "pyoxigraph", "store") from None
        written = [self._line(quad, piece, counts) for quad in quads]
        return len(usual) + len(text), lines + "".join(written).encode()

    def _line(self, quad: Any, piece: Piece, counts: dict[str, int]) -> str:
        terms = [str(quad.subject), str(quad.predicate), str(quad.object)]
        if not all(TERM.fullmatch(term) for term in terms):
            counts["annotations"] = counts.get("annotations", 0) + 1
            return ""
        if any(term.startswith("_:") for term in terms):
            steady = self._are_steady(piece)
            name = "blank" if steady else "nameless"
            counts[name] = counts.get(name, 0) + 1
            if not steady:
                return ""
            terms = [f"<{self.skolem}{term[2:]}>" if term.startswith("_:") else term for term in terms]
        return f"{' '.join(terms)} .\n"

    def _are_steady(self, piece: Piece) -> bool:
        """Say whether blank nodes keep their labels, so that those of two replies can be told to be the same."""
        if self.steady is None:
            query = f"SELECT ?s ?o WHERE {{ {piece.where} FILTER(isBlank(?s) || isBlank(?o)) }} LIMIT 20"
            first, second = (sorted(map(str, self.client.select(query))) for _ in range(2))
            self.steady = first == second
        return self.steady

    def notes(self) -> list[str]:
        """Say what was left out or changed."""
        counts, notes = self.journal.counts, []
        if counts.get("blank"):
            notes.append(f"{counts['blank']:,} triples have a blank node, which is named {self.skolem}... now.")
        if counts.get("nameless"):
            notes.append(f"{counts['nameless']:,} triples with a blank node are left out: its label does not last.")
        if counts.get("annotations"):
            notes.append(f"{counts['annotations']:,} triples about triples ({REIFIES}) are left out.")
        if counts.get("long"):
            notes.append(f"{counts['long']:,} triples of more than {MOST_LINE:,} bytes are left out.")
        return notes


def _whole_lines(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Give blocks of whole lines, of a megabyte or so."""
    held: list[bytes] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size < 1 << 20:
            continue
        block, newline, rest = b"".join(held).rpartition(b"\n")
        if newline:
            yield block + newline
        elif size > 64 * MOST_LINE:
            raise RequestError("it sends a line that does not end")
        held, size = [rest], len(rest)
    last = b"".join(held)
    if last.strip():
        yield last if last.endswith(b"\n") else last + b"\n"  # half a line is no N-Triples, and is found out
