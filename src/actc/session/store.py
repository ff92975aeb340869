"""The judgements of a session in SQLite: what is committed is on the disk, and what was said is never overwritten.

``judgement`` is the history: rows are only ever added, and triggers refuse anything else. ``answer`` is what follows
from it (each annotator's standing answer to a triple: the last one not taken back), kept in the same transactions.
``plan``, ``task`` and ``lease`` say who is asked what: they coordinate several annotators and several processes, and no
answer depends on them. Triggers keep the counts that every exchange needs, so that an exchange costs the same after a
hundred answers and after a hundred thousand.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from actc.data.database import database_address
from actc.data.triples import IntArray
from actc.errors import FileError

T = TypeVar("T")
MOST_AT_ONCE = 4096
"""Rows that are held as Python's numbers while they become an array: memory once used for many is not given back."""

# What ``actc.session.ask.Task`` says of a triple that is planned or was given out.
PLANNED = """
        head TEXT NOT NULL,
        relation TEXT NOT NULL,
        tail TEXT NOT NULL,
        score REAL NOT NULL,
        probability REAL,                -- what the model thought when it asked
        reason TEXT NOT NULL,
        wanted INTEGER NOT NULL,         -- how many annotators should judge it
        selection TEXT NOT NULL DEFAULT 'given',
        sampling_frame TEXT NOT NULL DEFAULT '',
        inclusion_probability REAL,
        round INTEGER NOT NULL DEFAULT 0 -- rounds of draws from a list that had begun
"""
FILE = "judgements.sqlite"
VERSION = 17
# Triggers keep the counts, see above.
SCHEMA = f"""
    CREATE TABLE setting (one INTEGER PRIMARY KEY CHECK (one = 1), content TEXT NOT NULL);  -- what it was started with
    CREATE TABLE annotator (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,                   -- person or owner
        created REAL NOT NULL,
        answered INTEGER NOT NULL DEFAULT 0,  -- standing answers
        link INTEGER NOT NULL DEFAULT 0       -- which link it is; below 0: void
    );
    CREATE TABLE task (                  -- a triple that was given to somebody; never removed
        triple INTEGER PRIMARY KEY,      -- its row in the pool
        {PLANNED},
        answered INTEGER NOT NULL DEFAULT 0,  -- standing answers
        labelled INTEGER NOT NULL DEFAULT 0   -- those of them that are true or false
    );
    CREATE INDEX task_shared ON task (triple) WHERE wanted > 1 AND wanted > answered;
    CREATE INDEX task_undecided ON task (triple) WHERE answered > 0 AND labelled = 0;
    CREATE TABLE total (labels INTEGER NOT NULL);  -- one row: tasks with a label
    INSERT INTO total VALUES (0);
    CREATE TABLE plan (                  -- the triples to ask next; replaced after every refit
        place INTEGER PRIMARY KEY,
        triple INTEGER NOT NULL UNIQUE,
        {PLANNED}
    );
    CREATE TABLE lease (                 -- a triple that waits for an annotator's answer
        triple INTEGER NOT NULL REFERENCES task,
        annotator INTEGER NOT NULL REFERENCES annotator,
        purpose TEXT NOT NULL CHECK (purpose IN ('new', 'shared', 'again')),
        place INTEGER NOT NULL,
        expires REAL NOT NULL,
        PRIMARY KEY (annotator, triple)
    );
    CREATE INDEX lease_triple ON lease (triple, expires);
    CREATE TABLE judgement (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at REAL NOT NULL,
        annotator INTEGER NOT NULL REFERENCES annotator,
        triple INTEGER NOT NULL REFERENCES task,
        said TEXT NOT NULL CHECK (said IN ('true', 'false', 'unsure', 'undo')),
        purpose TEXT NOT NULL,
        key TEXT NOT NULL,               -- the sender's own name for it: sent twice, it is stored once
        seconds REAL,
        note TEXT NOT NULL,
        shown TEXT NOT NULL,             -- the sentence on the card, and whether the score was there to see
        probability REAL,
        undoes INTEGER UNIQUE REFERENCES judgement,
        UNIQUE (annotator, key)
    );
    CREATE INDEX judgement_annotator ON judgement (annotator, id);
    CREATE INDEX judgement_triple ON judgement (triple);
    CREATE INDEX judgement_noted ON judgement (triple) WHERE note != '';
    CREATE TABLE answer (                -- the standing answer of an annotator to a triple
        triple INTEGER NOT NULL,
        annotator INTEGER NOT NULL,
        label INTEGER,                   -- 1 true, 0 false, NULL unsure
        judgement INTEGER NOT NULL REFERENCES judgement,
        PRIMARY KEY (triple, annotator)
    ) WITHOUT ROWID;
    CREATE INDEX answer_annotator ON answer (annotator, judgement);
    CREATE TABLE outlook (               -- what the model made of the answers, refit by refit
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        judgement INTEGER NOT NULL,      -- the last judgement it had seen
        content TEXT NOT NULL
    );
    CREATE TABLE latest (one INTEGER PRIMARY KEY CHECK (one = 1), relations TEXT NOT NULL);  -- of the last refit
    -- What the owner changed, and when; the last one counts.
    CREATE TABLE budget (id INTEGER PRIMARY KEY, at REAL NOT NULL, triples INTEGER NOT NULL);
    CREATE TABLE pause (id INTEGER PRIMARY KEY, at REAL NOT NULL, paused INTEGER NOT NULL CHECK (paused IN (0, 1)));
    CREATE TABLE choice (id INTEGER PRIMARY KEY, at REAL NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL);

    CREATE TRIGGER judgement_is_not_changed BEFORE UPDATE ON judgement
        BEGIN SELECT raise(ABORT, 'a judgement is never changed'); END;
    CREATE TRIGGER judgement_is_not_deleted BEFORE DELETE ON judgement
        BEGIN SELECT raise(ABORT, 'a judgement is never deleted'); END;
    CREATE TRIGGER answer_is_counted AFTER INSERT ON answer BEGIN
        UPDATE annotator SET answered = answered + 1 WHERE id = new.annotator;
        UPDATE task SET answered = answered + 1, labelled = labelled + (new.label IS NOT NULL)
            WHERE triple = new.triple;
    END;
    CREATE TRIGGER answer_is_discounted AFTER DELETE ON answer BEGIN
        UPDATE annotator SET answered = answered - 1 WHERE id = old.annotator;
        UPDATE task SET answered = answered - 1, labelled = labelled - (old.label IS NOT NULL)
            WHERE triple = old.triple;
    END;
    CREATE TRIGGER answer_is_not_changed BEFORE UPDATE ON answer   -- the counts follow inserts and deletes only
        BEGIN SELECT raise(ABORT, 'an answer is deleted and inserted, not updated'); END;
    CREATE TRIGGER label_is_counted AFTER UPDATE OF labelled ON task
        WHEN (new.labelled > 0) != (old.labelled > 0)
        BEGIN UPDATE total SET labels = labels + (new.labelled > 0) - (old.labelled > 0); END;
    PRAGMA user_version = {VERSION};
"""
# Of the tables of a few rows that every look reads; each finds something that nobody's session ever wrote.
STRANGE = {
    "somebody is neither a person nor the owner": "SELECT 1 FROM annotator WHERE kind NOT IN ('person', 'owner')",
    "a setting is missing": "SELECT 1 WHERE (SELECT count(*) FROM setting WHERE typeof(content) = 'text') != 1",
    "a count is missing": "SELECT 1 WHERE (SELECT count(*) FROM total WHERE typeof(labels) = 'integer') != 1",
    "a budget is no number": "SELECT 1 FROM budget WHERE typeof(triples) != 'integer' OR typeof(at) != 'real'",
    "a pause has no time": "SELECT 1 FROM pause WHERE typeof(at) != 'real'",
    "a choice has no time": "SELECT 1 FROM choice WHERE typeof(at) != 'real'",
}


