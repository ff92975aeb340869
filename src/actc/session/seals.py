"""What a session says of its own files, so that a worn disk, or a copy that lacks something, is found out.

The candidates never change, and more may come beside them: each file's checksum is written once. Of the judgements each
has a checksum in the database itself (:mod:`actc.session.store`); how many there were stands beside it, since the last
of them may be in SQLite's file ``-wal``, which a copy easily leaves behind.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from actc.errors import FileError
from actc.tables.files import load_json, ordinary, write_json

SEALS = "checksums.json"
SEALED = ("pool.parquet", "known.parquet", "facts.parquet")
DIGITS = 20


def write_seals(folder: Path) -> None:
    """Write the checksums of the candidates and of the known triples."""
    write_json(folder / SEALS, {name: _digest(folder / name) for name in SEALED if (folder / name).exists()})


def add_seal(path: Path) -> None:
    """Add the checksum of one more file to a session's."""
    seals = path.parent / SEALS
    write_json(seals, {**load_json(seals), path.name: _digest(path)})


def check_seal(path: Path) -> Path:
    """Refuse a file that is not what was written; return its path."""
    try:
        wanted = load_json(path.parent / SEALS)[path.name]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        sentence = "the file is missing or damaged; put back a copy of the session."
        raise FileError(f"{path.parent / SEALS}: {sentence}") from None
    if path.exists() and _digest(path) != wanted:
        raise FileError(f"{path}: this is not what was written when the session began; put back a copy of the session.")
    return path


def _digest(path: Path) -> str:
    with ordinary(path).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def write_count(database: Path, count: int) -> None:
    """Write how many judgements were acknowledged; never more than there are, since it is written after them."""
    with suppress(OSError):  # they are on the disk: that there is no room to count them is no reason to refuse them
        file = os.open(_counter(database), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(file, f"{count:0{DIGITS}d}\n".encode(), 0)
        finally:
            os.close(file)


def read_count(database: Path) -> int:
    """Return how many judgements there must be at least; 0 where nothing tells."""
    try:
        return int(ordinary(_counter(database)).read_bytes()[:DIGITS])
    except (OSError, ValueError):
        return 0


def _counter(database: Path) -> Path:
    return database.with_suffix(".count")
