"""SQLite connections that threads borrow and give back, so that all can be closed when a session is."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
