"""What the model may be off: leave-one-out against refits, corrections against their formula, the misfit check."""

from __future__ import annotations

import numpy as np
import pytest

from actc import Annotations
from actc.errors import ChoiceError
from actc.methods import METHODS
from actc.numeric import psi
from actc.trust.discrepancy import correct, look, misfit, uniform_picks
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
