"""May this be written here? Asked by every command before its work, so that nobody loses a file or an afternoon.

What is there already is replaced only if the user says ``--overwrite``. An input, a session's file, a link, a device or
a pipe is never written over.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from actc.data.deliver import refuse_odd_place
from actc.errors import FileError

LEAST_FREE = 1 << 20
SQLITE = b"SQLite format 3\0"
SESSION_FILES = (
    "judgements.", "names.sqlite", "judges.sqlite",
    "pool.parquet", "known.parquet", "secret",
)  # fmt: skip


def check_output(
    path: str | Path,
    *,
    overwrite: bool = False,
    inputs: Iterable[str | Path | None] = (),
    folder: bool = False,
) -> None:
    """Refuse a place where an output must not, or cannot, be written.

    Parameters
    ----------
    path : path
        Where the output shall be.
    overwrite : bool
        Whether the user said that what is there may be replaced.
    inputs : iterable of path
        What is read, which is never written over, nor anything in a folder that is read.
    folder : bool
        Whether the output is a folder; an empty one may be there.
    """
    path = Path(path)
    refuse_odd_place(path)
    if path.exists() and path.is_dir() != folder:
        there, wanted = ("folder", "file to write") if path.is_dir() else ("file", "folder")
        raise FileError(f"{path} is a {there}; give the name of a {wanted}.")
    refuse_inputs(path, inputs)
    _refuse_session_files(path)
    if path.exists() and not overwrite and not (folder and not any(path.iterdir())):
        raise FileError(f"{path} is there already; choose another name or give --overwrite.")
    check_room(path)


def check_room(path: Path) -> None:
    """Refuse a place without space, or without the right to write there."""
    parent = path.absolute().parent
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent  # folders are made where they are missing
    if shutil.disk_usage(parent).free < LEAST_FREE:
        raise FileError(f"{path} cannot be written: there is no space left in {parent}.")
    try:
        with tempfile.TemporaryFile(dir=parent):
            pass
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"{path} cannot be written: {parent}: {reason}.") from None


def refuse_inputs(path: Path, inputs: Iterable[str | Path | None]) -> None:
    """Refuse a place that is read, or that lies in a folder that is read."""
    place = Path(os.path.realpath(path))
    for given in inputs:
        if given is None or not os.path.exists(given):
            continue
        source = Path(os.path.realpath(given))
        same = path.exists() and os.path.samefile(path, given)
        if same or source == place or (source.is_dir() and not _is_session(source) and source in place.parents):
            raise FileError(f"{path} is read by this command, or lies in what is read; write somewhere else.")


def _refuse_session_files(path: Path) -> None:
    if _is_session(path):
        raise FileError(f"{path} is an annotation session; write somewhere else.")
    if _is_session(path.absolute().parent) and path.name.startswith(SESSION_FILES):
        raise FileError(f"{path} belongs to an annotation session; write somewhere else.")
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(SQLITE)) == SQLITE:
                raise FileError(f"{path} is a database, perhaps a session's; write somewhere else.")


def _is_session(folder: Path) -> bool:
    return (folder / "judgements.sqlite").exists()
