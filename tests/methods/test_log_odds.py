"""Scores that are log-odds already, and scores that are probabilities."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from actc.data.answers import Annotations
from actc.data.numeric import sigmoid
from actc.data.triples import ScoredTriples
from actc.methods.named import find_method


def make_log_odds(size=400, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(-1, 2, size)
    relations = [f"r{k}" for k in rng.integers(0, 4, size)]
    pool = ScoredTriples.from_columns([f"h{i}" for i in range(size)], relations, ["t"] * size, scores)
    return pool, rng.random(size) < sigmoid(scores)


@pytest.fixture(scope="module")
def method():
    return find_method("pooled-evidence")


def test_before_any_answer_log_odds_are_believed(method):
    pool, _ = make_log_odds()
    fit = method.fit(pool, Annotations())
    assert fit.thresholds.default == pytest.approx(0)
    assert ((fit.probabilities(pool) >= 0.5) == (pool.scores >= 0)).all()


def test_answers_move_the_cut_to_where_the_truth_begins(method):
    pool, _ = make_log_odds()
    answers = Annotations(np.arange(300), pool.scores[:300] > 2)
    assert 1.2 < method.fit(pool, answers).thresholds.default < 2.8


@pytest.fixture
def confidences():
    """Mostly true triples with confidences in steps of 0.05, 0 and 1 among them, and their labels."""
    rng = np.random.default_rng(1)
    labels = rng.random(1000) < 0.73
    scores = np.round(np.clip(0.4 + 0.3 * labels + 0.2 * rng.normal(size=1000), 0, 1) / 0.05) * 0.05
    names = [f"e{i}" for i in range(1000)]
    pool = ScoredTriples.from_columns(names, [f"r{i % 5}" for i in range(1000)], names, scores, probabilities=True)
    return pool, labels


def test_before_any_answer_probabilities_are_believed(confidences):
    pool, _ = confidences
    fit = find_method("pooled").fit(pool, Annotations())
    assert fit.thresholds.default == pytest.approx(0.5)
    assert (fit.accepts(pool) == (pool.scores >= 0.5)).all()


def test_probabilities_are_decided_as_their_log_odds_are(confidences, method):
    pool, labels = confidences
    inside = np.clip(pool.scores, 0.005, 0.995)
    log_odds = pool.with_scores(np.log(inside / (1 - inside)))
    answers = Annotations(np.arange(40), labels[:40])
    ours, theirs = find_method("pooled").fit(pool, answers), method.fit(log_odds, answers)
    np.testing.assert_allclose(ours.probabilities(pool), theirs.probabilities(log_odds))
    assert (ours.accepts(pool) == theirs.accepts(log_odds)).all()


def test_on_mostly_true_confidences_it_is_above_accepting_all_and_above_the_paper(confidences):
    pool, test = (confidences[0].take(rows) for rows in (np.arange(500), np.arange(500, 1000)))
    labels, truth = np.split(confidences[1], 2)
    for count in (0, 20, 50, 100):
        right = {"pooled": [], "actc-lr-rndm": []}
        for seed, name in itertools.product(range(5), right):
            rows = np.random.default_rng(seed).permutation(500)[: max(count, 1 if name != "pooled" else 0)]
            fit = find_method(name).fit(pool, Annotations(rows, labels[rows]))
            right[name].append((fit.accepts(test) == truth).mean())
        assert np.mean(right["pooled"]) > max(truth.mean(), np.mean(right["actc-lr-rndm"]))