class Connections:
    """As many connections to a file as are in use at once.

    Parameters
    ----------
    path : Path
        The file.
    prepare : callable
        Sets up a new connection. It must not refer to whoever has these connections: they would wait for the garbage
        collector, and SQLite changes a database when the last connection to it closes.
    writing : bool
        Whether they are for writing, too.
    """

    def __init__(self, path: Path, prepare: Callable[[sqlite3.Connection], object], writing: bool = True) -> None:
        self._path, self._prepare, self._writing = path, prepare, writing
        self._idle: deque[sqlite3.Connection] = deque()

    def _connect(self) -> sqlite3.Connection:
        address = database_address(self._path, self._writing)
        connection = sqlite3.connect(address, timeout=30, isolation_level=None, check_same_thread=False, uri=True)
        self._prepare(connection)
        return connection

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


def _prepare(connection: sqlite3.Connection) -> None:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -512")  # in KB; there may be as many connections as threads
    connection.execute("PRAGMA wal_autocheckpoint = 4000")  # pages; each time, one answer waits for two more syncs


def _prepare_synced(connection: sqlite3.Connection) -> None:
    _prepare(connection)
    connection.execute("PRAGMA synchronous = FULL")


class _Waiting:
    """A piece of work that waits for its transaction."""

    def __init__(self, work: Callable[[sqlite3.Connection], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: Exception | None = None
        self.done = False

    def run(self, connection: sqlite3.Connection) -> None:
        connection.execute("SAVEPOINT one")
        try:
            self.result = self.work(connection)
        except Exception as error:
            if not connection.in_transaction:  # a full disk ends it for everybody
                raise
            self.error = error
            connection.execute("ROLLBACK TO one")
        connection.execute("RELEASE one")


class Store:
    """One SQLite file; writers of this process wait for each other here: SQLite would let them sleep and try again.

    Parameters
    ----------
    path : Path
        The file.
    settings : str, optional
        What the session is started with: the file is made; otherwise it must be there.
    synced : bool
        Sync every commit to the disk. A planner does not: what it writes can be worked out again, and the judgements
        of others wait while it has the file.
    """

    def __init__(self, path: Path, settings: str | None = None, synced: bool = True) -> None:
        self.path = path
        if settings is None and not path.is_file():
            raise FileError(f"{path.parent} is no annotation session; start one with `actc start`.")
        self._connections = Connections(path, _prepare_synced if synced else _prepare)
        self._writing = threading.Lock()
        self._lock_of_leader = threading.Lock()
        self._waiting: deque[_Waiting] = deque()
        self._open(settings)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write: all of it is on the disk when the block ends, or none of it."""
        with self._writing, self._connections.borrow() as connection, self._named():
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk ends it by itself
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Let an error of SQLite's say which file it is about."""
        try:
            yield
        except sqlite3.Error as error:
            error.add_note(str(self.path))
            raise

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work in a transaction, and return its result once that is on the disk.

        Threads that wait share one transaction, and so one sync of the disk: whoever has the lock works for all of
        them. Work that fails is rolled back alone.
        """
        mine = _Waiting(work)
        self._waiting.append(mine)
        with self._lock_of_leader:
            if not mine.done:
                self._write_waiting()
        if mine.error is not None:
            raise mine.error
        return cast(T, mine.result)

    def _write_waiting(self) -> None:
        batch: list[_Waiting] = []
        while self._waiting:
            batch.append(self._waiting.popleft())
        try:
            with self.transaction() as connection:
                for one in batch:
                    one.run(connection)
        except Exception as error:  # the commit itself failed: nobody's work is on the disk
            for one in batch:
                one.error = error
        for one in batch:
            one.done = True

    def rows(self, sql: str, values: Any = ()) -> list[sqlite3.Row]:
        """Read rows."""
        with self._connections.borrow() as connection, self._named():
            return connection.execute(sql, values).fetchall()

    def value(self, sql: str, values: Any = ()) -> Any:
        """Read the first value of the first row; None if there is none."""
        rows = self.rows(sql, values)
        return rows[0][0] if rows else None

    def integers(self, sql: str, values: Any = (), columns: int = 1) -> IntArray:
        """Read whole numbers, shape (rows, columns): of many rows many times as fast as one by one."""
        with self._connections.borrow() as connection, self._named():
            cursor = connection.cursor()
            cursor.row_factory = None
            cursor.execute(sql, values)
            parts = [np.zeros(0, dtype=np.int64)]
            while some := cursor.fetchmany(MOST_AT_ONCE):
                parts.append(np.fromiter(chain.from_iterable(some), dtype=np.int64, count=columns * len(some)))
        return np.concatenate(parts).reshape(-1, columns)

    def check(self) -> None:
        """Refuse a database of which SQLite says that it is damaged."""
        try:
            wrong = self.value("PRAGMA quick_check")
            if self.rows("PRAGMA foreign_key_check"):
                wrong = "rows refer to rows that are not there"
        except sqlite3.DatabaseError as error:
            wrong = str(error)
        if wrong != "ok":
            raise FileError(f"{self.path}: the database is damaged ({wrong}); put back a copy of the session.")

    def close(self) -> None:
        """Close the file."""
        self._connections.close()

    def _open(self, settings: str | None) -> None:
        """Make the tables, if asked to; refuse a file of another format, or with what no session ever wrote."""
        try:
            if settings is not None:
                self.rows("PRAGMA journal_mode = WAL")
                with self._connections.borrow() as connection:
                    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
                self.rows("INSERT INTO setting VALUES (1, ?)", (settings,))
            version = self.value("PRAGMA user_version")
            if version == 0:
                raise FileError(f"{self.path}: this is no database of an annotation session.")
            if version != VERSION:
                raise FileError(
                    f"{self.path.parent}: this session has format {version}, this actc reads {VERSION}; "
                    "open it with the actc that made it, and use `actc export` there."
                )
            strange = [problem for problem, sql in STRANGE.items() if self.value(f"SELECT EXISTS ({sql})")]
        except sqlite3.DatabaseError as error:
            raise FileError(f"{self.path}: the database cannot be opened ({error}).") from None
        if strange:
            raise FileError(f"{self.path}: the database is damaged ({strange[0]}); put back a copy of the session.")
