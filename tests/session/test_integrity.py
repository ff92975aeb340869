"""A session gives out no rights and loses nothing: what comes from files, what is damaged, what cannot be stored."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

import actc
from actc.data.files import write_scored
from actc.errors import FileError, OptionError
from actc.session import OWNER, Judgement, Session
from actc.session.export import write_history
from actc.session.import_answers import import_judgements
from actc.session.settings import Settings
from tests.conftest import start_copy
from tests.synthetic import make_truth


@pytest.fixture
def scores(tmp_path):
    pool, _, _ = make_truth(300, 3)
    write_scored(tmp_path / "scores.tsv", pool)
    return tmp_path / "scores.tsv"


def begin(scores, name, **settings):
    return start_copy(scores.with_name(name), scores, Settings(**{"budget": 60} | settings))


def judge(session, who, count):
    person = session.add_annotator(who)
    for number in range(count):
        task = session.ask(person, 1)[0]
        session.record(person, [Judgement("true" if task.score > 0 else "false", task.triple, f"{who}-{number}")])


def write_lines(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def line(scores):
    head, relation, tail = scores.read_text().splitlines()[1].split("\t")[:3]
    return {"subject": head, "predicate": relation, "object": tail, "answer": "true"}


def test_a_file_makes_nobody_an_owner_but_an_owner_may_take_its_decisions_as_their_own(scores, tmp_path, line):
    session = begin(scores, "s")
    for name in ("mallory", OWNER):
        lines = write_lines(tmp_path / "in.jsonl", line | {"kind": "owner", "name": name, "key": name})
        with pytest.raises(FileError, match=r"in.jsonl, line 1:"):
            import_judgements(session, lines)
    assert not session.store.rows("SELECT * FROM vote")
    assert import_judgements(session, lines, owner=True)[0] == 1
    assert [one.name for one in session.annotators()] == [OWNER]
    assert [row["kind"] for row in session.store.rows("SELECT kind FROM vote")] == ["owner"]


def test_what_cannot_be_stored_is_refused_before_it_is(scores, tmp_path, line):
    session = begin(scores, "s")
    with pytest.raises(OptionError):
        Judgement("true", 1, "key", note="half a pair: \ud800")
    for odd in ({"note": "\udfff"}, {"head": "\ud800"}, {"seconds": 10**400}, {"frame_size": -np.inf}):
        with pytest.raises(FileError, match=r"in.jsonl, line 1:"):
            import_judgements(session, write_lines(tmp_path / "in.jsonl", line | odd))
    assert import_judgements(session, write_lines(tmp_path / "in.jsonl", line | {"round": -np.inf}))[0] == 1


def test_a_session_is_for_its_owner_s_eyes(scores, tmp_path):
    session = begin(scores, "s")
    judge(session, "ada", 2)
    write_history(session, tmp_path / "all.jsonl")
    for path in (session.folder, tmp_path / "all.jsonl"):
        assert path.stat().st_mode & 0o077 == 0


def test_on_a_full_disk_a_session_is_still_read_and_written_elsewhere(scores, tmp_path, monkeypatch):
    session = begin(scores, "s")
    judge(session, "ada", 5)
    session.close()
    monkeypatch.setattr("actc.data.database.NOTES", 2**62)  # as if there were no room for SQLite's notes
    before = sorted(path.name for path in session.folder.iterdir())
    (tmp_path / "elsewhere").mkdir()
    assert actc.export_session(session.folder, labels=tmp_path / "elsewhere" / "labels.tsv")[0][0] == 5
    assert sorted(path.name for path in session.folder.iterdir()) == before


def test_an_export_that_is_refused_leaves_nothing_behind(scores, tmp_path):
    session = begin(scores, "s")
    judge(session, "ada", 5)
    out = tmp_path / "out"
    out.mkdir()
    files = {"labels": out / "labels.tsv", "history": out / "history.jsonl", "accepted": out / "accepted.xls"}
    with pytest.raises(OptionError, match=r"accepted\.xls:"):
        actc.export_session(session, **files, thresholds=out / "thresholds.json")
    assert list(out.iterdir()) == []
    files["accepted"] = out / "accepted.csv"
    done = actc.export_session(session, **files, thresholds=out / "thresholds.json")
    assert {path for *_, path in done} == set(out.iterdir())
    assert json.loads((out / "thresholds.json").read_text())["sources"]["session"] == "../s"


@pytest.mark.parametrize("name", ["a?b#c%20 d", "[x]*", "'; --", os.fsdecode(b"caf\xe9"), "mode=ro&immutable=1"])
def test_a_session_may_have_any_name_that_a_folder_can_have(scores, name):
    session = begin(scores, name)
    judge(session, "ada", 6)
    undone = [Judgement("undo", None, "u1"), Judgement("undo", None, "u2")]
    session.record(session.annotator("ada"), undone)
    session.close()
    assert len(Session(session.folder).annotations()) == 4


def run_without_rights(*words):
    """Run actc as somebody whom the rights of files hold: the superuser is nobody's guest."""
    line = [sys.executable, "-c", "from actc.cli.main import main; main()", *map(str, words)]
    if os.getuid() == 0:
        line = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *line]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_a_session_that_can_only_be_read_can_be_exported_but_not_changed(scores, tmp_path):
    session = begin(scores, "s")
    judge(session, "ada", 6)
    session.close()
    session.folder.chmod(0o500)
    try:
        files = {path: path.read_bytes() for path in session.folder.iterdir()}
        exported = run_without_rights(
            "export", session.folder, "--labels", tmp_path / "l.tsv", "--accepted", tmp_path / "a.tsv"
        )
        refused = run_without_rights("import", session.folder, tmp_path / "l.tsv")
        assert {path: path.read_bytes() for path in session.folder.iterdir()} == files
    finally:
        session.folder.chmod(0o700)
    assert (exported.returncode, refused.returncode) == (0, 2), exported.stderr
    assert len((tmp_path / "l.tsv").read_text().splitlines()) == 7
    assert len(refused.stderr.splitlines()) == 1


def damage_a_page(path):
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 3 + 64] = bytes(64)
    path.write_bytes(content)


def lose_the_triples(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("UPDATE task SET triple = triple + 100000")


@pytest.mark.parametrize("damage", [damage_a_page, lose_the_triples])
def test_a_damaged_session_is_refused_on_opening(scores, damage):
    session = begin(scores, "s")
    judge(session, "ada", 8)
    session.close()
    damage(session.folder / "session.sqlite")
    with pytest.raises(FileError, match=r"session.sqlite:"):
        Session(session.folder)
