"""Make one fault at a time, in a copy of the tree, and see whether a test notices.

    python benchmarks/mutations/run.py trust/certify.py
    python benchmarks/mutations/run.py three_steps/groups.py:Groups. --most 50 --jobs 2
    python benchmarks/mutations/run.py pooled/model.py --tests tests/pooled/test_shipped_numbers.py --out rows.csv

Files are named from ``src/actc``, after a colon the functions whose qualified name begins so; ``--most`` of a file's
faults are drawn at random (``--seed``). The tests are those of the file's own name and its folder, but for the long
ones. A fault that no test notices is printed: it wants a test, unless it makes no difference (a tolerance, say).
Tests run in processes that are forked from one that has loaded numpy and its like already.
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
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from mutants import Mutant, all_mutants

ROOT = Path(__file__).parents[2]
LIMIT = 300
"""Seconds after which tests that do not end count as having noticed."""
LOADED = ("numpy", "scipy.stats", "scipy.optimize", "sklearn.linear_model", "duckdb", "pytest", "click")


class Trial(NamedTuple):
    """A fault to try: where, which, and the tests that should notice."""

    file: str
    mutant: Mutant
    tests: tuple[str, ...]


class Row(NamedTuple):
    """What became of a fault; ``by`` is the first test that failed, or that the tests did not end."""

    file: str
    function: str
    line: int
    old: str
    new: str
    by: str


def find_trials(asked: argparse.Namespace) -> list[Trial]:
    """Draw the faults of every file that was asked for."""
    trials = []
    for name in asked.files:
        file, _, function = name.partition(":")
        mutants = list(all_mutants((ROOT / "src" / "actc" / file).read_text(encoding="utf-8"), function))
        random.Random(asked.seed).shuffle(mutants)
        trials += [Trial(file, mutant, tuple(asked.tests or tests_of(file))) for mutant in mutants[: asked.most]]
    return trials


def tests_of(file: str) -> list[str]:
    """Return the tests of a file's own name, then those of its folder."""
    folder, name = ROOT / "tests" / Path(file).parent, f"test_{Path(file).name}"
    rest = sorted(path for path in folder.glob("test_*.py") if path.name != name)
    return [str(path.relative_to(ROOT)) for path in (folder / name, *rest) if path.exists()]


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


def try_mutant(trial: Trial) -> Row:
    """Make the fault in the copy of this process, run the tests, and take it back."""
    path, mutant = Path("src", "actc", trial.file), trial.mutant
    before = path.read_text(encoding="utf-8")
    path.write_text(mutant.source, encoding="utf-8")
    by = run_tests(trial.tests)
    path.write_text(before, encoding="utf-8")
    row = Row(trial.file, mutant.function, mutant.line, mutant.old, mutant.new, by)
    print(f"{row.file}:{row.line}: {row.by or f'SURVIVED: {row.old} -> {row.new}'}", flush=True)
    return row


def run_tests(tests: tuple[str, ...]) -> str:
    """Return the first test that fails, nothing if all pass."""
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
    code = pytest.main(["-x", "-q", "-m", "not long", "-p", "no:cacheprovider", "-n", "0", *tests])
    sys.stdout.flush()
    os._exit(int(code))


def main() -> None:
    """Try the faults, several copies at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE[:FUNCTION]")
    parser.add_argument("--tests", nargs="+")
    parser.add_argument("--most", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a .csv for what became of each")
    asked = parser.parse_args()
    trials = find_trials(asked)
    for name in LOADED:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="actc-mutations-") as folder:
        context = multiprocessing.get_context("fork")
        with context.Pool(asked.jobs, copy_tree, (Path(folder),)) as pool:
            rows = list(pool.imap_unordered(try_mutant, trials))
    print(f"{sum(bool(row.by) for row in rows)} of {len(rows)} faults were noticed.")
    if asked.out:
        with asked.out.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([Row._fields, *sorted(rows)])


if __name__ == "__main__":
    main()
