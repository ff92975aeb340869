"""The numbers of the pooled methods are those that were committed."""

from __future__ import annotations

import json
import math

import pytest

from tests.methods.write_vectors import PATH, compute_vectors


@pytest.fixture(scope="module")
def committed():
    return json.loads(PATH.read_text(encoding="utf-8"))


def near(expected, found):
    """Compare numbers, lists and tables of them; infinite thresholds must be the same."""
    if isinstance(expected, dict):
        return expected.keys() == found.keys() and all(near(expected[name], found[name]) for name in expected)
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(near, expected, found))
    if isinstance(expected, str):
        return expected == found
    return math.isclose(expected, found, rel_tol=1e-5, abs_tol=1e-6)


def test_the_shipped_numbers_answer_as_they_did(committed):
    now = compute_vectors()
    assert committed.keys() == now.keys()
    changed = {
        (key, name) for key in committed for name in committed[key] if not near(committed[key][name], now[key][name])
    }
    assert not changed


def test_more_answers_are_right_more_often_in_these_vectors(committed):
    few, many = (committed[f"pooled, {count} answers"] for count in (40, 400))
    assert few["thresholds"] != many["thresholds"]
    assert many["test_accuracy"] > few["test_accuracy"]
