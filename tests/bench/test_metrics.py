from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc.bench.cells import Cell
from actc.bench.metrics import accuracy, f1, measure_decisions
from actc.data.triples import Thresholds
from actc.errors import ChoiceError
from tests.conftest import make_pool


@given(cuts=st.lists(st.floats(-0.2, 1.2), min_size=4, max_size=4))
def test_counting_by_cuts_agrees_with_deciding_triple_by_triple(cuts):
    (pool, _), (test, labels) = make_pool(), make_pool(seed=1)
    known = pool.take(np.flatnonzero(pool.relations != 1)).with_used_names()  # r1 obeys the default
    cell = Cell("toy", "toy", known, known.scores > 0, test, labels)
    accepted = cell.accept(np.array([[cuts[0], cuts[2], cuts[3]]]))
    thresholds = Thresholds(("r0", "r2"), np.array([cuts[0], cuts[2]]), cuts[3], np.ones(2, dtype=bool))
    decisions = thresholds.decide(test)
    assert accepted.tolist() == [decisions.tolist()]
    precision, recall = measure_decisions(labels, accepted, ["precision", "recall"])[:, 0]
    assert accuracy(labels, decisions) == np.mean(labels == decisions)
    assert precision == (pytest.approx(labels[decisions].mean()) if decisions.any() else 1.0)
    assert recall == pytest.approx(decisions[labels].mean())
    both = precision + recall
    assert f1(labels, decisions) == pytest.approx(2 * precision * recall / both if both else 0.0)


def test_a_misspelt_metric_is_answered_with_the_nearest(labels):
    with pytest.raises(ChoiceError, match="'precision'"):
        measure_decisions(labels, labels[None], ["precison"])


def test_f1_of_nothing_accepted_and_nothing_true_is_one():
    nothing = np.zeros(3, dtype=bool)
    assert f1(nothing, nothing) == 1.0
