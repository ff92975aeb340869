"""What machines said, in a file of its own beside a session's judgements.

A hundred thousand machine answers cost people's answers nothing there: no page, no count and no check reads them. Each
answer is on the disk when the next one is taken; (judge, key of the question) is stored once.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.database import database_address
from actc.data.deliver import try_to_lock
from actc.decide.judge_answers import JudgeAnswers
from actc.errors import FileError, OptionError
from actc.session.replies import Question, Reply, key_of

FILE = "judges.sqlite"
VERSION = 4
MOST_NAME = 80  # characters
SCHEMA = f"""
    CREATE TABLE judge (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created REAL NOT NULL);
    CREATE TABLE reply (
        judge INTEGER NOT NULL REFERENCES judge,
        key TEXT NOT NULL,               -- of everything that the judge was told
        triple INTEGER NOT NULL,         -- its row in the pool
        said TEXT CHECK (said IN ('true', 'false', 'unsure')),   -- NULL: what came made no sense
        probability REAL,
        reason TEXT NOT NULL,
        at REAL NOT NULL,
        tokens_in INTEGER NOT NULL,
        tokens_out INTEGER NOT NULL,
        PRIMARY KEY (judge, key)
    );
    CREATE TABLE way (judge INTEGER PRIMARY KEY REFERENCES judge, way TEXT NOT NULL);    -- how it is asked
    PRAGMA user_version = {VERSION};
"""


def tidy_name(name: str, whose: str) -> str:
    """Return a name without needless spaces; refuse one that is no name."""
    name = " ".join(name.split())
    if not 0 < len(name) <= MOST_NAME or not name.isprintable():
        raise OptionError(f"The name of {whose} has 1 to {MOST_NAME} printable characters.")
    return name


class ReplyStore:
    """The machine answers of a session.

    Parameters
    ----------
    folder : path
        The session's folder.
    create : bool
        Make the file if it is not there; otherwise a session without one has no machine answers.
    """

    def __init__(self, folder: str | Path, create: bool = False) -> None:
        self.path = Path(folder) / FILE
        if create and not self.path.exists():
            self._make()

    def _make(self) -> None:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Open the file; each statement is a transaction of its own."""
        try:
            address = database_address(self.path)
            with closing(sqlite3.connect(address, timeout=30, isolation_level=None, uri=True)) as connection:
                # In WAL mode what is committed survives the end of any process, and one sync at a checkpoint is enough.
                connection.execute("PRAGMA synchronous = NORMAL")
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version != VERSION:
                    raise FileError(
                        f"{self.path}: machine answers of format {version}; this actc reads {VERSION}. "
                        "Move the file away and ask the judges again."
                    )
                yield connection
        except sqlite3.DatabaseError as error:
            raise FileError(f"{self.path}: the machine answers cannot be opened ({error}).") from None

    def _rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Read rows; none of a session without machine answers."""
        if not self.path.exists():
            return []
        with self.open() as connection:
            return connection.execute(sql, values).fetchall()

    def add_judge(self, name: str) -> int:
        """Return the number of the judge of that name, new or not."""
        name = tidy_name(name, "a judge")
        with self.open() as connection:
            connection.execute("INSERT OR IGNORE INTO judge (name, created) VALUES (?, ?)", (name, time.time()))
            return int(connection.execute("SELECT id FROM judge WHERE name = ?", (name,)).fetchone()[0])

    @contextmanager
    def alone(self, judge: int) -> Iterator[None]:
        """Hold a judge while a run asks it: a second run would ask the same questions. A killed run holds nothing."""
        with open(self.path.with_name(f".judge-{judge}.lock"), "a", encoding="ascii") as file:
            if try_to_lock(file) is False:
                raise OptionError(
                    "Another run is asking this judge now; wait for it, end it, or give this one a --name of its own."
                )
            yield

    def way(self, judge: int) -> str:
        """Return how a judge is asked, if that was found out."""
        rows = self._rows("SELECT way FROM way WHERE judge = ?", judge)
        return str(rows[0][0]) if rows else ""

    def keep_way(self, judge: int, way: str) -> None:
        """Remember how a judge is asked."""
        with self.open() as connection:
            connection.execute("INSERT OR REPLACE INTO way VALUES (?, ?)", (judge, way))

    def keys(self, judge: int) -> set[str]:
        """Return the questions that a judge was asked before."""
        return {key for (key,) in self._rows("SELECT key FROM reply WHERE judge = ?", judge)}

    def keep(self, judge: int, replies: Iterable[tuple[Question, Reply]]) -> Iterator[Reply]:
        """Store replies as they come, each on the disk before it is passed on; one that is there already stays."""
        with self.open() as connection:
            for question, reply in replies:
                values = (judge, question.key, question.triple, reply.said, reply.probability, reply.reason)
                connection.execute(
                    "INSERT OR IGNORE INTO reply VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*values, time.time(), reply.tokens_in, reply.tokens_out),
                )
                yield reply

    def add_answers(self, judged: JudgeAnswers) -> int:
        """Store answers that judges gave elsewhere, once however often; return how many were new."""
        before = sum(self.counts().values())
        for judge, name in enumerate(judged.names):
            mine = judged.judges == judge
            replies = (
                (Question(row, key_of("import", row, signal), {}), _reply_of(signal))
                for row, signal in zip(judged.rows[mine].tolist(), judged.signals[mine].tolist(), strict=True)
            )
            for _ in self.keep(self.add_judge(name), replies):
                pass
        return sum(self.counts().values()) - before

    def counts(self) -> dict[str, int]:
        """Return how many triples each judge was asked about, by its name; of a change of prompt, each time."""
        return dict(
            self._rows("SELECT name, (SELECT count(*) FROM reply WHERE judge = judge.id) FROM judge ORDER BY id")
        )

    def answers(self) -> JudgeAnswers:
        """Return what every judge says of every triple: its last answer, where it was asked in several ways."""
        rows = self._rows(
            "SELECT triple, judge - 1, said = 'true', coalesce(probability, -1), max(reply.rowid) FROM reply "
            "GROUP BY judge, triple HAVING said IN ('true', 'false') ORDER BY judge, triple"
        )
        names = [name for (name,) in self._rows("SELECT name FROM judge ORDER BY id")]  # as many as rows know, or more
        table = np.array(rows, dtype=np.float64).reshape(-1, 5)
        said, p = table[:, 2] == 1, table[:, 3]
        codes = table[:, :2].astype(np.int64)
        return JudgeAnswers.of(codes[:, 0], codes[:, 1], said, np.where(p < 0, np.nan, p), tuple(names))


def _reply_of(signal: float) -> Reply:
    """Return the reply behind a signal: a plain yes or no has no probability."""
    return Reply("true" if signal > 0 else "false", None if abs(signal) == 1 else (1 + signal) / 2)
