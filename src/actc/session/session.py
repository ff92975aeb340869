"""An annotation session on disk: ask, record, undo, resume.

::

    SESSION/
      settings.json        what it was started with
      pool.parquet         the candidates: head, relation, tail, score
      sample.parquet       where they are too many to hold: those that may be asked,
      sketch.npz           and what was measured on all of them
      known.parquet        the graph's triples with their scores, where it has scores
      names.sqlite         names, descriptions, and what the graph already says
      judgements.sqlite    the whole history, and who is asked what
      secret               what the annotators' links are made from
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np

from actc.errors import FileError, OptionError, SessionError
from actc.pooled.sketch_file import read_sketch, write_sketch
from actc.session.ask import UNIFORM, Annotator, Task, held_tasks, top_up
from actc.session.cards import plain, sentence
from actc.session.combine import Votes, combine
from actc.session.names import Names, write_names
from actc.session.record import Judgement, Recorded, insert, record
from actc.session.settings import Settings
from actc.session.store import Store
from actc.tables.files import find_layout, read_scored, write_scored
from actc.tables.parts import copy_candidates, count_candidates, find_candidates, read_candidates
from actc.triples import Annotations, BoolArray, IntArray, ScoredTriples

OWNER = "owner"
MOST_HELD = 1_000_000
"""A larger pool is measured once and stays on disk; a sample stands for it. Pooled methods only."""


def start_session(
    folder: str | Path,
    scores: str | Path,
    settings: Settings | None = None,
    names: Sequence[str | Path] = (),
    graph: str | Path | None = None,
) -> Session:
    """Make a session folder and plan its first questions.

    Parameters
    ----------
    folder : path
        A new folder; it is complete or absent.
    scores : path
        The candidates: head, relation, tail, score; a file, or a folder of parts.
    settings : Settings, optional
        The choices; sizes are filled in here.
    names : sequence of path
        Files with names and descriptions, see :func:`actc.session.names.write_names`.
    graph : path, optional
        Triples that the graph holds: head, relation, tail, and score if the method should use it.
    """
    from actc.methods import find_method
    from actc.session.plan import Planner

    folder, settings = Path(folder), settings or Settings()
    find_method(settings.method)
    if folder.exists():
        raise FileError(f"{folder} is there already; give a new name, or go on with: actc annotate {folder}")
    if not folder.absolute().parent.is_dir():
        raise FileError(f"{folder} cannot be made: there is no folder {folder.absolute().parent}.")
    beside = folder.absolute().with_name(f".{folder.name}.{secrets.token_hex(4)}.part")
    beside.mkdir()
    try:
        known = None if graph is None else _copy_known(Path(graph), beside)
        pool = _take_pool(Path(scores), beside, settings, known)
        write_names(beside / "names.sqlite", [Path(file) for file in names], None if graph is None else Path(graph))
        _write_secret(beside / "secret")
        sampled = len(pool) < pool.stands_for
        chosen = replace(
            settings,
            triples=pool.stands_for,
            relations=len(pool.relation_names),
            graph_scored=known is not None,
            sampled=sampled,
        )
        chosen.write(beside / "settings.json")
        Store(beside / "judgements.sqlite", create=True).close()
        session = Session(beside)
        session.set_budget(chosen.budget)
        session.add_annotator(OWNER, "owner")
        Planner(session, pool).step()
        session.close()
        beside.rename(folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return Session(folder)


def sample_files() -> tuple[Path, tuple[Path, ...], Path]:
    """Return the packaged sample's candidates, names and graph."""
    folder = Path(str(files("actc.sample")))
    return folder / "valid.tsv.gz", (folder / "entities.tsv.gz", folder / "relations.tsv"), folder / "train.tsv.gz"


def _take_pool(scores: Path, folder: Path, settings: Settings, known: ScoredTriples | None) -> ScoredTriples:
    """Copy the candidates into the session; return them, or the sample that stands for them."""
    from actc.methods import find_method
    from actc.pooled.sketch import sketch_pool

    candidates, copy = find_candidates([scores]), folder / "pool.parquet"
    if find_method(settings.method).takes_sketch and count_candidates(candidates) > MOST_HELD:
        sample = sketch_pool(scores, known, seed=settings.seed)
        copy_candidates(candidates, copy)
        write_sketch(folder, sample)
        return sample
    pool = read_candidates(scores)
    write_scored(copy, pool)
    return pool


def _copy_known(graph: Path, folder: Path) -> ScoredTriples | None:
    """Copy the graph's triples into the session and return them, if they have scores."""
    if "score" not in find_layout(graph, order=("head", "relation", "tail", "score")).position:
        return None
    known = read_scored(graph)[0]
    write_scored(folder / "known.parquet", known)
    return known


def _write_secret(path: Path) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(32))


