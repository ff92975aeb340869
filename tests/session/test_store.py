"""The database of a session: brought up to date, counted as answers come and go, never read from end to end."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from actc.errors import FileError
from actc.session import Judgement, Session, Settings, start_session
from actc.session.status import progress
from actc.session.store import MIGRATIONS, Store, _checksum, split_script
from actc.tables.files import read_scored, write_scored
from tests.conftest import make_pool

FIRST_SCHEMA = """
CREATE TABLE annotator (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('person', 'program', 'owner')),
    created REAL NOT NULL
);
CREATE TABLE task (                  -- a triple that was given to somebody; never removed
    triple INTEGER PRIMARY KEY,      -- its row in the pool
    head TEXT NOT NULL,
    relation TEXT NOT NULL,
    tail TEXT NOT NULL,
    score REAL NOT NULL,
    probability REAL,                -- what the model thought when it asked
    gain REAL,                       -- right decisions it hoped to gain
    reason TEXT NOT NULL,
    wanted INTEGER NOT NULL          -- how many annotators should judge it
);
CREATE INDEX task_shared ON task (triple) WHERE wanted > 1;
CREATE TABLE plan (                  -- the triples to ask next; replaced after every refit
    place INTEGER PRIMARY KEY,
    triple INTEGER NOT NULL UNIQUE,
    head TEXT NOT NULL,
    relation TEXT NOT NULL,
    tail TEXT NOT NULL,
    score REAL NOT NULL,
    probability REAL,
    gain REAL,
    reason TEXT NOT NULL,
    wanted INTEGER NOT NULL
);
CREATE TABLE lease (                 -- a triple that an annotator has on the table
    triple INTEGER NOT NULL REFERENCES task,
    annotator INTEGER NOT NULL REFERENCES annotator,
    purpose TEXT NOT NULL CHECK (purpose IN ('new', 'shared', 'repeat', 'again')),
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
CREATE TRIGGER judgement_is_not_changed BEFORE UPDATE ON judgement
    BEGIN SELECT raise(ABORT, 'a judgement is never changed'); END;
CREATE TRIGGER judgement_is_not_deleted BEFORE DELETE ON judgement
    BEGIN SELECT raise(ABORT, 'a judgement is never deleted'); END;
CREATE TABLE answer (                -- the standing answer of an annotator to a triple
    triple INTEGER NOT NULL,
    annotator INTEGER NOT NULL,
    label INTEGER,                   -- 1 true, 0 false, NULL unsure
    judgement INTEGER NOT NULL REFERENCES judgement,
    PRIMARY KEY (triple, annotator)
) WITHOUT ROWID;
CREATE INDEX answer_unsure ON answer (triple) WHERE label IS NULL;
CREATE TABLE budget (id INTEGER PRIMARY KEY, at REAL NOT NULL, triples INTEGER NOT NULL);
CREATE TABLE outlook (               -- what the model made of the answers, refit by refit
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    judgement INTEGER NOT NULL,      -- the last judgement it had seen
    content TEXT NOT NULL
);
"""
FIRST_ROWS = """
INSERT INTO annotator VALUES (1, 'owner', 'owner', 0), (2, 'ada', 'person', 0), (3, 'rule', 'program', 0);
INSERT INTO task VALUES
    (10, 'h', 'r', 't', 0.1, NULL, NULL, 'Drawn at random: every candidate has the same chance to be checked.', 1),
    (11, 'h', 'r', 'u', 0.2, NULL, NULL, 'A random check, to keep the estimates honest.', 2),
    (12, 'h', 'r', 'v', 0.3, NULL, NULL, 'It is where an answer still teaches the most, though little.', 1),
    (13, 'h', 'r', 'w', 0.4, NULL, NULL, 'For a program.', 1);
INSERT INTO plan VALUES
    (0, 20, 'h', 'r', 'x', 0.5, NULL, NULL, 'A random check, to keep the estimates honest.', 1),
    (1, 21, 'h', 'r', 'y', 0.6, NULL, NULL, 'Chosen by the method''s own rule.', 1);
INSERT INTO judgement (id, at, annotator, triple, said, purpose, key, note, shown) VALUES
    (1, 0, 2, 10, 'true', 'new', 'a', '', '{}'), (2, 0, 2, 11, 'unsure', 'new', 'b', '', '{}'),
    (3, 0, 3, 13, 'true', 'program', 'c', '', '{}'), (4, 0, 2, 10, 'true', 'repeat', 'd', '', '{}'),
    (5, 0, 1, 10, 'false', 'settle', 'e', '', '{}'), (6, 0, 2, 12, 'false', 'new', 'f', '', '{}');
INSERT INTO judgement (id, at, annotator, triple, said, purpose, key, note, shown, undoes) VALUES
    (7, 0, 2, 12, 'undo', 'new', 'g', '', '{}', 6);
INSERT INTO answer VALUES (10, 2, 1, 1), (11, 2, NULL, 2), (13, 3, 1, 3), (10, 1, 0, 5);
"""


@pytest.fixture
def old_file(tmp_path):
    """A database that the first version of the format wrote."""
    path = tmp_path / "judgements.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(f"{FIRST_SCHEMA} {FIRST_ROWS} PRAGMA user_version = 1;")
    return path


def tuples(store, sql):
    return [tuple(row) for row in store.rows(sql)]


def recount(store):
    """Return what the counts must be, from the answers and the history alone."""
    people = "annotator IN (SELECT id FROM annotator WHERE kind != 'program')"
    of_task = f"FROM answer WHERE answer.triple = task.triple AND {people}"
    of_annotator = "FROM judgement AS j WHERE j.annotator = annotator.id AND said != 'undo'"
    return {
        "labels": store.value(f"SELECT count(DISTINCT triple) FROM answer WHERE label IS NOT NULL AND {people}"),
        "tasks": tuples(
            store, f"SELECT triple, (SELECT count(*) {of_task}), (SELECT count(label) {of_task}) FROM task ORDER BY 1"
        ),
        "annotators": tuples(
            store,
            f"SELECT id, (SELECT count(*) FROM answer WHERE annotator = id), (SELECT count(*) {of_annotator}), "
            f"(SELECT count(*) {of_annotator} AND purpose = 'repeat') FROM annotator ORDER BY id",
        ),
    }


def kept_counts(store):
    """Return the counts that the triggers keep."""
    return {
        "labels": store.value("SELECT labels FROM total"),
        "tasks": tuples(store, "SELECT triple, answered, labelled FROM task ORDER BY triple"),
        "annotators": tuples(store, "SELECT id, answered, judged, repeated FROM annotator ORDER BY id"),
    }


def test_an_old_session_keeps_its_random_checks(old_file):
    store = Store(old_file)
    assert [row[0] for row in store.rows("SELECT triple FROM task WHERE asked = 'random'")] == [10, 11]
    assert store.value("SELECT count(*) FROM plan") == 0  # nobody knows what chance it had: it is planned anew


@pytest.fixture
def fifth_folder(tmp_path):
    """Make a session whose database has the format of version 5, with six tasks: three of them random checks."""
    write_scored(tmp_path / "scores.parquet", make_pool(40, 2)[0])
    start_session(tmp_path / "session", tmp_path / "scores.parquet", Settings("pooled", budget=20)).close()
    path = tmp_path / "session" / "judgements.sqlite"
    for one in path.parent.glob("judgements.sqlite*"):
        one.unlink()
    pool = read_scored(tmp_path / "scores.parquet")[0]
    triples = [(row, *pool.triple(row), float(pool.scores[row])) for row in range(7)]
    uniform = (1, 1, 1, 0, 0, 0)
    reasons = ["Any words."] * 5 + ["Chosen to learn what machine judges are worth."]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.create_function("checksum", -1, _checksum, deterministic=True)
        connection.execute("PRAGMA journal_mode = WAL")
        for statement in chain.from_iterable(map(split_script, MIGRATIONS[:5])):
            connection.execute(statement)
        for name, kind in (("owner", "owner"), ("ada", "person")):
            connection.execute("INSERT INTO annotator (name, kind, created) VALUES (?, ?, 0)", (name, kind))
        connection.execute("INSERT INTO budget (at, triples) VALUES (0, 20)")
        columns = "triple, head, relation, tail, score, uniform, reason, wanted"
        for triple, drawn, why in zip(triples, uniform, reasons, strict=False):
            connection.execute(f"INSERT INTO task ({columns}) VALUES (?,?,?,?,?,?,?,1)", (*triple, drawn, why))
        connection.execute(f"INSERT INTO plan (place, {columns}) VALUES (0,?,?,?,?,?,1,'Any words.',1)", triples[6])
        for number, said in enumerate(("true", "false", "unsure", "true", "true", "false")):
            connection.execute(
                "INSERT INTO judgement (at, annotator, triple, said, purpose, key, note, shown) "
                "VALUES (?, 2, ?, ?, 'new', ?, '', '{}')",
                (float(number), number, said, f"k{number}"),
            )
            label = {"true": 1, "false": 0}.get(said)
            connection.execute("INSERT INTO answer VALUES (?, 2, ?, ?)", (number, label, number + 1))
        connection.execute("PRAGMA user_version = 5")
    return path.parent


def how_asked(folder):
    session = Session(folder)
    answers = session.annotations()
    session.close()
    how = zip(answers.asked, answers.within, answers.chance.tolist(), strict=True)
    return dict(zip(answers.rows.tolist(), how, strict=True))


def test_what_version_five_drew_at_random_still_counts_as_a_draw_from_the_pool(fifth_folder):
    told = how_asked(fifth_folder)
    assert sorted(told) == [0, 1, 3, 4, 5]  # one was an unsure answer
    assert told[0] == told[1] == ("random", "pool", 1 / 40)
    assert [told[row][0] for row in (3, 4, 5)] == ["given", "given", "differing"]
    assert all(np.isnan(told[row][2]) for row in (3, 4, 5))
    store = Store(fifth_folder / "judgements.sqlite")
    store.check()
    assert store.value("SELECT count(*) FROM plan") == 0
    for table in ("task", "plan"):
        names = {row["name"] for row in store.rows(f"PRAGMA table_info({table})")}
        assert names >= {"asked", "within", "chance"}
        assert "uniform" not in names


def test_random_checks_of_version_five_are_not_trusted_where_somebody_wished(fifth_folder):
    with closing(sqlite3.connect(fifth_folder / "judgements.sqlite")) as connection:
        connection.execute("INSERT INTO wish (annotator, relation, at) VALUES (2, 'r0', 0)")
        connection.commit()
    told = how_asked(fifth_folder)
    assert {told[row][0] for row in (0, 1)} == {"given"}
    assert all(np.isnan(chance) for _, _, chance in told.values())


def test_an_old_session_is_counted_once(old_file):
    store = Store(old_file)
    assert kept_counts(store) == recount(store)
    assert store.value("SELECT labels FROM total") == 1
    store.close()
    assert Store(old_file).value("PRAGMA user_version") == len(MIGRATIONS)


def test_an_old_history_is_as_it_was(old_file):
    with closing(sqlite3.connect(old_file)) as connection:
        before = [connection.execute(f"SELECT * FROM {name}").fetchall() for name in ("judgement", "answer")]
    store = Store(old_file)
    assert [[tuple(row) for row in store.rows(f"SELECT * FROM {name}")] for name in ("judgement", "answer")] == before


def test_two_openings_at_once_bring_an_old_session_up_to_date_once(old_file):
    failed = []

    def open_store():
        try:
            Store(old_file).close()
        except FileError as error:
            failed.append(error)

    threads = [threading.Thread(target=open_store) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_migration_that_fails_leaves_the_old_session_as_it_was(old_file, monkeypatch):
    monkeypatch.setattr("actc.session.store.MIGRATIONS", (*MIGRATIONS, "CREATE TABLE one (x); SELECT nothing;"))
    with pytest.raises(FileError, match="cannot be opened"):
        Store(old_file)
    monkeypatch.undo()
    assert Store(old_file).value("SELECT labels FROM total") == 1


def test_a_script_is_split_between_its_statements_and_nowhere_else():
    script = "SELECT 1; -- one; or two\nSELECT ';'; CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; SELECT 2; END;\n"
    assert [statement.split()[0] for statement in split_script(script)] == ["SELECT", "--", "CREATE"]


@pytest.fixture
def session(tmp_path):
    write_scored(tmp_path / "scores.parquet", make_pool(200, 4)[0])
    settings = Settings("actc-lr-rndm", budget=200, overlap=0.5, repeats=0.2)
    return start_session(tmp_path / "session", tmp_path / "scores.parquet", settings)


steps = st.tuples(st.sampled_from(["ada", "bob", "owner"]), st.sampled_from(["true", "false", "unsure", "undo"]))


@hypothesis_settings(max_examples=25)
@given(st.lists(steps, max_size=40))
def test_the_counts_are_those_of_a_recount_whatever_people_do(tmp_path_factory, story):
    folder = tmp_path_factory.mktemp("counts")
    write_scored(folder / "scores.parquet", make_pool(12, 2)[0])
    settings = Settings("actc-lr-rndm", budget=8, overlap=0.5, repeats=0.5)
    session = start_session(folder / "session", folder / "scores.parquet", settings)
    people = {name: session.add_annotator(name) for name in ("ada", "bob")}
    for number, (name, word) in enumerate(story):
        judged = session.votes().triples
        tasks = [] if name == "owner" else session.ask(people[name], 2)
        if name == "owner" and word != "undo" and len(judged):
            session.settle(int(judged[0]), word, f"k{number}")
        elif (
            word == "undo"
            and name != "owner"
            and session.store.rows("SELECT 1 FROM answer WHERE annotator = ?", (people[name].id,))
        ):
            session.record(people[name], [Judgement("undo", None, f"k{number}")])
        elif tasks and word != "undo":
            session.record(people[name], [Judgement(word, tasks[0].triple, f"k{number}")])
        assert kept_counts(session.store) == recount(session.store)
    session.close()


def test_an_exchange_reads_no_table_of_the_history_from_end_to_end(session):
    """Every statement of an exchange finds its rows by an index, so a long history costs it nothing."""
    ada, bob = session.add_annotator("ada"), session.add_annotator("bob")
    seen = set()
    with session.store._connections.borrow() as connection:
        connection.set_trace_callback(seen.add)
    for number in range(40):
        for one in (ada, bob):
            word = ("true", "false", "unsure")[number % 3]
            session.exchange(one, [Judgement(word, session.ask(one)[0].triple, f"k{number}")], 3)
            progress(session, one)
    with session.store._connections.borrow() as connection:
        connection.set_trace_callback(None)
    # A connection without foreign keys: their plan of an insert shows a search that only a broken key would start.
    with closing(sqlite3.connect(session.store.path)) as plain:
        plain.create_function("checksum", -1, lambda *values: 0)
        plans = {sql: plain.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall() for sql in seen if is_query(sql)}
    assert any("JOIN answer" in sql for sql in plans)
    few = ("task_shared", "task_undecided")  # indices of what is still open, not of what was ever asked
    steps = {(row[3], sql) for sql, rows in plans.items() for row in rows}
    scans = {step for step in steps if step[0].startswith(("SCAN answer", "SCAN judgement", "SCAN task"))}
    assert not {step for step in scans if not step[0].endswith(few)}


def is_query(sql):
    return sql.split()[0] in ("SELECT", "INSERT", "DELETE", "UPDATE")


def test_an_answer_cannot_be_updated_past_the_counts(session):
    ada = session.add_annotator("ada")
    session.record(ada, [Judgement("true", session.ask(ada)[0].triple, "k")])
    with pytest.raises(sqlite3.IntegrityError, match="not updated"), session.store.transaction() as connection:
        connection.execute("UPDATE answer SET label = 0")
