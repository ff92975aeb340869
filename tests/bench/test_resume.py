from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import actc
from actc.bench.cells import CellFolder
from actc.bench.measurements import Run, read_measurements
from actc.bench.runs import REPEATS_IN_CHUNK, Conditions, Experiment, run_experiment, run_plan_to_file
from actc.cli.main import commands
from actc.errors import FileError, OptionError
from tests.toy_scores import write_toy_scores

CONDITIONS = Conditions(budgets=(1, 5, 20))
CELLS = [("codex-s", "toy"), ("codex-m", "toy")]
METHODS = ("actc-lr-rndm", "actc-lr-dens", "localopt-acc")
REPEATS = 2 * REPEATS_IN_CHUNK + 3
RUNS = {Run(*cell, method): REPEATS for cell in CELLS for method in METHODS}


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> list[CellFolder]:
    data = write_toy_scores(tmp_path_factory.mktemp("data"), CELLS)
    return [CellFolder(data / dataset / model) for dataset, model in CELLS]


@pytest.fixture
def run(folders, tmp_path):
    """Run a plan into a file of that name and return its lines without the seconds."""

    def run(name="rows.csv", runs=RUNS, jobs=1, conditions=CONDITIONS, **options):
        run_plan_to_file(Experiment(folders, runs, conditions), tmp_path / name, jobs=jobs, **options)
        return without_seconds(tmp_path / name)

    return run


def without_seconds(path: Path) -> list[str]:
    return [line.rpartition(",")[0] for line in path.read_text().splitlines()]


def test_rows_in_a_file_are_those_in_memory(run, folders, tmp_path):
    run()
    rows = run_experiment(folders[:1], ["localopt-acc"], CONDITIONS.budgets, repeats=REPEATS)
    expected = np.array([row.accuracy for row in sorted(rows, key=lambda row: (row.budget, row.repeat))])
    found = read_measurements(tmp_path / "rows.csv").runs[Run("codex-s", "toy", "localopt-acc")][0]
    np.testing.assert_allclose(found, expected.reshape(3, REPEATS), atol=1e-6)


@pytest.mark.parametrize("cut", [0.3, 0.5, 0.9])
def test_a_run_cut_off_in_mid_line_goes_on_and_ends_the_same(run, tmp_path, cut):
    whole = run("whole.csv")
    run("cut.csv")
    text = (tmp_path / "cut.csv").read_text()
    (tmp_path / "cut.csv").write_text(text[: int(cut * len(text))])
    assert run("cut.csv") == whole


def test_more_repeats_are_added_to_the_ones_that_are_there(run):
    more = dict.fromkeys(RUNS, 2 * REPEATS_IN_CHUNK)
    run("grown.csv", dict.fromkeys(RUNS, REPEATS_IN_CHUNK))
    assert sorted(run("grown.csv", more)) == sorted(run("fresh.csv", more))


@pytest.mark.parametrize("broken", ["d,m,x,1,zero,0.5,0.5,0.1", "d,m,x,1,0,0.5,0.5", "d,m,x,1,0,0.5,0.5,0.1,0.2"])
def test_a_broken_row_is_named(tmp_path, broken):
    header, good = "dataset,model,method,budget,repeat,accuracy,f1,seconds", "d,m,x,1,0,0.5,0.5,0.1"
    (tmp_path / "rows.csv").write_text("\n".join([header, good, broken, ""]))
    with pytest.raises(FileError, match="line 3"):
        read_measurements(tmp_path / "rows.csv")


def test_a_method_of_the_users_own_runs_in_every_process(run, tmp_path, monkeypatch):
    (tmp_path / "half_way.py").write_text(
        "from actc.methods.three_steps import LocalOpt\nmethod = LocalOpt('Baseline under another name')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    run(runs={Run(*CELLS[0], "half_way:method"): 20, Run(*CELLS[0], "localopt-acc"): 20}, jobs=2)
    np.testing.assert_array_equal(*read_measurements(tmp_path / "rows.csv").runs.values())


def bench_words(folders, out):
    """A bench of about a second."""
    words = "--method actc-gp-dens --method actc-gp-rndm --method localopt-acc --budget 1,20,100 --repeats 60 --jobs 1"
    return ["bench", *(str(folder.path) for folder in folders), *words.split(), "--quiet", "--out", str(out)]


def kill_in_mid_run(words, part):
    """Start the command and kill it once it has written some rows."""
    environment = {**os.environ, "PYTHONPATH": str(Path(actc.__file__).parents[1])}
    bench = subprocess.Popen([sys.executable, "-m", "actc.cli.main", *words], env=environment)
    while bench.poll() is None and not (part.exists() and part.stat().st_size > 15_000):
        time.sleep(0.005)
    bench.kill()
    assert bench.wait() == -signal.SIGKILL, "it was done before it could be killed"


@pytest.mark.long
def test_a_killed_bench_goes_on_and_its_file_is_that_of_an_uninterrupted_one(folders, tmp_path):
    whole, killed, part = tmp_path / "whole.csv", tmp_path / "killed.csv", tmp_path / "killed.csv.part"
    commands.main(bench_words(folders, whole), standalone_mode=False)
    kill_in_mid_run(bench_words(folders, killed), part)
    assert not killed.exists()
    first_row = part.read_text().splitlines()[1]
    commands.main(bench_words(folders, killed), standalone_mode=False)
    assert without_seconds(killed) == without_seconds(whole)
    assert killed.read_text().splitlines()[1] == first_row  # with its seconds: it was kept, not run again
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed.csv", "whole.csv"]


@pytest.fixture
def begun(folders, tmp_path):
    """What was asked of a bench that stopped after its first rows."""
    same = {"cells": folders, "methods": METHODS, "budgets": [1, 5], "repeats": 7, "out": tmp_path / "rows.csv"}

    def stop(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(**same, progress=stop)
    return same


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seed": 1}, "rows.csv.part.* 12345.* 1"),
        ({"budgets": [1, 6]}, "1, 5.*1, 6"),
        ({"metrics": ["recall"]}, "recall"),
        ({"draws": "authors"}, "numpy.*authors"),
    ],
)
def test_a_begun_bench_does_not_go_on_with_other_conditions(begun, options, sentence):
    with pytest.raises(OptionError, match=sentence):
        run_experiment(**{**begun, **options})
    assert len(run_experiment(**begun)) == 2 * 3 * 2 * 7


@pytest.mark.parametrize("options", [{"repeats": 8}, {"repeats": 3}, {"methods": METHODS[1:]}])
def test_a_begun_bench_goes_on_with_other_methods_and_repeats(begun, options, tmp_path):
    wanted = {**begun, **options}
    run_experiment(**wanted)
    run_experiment(**{**wanted, "out": tmp_path / "fresh.csv"})
    assert without_seconds(tmp_path / "rows.csv") == without_seconds(tmp_path / "fresh.csv")