class Session:
    """A session that was started; any number of processes may have it open.

    Parameters
    ----------
    folder : path
        What :func:`start_session` made.
    synced : bool
        Whether what is recorded is synced to the disk before it is acknowledged; only a planner goes without.
    """

    TRIPLE = ("head", "relation", "tail")

    def __init__(self, folder: str | Path, synced: bool = True) -> None:
        self.folder = Path(folder)
        self.settings = Settings.read(self.folder / "settings.json")
        self.store = Store(self.folder / "judgements.sqlite", synced=synced)
        self.names = Names(self.folder / "names.sqlite")

    def close(self) -> None:
        """Close its files."""
        self.store.close()
        self.names.close()

    def read_pool(self) -> ScoredTriples:
        """Read the candidates, or the sample that stands for them; its rows are what judgements call triples."""
        if self.settings.sampled:
            return read_sketch(self.folder)
        return read_scored(self.folder / "pool.parquet")[0]

    def read_known(self) -> ScoredTriples | None:
        """Read the graph's own triples, if they have scores."""
        return read_scored(self.folder / "known.parquet")[0] if self.settings.graph_scored else None

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

    def add_annotator(self, name: str, kind: str = "person") -> Annotator:
        """Return the annotator of that name, new or not."""
        name = " ".join(name.split())
        if not 0 < len(name) <= 80 or not name.isprintable():
            raise OptionError("The name of an annotator has 1 to 80 printable characters.")
        with self.store.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO annotator (name, kind, created) VALUES (?, ?, ?)", (name, kind, time.time())
            )
        found = self.annotator(name)
        if found.kind != kind:
            raise SessionError(f"The name {name!r} is taken in this session ({found.kind}); choose another.")
        return found

    def annotator(self, name: str) -> Annotator:
        """Return an annotator by name."""
        for annotator in self.annotators():
            if annotator.name == name:
                return annotator
        raise SessionError(f"No annotator is called {name!r} in this session.")

    def annotators(self) -> list[Annotator]:
        """Return everybody who may judge, the owner first."""
        return [Annotator(*row) for row in self.store.rows("SELECT id, name, kind FROM annotator ORDER BY id")]

    def ask(self, annotator: Annotator, count: int = 1) -> list[Task]:
        """Return the triples on an annotator's table, topped up to ``count``; those to be judged first in front."""
        return self.exchange(annotator, (), count)[1]

    def record(self, annotator: Annotator, judgements: Iterable[Judgement]) -> list[Recorded]:
        """Store judgements, in order, all or none; they are on the disk when this returns."""
        return self.exchange(annotator, judgements, 0)[0]

    def exchange(
        self, annotator: Annotator, judgements: Iterable[Judgement], count: int
    ) -> tuple[list[Recorded], list[Task]]:
        """Record, and ask for the next triples, in one transaction: one sync of the disk for both."""
        settings, now, budget = self.settings, time.time(), self.budget
        judgements = [replace(one, shown=self.sentence(one.triple)) for one in judgements]

        def work(connection: sqlite3.Connection) -> tuple[list[Recorded], list[Task]]:
            done = [record(connection, annotator, one, now, settings.show_score) for one in judgements]
            if count:
                top_up(connection, annotator, count, budget, settings.repeats, settings.overlap, now)
            return done, held_tasks(connection, annotator, count)

        return self.store.write(work)

    def tasks(self, triples: Iterable[int]) -> list[Task]:
        """Return triples that were given out, in the order asked for."""
        sql = "SELECT triple, head, relation, tail, score, probability, gain, reason, 'new' FROM task WHERE triple = ?"
        return [Task(*row) for triple in triples for row in self.store.rows(sql, (triple,))]

    def sentence(self, triple: int | None) -> str:
        """Return a triple that was given out as one line of text; empty if it was not."""
        row = self.store.rows("SELECT head, relation, tail FROM task WHERE triple = ?", (triple,))
        return plain(sentence(*map(self.names.of, row[0]))) if row else ""

    def settle(self, triple: int, said: str, key: str, note: str = "") -> Recorded:
        """Let the owner decide a triple; their word is final."""
        owner = self.annotator(OWNER)
        judgement = Judgement(said, triple, key, note=note)
        with self.store.transaction() as connection:
            task = connection.execute("SELECT probability FROM task WHERE triple = ?", (triple,)).fetchone()
            old = connection.execute(
                "SELECT id FROM judgement WHERE annotator = ? AND key = ?", (owner.id, key)
            ).fetchone()
            if task is None or said == "undo":
                raise SessionError(f"Triple {triple} was not judged in this session.")
            if old is not None:
                return Recorded(old["id"], triple)
            number = insert(connection, owner, judgement, triple, "settle", time.time(), "{}", task["probability"])
        return Recorded(number, triple)

    def votes(self, kind: str = "person") -> Votes:
        """Return the standing answers of people, or of programs, oldest first."""
        kinds = ("person", "owner") if kind == "person" else (kind, kind)
        rows = self.store.rows(
            "SELECT triple, annotator, label, kind = 'owner' FROM answer JOIN annotator ON annotator = id "
            "WHERE label IS NOT NULL AND kind IN (?, ?) ORDER BY judgement",
            kinds,
        )
        table: IntArray = np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, 4)
        final: BoolArray = table[:, 3] == 1
        return Votes(table[:, 0], table[:, 1], table[:, 2] == 1, final)

    def annotations(self) -> Annotations:
        """Return one label per triple that people judged, combined as the settings say."""
        return combine(self.votes(), self.settings.combine)

    def asked_at_random(self, annotations: Annotations) -> BoolArray:
        """Say of each annotation whether its triple was drawn uniformly, shape (l,)."""
        rows = self.store.rows("SELECT triple FROM task WHERE reason IN (?, ?)", UNIFORM)
        return np.isin(annotations.rows, np.array([row[0] for row in rows], dtype=np.int64))
