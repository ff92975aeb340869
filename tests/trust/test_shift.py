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


def test_a_relation_that_the_pool_lacks_is_named():
    pool = table(np.linspace(0, 1, 50))
    thresholds = Thresholds(("r",), np.array([0.5]), 0.5, np.array([True]))
    shifts = find_shifts(pool, table(np.linspace(0, 1, 50), "new"), thresholds)
    assert shifts[0].shifted
    assert "no triple of it" in str(shifts[0])
    assert "like the pool's" in str(find_shifts(pool, pool, thresholds)[0])
