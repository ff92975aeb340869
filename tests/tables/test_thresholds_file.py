from __future__ import annotations

import json

import numpy as np
import pytest

from actc import Annotations, Thresholds
from actc.errors import FileError
from actc.tables.thresholds_file import read_thresholds, write_thresholds


@pytest.fixture
def thresholds(pool):
    cuts = np.array([0.1 + 0.2, np.inf, -np.inf])
    return Thresholds(pool.relation_names, cuts, 0.5, np.array([True, False, True]))


def write(path, thresholds, pool):
    write_thresholds(path, thresholds, "localopt-acc", {"n": 5}, pool, Annotations(np.array([0, 1]), np.array([1, 0])))


def test_thresholds_come_back_to_the_last_digit(tmp_path, thresholds, pool):
    write(tmp_path / "t.json", thresholds, pool)
    again = read_thresholds(tmp_path / "t.json")
    assert again.relation_names == thresholds.relation_names
    assert again.cuts.tolist() == thresholds.cuts.tolist()
    assert again.own.tolist() == thresholds.own.tolist()
    assert again.default == thresholds.default
    assert again.lower is None


def test_intervals_come_back(tmp_path, pool):
    wide = Thresholds(pool.relation_names, np.ones(3), 1.0, np.ones(3, dtype=bool), np.zeros(3), np.full(3, np.inf))
    write(tmp_path / "t.json", wide, pool)
    again = read_thresholds(tmp_path / "t.json")
    assert again.lower.tolist() == [0, 0, 0]
    assert again.upper.tolist() == [np.inf] * 3


def test_the_file_says_where_the_thresholds_came_from_and_is_strict_json(tmp_path, thresholds, pool):
    write(tmp_path / "t.json", thresholds, pool)
    content = json.loads((tmp_path / "t.json").read_text(), parse_constant=lambda word: pytest.fail(word))
    assert content["method"] == "localopt-acc"
    assert content["options"] == {"n": 5}
    assert content["counts"] == {"pool": 60, "relations": 3, "annotated": 2, "annotated_true": 1}
    assert set(content) >= {"actc_version", "created", "score_transform", "default", "relations"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "line 1: this is no JSON"),
        ("[]", "no thresholds file"),
        ('{"format": "actc-thresholds", "format_version": 99}', "format version is 99"),
        ('{"format": "actc-thresholds", "format_version": 1, "default": 1}', "damaged"),
        ('{"format": "actc-thresholds", "format_version": 1, "default": "x", "relations": {}}', "damaged"),
    ],
)
def test_a_file_that_is_no_thresholds_file_is_refused(tmp_path, content, sentence):
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(FileError, match=sentence):
        read_thresholds(tmp_path / "t.json")
