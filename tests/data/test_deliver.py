"""Output that is complete or absent."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from actc.data.begun import Begun
from actc.data.deliver import alone, clear_leftovers, deliver, write_beside
from actc.errors import FileError


def test_a_file_appears_only_at_the_end(tmp_path):
    with deliver(tmp_path / "out.txt") as place:
        place.write_text("done")
        assert not (tmp_path / "out.txt").exists()
    assert (tmp_path / "out.txt").read_text() == "done"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_nothing_appears_when_writing_fails(tmp_path):
    with pytest.raises(ZeroDivisionError), deliver(tmp_path / "out") as place:
        place.mkdir()
        (place / "part-0").write_text(f"{1 / 0}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("write", [lambda path: deliver(path, overwrite=True), write_beside])
def test_the_old_output_survives_a_failure(tmp_path, write):
    (tmp_path / "out.txt").write_text("old")
    with pytest.raises(ZeroDivisionError), write(tmp_path / "out.txt") as place:
        place.write_text("new")
        raise ZeroDivisionError
    assert (tmp_path / "out.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_who_has_a_place_writes_there_and_no_other_process_or_thread_does(tmp_path):
    out = tmp_path / "no" / "out"

    def write():
        with deliver(out) as place:
            place.touch()

    code = "from actc.data.deliver import deliver\nwith deliver(__import__('pathlib').Path('out')): pass"
    with alone(out):
        other = subprocess.run([sys.executable, "-c", code], cwd=out.parent, capture_output=True, text=True)
        assert "out is being written by another run" in other.stderr
        with ThreadPoolExecutor(1) as thread, pytest.raises(FileError, match="out is being written by another run"):
            thread.submit(write).result()
        write()
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_who_is_patient_waits_for_a_place(tmp_path):
    def wait():
        with alone(tmp_path / "out", patience=20):
            pass

    with ThreadPoolExecutor(1) as thread:
        with alone(tmp_path / "out"):
            waiting = thread.submit(wait)
        waiting.result()
    assert not any(tmp_path.iterdir())


def test_a_place_in_which_nothing_was_written_leaves_no_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), alone(tmp_path / "a" / "b" / "out"):
        raise ZeroDivisionError
    assert not any(tmp_path.iterdir())


def test_a_lock_that_a_killed_run_left_keeps_nobody_out(tmp_path):
    (tmp_path / ".out.lock").touch()
    with deliver(tmp_path / "out") as place:
        place.mkdir()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


KILLED = """
import os, sys
from pathlib import Path
from actc.data.deliver import deliver

rename = Path.rename

def rename_and_die(self, target):
    rename(self, target)
    os._exit(9)

with deliver(Path(sys.argv[1]), overwrite=True) as unfinished:
    unfinished.mkdir()
    (unfinished / "part-0").write_text("new")
    if sys.argv[2] == "writing":
        os._exit(9)
    Path.rename = rename_and_die
"""


def write_model(folder, text):
    with deliver(folder, overwrite=True) as unfinished:
        unfinished.mkdir()
        (unfinished / "part-0").write_text(text)


@pytest.mark.parametrize("when", ["writing", "moving"])
def test_the_old_folder_survives_a_kill_and_the_next_run_starts_clean(tmp_path, when):
    folder = tmp_path / "model [1]"
    write_model(folder, "old")
    assert subprocess.run([sys.executable, "-c", KILLED, str(folder), when], check=False).returncode == 9
    assert folder.exists() == (when == "writing")
    with pytest.raises(ZeroDivisionError), deliver(folder, overwrite=True):
        assert (folder / "part-0").read_text() == "old"
        raise ZeroDivisionError
    write_model(folder, "newer")
    assert (folder / "part-0").read_text() == "newer"
    assert list(tmp_path.iterdir()) == [folder]


def test_a_link_a_pipe_or_a_device_is_never_replaced(tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(FileError, match=name), deliver(tmp_path / name, overwrite=True):
            pass
        with pytest.raises(FileError, match=name), write_beside(tmp_path / name):
            pass
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "precious").read_text() == "precious"


def leave_behind(path):
    killed = "import os, sys; from actc.data.deliver import write_beside\nwith write_beside(sys.argv[1]): os._exit(9)"
    subprocess.run([sys.executable, "-c", killed, str(path)], check=False)
    assert list(path.parent.glob(".*.unfinished"))


@pytest.mark.parametrize("leftover", ["lock", "folder"])
def test_a_planted_link_in_a_leftover_folder_makes_no_file_elsewhere(tmp_path, leftover):
    folder, elsewhere = tmp_path / "shared", tmp_path / "elsewhere"
    folder.mkdir()
    planted = folder / ".out.tsv.x.unfinished"
    if leftover == "lock":
        planted.mkdir()
        (planted / "lock").symlink_to(elsewhere)
    else:
        elsewhere.mkdir()
        planted.symlink_to(elsewhere)
    with write_beside(folder / "out.tsv") as place:
        place.write_text("whole")
    assert (folder / "out.tsv").read_text() == "whole"
    assert not elsewhere.exists() or not list(elsewhere.iterdir())


def test_a_leftover_folder_of_another_user_is_left_alone(tmp_path, monkeypatch):
    leave_behind(tmp_path / "out.tsv")
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    clear_leftovers(tmp_path)
    assert list(tmp_path.glob(".*.unfinished"))


def test_a_link_in_the_place_of_a_lock_is_refused(tmp_path):
    (tmp_path / ".out.tsv.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError), alone(tmp_path / "out.tsv"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_with_foreign_files_is_not_replaced(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "thesis.doc").touch()
    with pytest.raises(FileError, match=r"thesis\.doc"):
        write_model(tmp_path / "model", "new")
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["thesis.doc"]


def test_what_a_killed_writer_of_a_file_left_is_cleared_away(tmp_path):
    leave_behind(tmp_path / "out.txt")
    with write_beside(tmp_path / "out.txt") as place:
        place.write_text("done")
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_run_that_was_killed_as_it_began_its_folder_can_be_started_again(tmp_path):
    (tmp_path / "better").mkdir()
    leave_behind(tmp_path / "better" / "begun.json")
    assert Begun.open(tmp_path / "better", {"graph": "x"}, lambda _: None, ()).done == {}
    assert [path.name for path in (tmp_path / "better").iterdir()] == ["begun.json"]


def test_a_folder_of_our_own_is_cleared_of_what_killed_runs_left_but_not_of_what_lives(tmp_path):
    leave_behind(tmp_path / "one.tsv")
    with write_beside(tmp_path / "two.tsv") as out:
        out.write_text("whole")
        clear_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["two.tsv"]
