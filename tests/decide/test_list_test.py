"""A guarantee by testing a list: exact by enumeration, whatever P(true) says."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from actc.decide.list_test import (
    Demand,
    answers_needed,
    draws_to_pass,
    is_settled,
    largest_passing,
    nested_lists,
    p_values,
    plan_rounds,
)


@pytest.mark.parametrize("true", range(13))
@pytest.mark.parametrize("target", [0.5, 0.7, 0.9])
def test_of_all_samples_at_most_alpha_guarantee_a_rest_that_is_too_bad(true, target):
    labels, broken, alpha = np.arange(12) < true, [], 0.2
    for rows in combinations(range(12), 6):
        drawn = labels[list(rows)]
        p = p_values(np.array([12]), np.array([6]), np.array([(~drawn).sum()]), target)[0]
        broken.append(p <= alpha and true - drawn.sum() < target * 6 - 1e-9)
    assert np.mean(broken) <= alpha


def test_of_all_samples_at_most_alpha_guarantee_one_of_nested_lists_that_is_too_bad():
    sizes, alpha, target = np.array([5, 8, 11]), 0.25, 0.6
    random = np.random.default_rng(0)
    for _ in range(25):
        labels, broken = random.random(11) < random.random(), []
        for rows in combinations(range(11), 6):
            places = np.array(rows)
            size = largest_passing(sizes, places, labels[places], target, alpha)
            rest = np.setdiff1d(np.arange(size), places)
            broken.append(len(rest) > 0 and labels[rest].mean() < target - 1e-9)
        assert np.mean(broken) <= alpha


def test_a_long_list_passes_as_by_clopper_and_pearson():
    sizes, drawn, false = np.full(4, 10**7), np.array([22, 38, 52, 65]), np.arange(4)
    assert (p_values(sizes, drawn, false, 0.9) <= 0.1).all()
    assert (p_values(sizes, drawn - 1, false, 0.9) > 0.1).all()
    assert [draws_to_pass(k, 0.9, 0.1) for k in range(4)] == [22, 38, 52, 65]


def test_lists_end_at_the_first_that_fails():
    sizes, places = np.array([1000, 2000]), np.arange(0, 2000, 20)
    assert largest_passing(sizes, places, np.ones(100, dtype=bool), 0.9, 0.1) == 2000
    assert largest_passing(sizes, places, places < 1000, 0.9, 0.1) == 1000
    assert largest_passing(sizes, places, places >= 1000, 0.9, 0.1) == 0


def test_open_draws_count_as_false_ones():
    sizes, places = np.array([1000, 2000]), np.arange(0, 2000, 20)
    true = np.ones(100, dtype=bool)
    for count in (30, 60, 90):
        given = (sizes, places[:count], true[:count], 0.9, 0.1)
        padded = np.append(places[:count], np.zeros(100 - count, dtype=int)), np.arange(100) < count
        assert largest_passing(*given, 100 - count) == largest_passing(sizes, *padded, 0.9, 0.1)


def test_a_round_is_settled_when_its_list_has_passed_or_cannot_pass_any_more():
    sizes, places = np.array([2000]), np.arange(0, 2000, 20)
    true = np.ones(100, dtype=bool)
    assert not is_settled(sizes, places[:50], true[:50], 0.9, 0.1, 50)
    assert is_settled(sizes, places[:97], true[:97], 0.9, 0.1, 3)
    assert is_settled(sizes, places[:50], ~true[:50], 0.9, 0.1, 50)
    assert is_settled(sizes, places, true, 0.9, 0.1, 0)


def test_errors_and_answers_of_the_rounds_add_up():
    for budget in (30, 50, 100, 300, 1000):
        for target in (0.8, 0.9, 0.95):
            teach, rounds = plan_rounds(budget, Demand(target))
            assert teach + sum(part.draws for part in rounds) == budget
            assert sum(part.share for part in rounds) == pytest.approx(1)


def test_lists_are_nested_and_none_where_nothing_is_likely():
    p = np.linspace(1, 0, 1000)
    sizes = nested_lists(p, 0.9, 100, 0.1)
    assert (np.diff(sizes) > 0).all()
    assert p[: sizes[-1]].mean() >= 0.87
    assert len(nested_lists(np.full(10, 0.2), 0.9, 100, 0.1)) == 0


@pytest.mark.parametrize(("size", "draws"), [(300, 24), (2000, 22), (20_000, 22)])
def test_a_small_budget_tests_one_list_that_passes_without_a_false_draw_and_is_no_longer_than_pays(size, draws):
    p = np.concatenate([np.full(size // 2, 0.97), np.linspace(0.97, 0.3, size // 2)])
    p = np.sort(p - 1e-9 * np.arange(len(p)))[::-1]
    sizes = nested_lists(p, 0.9, draws, 0.1)
    assert len(sizes) == 1
    assert largest_passing(sizes, np.arange(draws), np.ones(draws, dtype=bool), 0.9, 0.1) == sizes[0]
    assert 0.4 < sizes[0] / size < 0.8


def test_candidates_of_one_probability_are_in_the_same_lists():
    p = np.repeat([0.99, 0.95, 0.9, 0.85, 0.4], 50)
    assert set(nested_lists(p, 0.9, 100, 0.1).tolist()) <= {50, 100, 150, 200, 250}


def test_more_answers_are_needed_for_more_precision():
    p = np.concatenate([np.full(5000, 0.98), np.full(5000, 0.3)])
    needed = [answers_needed(p, Demand(target)) for target in (0.8, 0.9, 0.95)]
    assert needed == sorted(needed)
    assert answers_needed(np.full(1000, 0.5), Demand(0.9)) is None
