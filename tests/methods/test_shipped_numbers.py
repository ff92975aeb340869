"""The numbers of the pooled methods are those that were committed."""

from __future__ import annotations

import json

import pytest

from tests.methods.write_vectors import PATH, compute_vectors


def test_the_shipped_numbers_answer_as_they_did():
    committed, now = json.loads(PATH.read_text(encoding="utf-8")), compute_vectors()
    assert committed.keys() == now.keys()
    for case, expected in committed.items():
        assert expected.keys() == now[case].keys()
        assert now[case].pop("reasons") == expected.pop("reasons")
        for name, numbers in expected.items():
            assert now[case][name] == pytest.approx(numbers, rel=1e-5, abs=1e-6), (case, name)
