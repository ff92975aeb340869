"""Shift: silence where nothing changed, a sentence where something did."""

from __future__ import annotations

import numpy as np

from actc import ScoredTriples, Thresholds
from actc.trust.shift import compare, find_shifts


def table(scores, relation="r"):
    size = len(scores)
    return ScoredTriples.from_columns([f"h{i}" for i in range(size)], [relation] * size, ["t"] * size, scores)


def test_draws_from_one_distribution_are_rarely_called_shifted():
    random = np.random.default_rng(0)
    called = [compare("r", random.normal(size=300), random.normal(size=200), 0.0).shifted for _ in range(200)]
    assert np.mean(called) < 0.03


def test_a_moved_distribution_is_found_and_the_bound_holds():
    random = np.random.default_rng(0)
    before, after = random.normal(size=4000), random.normal(0.8, size=4000)
    shift = compare("r", before, after, 0.0)
    assert shift.shifted

    def precision(scores):
        return (1 / (1 + np.exp(-3 * scores[scores >= 0]))).mean()

    assert abs(precision(after) - precision(before)) <= shift.off
    assert "may be off by up to" in str(shift)


def test_a_promise_may_be_off_by_the_share_that_moved_and_by_nothing_where_none_did():
    random = np.random.default_rng(0)
    before = random.random(4000)
    moved = np.r_[0.5 * random.random(2800), 0.5 + 0.5 * random.random(1200)]  # a fifth went from above to below
    assert 0.13 < compare("r", before, moved, 0.0).off < 0.21  # a little less than a fifth: chance moves some too
    off = [compare("r", random.random(300), random.random(300), 0.0).off for _ in range(50)]
    assert np.mean(off) < 0.02


def test_a_large_gap_between_few_triples_is_not_called_a_shift():
    random = np.random.default_rng(0)
    called = [compare("r", random.normal(size=12), random.normal(size=12), 0.0) for _ in range(60)]
    assert np.mean([shift.stability > 0.1 for shift in called]) > 0.9
    assert np.mean([shift.shifted for shift in called]) < 0.05


def test_a_relation_that_the_pool_lacks_is_named():
    pool = table(np.linspace(0, 1, 50))
    thresholds = Thresholds(("r",), np.array([0.5]), 0.5, np.array([True]))
    shifts = find_shifts(pool, table(np.linspace(0, 1, 50), "new"), thresholds)
    assert shifts[0].shifted
    assert "no triple of it" in str(shifts[0])
    assert "like the pool's" in str(find_shifts(pool, pool, thresholds)[0])
