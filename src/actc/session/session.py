"""An annotation session on disk: ask, record, undo, resume.

::

    SESSION/
      session.sqlite       settings, people, questions, the history of answers, machines' replies, names, the graph
      pool.parquet         the candidates: head, relation, tail, score
      known.parquet        the graph's triples with their scores, where it has scores
      constraints.tsv      what cannot be true together, where constraints were given,
      facts.parquet        and the facts that candidates could contradict by them
      secret               the annotators' links are made from it
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np

from actc.data.answers import Annotations
from actc.data.files import read_scored
from actc.data.text_files import ordinary
from actc.data.triples import ScoredTriples
from actc.errors import FileError, OptionError, SessionError, check_choice
from actc.session.cards import plain, sentence
from actc.session.lease_queue import TASK, Annotator, Judgement, LeaseQueue, Recorded, Task, lease_clock, put_tasks
from actc.session.names import Names, insert_names
from actc.session.settings import CHANGEABLE, Settings
from actc.session.store import FILE, Store

OWNER = "owner"
MOST_NAME = 80  # characters
FAILURE = "planner-failure.txt"


class Session:
    """A session that was started; any number of processes may have it open.

    Parameters
    ----------
    folder : path
        What :func:`actc.session.start.start_session` made.
    synced : bool
        Whether what is recorded is synced to the disk before it is acknowledged; only a planner goes without.
    """

    TRIPLE = ("head", "relation", "tail")

    def __init__(self, folder: str | Path, synced: bool = True) -> None:
        self.folder = Path(folder)
        self.store = Store(self.folder / FILE, synced=synced)
        self._settings = -1, Settings()
        self._pool: ScoredTriples | None = None
        self.names = Names(self.store, self.settings.link)
        if synced:  # who starts a planner has checked it
            self.store.check()

    def close(self) -> None:
        """Close its file."""
        self.store.close()

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        last = self.store.value("SELECT max(id) FROM setting")
        if self._settings[0] != last:
            rows = self.store.rows("SELECT name, value FROM setting ORDER BY id")
            self._settings = last, Settings.read(map(tuple, rows), self.store.path)
        return self._settings[1]

    def read_pool(self) -> ScoredTriples:
        """Read the candidates, once; their rows are the numbers of triples in judgements."""
        triples = self.settings.triples
        if self._pool is None:
            self._pool = read_scored(self.folder / "pool.parquet")[0]
        if len(self._pool) < triples:
            raise FileError(
                f"{self.folder}: it should have {triples:,} candidates, and has {len(self._pool):,}; it is damaged."
            )
        return self._pool

    def find_file(self, name: str) -> Path | None:
        """Return the path of a file that not every session has; None where it is not there."""
        path = self.folder / name
        return path if path.exists() else None

    def add_names(self, files: Sequence[str | Path], language: str = "en") -> None:
        """Add names of entities and relations (see :func:`insert_names`); open pages show them with the next card."""
        pool = self.read_pool()
        insert_names(self.store, list(map(Path, files)), (*pool.entity_names, *pool.relation_names), language)

    def change(self, choices: Mapping[str, Any], people: Iterable[str] = ()) -> None:
        """Change settings, see ``CHANGEABLE``, and add people: all of it or nothing.

        Earlier values stay in the history. Another overlap holds for the triples that are planned from now on.
        """
        for name in choices:
            check_choice("setting to change", name, CHANGEABLE)
        replace(self.settings, **choices)  # refuses what a start would refuse
        names = [self.check_name(name, "person") for name in people]
        write_settings(self.store, choices)
        for name in names:
            self.add_annotator(name)

    def raise_budget(self, annotator: Annotator, triples: int) -> None:
        """Add to the budget of an annotator who judges alone; else the owner decides how much is judged."""
        if [one.id for one in self.people()] != [annotator.id]:
            raise SessionError("Others judge here too, so only the owner can raise the budget.")
        labels = int(self.store.value("SELECT labels FROM total"))
        self.change({"budget": max(self.settings.budget, labels) + triples})

    def add_annotator(self, name: str, kind: str = "person") -> Annotator:
        """Return the annotator of that name, new or not."""
        name = self.check_name(name, kind)
        with self.store.transaction() as connection:
            annotator = put_annotator(connection, name, kind)
        return annotator if annotator.link >= 0 else self.change_link(name)

    def check_name(self, name: str, kind: str) -> str:
        """Return a name in one form; refuse one that is no name, or that an annotator of another kind has."""
        name = tidy_name(name, "an annotator")
        if any(other.name == name and other.kind != kind for other in self.annotators()):
            raise SessionError(f"The name {name!r} is taken in this session; choose another.")
        return name

    def change_link(self, name: str, void: bool = False) -> Annotator:
        """Give a person a new link, or none: the old one is void at once, and their answers stay.

        The leases of a person without a link end.
        """
        person = self.annotator(name)
        if person.kind != "person":
            raise SessionError(f"{name!r} is no annotator with a link of their own.")
        link = abs(person.link) + 1
        with self.store.transaction() as connection:
            connection.execute("UPDATE annotator SET link = ? WHERE id = ?", (-link if void else link, person.id))
            if void:
                connection.execute("UPDATE lease SET expires = 0 WHERE annotator = ?", (person.id,))
        return self.annotator(name)

    @property
    def certified(self) -> bool:
        """Whether this is an audit that has enough answers; then no more cards are given out."""
        if not self.settings.is_audit:
            return False
        content = self.store.value("SELECT content FROM refit ORDER BY id DESC LIMIT 1")
        return content is not None and bool(json.loads(content)["done"])

    def read_failure(self) -> str:
        """Return why no questions are planned, in a sentence of the planner's; empty if they are."""
        try:
            return ordinary(self.folder / FAILURE).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def annotator(self, name: str) -> Annotator:
        """Return an annotator by name."""
        for annotator in self.annotators():
            if annotator.name == name:
                return annotator
        raise SessionError(f"No annotator is called {name!r} in this session.")

    def annotators(self, only: int | None = None) -> list[Annotator]:
        """Return everybody who may judge, the owner first; or the one of this number."""
        sql = f"SELECT id, name, kind, link FROM annotator {'' if only is None else 'WHERE id = ?'} ORDER BY id"
        return [Annotator(*row) for row in self.store.rows(sql, () if only is None else (only,))]

    def people(self) -> list[Annotator]:
        """Return the people who have a link, the owner not among them."""
        return [annotator for annotator in self.annotators() if annotator.kind == "person" and annotator.link >= 0]

    def ask(self, annotator: Annotator, count: int = 1) -> list[Task]:
        """Return the triples leased to an annotator, topped up to ``count``; those to be judged first in front."""
        return self.exchange(annotator, (), count)[1]

    def record(self, annotator: Annotator, judgements: Iterable[Judgement]) -> list[Recorded]:
        """Store judgements, in order, all or none; they are on the disk when this returns."""
        return self.exchange(annotator, judgements, 0)[0]

    def exchange(
        self, annotator: Annotator, judgements: Iterable[Judgement], count: int
    ) -> tuple[list[Recorded], list[Task]]:
        """Record, and lease the next triples, in one transaction: one sync of the disk for both."""
        settings, judgements = self.settings, list(judgements)
        count = 0 if settings.paused or self.certified else count
        times = time.time(), lease_clock()
        shown: list[dict[str, object]] = []
        for one in judgements:
            reasons = settings.reasons != "never" and self.names.reasons(one.triple)
            shown.append(
                {"sentence": plain(self.sentence(one.triple)), **({"reasons": settings.reasons} if reasons else {})}
            )

        def work(connection: Connection) -> tuple[list[Recorded], list[Task]]:
            queue = LeaseQueue(connection, annotator, *times)
            done = [queue.record(*one) for one in zip(judgements, shown, strict=True)]
            if count:
                queue.top_up(count, settings.budget, settings.overlap)
            return done, queue.tasks(count)

        return self.store.write(work)

    def task(self, triple: int) -> Task:
        """Return a triple that was given out."""
        rows = self.store.rows(f"SELECT {TASK} FROM task WHERE triple = ?", (triple,))
        if not rows:
            raise SessionError(f"Triple {triple} was not judged in this session.")
        return Task(*rows[0])

    def sentence(self, triple: int | None) -> list[dict[str, str]]:
        """Return a triple that was given out as parts of a sentence; none if it was not."""
        rows = self.store.rows("SELECT head, relation, tail FROM task WHERE triple = ?", (triple,))
        return sentence(*map(self.names.of, rows[0])) if rows else []

    def settle(self, judgement: Judgement, task: Task | None = None) -> Recorded:
        """Store the owner's answer to a triple, which overrules everybody's, or take one back.

        A triple that was never given out comes as a task.
        """
        if task is not None:
            with self.store.transaction() as connection:
                put_tasks(connection, [task])
        return self.record(self.annotator(OWNER), [judgement])[0]

    def annotations(self) -> Annotations:
        """Return one label per triple that people judged, in the order in which they were first judged.

        The label is that of the majority; the owner's answer overrules all others. A triple whose answers balance has
        none until another answer breaks the tie. Models of how often each person is right agree no more with experts
        (`benchmarks/real/people.csv`).
        """
        rows = self.store.rows(
            "SELECT triple, sum(weight) > 0, selection, sampling_frame, inclusion_probability, round, "
            "group_concat(DISTINCT name), strftime('%Y-%m-%dT%H:%M:%S+00:00', min(at), 'unixepoch') "
            "FROM vote JOIN task USING (triple) GROUP BY triple HAVING sum(weight) != 0 ORDER BY min(judgement)"
        )
        columns = [np.array(column, dtype=object) for column in zip(*rows, strict=True)] or [np.zeros(0, object)] * 8
        triples, labels, selection, frame, probability, begun, who, when = columns
        return Annotations(
            triples.astype(np.int64),
            labels.astype(np.bool_),
            selection=selection,
            sampling_frame=frame,
            inclusion_probability=probability.astype(np.float64),  # None becomes NaN
            round=begun,
            who=who,
            when=when,
        )


