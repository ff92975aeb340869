"""DuckDB and Spark as everything here uses them: silent, with no more memory than they are given; SQLite's address."""

from __future__ import annotations

import glob
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_address

from actc.data.progress import Progress
from actc.errors import ActcError, FileError, OptionError

LEAST_MEMORY = 256e6
LIMITS = {
    "memory_limit": "4GB",
    "max_temp_directory_size": "20GB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
"""What a database may use: a small file can unpack to more than any machine has."""


@contextmanager
def open_database() -> Iterator[Any]:
    """Open a database in memory; it has a bounded memory, a folder of its own to spill into, and installs nothing."""
    import duckdb

    with (
        tempfile.TemporaryDirectory(prefix="actc-") as folder,
        duckdb.connect(config={**LIMITS, "temp_directory": folder}) as connection,
    ):
        # DuckDB's own progress bar would write into the standard output. In a notebook without ipywidgets it is off
        # already, and turning it off would be an error.
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
            connection.execute("SET enable_progress_bar=false")
        yield connection


def quote(text: str) -> str:
    """Write a string as an SQL literal; DuckDB takes names in UTF-8 alone, and its error for others is of no use."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FileError(f"{text!r}: the name is not UTF-8, or has half a character in it; rename the file.") from None
    return "'" + text.replace("'", "''") + "'"


def quote_file(path: str | Path) -> str:
    """Write the name of a file to read as an SQL literal: DuckDB takes ``*?[]`` for patterns, ``~`` for a home."""
    return quote(glob.escape(os.path.abspath(path)))


def parse_bytes(text: str) -> int:
    """Read an amount such as ``800MB`` or ``1.5 GB`` as bytes, else 0; units are powers of 1,000, as in DuckDB."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])i?B?\s*", text, flags=re.IGNORECASE)
    return int(float(match[1]) * 1000 ** (" KMGT".index(match[2].upper()))) if match else 0


def parse_memory(text: str) -> int:
    """Read an amount of memory that is enough to work in, as bytes."""
    amount = parse_bytes(text)
    if amount < LEAST_MEMORY:
        raise OptionError(f"{text!r} is not enough memory, or none at all; write at least 256MB, such as 1GB.")
    return amount


def run_watched(
    action: Callable[[], Any],
    share_done: Callable[[], float],
    cancel: Callable[[], Any],
    progress: Progress,
    span: tuple[int, int],
) -> Any:
    """Run an action in a thread and return its result; report progress meanwhile, and cancel it on an interrupt."""
    with ThreadPoolExecutor(1) as thread:
        running, done, over = thread.submit(action), span[0], set[Any]()
        try:
            while not over:
                over = wait([running], 0.1).done
                share = 1.0 if over else min(max(share_done(), 0.0), 1.0)
                now = max(done, span[0] + int(share * (span[1] - span[0])))
                progress(now - done, 100)
                done = now
        except BaseException:
            cancel()
            raise
        return running.result()


NOTES = 2**17
"""Bytes that SQLite's notes beside an open database need at least, twice over."""


def database_address(path: Path, writing: bool = True) -> str:
    """Return a database's address for SQLite: to read and write, or to read alone, where nothing can be written.

    SQLite keeps notes beside a database that is open. Where it cannot, on a read-only or full disk or in somebody
    else's folder, it opens one that nobody else writes, and that was closed: no notes are there.
    """
    address = f"file:{quote_address(os.fsencode(path))}"
    here = os.access(path if path.exists() else path.absolute().parent, os.W_OK)
    closed = not path.with_name(path.name + "-wal").exists()
    if here and os.access(path.absolute().parent, os.W_OK) and not (closed and path.exists() and _is_full(path)):
        return address if writing else f"{address}?mode=ro"
    return f"{address}?mode=ro{'&immutable=1' if closed else ''}"


def _is_full(path: Path) -> bool:
    """Return whether there is no room beside a file for SQLite's notes."""
    if not hasattr(os, "statvfs"):  # Windows
        return False
    disk = os.statvfs(path)
    return disk.f_bavail * disk.f_frsize < NOTES


@contextmanager
def open_spark(master: str | None, memory: int) -> Iterator[Any]:
    """Give a Spark session; one that was there before is used as it is and left open."""
    from pyspark.sql import SparkSession

    there = SparkSession.getActiveSession()
    session = there or _start_spark(SparkSession.builder, master, memory)
    try:
        yield session
    finally:
        if there is None:
            session.stop()


def _start_spark(builder: Any, master: str | None, memory: int) -> Any:
    megabytes = f"{memory // 2**20}m"
    if master is not None or "PYSPARK_GATEWAY_PORT" not in os.environ:  # which spark-submit sets
        builder = builder.master(master or "local[*]")
    for name in ("spark.driver.memory", "spark.executor.memory"):
        builder = builder.config(name, megabytes)
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    with tempfile.TemporaryFile() as messages:
        try:
            with _errors_into(messages):
                return builder.appName("actc").getOrCreate()
        except Exception as error:  # py4j and pyspark share no base class
            messages.seek(0)
            lines = [*str(error).splitlines(), *messages.read().decode(errors="replace").splitlines()]
            reason = next((line.strip() for line in lines if "rror" in line or "xception" in line), lines[0])
            raise ActcError(f"Spark did not start on {master or 'this machine'} ({reason}).") from None


@contextmanager
def _errors_into(file: Any) -> Iterator[None]:
    """Write standard error into a file while Spark starts: its Java process inherits it and prints notes there."""
    sys.stderr.flush()
    saved = os.dup(2)
    try:
        os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Turn an error of Spark into one sentence."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        reason = next(iter(str(error).strip().splitlines()), "no reason was given").rstrip(".")
        raise ActcError(f"Spark could not finish ({reason}).") from None


def run_action(session: Any, action: Callable[[], Any], progress: Progress, span: tuple[int, int]) -> Any:
    """Run a Spark action, and report its progress."""
    return run_watched(action, lambda: _share_done(session), session.sparkContext.cancelAllJobs, progress, span)


def _share_done(session: Any) -> float:
    tracker = session.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    tasks = sum(stage.numTasks for stage in stages if stage)
    return sum(stage.numCompletedTasks for stage in stages if stage) / tasks if tasks else 0.0
