"""Any options with any files: exit code 0 or 2, at most one sentence, and what was there stays, byte for byte.

About 1,000 calls, the same ones every time. To go and look for more: ``ACTC_FUZZ=10`` makes ten times as many,
``ACTC_RANDOM=1`` others every time. Three calls of four are kind: all that they are given is of use but one thing, the
value of an option or a file. The others are given anything.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path

import click
import pytest

from actc.cli.graph_argument import BESIDE
from actc.cli.main import commands, main
from tests.cli.strange_files import MUTATIONS, SCRIPTS, STORE, fill_store, make_home, make_odd, worth_doing
from tests.stores.servers import oxigraph

TIMES, START = int(os.environ.get("ACTC_FUZZ", "1")), time.time() if os.environ.get("ACTC_RANDOM") else 0
SECONDS = 60
MEMORY = 4 * 2**30
HUNGRY = re.compile("allocat|not enough memory for this")  # as numpy, torch, DuckDB and we ourselves say it
# How many calls of each; those that compute are called less often.
CASES = {
    "methods": 5, "calibrate": 80, "decide": 80, "start": 60, "annotate": 5, "judge": 25,
    "studio": 4, "export": 80, "import": 60, "report": 50, "audit": 20,
    "train": 30, "score": 60, "candidates": 12, "evidence": 20, "constraints": 40, "complete": 4,
    "check": 2, "convert": 80, "publish": 40, "withdraw": 30, "bench": 40, "demo": 1, "paper": 30,
}  # fmt: skip
SERVES = ("annotate", "audit", "studio")  # until somebody interrupts them
# What keeps a call short; the last word on an option counts.
ALWAYS = {
    "train": ["--seconds", "0.01"],
    "complete": ["--seconds", "0.01", "--budget", "3"],
    "bench": ["--jobs", "1", "--repeats", "1", "--method", "localopt-acc"],
    "demo": ["--repeats", "1"],
    "judge": ["--retries", "0", "--timeout", "1", "--program"],
    "paper": ["--from"],
    **{name: ["--host", "127.0.0.1", "--port", "0"] for name in SERVES},
}
ENDS = (0, 2, 130)
NEVER = ("--engine", "--master", "--terminal", "--url", "--help")
CHANGES = ("import", "annotate", "judge", "audit", "publish", "withdraw", "studio")  # what they get
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
PROGRAMS = [
    f"{PYTHON} answers.py",
    "true",
    "false",
    "cat",
    "nowhere",
    "'unclosed",
    "",
    f"{PYTHON} raises.py",
    f"{PYTHON} leaves.py",
]
METHODS = ["raises:method", "leaves:method", "strange:nothing", "strange:number", "strange:raises", "strange:missing"]
NUMBERS = ["0", "1", "2", "-1", "0.5", "0.9", "1.0", "1.5", "nan", "inf", "-inf", str(10**9), str(10**30), "", "x"]
NUMBERS += ["1e400", "1e-400", "٣", "0x10", "-0.0"]
WORDS = [
    "pooled", "localopt-acc", "actc-lr-rndm:n=2", "pooled:x=1", "os:path", ":", "random", "relation", "majority",
    "reliability", "tsv", "turtle", "http://e/", "", "*", "[", "\ud800", "a\tb", "a\nb", "1GB", "-5MB", "cuda", "tail",
    "sparql:http://127.0.0.1:9/query", "sparql:", "sparql:ftp://host", "new.nq", "new.rdf", "x" * 300,
    "../..", "complex", "-", "--", "%s", "{}", "'", '"', "nt", "dawid-skene", "pooled-evidence",
    *(f"{method}={10**9}" for method in ("actc-lr-rndm:n", "globalopt-f1:passes")), "globalopt-f1:step=1e-12", *METHODS,
]  # fmt: skip
# Files of use, by the name of an option or argument, or by command and name.
RIGHT = {
    "scores": ["scores.tsv", "scores.tsv.gz", "parts.parquet"],
    "labels": ["labels.csv"],
    "judged": ["labels.csv"],
    "known": ["scores.tsv"],
    "thresholds": ["th.json"],
    "candidates": ["parts.parquet", "scores.tsv", "folder-of-parts"],
    "session": ["work/session"],
    "names": ["names.json", "names.tsv", "graph.ttl"],
    "files": ["names.json", "names.tsv", "graph.ttl"],
    "kg": ["graph.tsv", "scores.tsv"],
    "judgements": ["labels.csv", "history.jsonl", "studio.json"],
    "model": ["model"],
    "audit source": ["th.json"],
    "triples": ["graph.tsv", "scores.tsv"],
    "graph": ["graph.tsv", "graph.nt", "graph.ttl"],
    "held": ["held.tsv"],
    "constraints": ["constraints.tsv"],
    **{f"{name} candidates": ["parts.parquet", "scores.tsv"] for name in ("evidence", "complete")},
    "constraints source": ["constraints.tsv", "graph.ttl"],
    "held_out": ["held.tsv"],
    "source": ["th.json", "session"],
    "accepted": ["scores.tsv", "work/session"],
    "oracle": ["labels.csv", "graph.tsv"],
    "check oracle": ["graph.tsv", "held.tsv"],
    "folders": ["set/cell"],
    "folder": ["work/better", "scores.tsv"],
    "withdraw folder": ["work/better"],
    "studio folder": ["work/projects"],
    "recipe": ["recipe.json"],
    "guidelines": ["notes.md"],
    "prompt": ["prompt.txt"],
    "texts": ["texts.tsv"],
    "from": ["rows.csv"],
}
FORGEABLE = ("th.json", "session", "model", "recipe.json", "names.json")  # a value of theirs is believed at once
SOURCES = sorted({one.removeprefix("work/") for files in RIGHT.values() for one in files})
TABLES = ["new.tsv", "new.csv", "new.parquet"]
# The same of what is no file, or not yet.
RIGHT_WORDS = {
    "out": TABLES, "json_out": ["new.json"], "copy": ["new"], "start session": ["new"], "studio folder": ["new"],
    "bench out": ["new.csv"], "calibrate out": ["new.json"], "report out": ["new.html"], "constraints out": ["new.tsv"],
    "convert out": ["new.nt", "new.ttl", "new.tsv"], "evidence out": [*TABLES, "new"],
    **{f"{name} out": ["new"] for name in ("train", "complete", "check", "demo", "paper")},
    **{f"export {name}": TABLES for name in ("labels", "accepted", "held")},
    **{f"export {name}": ["new.json"] for name in ("thresholds", "label_studio")},
    "export history": ["new.jsonl"], "graph": [f"sparql:{STORE}/query"], "to": ["new.nq", f"sparql:{STORE}/update"],
    "withdraw to": [f"sparql:{STORE}/update"],
    "base": ["http://e/"], "into": ["http://e/run"], "device": ["cpu"], "memory": ["1GB"], "language": ["en"],
    "relations": ["r0"], "without": ["r0"], "sides": ["tail"], "best": ["2"], "kind": ["complex"],
    "train model": ["complex", "transe"], "convert source": ["tsv"], "convert target": ["turtle", "ntriples"],
    **{name: ["pooled", "localopt-acc", "actc-lr-rndm", "pooled-evidence", *METHODS] for name in ("method", "methods")},
    "budgets": ["1,5"], "metrics": ["precision"], "items": ["table-avg"], "draws": ["numpy", "authors"],
    "design": ["simple", "head"],
    "which": ["doubtful", "accepted", "random", "all"], "combine": ["majority", "dawid-skene"], "picks": ["random"],
    "reasons": ["after", "beside", "never"], "link": ["http://e/{id}"], "annotators": ["Ada", "Bob"],
    "annotator": ["Ada"], "title": ["Facts"], "name": ["A judge"], "judge_model": ["local"],
}  # fmt: skip
# What the rest of a kind call is refused with.
APART = ("key_from", "user_from", "query_at", "graphs", "run", "judge", "judge_key_from", "undo", "facts", "sample")
APART += ("judge model", "candidates held", "script", "both", "rivals", "examples")
ODD_NAMES = [
    "header.tsv", "empty.tsv", "rubbish.parquet", "deep.json", "nan.tsv", "wide.jsonl", "[x].tsv", "folder", "loop",
    "missing.tsv", "/dev/null", "/dev/full", "folder/no/way.tsv", "session/judgements.sqlite", "x" * 300, "pipe.tsv",
    "", ".", "with space.tsv", "new\nline.tsv", "'; DROP TABLE x; --.tsv", "link.tsv", "no/new.tsv", "new.html", "new",
    "th.json", "rows.csv",
]  # fmt: skip


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    home = tmp_path_factory.mktemp("fuzz")
    with oxigraph() as url:
        make_home(home, url, lambda *words: call(home, [*words, "--quiet"])[0])
        keep = tmp_path_factory.mktemp("kept") / "home"
        shutil.copytree(home, keep, symlinks=True, ignore=shutil.ignore_patterns("pipe.tsv"))
        yield home, keep, url


def _too_long(*_: object) -> None:
    raise AssertionError(f"It did not end in {SECONDS} seconds.")


@contextlib.contextmanager
def bounded():
    """Let what is called take no more time and memory than this."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, before[1]))
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, before)


