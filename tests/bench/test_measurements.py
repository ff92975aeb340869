from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actc.bench.measurements import fold_rows
from actc.bench.rows import Row, Run
from actc.errors import TableError

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


def test_a_missing_row_is_refused():
    with pytest.raises(TableError):
        fold(np.zeros(6), order=np.array([0, 1, 2, 3, 5]))


def test_a_row_that_stands_twice_is_refused():
    with pytest.raises(TableError):
        fold(np.zeros(6), order=np.array([0, 1, 2, 3, 3, 5]))


def test_a_repeat_out_of_all_bounds_is_refused_without_counting_up_to_it():
    with pytest.raises(TableError, match="1.*1000000001"):
        fold_rows([Row("s", "complex", "m", 1, 10**9, 0.5, 0.5, 0.0)])


def test_the_two_standard_errors_are_not_the_same_thing():
    average = fold([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]).average(Run("s", "complex", "m"), "accuracy")
    assert average.value == pytest.approx(35)
    assert average.over_repeats == pytest.approx(10 / np.sqrt(3))  # repeats average 25, 35, 45
    assert average.over_budgets == pytest.approx(np.std([20, 50], ddof=1) / np.sqrt(2))


def test_a_single_repeat_has_no_standard_error_over_repeats():
    results = fold([[0.1], [0.4]], repeats=1)
    assert results.average(Run("s", "complex", "m"), "accuracy").over_repeats is None


def two_cells(accuracy):
    """Fold accuracy of shape (2 cells, budgets, repeats)."""
    return fold_rows(
        [
            Row("s", f"model {cell}", "m", budget, repeat, value, value, 0.0)
            for (cell, budget, repeat), value in np.ndenumerate(accuracy)
        ]
    )


@pytest.mark.parametrize("shared_luck", [True, False])
def test_the_error_of_a_mean_over_cells_knows_whether_they_share_their_luck(shared_luck):
    random = np.random.default_rng(3)
    luck = random.normal(0.7, 0.1, (2, 1, 4000))
    if shared_luck:
        luck[1] = luck[0]
    results = two_cells(np.repeat(luck, 2, axis=1))
    together = results.average_over([Run("s", f"model {cell}", "m") for cell in range(2)], "accuracy")
    expected = 10 / np.sqrt(4000) / (1 if shared_luck else np.sqrt(2))
    assert together.over_repeats == pytest.approx(expected, rel=0.05)
    assert together.value == pytest.approx(100 * luck.mean())
