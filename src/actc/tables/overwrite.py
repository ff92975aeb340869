"""May this be written here? Asked by every command before its work, so that nobody loses a file or an afternoon.

What is there already is replaced only if the user says ``--overwrite``, or if it says itself, near its beginning, that
it is an earlier output of this kind (``OWN``, ``OWN_FOLDERS``). An input, a session's file, a link, a device or a pipe
is never written over.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from actc.errors import FileError
from actc.tables.deliver import refuse_odd_place

LEAST_FREE = 1 << 20
HEAD = 1 << 12
SESSION_FILES = (
    "settings.json", "judgements.", "names.sqlite", "reasons.sqlite", "texts.sqlite", "judges.sqlite",
    "pool.parquet", "known.parquet", "secret",
)  # fmt: skip
OWN = {
    "thresholds": b'"format": "actc-thresholds"',
    "report": b'<meta name="generator" content="actc report">',
    "report-json": b'"format": "actc-report"',
    "rows": b"dataset,model,method,budget,repeat,",
    "store": b"# actc: the graph of a store",
}
"""What the outputs of a kind have in their head; a table of triples has nothing of the sort: it may be anybody's."""
OWN_FOLDERS = {
    "model": ("model.json", b'"format": "actc-model"'),
    "demo": ("report.html", b"<title>actc demo</title>"),
    "paper": ("rows.csv", OWN["rows"]),
}
"""A file that folders of a kind hold, and what that one has in its head."""


def check_output(
    path: str | Path, kind: str | None = None, *, overwrite: bool = False, inputs: Iterable[str | Path | None] = ()
) -> None:
    """Refuse a place where a file must not, or cannot, be written.

    Parameters
    ----------
    path : path
        Where the output shall be.
    kind : str, optional
        A name in ``OWN``, if it is there: what the output is.
    overwrite : bool
        Whether the user said that what is there may be replaced.
    inputs : iterable of path
        What is read, which is never written over, nor anything in a folder that is read.
    """
    path = Path(path)
    refuse_odd_place(path)
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the name of a file to write.")
    refuse_inputs(path, inputs)
    _refuse_session_files(path)
    if path.exists() and not overwrite and not (kind in OWN and OWN[kind] in _head(path)):
        raise FileError(f"{path} is there already; choose another name or give --overwrite.")
    check_room(path)


def check_output_folder(path: str | Path, own: str, *, overwrite: bool, inputs: Iterable[str | Path | None]) -> None:
    """Refuse a place where a folder must not, or cannot, be written.

    Parameters
    ----------
    path : path
        Where the output shall be.
    own : str
        A name in ``OWN_FOLDERS``: what the output is.
    overwrite, inputs
        As in :func:`check_output`.
    """
    path = Path(path)
    refuse_odd_place(path)
    refuse_inputs(path, inputs)
    if path.exists() and not path.is_dir():
        raise FileError(f"{path} is a file; give the name of a folder.")
    if (path / "judgements.sqlite").exists():
        raise FileError(f"{path} is an annotation session; write somewhere else.")
    name, words = OWN_FOLDERS[own]
    earlier = (path / name).is_file() and words in _head(path / name)
    if path.is_dir() and any(path.iterdir()) and not overwrite and not earlier:
        raise FileError(f"{path} has files in it that are no earlier output; choose another name or give --overwrite.")
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
    if _is_session(path.absolute().parent) and path.name.startswith(SESSION_FILES):
        raise FileError(f"{path} belongs to an annotation session; write somewhere else.")
    if path.is_file() and _head(path).startswith(b"SQLite format 3\0"):
        raise FileError(f"{path} is a database, perhaps a session's; write somewhere else.")


def _is_session(folder: Path) -> bool:
    return (folder / "judgements.sqlite").exists()


def _head(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(HEAD)
