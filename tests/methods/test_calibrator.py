from __future__ import annotations

import doctest

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import actc.methods.calibrator
import actc.methods.pooled.method
from actc import Calibrator
from actc.data.answers import Annotations
from actc.errors import ActcError


def test_the_example_in_its_docstring_runs():
    assert doctest.testmod(actc.methods.calibrator).failed == 0


def test_one_calibration_fits_the_model_once(pool, labels, monkeypatch):
    fits, fit = [], actc.methods.pooled.method.fit_regimes
    monkeypatch.setattr(actc.methods.pooled.method, "fit_regimes", lambda *arguments: fits.append(1) or fit(*arguments))
    calibrator = Calibrator("pooled").fit(pool, Annotations(np.arange(20), labels[:20]))
    calibrator.select(5), calibrator.predict_proba(pool), calibrator.curves()
    assert len(fits) == 1


def test_it_clones_and_prints_like_a_scikit_learn_estimator():
    calibrator = Calibrator("actc-gp-rndm", random_state=3)
    assert clone(calibrator).get_params() == calibrator.get_params()
    assert "actc-gp-rndm" in repr(calibrator)


def test_it_says_so_when_it_is_not_fitted(pool):
    with pytest.raises(NotFittedError):
        Calibrator().predict(pool)
    with pytest.raises(NotFittedError):
        Calibrator().select(3)


def test_labels_of_some_triples_alone_are_no_answers(pool, labels):
    with pytest.raises(ActcError):
        Calibrator().fit(pool, labels[:9])


def test_a_label_for_each_triple_with_nan_where_nobody_answered_is_as_good_as_annotations(pool, labels):
    some = labels.astype(float)
    some[20:] = np.nan
    one, two = Calibrator().fit(pool, some), Calibrator().fit(pool, Annotations(np.arange(20), labels[:20]))
    assert np.array_equal(one.thresholds_.cuts, two.thresholds_.cuts)
    assert one.score(pool, some) == (one.predict(pool) == labels)[:20].mean()


def test_scikit_learn_searches_and_cross_validates_on_triples(pool, labels):
    some = labels.astype(float)
    some[::3] = np.nan
    scores = cross_val_score(Calibrator("pooled"), pool, some, cv=3)
    parts = [np.arange(len(pool))[part] for _, part in KFold(3).split(np.zeros(len(pool)))]
    rest = np.setdiff1d(np.arange(len(pool)), parts[0])
    first = Calibrator("pooled").fit(pool.take(rest), some[rest])
    assert scores[0] == first.score(pool.take(parts[0]), some[parts[0]]) > 0.5
    found = GridSearchCV(Calibrator(), {"method": ["pooled", "localopt-acc"]}, cv=3).fit(pool, some)
    assert found.best_params_["method"] in ("pooled", "localopt-acc")
    assert np.array_equal(found.predict(pool), found.best_estimator_.predict(pool))


def test_it_scores_by_accuracy_and_names_its_classes(pool, labels):
    calibrator = Calibrator().fit(pool, Annotations(np.arange(20), labels[:20]))
    assert calibrator.score(pool, labels) == (calibrator.predict(pool) == labels).mean()
    assert calibrator.classes_.tolist() == [False, True]
    with pytest.raises(ActcError, match="60"):
        calibrator.score(pool, labels[:3])
