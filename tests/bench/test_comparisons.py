from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from actc.bench.measurements import Measurements, compare_methods
from actc.bench.rows import Run
from actc.errors import OptionError

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


def test_the_other_way_round_it_is_a_loss_of_the_same_size():
    results = make_results(0.01)
    there, back = (compare_methods(results, *pair) for pair in (("new", "old"), ("old", "new")))
    assert back.average.mean == pytest.approx(-there.average.mean)
    assert [one.verdict for one in back.by_cell.values()] == ["loss"] * 2


def test_no_difference_is_a_tie():
    comparison = compare_methods(make_results(0.0), "new", "old")
    assert comparison.average.verdict == "tie"
    assert comparison.average.lower < 0 < comparison.average.upper


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    covered = 0
    for seed in range(500):
        results = make_results(0.01, seed=seed)
        average = compare_methods(results, "new", "old", resamples=300, confidence=0.9).average
        covered += average.lower <= 1.0 <= average.upper
    # An honest interval is outside these bounds once in a thousand; one of 80 % or of 96 % is, nearly always.
    assert binom.ppf(0.0005, 500, 0.9) <= covered <= binom.ppf(0.9995, 500, 0.9)


def test_the_same_seed_gives_the_same_interval():
    results = make_results(0.01)
    assert compare_methods(results, "new", "old").average == compare_methods(results, "new", "old").average


def test_a_method_without_chance_is_compared_with_every_repeat():
    assert compare_methods(make_results(0.3, second_repeats=1), "new", "old").average.verdict == "win"


def test_two_methods_without_chance_are_compared_without_a_claim():
    comparison = compare_methods(make_results(0.3, repeats=1), "new", "old")
    assert not comparison.has_chance
    assert comparison.average.lower == comparison.average.upper == pytest.approx(comparison.average.mean)


def test_different_repeats_are_refused():
    with pytest.raises(OptionError, match="50.*100"):
        compare_methods(make_results(0.0, second_repeats=50), "new", "old")


def test_methods_without_a_common_cell_are_refused():
    with pytest.raises(OptionError):
        compare_methods(make_results(0.0), "new", "other")
