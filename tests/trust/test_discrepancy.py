"""What the model may be off: leave-one-out against refits, corrections against their formula, the misfit check."""

from __future__ import annotations

import numpy as np
import pytest

from actc import Annotations
from actc.errors import ChoiceError
from actc.methods import METHODS
from actc.numeric import psi
from actc.trust.discrepancy import Looks, correct, drawn_picks, look, misfit, uniform_picks
from tests.synthetic import fit_on_random, make_truth


def test_taking_an_answer_out_is_nearly_fitting_without_it():
    pool, labels, _ = make_truth()
    posterior, annotations = fit_on_random(pool, labels, 80)
    looks = look(posterior, annotations, np.ones(80, dtype=bool))
    logits = np.empty(80)
    for at, row in enumerate(annotations.rows):
        rest = np.delete(np.arange(80), at)
        without = METHODS["pooled"].fit(pool, Annotations(annotations.rows[rest], annotations.labels[rest])).draws
        logits[at] = float(psi(without.pool.x[[row]])[0] @ without.beta[without.pool.relations[row]])
    inside = posterior.logits(posterior.pool.x[annotations.rows], posterior.pool.relations[annotations.rows])
    assert np.abs(looks.logits - logits).mean() < 0.5 * np.abs(inside - logits).mean()


def test_uniform_picks_are_all_of_a_random_draw_and_every_fifth_of_the_models_own():
    assert uniform_picks(3, "random").all()
    assert not uniform_picks(3, "unknown").any()
    own = uniform_picks(100, "expected-gain")
    assert not own[:50].any()
    assert own.sum() == 10
    with pytest.raises(ChoiceError, match="way of picking"):
        uniform_picks(3, "randm")


def test_drawn_at_random_are_checks_of_a_promise_too_and_all_where_nobody_knows():
    assert drawn_picks(40, "unknown").all()
    assert drawn_picks(40, "random").all()
    assert not drawn_picks(40, "expected-gain").any()
    checked = drawn_picks(100, "expected-gain", 0.9)
    assert checked.sum() == 50  # from the tenth on every second, but for five where a random check comes; and ten such
    assert (checked & uniform_picks(100, "expected-gain")).sum() == 10


def test_a_line_that_labels_overruled_is_looked_at_as_it_was_fitted():
    pool, labels, _ = make_truth()
    posterior, annotations = fit_on_random(pool, labels, 400)
    assert (posterior.beta != posterior.fitted.beta).any()
    every = np.ones(400, dtype=bool)
    moved, fitted = (look(one, annotations, every).logits for one in (posterior, posterior.fitted))
    np.testing.assert_array_equal(moved, fitted)


def test_a_correction_is_zero_without_looks_and_their_mean_with_many():
    few = correct(np.array(0.8), np.array(0), np.array(0.0), np.array(0.0))
    assert few.mean == 0
    assert few.scale == pytest.approx(0.2 * 0.4)
    residuals = np.random.default_rng(0).normal(-0.1, 0.4, 4000)
    many = correct(np.array(0.8), np.array(4000), residuals.sum(), (residuals**2).sum())
    assert many.mean == pytest.approx(residuals.mean(), abs=0.01)
    assert many.scale == pytest.approx(residuals.std() / np.sqrt(4000), rel=0.1)


def test_looks_that_stand_alone_are_not_shrunk():
    residuals = np.full(30, -0.2)
    sums = np.array(residuals.sum()), np.array((residuals**2).sum())
    believed, alone = (correct(np.array(0.8), np.array(30), *sums, alone) for alone in (False, True))
    assert alone.mean == pytest.approx(-0.2)
    assert -0.2 < believed.mean < -0.05


def test_a_few_looks_alike_do_not_mean_no_spread():
    three = correct(np.array(0.5), np.array(3), np.array(0.0), np.array(0.0), alone=True)
    assert three.scale == pytest.approx(np.sqrt(4 * 0.25 / 6 / 3))
    assert three.degrees == 4


def test_ten_looks_without_a_true_one_do_not_prove_that_there_is_none():
    """One in six is true: ten looks miss them all in one run of six."""
    found = correct(np.array(1 / 6), np.array(10), np.array(-10 / 6), np.array(10 / 36), believed=0.5)
    upper = 1 / 6 + found.mean + 1.645 * found.scale
    assert upper > 0.15


def test_a_belief_that_counts_little_has_few_degrees_of_freedom_and_one_that_counts_much_has_many():
    few, many = (correct(np.array(0.5), np.array(n), np.array(0.0), np.array(0.25 * n)) for n in (4, 400))
    assert few.degrees > 20  # five, over a small weight of the looks
    assert many.degrees == pytest.approx(401, rel=0.1)


def test_a_model_that_admits_doubt_is_less_surprised():
    looks = Looks(np.zeros(40, dtype=bool), np.full(40, 1.5), np.zeros(40), np.zeros(40, dtype=np.int64))
    certain, doubtful = (misfit(looks, np.ones(40, dtype=bool), (spread, 0.0)) for spread in (0.0, 0.25))
    assert certain < 1e-6
    assert doubtful > 0.05


def test_residuals_are_answers_minus_probabilities():
    looks = Looks(np.array([True, False]), np.zeros(2), np.zeros(2), np.zeros(2, dtype=np.int64))
    assert looks.residuals.tolist() == [0.5, -0.5]


def test_a_model_that_fits_is_not_surprised_and_one_that_does_not_is():
    values = {}
    for cap in (1.0, 0.6):
        chances = []
        for seed in range(12):
            pool, labels, _ = make_truth(cap=cap, seed=seed)
            posterior, annotations = fit_on_random(pool, labels, 400, seed)
            looks = look(posterior, annotations, np.ones(400, dtype=bool))
            above = looks.logits > 0
            flipped = (
                looks if cap == 1.0 else type(looks)(~looks.labels, looks.logits, looks.variances, looks.relations)
            )
            chances.append(misfit(flipped, above, (0.0, 0.0)))
        values[cap] = np.array(chances)
    assert np.median(values[1.0]) > 0.05
    assert values[0.6].max() < 0.01