def call(home: Path, words: list[str], jumps: bool = False) -> tuple[int, str]:
    """Run a command in this process, in a folder, as if it were started there; the time of day may jump meanwhile."""
    errors, before, argv, path, now = io.StringIO(), os.getcwd(), sys.argv, list(sys.path), time.time
    os.chdir(home)
    if jumps:
        days = itertools.cycle((0, 400, -400, 1e5, 0))
        time.time = lambda: now() + 86_400 * next(days)
    # A worker whose browser is open has an event loop already: servers run in processes of their own alone (fuzz.py).
    nobody = ["--host", "256.0.0.1"] if words[0] in SERVES else []
    sys.argv = ["actc", *words, *nobody]
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            try:
                with bounded():
                    main()
            except SystemExit as ended:
                code = ended.code
    finally:
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


def of_use(table: dict[str, list[str]], name: str, parameter: click.Parameter) -> list[str]:
    """Return what a command can use in a place, by one of the tables."""
    key = f"{name} {parameter.name}"
    return table.get(key if key in RIGHT or key in RIGHT_WORDS else str(parameter.name), [])


def right_for(name: str, parameter: click.Parameter) -> list[str]:
    """Return all that a command can use in a place."""
    kinds = {click.IntRange: ["1", "2", "5"], click.FloatRange: ["0.1", "0.5", "0.9"]}
    plain = {"integer": ["0", "1", "2", "5"], "float": ["0.1", "0.5", "0.9", "1"]}
    right = [*of_use(RIGHT, name, parameter), *of_use(RIGHT_WORDS, name, parameter)]
    by_type = getattr(parameter.type, "choices", None) or kinds.get(type(parameter.type))
    return right or [str(one) for one in by_type or plain.get(parameter.type.name, [])]


