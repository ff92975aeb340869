from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc import ScoredTriples
from actc.bench.metrics import METRICS, LabelledScores, accuracy, f1, report_by_relation
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


def test_the_report_counts_by_relation(pool, labels):
    thresholds = Thresholds(pool.relation_names, np.full(3, 0.5), 0.5, np.array([True, False, True]))
    report = report_by_relation(thresholds, pool, labels)
    assert [one.relation for one in report] == ["r0", "r1", "r2"]
    assert sum(one.accepted for one in report) == (pool.scores >= 0.5).sum()
    mine = pool.relations == 1
    assert report[1].accuracy == ((pool.scores >= 0.5) == labels)[mine].mean()


def test_a_relation_without_triples_is_left_out_of_the_report():
    pool = ScoredTriples.from_columns("ab", "rs", "xy", [0.1, 0.9]).take([1])
    thresholds = Thresholds(("r", "s"), np.zeros(2), 0.0, np.ones(2, dtype=bool))
    assert [one.relation for one in report_by_relation(thresholds, pool, np.array([True]))] == ["s"]
