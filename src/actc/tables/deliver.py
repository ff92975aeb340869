"""Output that is complete or absent: written in a hidden neighbour, moved into place at the end.

A run that is killed leaves only its hidden neighbour behind; the next run to the same place clears it away.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from actc.errors import FileError

MARK = ".unfinished"
PART_NAMES = ("part-*", "_SUCCESS", ".*.crc")


@contextmanager
def deliver(path: Path, overwrite: bool = False) -> Iterator[Path]:
    """Give a place to write a file or a folder of parts to, and move it to ``path`` at the end.

    Parameters
    ----------
    path : Path
        Where the output shall be.
    overwrite : bool
        Replace what is there; a folder only if it holds nothing but parts.
    """
    _refuse(path, overwrite)
    _clear_leftovers(path)
    scratch = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=MARK, dir=path.parent))
    try:
        with open(scratch / "lock", "w", encoding="ascii") as lock:
            _try_to_lock(lock)
            yield scratch / path.name
            _refuse(path, overwrite)  # hours may have passed
            if path.exists():
                path.rename(scratch / "replaced")
            (scratch / path.name).rename(path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _refuse(path: Path, overwrite: bool) -> None:
    if not path.parent.is_dir():
        raise FileError(f"{path} cannot be written: there is no folder {path.parent}.")
    if path.exists() and not overwrite:
        raise FileError(f"{path} is there already; choose another name or give --overwrite.")
    if path.is_dir():
        foreign = [one for one in path.iterdir() if not any(one.match(name) for name in PART_NAMES)]
        if foreign:
            raise FileError(f"{path} holds {foreign[0].name}, which is no part of an output; remove it yourself.")


def _clear_leftovers(path: Path) -> None:
    """Remove what killed runs left; a run that is still alive holds a lock on its own."""
    for scratch in path.parent.glob(f".{path.name}.*{MARK}"):
        with suppress(OSError), open(scratch / "lock", "a", encoding="ascii") as lock:
            if _try_to_lock(lock):
                shutil.rmtree(scratch, ignore_errors=True)


def _try_to_lock(file: IO[str]) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows: leftovers stay until somebody removes them
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