def draw_value(name: str, parameter: click.Parameter, odd: str, source: str, kind: bool, chance: random.Random) -> str:
    """Return a value: anything, or, to be kind, one of use; where the damaged file is of use, that one."""
    right, files = right_for(name, parameter), of_use(RIGHT, name, parameter)
    if kind and right:
        return odd if source in (one.removeprefix("work/") for one in files) else chance.choice(right)
    takes_file = files or isinstance(parameter.type, click.Path) or parameter.name == "out"
    anything = [[odd], ODD_NAMES, NUMBERS + WORDS] if takes_file else [NUMBERS, WORDS]
    return chance.choice(chance.choice([right, *anything] if right else anything))


def draw_call(name: str, chance: random.Random) -> tuple[list[str], tuple[str, str, float, int]]:
    """Return a call with some options, each with a value that may or may not be of use, and a file to damage for it."""
    parameters = [one for one in commands.commands[name].params if one.opts[0] not in NEVER]
    own = sorted({one.removeprefix("work/") for parameter in parameters for one in of_use(RIGHT, name, parameter)})
    told = [one for one in own if one in FORGEABLE]
    source = chance.choice(chance.choice([told or own or SOURCES, own or SOURCES, SOURCES]))
    damage = chance.choice(chance.choice([sorted(MUTATIONS), worth_doing(source)]))
    odd = f"work/odd{''.join(Path(source).suffixes)}" if "." in source else "work/odd"
    words, options, kind = [name], [], chance.random() < 0.75
    fitting = [one for one in parameters if not {one.name, f"{name} {one.name}"} & set(APART)]
    parameters = fitting if kind else parameters
    strange = chance.choice(parameters) if kind and chance.random() < 0.5 else None
    for parameter in parameters:
        wanted = parameter.required or parameter is strange or (kind and parameter.name == "base")
        value = draw_value(name, parameter, odd, source, kind and parameter is not strange, chance)
        if isinstance(parameter, click.Argument):
            words.append(value)
        elif wanted or chance.random() < 1 / 3:
            options += [parameter.opts[0]] if getattr(parameter, "is_flag", False) else [parameter.opts[0], value]
    last = {"judge": PROGRAMS[: 1 if kind else None], "paper": ["rows.csv", odd]}.get(name)
    options += [*ALWAYS.get(name, []), *([chance.choice(last)] if last else [])]
    damage = "not at all" if strange else damage
    return [*words, *options], (source, damage, chance.random(), chance.getrandbits(32))


