"""Any options with any files: exit code 0 or 2, at most one sentence, and what was there stays, byte for byte.

About 2,000 calls, the same ones every time. To go and look for more: ``ACTC_FUZZ=10`` makes ten times as many,
``ACTC_RANDOM=1`` others every time.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import os
import shlex
import shutil
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from actc.cli.main import commands, main
from tests.cli.strange_files import MUTATIONS, SCRIPTS, make_home, make_odd, worth_doing

TIMES = int(os.environ.get("ACTC_FUZZ", "1"))
SECONDS = 60
# How many calls of each; those that compute are called less often.
CASES = {
    "methods": 5, "calibrate": 170, "decide": 170, "start": 120, "extend": 60, "names": 80, "annotate": 50, "judge": 60,
    "studio": 20,
    "status": 60, "export": 160, "import": 200, "backup": 60, "report": 100, "ask": 100, "audit": 180, "shift": 120,
    "train": 50, "score": 130, "candidates": 80, "evidence": 60, "constraints": 80, "complete": 25, "check": 25,
    "convert": 200, "publish": 60, "withdraw": 30, "bench": 60, "demo": 2, "paper": 20,
}  # fmt: skip
# What keeps a call short, or keeps it from serving for ever; the last word on an option counts.
ALWAYS = {
    "train": ["--seconds", "0.01"],
    "complete": ["--seconds", "0.01", "--budget", "3"],
    "bench": ["--jobs", "1", "--repeats", "1", "--method", "localopt-acc"],
    "demo": ["--repeats", "1"],
    "annotate": ["--host", "256.0.0.1"],  # where nobody can listen
    "judge": ["--retries", "0", "--timeout", "1", "--program"],
    "audit": ["--host", "256.0.0.1"],
    "studio": ["--host", "256.0.0.1"],
    "paper": ["--from"],
}
NEVER = ("--engine", "--master", "--terminal", "--url", "--help")
CHANGES = ("import", "names", "annotate", "judge", "extend")  # the session that they are given
# Whose earlier outputs they are: those may be replaced unasked.
OWN = {
    "th.json": ("calibrate", "export"),
    "rows.csv": ("bench",),
}
WRITES = {
    "export": ("--labels", "--history", "--thresholds", "--accepted", "--held", "--label-studio"),
    "publish": ("--to",),
    "demo": (),
    "paper": (),
}
PYTHON = shlex.quote(sys.executable)
PROGRAMS = ["true", "false", "cat", "nowhere", "'unclosed", "", f"{PYTHON} raises.py", f"{PYTHON} leaves.py"]
METHODS = ["raises:method", "leaves:method", "strange:nothing", "strange:number", "strange:raises", "strange:missing"]
NUMBERS = ["0", "1", "2", "-1", "0.5", "0.9", "1.0", "1.5", "nan", "inf", "-inf", str(10**9), str(10**30), "", "x"]
NUMBERS += ["1e400", "1e-400", "٣", "0x10", "-0.0"]
WORDS = ["pooled", "localopt-acc", "actc-lr-rndm:n=2", "pooled:x=1", "os:path", ":", "random", "relation", "majority"]
WORDS += [
    "reliability",
    "tsv",
    "turtle",
    "http://e/",
    "",
    "*",
    "[",
    "\ud800",
    "a\tb",
    "a\nb",
    "1GB",
    "-5MB",
    "cuda",
    "tail",
]
WORDS += ["sparql:http://127.0.0.1:9/query", "sparql:", "kuzu:graph.tsv", "neo4j:bolt://", "new.nq", "new.rdf"]
WORDS += [
    "x" * 300,
    "../..",
    "complex",
    "-",
    "--",
    "%s",
    "{}",
    "'",
    '"',
    "nt",
    "kgtk",
    "dawid-skene",
    "pooled-evidence",
]
WORDS += METHODS
RIGHT = {
    "scores": ["scores.tsv", "scores.tsv.gz", "parts.parquet"],
    "labels": ["labels.csv"],
    "known": ["scores.tsv", "graph.tsv"],
    "thresholds": ["th.json"],
    "candidates": ["parts.parquet", "scores.tsv", "folder-of-parts"],
    "session": ["work/session"],
    "names": ["names.json", "names.tsv", "graph.ttl"],
    "files": ["names.json", "names.tsv", "graph.ttl"],
    "kg": ["graph.tsv", "scores.tsv"],
    "judgements": ["labels.csv", "history.jsonl", "studio.json"],
    "model": ["model"],
    "triples": ["graph.tsv", "scores.tsv"],
    "graph": ["graph.tsv", "graph.nt", "graph.ttl", "graph.kgtk.tsv"],
    "held": ["held.tsv"],
    "constraints": ["constraints.tsv"],
    "held_out": ["held.tsv"],
    "source": ["th.json", "session"],
    "accepted": ["scores.tsv"],
    "oracle": ["labels.csv", "graph.tsv"],
    "folders": ["set/cell"],
    "recipe": ["recipe.json"],
    "guidelines": ["notes.md"],
    "from": ["rows.csv"],
    "copy": ["new"],
}
FORGEABLE = ("th.json", "session", "model", "recipe.json", "names.json")  # a value of theirs is believed at once
SOURCES = sorted({one.removeprefix("work/") for files in RIGHT.values() for one in files if one != "new"})
OUTPUTS = [
    "new.tsv",
    "new.csv",
    "new.parquet",
    "new.json",
    "new.html",
    "new.nt",
    "new.ttl",
    "new",
    "new.jsonl",
    "no/new.tsv",
]
ODD_NAMES = [
    "header.tsv", "empty.tsv", "rubbish.parquet", "deep.json", "nan.tsv", "wide.jsonl", "[x].tsv", "folder", "loop",
    "missing.tsv", "/dev/null", "/dev/full", "folder/no/way.tsv", "session/judgements.sqlite", "x" * 300, "pipe.tsv",
    "", ".", "with space.tsv", "new\nline.tsv", "'; DROP TABLE x; --.tsv", "link.tsv",
]  # fmt: skip


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    home = tmp_path_factory.mktemp("fuzz")
    make_home(home, lambda *words: call(home, [*words, "--quiet"]))
    keep = tmp_path_factory.mktemp("kept") / "home"
    shutil.copytree(home, keep, symlinks=True, ignore=shutil.ignore_patterns("pipe.tsv"))
    return home, keep


def _too_long(*_: object) -> None:
    raise AssertionError(f"It did not end in {SECONDS} seconds.")


def call(home: Path, words: list[str], jumps: bool = False) -> tuple[int, str]:
    """Run a command in this process, in a folder, as if it were started there; the time of day may jump meanwhile."""
    errors, before, argv, path, now = io.StringIO(), os.getcwd(), sys.argv, list(sys.path), time.time
    os.chdir(home)
    if jumps:
        days = itertools.cycle((0, 400, -400, 1e5, 0))
        time.time = lambda: now() + 86_400 * next(days)
    sys.argv = ["actc", *words]
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            try:
                main()
            except SystemExit as ended:
                code = ended.code
    finally:
        signal.alarm(0)
        sys.argv, sys.path[:], time.time = argv, path, now
        for script in SCRIPTS:
            sys.modules.pop(Path(script).stem, None)
        os.chdir(before)
    return int(code or 0), errors.getvalue()


def fingerprint(home: Path) -> dict[str, str]:
    """Return the content of every file; a folder has none."""
    paths = [path for path in home.rglob("*") if not path.is_symlink() and path.name != "__pycache__"]
    paths = [path for path in paths if not path.name.endswith(("-shm", "-wal", ".pyc", ".count", "pipe.tsv"))]
    return {
        str(path.relative_to(home)): "" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
    }


def _home_of(name: str) -> str:
    return name.removeprefix("work/")  # a session that may change is a copy of the one at home


def files_for(name: str, parameter: click.Parameter, odd: str, source: str, kind: bool) -> some.SearchStrategy[str]:
    """Return a file for an option or argument: anything, or, to be kind, one that it can use or that was damaged."""
    right = RIGHT.get(parameter.name or "", ["scores.tsv"])
    makes = {"start": ("session",), "export": WRITES["export"]}.get(name, ())
    if parameter.name in ("out", "json", "copy", *makes) or parameter.opts[0] in makes:
        right = OUTPUTS
    fits = source in map(_home_of, right)
    often = some.just(odd) if fits else some.sampled_from(right)
    if kind:
        return often
    return often | some.sampled_from(right) | some.just(odd) | some.sampled_from(ODD_NAMES)


def values_for(parameter: click.Parameter, kind: bool) -> some.SearchStrategy[str]:
    """Return a value for an option: anything, or, to be kind, one that it can use."""
    anything = some.sampled_from(NUMBERS) | some.sampled_from(WORDS)
    kinds = {click.IntRange: ["1", "2", "5"], click.FloatRange: ["0.1", "0.5", "0.9"]}
    plain = {"integer": ["0", "1", "2", "5"], "float": ["0.1", "0.5", "0.9", "1"]}
    right = (
        getattr(parameter.type, "choices", None) or kinds.get(type(parameter.type)) or plain.get(parameter.type.name)
    )
    if parameter.name == "method":
        right = ["pooled", "localopt-acc", "actc-lr-rndm", "pooled-evidence", *METHODS]
    return some.sampled_from([str(one) for one in right]) if kind and right else anything


@some.composite
def calls(draw, name: str) -> tuple[list[str], tuple[str, str, float, int]]:
    """Return a call with some options, each with a value that may or may not be of use, and a file to damage for it."""
    read = {_home_of(one) for parameter in commands.commands[name].params for one in RIGHT.get(str(parameter.name), ())}
    own = sorted(read & set(SOURCES)) or SOURCES
    told = [one for one in own if one in FORGEABLE] or own
    source = draw(some.sampled_from(told) | some.sampled_from(own) | some.sampled_from(SOURCES))
    damage = draw(some.sampled_from(sorted(MUTATIONS)) | some.sampled_from(worth_doing(source)))
    odd = f"work/odd{''.join(Path(source).suffixes)}" if "." in source else "work/odd"
    words, options, kind = [name], [], draw(some.booleans())
    for parameter in commands.commands[name].params:
        takes_file = isinstance(parameter.type, click.Path | click.File) or parameter.name in (*RIGHT, "out")
        values = values_for(parameter, kind)
        value = files_for(name, parameter, odd, source, kind) if takes_file else values
        if isinstance(parameter, click.Argument):
            words.append(draw(value))
        elif parameter.opts[0] not in NEVER and (parameter.required or draw(some.integers(0, 2)) == 0):
            options.append(parameter.opts[0])
            if not getattr(parameter, "is_flag", False):
                options.append(draw(value if kind else value | values))
    program = some.sampled_from(PROGRAMS)
    last = {"annotate": program, "judge": program, "paper": some.sampled_from(["rows.csv", odd])}.get(name)
    options += [*ALWAYS.get(name, []), *([] if last is None else [draw(last)])]
    return [*words, *options], (source, damage, draw(some.floats(0, 1)), draw(some.integers(0, 2**32)))


def make_work(home: Path, damage: tuple[str, str, float, int]) -> None:
    """Make what a call may change: a copy of the session, and one file, or a file of one folder, that is damaged."""
    shutil.rmtree(home / "work", ignore_errors=True)
    shutil.copytree(home / "session", home / "work" / "session")
    make_odd(home, *damage)


def clear(home: Path, kept: Path, before: dict[str, str], after: dict[str, str]) -> None:
    """Remove what a call made and put back what it replaced, so that the next one finds the folder as it was."""
    for path in after.keys() - before.keys():
        if after[path]:
            (home / path).unlink()
    for path in before.keys() - {same for same in after if after[same] == before.get(same)}:
        if not path.startswith("work/"):
            shutil.copy(kept / path, home / path)
    for path in after.keys() - before.keys():
        shutil.rmtree(home / path, ignore_errors=True)


def may_change(name: str, words: list[str]) -> set[str]:
    """Return what a call may replace: earlier outputs, or what it is told to; never an input or a session's file."""
    options = WRITES.get(name, ("--out", "--json"))
    outputs = {word for option, word in pairwise(words) if option in options}
    inputs = {word for option, word in pairwise(words) if option not in options}
    told = outputs if "--overwrite" in words else {path for path in outputs if name in OWN.get(path, ())}
    return {path for path in told - inputs if not path.startswith("session/")}


