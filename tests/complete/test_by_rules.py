"""The whole way without a model: rules propose, evidence weighs, nobody or somebody answers."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

from actc.complete.config import RunConfig
from actc.complete.run import run_config
from actc.data.files import write_triples
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph, write_graph
from actc.graph.graph import Graph
from actc.session import Session
from tests.evidence.test_rules import make_families


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    graph, hidden = make_families(120, np.random.default_rng(1), 0.75)
    write_triples(folder / "graph.tsv", graph.columns())
    write_triples(folder / "hidden.tsv", hidden.columns())
    return folder


def f1(folder, out):
    hidden, accepted = read_graph(folder / "hidden.tsv"), read_graph(out / "accepted.tsv")
    return 2 * hidden.contains(accepted).sum() / (len(hidden) + len(accepted))


def test_nobody_is_asked_and_the_graph_is_better(folder, tmp_path):
    lines = run_config(RunConfig(folder / "graph.tsv", tmp_path / "out", budget=0)).lines
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert any("before any answer" in line for line in lines)
    assert report["judged"] == 0
    assert report["model"] == {}
    assert f1(folder, tmp_path / "out") > 0.6
    hidden, accepted = read_graph(folder / "hidden.tsv"), read_graph(tmp_path / "out" / "accepted.tsv")
    columns = duckdb.read_parquet(str(tmp_path / "out" / "candidates.parquet")).fetchnumpy()
    assert set(columns["proposed_by"]) == {"rules"}
    assert "parent(X,Y) <= married(X,A), parent(A,Y)" in set(columns["rule"])
    low, _, high = report["accepted_precision"]
    assert low <= hidden.contains(accepted).mean() <= high


@pytest.mark.parametrize("goal", ["missing", "wrong"])
def test_a_graph_in_rdf_calls_things_by_its_own_labels(folder, tmp_path, goal):
    graph, place = read_graph(folder / "graph.tsv"), "http://example.org/"
    write_graph(tmp_path / "graph.nt", graph, base=place)
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    with (tmp_path / "graph.nt").open("a") as file:
        file.writelines(f'<{place}{one}> {label} "Mx {one}" .\n' for one in graph.entity_names)
    run_config(RunConfig(tmp_path / "graph.nt", tmp_path / "out", goal, budget=5))
    session = Session(tmp_path / "out" / "session")
    card = session.ask(session.add_annotator("ada"), 1)[0]
    assert session.names.of(card.head).name == f"Mx {card.head.removeprefix(place)}"
    session.close()


def test_an_oracle_answers_and_a_second_run_goes_on(folder, tmp_path):
    asked = RunConfig(folder / "graph.tsv", tmp_path / "out", budget=20, oracle=folder / "hidden.tsv")
    run_config(asked)
    (tmp_path / "other.tsv").write_text("x\tr\ty\n")
    with pytest.raises(FileError, match="judged in it"):
        run_config(replace(asked, oracle=tmp_path / "other.tsv"))
    assert json.loads((tmp_path / "out" / "report.json").read_text())["judged"] == 20
    assert "--budget 20" in again_next(asked, 0.999)  # so few answers cannot guarantee it: as many again
    assert "No list has passed the test" in (tmp_path / "out" / "report.html").read_text()
    again = run_config(asked)
    assert json.loads((tmp_path / "out" / "report.json").read_text())["judged"] == 60  # a budget is of new answers
    assert again.files


def again_next(asked, precision):
    """Return what a run with a promise says to run next."""
    run_config(replace(asked, precision=precision))
    return json.loads((asked.out / "report.json").read_text())["next"]


def test_candidates_that_are_given_need_no_model_either(folder, tmp_path):
    hidden = read_graph(folder / "hidden.tsv")
    wrong = Graph.of(hidden).columns()
    given = {name: np.append(wrong[name], np.roll(wrong[name], 3 if name == "tail" else 0)) for name in wrong}
    write_triples(tmp_path / "given.tsv", Graph.from_columns(*given.values()).columns())
    asked = RunConfig(folder / "graph.tsv", tmp_path / "out", budget=0, candidates=tmp_path / "given.tsv")
    lines = run_config(asked).lines
    assert any("the graph's own facts teach" in line for line in lines)
    assert f1(folder, tmp_path / "out") > 0.6


def test_a_graph_that_no_rule_fits_says_what_to_do(tmp_path):
    columns = {"head": [f"a{k}" for k in range(40)], "relation": ["r"] * 40, "tail": [f"b{k}" for k in range(40)]}
    write_triples(tmp_path / "graph.tsv", columns)
    (tmp_path / "out").mkdir()
    with pytest.raises(OptionError, match=r"proposes anything; give --model or --candidates\."):
        run_config(RunConfig(tmp_path / "graph.tsv", tmp_path / "out", budget=0))
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.long
def test_the_core_install_alone_is_enough(folder, tmp_path):
    root = Path(__file__).parents[2]
    venv.create(tmp_path / "bare", with_pip=True)
    python = tmp_path / "bare" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", root], check=True)
    assert subprocess.run([python, "-c", "import torch"], capture_output=True).returncode
    command = [python.with_name("actc"), "complete", folder / "graph.tsv", "--budget", "0", "--out", tmp_path / "out"]
    subprocess.run(command, check=True, env={"PATH": os.environ["PATH"]})
    assert (tmp_path / "out" / "graph.tsv").exists()
