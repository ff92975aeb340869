"""The one SQLite file of a session: a committed answer is on the disk, and the history is never overwritten.

``judgement`` is the history: rows are only ever added, and triggers refuse anything else. ``answer`` has each
annotator's current answer to a triple (the last one not taken back), written in the same transactions. ``plan``,
``task`` and ``lease`` coordinate annotators and processes; no answer depends on them. Triggers keep the counts that
every exchange needs, so that an exchange costs the same after a hundred answers and after a hundred thousand.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from actc.data.database import database_address
from actc.data.triples import IntArray
from actc.errors import FileError

T = TypeVar("T")
FILE = "session.sqlite"
VERSION = 20
# What ``actc.session.lease_queue.Task`` has of a triple that is planned or was given out.
PLANNED = """
        head TEXT NOT NULL,
        relation TEXT NOT NULL,
        tail TEXT NOT NULL,
        score REAL NOT NULL,
        probability REAL,                -- of being true, when it was planned
        reason TEXT NOT NULL,
        wanted INTEGER NOT NULL,         -- how many annotators should judge it
        selection TEXT NOT NULL DEFAULT 'given',
        sampling_frame TEXT NOT NULL DEFAULT '',
        inclusion_probability REAL,
        round INTEGER NOT NULL DEFAULT 0 -- rounds of draws from a list that had begun
