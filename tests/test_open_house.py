"""A new selector, metric or graph format is one function and one entry; and a house without web/ stands."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import actc
from actc import Calibrator, convert_graph, run_experiment
from actc.bench.cells import CellFolder
from actc.bench.metrics import METRICS
from actc.data.answers import Annotations
from actc.data.files import write_scored, write_triples
from actc.graph.formats import FORMATS, GraphFormat, read_graph
from actc.graph.graph import Graph
from actc.methods.select_triples import SELECTORS, Selector
from actc.session.cards import make_card
from actc.session.settings import Settings
from actc.session.start import create_session
from tests.conftest import judge_all, make_pool, triples_of

ROOT = Path(__file__).parents[1]
WHY = "It has one of the highest scores."


def select_highest(pool, annotations, count, random, estimate):
    """Judge the most plausible triples first."""
    rows = pool.by_score[::-1]
    return rows[~np.isin(rows, annotations.rows)][:count]


@pytest.fixture
def highest(monkeypatch):
    monkeypatch.setitem(SELECTORS, "highest", Selector(select_highest, WHY, is_random=False))
    return "actc-lr-rndm:selector=highest"


def test_a_selector_is_one_function_and_one_entry_for_the_calibrator(highest, pool, labels):
    calibrator = Calibrator(highest)
    first = calibrator.select(10, pool)
    assert first.tolist() == pool.by_score[::-1][:10].tolist()
    calibrator.fit(pool, Annotations(first, labels[first]))
    assert calibrator.select(5).tolist() == pool.by_score[::-1][10:15].tolist()


def test_a_selector_is_one_function_and_one_entry_for_a_session_and_its_reason_reaches_the_card(highest, tmp_path):
    pool = make_pool(100)[0]
    write_scored(tmp_path / "scores.parquet", pool)
    session = create_session(tmp_path / "session", tmp_path / "scores.parquet", Settings(highest))
    task = session.ask(session.add_annotator("ada"))[0]
    assert (task.triple, task.selection, task.inclusion_probability) == (pool.by_score[-1], "gain", None)
    assert make_card(session.names, task)["why"] == WHY
    session.close()


def share_rejected(counts):
    """Share of the triples that are rejected."""
    return 1 - counts.accepted / counts.triples


def test_a_metric_is_one_function_and_one_entry(monkeypatch, tmp_path):
    monkeypatch.setitem(METRICS, "rejected", share_rejected)
    (tmp_path / "cell").mkdir()
    for seed, name in enumerate(("valid", "test")):
        pool, labels = make_pool(80, seed=seed)
        table = {**pool.columns(), "score": pool.scores, "label": labels.astype(int)}
        write_triples(tmp_path / "cell" / f"{name}.tsv", table)
    cell, out = CellFolder(tmp_path / "cell"), tmp_path / "rows.csv"
    run_experiment([cell], ["localopt-acc"], [20], repeats=2, metrics=["rejected"], out=out)
    with (tmp_path / "rows.csv").open(encoding="utf-8") as file:
        shares = [float(row["rejected"]) for row in csv.DictReader(file)]
    assert len(shares) == 2
    assert all(0 < share < 1 for share in shares)


def read_arrows(path, base):
    lines = (line.split(" -> ") for line in path.read_text(encoding="utf-8").splitlines())
    return Graph.from_columns(*zip(*lines, strict=True))


def write_arrows(path, graph, base, extras):
    path.write_text("\n".join(" -> ".join(graph.triple(row)) for row in range(len(graph))), encoding="utf-8")


@pytest.mark.parametrize("name", ["graph.arrows", "graph.arrows.tsv"])
def test_a_graph_format_is_two_functions_and_one_entry(name, tmp_path, monkeypatch):
    arrows = GraphFormat("Triples with arrows", (".arrows", ".arrows.tsv"), read_arrows, write_arrows)
    monkeypatch.setitem(FORMATS, "arrows", arrows)
    (tmp_path / "graph.tsv").write_text("a\tlikes\tb\nb\tlikes\tc\n")
    convert_graph(tmp_path / "graph.tsv", tmp_path / name)
    assert (tmp_path / name).read_text().splitlines() == ["a -> likes -> b", "b -> likes -> c"]
    convert_graph(tmp_path / name, tmp_path / "back.csv")
    assert triples_of(read_graph(tmp_path / "back.csv")) == {("a", "likes", "b"), ("b", "likes", "c")}


# ---------------------------------------------------------------- without web/


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Copy the package without web/."""
    house = tmp_path_factory.mktemp("house")
    ignore = shutil.ignore_patterns("web", "__pycache__")
    shutil.copytree(Path(actc.__file__).parent, house / "src" / "actc", ignore=ignore)
    assert not (house / "src" / "actc" / "web").exists()
    return house


def run_there(house, *words):
    environment = os.environ | {"PYTHONPATH": str(house / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, *map(str, words)]
    return subprocess.run(words, cwd=house, env=environment, capture_output=True, text=True, check=False)


EVERY_MODULE = """
import importlib, pkgutil, actc
names = [found.name for found in pkgutil.walk_packages(actc.__path__, "actc.")]
for name in names:
    importlib.import_module(name)
print(len(names), actc.__file__)
"""


def test_without_web_every_module_imports(house):
    done = run_there(house, "-c", EVERY_MODULE)
    assert done.returncode == 0, done.stderr
    count, place = done.stdout.split()
    assert int(count) > 100
    assert place.startswith(str(house))


def start_judged_session(folder):
    session = create_session(folder / "judged", folder / "scores.tsv", Settings(budget=20))
    judge_all(session, {("h1", "r0", "t")}, most=10)
    session.close()


def test_without_web_the_page_is_refused_in_a_sentence(house, tmp_path):
    write_scored(tmp_path / "scores.tsv", make_pool(100)[0])
    start_judged_session(tmp_path)
    done = run_there(house, "-m", "actc.cli.main", "annotate", tmp_path / "judged")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "judge in the terminal: --terminal" in done.stderr
    done = run_there(house, "-m", "actc.cli.main", "studio", tmp_path / "studio")
    assert done.returncode == 2
    assert "each step is a command" in done.stderr
    assert not (tmp_path / "studio").exists()
