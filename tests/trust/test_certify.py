"""Promises from answers alone: exact for large sets, less sure for small ones, trying many cuts costs no confidence."""

from __future__ import annotations

import numpy as np
import pytest

from actc.trust.certify import Weighed, chance_kept, lowest_cut
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
    assert lowest_cut(np.zeros(0), np.zeros(0), np.zeros(0), 100, 0.8, 0.9) == np.inf


def test_the_cut_is_broken_in_at_most_one_of_ten_runs_wherever_scores_mean_little():
    """Three in four are true, whatever the score: no list keeps 0.8, and looking at every cut must not find one."""
    random = np.random.default_rng(0)
    found = [lowest_cut(random.random(300), random.random(300) < 0.75, np.ones(300), 1e6, 0.8, 0.9) for _ in range(400)]
    assert np.mean(np.isfinite(found)) <= 0.13  # one in ten, and two standard errors


def test_equal_scores_are_cut_together():
    scores = np.repeat([2.0, 1.0], 40)
    labels, weights = np.repeat([1.0, 0.0], 40), np.full(80, 9.0)
    assert lowest_cut(scores, labels, weights, 1e6, 0.9, 0.9) == 2.0
    assert lowest_cut(np.ones(80), labels, weights, 1e6, 0.9, 0.9) == np.inf


@pytest.mark.parametrize("times", [5.0, 20.0])
def test_where_weights_vary_the_cut_is_broken_in_at_most_one_of_ten_runs_too(times):
    """What is asked more often is true more often: of the other half, few answers have not seen a false one yet."""
    random = np.random.default_rng(0)
    found, plain = [], []
    for _ in range(400):
        often, scores = random.random(20_000) < 0.5, random.random(20_000)
        truth = random.random(20_000) < np.where(often, 0.95, 0.55)
        chance = np.where(often, times, 1.0)
        rows = random.choice(20_000, 300, p=chance / chance.sum())
        answers = scores[rows], truth[rows].astype(float)
        found.append(lowest_cut(*answers, 1 / chance[rows], 20_000, 0.8, 0.9))
        plain.append(lowest_cut(*answers, np.ones(300), 20_000, 0.8, 0.9))
    assert np.mean(np.isfinite(found)) <= 0.13  # one in ten, and two standard errors
    assert np.mean(np.isfinite(plain)) > 0.2


def test_weighed_values_are_their_weighted_means_and_worth_kish_s_number():
    values, weights = np.array([1.0, 0.0, 1.0]), np.array([1.0, 3.0, 4.0])
    first = Weighed.of(values, weights)
    assert first.means == pytest.approx([0, 1, 1 / 4, 5 / 8])
    assert first.counts == pytest.approx([0, 1, 16 / 10, 64 / 26])
    assert first.whole.tolist() == [0, 1, 4, 8]
