from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from actc.bench.cells import CellFolder
from actc.bench.measurements import Measurements, Run, read_measurements
from actc.bench.paper import run as paper
from actc.bench.paper.run import ITEMS, PAPER_METHODS, plan_runs, run_paper
from actc.bench.paper.tables import PAPER_CELLS, build_comparisons, build_paper_table, list_entries
from actc.bench.runs import Conditions
from actc.errors import MissingExtraError, OptionError
from tests.toy_scores import write_toy_scores

CONDITIONS = Conditions(budgets=(1, 10, 50), draws="numpy")
AUTHORS = ("codex-s", "complex-authors")
pytestmark = pytest.mark.xdist_group("paper")


def folders(*models, data=Path("nowhere")) -> list[CellFolder]:
    return [CellFolder(data / "codex-s" / model) for model in models]


def make_results(cells=PAPER_CELLS, methods=("localopt-acc", "actc-lr-rndm"), repeats=8) -> Measurements:
    random = np.random.default_rng(5)
    values = {Run(*cell, method): random.random((2, 3, repeats)) for cell in cells for method in methods}
    return Measurements(np.array([1, 10, 50]), values)


@pytest.fixture(scope="module")
def toy_data(tmp_path_factory) -> Path:
    return write_toy_scores(tmp_path_factory.mktemp("data"), [*PAPER_CELLS, AUTHORS])


@pytest.fixture(scope="module")
def finished(toy_data, tmp_path_factory) -> Path:
    """A folder with all items of a small run."""
    out = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACTC_SCORES", str(toy_data))
        run_paper(out, repeats=3, conditions=CONDITIONS, jobs=2)
    return out


def test_every_table_and_figure_is_written_in_every_format(finished):
    for name in ITEMS:
        endings = {path.suffix for path in finished.glob(f"{name}.*")}
        assert endings == ({".svg", ".png"} if name.startswith("figure") else {".md", ".tex", ".csv"}), name


def test_the_grid_has_every_method_of_the_paper_in_every_cell(finished):
    results = read_measurements(finished / "rows.csv")
    assert {Run(*cell, method) for cell in PAPER_CELLS for method in PAPER_METHODS} <= results.runs.keys()


def test_the_page_asks_nothing_of_the_outside(finished):
    page = (finished / "index.html").read_text()
    assert len(re.findall("<section", page)) == len(ITEMS)
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page) == []
    assert "<script" not in page
    assert "@import" not in page


@pytest.mark.long
def test_drawing_again_from_rows_gives_the_same_files(finished, tmp_path):
    run_paper(tmp_path, rows=finished / "rows.csv")
    for path in finished.iterdir():
        if not path.name.startswith("rows"):
            assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_only_what_an_item_needs_is_run():
    runs = plan_runs(["figure-uniform"], [], folders("conve", "complex"), 100)
    assert {run.model for run in runs} == {"conve"}
    assert len(runs) == 6
    assert set(runs.values()) == {100}


def test_ablations_are_content_with_fewer_repeats():
    runs = plan_runs(["ablation-soft", "table-avg"], [], folders("complex"), 100)
    assert runs[Run("codex-s", "complex", "actc-lr-rndm:soft=true")] == 10
    assert runs[Run("codex-s", "complex", "actc-lr-rndm")] == 100


def test_a_method_that_needs_known_triples_is_left_out_where_there_are_none(tmp_path):
    write_toy_scores(tmp_path, [("codex-s", "complex"), AUTHORS])
    (tmp_path / "codex-s" / "complex" / "train.tsv").touch()
    runs = plan_runs(["table-l1"], ["pooled-known-rndm"], folders("complex", AUTHORS[1], data=tmp_path), 1)
    assert [run.model for run in runs if run.method == "pooled-known-rndm"] == ["complex"]


def test_a_quick_run_is_codex_s_alone(toy_data, tmp_path, monkeypatch):
    monkeypatch.setenv("ACTC_SCORES", str(toy_data))
    run_paper(tmp_path, items=["table-l1"], quick=True, conditions=CONDITIONS, jobs=1)
    results = read_measurements(tmp_path / "rows.csv")
    assert {dataset for dataset, _ in results.cells()} == {"codex-s"}
    assert max(values.shape[2] for values in results.runs.values()) == paper.QUICK_REPEATS
    assert "Avg of 4 cells" in (tmp_path / "table-l1.md").read_text()


def test_no_scores_at_all_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("ACTC_SCORES", str(tmp_path))
    with pytest.raises(OptionError):
        run_paper(tmp_path / "out", items=["table-avg"])


def test_missing_matplotlib_is_said_before_the_run(toy_data, tmp_path, monkeypatch):
    monkeypatch.setenv("ACTC_SCORES", str(toy_data))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'actc[plots]'")):
        run_paper(tmp_path / "out", items=["figure-n"])
    assert not (tmp_path / "out").exists()


def test_fewer_cells_stand_beside_the_mean_of_the_papers_same_cells():
    results = make_results(PAPER_CELLS[:2], ["localopt-acc"])
    average = next(one for one in list_entries(results, "avg", ["localopt-acc"], None) if one.key[2] == "all")
    assert average.key[1] == "2 cells"
    assert average.paper == (70 + 72) / 2


def test_a_method_of_the_users_own_has_no_published_number():
    results = make_results(methods=["localopt-acc", "mine"])
    table = build_paper_table(results, "table-avg", "Averages", ["localopt-acc", "mine"], None)
    assert table.rows[5][0] == "mine"
    assert set(table.rows[8][2:]) == {"–"}


def test_comparisons_leave_out_pairs_that_were_not_run():
    table = build_comparisons(make_results(), [("actc-lr-rndm", "localopt-acc"), ("a", "b")], "f1", "Paired")
    assert [row[0] for row in table.rows] == ["ACTC-LR rndm − LocalOpt (Acc)"]
    assert sum(map(int, table.rows[0][-1].split("/"))) == 8


@pytest.mark.long
def test_the_command_runs_a_method_from_a_file_in_this_folder(tmp_path):
    data = write_toy_scores(tmp_path / "data", [("codex-s", "complex")], size=1000)
    (tmp_path / "mine.py").write_text("from actc.methods.three_steps import LocalOpt\nbest = LocalOpt('mine')\n")
    command = [sys.executable, "-m", "actc.cli.main", "paper", "--quick", "--repeats", "2"]
    command += ["--only", "table-avg", "--method", "mine:best", "--out", "look"]
    source = str(Path(paper.__file__).parents[3])
    environment = {**os.environ, "ACTC_SCORES": str(data), "PYTHONPATH": source}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert "| mine:best | ours |" in (tmp_path / "look" / "table-avg.md").read_text()
