from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from actc.bench.cells import Cell
from actc.bench.measurements import Measurements, Row, Run, compare_methods, fold_rows
from actc.bench.metrics import accuracy, f1, measure_decisions
from actc.data.triples import Thresholds
from actc.errors import ChoiceError, OptionError, TableError
from tests.conftest import make_pool

BUDGETS = (1, 10)


def fold(accuracy, order=None, repeats=3):
    """Fold rows of one method whose accuracy by (budget, repeat) is given; F1 is half of it."""
    budgets = np.repeat(BUDGETS, repeats)
    numbers = np.tile(np.arange(repeats), len(BUDGETS))
    values = np.ravel(accuracy)
    order = np.arange(len(values)) if order is None else order
    columns = zip(budgets[order], numbers[order], values[order], values[order] / 2, strict=True)
    return fold_rows([Row("s", "complex", "m", *column, 0.0) for column in columns])


def test_rows_are_folded_by_budget_and_repeat():
    results = fold([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    run = Run("s", "complex", "m")
    np.testing.assert_allclose(results.select(run, "accuracy"), [[10, 20, 30], [40, 50, 60]])
    np.testing.assert_allclose(results.select(run, "f1", 10), [[20, 25, 30]])


@settings(max_examples=20, deadline=None)
@given(order=st.permutations(range(6)))
def test_the_order_of_rows_does_not_matter(order):
    accuracy = np.arange(6) / 10
    run = Run("s", "complex", "m")
    np.testing.assert_array_equal(fold(accuracy, np.array(order)).runs[run], fold(accuracy).runs[run])


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 3, 5], [0, 1, 2, 3, 4, 4, 5], [0, 1, 2, 3, 4]])
def test_a_row_that_stands_twice_or_is_missing_is_refused(order):
    with pytest.raises(TableError):
        fold(np.zeros(6), order=np.array(order))


def test_a_repeat_out_of_all_bounds_is_refused_without_counting_up_to_it():
    with pytest.raises(TableError, match="1.*1000000001"):
        fold_rows([Row("s", "complex", "m", 1, 10**9, 0.5, 0.5, 0.0)])


def test_the_two_standard_errors_are_not_the_same_thing():
    average = fold([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]).average([Run("s", "complex", "m")], "accuracy")
    assert average.value == pytest.approx(35)
    assert average.over_repeats == pytest.approx(10 / np.sqrt(3))  # repeats average 25, 35, 45
    assert average.over_budgets == pytest.approx(np.std([20, 50], ddof=1) / np.sqrt(2))


@pytest.mark.parametrize("shared_luck", [True, False])
def test_the_error_of_a_mean_over_cells_knows_whether_they_share_their_luck(shared_luck):
    luck = np.random.default_rng(3).normal(0.7, 0.1, (2, 1, 4000))
    if shared_luck:
        luck[1] = luck[0]
    runs = {Run("s", f"model {cell}", "m"): np.repeat(luck[[cell]], 2, axis=1) for cell in range(2)}
    runs = {run: np.repeat(values, 2, axis=0) for run, values in runs.items()}
    together = Measurements(np.array([1, 10]), runs).average(list(runs), "accuracy")
    expected = 10 / np.sqrt(4000) / (1 if shared_luck else np.sqrt(2))
    assert together.over_repeats == pytest.approx(expected, rel=0.05)
    assert together.value == pytest.approx(100 * luck.mean())


CELLS = [("codex-s", "complex"), ("codex-s", "conve")]
BUDGETS = np.array([1, 10, 100])


def make_results(shift, *, noise=0.02, repeats=100, second_repeats=None, seed=0):
    """Two methods on two cells: the first is better by ``shift``, both share the luck of the draw."""
    random = np.random.default_rng(seed)
    runs = {}
    for cell in CELLS:
        luck = random.normal(0.7, 0.1, (2, 3, repeats))
        runs[Run(*cell, "new")] = luck + shift + random.normal(0, noise, luck.shape)
        runs[Run(*cell, "old")] = luck[:, :, : second_repeats or repeats]
    return Measurements(BUDGETS, runs)


def test_a_difference_hidden_by_luck_is_found_in_pairs():
    comparison = compare_methods(make_results(0.01), "new", "old")
    assert comparison.average.mean == pytest.approx(1.0, abs=0.3)
    assert comparison.average.verdict == "win"
    assert [one.verdict for one in comparison.by_cell.values()] == ["win"] * 2
    assert list(comparison.by_budget) == [1, 10, 100]


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    covered = 0
    for seed in range(500):
        results = make_results(0.01, seed=seed)
        average = compare_methods(results, "new", "old", resamples=300, confidence=0.9).average
        covered += average.lower <= 1.0 <= average.upper
    # An honest interval is outside these bounds once in a thousand; one of 80 % or of 96 % is, nearly always.
    assert binom.ppf(0.0005, 500, 0.9) <= covered <= binom.ppf(0.9995, 500, 0.9)


def test_a_method_without_chance_is_compared_with_every_repeat():
    assert compare_methods(make_results(0.3, second_repeats=1), "new", "old").average.verdict == "win"


def test_two_methods_without_chance_are_compared_without_a_claim():
    comparison = compare_methods(make_results(0.3, repeats=1), "new", "old")
    assert not comparison.is_random
    assert comparison.average.lower == comparison.average.upper == pytest.approx(comparison.average.mean)


def test_different_repeats_are_refused():
    with pytest.raises(OptionError, match="50.*100"):
        compare_methods(make_results(0.0, second_repeats=50), "new", "old")


@given(cuts=st.lists(st.floats(-0.2, 1.2), min_size=4, max_size=4))
def test_counting_by_cuts_agrees_with_deciding_triple_by_triple(cuts):
    (pool, _), (test, labels) = make_pool(), make_pool(seed=1)
    known = pool.take(np.flatnonzero(pool.relations != 1)).with_used_names()  # r1 obeys the default
    cell = Cell("toy", "toy", known, known.scores > 0, test, labels)
    accepted = cell.accept(np.array([[cuts[0], cuts[2], cuts[3]]]))
    thresholds = Thresholds(("r0", "r2"), np.array([cuts[0], cuts[2]]), cuts[3], np.ones(2, dtype=bool))
    decisions = thresholds.decide(test)
    assert accepted.tolist() == [decisions.tolist()]
    precision, recall = measure_decisions(labels, accepted, ["precision", "recall"])[:, 0]
    assert accuracy(labels, decisions) == np.mean(labels == decisions)
    assert precision == (pytest.approx(labels[decisions].mean()) if decisions.any() else 1.0)
    assert recall == pytest.approx(decisions[labels].mean())
    both = precision + recall
    assert f1(labels, decisions) == pytest.approx(2 * precision * recall / both if both else 0.0)


def test_a_misspelt_metric_is_answered_with_the_nearest(labels):
    with pytest.raises(ChoiceError, match="'precision'"):
        measure_decisions(labels, labels[None], ["precison"])


def test_f1_of_nothing_accepted_and_nothing_true_is_one():
    nothing = np.zeros(3, dtype=bool)
    assert f1(nothing, nothing) == 1.0
