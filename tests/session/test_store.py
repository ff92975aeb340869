"""The database of a session: counted as answers come and go, never read from end to end."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from actc.data.files import write_scored
from actc.session import Judgement
from actc.session.settings import Settings
from actc.session.status import progress
from tests.conftest import make_pool, start_copy


def tuples(store, sql):
    return [tuple(row) for row in store.rows(sql)]


def recount(store):
    """Return what the counts must be, from the answers and the history alone."""
    of_task = "FROM answer WHERE answer.triple = task.triple"
    return {
        "labels": store.value("SELECT count(DISTINCT triple) FROM answer WHERE label IS NOT NULL"),
        "tasks": tuples(
            store, f"SELECT triple, (SELECT count(*) {of_task}), (SELECT count(label) {of_task}) FROM task ORDER BY 1"
        ),
        "annotators": tuples(
            store, "SELECT id, (SELECT count(*) FROM answer WHERE annotator = id) FROM annotator ORDER BY id"
        ),
    }


def stored_counts(store):
    """Return the counts that the triggers write."""
    return {
        "labels": store.value("SELECT labels FROM total"),
        "tasks": tuples(store, "SELECT triple, answered, labelled FROM task ORDER BY triple"),
        "annotators": tuples(store, "SELECT id, answered FROM annotator ORDER BY id"),
    }


@pytest.fixture
def session(tmp_path):
    write_scored(tmp_path / "scores.parquet", make_pool(200, 4)[0])
    settings = Settings("actc-lr-rndm", budget=200, overlap=0.5)
    return start_copy(tmp_path / "session", tmp_path / "scores.parquet", settings)


steps = st.tuples(st.sampled_from(["ada", "bob", "owner"]), st.sampled_from(["true", "false", "unsure", "undo"]))


@hypothesis_settings(max_examples=25)
@given(st.lists(steps, max_size=40))
def test_the_counts_are_those_of_a_recount_whatever_people_do(tmp_path_factory, story):
    folder = tmp_path_factory.mktemp("counts")
    write_scored(folder / "scores.parquet", make_pool(12, 2)[0])
    settings = Settings("actc-lr-rndm", budget=8, overlap=0.5)
    session = start_copy(folder / "session", folder / "scores.parquet", settings)
    people = {name: session.add_annotator(name) for name in ("ada", "bob")}
    for number, (name, word) in enumerate(story):
        judged = session.annotations().rows
        tasks = [] if name == "owner" else session.ask(people[name], 2)
        if name == "owner" and word != "undo" and len(judged):
            session.settle(Judgement(word, int(judged[0]), f"k{number}"))
        elif (
            word == "undo"
            and name != "owner"
            and session.store.rows("SELECT 1 FROM answer WHERE annotator = ?", (people[name].id,))
        ):
            session.record(people[name], [Judgement("undo", None, f"k{number}")])
        elif tasks and word != "undo":
            session.record(people[name], [Judgement(word, tasks[0].triple, f"k{number}")])
        assert stored_counts(session.store) == recount(session.store)
    session.close()


def test_an_exchange_reads_no_table_of_the_history_from_end_to_end(session):
    """Every statement of an exchange finds its rows by an index, so a long history costs it nothing."""
    ada, bob = session.add_annotator("ada"), session.add_annotator("bob")
    seen = set()
    with session.store.connect() as connection:
        connection.set_trace_callback(seen.add)
    for number in range(40):
        for one in (ada, bob):
            word = ("true", "false", "unsure")[number % 3]
            session.exchange(one, [Judgement(word, session.ask(one)[0].triple, f"k{number}")], 3)
            progress(session, one)
    with session.store.connect() as connection:
        connection.set_trace_callback(None)
    # A connection without foreign keys: their plan of an insert shows a search that only a broken key would start.
    with closing(sqlite3.connect(session.store.path)) as plain:
        plans = {sql: plain.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall() for sql in seen if is_query(sql)}
    assert any("JOIN answer" in sql for sql in plans)
    few = ("task_shared", "task_undecided")  # indices of what is still open, not of what was ever asked
    steps = {(row[3], sql) for sql, rows in plans.items() for row in rows}
    scans = {step for step in steps if step[0].startswith(("SCAN answer", "SCAN judgement", "SCAN task"))}
    assert not {step for step in scans if not step[0].endswith(few)}


def is_query(sql):
    return sql.split()[0] in ("SELECT", "INSERT", "DELETE", "UPDATE")
