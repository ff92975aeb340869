"""SQLite files: how to open one wherever it lies."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

NOTES = 2**17
"""Bytes that SQLite's notes beside an open database need at least, twice over."""


def database_address(path: Path, writing: bool = True) -> str:
    """Return a database's address for SQLite: to read and write, or to read alone, where nothing can be written.

    SQLite keeps notes beside a database that is open. Where it cannot, on a read-only or full disk or in somebody
    else's folder, it opens one that nobody else writes, and that was closed: no notes are there.
    """
    address = f"file:{quote(os.fsencode(path))}"
    here = os.access(path if path.exists() else path.absolute().parent, os.W_OK)
    closed = not path.with_name(path.name + "-wal").exists()
    if here and os.access(path.absolute().parent, os.W_OK) and not (closed and path.exists() and _is_full(path)):
        return address if writing else f"{address}?mode=ro"
    return f"{address}?mode=ro{'&immutable=1' if closed else ''}"


def _is_full(path: Path) -> bool:
    """Say whether there is no room beside a file for SQLite's notes."""
    if not hasattr(os, "statvfs"):  # Windows
        return False
    disk = os.statvfs(path)
    return disk.f_bavail * disk.f_frsize < NOTES
