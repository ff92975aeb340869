"""A session can be copied while people judge, read where nothing can be written, and knows what is missing from it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

import actc
from actc.errors import FileError, OptionError
from actc.judges.store import ReplyStore
from actc.session import Judgement, Session, Settings
from actc.tables.files import write_scored
from tests.conftest import start_copy
from tests.synthetic import make_truth


@pytest.fixture
def session(tmp_path):
    pool, _, _ = make_truth(200, 3)
    write_scored(tmp_path / "scores.tsv", pool)
    session = start_copy(tmp_path / "s", tmp_path / "scores.tsv", Settings(budget=60))
    yield session
    session.close()


def judge(session, count, first=0):
    ada = session.add_annotator("ada")
    for number in range(first, first + count):
        task = session.ask(ada, 1)[0]
        session.record(ada, [Judgement("true" if task.score > 0 else "false", task.triple, f"k{number}")])


def test_a_copy_made_while_people_judge_is_a_session_with_what_was_said_so_far(session, tmp_path):
    judge(session, 5)
    assert actc.backup_session(session.folder, tmp_path / "copy") == 5
    judge(session, 3, first=5)
    copy = Session(tmp_path / "copy")
    assert len(copy.annotations()) == 5
    judge(copy, 1, first=5)
    copy.close()
    assert (tmp_path / "copy").stat().st_mode & 0o077 == 0


def test_a_copy_replaces_nothing_and_does_not_lie_in_what_it_copies(session, tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileError, match="is there already"):
        actc.backup_session(session, tmp_path / "mine")
    with pytest.raises(FileError, match="lies in the session itself"):
        actc.backup_session(session, session.folder / "copy")
    assert list((tmp_path / "mine").iterdir()) == []


def test_on_a_full_disk_a_session_is_still_read_and_written_elsewhere(session, tmp_path, monkeypatch):
    judge(session, 5)
    session.close()
    monkeypatch.setattr("actc.tables.sqlite.NOTES", 2**62)  # as if there were no room for SQLite's notes
    before = sorted(path.name for path in session.folder.iterdir())
    (tmp_path / "elsewhere").mkdir()
    assert actc.backup_session(session.folder, tmp_path / "elsewhere" / "copy") == 5
    assert actc.export_session(session.folder, labels=tmp_path / "elsewhere" / "labels.tsv")[0][0] == 5
    assert sorted(path.name for path in session.folder.iterdir()) == before


def test_an_export_that_is_refused_leaves_nothing_behind(session, tmp_path):
    judge(session, 5)
    out = tmp_path / "out"
    out.mkdir()
    files = {"labels": out / "labels.tsv", "history": out / "history.jsonl", "accepted": out / "accepted.xls"}
    with pytest.raises(OptionError, match=r"accepted\.xls: the name must end in"):
        actc.export_session(session, **files, thresholds=out / "thresholds.json")
    assert list(out.iterdir()) == []
    files["accepted"] = out / "accepted.csv"
    done = actc.export_session(session, **files, thresholds=out / "thresholds.json")
    assert {path for *_, path in done} == set(out.iterdir())
    assert json.loads((out / "thresholds.json").read_text())["sources"]["session"] == "../s"


def test_a_copy_has_the_machine_answers_too(session, tmp_path):
    store = ReplyStore(session.folder, create=True)
    with store.open() as connection:  # while it is open, SQLite keeps its last pages in a file beside
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        actc.backup_session(session, tmp_path / "copy")
    with ReplyStore(tmp_path / "copy").open() as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == tables


def copy_without(session, tmp_path, *names):
    shutil.copytree(session.folder, tmp_path / "moved", ignore=shutil.ignore_patterns(*names))
    return tmp_path / "moved"


def test_a_copy_that_left_the_last_judgements_behind_is_noticed(session, tmp_path):
    judge(session, 4)
    whole = copy_without(session, tmp_path)  # while it is open, the last judgements are in the file -wal
    assert len(Session(whole).annotations()) == 4
    shutil.rmtree(whole)
    moved = copy_without(session, tmp_path, "*-wal", "*-shm")
    with pytest.raises(FileError, match=r"the last 4 judgements are missing, as if judgements.sqlite-wal were"):
        Session(moved)


def test_a_session_opens_without_its_count_and_shows_no_candidates_without_their_checksums(session, tmp_path):
    judge(session, 2)
    copy = Session(copy_without(session, tmp_path, "*.count", "checksums.json"))
    assert len(copy.annotations()) == 2
    with pytest.raises(FileError, match="checksums.json: the file is missing or damaged"):
        copy.read_pool()


@pytest.mark.parametrize("name", ["pool.parquet", "checksums.json"])
def test_a_changed_bit_among_the_candidates_is_found_when_they_are_read(session, name):
    path = session.folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileError, match="put back a copy of the session"):
        Session(session.folder).read_pool()


@pytest.mark.parametrize("name", ["a?b#c%20 d", "[x]*", "'; --", os.fsdecode(b"caf\xe9"), "mode=ro&immutable=1"])
def test_a_session_may_have_any_name_that_a_folder_can_have(session, tmp_path, name):
    judge(session, 2)
    assert actc.backup_session(session, tmp_path / name) == 2
    copy = Session(tmp_path / name)
    judge(copy, 1, first=2)
    assert len(copy.annotations()) == 3
    copy.close()


def run_without_rights(*words):
    """Run actc as somebody whom the rights of files hold: the superuser is nobody's guest."""
    line = [sys.executable, "-c", "from actc.cli.main import main; main()", *map(str, words)]
    if os.getuid() == 0:
        line = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *line]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_a_session_that_can_only_be_read_can_be_exported_and_copied_but_not_changed(session, tmp_path):
    judge(session, 6)
    session.close()
    session.folder.chmod(0o500)
    try:
        files = {path: path.read_bytes() for path in session.folder.iterdir()}
        exported = run_without_rights(
            "export", session.folder, "--labels", tmp_path / "l.tsv", "--accepted", tmp_path / "a.tsv"
        )
        copied = run_without_rights("backup", session.folder, tmp_path / "copy")
        refused = run_without_rights("import", session.folder, tmp_path / "l.tsv")
        assert {path: path.read_bytes() for path in session.folder.iterdir()} == files
    finally:
        session.folder.chmod(0o700)
    assert (exported.returncode, copied.returncode, refused.returncode) == (0, 0, 2), exported.stderr + copied.stderr
    assert len((tmp_path / "l.tsv").read_text().splitlines()) == 7
    assert len(refused.stderr.splitlines()) == 1
