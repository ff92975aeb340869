"""Promises from answers alone: exact for large sets, less sure for small ones, each answer by its inverse chance."""

from __future__ import annotations

import numpy as np
import pytest

from actc.trust.certify import Weighed, chance_kept
from actc.trust.intervals import clopper_pearson


@pytest.mark.parametrize(("trues", "judged"), [(22, 22), (37, 38), (80, 100), (1, 2)])
def test_a_large_set_is_as_sure_as_the_exact_bound_says(trues, judged):
    low = clopper_pearson(trues, judged, 0.8).low  # one-sided 0.9
    chance = chance_kept(low, np.array([trues]), np.array([judged]), np.array([1e9]))
    assert chance[0] == pytest.approx(0.9, abs=1e-6)


def test_twenty_two_true_answers_and_no_false_one_show_nine_in_ten():
    sure = [chance_kept(0.9, np.array([n]), np.array([n]), np.array([1e9]))[0] >= 0.9 for n in (21, 22)]
    assert sure == [False, True]


def test_a_small_set_may_turn_out_worse_than_its_share():
    trues, judged = np.array([45, 45]), np.array([46, 46])
    large, small = chance_kept(0.9, trues, judged, np.array([1e6, 30.0]))
    assert small < large


def test_a_model_counts_for_some_answers_only():
    none, good, bad = (
        chance_kept(0.8, np.array([9]), np.array([10]), np.array([1e6]), expected)[0]
        for expected in (None, np.array([0.95]), np.array([0.5]))
    )
    assert bad < none < good < 0.95


def test_no_answers_show_nothing():
    assert chance_kept(0.5, np.array([0]), np.array([0]), np.array([100.0]))[0] == 0


def test_weighed_answers_are_surer_than_they_may_be_in_at_most_one_of_ten_runs():
    """Three in four are true, where questions often go and where they seldom do: no such set is promised 0.8."""
    random, kept = np.random.default_rng(0), []
    for _ in range(1000):
        chance = np.where(random.random(100) < 0.8, 1.0, 0.2)
        answers = Weighed.of((random.random(100) < 0.75).astype(float), 1 / chance, np.ones(100, dtype=bool))
        judged = answers.counts[-1:]
        kept.append(chance_kept(0.8, judged * answers.means[-1:], judged, np.array([1e6]))[0] >= 0.9)
    assert np.mean(kept) <= 0.1


def test_weighed_values_are_their_weighted_means_and_worth_kish_s_number():
    values, weights = np.array([1.0, 0.0, 1.0]), np.array([1.0, 3.0, 4.0])
    first = Weighed.of(values, weights, np.ones(3, dtype=bool))
    assert first.means == pytest.approx([0, 1, 1 / 4, 5 / 8])
    assert first.counts == pytest.approx([0, 1, 16 / 10, 64 / 26])
    assert first.whole.tolist() == [0, 1, 4, 8]


def test_answers_are_worth_nothing_before_the_first_that_was_drawn_at_random():
    drawn = np.array([False, False, True, False])
    assert Weighed.of(np.ones(4), np.ones(4), drawn).counts.tolist() == [0, 0, 0, 3, 4]
