"""An annotation session on disk: ask, record, undo, resume.

::

    SESSION/
      pool.parquet         the candidates: head, relation, tail, score
      known.parquet        the graph's triples with their scores, where it has scores
      constraints.tsv      what may not be true together, where somebody said so,
      facts.parquet        and the facts that candidates could contradict by it
      names.sqlite         names, descriptions, what the graph already says, and texts beside the candidates: why each
                           may be true or false, and what it was taken from, where that is known
      judges.sqlite        what machine judges said, where there are any
      judgements.sqlite    what it was started with, the whole history, and who is asked what
      secret               what the annotators' links are made from
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Annotations
from actc.data.constraints import Constraints
from actc.data.files import read_scored
from actc.data.triples import BoolArray, ScoredTriples
from actc.decide.list_test import Demand
from actc.errors import FileError, OptionError, SessionError, check_choice
from actc.session.agreement import Votes, combine
from actc.session.ask import TASK, Annotator, LeaseQueue, Task, drop_from_plan, lease_clock, put_tasks
from actc.session.cards import plain, sentence
from actc.session.judge_store import tidy_name
from actc.session.names import FILE, Names
from actc.session.record import Judgement, Recorded, find_stored, insert, record
from actc.session.settings import Settings
from actc.session.store import FILE as STORE
from actc.session.store import Store
from actc.session.texts import reasons_of

OWNER = "owner"
CHANGEABLE = ("overlap", "reasons", "title", "guidelines", "precision")
NUMBERS = ("overlap", "precision")


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
        self.store = Store(self.folder / STORE, synced=synced)
        self.settings = Settings.read(self.store.value("SELECT content FROM setting"), self.store.path)
        self.names = Names(self.folder / FILE, self.settings.link)
        if synced:  # the planner is started by somebody who checked
            self.store.check()

    def close(self) -> None:
        """Close its files."""
        self.store.close()
        self.names.close()

    def read_pool(self) -> ScoredTriples:
        """Read the candidates; their rows are what judgements call triples."""
        pool, triples = read_scored(self.folder / "pool.parquet")[0], self.settings.triples
        if len(pool) < triples:
            raise FileError(
                f"{self.folder}: it should have {triples:,} candidates, and has {len(pool):,}; it is damaged."
            )
        return pool

    def read_known(self) -> ScoredTriples | None:
        """Read the graph's own triples, if they have scores."""
        return read_scored(self.folder / "known.parquet")[0] if self.settings.graph_scored else None

    def read_constraints(self) -> Constraints:
        """Read what may not be true together; nothing where nobody said so."""
        path = self.folder / "constraints.tsv"
        return Constraints.read(path) if path.exists() else Constraints()

    @property
    def facts_file(self) -> Path | None:
        """Where the facts are that candidates could contradict."""
        path = self.folder / "facts.parquet"
        return path if path.exists() else None

    @property
    def budget(self) -> int:
        """How many triples people shall judge."""
        return int(self.store.value("SELECT triples FROM budget ORDER BY id DESC LIMIT 1"))

    def set_budget(self, triples: int) -> None:
        """Change the budget; the earlier ones stay in the history."""
        if triples < 1:
            raise OptionError(f"The budget must be at least 1, not {triples}.")
        with self.store.transaction() as connection:
            connection.execute("INSERT INTO budget (at, triples) VALUES (?, ?)", (time.time(), triples))

    def raise_budget(self, annotator: Annotator, triples: int) -> None:
        """Add to what is spent, for somebody who judges alone; else it is the owner who decides how much is judged."""
        if [one.id for one in self.people()] != [annotator.id]:
            raise SessionError("Others judge here too, so the budget is the owner's to raise.")
        labels = int(self.store.value("SELECT labels FROM total"))
        self.set_budget(max(self.budget, labels) + triples)

    @property
    def overlap(self) -> float:
        """The share of triples that two annotators judge."""
        return float(self._chosen("overlap"))

    @property
    def demand(self) -> Demand | None:
        """The precision that questions shall lead to a guarantee of, if any."""
        precision = self._chosen("precision")
        return None if precision is None else Demand(float(precision), self.settings.confidence)

    @property
    def reasons(self) -> str:
        """When people see what speaks for and against a triple: "after", "beside" or "never"."""
        return str(self._chosen("reasons"))

    @property
    def title(self) -> str:
        """What the pages call the session."""
        return str(self._chosen("title"))

    @property
    def guidelines(self) -> str:
        """What annotators should know before they judge, as Markdown."""
        return str(self._chosen("guidelines"))

    def _chosen(self, name: str) -> Any:
        value = self.store.value("SELECT value FROM choice WHERE name = ? ORDER BY id DESC LIMIT 1", (name,))
        if value is None:
            return getattr(self.settings, name)
        try:
            changed: Any = {name: float(value) if name in NUMBERS else value}
            return getattr(replace(self.settings, **changed), name)
        except ValueError:
            raise FileError(f"{self.store.path}: it says that {name} is {value!r}, which it cannot be.") from None

    def change(self, choices: Mapping[str, str | float], people: Iterable[str] = ()) -> None:
        """Change what may be changed after the start, see ``CHANGEABLE``, and add people: all of it or nothing.

        What was chosen before stays in the history. Another overlap holds for the triples that are planned from now on.
        """
        for name in choices:
            check_choice("setting to change", name, CHANGEABLE)
        replace(self.settings, **choices)  # type: ignore[arg-type]  # refuses what a start would refuse
        names = [self._free_name(name, "person") for name in people]
        with self.store.transaction() as connection:
            sql = "INSERT INTO choice (at, name, value) VALUES (?, ?, ?)"
            connection.executemany(sql, [(time.time(), name, str(value)) for name, value in choices.items()])
        for name in names:
            self.add_annotator(name)

    def add_annotator(self, name: str, kind: str = "person") -> Annotator:
        """Return the annotator of that name, new or not."""
        name = self._free_name(name, kind)
        with self.store.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO annotator (name, kind, created) VALUES (?, ?, ?)", (name, kind, time.time())
            )
        annotator = self.annotator(name)
        return annotator if annotator.link >= 0 else self.change_link(name)

    def _free_name(self, name: str, kind: str) -> str:
        """Return a name in one form; refuse one that is no name, or that an annotator of another kind has."""
        name = tidy_name(name, "an annotator")
        for other in self.annotators():
            if other.name == name and other.kind != kind:
                raise SessionError(f"The name {name!r} is taken in this session ({other.kind}); choose another.")
        return name

    def change_link(self, name: str, void: bool = False) -> Annotator:
        """Give a person a new link, or none: the old one is void at once, and their answers stay.

        What somebody without a link has leased is offered to others.
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
    def paused(self) -> bool:
        """Whether everybody waits: answers are taken, no cards are given out."""
        return bool(self.store.value("SELECT paused FROM pause ORDER BY id DESC LIMIT 1"))

    def set_paused(self, paused: bool) -> None:
        """Let everybody wait, or go on."""
        with self.store.transaction() as connection:
            connection.execute("INSERT INTO pause (at, paused) VALUES (?, ?)", (time.time(), paused))

    @property
    def certified(self) -> bool:
        """Whether this is an audit that has answers enough; then no more cards are given out."""
        if not self.settings.is_audit:
            return False
        content = self.store.value("SELECT content FROM outlook ORDER BY id DESC LIMIT 1")
        return content is not None and bool(json.loads(content)["done"])

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
        self, annotator: Annotator, judgements: Iterable[Judgement], count: int, relation: str | None = None
    ) -> tuple[list[Recorded], list[Task]]:
        """Record, and ask for the next triples, in one transaction: one sync of the disk for both.

        With a relation, only triples of it are asked; not in an audit, which has its own order.
        """
        relation = None if self.settings.is_audit else relation
        settings, budget, overlap = self.settings, self.budget, self.overlap
        count, times = 0 if self.paused or self.certified else count, (time.time(), lease_clock())
        judgements = self._with_shown(judgements)

        def work(connection: sqlite3.Connection) -> tuple[list[Recorded], list[Task]]:
            queue = LeaseQueue(connection, annotator, *times)
            done = [record(queue, one, settings.show_score) for one in judgements]
            if relation is not None:
                queue.release_others(relation)
            if count and relation is not None:
                queue.top_up_relation(count, budget, relation)
            elif count:
                queue.top_up(count, budget, overlap)
            return done, queue.tasks(count, relation)

        return self.store.write(work)

    def _with_shown(self, judgements: Iterable[Judgement]) -> list[Judgement]:
        """Add to judgements what their cards showed: the sentence, and when reasons were there to read."""
        judgements, when = list(judgements), self.reasons
        found = [()] * len(judgements) if when == "never" else reasons_of(self.names, [j.triple for j in judgements])
        return [
            replace(one, shown=self.sentence(one.triple), reasons=when if said else "")
            for one, said in zip(judgements, found, strict=True)
        ]

    def tasks(self, triples: Iterable[int]) -> list[Task]:
        """Return triples that were given out, in the order asked for."""
        sql = f"SELECT {TASK} FROM task WHERE triple = ?"
        return [Task(*row) for triple in triples for row in self.store.rows(sql, (triple,))]

    def sentence(self, triple: int | None) -> str:
        """Return a triple that was given out as one line of text; empty if it was not."""
        row = self.store.rows("SELECT head, relation, tail FROM task WHERE triple = ?", (triple,))
        return plain(sentence(*map(self.names.of, row[0]))) if row else ""

    def settle(self, triple: int, said: str, key: str, note: str = "", unasked: Task | None = None) -> Recorded:
        """Store the owner's decision on a triple; it overrules everybody's answers.

        A triple that nobody was asked about comes as a task.
        """
        owner, judgement = self.annotator(OWNER), Judgement(said, triple, key, note=note)
        with self.store.transaction() as connection:
            queue = LeaseQueue(connection, owner)
            if unasked is not None:
                put_tasks(connection, [unasked])
                drop_from_plan(connection, [unasked])
            task = connection.execute("SELECT probability FROM task WHERE triple = ?", (triple,)).fetchone()
            if task is None or said == "undo":
                raise SessionError(f"Triple {triple} was not judged in this session.")
            stored = find_stored(queue, judgement)
            if stored is not None:
                return stored
            number = insert(queue, judgement, triple, "settle", probability=task["probability"])
        return Recorded(number, triple)

    def unsettle(self, key: str, undoes: str | None = None) -> Recorded:
        """Take back a decision of the owner's: the one with the key ``undoes``, or the last that stands."""
        return self.record(self.annotator(OWNER), [Judgement("undo", None, key, undoes=undoes)])[0]

    def votes(self) -> Votes:
        """Return the standing answers, oldest first."""
        table = self.store.integers(
            "SELECT triple, annotator, label, kind = 'owner' FROM answer JOIN annotator ON annotator = id "
            "WHERE label IS NOT NULL ORDER BY judgement",
            columns=4,
        )
        final: BoolArray = table[:, 3] == 1
        return Votes(table[:, 0], table[:, 1], table[:, 2] == 1, final)

    def annotations(self) -> Annotations:
        """Return one label per triple that people judged, by majority, and how each was asked."""
        found = combine(self.votes())
        selected = {
            triple: how
            for triple, *how in self.store.rows(
                "SELECT task.triple, selection, sampling_frame, inclusion_probability, round, "
                "group_concat(DISTINCT name), min(judgement.at) "
                "FROM answer JOIN task ON task.triple = answer.triple "
                "JOIN judgement ON judgement.id = answer.judgement JOIN annotator ON annotator.id = answer.annotator "
                "WHERE label IS NOT NULL GROUP BY task.triple"
            )
        }
        found = found.take(np.isin(found.rows, list(selected)))  # one may be taken back between the two reads
        columns = list(zip(*(selected[row] for row in found.rows.tolist()), strict=True)) or [()] * 6
        selection, frame, who = (np.array(columns[at], dtype=object) for at in (0, 1, 4))
        try:
            probability = np.array(columns[2], dtype=np.float64)  # None becomes NaN
            rounds = np.array(columns[3], dtype=np.float64)
        except ValueError:
            raise FileError(
                f"{self.store.path}: a probability in it is no number; put back a copy of the session."
            ) from None
        at = [datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") for seconds in columns[5]]
        how = {
            "selection": selection,
            "sampling_frame": frame,
            "inclusion_probability": probability,
            "round": rounds,
            "who": who,
        }
        return replace(found, **how, when=np.array(at, dtype=object))


@contextmanager
def open_session(session: str | Path | Session) -> Iterator[Session]:
    """Open the session in a folder, and close it at the end; one that is open already stays open."""
    if isinstance(session, Session):
        yield session
        return
    with closing(Session(session)) as opened:
        yield opened
