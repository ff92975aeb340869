"""thresholds.json, and the curves in it: what was written is read back, and what is damaged is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from actc import Calibrator
from actc.data.answers import Annotations
from actc.data.calibration import Calibration, Counts, Curves, GuaranteedPrecision, Sources, tabulate_curves
from actc.data.numeric import sigmoid
from actc.data.triples import Thresholds
from actc.decide.calibrate import describe_calibration
from actc.decide.case import Case
from actc.errors import FileError
from tests.synthetic import answers_by


@pytest.fixture
def thresholds(pool):
    cuts = np.array([0.1 + 0.2, np.inf, -np.inf])
    return Thresholds(pool.relation_names, cuts, 0.5, np.array([True, False, True]))


def write(path, thresholds, pool, **more):
    counts = Counts.of(pool, Annotations(np.array([0, 1]), np.array([1, 0])), thresholds.decide(pool))
    Calibration(thresholds, "localopt-acc", {"n": 5}, counts, **more).write(path)


def read_thresholds(path):
    return Calibration.read(path).thresholds


@pytest.mark.parametrize("interval", [(), (np.zeros(3), np.full(3, np.inf))])
def test_thresholds_come_back_to_the_last_digit_in_strict_json(tmp_path, thresholds, pool, interval):
    write(tmp_path / "t.json", Thresholds(*list(vars(thresholds).values())[:4], *interval), pool)
    again = read_thresholds(tmp_path / "t.json")
    assert (again.relation_names, again.default) == (thresholds.relation_names, thresholds.default)
    assert (again.cuts.tolist(), again.own.tolist()) == (thresholds.cuts.tolist(), thresholds.own.tolist())
    assert [one if one is None else one.tolist() for one in (again.lower, again.upper)] == (
        [one.tolist() for one in interval] or [None, None]
    )
    content = json.loads((tmp_path / "t.json").read_text(), parse_constant=lambda word: pytest.fail(word))
    assert (content["method"], content["options"], content["sources"]) == ("localopt-acc", {"n": 5}, None)
    assert content["counts"] == {"pool": 60, "relations": 3, "annotated": 2, "annotated_true": 1, "draws": 0}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "line 1"),
        ("[]", "t.json"),
        ('{"format": "actc-thresholds", "format_version": 99}', "99"),
        ('{"format": "actc-thresholds", "format_version": 1, "default": 1}', "t.json"),
        ('{"format": "actc-thresholds", "format_version": 1, "default": "x", "relations": {}}', "t.json"),
    ],
)
def test_a_file_that_is_no_thresholds_file_is_refused(tmp_path, content, sentence):
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(FileError, match=sentence):
        read_thresholds(tmp_path / "t.json")


def test_everything_that_was_written_is_read_back(tmp_path, thresholds, pool):
    sources = Sources(tmp_path / "a" / "scores.tsv", tmp_path / "labels.tsv", picks="random")
    guarantee = GuaranteedPrecision(0.8, 0.9, None, ("r1",))
    words = answers_by(["a", "b"], ["r0", "r1"], ["x", "ü"], [True, False], ["person", "judges"], [np.nan, 0.3])
    more = {"sources": sources, "guarantee": guarantee, "exceptions": words}
    write(tmp_path / "t.json", thresholds, pool, transform={"mean": 1.5}, **more)
    again = Calibration.read(tmp_path / "t.json")
    assert again.exceptions.to_frame().equals(words.to_frame())
    assert (again.sources, again.guarantee, again.transform) == (sources, guarantee, {"mean": 1.5})
    accepted = np.bincount(pool.relations[thresholds.decide(pool)], minlength=3)
    assert again.counts.accepted.tolist() == accepted.tolist()
    assert again.counts.triples.tolist() == pool.relation_counts.tolist()
    json.loads((tmp_path / "t.json").read_text(), parse_constant=lambda word: pytest.fail(word))
    again.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "t.json").read_text()


@pytest.mark.parametrize(
    "damage", [{"accepted": []}, {"head": 3}, {"accepted": ["no"]}, {"probability": ["much"]}, {"tail": [None]}]
)
def test_damaged_words_are_said_in_a_sentence(tmp_path, thresholds, pool, damage):
    words = answers_by(["a"], ["r0"], ["x"], [True], ["person"], [1.0])
    write(tmp_path / "t.json", thresholds, pool, exceptions=words)
    content = json.loads((tmp_path / "t.json").read_text())
    content["exceptions"] |= damage
    (tmp_path / "t.json").write_text(json.dumps(content))
    with pytest.raises(FileError):
        Calibration.read(tmp_path / "t.json")


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


@pytest.mark.parametrize("method", ["pooled", "actc-lr-rndm", "actc-gp-rndm", "localopt-acc"])
def test_curves_travel_with_the_thresholds(tmp_path, pool, labels, method):
    annotations = Annotations(np.arange(30), labels[:30])
    calibrator = Calibrator(method).fit(pool, annotations)
    curves = calibrator.curves()
    describe_calibration(Case(pool, annotations, method=method), Sources()).write(tmp_path / "t.json")
    read = Calibration.read(tmp_path / "t.json").curves
    if method == "localopt-acc":  # it has no probabilities
        assert read is curves is None
        return
    assert read.relation_names == pool.relation_names
    assert (read.low, read.high) == (curves.low, curves.high)
    assert read.probabilities == pytest.approx(curves.probabilities, rel=1e-4)
    assert read.probabilities.tolist() == curves.as_written().probabilities.tolist()
    assert Calibration.read(tmp_path / "t.json").thresholds.cuts.tolist() == calibrator.thresholds_.cuts.tolist()
