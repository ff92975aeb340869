"""What machines said, in a file of its own beside a session's judgements.

A hundred thousand machine answers cost people's answers nothing there: no page, no count and no check reads them. Each
answer is on the disk when the next one is taken; (judge, key of the question) is stored once.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.errors import FileError, OptionError
from actc.judges.answers import JudgeAnswers
from actc.judges.replies import Question, Reply
from actc.tables.deliver import try_to_lock
from actc.tables.sqlite import database_address

FILE = "judges.sqlite"
VERSION = 1
REPLIES_A_STATE = 200
"""A planner need not look at every single reply."""
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
    CREATE TABLE choice (id INTEGER PRIMARY KEY, at REAL NOT NULL, differing REAL NOT NULL);  -- the last one holds
    PRAGMA user_version = {VERSION};
"""

WAY = "CREATE TABLE IF NOT EXISTS way (judge INTEGER PRIMARY KEY REFERENCES judge, way TEXT NOT NULL)"


PRICE = (
    "CREATE TABLE IF NOT EXISTS price (judge INTEGER PRIMARY KEY REFERENCES judge, read REAL NOT NULL, "
    "written REAL NOT NULL)"
)


@dataclass(frozen=True)
class Spent:
    """What a judge was asked so far, and what that cost by the prices that were given last."""

    name: str
    asked: int
    cost: float


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
                    raise FileError(f"{self.path}: machine answers of format {version}; this actc reads {VERSION}.")
                yield connection
        except sqlite3.DatabaseError as error:
            raise FileError(f"{self.path}: the machine answers cannot be opened ({error}).") from None

    def add_judge(self, name: str) -> int:
        """Return the number of the judge of that name, new or not."""
        name = " ".join(name.split())
        if not 0 < len(name) <= 80 or not name.isprintable():
            raise OptionError("The name of a judge has 1 to 80 printable characters.")
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
        with self.open() as connection:
            connection.execute(WAY)
            row = connection.execute("SELECT way FROM way WHERE judge = ?", (judge,)).fetchone()
        return str(row[0]) if row else ""

    def keep_way(self, judge: int, way: str) -> None:
        """Remember how a judge is asked."""
        with self.open() as connection:
            connection.execute(WAY)
            connection.execute("INSERT OR REPLACE INTO way VALUES (?, ?)", (judge, way))

    def keep_price(self, judge: int, read: float, written: float) -> None:
        """Remember what a million tokens of a judge cost; of nobody's number, 0, what a person's answer does."""
        with self.open() as connection:
            connection.execute(PRICE)
            connection.execute("INSERT OR REPLACE INTO price VALUES (?, ?, ?)", (judge, read, written))

    @property
    def person(self) -> float | None:
        """What a person's answer costs, if that was said."""
        if not self.path.exists():
            return None
        with self.open() as connection:
            connection.execute(PRICE)
            row = connection.execute("SELECT read FROM price WHERE judge = 0").fetchone()
        return float(row[0]) if row else None

    def spent(self) -> tuple[Spent, ...]:
        """Return what each judge was asked and what it cost, in the order of their numbers; nothing without a price."""
        if not self.path.exists():
            return ()
        sql = (
            "SELECT name, count(key), coalesce(sum(tokens_in * read + tokens_out * written), 0) / 1e6 FROM judge "
            "LEFT JOIN reply ON reply.judge = judge.id LEFT JOIN price ON price.judge = judge.id "
            "GROUP BY judge.id ORDER BY judge.id"
        )
        with self.open() as connection:
            connection.execute(PRICE)
            return tuple(Spent(*row) for row in connection.execute(sql))

    def keys(self, judge: int) -> set[str]:
        """Return the questions that a judge was asked before."""
        with self.open() as connection:
            return {row[0] for row in connection.execute("SELECT key FROM reply WHERE judge = ?", (judge,))}

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

    def choose_differing(self, share: float) -> None:
        """Choose which share of people's cards shall be triples on which judges and model differ most."""
        if not 0 <= share <= 1:
            raise OptionError(f"--differing is a share between 0 and 1, not {share}.")
        with self.open() as connection:
            connection.execute("INSERT INTO choice (at, differing) VALUES (?, ?)", (time.time(), share))

    @property
    def differing(self) -> float:
        """The share of people's cards on which judges and model shall differ most."""
        if not self.path.exists():
            return 0.0
        with self.open() as connection:
            row = connection.execute("SELECT differing FROM choice ORDER BY id DESC LIMIT 1").fetchone()
        return float(row[0]) if row else 0.0

    def state(self) -> int:
        """Return a number that changes when people should be asked other triples because of what judges said.

        It stays while nobody wants to see differences; else a run of a judge moves it every so many replies.
        """
        if not self.differing:
            return 0
        with self.open() as connection:
            sql = "SELECT (SELECT coalesce(max(rowid), 0) FROM reply) / ? + (SELECT max(id) FROM choice)"
            return 1 + int(connection.execute(sql, (REPLIES_A_STATE,)).fetchone()[0])

    def counts(self) -> dict[str, int]:
        """Return how many triples each judge was asked about, by its name; of a change of prompt, each time."""
        if not self.path.exists():
            return {}
        with self.open() as connection:
            sql = "SELECT name, (SELECT count(*) FROM reply WHERE judge = judge.id) FROM judge ORDER BY id"
            return dict(connection.execute(sql).fetchall())

    def answers(self) -> JudgeAnswers:
        """Return what every judge says of every triple: its last answer, where it was asked in several ways."""
        if not self.path.exists():
            return JudgeAnswers.none()
        with self.open() as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM judge ORDER BY id")]
            rows = connection.execute(
                "SELECT triple, judge - 1, said = 'true', coalesce(probability, -1), max(reply.rowid) FROM reply "
                "GROUP BY judge, triple HAVING said IN ('true', 'false') ORDER BY judge, triple"
            ).fetchall()
        table = np.array(rows, dtype=np.float64).reshape(-1, 5)
        said, p = table[:, 2] == 1, table[:, 3]
        codes = table[:, :2].astype(np.int64)
        return JudgeAnswers.of(codes[:, 0], codes[:, 1], said, np.where(p < 0, np.nan, p), tuple(names))
