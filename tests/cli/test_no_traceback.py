"""Whatever is given to a command, it answers in one sentence with exit code 2, and what was there stays as it was."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sqlite3
import sys

import duckdb
import numpy as np
import pytest

from actc import calibrate
from actc.cli.main import main
from actc.errors import say_failure
from actc.session import Settings
from actc.tables.files import write_scored, write_triples
from tests.conftest import start_copy
from tests.synthetic import make_truth


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("bad")
    pool, labels, _ = make_truth(120, 2)
    write_scored(home / "scores.tsv", pool)
    write_triples(home / "labels.tsv", {**pool.take(np.arange(30)).columns(), "label": labels[:30].astype(int)})
    start_copy(home / "s", home / "scores.tsv", Settings(budget=20)).close()
    calibrate(home / "scores.tsv", home / "labels.tsv", out=home / "th.json")
    write_triples(home / "graph.tsv", pool.columns())
    cell = home / "d" / "m"
    cell.mkdir(parents=True)
    for part in ("valid.tsv", "test.tsv"):
        write_triples(cell / part, {**pool.columns(), "score": pool.scores, "label": labels.astype(int)})
    (home / "header.tsv").write_text("head\trelation\ttail\tscore\n")
    (home / "deep.json").write_text("[" * 100_000)
    (home / "deep.jsonl").write_text('{"a":' * 100_000)
    (home / "latin.jsonl").write_bytes(b'{"head": "caf\xe9"}\n')
    (home / "latin.tsv").write_bytes(b"caf\xe9\tr\tb\t1\n")
    (home / "loop.tsv").symlink_to(home / "loop.tsv")
    (home / "rows.csv.part").symlink_to(home / "rows.csv.part")
    os.mkfifo(home / "pipe.tsv")
    (home / "list.json").write_text("[1, [2]]")
    (home / "long.tsv").write_text("a\tr\t" + "x" * 200_000 + "\t1\n")
    (home / "digits.json").write_text('{"format": "actc-thresholds", "format_version": ' + "9" * 5000 + "}")
    return home


def actc(capsys, home, monkeypatch, *words):
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "argv", ["actc", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    error = capsys.readouterr().err
    assert len(error.splitlines()) <= 1, error
    return ended.value.code, error


BAD = [
    ("calibrate", "header.tsv"),
    ("calibrate", "loop.tsv"),
    ("calibrate", "pipe.tsv"),
    ("calibrate", "latin.tsv"),
    ("calibrate", "long.tsv"),
    ("convert", "long.tsv", "--base", "http://e/", "--out", "g.nt"),
    ("decide", "digits.json", "scores.tsv", "--out", "a.tsv"),
    ("start", "new", "scores.tsv", "--names", "digits.json"),
    ("import", "s", "digits.json"),
    ("train", "graph.tsv", "--recipe", "digits.json", "--out", "model"),
    ("calibrate", "scores.tsv", "--labels", "pipe.tsv"),
    ("calibrate", "scores.tsv", "--labels", "labels.tsv", "--precision", "2"),
    ("calibrate", "scores.tsv", "--labels", "labels.tsv", "--precision", "nan"),
    ("calibrate", "scores.tsv", "--labels", "labels.tsv", "--confidence", "1.5", "--precision", "0.8"),
    ("calibrate", "scores.tsv", "--labels", "labels.tsv", "--constraints", "/dev/zero"),
    ("calibrate", "scores.tsv", "--labels", "labels.tsv", "--constraints", "pipe.tsv"),
    ("calibrate", "scores.tsv", "--method", "os:path"),
    ("calibrate", "scores.tsv", "--method", ":x"),
    ("calibrate", "scores.tsv", "--method", "..x:y"),
    ("decide", "deep.json", "scores.tsv", "--out", "a.tsv"),
    ("decide", "list.json", "scores.tsv", "--out", "a.tsv"),
    ("decide", "pipe.tsv", "scores.tsv", "--out", "a.tsv"),
    ("report", "deep.json"),
    ("report", "th.json", "--level", "-1", "--out", "r.html"),
    ("report", "th.json", "--level", "nan", "--out", "r.html"),
    ("report", "loop.tsv"),
    ("report", "s", "--out", "r.html", "--json", "no/r.json"),
    ("start", "new", "scores.tsv", "--seed", "-1"),
    ("start", "new", "scores.tsv", "--budget", str(10**30)),
    ("start", "new", "scores.tsv", "--names", "deep.json"),
    ("start", "new", "scores.tsv", "--names", "latin.tsv"),
    ("start", "new", "scores.tsv", "--guidelines", "latin.tsv"),
    ("start", "new", "scores.tsv", "--guidelines", "pipe.tsv"),
    ("start", "new", "header.tsv"),
    ("start", "new", "pipe.tsv"),
    ("audit", "scores.tsv", "--out", "slice.tsv", "--seed", "-1"),
    ("audit", "scores.tsv", "--labels", "labels.tsv", "--level", "1.5"),
    ("audit", "s", "--target", "7"),
    ("audit", "s", "--by", "lot"),
    ("audit", "s", "--count", "0"),
    ("audit", "s", "--host", "256.0.0.1"),
    ("audit", "scores.tsv", "--labels", "labels.tsv", "--target", "7"),
    ("annotate", "s", "--port", "-1", "--no-browser"),
    ("annotate", "s", "--port", "70000", "--no-browser"),
    ("judge", "s", "--program", "'unclosed"),
    ("judge", "s", "--program", "true", "--differing", "nan"),
    ("annotate", "s", "--annotator", "\udcff", "--no-browser"),
    ("import", "s", "deep.json"),
    ("import", "s", "deep.jsonl"),
    ("import", "s", "latin.jsonl"),
    ("import", "s", "list.json"),
    ("import", "s", "pipe.tsv"),
    ("bench", "d/m", "--budget", str(10**30), "--jobs", "1"),
    ("bench", "d/m", "--seed", "-1", "--jobs", "1", "--method", "localopt-acc"),
    ("bench", "d/m", "--repeats", str(10**9), "--jobs", "1", "--method", "actc-lr-rndm"),
    ("bench", "d/m", "--jobs", "0", "--method", "localopt-acc"),
    ("bench", "nowhere", "--jobs", "1"),
    ("bench", "d/m", "--jobs", "1", "--repeats", "1", "--method", "localopt-acc", "--out", "rows.csv"),
    ("demo", "--seed", "-1", "--out", "demo"),
    ("demo", "--repeats", "0", "--out", "demo"),
    ("convert", "loop.tsv", "--out", "g.nt"),
    ("convert", "pipe.tsv", "--out", "g.nt", "--base", "http://e/"),
    ("convert", "sparql:http://[::1", "--out", "g.nt"),
    ("convert", "graph.tsv", "--to", "nothing", "--out", "g.nt"),
    ("train", "pipe.tsv", "--out", "model"),
    ("train", "graph.tsv", "--seed", "-1", "--out", "model", "--seconds", "1"),
    ("train", "graph.tsv", "--recipe", "deep.json", "--out", "model"),
    ("score", "nowhere", "graph.tsv", "--out", "s.tsv"),
    ("complete", "graph.tsv", "--budget", str(10**30), "--out", "c", "--seconds", "1", "--oracle", "pipe.tsv"),
]


def _too_long(*_):
    raise AssertionError("it waits for ever")


@pytest.mark.parametrize("words", BAD, ids=lambda words: " ".join(words)[:60])
def test_bad_input_is_answered_in_one_sentence(made, capsys, monkeypatch, words):
    before = {path.name for path in made.iterdir()}
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(50)  # nothing may wait for ever
    try:
        code, error = actc(capsys, made, monkeypatch, *words, "--quiet")
    finally:
        signal.alarm(0)
    assert code == 2, error
    assert error.startswith("actc: ")
    assert {path.name for path in made.iterdir()} <= before | {"c"}
    assert not (made / "s" / "judges.sqlite").exists()


def test_a_program_that_reads_nothing_and_ends_is_no_error(made, capsys, monkeypatch):
    for _ in range(5):  # whether it ends before it is told anything is a matter of chance
        line = ("judge", "s", "--program", "true", "--count", "40", "--limit", 10**30)
        assert actc(capsys, made, monkeypatch, *line) == (0, "")


def test_rows_that_lack_a_table_s_budget_leave_that_table_out(made, capsys, monkeypatch, tmp_path):
    line = ("bench", "d/m", "--method", "localopt-acc", "--budget", "1,5", "--repeats", "2", "--jobs", "1")
    actc(capsys, made, monkeypatch, *line, "--out", tmp_path / "rows.csv", "--quiet")
    only = ("--only", "table-avg", "--only", "table-l10", "--out", tmp_path / "p")
    assert actc(capsys, made, monkeypatch, "paper", "--from", tmp_path / "rows.csv", *only)[1] == ""
    assert [path.name for path in (tmp_path / "p").glob("table*.csv")] == ["table-avg.csv"]


ERRORS = [
    OSError(errno.ENOSPC, "No space left on device", "out.tsv"),
    sqlite3.OperationalError("database or disk is full"),
    duckdb.IOException("IO Error: Could not write file: No space left on device\nmore"),
    RecursionError("maximum recursion depth exceeded"),
    MemoryError(),
    OverflowError("Python int too large to convert to C long"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_of_the_world_become_a_sentence_that_names_the_file(error):
    error.add_note("out.tsv")
    sentence = say_failure(error)
    assert sentence.startswith("out.tsv: ")
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_a_fault_of_ours_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        say_failure(ZeroDivisionError())


@pytest.mark.parametrize("name", ["t.json", "a.tsv", "a.parquet"])
def test_a_full_disk_is_named_by_the_output_and_leaves_nothing(made, capsys, monkeypatch, tmp_path, name):
    """A limit on the size of files stands for a disk that is full."""
    actc(capsys, made, monkeypatch, "calibrate", "scores.tsv", "--labels", "labels.tsv", "--out", tmp_path / "th.json")
    words = ["decide", tmp_path / "th.json", "scores.tsv"]
    if name == "t.json":
        words = ["calibrate", "scores.tsv", "--labels", "labels.tsv"]
    out = tmp_path / "full"
    out.mkdir()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a module first imported here would be cut off as well
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        code, error = actc(capsys, made, monkeypatch, *words, "--out", out / name, "--quiet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (code, list(out.iterdir())) == (2, [])
    assert str(out / name) in error
