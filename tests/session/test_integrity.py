"""A session gives out no rights and loses nothing: what comes from files, what is damaged, what cannot be stored."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import pytest

from actc.errors import FileError, OptionError
from actc.session import OWNER, Judgement, Session, Settings
from actc.session.exchange import import_judgements, read_judgements, write_history
from actc.tables.files import write_scored
from tests.conftest import start_copy
from tests.synthetic import make_truth


@pytest.fixture
def scores(tmp_path):
    pool, _, _ = make_truth(300, 3)
    write_scored(tmp_path / "scores.tsv", pool)
    return tmp_path / "scores.tsv"


def begin(scores, name, **settings):
    return start_copy(scores.with_name(name), scores, Settings(**{"budget": 60} | settings))


def judge(session, who, count, truth=lambda task: task.score > 0):
    person = session.add_annotator(who)
    for number in range(count):
        task = session.ask(person, 1)[0]
        session.record(person, [Judgement("true" if truth(task) else "false", task.triple, f"{who}-{number}")])


def write_lines(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def line(scores):
    head, relation, tail = scores.read_text().splitlines()[1].split("\t")[:3]
    return {"head": head, "relation": relation, "tail": tail, "said": "true"}


def test_a_file_makes_nobody_an_owner(scores, tmp_path, line):
    session = begin(scores, "s")
    for name in ("mallory", OWNER):
        lines = write_lines(tmp_path / "in.jsonl", line | {"kind": "owner", "name": name, "key": name})
        with pytest.raises(FileError, match=r"in.jsonl, line 1: .* --owner"):
            import_judgements(session, lines)
    assert [one.name for one in session.annotators() if one.kind == "owner"] == [OWNER]


def test_an_owner_s_decisions_come_in_as_one_s_own_if_wanted(scores, tmp_path, line):
    session = begin(scores, "s")
    lines = write_lines(tmp_path / "in.jsonl", line | {"kind": "owner", "name": "mallory", "key": "k"})
    assert import_judgements(session, lines, owner=True).added == 1
    assert [one.name for one in session.annotators()] == [OWNER]
    assert session.votes().final.tolist() == [True]


def test_a_history_brought_into_another_session_gives_the_same_labels(scores, tmp_path):
    session = begin(scores, "first", repeats=0.5, overlap=0.3)
    unsteady = np.random.default_rng(0)
    for who in ("ada", "bob"):
        judge(session, who, 40, lambda task: unsteady.random() < 0.5)
    assert session.store.value("SELECT count(*) FROM judgement WHERE purpose = 'repeat'") > 5
    write_history(session, tmp_path / "all.jsonl")
    second = begin(scores, "second")
    read_judgements(second, tmp_path / "all.jsonl")
    mine, theirs = session.annotations(), second.annotations()
    assert dict(zip(mine.rows, mine.labels, strict=True)) == dict(zip(theirs.rows, theirs.labels, strict=True))


def test_what_cannot_be_stored_is_refused_before_it_is(scores, tmp_path, line):
    session = begin(scores, "s")
    with pytest.raises(OptionError, match="cannot be stored"):
        Judgement("true", 1, "key", note="half a pair: \ud800")
    lines = write_lines(tmp_path / "in.jsonl", line | {"note": "\udfff"})
    with pytest.raises(FileError, match=r"in.jsonl, line 1: .*cannot be stored"):
        read_judgements(session, lines)


CHANGES = {
    "an answer": "UPDATE answer SET label = 1 - label WHERE triple = (SELECT min(triple) FROM answer)",
    "a word": "UPDATE judgement SET said = 'true' WHERE id = (SELECT min(id) FROM judgement WHERE said = 'false')",
    "a time": "UPDATE judgement SET at = at + 1 WHERE id = 2",
    "a row": "DELETE FROM judgement WHERE id = 3",
    "a name": "UPDATE task SET tail = 'x' WHERE triple = (SELECT min(triple) FROM answer)",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_bit_is_found_on_opening(scores, change):
    session = begin(scores, "s")
    judge(session, "ada", 8, lambda task: task.triple % 2)
    session.close()
    raw = sqlite3.connect(session.folder / "judgements.sqlite", isolation_level=None)
    triggers = [row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
    for trigger in triggers:
        raw.execute(f"DROP TRIGGER {trigger}")
    raw.execute(CHANGES[change])
    raw.close()
    with pytest.raises(FileError, match=r"judgements.sqlite: the database is damaged"):
        Session(session.folder)


def test_a_page_of_rubbish_is_found_on_opening(scores):
    session = begin(scores, "s")
    judge(session, "ada", 8)
    session.close()
    path = session.folder / "judgements.sqlite"
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 3 + 64] = bytes(64)
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"judgements.sqlite: the database"):
        Session(session.folder)


def test_a_session_is_for_its_owner_s_eyes(scores, tmp_path):
    session = begin(scores, "s")
    judge(session, "ada", 2)
    write_history(session, tmp_path / "all.jsonl")
    for path in (session.folder, tmp_path / "all.jsonl"):
        assert path.stat().st_mode & 0o077 == 0


def test_a_sound_session_of_undone_and_repeated_answers_opens(scores):
    session = begin(scores, "s", repeats=0.4)
    judge(session, "ada", 20)
    ada = session.annotator("ada")
    session.record(ada, [Judgement("undo", None, "u1"), Judgement("undo", None, "u2")])
    session.close()
    assert len(Session(session.folder).annotations()) > 3
