"""Any options with any files: exit code 0 or 2, at most one sentence, and what was there stays, byte for byte.

``ACTC_FUZZ=2000`` asks for more cases than the tests do.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from actc.cli.main import commands, main
from actc.session import Settings, start_session
from actc.tables.files import write_rows_of, write_triples
from tests.synthetic import make_truth

CASES = int(os.environ.get("ACTC_FUZZ", "60"))
# The others serve until they are stopped, or compute for minutes.
QUICK = ("methods", "calibrate", "decide", "start", "status", "export", "import", "report", "ask", "audit", "shift")
QUICK += ("score", "candidates", "convert")
NUMBERS = ["0", "1", "2", "-1", "0.5", "0.9", "1.0", "1.5", "nan", "inf", "-inf", str(10**30), "", "x", "1e400", "٣"]
WORDS = ["pooled", "localopt-acc", "actc-lr-rndm:n=2", "pooled:x=1", "os:path", ":", "random", "relation", "majority"]
WORDS += ["reliability", "tsv", "turtle", "http://e/", "", "*", "[", "\ud800", "a\tb", "1GB", "-5MB", "spark", "cuda"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("fuzz")
    pool, labels, _ = make_truth(60, 2)
    write_rows_of(home / "scores.tsv", pool, np.arange(60))
    write_triples(home / "labels.csv", {**pool.take(np.arange(20)).columns(), "label": labels[:20].astype(int)})
    write_triples(home / "parts.parquet", {**pool.columns(), "score": pool.scores})
    start_session(home / "session", home / "scores.tsv", Settings(budget=10)).close()
    call(home, ["calibrate", "scores.tsv", "--labels", "labels.csv", "--out", "th.json", "--quiet"])
    (home / "header.tsv").write_text("head\trelation\ttail\tscore\n")
    (home / "empty.tsv").touch()
    (home / "rubbish.parquet").write_bytes(bytes(range(256)))
    (home / "cut.tsv").write_bytes((home / "scores.tsv").read_bytes()[:501])
    (home / "deep.json").write_text("[" * 5000)
    (home / "cut.json").write_text((home / "th.json").read_text()[:200])
    (home / "nan.tsv").write_text("a\tr\tb\tnan\n")
    (home / "wide.jsonl").write_text('{"head": 1}\n[]\n')
    (home / "[x].tsv").write_text("a\tr\tb\t1\nc\tr\td\t0\n")
    (home / "folder").mkdir()
    (home / "loop").symlink_to(home / "loop")
    return home


def call(home: Path, words: list[str]) -> tuple[int, str]:
    """Run a command in this process, in a folder, as if it were started there."""
    errors, before, argv = io.StringIO(), os.getcwd(), sys.argv
    os.chdir(home)
    sys.argv = ["actc", *words]
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            try:
                main()
            except SystemExit as ended:
                code = ended.code
    finally:
        sys.argv = argv
        os.chdir(before)
    return int(code or 0), errors.getvalue()


def fingerprint(home: Path) -> dict[str, str]:
    files = [path for path in home.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal"))]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


FILES = [
    "scores.tsv",
    "labels.csv",
    "parts.parquet",
    "session",
    "th.json",
    "header.tsv",
    "empty.tsv",
    "rubbish.parquet",
]
FILES += ["cut.tsv", "deep.json", "cut.json", "nan.tsv", "wide.jsonl", "[x].tsv", "folder", "loop", "missing.tsv"]
FILES += ["/dev/null", "folder/no/way.tsv", "judgements.sqlite", "session/judgements.sqlite", "x" * 300]


@some.composite
def calls(draw) -> list[str]:
    """Return a command with some of its options, each with a value that may or may not be of use."""
    name = draw(some.sampled_from(QUICK))
    values = some.sampled_from(FILES) | some.sampled_from(NUMBERS) | some.sampled_from(WORDS)
    words, options = [name], []
    for parameter in commands.commands[name].params:
        if isinstance(parameter, click.Argument):
            words.append(draw(some.sampled_from(FILES)))
        elif draw(some.booleans()) and parameter.opts[0] not in ("--engine", "--master"):
            is_path = isinstance(parameter.type, click.Path)
            options.append(parameter.opts[0])
            if not getattr(parameter, "is_flag", False):
                options.append(draw(some.sampled_from(FILES) if is_path and draw(some.booleans()) else values))
    return [*words, *options]


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=CASES < 100)
@given(words=calls())
def test_any_call_ends_with_a_sentence_and_harms_nothing(home, tmp_path_factory, words):
    if words[0] == "import":
        words = [*words, "--help"] if "session" in words[1:2] else words  # it is there to change a session
    before = fingerprint(home)
    code, errors = call(home, words)
    assert code in (0, 2), errors
    assert len(errors.splitlines()) == (code == 2), errors
    after = fingerprint(home)
    changed = {path for path, content in before.items() if after.get(path) != content}
    allowed = {path for path in changed if "--overwrite" in words and Path(path).name in words}
    assert changed <= allowed
    for path in after.keys() - before.keys():  # what it made, so that the next call finds the folder as it was
        os.unlink(path)