def write_settings(store: Store, values: Mapping[str, Any]) -> None:
    """Write settings; earlier values stay in the history."""
    with store.transaction() as connection:
        rows = [(time.time(), name, json.dumps(value)) for name, value in values.items()]
        connection.executemany("INSERT INTO setting (at, name, value) VALUES (?, ?, ?)", rows)


def put_annotator(connection: Connection, name: str, kind: str) -> Annotator:
    """Return the annotator of a checked name, new or not, within a write transaction."""
    sql = "INSERT OR IGNORE INTO annotator (name, kind, created) VALUES (?, ?, ?)"
    connection.execute(sql, (name, kind, time.time()))
    return Annotator(
        *connection.execute("SELECT id, name, kind, link FROM annotator WHERE name = ?", (name,)).fetchone()
    )


def tidy_name(name: str, whose: str, most: int = MOST_NAME) -> str:
    """Return a name without needless spaces; refuse one that is no name."""
    name = " ".join(name.split())
    if not 0 < len(name) <= most or not name.isprintable():
        raise OptionError(f"The name of {whose} has 1 to {most} printable characters.")
    return name


@contextmanager
def open_session(session: str | Path | Session) -> Iterator[Session]:
    """Open the session in a folder, and close it at the end; one that is open already stays open."""
    if isinstance(session, Session):
        yield session
        return
    with closing(Session(session)) as session:
        yield session
