"""Scores that are log-odds already."""

from __future__ import annotations

import numpy as np
import pytest

from actc.methods import find_method
from actc.numeric import sigmoid
from actc.triples import Annotations, ScoredTriples


def make_log_odds(size=400, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(-1, 2, size)
    relations = [f"r{k}" for k in rng.integers(0, 4, size)]
    pool = ScoredTriples.from_columns([f"h{i}" for i in range(size)], relations, ["t"] * size, scores)
    return pool, rng.random(size) < sigmoid(scores)


@pytest.fixture(scope="module")
def method():
    return find_method("pooled:prior=log-odds")


def test_before_any_answer_log_odds_are_believed(method):
    pool, _ = make_log_odds()
    fit = method.fit(pool, Annotations())
    assert fit.thresholds.default == pytest.approx(0)
    assert ((fit.probabilities(pool) >= 0.5) == (pool.scores >= 0)).all()


def test_answers_move_the_cut_to_where_the_truth_begins(method):
    pool, _ = make_log_odds()
    answers = Annotations(np.arange(300), pool.scores[:300] > 2)
    assert 1.2 < method.fit(pool, answers).thresholds.default < 2.8


def test_answers_that_agree_with_the_log_odds_leave_the_cut_near_0(method):
    pool, labels = make_log_odds()
    rows = np.arange(100)
    assert abs(method.fit(pool, Annotations(rows, labels[:100])).thresholds.default) < 0.7


def test_it_picks_and_says_how_sure_it_is(method):
    pool, labels = make_log_odds()
    fit = method.fit(pool, Annotations(np.arange(20), labels[:20]))
    picks = fit.pick(5, np.random.default_rng(0))
    assert len(set(picks.rows.tolist())) == 5
    assert (fit.thresholds.lower <= fit.thresholds.upper).all()
