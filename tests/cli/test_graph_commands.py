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
