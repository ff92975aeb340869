"""Probabilities as tables: near the method's own, and the same after a journey through thresholds.json."""

from __future__ import annotations

import numpy as np
import pytest

from actc import Calibrator
from actc.data.answers import Annotations
from actc.data.calibration import Calibration, Curves, Sources, tabulate_curves
from actc.data.numeric import sigmoid
from actc.decide.calibrate import describe_calibration
from actc.decide.case import Case


def test_a_line_is_met_everywhere_and_stays_beyond_its_ends():
    curves = Curves(("r",), 0.0, 4.0, np.array([[0.0, 0.5, 1.0], [0.25, 0.25, 0.25]]))
    assert curves.look_up(np.array([-9.0, 0.0, 1.0, 4.0, 9.0]), np.zeros(5, dtype=int)).tolist() == [0, 0, 0.25, 1, 1]
    assert curves.look_up(np.array([3.0]), np.array([1])).tolist() == [0.25]


def test_one_score_alone_has_one_probability():
    curves = Curves((), 2.0, 2.0, np.array([[0.7, 0.7]]))
    assert curves.look_up(np.array([1.0, 2.0, 3.0]), np.zeros(3, dtype=int)).tolist() == [0.7, 0.7, 0.7]


def test_a_smooth_curve_is_met_to_a_thousandth(pool):
    centre = np.array([0.2, 0.5, 0.8, 0.0])

    def probability(triples):
        return sigmoid(20 * (triples.scores - centre[triples.relations]))

    curves = tabulate_curves(probability, pool)
    assert curves.look_up(pool.scores, pool.relations) == pytest.approx(probability(pool), abs=1e-3)


@pytest.mark.parametrize("method", ["pooled", "actc-lr-rndm"])
def test_a_few_triples_have_the_probabilities_of_the_curves(pool, labels, method):
    case = Case(pool, Annotations(np.arange(30), labels[:30]), method=method)
    few = pool.take(np.arange(5)).with_scores(np.array([-1e9, *pool.scores[:3], 1e9]))
    assert case.curves.of(few).tolist() == case.probabilities(few).tolist()


@pytest.mark.parametrize("method", ["pooled", "actc-lr-rndm", "actc-gp-rndm"])
def test_curves_travel_with_the_thresholds(tmp_path, pool, labels, method):
    annotations = Annotations(np.arange(30), labels[:30])
    calibrator = Calibrator(method).fit(pool, annotations)
    curves = calibrator.curves()
    describe_calibration(Case(pool, annotations, method=method), Sources()).write(tmp_path / "t.json")
    read = Calibration.read(tmp_path / "t.json").curves
    assert read.relation_names == pool.relation_names
    assert (read.low, read.high) == (curves.low, curves.high)
    assert read.probabilities == pytest.approx(curves.probabilities, rel=1e-4)
    assert read.probabilities.tolist() == curves.as_written().probabilities.tolist()
    assert Calibration.read(tmp_path / "t.json").thresholds.cuts.tolist() == calibrator.thresholds_.cuts.tolist()


def test_a_method_without_probabilities_has_no_curves(tmp_path, pool, labels):
    annotations = Annotations(np.arange(30), labels[:30])
    calibrator = Calibrator("localopt-acc").fit(pool, annotations)
    assert calibrator.curves() is None
    describe_calibration(Case(pool, annotations, method="localopt-acc"), Sources()).write(tmp_path / "t.json")
    assert Calibration.read(tmp_path / "t.json").curves is None
