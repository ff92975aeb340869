"""Output that is complete or absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from actc.errors import FileError
from actc.tables.deliver import deliver


def test_a_file_appears_only_at_the_end(tmp_path: Path) -> None:
    with deliver(tmp_path / "out.txt") as place:
        place.write_text("done")
        assert not (tmp_path / "out.txt").exists()
    assert (tmp_path / "out.txt").read_text() == "done"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_nothing_appears_when_writing_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), deliver(tmp_path / "out") as place:
        place.mkdir(mode=0o700 // 0)
    assert not list(tmp_path.iterdir())


def test_the_old_output_survives_a_failure(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("old")
    with pytest.raises(ZeroDivisionError), deliver(tmp_path / "out.txt", overwrite=True) as place:
        place.write_text(f"new {1 / 0}")
    assert (tmp_path / "out.txt").read_text() == "old"


def test_a_folder_with_anything_but_parts_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.doc").touch()
    with pytest.raises(FileError, match=r"thesis\.doc"), deliver(tmp_path / "out", overwrite=True):
        pass
    assert (tmp_path / "out" / "thesis.doc").exists()


def test_a_running_neighbour_is_left_alone(tmp_path: Path) -> None:
    with deliver(tmp_path / "out.txt", overwrite=True) as first:
        first.write_text("first")
        with deliver(tmp_path / "out.txt") as second:
            second.write_text("second")
        assert first.exists()
    assert (tmp_path / "out.txt").read_text() == "first"


def test_an_output_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="--overwrite"), deliver(tmp_path / "out.txt"):
        (tmp_path / "out.txt").write_text("somebody was quicker")
    assert (tmp_path / "out.txt").read_text() == "somebody was quicker"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no folder"), deliver(tmp_path / "no" / "out.txt"):
        pass
