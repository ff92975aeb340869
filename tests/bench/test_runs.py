from __future__ import annotations

import os
import random
from dataclasses import replace

import numpy as np
import pytest

from actc.bench.cells import Cell
from actc.bench.runs import ENVIRONMENT, draw_orders, run_everywhere, run_experiment
from actc.errors import ActcError
from actc.methods.select_triples import SELECTORS, Selector
from tests.conftest import make_pool


@pytest.fixture
def cell():
    valid, valid_labels = make_pool(seed=0)
    test, test_labels = make_pool(seed=1)
    return Cell("tiny", "toy", valid, valid_labels, test, test_labels)


def without_time(rows):
    return [row._replace(seconds=0.0) for row in rows]


def test_rows_are_the_same_for_any_number_of_jobs(cell):
    methods = ["actc-lr-rndm", "localopt-acc", "actc-gp-dens"]
    one = run_experiment([cell], methods, [1, 5, 20], repeats=12, jobs=1)
    assert len({(row.method, row.budget, row.repeat) for row in one}) == 3 * 3 * 12 == len(one)
    two = run_experiment([cell], methods, [1, 5, 20], repeats=12, jobs=2)
    assert without_time(one) == without_time(two)


def test_methods_are_paired_by_the_same_draws(cell):
    # With one annotation, LocalOpt for accuracy and for F1 are the same method.
    rows = run_experiment([cell], ["localopt-acc", "localopt-f1"], [1], repeats=10)
    by_method = {name: [row[4:7] for row in rows if row.method == name] for name in ("localopt-acc", "localopt-f1")}
    assert by_method["localopt-acc"] == by_method["localopt-f1"]


@pytest.mark.parametrize("draws", ["numpy", "authors"])
def test_budgets_are_nested_and_repeats_differ(draws):
    small = draw_orders(50, [1, 5, 20], 3, 7, draws)
    assert [len(order) for order in small] == [20, 20, 20]
    assert len({tuple(order) for order in small}) == 3
    assert all(len(set(order.tolist())) == 20 for order in small)


def test_the_authors_stream_is_python_s_generator_shuffled_at_every_step():
    random.seed(12345)
    for _ in range(10):
        random.random()
    first = list(range(10))
    random.shuffle(first)
    second = list(range(10))
    random.shuffle(second)
    expected = [first[0], *[row for row in second if row != first[0]][:2]]
    assert draw_orders(10, [1, 3], 1, 12345, "authors")[0].tolist() == expected


def test_scores_outside_zero_to_one_are_squashed_for_the_paper_s_methods(cell):
    valid, test = (pool.with_scores(9 * pool.scores) for pool in (cell.valid, cell.test))
    raw = replace(cell, valid=valid, test=test)
    assert raw.squashed.valid.scores.max() < 1
    assert cell.squashed is cell
    squashed, again = (run_experiment([one], ["globalopt-f1"], [10], repeats=3) for one in (raw, raw.squashed))
    assert without_time(squashed) == without_time(again)


def test_a_selector_gets_the_same_questions_whatever_the_budgets(cell, monkeypatch):
    calls = []

    def ask(pool, annotations, count, random, estimate):
        calls.append((len(annotations), count))
        return np.setdiff1d(np.arange(len(pool)), annotations.rows)[:count]

    monkeypatch.setitem(SELECTORS, "mine", Selector(ask, is_random=False))
    few, many = (run_experiment([cell], ["localopt-acc:selector=mine"], budgets) for budgets in ([30], [1, 3, 30]))
    assert calls == 2 * [(0, 1), (1, 1), (2, 3), (5, 5), (10, 10), (20, 30)]
    assert without_time(few) == [row for row in without_time(many) if row.budget == 30]


def test_the_default_budgets_are_the_paper_s_as_far_as_the_pool_reaches(cell):
    rows = run_experiment([cell], ["localopt-acc"], repeats=1)
    assert [row.budget for row in rows] == [1, 2, 5, 10, 20, 50]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"budgets": [61]}, "60 triples; leave out the budget 61"),
        ({"budgets": [0]}, "localopt-acc needs a budget of at least 1, not 0"),
        ({"repeats": 0}, "0 repeats make no experiment"),
        ({"draws": "dice"}, "'dice'"),
        ({"metrics": ["beauty"]}, "'beauty'"),
    ],
)
def test_what_cannot_be_measured_is_refused(cell, options, sentence):
    with pytest.raises(ActcError, match=sentence):
        run_experiment([cell], ["localopt-acc"], **{"budgets": [1], **options})


def test_progress_is_told_to_the_end(cell):
    done = []
    run_experiment(
        [cell], ["localopt-acc", "actc-lr-dens"], [1], repeats=11, progress=lambda n, total: done.append((n, total))
    )
    assert sum(n for n, _ in done) == done[0][1] == 12


def test_processes_start_with_their_environment_and_this_one_keeps_its_own(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1000000")  # what the user set stays
    before = dict(os.environ)
    found = list(run_everywhere(os.getenv, [(name,) for name in [*ENVIRONMENT, "PATH"]], 2))
    assert found == ["actc", ENVIRONMENT["MALLOC_MMAP_THRESHOLD_"], "1000000", before["PATH"]]
    assert dict(os.environ) == before
