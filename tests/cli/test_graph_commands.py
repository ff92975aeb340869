"""The graph commands as a person would call them."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from actc.data.files import read_scored, write_triples
from tests.cli.test_cli import actc, refused
from tests.complete.small_graph import make_graph


@pytest.fixture(scope="module")
def folder(tmp_path_factory, small_model):
    folder = tmp_path_factory.mktemp("commands")
    write_triples(folder / "graph.tsv", make_graph().columns())
    shutil.copytree(small_model, folder / "model")
    return folder


def test_a_model_proposes_candidates(folder, tmp_path):
    found = actc(
        "candidates", "graph.tsv", "--model", "model", "--best", 1, "--out", tmp_path / "c.parquet", cwd=folder
    )
    assert "candidates" in found.stdout
    assert len(read_scored(tmp_path / "c.parquet")[0]) > 10


def test_convert_carries_where_a_fact_comes_from(tmp_path):
    header = "head\trelation\ttail\tscore\tprobability\tthreshold\tmethod\tdate\tby\n"
    rows = [
        "Q2\tP31\tQ5\t0.5\t0.9\t0.4\tpooled\t2026-11-15\tmethod",
        "Q1\tP31\tQ5\t0.7\t1.0\t0.4\tpooled\t2026-11-15\tperson",
    ]
    (tmp_path / "accepted.tsv").write_text(header + "\n".join([*rows, "Q3\tP31\tQ5\t\t\t\t\t\t", ""]))
    result = actc("convert", "accepted.tsv", "--out", "accepted.qs", cwd=tmp_path)
    assert result.stdout == "accepted.qs: 3 triples, 4 entities, 1 relations.\n", result.stderr
    assert sorted((tmp_path / "accepted.qs").read_text().splitlines()) == [
        "Q1\tP31\tQ5",
        "Q2\tP31\tQ5\tS887\tQ2539\tS813\t+2026-11-15T00:00:00Z/11",
        "Q3\tP31\tQ5",
    ]
    assert actc("convert", "accepted.tsv", "--out", "a.parquet", cwd=tmp_path).returncode == 0
    assert actc("convert", "a.parquet", "--out", "again.tsv", cwd=tmp_path).returncode == 0
    assert sorted((tmp_path / "again.tsv").read_text().splitlines()) == sorted(
        (tmp_path / "accepted.tsv").read_text().splitlines()
    )
    result = actc("convert", "accepted.tsv", "--out", "a.nt", "--base", "http://e.org/", cwd=tmp_path)
    assert result.stdout.startswith(
        "N-Triples has no place for score, probability, threshold, method, date, by: left out.\n"
    )


def test_bad_input_gets_one_sentence(folder, tmp_path):
    out = ("--out", tmp_path / "out.tsv")
    refused(actc("candidates", "graph.tsv", "--model", "nowhere", *out, cwd=folder), "there is no PyKEEN result")
    (tmp_path / "other.tsv").write_text("x\tr\ty\n")
    refused(
        actc("candidates", tmp_path / "other.tsv", "--model", "model", *out, cwd=folder),
        "it was trained on another graph",
    )
    (tmp_path / "bad.nt").write_text("<http://a> <http://b> oops .\n")
    refused(actc("convert", tmp_path / "bad.nt", *out), "bad.nt, line 1: ")
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize(
    ("missing", "words", "extra"),
    [
        ("torch", ["candidates", "graph.tsv", "--model", "model", "--out", "new.tsv"], "actc[pykeen]"),
        ("pyoxigraph", ["convert", "graph.ttl", "--out", "new.tsv"], "actc[rdf]"),
        ("pykeen", ["complete", "graph.tsv", "--model", "model", "--out", "new"], "actc[pykeen]"),
    ],
)
def test_without_the_extra_a_command_says_what_to_install(missing, words, extra, folder):
    (folder / "graph.ttl").write_text("<http://a/x> <http://a/r> <http://a/y> .\n")
    run = f"sys.argv[1:] = {words!r}; from actc.cli.main import main; main()"
    code = f"import sys; sys.modules[{missing!r}] = None; {run}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)
    refused(result, f"pip install '{extra}'")
