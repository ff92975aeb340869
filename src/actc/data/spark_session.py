"""A Spark session for one piece of work: on this machine, on a cluster, or the one that spark-submit made."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from actc.data.database import run_watched
from actc.data.progress import Progress
from actc.errors import ActcError


@contextmanager
def open_session(master: str | None, memory: int) -> Iterator[Any]:
    """Give a Spark session; one that was there before is used as it is and left open."""
    there = SparkSession.getActiveSession()
    session = there or _start(master, memory)
    try:
        yield session
    finally:
        if there is None:
            session.stop()


def _start(master: str | None, memory: int) -> Any:
    megabytes = f"{memory // 2**20}m"
    builder: Any = SparkSession.builder
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
    """Keep the Java machine's chatter off the terminal; it inherits the standard error it is started with."""
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
