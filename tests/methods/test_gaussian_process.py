from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from actc.methods.gaussian_process import fit_matern
from tests.training_points import fitted_like, many_points, several_groups


def reference():
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import Matern

    return GaussianProcessClassifier(Matern(length_scale=0.1, nu=1.5), optimizer=None)


@settings(max_examples=20)
@given(groups=several_groups)
def test_probabilities_are_scikit_learn_s_in_every_group(groups):
    fitted_like(fit_matern, reference, groups)


@pytest.mark.parametrize("size", [1, 40, 2000])
def test_probabilities_are_scikit_learn_s_for_thousands_of_points(size):
    fitted_like(fit_matern, reference, [many_points(size)])


@pytest.mark.parametrize("gap", [1e-15, 1e-9, 1e-6, 1e-3])
def test_scores_that_almost_tie_lose_no_digits(gap):
    scores = np.sort(np.concatenate([[0.0, 1.0], 0.4 + gap * np.arange(20)]))
    fitted_like(fit_matern, reference, [(scores, np.arange(22) % 2)])


def test_constant_scores_share_one_latent_value():
    fitted_like(fit_matern, reference, [(np.full(6, 0.3), np.array([0, 1, 1, 1, 0, 1]))])


def test_extreme_scores_are_far_apart_and_far_away_nothing_is_known():
    fitted = fit_matern(np.array([-1e9, 0.0, 1e9]), np.array([0, 1, 1]), np.zeros(3, dtype=np.int64), 1)
    p = fitted.probabilities(np.array([-1e9, 5e8, 1e9, 1e12]), np.zeros(4, dtype=np.int64))
    assert p[0] < 0.5 < p[2]
    assert p[[1, 3]] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.long
def test_time_grows_with_the_points_not_with_their_square():
    from time import perf_counter

    def seconds(size):
        scores, labels = many_points(size)
        group = np.zeros(len(scores), dtype=np.int64)
        times = []
        for _ in range(3):
            start = perf_counter()
            fit_matern(scores, labels, group, 1).is_true(scores, group)
            times.append(perf_counter() - start)
        return min(times)

    assert seconds(40_000) < 40 * seconds(4_000)
