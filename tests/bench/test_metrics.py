from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc.bench.metrics import METRICS, LabelledScores, accuracy, f1
from actc.data.triples import Thresholds
from actc.errors import ChoiceError
from tests.conftest import make_pool


@given(cuts=st.lists(st.floats(-0.2, 1.2), min_size=4, max_size=4))
def test_counting_by_cuts_agrees_with_deciding_triple_by_triple(cuts):
    pool, labels = make_pool()
    thresholds = Thresholds(("r0", "r2"), np.array([cuts[0], cuts[2]]), cuts[3], np.ones(2, dtype=bool))
    arranged = LabelledScores.of(pool, labels, ("r0", "r2"))
    got = arranged.measure(np.array([[cuts[0], cuts[2], cuts[3]]]), list(METRICS))
    decisions = thresholds.decide(pool)
    assert got[0][0] == pytest.approx(accuracy(labels, decisions))
    assert got[1][0] == pytest.approx(f1(labels, decisions))
    true_accepted = (labels & decisions).sum()
    assert got[2][0] == (pytest.approx(true_accepted / decisions.sum()) if decisions.any() else 1.0)
    assert got[3][0] == pytest.approx(true_accepted / labels.sum())


def test_a_misspelt_metric_is_answered_with_the_nearest(pool, labels):
    with pytest.raises(ChoiceError, match="'precision'"):
        LabelledScores.of(pool, labels, pool.relation_names).measure(np.zeros((1, 4)), ["precison"])


def test_f1_of_nothing_accepted_and_nothing_true_is_one():
    nothing = np.zeros(3, dtype=bool)
    assert f1(nothing, nothing) == 1.0
