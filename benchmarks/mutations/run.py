"""Change one line at a time, in a copy of the tree, and see whether a test notices.

    python benchmarks/mutations/run.py                      all changes that caught.csv does not know as noticed
    python benchmarks/mutations/run.py --again --jobs 2     all of them, two copies at a time
    python benchmarks/mutations/run.py trust/               those in files whose path begins so

A change that no test notices is a survivor: it is printed, and the exit code is 1. What became of each is written to
caught.csv as it comes. Tests run in processes that are forked from one that has loaded numpy and its like already, so a
change costs little more than its tests.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from mutants import Mutant, all_mutants

ROOT = Path(__file__).parents[2]
ROWS = Path(__file__).parent / "caught.csv"
LIMIT = 900
"""Seconds after which tests that do not end count as having noticed."""
LOADED = ("numpy", "scipy.stats", "scipy.optimize", "sklearn.linear_model", "duckdb", "pytest", "click")


class Row(NamedTuple):
    """What became of one change; ``by`` is the first test that failed, or that the tests did not end."""

    file: str
    line: int
    old: str
    new: str
    caught: int
    by: str


def copy_tree(folder: Path) -> None:
    """Copy what git knows of, and what it does not ignore, to the folder of this process."""
    folder /= str(os.getpid())
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    os.chdir(folder)


def try_mutant(mutant: Mutant) -> Row:
    """Make the change in the copy of this process, run the tests, and take the change back."""
    path = Path("src", "actc", mutant.file)
    before = path.read_text(encoding="utf-8")
    if before.count(mutant.old) != 1:
        raise ValueError(f"{mutant.file}: {mutant.old!r} is there {before.count(mutant.old)} times, not once.")
    after = before.replace(mutant.old, mutant.new)
    compile(after, mutant.file, "exec")  # a change that is no Python is no fault that a test could find
    path.write_text(after, encoding="utf-8")
    by = run_tests((*mutant.tests, "-k", mutant.words))
    path.write_text(before, encoding="utf-8")
    line = before[: before.index(mutant.old)].count("\n") + 1
    row = Row(mutant.file, line, mutant.old.strip(), mutant.new.strip(), int(bool(by)), by)
    print(f"{row.file}:{row.line}: {row.by or 'SURVIVED: ' + row.new}", flush=True)
    return row


def run_tests(tests: tuple[str, ...]) -> str:
    """Return the first test that fails, nothing if all pass."""
    import pytest

    log = Path("log.txt")
    child = os.fork()
    if child == 0:
        try:
            _be_pytest(tests, log)
        finally:
            os._exit(99)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        return ""
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise ValueError(f"No test is called so: {tests}")
    if status == -signal.SIGALRM:
        return "does not end"
    told = log.read_text(encoding="utf-8", errors="replace")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", told, re.MULTILINE)
    if failed is None:
        raise RuntimeError(f"The tests did not run:\n{told}")
    return failed.group(1).partition("[")[0]


def _be_pytest(tests: tuple[str, ...], log: Path) -> None:
    import pytest

    signal.alarm(LIMIT)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1), os.dup2(out, 2)
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(Path("src").absolute()), str(Path.cwd())]
    os.environ |= {"PYTHONPATH": str(Path("src").absolute()), "PYTHONDONTWRITEBYTECODE": "1"}
    code = pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests])
    sys.stdout.flush()
    os._exit(int(code))


def main() -> None:
    """Try the changes, several copies at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="files below src/actc whose path begins so")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="also those that were noticed before")
    asked = parser.parse_args()
    rows = {} if asked.again else read_rows()
    chosen = [one for one in all_mutants() if not asked.only or one.file.startswith(tuple(asked.only))]
    chosen = [one for one in chosen if not rows.get(name_of(one), (0,) * 5)[4]]
    random.Random(0).shuffle(chosen)  # so that the first minutes show something of every folder
    chosen.sort(key=lambda one: name_of(one) not in rows)  # survivors of the last run first
    for name in LOADED:
        importlib.import_module(name)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="actc-mutations-") as folder:
        context = multiprocessing.get_context("fork")
        with context.Pool(asked.jobs, copy_tree, (Path(folder),)) as pool:
            for row in pool.imap_unordered(try_mutant, chosen):
                rows[name_of(row)] = row
                write_rows(rows)
    caught = sum(row.caught for row in rows.values())
    print(f"{caught} of {len(rows)} changes were noticed ({time.monotonic() - started:.0f} seconds).")
    sys.exit(caught < len(rows))


def name_of(change: Mutant | Row) -> tuple[str, str, str]:
    """Return what tells a change from others: where, what, into what."""
    return change.file, change.old.strip(), change.new.strip()


def read_rows() -> dict[tuple[str, str, str], Row]:
    """Return what is known already of the changes that are still in the list."""
    if not ROWS.is_file():
        return {}
    with ROWS.open(encoding="utf-8", newline="") as file:
        rows = [Row(line["file"], int(line["line"]), line["old"], line["new"], int(line["caught"]), line["by"])
                for line in csv.DictReader(file)]  # fmt: skip
    wanted = {name_of(one) for one in all_mutants()}
    return {name_of(row): row for row in rows if name_of(row) in wanted}


def write_rows(rows: dict[tuple[str, str, str], Row]) -> None:
    """Write what is known, in the order of the list."""
    known = [rows[name_of(one)] for one in all_mutants() if name_of(one) in rows]
    with ROWS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([Row._fields, *known])


if __name__ == "__main__":
    main()
