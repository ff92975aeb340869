"""A tiny graph for most tests, the committed scores for the others; and no test may be skipped."""

from __future__ import annotations

import os

# Before numpy is loaded: as many tests run at once as there are cores, so one thread each, children included.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# Spark's processes live for seconds: they do not earn back what Java's second compiler takes.
os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

import fcntl
import json
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Container, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from actc import ScoredTriples
from actc.bench.cells import Cell, load_cell
from actc.data.files import read_list
from actc.data.triples import Triples
from actc.session import Judgement, Session
from actc.session.judge import put_reply
from actc.session.machines import Question, Reply
from actc.session.settings import Settings
from actc.session.start import create_session

# What groups of tests begin with that take longest: begun last, they would be waited for.
LONGEST = (
    "packages",
    "spark",
    "page ",
    "tests/test_notebooks",
    "tests/web",
    "reference",
    "paper",
    "tests/c",
    "tests/e",
)
# What tests write is synced to the disk, file by file: in memory that costs nothing.
MEMORY = Path("/dev/shm")
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

pytest_plugins = ["tests.browser"]

# The same examples every time, so that a change is never blamed for what luck found; to go and look for more:
# ACTC_RANDOM=1 make test
settings.register_profile("actc", deadline=None, derandomize=not os.environ.get("ACTC_RANDOM"), max_examples=40)
settings.load_profile("actc")
# The tests use what the repository holds, whatever else this machine has.
os.environ.pop("ACTC_SCORES", None)


def pages_of(answer):
    """Return where the pages are to which the answer to a link leads."""
    return re.search(r'url=([^"]*)/[^"/]*"', answer.text)[1]


def triples_of(table: Triples | Path) -> set[tuple[str, str, str]]:
    """Return the triples of a table, or of a file of any kind, as names."""
    triples = read_list(table) if isinstance(table, Path) else table
    return set(map(triples.triple, range(len(triples))))


def make_pool(size: int = 60, relations: int = 3, seed: int = 0) -> tuple[ScoredTriples, np.ndarray]:
    """Make a pool whose true triples score higher, each relation having a cut of its own."""
    rng = np.random.default_rng(seed)
    relation = rng.integers(relations, size=size)
    relation[:relations] = np.arange(relations)
    scores = rng.random(size)
    labels = scores + 0.1 * rng.normal(size=size) > 0.2 + 0.6 * relation / max(relations - 1, 1)
    names = [f"r{code}" for code in relation]
    pool = ScoredTriples.from_columns([f"h{i}" for i in range(size)], names, ["t"] * size, scores)
    return pool, labels


def let_machine_say(session: Session, said: dict[int, bool]) -> None:
    """Put what a machine says of some rows into a session."""
    with session.store.transaction() as connection:
        for row, true in said.items():
            assert put_reply(connection, "rule", Question(row, str(row), {}), Reply("true" if true else "false"))


def judge_all(session: Session, truth: Container, most: int = 1000, who: str = "ada") -> list[tuple[str, str, str]]:
    """Let somebody answer cards one by one, as long as there are any, as the truth has it; return what was asked."""
    person, asked = session.add_annotator(who), []
    while len(asked) < most and (tasks := session.ask(person, 1)):
        (task,) = tasks
        asked.append((task.head, task.relation, task.tail))
        said = "true" if asked[-1] in truth else "false"
        session.record(person, [Judgement(said, task.triple, f"{who}-{task.triple}")])
    return asked


STARTED: dict[tuple[str, bytes, Settings, str], dict[Path, bytes]] = {}


def change_settings(folder, **changes):
    """Change what a session says that it was started with, as somebody could who has its files."""
    with closing(sqlite3.connect(folder / "session.sqlite")) as connection, connection:
        for name, value in changes.items():
            connection.execute("UPDATE setting SET value = ? WHERE name = ?", (json.dumps(value), name))


def start_copy(folder: Path, scores: Path, settings: Settings | None = None, **more: object) -> Session:
    """Start a session; one that this process has started before, with the same of all, is copied."""
    settings = settings or Settings()
    key = scores.name, scores.read_bytes(), settings, repr(more)
    if key not in STARTED:
        create_session(folder, scores, settings, **more).close()
        files = [path for path in folder.rglob("*") if path.is_file()]
        STARTED[key] = {path.relative_to(folder): path.read_bytes() for path in files}
    else:
        folder.mkdir(0o700)
    for name, content in STARTED[key].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return Session(folder)


def wait_for(true: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something holds."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


def later(value: object) -> object:
    """One more of a kind: a parameter that is left to `make test-long`."""
    return pytest.param(value, marks=pytest.mark.long)


@pytest.fixture
def pool() -> ScoredTriples:
    return make_pool()[0]


@pytest.fixture
def labels() -> np.ndarray:
    return make_pool()[1]


@pytest.fixture(scope="session")
def authors_cell() -> Cell:
    return load_cell("codex-s", "complex-authors")


@pytest.fixture(scope="session")
def build_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Return a function that builds a named folder once for all workers of this run; tests copy it to write into it."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "built-once"
    shared.mkdir(exist_ok=True)

    def build(name: str, make: Callable[[Path], object]) -> Path:
        folder, done = shared / name, shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return build


@pytest.fixture(scope="session")
def small_model(build_once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """The folder of a PyKEEN model of ``tests.complete.small_graph``; tests read it only."""
    from tests.complete.small_graph import save_small_model

    return build_once("small-model", save_small_model)


@pytest.fixture(scope="session")
def spark() -> Iterator:
    """A Spark on this machine for all tests of this process; they are the group "spark", so that one process has it."""
    import pyspark

    builder = pyspark.sql.SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g")
    # Many small queries: compiling each to Java, or planning it anew, would take longer than running it.
    for name in ("ui.enabled", "ui.showConsoleProgress", "sql.codegen.wholeStage", "sql.adaptive.enabled"):
        builder = builder.config(f"spark.{name}", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    yield session
    session.stop()


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure: `make test` brings what every test needs, so a skip hides something."""
    if report.skipped and not hasattr(report, "wasxfail"):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"{why}\nNo test may be skipped; let it bring what it needs."


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process run all tests of a file, if they are in no other group; the groups that take longest go first."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))

    def turn(item: pytest.Item) -> int:
        group = item.get_closest_marker("xdist_group").args[0]
        return next((place for place, name in enumerate(LONGEST) if group.startswith(name)), len(LONGEST))

    items.sort(key=turn)
