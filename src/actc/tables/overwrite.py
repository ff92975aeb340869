"""May this be written here? Asked by every command before its work, so that nobody loses a file or an afternoon.

What is there already is replaced if it is an earlier output of the same kind, by its content, or if the user says
``--overwrite``. An input, a session's file, a link, a device or a pipe is never written over.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from actc.errors import FileError
from actc.tables.deliver import refuse_odd_place

LEAST_FREE = 1 << 20
HEAD = 1 << 12
SESSION_FILES = (
    "settings.json", "checksums.json", "judgements.", "names.sqlite", "reasons.sqlite", "texts.sqlite", "judges.sqlite",
    "pool.parquet", "sample.parquet", "sketch.npz", "known.parquet", "secret",
)  # fmt: skip


def check_output(
    path: str | Path, kind: str | None = None, *, overwrite: bool = False, inputs: Iterable[str | Path | None] = ()
) -> None:
    """Refuse a place where a file must not, or cannot, be written.

    Parameters
    ----------
    path : path
        Where the output shall be.
    kind : str, optional
        A name in ``OWN``: what the output is. Without one, nothing that is there is known as our own: a table of
        triples may be anybody's.
    overwrite : bool
        Whether the user said that what is there may be replaced.
    inputs : iterable of path
        What is read, which is never written over, nor anything in a folder that is read.
    """
    path = Path(path)
    refuse_odd_place(path)
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the name of a file to write.")
    _refuse_inputs(path, inputs)
    _refuse_session_files(path)
    if path.exists() and not overwrite and not (kind is not None and OWN[kind](path)):
        raise FileError(f"{path} is there already; choose another name or give --overwrite.")
    check_room(path)


def check_output_folder(
    path: str | Path, own: str, *, overwrite: bool = False, inputs: Iterable[str | Path | None] = ()
) -> None:
    """Refuse a place where a folder must not, or cannot, be written.

    Parameters
    ----------
    path : path
        Where the output shall be.
    own : str
        A name in ``OWN_FOLDERS``: how an earlier output of this kind is known.
    overwrite, inputs
        As in :func:`check_output`.
    """
    path = Path(path)
    refuse_odd_place(path)
    _refuse_inputs(path, inputs)
    if path.exists() and not path.is_dir():
        raise FileError(f"{path} is a file; give the name of a folder.")
    if (path / "judgements.sqlite").exists():
        raise FileError(f"{path} is an annotation session; write somewhere else.")
    if path.is_dir() and any(path.iterdir()) and not overwrite and not OWN_FOLDERS[own](path):
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


def _refuse_inputs(path: Path, inputs: Iterable[str | Path | None]) -> None:
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


def _begins(pattern: bytes) -> Callable[[Path], bool]:
    return lambda path: re.match(pattern, _head(path)) is not None


def _holds(words: bytes) -> Callable[[Path], bool]:
    return lambda path: words in _head(path)


def _is_history(path: Path) -> bool:
    with open(path, "rb") as file:
        first = file.readline(1 << 16)
    try:
        told = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and {"said", "purpose", "shown", "undone"} <= told.keys()


# How an earlier output is known, by what a person's own file would hardly say.
OWN: dict[str, Callable[[Path], bool]] = {
    "thresholds": _begins(rb'\s*{\s*"format": "actc-thresholds"'),
    "report": _holds(b'<meta name="generator" content="actc report">'),
    "report-json": _begins(rb'\s*{\s*"format": "actc-report"'),
    "shift": lambda path: all(word in _head(path) for word in (b'"relation"', b'"stability"', b'"shifted"')),
    "rows": _begins(rb"dataset,model,method,budget,repeat,"),
    "history": _is_history,
    "label-studio": _holds(b'"head_description"'),
    "questions": _begins(rb"head[\t,]relation[\t,]tail[\t,]score[\t,]probability[\t,]"),
    "accepted": _begins(rb"head[\t,]relation[\t,]tail[\t,]score[\t,]by[\r\n]"),
}
OWN_FOLDERS: dict[str, Callable[[Path], bool]] = {
    "model": lambda folder: _is(folder / "model.json", _holds(b'"format": "actc-model"')),
    "demo": lambda folder: _is(folder / "report.html", _holds(b"<title>actc demo</title>")),
    "paper": lambda folder: (
        _is(folder / "rows.csv", OWN["rows"]) or _is(folder / "index.html", _holds(b"<title>ACTC, run again</title>"))
    ),
    "graph": lambda folder: False,  # the same files as in anybody's graph
}


def _is(path: Path, own: Callable[[Path], bool]) -> bool:
    return path.is_file() and own(path)
