"""Streams that are closed, full or poor in letters, and signals at any moment: an exit code, nothing left behind."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ACTC = shlex.join([sys.executable, "-m", "actc.cli.main"])
TOLD = """
import os, signal
from actc.methods.named import METHODS

class Told(type(METHODS["localopt-acc"])):
    def fit(self, *told, **how):
        try:
            os.kill(os.getpid(), signal.{name})
            signal.pause()
        except KeyboardInterrupt:
            raise RuntimeError("Query interrupted")

method = Told(**vars(METHODS["localopt-acc"]))
"""
SIGNALS = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


@pytest.fixture
def home(tmp_path):
    (tmp_path / "scores.tsv").write_text("".join(f"e{n}\tr\tt\t0.{n}\n" for n in range(1, 9)))
    (tmp_path / "labels.tsv").write_text("e1\tr\tt\t0\ne2\tr\tt\t0\ne7\tr\tt\t1\ne8\tr\tt\t1\n")
    return tmp_path


def shell(home: Path, line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    line = line.replace("actc ", f"{ACTC} ", 1)
    how = {"capture_output": True, "text": True, "preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)}
    return subprocess.run(["bash", "-c", line], cwd=home, env={**os.environ, **environment}, check=False, **how)


@pytest.mark.parametrize("closed", [">&-", "<&-", ">&- 2>&- <&-"])
def test_a_stream_that_is_closed_leads_nowhere(home, closed):
    ended = shell(home, f"actc calibrate scores.tsv --labels labels.tsv --method localopt-acc --out th.json {closed}")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (home / "th.json").read_text().startswith("{")


def test_a_refusal_that_nobody_can_be_told_is_a_refusal(home):
    assert shell(home, "actc calibrate nothing.tsv 2>/dev/full").returncode == 2


def test_an_output_that_nobody_reads_ends_as_in_any_pipe(home):
    ended = shell(home, "actc methods | true; exit ${PIPESTATUS[0]}")
    assert ended.returncode in (0, 141)  # 0 where all was written before the reader was gone
    assert ended.stderr == ""


def test_letters_that_a_terminal_lacks_are_no_error(home):
    assert shell(home, "actc start s scores.tsv --quiet --title Größe").returncode == 0
    ended = shell(home, "actc annotate s --terminal </dev/null", PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_who_is_refused_is_told_one_thing_though_a_warning_came_before(home):
    with (home / "scores.tsv").open("a") as rows:
        rows.write("e1\tr\tt\t0.1\ne1\tr\tt\t0.9\n")
    ended = shell(home, "actc calibrate scores.tsv --labels labels.tsv")
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", SIGNALS)
def test_a_command_that_is_told_to_end_leaves_nothing_behind(home, name):
    """The method gets the signal while the command works, as DuckDB does, which makes an error of its own of it."""
    (home / "told.py").write_text(TOLD.format(name=name))
    ended = shell(home, "actc calibrate scores.tsv --labels labels.tsv --method told:method --out th.json")
    assert (ended.returncode, ended.stderr.strip()) == (SIGNALS[name], "")
    assert {one.name for one in home.iterdir()} - {"__pycache__"} == {"scores.tsv", "labels.tsv", "told.py"}
