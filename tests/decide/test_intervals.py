"""Intervals for a share, against scipy where it has them and against their own promise where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, binomtest

from actc.decide.intervals import anytime, clopper_pearson, clustered, stratified
from actc.errors import OptionError

counts = st.integers(1, 300).flatmap(lambda judged: st.tuples(st.integers(0, judged), st.just(judged)))
levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@given(counts, levels)
def test_the_exact_interval_is_scipys(count, level):
    assert clopper_pearson(*count, level) == pytest.approx(tuple(binomtest(*count).proportion_ci(level)), abs=1e-9)


@given(counts, levels, st.integers(0, 400))
def test_the_anytime_bounds_are_where_prior_over_posterior_reaches_its_limit(count, level, more):
    trues, judged = count
    total = judged + more
    possible = np.arange(total + 1)
    posterior = betabinom.pmf(possible - trues, total - judged, trues + 1, judged - trues + 1)
    found = anytime(trues, judged, level, total)
    # A count that is at the limit exactly may fall on either side of it.
    kept = [possible[posterior * (total + 1) > (1 - level) * slack] / total for slack in (1 - 1e-9, 1 + 1e-9)]
    assert found.low in (pytest.approx(kept[0][0]), pytest.approx(kept[1][0]))
    assert found.high in (pytest.approx(kept[0][-1]), pytest.approx(kept[1][-1]))


@given(counts)
def test_every_interval_holds_the_share_it_saw(count):
    for low, high in (clopper_pearson(*count, 0.9), anytime(*count, 0.9, 2 * count[1])):
        assert 0 <= low <= count[0] / count[1] <= high <= 1


def test_no_answer_says_nothing():
    assert clopper_pearson(0, 0, 0.9) == anytime(0, 0, 0.9, 50) == (0.0, 1.0)


def test_a_stratum_nobody_looked_at_may_be_anything():
    low, high = stratified(np.array([50, 0]), np.array([50, 0]), np.array([800, 200])).interval
    assert low <= 0.8
    assert high == 1.0


def test_equal_strata_are_worth_a_simple_draw():
    estimate = stratified(np.array([45, 45]), np.array([50, 50]), np.array([10**6, 10**6]))
    assert estimate.share == pytest.approx(0.9)
    assert estimate.interval == pytest.approx(clopper_pearson(90, 100), abs=0.01)


def test_clusters_that_agree_within_are_worth_one_answer_each():
    alike = clustered(np.array([4] * 18 + [0] * 2), np.full(20, 4))
    mixed = clustered(np.array([3, 4, 4, 4, 3, 4, 3, 4, 3, 4] * 2), np.full(20, 4))
    assert alike.effective < 22
    assert mixed.effective > 60
    assert clustered(np.full(20, 4), np.full(20, 4)).effective == 20  # all true: nothing shows how alike they are


def test_a_stratum_of_which_most_was_judged_leaves_less_open():
    trues, judged = np.array([5, 80]), np.array([10, 90])
    large, small = (stratified(trues, judged, np.array([size, size])) for size in (10**6, 100))
    assert small.share == large.share
    assert small.effective > 1.05 * large.effective


def test_few_clusters_are_worth_less_than_their_spread_shows_and_all_of_them_more():
    trues, judged = np.array([4, 2, 3, 4, 1, 4]), np.full(6, 4)
    share = 18 / 24
    plain = share * (1 - share) / (((trues - share * judged) ** 2).sum() / 24**2)
    few, all_but_one = clustered(trues, judged), clustered(trues, judged, 7)
    assert few.effective < plain * 5 / 6 * 0.75  # one cluster for the mean, and Student's t for the spread
    assert all_but_one.effective > few.effective


def test_impossible_counts_are_refused():
    with pytest.raises(OptionError):
        clopper_pearson(5, 4)
    with pytest.raises(OptionError, match="90"):
        clopper_pearson(1, 4, 90)
    with pytest.raises(OptionError):
        anytime(3, 9, 0.9, 5)
