"""What a person needs to judge a triple: names, descriptions, sentences, and what the graph already says.

Everything is looked up by id in a SQLite file made once, at the start, so that a graph of any size costs a running
session no memory.
"""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actc.errors import FileError
from actc.session.connections import Connections
from actc.tables.database import open_database
from actc.tables.files import open_text, quote_file, read_failed, read_triples

SCHEMA = """
    CREATE TABLE name (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, types TEXT NOT NULL, template TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE known (
        relation TEXT NOT NULL, head TEXT NOT NULL, tail TEXT NOT NULL, PRIMARY KEY (relation, head, tail)
    ) WITHOUT ROWID;
"""
NAME_COLUMNS = ("id", "name", "description", "types", "template")
NAME_ALIASES = {
    "label": "name",
    "entity": "id",
    "relation": "id",
    "type": "types",
    "definition": "description",
    "sentence": "template",
}


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
    """Look-ups in the file that :func:`write_names` made; for use by any thread."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise FileError(f"{path}: there is no such file; the session is incomplete.")
        address = f"{path.absolute().as_uri()}?mode=ro"
        self._connections = Connections(lambda: sqlite3.connect(address, uri=True, check_same_thread=False))

    def close(self) -> None:
        """Close the file."""
        self._connections.close()

    def _rows(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        with self._connections.borrow() as connection:
            return connection.execute(sql, values).fetchall()

    def of(self, identifier: str) -> Named:
        """Return what is known about an entity or a relation."""
        columns = ", ".join(NAME_COLUMNS)
        rows = self._rows(f"SELECT {columns} FROM name WHERE id = ?", (identifier,))
        return Named(*rows[0]) if rows else Named(identifier, identifier)

    def known_tails(self, head: str, relation: str, most: int) -> list[str]:
        """Return tails that the graph holds for (head, relation)."""
        sql = "SELECT tail FROM known WHERE relation = ? AND head = ? LIMIT ?"
        return [row[0] for row in self._rows(sql, (relation, head, most))]

    def examples(self, relation: str, besides: str, most: int) -> list[tuple[str, str]]:
        """Return heads and tails of known triples of a relation, those of one head left out."""
        # Starting at a place that depends on the head shows different examples on different cards, at no cost.
        sql = "SELECT head, tail FROM known WHERE relation = ? AND head {} ? GROUP BY head LIMIT ?"
        rows = self._rows(sql.format(">"), (relation, besides, most))
        rows += self._rows(sql.format("<"), (relation, besides, most - len(rows)))
        return [(head, tail) for head, tail in rows]


def write_names(path: Path, name_files: Sequence[Path], graph: Path | None) -> None:
    """Make the file of names and known triples.

    Parameters
    ----------
    path : Path
        The SQLite file to make.
    name_files : sequence of Path
        TSV, CSV or Parquet with the columns id, name, description, types, template (all but id optional), or JSON
        (``{"Q42": {"label": ..., "description": ...}}``). Where two speak of one id, the later one counts.
    graph : Path, optional
        The triples that the graph holds: head, relation, tail.
    """
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        for file in name_files:
            connection.executemany("INSERT OR REPLACE INTO name VALUES (?, ?, ?, ?, ?)", read_names(file))
        if graph is not None:
            connection.executemany(
                "INSERT OR IGNORE INTO known (head, relation, tail) VALUES (?, ?, ?)", read_triples(graph)
            )
        connection.commit()


def read_names(path: Path) -> Iterator[tuple[str, ...]]:
    """Read (id, name, description, types, template) rows from a table or a JSON file."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such file.")
    rows = _read_json(path) if ".json" in path.suffixes else _read_table(path)
    try:
        for row in rows:
            values = [str(row.get(column) or "") for column in NAME_COLUMNS]
            values[1] = values[1] or values[0]
            yield tuple(values)
    except UnicodeDecodeError:
        raise FileError(f"{path}: the text is not UTF-8; convert the file first.") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise FileError(f"{path}: the gzip file is truncated or damaged; copy or download it again.") from None


def _read_json(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with open_text(path) as lines:
            content = json.load(lines)
    except json.JSONDecodeError as error:
        raise FileError(f"{path}: this is no JSON file ({error}).") from None
    if not isinstance(content, dict):
        raise FileError(f"{path}: an object was expected, with one entry per id.")
    for identifier, entry in content.items():
        fields = entry if isinstance(entry, dict) else {"name": entry}
        yield {"id": identifier} | _renamed(fields.items())


def _read_table(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".parquet":
        yield from _read_parquet(path)
        return
    delimiter = "," if ".csv" in path.suffixes else "\t"
    with open_text(path) as lines:
        header = next(lines, "").rstrip("\r\n").split(delimiter)
        columns = list(_renamed((name.strip().lower(), name) for name in header))
        if "id" not in columns:
            raise FileError(f"{path}, line 1: a column 'id' is needed (found: {', '.join(header)}).")
        for number, row in enumerate(_split(lines, delimiter), start=2):
            if len(row) > len(columns):
                raise FileError(
                    f"{path}, line {number}: {len(row)} columns were found where the header has {len(columns)}."
                )
            yield dict(zip(columns, row, strict=False))


def _split(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    if delimiter == ",":
        yield from csv.reader(lines)
    else:
        for line in lines:
            if line.strip():
                yield line.rstrip("\r\n").split("\t")


def _read_parquet(path: Path) -> Iterator[dict[str, Any]]:
    import duckdb

    with open_database() as connection:
        try:
            found = connection.execute(f"SELECT * FROM read_parquet({quote_file(path)}, hive_partitioning=false)")
        except duckdb.Error as error:
            raise read_failed(path, error) from None
        columns = [name[0].lower() for name in found.description or []]
        while rows := found.fetchmany(10_000):
            for row in rows:
                yield _renamed(zip(columns, row, strict=True))


def _renamed(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {NAME_ALIASES.get(name, name): value for name, value in fields}
