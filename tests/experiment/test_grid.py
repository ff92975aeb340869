from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed

from actc.errors import FileError, OptionError
from actc.experiment.grid import REPEATS_IN_TASK, Settings, plan_tasks, read_results, run_grid
from actc.experiment.results import Run
from actc.experiment.runs import read_cell, run_experiment
from tests.toy_scores import write_toy_scores

SETTINGS = Settings(budgets=(1, 5, 20), draws="numpy")
CELLS = [("codex-s", "toy"), ("codex-m", "toy")]
METHODS = ("actc-lr-rndm", "actc-lr-dens", "localopt-acc")
RUNS = {Run(*cell, method): REPEATS_IN_TASK + 3 for cell in CELLS for method in METHODS}


@pytest.fixture(autouse=True)
def toy_data(monkeypatch, tmp_path_factory) -> Path:
    folder = write_toy_scores(tmp_path_factory.mktemp("data"), CELLS)
    monkeypatch.setenv("ACTC_DATA", str(folder))
    return folder


def without_seconds(path: Path) -> list[str]:
    return [line.rpartition(",")[0] for line in path.read_text().splitlines()]


def run(path, runs=RUNS, jobs=1, settings=SETTINGS, **options):
    run_grid(runs, settings, path, jobs=jobs, **options)
    return without_seconds(path)


def test_a_task_is_a_few_repeats_and_certain_methods_have_one():
    tasks = plan_tasks({Run("s", "m", "localopt-acc"): REPEATS_IN_TASK + 3, Run("s", "m", "actc-lr-dens"): 100})
    assert [(task.start, task.stop) for task in tasks] == [
        (0, REPEATS_IN_TASK),
        (REPEATS_IN_TASK, REPEATS_IN_TASK + 3),
        (0, 1),
    ]


def test_rows_are_the_same_for_any_number_of_jobs(tmp_path):
    assert run(tmp_path / "one.csv") == run(tmp_path / "two.csv", jobs=2)


def test_rows_are_those_of_the_experiment(tmp_path, toy_data):
    run(tmp_path / "rows.csv")
    results = read_results(tmp_path / "rows.csv")
    cell = read_cell(toy_data / "scores" / "codex-s" / "toy")
    rows = run_experiment([cell], ["localopt-acc"], SETTINGS.budgets, 28, SETTINGS.seed)
    expected = np.array([row.accuracy for row in sorted(rows, key=lambda row: (row.budget, row.repeat))])
    found = results.runs[Run("codex-s", "toy", "localopt-acc")][0]
    np.testing.assert_allclose(found, expected.reshape(3, 28), atol=1e-6)


@pytest.mark.parametrize("cut", [0.3, 0.5, 0.9])
def test_a_run_cut_off_in_mid_line_goes_on_and_ends_the_same(tmp_path, cut):
    whole = run(tmp_path / "whole.csv")
    run(tmp_path / "cut.csv")
    text = (tmp_path / "cut.csv").read_text()
    (tmp_path / "cut.csv").write_text(text[: int(cut * len(text))])
    assert run(tmp_path / "cut.csv") == whole


def test_what_is_done_is_not_done_again(tmp_path):
    path = tmp_path / "rows.csv"
    run(path)
    steps = []
    before = path.read_text()
    run(path, progress=lambda done, total: steps.append((done, total)))
    assert path.read_text() == before  # the seconds too
    assert len(steps) == 1
    assert steps[0][0] == steps[0][1]


def test_rows_of_other_runs_stay(tmp_path):
    path = tmp_path / "rows.csv"
    run(path)
    run(path, {Run("codex-s", "toy", "localopt-f1"): 2})
    assert set(read_results(path).methods()) == {*METHODS, "localopt-f1"}


def test_more_repeats_are_added_to_the_ones_that_are_there(tmp_path):
    more = dict.fromkeys(RUNS, 2 * REPEATS_IN_TASK)
    grown, fresh = tmp_path / "grown.csv", tmp_path / "fresh.csv"
    run(grown, dict.fromkeys(RUNS, REPEATS_IN_TASK))
    assert sorted(run(grown, more)) == sorted(run(fresh, more))


def test_rows_with_another_seed_are_not_mixed(tmp_path):
    run(tmp_path / "rows.csv")
    with pytest.raises(OptionError, match="seed 12345, not 7"):
        run(tmp_path / "rows.csv", settings=Settings(budgets=(1, 5, 20), seed=7))


def test_no_repeats_are_refused(tmp_path):
    with pytest.raises(OptionError, match="at least 1"):
        run(tmp_path / "rows.csv", dict.fromkeys(RUNS, 0))


def test_a_file_that_is_no_rows_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="line 1"):
        read_results(tmp_path / "rows.csv")


def test_a_broken_row_is_named(tmp_path):
    run(tmp_path / "rows.csv")
    lines = (tmp_path / "rows.csv").read_text().splitlines(keepends=True)
    lines[4] = lines[4].replace(",", ",x", 4)
    (tmp_path / "rows.csv").write_text("".join(lines))
    with pytest.raises(FileError, match="line 5"):
        read_results(tmp_path / "rows.csv")


def test_missing_rows_are_one_sentence(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_results(tmp_path / "rows.csv")


def test_processes_left_over_from_other_work_do_not_matter(tmp_path, toy_data, monkeypatch):
    monkeypatch.setenv("ACTC_DATA", str(tmp_path))
    Parallel(n_jobs=2)(delayed(abs)(number) for number in range(4))
    monkeypatch.setenv("ACTC_DATA", str(toy_data))
    run(tmp_path / "rows.csv", jobs=2)


def test_a_method_of_the_users_own_runs_in_every_process(tmp_path, monkeypatch):
    (tmp_path / "half_way.py").write_text(
        "from actc.methods import LocalOpt\nmethod = LocalOpt('Baseline under another name')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    run(tmp_path / "rows.csv", {Run(*CELLS[0], "half_way:method"): 60, Run(*CELLS[0], "localopt-acc"): 60}, jobs=2)
    results = read_results(tmp_path / "rows.csv")
    np.testing.assert_array_equal(*results.runs.values())
