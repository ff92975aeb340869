from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import linear_model

from actc.methods.classifiers import fit_logistic
from tests.training_points import fitted_like, many_points, one_group, several_groups


def reference():
    # scikit-learn's default solver stops short of the optimum; this one does not.
    return linear_model.LogisticRegression(C=100, solver="newton-cholesky", tol=1e-12, max_iter=1000)


@given(groups=several_groups)
def test_probabilities_are_scikit_learn_s_in_every_group(groups):
    fitted_like(fit_logistic, reference, groups)


@pytest.mark.parametrize("size", [1, 10, 3000])
def test_probabilities_are_scikit_learn_s_for_thousands_of_points(size):
    fitted_like(fit_logistic, reference, [many_points(size)])


@given(points=one_group, scale=st.sampled_from([1e-6, 1e3, 1e6]), shift=st.sampled_from([0.0, -50.0, 1e4]))
def test_extreme_scores_give_finite_probabilities_in_the_order_of_the_slope(points, scale, shift):
    scores, labels = points
    scores = scores * scale + shift
    fitted = fit_logistic(scores, labels, np.zeros(len(scores), dtype=np.int64), 1)
    p = fitted.probabilities(np.sort(scores), np.zeros(len(scores), dtype=np.int64))
    assert np.isfinite(p).all()
    assert (np.diff(p) * np.sign(fitted.slope[0]) >= -1e-12).all()


def test_constant_scores_give_the_share_of_true_ones():
    fitted = fit_logistic(np.full(5, 0.3), np.array([0, 0, 1, 1, 1]), np.zeros(5, dtype=np.int64), 1)
    assert fitted.probabilities(np.array([0.3]), np.array([0])) == pytest.approx(0.6, abs=1e-9)


def test_the_hard_answer_is_the_probability_s():
    scores, labels = many_points(50)
    fitted = fit_logistic(scores, labels, np.zeros(len(scores), dtype=np.int64), 1)
    at, group = np.linspace(-1, 2, 400), np.zeros(400, dtype=np.int64)
    assert (fitted.is_true(at, group) == (fitted.probabilities(at, group) > 0.5)).all()
