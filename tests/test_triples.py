from __future__ import annotations

import numpy as np
import pytest

from actc import Annotations, ScoredTriples, Thresholds
from actc.errors import RowError, TableError


def test_names_come_back_as_they_went_in(pool):
    assert pool.triple(5) == ("h5", pool.relation_names[pool.relations[5]], "t")


def test_a_table_without_triples_is_refused():
    with pytest.raises(TableError, match="no triple"):
        ScoredTriples.from_columns([], [], [], [])


def test_columns_of_different_length_are_refused():
    with pytest.raises(TableError, match="2 heads, 1 relations"):
        ScoredTriples.from_columns(["a", "b"], ["r"], ["c", "d"], [1, 2])


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_finite_number_is_refused(score):
    with pytest.raises(RowError, match="Row 1: the score is"):
        ScoredTriples.from_columns(["a", "b"], ["r", "r"], ["c", "c"], [1.0, score])


def test_the_second_of_two_equal_triples_is_named():
    with pytest.raises(RowError, match="Row 2: the triple .* twice.* See row 0"):
        ScoredTriples.from_columns(["a", "b", "a"], ["r", "r", "r"], ["c", "c", "c"], [1, 2, 3])


def test_find_returns_rows_and_minus_one_for_strangers(pool):
    rows = pool.find(["h3", "nobody", "h4"], [pool.triple(3)[1], "r0", "no relation"], ["t", "t", "t"])
    assert rows.tolist() == [3, -1, -1]


def test_keys_sort_as_the_names_do():
    pool = ScoredTriples.from_columns("bab", "rrq", "xyz", [1, 2, 3])
    assert np.argsort(pool.keys).tolist() == [1, 2, 0]


def test_keys_stay_distinct_when_the_vocabulary_is_too_large_for_one_product(pool):
    wide = ScoredTriples(
        pool.heads, pool.relations, pool.tails, pool.scores, pool.entity_names, tuple(f"r{i}" for i in range(3))
    )
    object.__setattr__(wide, "entity_names", range(4 * 10**9))
    assert len(np.unique(wide.keys)) == len(pool)


def test_an_annotated_row_is_refused_twice():
    with pytest.raises(TableError, match="annotated twice"):
        Annotations(np.array([1, 1]), np.array([True, True]))


def test_a_label_is_true_or_false():
    with pytest.raises(RowError, match="Row 1: the label is 2"):
        Annotations(np.array([1, 2]), np.array([1, 2]))


def test_contradicting_labels_are_refused_and_equal_ones_count_once(pool):
    relation = pool.triple(3)[1]
    twice = Annotations.from_columns(pool, ["h3", "h3"], [relation] * 2, ["t", "t"], [1, 1])
    assert twice.rows.tolist() == [3]
    with pytest.raises(RowError, match="Row 1: .* both labels.* See row 0"):
        Annotations.from_columns(pool, ["h3", "h3"], [relation] * 2, ["t", "t"], [1, 0])


def test_a_label_for_an_unknown_triple_is_refused(pool):
    with pytest.raises(RowError, match="not among the scored triples"):
        Annotations.from_columns(pool, ["nobody"], ["r0"], ["t"], [1])


def test_unseen_relation_gets_the_default_threshold():
    thresholds = Thresholds(("r",), np.array([0.9]), 0.2, np.array([True]))
    new = ScoredTriples.from_columns("ab", ["r", "other"], "cd", [0.5, 0.5])
    assert thresholds.decide(new).tolist() == [False, True]


def test_a_score_equal_to_the_threshold_is_accepted():
    thresholds = Thresholds(("r",), np.array([0.5]), 0.5, np.array([True]))
    assert thresholds.decide(ScoredTriples.from_columns("a", "r", "b", [0.5])).all()


def test_thresholds_of_different_length_or_without_a_number_are_refused():
    with pytest.raises(TableError, match="1 relations but 2 values of cuts"):
        Thresholds(("r",), np.array([0.5, 0.6]), 0.5, np.array([True]))
    with pytest.raises(TableError, match="NaN"):
        Thresholds(("r",), np.array([np.nan]), 0.5, np.array([True]))
