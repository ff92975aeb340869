"""What the model may be off: leave-one-out against refits, corrections against their formula, the misfit check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from actc import Annotations
from actc.methods import METHODS
from actc.numeric import psi
from actc.trust.discrepancy import Answered, answers_left_out, correct, misfit, with_own_answers
from actc.trust.tuned import TUNED
from tests.synthetic import fit_on_random, make_truth


def test_taking_an_answer_out_is_nearly_fitting_without_it():
    pool, labels, _ = make_truth()
    posterior, annotations = fit_on_random(pool, labels, 80)
    answers = answers_left_out(posterior, annotations)
    logits = np.empty(80)
    for at, row in enumerate(annotations.rows):
        rest = np.delete(np.arange(80), at)
        without = METHODS["pooled"].fit(pool, Annotations(annotations.rows[rest], annotations.labels[rest])).draws
        logits[at] = float(psi(without.pool.x[[row]])[0] @ without.beta[without.pool.relations[row]])
    inside = with_own_answers(posterior, annotations).logits
    assert np.abs(answers.logits - logits).mean() < 0.5 * np.abs(inside - logits).mean()


def answered(labels, weights, drawn=True, logits=0.0):
    """Answers of one relation that the model gives the same logit, without a doubt."""
    labels = np.asarray(labels, dtype=bool)
    weights, drawn, logits = (np.array(np.broadcast_to(one, labels.shape)) for one in (weights, drawn, logits))
    nothing = np.zeros(len(labels))
    return Answered(labels, logits.astype(float), nothing, nothing.astype(np.int64), weights.astype(float), drawn)


def test_answers_weigh_by_the_inverse_of_their_chance_and_without_one_nothing():
    pool, labels, _ = make_truth()
    chance = np.array([0.5, 0.01, np.nan])
    annotations = Annotations(np.arange(3), labels[:3], ["check", "gain", "given"], ["accepted", "", ""], chance)
    answers = answers_left_out(METHODS["pooled"].fit(pool, annotations).draws, annotations)
    assert answers.weights.tolist() == [2, 100, 0]
    assert answers.drawn.tolist() == [True, False, False]


def test_residuals_weighted_by_chance_are_right_on_average_wherever_the_questions_went():
    """One in ten is false where questions seldom go, nine in ten where they mostly do; the model says half."""
    random = np.random.default_rng(0)
    asked_often = np.arange(2000) < 400
    truth = random.random(2000) < np.where(asked_often, 0.1, 0.9)
    chance = np.where(asked_often, 20.0, 1.0)
    chance /= chance.sum()
    weighted, plain = [], []
    for _ in range(200):
        rows = random.choice(2000, 150, p=chance)
        for means, weights in ((weighted, 1 / chance[rows]), (plain, 1.0)):
            count, total, _squares = answered(truth[rows], weights).sums(np.ones(150, dtype=bool))
            means.append(float(total / count))
    error = np.std(weighted) / np.sqrt(200)
    real = truth.mean() - 0.5
    assert abs(np.mean(weighted) - real) < 3 * error
    assert abs(np.mean(plain) - real) > 0.3


def test_unequal_weights_are_worth_fewer_answers():
    every = np.ones(50, dtype=bool)
    equal, unequal = (answered(every, weights).sums(every)[0] for weights in (7.0, np.r_[np.ones(49), 49.0]))
    assert equal == pytest.approx(50)
    assert unequal == pytest.approx(98**2 / (49 + 49**2))


def test_a_part_without_a_drawn_answer_proves_nothing():
    """Where every question was one that the method chose, nobody knows what it would not choose."""
    every = np.ones(30, dtype=bool)
    chosen = answered(every, 5.0, drawn=False)
    assert chosen.sums(every) == (0, 0, 0)
    assert misfit(chosen, every, (0.0, 0.0)) == 1
    one_check = answered(every, 5.0, drawn=np.arange(30) == 3)
    assert one_check.sums(every)[0] == pytest.approx(30)
    assert one_check.sums(np.arange(30) != 3) == (0, 0, 0)


def test_a_correction_is_zero_without_answers_and_their_mean_with_many():
    few = correct(np.array(0.8), np.array(0), np.array(0.0), np.array(0.0))
    assert few.mean == 0
    assert few.scale == pytest.approx(TUNED.believed * 0.4)
    residuals = np.random.default_rng(0).normal(-0.1, 0.4, 4000)
    many = correct(np.array(0.8), np.array(4000), residuals.sum(), (residuals**2).sum())
    assert many.mean == pytest.approx(residuals.mean(), abs=0.01)
    assert many.scale == pytest.approx(residuals.std() / np.sqrt(4000), rel=0.1)


def test_answers_that_stand_alone_are_not_shrunk():
    residuals = np.full(30, -0.2)
    sums = np.array(residuals.sum()), np.array((residuals**2).sum())
    believed, alone = (correct(np.array(0.8), np.array(30), *sums, alone) for alone in (False, True))
    assert alone.mean == pytest.approx(-0.2)
    assert -0.2 < believed.mean < -0.05


def test_a_few_answers_alike_do_not_mean_no_spread():
    three = correct(np.array(0.5), np.array(3), np.array(0.0), np.array(0.0), alone=True)
    assert three.scale == pytest.approx(np.sqrt(4 * 0.25 / 6 / 3))
    assert three.degrees == 4


def test_ten_answers_without_a_true_one_do_not_prove_that_there_is_none():
    """One in six is true: ten answers miss them all in one run of six."""
    found = correct(np.array(1 / 6), np.array(10), np.array(-10 / 6), np.array(10 / 36), believed=0.5)
    upper = 1 / 6 + found.mean + 1.645 * found.scale
    assert upper > 0.15


def test_a_belief_that_counts_little_has_few_degrees_of_freedom_and_one_that_counts_much_has_many():
    few, many = (correct(np.array(0.5), np.array(n), np.array(0.0), np.array(0.25 * n)) for n in (4, 400))
    assert few.degrees > 20  # five, over a small weight of the answers
    assert many.degrees == pytest.approx(401, rel=0.1)


def test_a_model_that_admits_doubt_is_less_surprised():
    answers = answered(np.zeros(40), 1.0, logits=1.5)
    certain, doubtful = (misfit(answers, np.ones(40, dtype=bool), (spread, 0.0)) for spread in (0.0, 0.25))
    assert certain < 1e-6
    assert doubtful > 0.05


def test_residuals_are_answers_minus_probabilities():
    assert answered([True, False], 1.0).residuals.tolist() == [0.5, -0.5]


def test_a_model_that_fits_is_not_surprised_and_one_that_does_not_is():
    values = {}
    for cap in (1.0, 0.6):
        chances = []
        for seed in range(12):
            pool, labels, _ = make_truth(cap=cap, seed=seed)
            posterior, annotations = fit_on_random(pool, labels, 400, seed)
            answers = answers_left_out(posterior, annotations)
            flipped = answers if cap == 1.0 else replace(answers, labels=~answers.labels)
            chances.append(misfit(flipped, answers.logits > 0, (0.0, 0.0)))
        values[cap] = np.array(chances)
    assert np.median(values[1.0]) > 0.05
    assert values[0.6].max() < 0.01