def left_by(home: Path, before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Return what a call made; not a folder of stages of which one is finished: the next start goes on from there."""
    left = {path for path in after.keys() - before.keys() if not path.startswith("work/")}
    begun = {path.removesuffix("/begun.json") for path in left if path.endswith("/begun.json")}
    begun = {
        path for path in begun if (file := home / path / "begun.json").exists() and json.loads(file.read_text())["done"]
    }
    return {path for path in left if not begun & {path, *map(str, Path(path).parents)}}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_any_call_ends_with_a_sentence_and_harms_nothing(homes, name):
    home, kept = homes

    @settings(max_examples=TIMES * CASES[name], suppress_health_check=list(HealthCheck), database=None)
    @given(drawn=calls(name))
    def check(drawn):
        words, damage = drawn
        make_work(home, damage)
        before = fingerprint(home)
        code, errors = call(home, words, damage[3] % 4 == 0)
        after = fingerprint(home)
        clear(home, kept, before, after)
        assert code in (0, 2), (words, damage, errors)
        assert len(errors.splitlines()) == (code == 2), (words, damage, errors)
        changed = {path for path, content in before.items() if after.get(path) != content}
        changed -= may_change(name, words)
        if name in CHANGES:
            changed = {path for path in changed if not path.startswith("work/")}
        assert not changed, (words, damage)
        left = {path for path in after.keys() - before.keys() if not path.startswith("work/")}
        assert code == 0 or not left, (words, damage, left)

    check()


def test_every_command_is_fuzzed():
    assert set(CASES) == set(commands.commands)
    assert sum(CASES.values()) >= 2000
