"""The classifiers that fit all groups at once, against scikit-learn's, group by group."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import Matern
from sklearn.linear_model import LogisticRegression

from actc.methods.classifiers import fit_logistic
from actc.methods.gaussian_process import fit_gaussian_process
from tests.training_points import fitted_like, many_points, one_group, several_groups

PAIRS = {
    # scikit-learn's default solver stops short of the optimum; this one does not.
    "lr": (fit_logistic, lambda: LogisticRegression(C=100, solver="newton-cholesky", tol=1e-12, max_iter=1000)),
    "gp": (fit_gaussian_process, lambda: GaussianProcessClassifier(Matern(length_scale=0.1, nu=1.5), optimizer=None)),
}


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=25)
@given(groups=several_groups)
def test_probabilities_are_scikit_learn_s_in_every_group(name, groups):
    fitted_like(*PAIRS[name], groups)


@pytest.mark.parametrize(("name", "size"), [("lr", 1), ("lr", 3000), ("gp", 1), ("gp", 1000)])
def test_probabilities_are_scikit_learn_s_for_many_points(name, size):
    fitted_like(*PAIRS[name], [many_points(size)])


@given(points=one_group, scale=st.sampled_from([1e-6, 1e3, 1e6]), shift=st.sampled_from([0.0, -50.0, 1e4]))
def test_extreme_scores_give_finite_probabilities_in_the_order_of_the_slope(points, scale, shift):
    scores, labels = points
    scores = scores * scale + shift
    fitted = fit_logistic(scores, labels, np.zeros(len(scores), dtype=np.int64), 1)
    p = fitted(np.sort(scores), np.zeros(len(scores), dtype=np.int64))
    assert np.isfinite(p).all()
    assert (np.diff(p) * np.sign(p[-1] - p[0]) >= -1e-12).all()


def test_constant_scores_give_the_share_of_true_ones():
    fitted = fit_logistic(np.full(5, 0.3), np.array([0, 0, 1, 1, 1]), np.zeros(5, dtype=np.int64), 1)
    assert fitted(np.array([0.3]), np.array([0])) == pytest.approx(0.6, abs=1e-9)


@pytest.mark.parametrize("gap", [1e-15, 1e-9, 1e-6, 1e-3])
def test_scores_that_almost_tie_lose_no_digits(gap):
    scores = np.sort(np.concatenate([[0.0, 1.0], 0.4 + gap * np.arange(20)]))
    fitted_like(*PAIRS["gp"], [(scores, np.arange(22) % 2)])


def test_constant_scores_share_one_latent_value():
    fitted_like(*PAIRS["gp"], [(np.full(6, 0.3), np.array([0, 1, 1, 1, 0, 1]))])


def test_far_from_all_points_nothing_is_known():
    fitted = fit_gaussian_process(np.array([-1e9, 0.0, 1e9]), np.array([0, 1, 1]), np.zeros(3, dtype=np.int64), 1)
    p = fitted(np.array([-1e9, 5e8, 1e9, 1e12]), np.zeros(4, dtype=np.int64))
    assert p[0] < 0.5 < p[2]
    assert p[[1, 3]] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.long
def test_time_grows_with_the_points_not_with_their_square():
    def seconds(size):
        scores, labels = many_points(size)
        group, times = np.zeros(len(scores), dtype=np.int64), []
        for _ in range(3):
            start = perf_counter()
            fit_gaussian_process(scores, labels, group, 1)(scores, group, False)
            times.append(perf_counter() - start)
        return min(times)

    assert seconds(40_000) < 40 * seconds(4_000)
