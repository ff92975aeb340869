"""Texts that lie beside a session's candidates, one for each candidate that has any: a small SQLite file, written once.

Its table ``by_triple`` has two columns: ``triple`` (the candidate's row in the pool, as judgements and tasks call it)
and ``text``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from actc.data.deliver import write_beside
from actc.data.sqlite import database_address


def write_by_triple(path: Path, rows: Iterable[tuple[int, str]]) -> None:
    """Write texts, each with its triple, in place of those there."""
    with write_beside(path) as temporary, closing(sqlite3.connect(temporary)) as connection:
        connection.execute("CREATE TABLE by_triple (triple INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        connection.executemany("INSERT INTO by_triple VALUES (?, ?)", rows)
        connection.commit()


def read_by_triple(path: Path, triples: Sequence[int | None]) -> list[str]:
    """Return the text of each of some triples; empty where there is none, no triple or no file."""
    if not path.exists():
        return [""] * len(triples)
    with closing(sqlite3.connect(database_address(path, writing=False), uri=True)) as connection:
        sql = "SELECT text FROM by_triple WHERE triple = ?"
        found = [connection.execute(sql, (triple,)).fetchone() for triple in triples]
    return [row[0] if row else "" for row in found]