"""
SCHEMA = f"""
    CREATE TABLE setting (               -- what the session was started with, and every later change: the last counts
        id INTEGER PRIMARY KEY, at REAL NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL  -- in JSON
    ) STRICT;
    CREATE INDEX setting_name ON setting (name);
    CREATE TABLE annotator (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL CHECK (kind IN ('person', 'owner')),
        created REAL NOT NULL,
        answered INTEGER NOT NULL DEFAULT 0,  -- current answers
        link INTEGER NOT NULL DEFAULT 0       -- which link it is; below 0: void
    ) STRICT;
    CREATE TABLE task (                  -- a triple that was given out; never removed
        triple INTEGER PRIMARY KEY,      -- its row in the pool
        {PLANNED},
        answered INTEGER NOT NULL DEFAULT 0,  -- current answers
        labelled INTEGER NOT NULL DEFAULT 0   -- those of them that are true or false
    ) STRICT;
    CREATE INDEX task_shared ON task (triple) WHERE wanted > 1 AND wanted > answered;
    CREATE INDEX task_undecided ON task (triple) WHERE answered > 0 AND labelled = 0;
    CREATE TABLE total (                 -- one row: tasks with a label; changes of names and texts
        labels INTEGER NOT NULL, names INTEGER NOT NULL
    ) STRICT;
    INSERT INTO total VALUES (0, 0);
    CREATE TABLE plan (                  -- the triples to ask next; replaced after every refit
        place INTEGER PRIMARY KEY,
        triple INTEGER NOT NULL UNIQUE,
        {PLANNED}
    ) STRICT;
    CREATE TABLE lease (                 -- a triple that waits for an annotator's answer
        triple INTEGER NOT NULL REFERENCES task,
        annotator INTEGER NOT NULL REFERENCES annotator,
        purpose TEXT NOT NULL CHECK (purpose IN ('new', 'shared', 'again')),
        place INTEGER NOT NULL,
        expires REAL NOT NULL,
        PRIMARY KEY (annotator, triple)
    ) STRICT;
    CREATE INDEX lease_triple ON lease (triple, expires);
    CREATE TABLE judgement (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at REAL NOT NULL,
        annotator INTEGER NOT NULL REFERENCES annotator,
        triple INTEGER NOT NULL REFERENCES task,
        answer TEXT NOT NULL CHECK (answer IN ('true', 'false', 'unsure', 'undo')),
        purpose TEXT NOT NULL,
        key TEXT NOT NULL,               -- the sender's own name for it: sent twice, it is stored once
        seconds REAL,
        note TEXT NOT NULL,
        shown TEXT NOT NULL,             -- the sentence on the card, and when reasons
        probability REAL,
        undoes INTEGER UNIQUE REFERENCES judgement,
        UNIQUE (annotator, key)
    ) STRICT;
    CREATE INDEX judgement_annotator ON judgement (annotator, id);
    CREATE INDEX judgement_triple ON judgement (triple);
    CREATE INDEX judgement_noted ON judgement (triple) WHERE note != '';
    CREATE TABLE answer (                -- the current answer of an annotator to a triple
        triple INTEGER NOT NULL,
        annotator INTEGER NOT NULL,
        label INTEGER,                   -- 1 true, 0 false, NULL unsure
        judgement INTEGER NOT NULL REFERENCES judgement,
        PRIMARY KEY (triple, annotator)
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX answer_annotator ON answer (annotator, judgement);
    CREATE TABLE refit (                 -- what the method expects after so many answers
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        judgement INTEGER NOT NULL,      -- the last judgement that it used
        content TEXT NOT NULL
    ) STRICT;
    CREATE TABLE relations (one INTEGER PRIMARY KEY CHECK (one = 1), content TEXT NOT NULL) STRICT;  -- all

    CREATE TABLE judge (                 -- a machine, and the way to ask it
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created REAL NOT NULL, way TEXT NOT NULL DEFAULT ''
    ) STRICT;
    CREATE TABLE reply (
        judge INTEGER NOT NULL REFERENCES judge,
        key TEXT NOT NULL,               -- of everything that the judge read
        triple INTEGER NOT NULL,         -- its row in the pool
        answer TEXT CHECK (answer IN ('true', 'false', 'unsure')),   -- NULL: the reply could not be read
        probability REAL,
        reason TEXT NOT NULL,
        at REAL NOT NULL,
        tokens_in INTEGER NOT NULL,
        tokens_out INTEGER NOT NULL,
        PRIMARY KEY (judge, key)
    ) STRICT;

    CREATE TABLE name (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, types TEXT NOT NULL, template TEXT NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE known (                 -- the triples of the graph
        relation TEXT NOT NULL, head TEXT NOT NULL, tail TEXT NOT NULL, place INTEGER NOT NULL,
        PRIMARY KEY (relation, head, tail)
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE text (                  -- texts of a candidate: its row in the pool, and the text
        kind TEXT NOT NULL, triple INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (kind, triple)
    ) STRICT;

    CREATE VIEW vote AS                  -- a current answer that is a label; the owner's outweighs all others
        SELECT answer.triple, answer.annotator, name, kind, judgement, at, label,
            (2 * label - 1) * CASE kind WHEN 'owner' THEN 1000000 ELSE 1 END AS weight
        FROM answer JOIN annotator ON annotator.id = answer.annotator JOIN judgement ON judgement.id = judgement
        WHERE label IS NOT NULL;

    CREATE TRIGGER judgement_is_not_changed BEFORE UPDATE ON judgement
        BEGIN SELECT raise(ABORT, 'a judgement is never changed'); END;
    CREATE TRIGGER judgement_is_not_deleted BEFORE DELETE ON judgement
        BEGIN SELECT raise(ABORT, 'a judgement is never deleted'); END;
    CREATE TRIGGER total_is_not_deleted BEFORE DELETE ON total
        BEGIN SELECT raise(ABORT, 'the counts are never deleted'); END;
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
CHECKED = "setting annotator task total plan lease judgement answer refit relations judge"
"""The tables whose pages are checked on opening; the others may be as large as a graph."""


class Store:
    """One SQLite file; writers of this process wait for each other here: SQLite would let them sleep and try again.

    Without ``synced`` a commit is not synced to the disk. A planner does so: what it writes can be computed again, and
    the judgements of others wait while it has the file.
    """

    def __init__(self, path: Path, create: bool = False, synced: bool = True) -> None:
        self.path, self._synced = path, synced
        if not create and not path.is_file():
            raise FileError(f"{path.parent} is no annotation session; start one with `actc start`.")
        self._idle: deque[sqlite3.Connection] = deque()
        self._writing, self._leading = threading.Lock(), threading.Lock()
        self._waiting: deque[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]] = deque()
        try:
            if create:
                self.rows("PRAGMA journal_mode = WAL")
                with self.connect() as connection:
                    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
            version = self.value("PRAGMA user_version")
            if version == 0:
                raise FileError(f"{path}: this is no database of an annotation session.")
            if version != VERSION:
                raise FileError(
                    f"{path.parent}: this session has format {version}, this actc reads {VERSION}; "
                    "open it with the actc that made it, and use `actc export` there."
                )
        except sqlite3.DatabaseError as error:
            raise FileError(f"{path}: the database cannot be opened ({error}).") from None

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection to one thread; there are as many as are in use at once."""
        try:
            connection = self._idle.pop()
        except IndexError:
            address = database_address(self.path)
            connection = sqlite3.connect(address, timeout=30, isolation_level=None, check_same_thread=False, uri=True)
            connection.row_factory = sqlite3.Row
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._synced else 'NORMAL'}")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA cache_size = -512")  # in KB; there may be as many connections as threads
            connection.execute("PRAGMA wal_autocheckpoint = 4000")  # pages; each time, one answer waits for two syncs
        try:
            yield connection
        except sqlite3.Error as error:
            error.add_note(str(self.path))
            raise
        finally:
            self._idle.append(connection)

    def close(self) -> None:
        """Close all connections that are not in use."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        """Close the connections with the session that used them; from Python 3.13 on SQLite warns of open ones."""
        if hasattr(self, "_idle"):
            self.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write: all of it is on the disk when the block ends, or none of it."""
        with self._writing, self.connect() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk ends it by itself
                    connection.execute("ROLLBACK")
                raise

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work in a transaction, and return its result once that is on the disk.

        Threads that wait share one transaction, and so one sync of the disk: the one with the lock works for all of
        them. Work that fails is rolled back alone.
        """
        mine: Future[T] = Future()
        self._waiting.append((work, mine))
        with self._leading:
            if not mine.done():
                self._write_waiting()
        return mine.result()

    def _write_waiting(self) -> None:
        batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
        outcomes: list[tuple[Callable[[Any], None], Any]] = []
        try:
            with self.transaction() as connection:
                for work, future in batch:
                    connection.execute("SAVEPOINT one")
                    try:
                        outcomes.append((future.set_result, work(connection)))
                    except Exception as error:
                        if not connection.in_transaction:  # a full disk ends it for everybody
                            raise
                        outcomes.append((future.set_exception, error))
                        connection.execute("ROLLBACK TO one")
                    connection.execute("RELEASE one")
        except Exception as error:  # the commit itself failed: no work of the batch is on the disk
            outcomes = [(future.set_exception, error) for _, future in batch]
        for settle, outcome in outcomes:
            settle(outcome)

    def rows(self, sql: str, values: Any = ()) -> list[sqlite3.Row]:
        """Read rows."""
        with self.connect() as connection:
            return connection.execute(sql, values).fetchall()

    def value(self, sql: str, values: Any = ()) -> Any:
        """Read the first value of the first row; None if there is none."""
        return next((row[0] for row in self.rows(sql, values)), None)

    def integers(self, sql: str) -> IntArray:
        """Read one column of whole numbers: they become an array one by one, and take no more memory than it."""
        with self.connect() as connection:
            return np.fromiter((number for (number,) in connection.execute(sql)), dtype=np.int64)

    def check(self) -> None:
        """Refuse a database of which SQLite finds that it is damaged."""
        try:
            results = [self.value(f"PRAGMA quick_check({table})") for table in CHECKED.split()]
            wrong = next((problem for problem in results if problem != "ok"), None)
            if self.rows("PRAGMA foreign_key_check"):
                wrong = "rows refer to rows that are not there"
        except sqlite3.DatabaseError as error:
            wrong = str(error)
        if wrong is not None:
            raise FileError(f"{self.path}: the database is damaged ({wrong}); put back a copy of the session.")