def make_work(home: Path, url: str, damage: tuple[str, str, float, int]) -> None:
    """Make what a call may change: copies of folders, and one file, or a file of one folder, that is damaged."""
    shutil.rmtree(home / "work", ignore_errors=True)
    for name in ("session", "better", "projects"):
        shutil.copytree(home / name, home / "work" / name)
    make_odd(home, *damage)
    fill_store(home, url)


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
    own = {path for path in outputs if path.startswith("work/odd") or name in OWN.get(path, ())}
    told = outputs if "--overwrite" in words else own
    return {path for path in told - inputs if path != "." and not path.startswith("session/")}


def left_by(home: Path, before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Return what a call made; not a folder of stages of which one is finished: the next start goes on from there."""
    left = {path for path in after.keys() - before.keys() if not path.startswith("work/")}
    begun = {path.removesuffix("/begun.json") for path in left if path.endswith("/begun.json")}
    begun = {path for path in begun if json.loads((home / path / "begun.json").read_text())["done"]}
    begun |= {f"{path}{BESIDE}" for path in begun}
    return {path for path in left if not begun & {path, *map(str, Path(path).parents)}}


def changed_by(name: str, words: list[str], before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Return what a call changed that it may not change."""
    told, changed = may_change(name, words), {path for path, content in before.items() if after.get(path) != content}
    changed = {path for path in changed if not told & {path, *map(str, Path(path).parents)}}
    return {path for path in changed if name not in CHANGES or not path.startswith("work/")}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_any_call_ends_with_a_sentence_and_harms_nothing(homes, name):
    home, kept, url = homes
    for number in range(TIMES * CASES[name]):
        words, damage = draw_call(name, random.Random(f"{START} {name} {number}"))
        make_work(home, url, damage)
        before = fingerprint(home)
        code, errors = call(home, [word.replace(STORE, url) for word in words], damage[3] % 4 == 0)
        after = fingerprint(home)
        left = left_by(home, before, after)
        clear(home, kept, before, after)
        assert code in ENDS, (words, damage, errors)
        assert not HUNGRY.search(errors), (words, damage, errors)
        assert code == 130 or len(errors.splitlines()) == (code == 2), (words, damage, errors)
        assert not changed_by(name, words, before, after), (words, damage)
        # An audit that was started stays, though its page cannot be served here: it can be served later.
        assert code != 2 or not left or name == "audit", (words, damage, left)


def test_every_command_is_fuzzed():
    assert set(CASES) == set(commands.commands)
    assert sum(CASES.values()) > 1000


def test_a_call_that_takes_too_much_memory_says_so(tmp_path):
    (tmp_path / "hungry.py").write_text("import numpy\nmethod = numpy.ones(10**9)\n")
    code, errors = call(tmp_path, ["calibrate", "scores.tsv", "--method", "hungry:method"])
    assert code == 2
    assert HUNGRY.search(errors)
