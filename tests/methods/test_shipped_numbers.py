"""The numbers of every prior that somebody can ask for are those that were committed for it."""

from __future__ import annotations

import json
import math

import pytest

from actc.methods.pooled.method import PRIORS as SHIPPED
from tests.methods.write_vectors import FOLDER, answers_of, path_of

PRIORS = sorted(path.stem.removeprefix("pooled_vectors_") for path in FOLDER.glob("pooled_vectors_*.json"))


def test_every_prior_has_its_vectors():
    assert sorted(SHIPPED) == PRIORS, f"Run: python -m tests.methods.write_vectors {' '.join(SHIPPED)}"


@pytest.fixture(scope="module", params=PRIORS)
def pair(request):
    return json.loads(path_of(request.param).read_text(encoding="utf-8")), answers_of(request.param)


def near(expected, found):
    """Compare numbers, lists and tables of them; infinite thresholds must be the same."""
    if isinstance(expected, dict):
        return expected.keys() == found.keys() and all(near(expected[name], found[name]) for name in expected)
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(near, expected, found))
    if isinstance(expected, str):
        return expected == found
    return math.isclose(expected, found, rel_tol=1e-5, abs_tol=1e-6)


def test_a_version_answers_as_it_did(pair):
    committed, now = pair
    assert committed.keys() == now.keys()
    changed = {
        (asked, name)
        for asked in committed
        for name in committed[asked]
        if not near(committed[asked][name], now[asked][name])
    }
    assert not changed


def test_more_answers_are_right_more_often_in_these_vectors(pair):
    few, many = (pair[0][f"pooled, {count} answers"] for count in (40, 400))
    assert few["thresholds"] != many["thresholds"]
    assert many["test_accuracy"] > few["test_accuracy"]
