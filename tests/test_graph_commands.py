"""The graph commands as a person would call them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from actc.files import read_scored, write_triples
from actc.graph_commands import COMMANDS, describe_seconds
from tests.test_cli import actc, refused
from tests.test_train_model import make_graph

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    write_triples(folder / "graph.tsv", make_graph().columns())
    (folder / "recipe.json").write_text('{"model": "complex", "dimension": 16, "epochs": 5, "batch": 16}')
    result = actc("train", "graph.tsv", "--recipe", "recipe.json", "--device", "cpu", "--out", "model", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "54 triples; epochs 5" in result.stdout
    return folder


def test_score_then_candidates(folder, tmp_path):
    scored = actc("score", "model", "graph.tsv", "--out", tmp_path / "scores.tsv", cwd=folder)
    assert "54 triples with scores from" in scored.stdout
    assert len(read_scored(tmp_path / "scores.tsv")[0]) == 54
    found = actc("candidates", "model", "graph.tsv", "--best", 1, "--out", tmp_path / "c.parquet", cwd=folder)
    assert "questions, about 1 s." in found.stdout
    assert len(read_scored(tmp_path / "c.parquet")[0]) > 10


def test_a_dry_run_writes_nothing(folder, tmp_path):
    result = actc("candidates", "model", "graph.tsv", "--dry-run", "--out", tmp_path / "c.parquet", cwd=folder)
    assert "questions, about" in result.stdout
    assert not list(tmp_path.iterdir())


def test_convert_there_and_back(folder, tmp_path):
    base = ("--base", "http://example.org/")
    assert (
        "54 triples, 38 entities" in actc("convert", "graph.tsv", "--out", tmp_path / "g.nt", *base, cwd=folder).stdout
    )
    assert actc("convert", tmp_path / "g.nt", "--out", tmp_path / "g.tsv", *base).returncode == 0
    assert sorted((tmp_path / "g.tsv").read_text().splitlines()) == sorted(
        (folder / "graph.tsv").read_text().splitlines()
    )


def test_bad_input_gets_one_sentence(folder, tmp_path):
    out = ("--out", tmp_path / "out.tsv")
    refused(actc("score", "nowhere", "graph.tsv", *out, cwd=folder), "there is no such folder")
    refused(
        actc("train", "graph.tsv", "--model", "komplex", "--out", tmp_path / "m", cwd=folder), "Did you mean 'complex'?"
    )
    (tmp_path / "other.tsv").write_text("x\tr\ty\n")
    refused(actc("score", "model", tmp_path / "other.tsv", *out, cwd=folder), "it was trained on another graph")
    (tmp_path / "bad.nt").write_text("<http://a> <http://b> oops .\n")
    refused(actc("convert", tmp_path / "bad.nt", *out), "bad.nt, line 1: ")
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize(
    ("missing", "words", "extra"),
    [
        ("torch", ["train", "graph.tsv", "--out", "new"], "actc[train]"),
        ("torch", ["score", "model", "graph.tsv", "--out", "new.tsv"], "actc[train]"),
        ("pyoxigraph", ["convert", "graph.ttl", "--out", "new.tsv"], "actc[rdf]"),
        ("pykeen", ["score", "pykeen", "graph.tsv", "--out", "new.tsv"], "actc[pykeen]"),
    ],
)
def test_without_the_extra_a_command_says_what_to_install(missing, words, extra, folder):
    (folder / "graph.ttl").write_text("<http://a/x> <http://a/r> <http://a/y> .\n")
    (folder / "pykeen" / "training_triples").mkdir(parents=True, exist_ok=True)
    (folder / "pykeen" / "trained_model.pkl").touch()
    code = f"import sys; sys.modules[{missing!r}] = None; sys.argv[1:] = {words!r}; from actc.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)
    refused(result, f"pip install '{extra}'")


def test_every_graph_command_has_an_example():
    assert all("Example" in command.epilog for command in COMMANDS)


def test_times_are_told_roughly():
    assert [describe_seconds(value) for value in (0.1, 80, 600, 9000)] == ["1 s", "80 s", "10 minutes", "2.5 hours"]
