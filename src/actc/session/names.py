"""What a person needs to judge a triple: names, descriptions, sentences, and what the graph already says.

Everything is looked up by id in a SQLite file made at the start, so that a graph of any size costs a running session no
memory. Names may be added later; whoever has the file open sees them with the next card.
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from actc.data.files import read_triples
from actc.errors import FileError
from actc.session.read_names import NAME_COLUMNS, NAMING, RDF_FORMATS, ending, read_names
from actc.session.store import Connections

VERSION = 2
FILE = "names.sqlite"
REASONS, SOURCE = "reasons", "source"  # kinds of texts
SCHEMA = f"""
    CREATE TABLE name (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, types TEXT NOT NULL, template TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE known (
        relation TEXT NOT NULL, head TEXT NOT NULL, tail TEXT NOT NULL, place INTEGER NOT NULL,
        PRIMARY KEY (relation, head, tail)
    ) WITHOUT ROWID;
    CREATE TABLE text (                  -- texts that lie beside a candidate: its row in the pool, and the text
        kind TEXT NOT NULL, triple INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (kind, triple)
    );
    PRAGMA user_version = {VERSION};
"""
# Made after the triples are in, which is several times quicker. SQLite puts the primary key after the columns named.
INDEXES = """
    CREATE INDEX known_head ON known (head);
    CREATE INDEX known_tail ON known (tail);
    CREATE INDEX known_place ON known (relation, place);
"""
MOST_PLACES = 2**32
LOOKED_AT = 24
"""Known triples of a relation among which the most alike are looked for."""
MOST_OF_ONE = 200
"""Facts of one entity that are looked at: some have millions."""


@dataclass(frozen=True)
class Named:
    """An entity or a relation as people know it.

    Parameters
    ----------
    id, name, description, types : str
        Empty where nothing is known, except that ``name`` is then the id.
    template : str
        Of a relation: a sentence with ``{head}`` and ``{tail}`` in it.
    """

    id: str
    name: str
    description: str = ""
    types: str = ""
    template: str = ""


class Names:
    """Look-ups in the file that :func:`write_names` made; for use by any thread.

    Parameters
    ----------
    path : Path
        The file.
    link : str
        The address of an entity, with ``{id}`` in it; empty where ids alone tell.
    """

    def __init__(self, path: Path, link: str = "") -> None:
        if not path.is_file():
            raise FileError(f"{path}: there is no such file; the session is incomplete.")
        self.path, self.link = path, link
        self._connections = Connections(path, lambda connection: None, writing=False)
        version = self._rows("PRAGMA user_version")[0][0]
        if version != VERSION:
            raise FileError(f"{path}: names of format {version}; this actc reads {VERSION}. Start the session anew.")

    def close(self) -> None:
        """Close the file."""
        self._connections.close()

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._connections.borrow() as connection:
            try:
                return connection.execute(sql, values).fetchall()
            except sqlite3.DatabaseError as error:
                raise FileError(f"{self.path}: the names are damaged ({error}); start the session anew.") from None

    def of(self, identifier: str) -> Named:
        """Return what is known about an entity or a relation."""
        columns = ", ".join(NAME_COLUMNS)
        rows = self._rows(f"SELECT {columns} FROM name WHERE id = ?", (identifier,))
        return Named(*rows[0]) if rows else Named(identifier, short_name(identifier))

    def search(self, word: str) -> list[str]:
        """Return the ids of what has a word in its name; small and capital Latin letters are the same."""
        pattern = "%" + re.sub(r"([%_\\])", r"\\\1", word) + "%"
        return [id for (id,) in self._rows("SELECT id FROM name WHERE name LIKE ? ESCAPE '\\'", (pattern,))]

    def count_named(self, identifiers: Iterable[str]) -> int:
        """Count the ids that have a name."""
        named = {row[0] for row in self._rows("SELECT id FROM name WHERE name != id")}
        return sum(identifier in named for identifier in identifiers)

    def texts(self, kind: str, triples: Iterable[int | None]) -> list[str]:
        """Return the text of a kind that lies beside each of some candidates; empty where there is none."""
        sql = "SELECT text FROM text WHERE kind = ? AND triple = ?"
        found = [self._rows(sql, (kind, triple)) for triple in triples]
        return [rows[0][0] if rows else "" for rows in found]

    def known_tails(self, head: str, relation: str, most: int) -> list[str]:
        """Return tails that the graph holds for (head, relation)."""
        sql = "SELECT tail FROM known WHERE relation = ? AND head = ? LIMIT ?"
        return [row[0] for row in self._rows(sql, (relation, head, most))]

    def holds(self, head: str, relation: str, tail: str) -> bool:
        """Say whether the graph holds a triple."""
        sql = "SELECT 1 FROM known WHERE relation = ? AND head = ? AND tail = ?"
        return bool(self._rows(sql, (relation, head, tail)))

    def facts(self, entity: str, besides: str, most: int) -> list[tuple[str, str, str]]:
        """Return known triples that an entity is in, one of each relation, those of one relation left out."""
        found: dict[str, tuple[str, str, str]] = {}
        for side in ("head", "tail"):
            sql = f"SELECT head, relation, tail FROM known WHERE {side} = ? AND relation != ? LIMIT ?"
            for triple in self._rows(sql, (entity, besides, MOST_OF_ONE)):
                found.setdefault(triple[1], triple)
        return list(found.values())[:most]

    def examples(self, relation: str, head: str, tail: str, most: int) -> list[tuple[str, str]]:
        """Return heads and tails of known triples of a relation, other heads than this, those alike in kind first.

        Things are alike if they share types; where types are not known, if they are in the same relations.
        """
        some = self._some(relation, head)
        kinds = self._kinds({head, tail}.union(*some)) if some else {}

        def unlike(pair: tuple[str, str]) -> float:
            return -sum(_overlap(kinds[ours], kinds[theirs]) for ours, theirs in zip((head, tail), pair, strict=True))

        by_head = {pair[0]: pair for pair in sorted(some, key=unlike, reverse=True)}  # the most alike of each head
        return sorted(by_head.values(), key=unlike)[:most]

    def _some(self, relation: str, head: str) -> list[tuple[str, str]]:
        """Return some known triples of a relation: others for other heads, always the same for the same one."""
        sql = "SELECT head, tail FROM known WHERE relation = ? AND place {} ? AND head != ? ORDER BY place LIMIT ?"
        start = zlib.crc32(head.encode("utf-8", "replace"))
        rows = self._rows(sql.format(">="), (relation, start, head, LOOKED_AT))
        return rows + self._rows(sql.format("<"), (relation, start, head, LOOKED_AT - len(rows)))

    def _kinds(self, entities: set[str]) -> dict[str, frozenset[str]]:
        """Return each entity's types, or the relations that it is the head of."""
        ids = list(entities)
        places = ", ".join("?" * len(ids))
        rows = self._rows(f"SELECT id, types FROM name WHERE id IN ({places}) AND types != ''", ids)
        kinds = {identifier: frozenset(types.lower().replace(",", " ").split()) for identifier, types in rows}
        if not kinds:
            sql = f"SELECT DISTINCT head, relation FROM known WHERE head IN ({places}) LIMIT ?"
            for entity, relation in self._rows(sql, (*ids, MOST_OF_ONE * LOOKED_AT)):
                kinds[entity] = kinds.get(entity, frozenset()) | {relation}
        return dict.fromkeys(ids, frozenset()) | kinds


def short_name(identifier: str) -> str:
    """Return what to call an id that has no name: the end of an IRI, the text of a literal, else the id itself."""
    if re.match(r"https?://", identifier):
        return unquote(re.split(r"[/#]", identifier.rstrip("/#"))[-1]).replace("_", " ") or identifier
    # One pattern for all of a literal would begin anew at every quote of a long text.
    text, _, kind = identifier.rpartition('"')
    is_literal = len(text) > 1 and text[0] == '"' and re.fullmatch(r"(@[\w-]+|\^\^<[^>]+>)?", kind)
    return text[1:] if is_literal else identifier


def _overlap(ours: frozenset[str], theirs: frozenset[str]) -> float:
    return len(ours & theirs) / max(len(ours | theirs), 1)


def write_names(
    path: Path, name_files: Sequence[Path], graph: Path | None, ids: Iterable[str] = (), language: str = "en"
) -> None:
    """Make the file of names and known triples.

    Parameters
    ----------
    path : Path
        The SQLite file to make.
    name_files : sequence of Path
        See :func:`actc.session.read_names.read_names`. Where two speak of one id, the later one counts.
    graph : Path, optional
        The triples that the graph holds: head, relation, tail.
    ids : iterable of str
        What the candidates speak of: of a dump or of RDF, only names of these and of the graph's are kept.
    language : str
        Which language counts.
    """
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        if graph is not None:
            connection.executemany(
                "INSERT OR IGNORE INTO known (head, relation, tail, place) VALUES (?, ?, ?, ?)",
                _placed(triple for triple in read_triples(graph) if not _names_something(triple)),
            )
        connection.executescript(INDEXES)
        connection.commit()
    add_names(path, name_files, ids, language)


def write_texts(path: Path, kind: str, rows: Iterable[tuple[int, str]]) -> None:
    """Put texts of a kind, each with its candidate's row, in the place of those there; all or none."""
    with closing(sqlite3.connect(path, timeout=30)) as connection, connection:
        connection.execute("DELETE FROM text WHERE kind = ?", (kind,))
        connection.executemany("INSERT INTO text VALUES (?, ?, ?)", ((kind, *row) for row in rows))


def _names_something(triple: Sequence[str]) -> bool:
    """Say whether a triple of RDF gives a name or a description: that is what cards call its head, no fact to show."""
    return triple[1] in NAMING and triple[2].startswith('"')


def _placed(triples: Iterable[Sequence[str]]) -> Iterator[tuple[Any, ...]]:
    """Give each triple a place that scatters neighbours (Knuth's multiplicative hashing of its number)."""
    for number, triple in enumerate(triples):
        yield *triple, number * 2654435761 % MOST_PLACES


def add_names(path: Path, name_files: Sequence[Path], ids: Iterable[str] = (), language: str = "en") -> None:
    """Add names to the file, all or none. See :func:`write_names`."""
    # One transaction: whoever reads meanwhile sees all of it or nothing.
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        selective = any(ending(file) in (*RDF_FORMATS, ".json", ".jsonl", ".ndjson") for file in name_files)
        wanted = _wanted(connection, ids) if selective else None
        for file in name_files:
            rows = read_names(file, language, wanted if ending(file) not in (".tsv", ".csv", ".parquet") else None)
            connection.executemany("INSERT OR REPLACE INTO name VALUES (?, ?, ?, ?, ?)", rows)
        connection.commit()


def _wanted(connection: sqlite3.Connection, ids: Iterable[str]) -> Container[str]:
    """Return what the candidates and the graph speak of."""
    sql = "SELECT head FROM known UNION SELECT tail FROM known UNION SELECT relation FROM known"
    return {row[0] for row in connection.execute(sql)}.union(ids)
