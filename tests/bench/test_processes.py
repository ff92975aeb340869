"""Experiments in several processes: the same rows as in one, in processes that have what they need."""

from __future__ import annotations

import os

import pytest

from actc.bench.cells import Cell
from actc.bench.runs import ENVIRONMENT, run_everywhere, run_experiment
from tests.conftest import make_pool

METHODS = ["actc-lr-rndm", "localopt-acc"]


@pytest.fixture
def cell():
    (valid, valid_labels), (test, test_labels) = make_pool(seed=1), make_pool(seed=2)
    return Cell("tiny", "model", valid, valid_labels, test, test_labels)


def measure(cell, **options):
    rows = run_experiment([cell], METHODS, budgets=[1, 5, 20], repeats=12, **options)
    return [row._replace(seconds=0.0) for row in rows]


def test_processes_of_this_machine_give_the_same_rows(cell):
    assert measure(cell, jobs=2) == measure(cell)


def test_processes_start_with_their_environment_and_this_one_keeps_its_own(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1000000")  # what the user set stays
    before = dict(os.environ)
    found = list(run_everywhere(os.getenv, [(name,) for name in [*ENVIRONMENT, "PATH"]], 2))
    assert found == ["actc", ENVIRONMENT["MALLOC_MMAP_THRESHOLD_"], "1000000", before["PATH"]]
    assert dict(os.environ) == before
