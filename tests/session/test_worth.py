"""A judge counts for what people's answers say it is worth."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actc.data.numeric import logit, sigmoid
from actc.data.triples import Annotations
from actc.decide.case import Case
from actc.decide.judge_answers import JudgeAnswers
from actc.decide.judge_worth import PRIOR, learn_steepness, learn_weights
from tests.conftest import make_pool

LONG = 4000


def simulate(quality, count=LONG, seed=0, relations=1):
    """Return what a judge of some quality says of triples, their relations, log-odds and truth."""
    random = np.random.default_rng(seed)
    truth = random.random(count) < 0.5
    right = random.random(count) < quality
    logits = np.where(truth, 1.0, -1.0) + random.normal(size=count)
    return np.where(truth == right, 1.0, -1.0)[:, None], random.integers(relations, size=count), logits, truth


@pytest.mark.parametrize("quality", [0.2, 0.5, 0.6, 0.8, 0.9])
def test_the_weight_is_the_log_odds_of_being_right(quality):
    weight = learn_weights(*simulate(quality), 1).judges[0]
    assert weight.by_relation[0] == pytest.approx(logit(np.array(quality)), abs=0.15)
    assert weight.compared == LONG


def test_before_any_overlap_the_weight_is_the_stated_prior():
    weight = learn_weights(*(part[:0] for part in simulate(0.9)), 1).judges[0]
    assert weight.own == pytest.approx((1 - PRIOR.nothing) * PRIOR.weight, abs=0.01)
    added = weight.add(np.array([1.0, -1.0, np.nan]), np.ones((3, 1)), np.zeros(3, dtype=int), np.zeros(3))
    assert 0 < added[0] < PRIOR.weight
    assert added[1] < 0 == added[2]


def test_a_judge_that_knows_nothing_adds_nothing():
    signals, relations, logits, truth = simulate(0.5)
    added = learn_weights(signals, relations, logits, truth, 1).add(signals, relations, logits)
    assert np.abs(added).max() < 0.1


def test_a_judge_that_calls_everything_true_adds_nothing():
    _, relations, logits, truth = simulate(0.9)
    yes = np.ones((LONG, 1))
    assert np.abs(learn_weights(yes, relations, logits, truth, 1).add(yes, relations, logits)).max() < 0.1


def test_a_judge_that_lies_is_believed_the_other_way_round():
    signals, relations, logits, truth = simulate(0.1)
    added = learn_weights(signals, relations, logits, truth, 1).add(signals, relations, logits)
    assert (added[signals[:, 0] > 0] < -1.5).all()
    assert (added[signals[:, 0] < 0] > 1.5).all()


def test_the_same_judge_under_two_names_counts_once():
    signals, relations, logits, truth = simulate(0.8)
    once = learn_weights(signals, relations, logits, truth, 1).add(signals, relations, logits)
    twice = np.hstack([signals, signals])
    assert learn_weights(twice, relations, logits, truth, 1).add(twice, relations, logits) == pytest.approx(
        once, abs=0.2
    )


def test_a_judge_that_repeats_the_score_adds_nothing():
    _, relations, logits, truth = simulate(0.5)
    copied = np.where(logits > 0, 1.0, -1.0)[:, None]
    added = learn_weights(copied, relations, logits, truth, 1).add(copied, relations, logits)
    independent = logit(np.array((copied[:, 0] > 0) == truth, dtype=float).mean())
    assert np.abs(added).mean() < 0.3 * independent


def test_relations_have_weights_of_their_own_as_far_as_answers_show():
    good, bad = simulate(0.95, seed=1), simulate(0.5, seed=2)
    signals, _, logits, truth = (np.concatenate(pair) for pair in zip(good, bad, strict=True))
    relations = np.repeat([0, 1], LONG)
    weight = learn_weights(signals, relations, logits, truth, 3).judges[0]
    assert weight.by_relation[0] == pytest.approx(logit(np.array(0.95)), abs=0.3)
    assert weight.by_relation[1] == pytest.approx(0, abs=0.2)
    assert weight.by_relation[1] < weight.by_relation[2] < weight.by_relation[0]


def test_a_probability_counts_by_how_sure_it_is():
    surely, relations, logits, truth = simulate(0.95)
    hardly = simulate(0.6, seed=0)[0]
    sure = np.random.default_rng(1).random((LONG, 1)) < 0.5
    signals = np.where(sure, surely, 0.2 * hardly)
    weights = learn_weights(signals, relations, logits, truth, 1)
    added = [weights.add(np.array([[s]]), relations[:1], np.zeros(1))[0] for s in (-1.0, -0.2, 0.2, 1.0)]
    assert added == sorted(added)
    assert 0 < added[2] < 0.4 * added[3]


def graded(auc, count=LONG, seed=0):
    """Return what a judge says that is the surer the likelier it is right, on a scale of its own."""
    _, relations, logits, truth = simulate(0.5, count, seed)
    apart = np.sqrt(2) * NormalDist().inv_cdf(auc)
    seen = np.random.default_rng(seed + 1).normal(size=count) + apart * np.where(truth, 0.5, -0.5)
    return np.tanh(0.3 * seen + 1)[:, None], relations, logits, truth


@pytest.mark.parametrize("auc", [0.6, 0.8, 0.95])
def test_a_graded_judge_adds_what_its_answers_are_worth_however_it_calls_them(auc):
    signals, relations, logits, truth = graded(auc)
    weights = learn_weights(signals, relations, logits, truth, 1)
    order = np.argsort(signals[:, 0])
    assert (np.diff(weights.add(signals[order], relations, np.zeros(LONG))) >= 0).all()
    added = weights.add(signals, relations, logits)
    for part in np.array_split(order, 5):  # said: what it adds; borne out: people's answers beside all that was known
        said, told = sigmoid(logits[part] * learn_steepness(logits, truth) + added[part]).mean(), truth[part].mean()
        assert said == pytest.approx(told, abs=0.05)


def test_a_graded_judge_upside_down_counts_upside_down_and_noise_counts_nothing():
    signals, relations, logits, truth = graded(0.9)
    added = learn_weights(-signals, relations, logits, truth, 1).add(-signals, relations, logits)
    assert np.corrcoef(added, signals[:, 0])[0, 1] > 0.8
    signals, relations, logits, truth = graded(0.5)
    assert np.abs(learn_weights(signals, relations, logits, truth, 1).add(signals, relations, logits)).max() < 0.15


def test_a_graded_judge_is_worth_more_than_its_yes_and_no():
    signals, relations, logits, truth = graded(0.85)
    plain = np.where(signals > np.median(signals), 1.0, -1.0)
    right = [
        ((logits + learn_weights(one, relations, logits, truth, 1).add(one, relations, logits) > 0) == truth).mean()
        for one in (plain, signals)
    ]
    assert right[1] > right[0] + 0.005


def test_log_odds_that_people_bear_out_are_made_steeper():
    random = np.random.default_rng(0)
    logits = random.normal(size=2000)
    truth = random.random(2000) < 1 / (1 + np.exp(-3 * logits))
    assert learn_steepness(logits, truth) == pytest.approx(3, abs=0.3)
    assert learn_steepness(logits[:0], truth[:0]) == 1


POOL, TRUTH = make_pool(600, 3, seed=4)


def heed(quality, answered=60, seed=0, method="pooled-rndm"):
    random = np.random.default_rng(seed)
    rows = random.permutation(600)[:answered]
    said = (random.random(600) < quality) == TRUTH
    everybody = np.arange(600), np.zeros(600, dtype=np.int64)
    judged = JudgeAnswers.of(*everybody, said, np.full(600, np.nan), ("judge",))
    return Case(POOL, Annotations(rows, TRUTH[rows]), method=method, judged=judged).heeded


@pytest.mark.parametrize("quality", [0.1, 0.95])
def test_decisions_with_a_good_judge_are_better_than_without(quality):
    heeded = heed(quality)
    plain = heeded.fit.thresholds.decide(POOL)
    assert ((heeded.probabilities >= 0.5) == TRUTH).mean() > (plain == TRUTH).mean() + 0.01


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_what_is_foreseen_of_a_triple_does_not_know_its_answer(seed):
    heeded = heed(0.7, 20, seed, "actc-lr-rndm")
    one, other = turn_one(heeded)
    assert other.unswayed[one] == pytest.approx(heeded.unswayed[one], abs=1e-9)


def turn_one(heeded):
    """Turn one answer round, and return which, and what comes of it."""
    one = int(np.argmax(heeded.answers.rows == heeded.answers.rows.min()))
    turned = heeded.answers.labels.copy()
    turned[one] = ~turned[one]
    answers = Annotations(heeded.answers.rows, turned)
    return one, Case(POOL, answers, method=heeded.method, judged=heeded.judged).heeded


def test_of_a_pooled_method_most_of_what_an_answer_moved_is_taken_out_again():
    kept = []
    for seed in range(12):
        heeded = heed(0.7, 60, seed)
        one, other = turn_one(heeded)
        row = POOL.take(heeded.answers.rows[[one]])
        told = [logit(each.fit.probabilities(row))[0] for each in (heeded, other)]
        kept.append((abs(other.unswayed[one] - heeded.unswayed[one]), abs(told[1] - told[0])))
    left, swayed = np.mean(kept, axis=0)
    assert left < 0.6 * swayed  # 0.45 as measured: one step of Newton's method back is an approximation


def test_without_answers_of_judges_there_is_nothing_to_heed():
    assert Case(POOL, Annotations(np.arange(40), TRUTH[:40]), method="pooled-rndm").heeded is None
