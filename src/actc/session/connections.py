"""SQLite connections that threads borrow and give back, so that all can be closed when a session is."""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote


class Connections:
    """As many connections as are in use at once.

    Parameters
    ----------
    connect : callable
        Opens a connection that any thread may use.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._idle: deque[sqlite3.Connection] = deque()

    @contextmanager
    def borrow(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection to one thread."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def close(self) -> None:
        """Close all that are not in use."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        """Close them with the session that used them; from Python 3.13 on SQLite warns where nobody did."""
        self.close()


def database_address(path: Path, writing: bool = True) -> str:
    """Return a database's address for SQLite: to read and write, or to read alone, where nothing can be written.

    SQLite keeps notes beside a database that is open. Where it cannot, on a read-only disk or in somebody else's
    folder, it opens one that nobody else writes, and that was closed: no notes are there.
    """
    address = f"file:{quote(os.fsencode(path))}"
    here = os.access(path if path.exists() else path.absolute().parent, os.W_OK)
    if here and os.access(path.absolute().parent, os.W_OK):
        return address if writing else f"{address}?mode=ro"
    closed = not path.with_name(path.name + "-wal").exists()
    return f"{address}?mode=ro{'&immutable=1' if closed else ''}"


def copy_database(connection: sqlite3.Connection, path: Path) -> None:
    """Write a copy of an open database to a new file, as of this moment."""
    with closing(sqlite3.connect(path)) as copy:
        connection.backup(copy)
