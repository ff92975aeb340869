"""The tables of decisions that a studio has made: the newest is shown while a newer one is being made."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from actc.errors import SessionError
from actc.session import Session
from actc.web.studio.decisions import Wish
from actc.web.studio.table import Table

FOLDER = "tables"
MOST_OPEN = 8
SOON = 2.0  # seconds that a request waits for a table: a small one is there by then
MOST_SECONDS = 3600.0
AGAIN = 30.0  # seconds after which a table that could not be made is tried again


@dataclass(eq=False)
class _Making:
    """A table that is being made."""

    state: int
    process: subprocess.Popen[str]
    since: float


@dataclass(frozen=True)
class _Failed:
    """A table that could not be made, why, and when."""

    state: int
    sentence: str
    at: float


@dataclass(frozen=True, eq=False)
class Shown:
    """A table that is there.

    Parameters
    ----------
    table : Table or None
        None while the first one is being made.
    state : int
        Of the table; of what is being made, where there is none yet.
    stale : bool
        Whether a newer one is being made.
    """

    table: Table | None
    state: int
    stale: bool

    def there(self) -> Table:
        """Return the table, unless the first one is being made."""
        if self.table is None:
            raise SessionError("The table of decisions is being made; ask again in a moment.")
        return self.table


class KeptTables:
    """Makes tables in processes of their own, one at a time for each, and opens those that are there.

    A table lies under ``tables/STATE.duckdb`` in the project's folder; it is complete or absent, so whoever kills the
    studio at any moment finds the last one again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[Path, tuple[Path, Table]] = {}
        self._making: dict[Path, _Making] = {}
        self._failed: dict[Path, _Failed] = {}

    def show(self, project: Path, wish: Wish, session: Session) -> Shown:
        """Return the table of a wish, or the last one there is while it is being made; a small one is waited for."""
        state, folder = wish.state(session), project / FOLDER / ("facts" if wish.facts else "")
        path, until = folder / f"{state}.duckdb", time.monotonic() + SOON
        with self._lock:
            if not path.exists():
                self._make(folder, wish, state)
        while not path.exists() and time.monotonic() < until and self._is_making(folder, state):
            time.sleep(0.05)
        with self._lock:
            if path.exists():
                self._clear(folder, path)
                if (table := self._opened(folder, path)) is not None:
                    return Shown(table, state, False)
            if self._has_failed(folder, state):
                raise SessionError(self._failed[folder].sentence)
            last = self._last(folder)
            if last is not None:
                self._clear(folder, last)
            table = None if last is None else self._opened(folder, last)
            return Shown(table, state if table is None else int(table.path.stem), True)

    def _is_making(self, folder: Path, state: int) -> bool:
        with self._lock:
            self._look(folder)
            making = self._making.get(folder)
            return making is not None and making.state == state

    def _make(self, folder: Path, wish: Wish, state: int) -> None:
        """Start to make a table, unless one is being made or just failed."""
        self._look(folder)
        if folder in self._making or self._has_failed(folder, state):
            return
        folder.mkdir(parents=True, exist_ok=True)
        out = str(folder / f"{state}.duckdb")
        command = [sys.executable, "-P", "-m", "actc.web.studio.make_table", wish.as_text(), out]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self._making[folder] = _Making(state, process, time.monotonic())

    def _look(self, folder: Path) -> None:
        """Note how making a table ended, if it did."""
        making = self._making.get(folder)
        if making is None:
            return
        if making.process.poll() is None:
            if time.monotonic() - making.since > MOST_SECONDS:
                making.process.kill()
            return
        del self._making[folder]
        said = (making.process.communicate()[1] or "").strip().splitlines()
        if making.process.returncode:
            sentence = said[-1] if said else "The table could not be made."
            self._failed[folder] = _Failed(making.state, sentence, time.monotonic())

    def _has_failed(self, folder: Path, state: int) -> bool:
        """Say whether a table could not be made, a moment ago; later it is tried again."""
        failed = self._failed.get(folder)
        return failed is not None and failed.state == state and time.monotonic() - failed.at < AGAIN

    def _opened(self, folder: Path, path: Path) -> Table | None:
        """Open a table; one that is damaged is removed, and made again."""
        if folder in self._open and self._open[folder][0] == path:
            self._open[folder] = self._open.pop(folder)  # the last one used stands last
            return self._open[folder][1]
        # An older table is not closed here: a request may be reading it. It closes when nobody has it any more.
        try:
            self._open[folder] = (path, Table(path))
        except duckdb.Error:
            path.unlink(missing_ok=True)
            return None
        for other in list(self._open)[:-MOST_OPEN]:
            del self._open[other]
        return self._open[folder][1]

    def _last(self, folder: Path) -> Path | None:
        found = [one for one in folder.glob("*.duckdb") if one.stem.isdecimal()]
        return max(found, key=lambda one: one.stat().st_mtime) if found else None

    def _clear(self, folder: Path, newest: Path) -> None:
        """Remove tables that a newer one replaces; whoever has one open reads on."""
        for one in folder.glob("*.duckdb"):
            if one != newest and one.stem.isdecimal():
                with suppress(OSError):
                    one.unlink()

    def forget(self, project: Path) -> None:
        """End what is being made of a project, and close what is open of it."""
        with self._lock:
            self._end([one for one in {*self._making, *self._open} if one.is_relative_to(project / FOLDER)])

    def close(self) -> None:
        """End what is being made, and close what is open."""
        with self._lock:
            self._end([*{*self._making, *self._open}])

    def _end(self, folders: list[Path]) -> None:
        for folder in folders:
            if (making := self._making.pop(folder, None)) is not None:
                making.process.kill()
                making.process.communicate()
            if folder in self._open:
                self._open.pop(folder)[1].close()
