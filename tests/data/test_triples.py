from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc import ScoredTriples
from actc.data.answers import Annotations, Answers
from actc.data.triples import Thresholds, Vocabulary, encode_columns
from actc.errors import RowError, TableError


def test_names_come_back_as_they_went_in(pool):
    assert pool.triple(5) == ("h5", pool.relation_names[pool.relations[5]], "t")


def test_a_table_without_triples_is_refused():
    with pytest.raises(TableError):
        ScoredTriples.from_columns([], [], [], [])


def test_columns_of_different_length_are_refused():
    with pytest.raises(TableError):
        ScoredTriples.from_columns(["a", "b"], ["r"], ["c", "d"], [1, 2])


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_finite_number_is_refused(score):
    with pytest.raises(RowError, match="Row 1"):
        ScoredTriples.from_columns(["a", "b"], ["r", "r"], ["c", "c"], [1.0, score])


def test_the_second_of_two_equal_triples_is_named():
    with pytest.raises(RowError, match="Row 2.*row 0"):
        ScoredTriples.from_columns(["a", "b", "a"], ["r", "r", "r"], ["c", "c", "c"], [1, 2, 3])


def test_find_returns_rows_and_minus_one_for_strangers(pool):
    rows = pool.find(["h3", "nobody", "h4"], [pool.triple(3)[1], "r0", "no relation"], ["t", "t", "t"])
    assert rows.tolist() == [3, -1, -1]


names = st.text(st.sampled_from("ab"), min_size=1, max_size=2)
tables = st.lists(st.tuples(names, names, names), max_size=8)


def listed(triples):
    return [triples.triple(row) for row in range(len(triples))]


def encoded(rows):
    return encode_columns(*([row[i] for row in rows] for i in range(3)))


@given(tables, tables)
def test_tables_do_what_lists_and_sets_of_triples_do(own, others):
    mine, theirs = encoded(own), encoded(others)
    assert mine.rows_of(theirs).tolist() == [own.index(one) if one in own else -1 for one in others]
    assert mine.contains(theirs).tolist() == [one in own for one in others]
    assert listed(mine.unique()) == list(dict.fromkeys(own))
    assert listed(mine.sorted_once()) == sorted(set(own))
    assert listed(mine.union(theirs)) == list(dict.fromkeys(own + others))


@given(tables)
def test_keys_sort_as_the_names_do_however_many_names_there_are(own):
    assert [own[row] for row in np.argsort(encoded(own).keys, kind="stable")] == sorted(own)


def test_used_names_are_the_only_ones_left():
    part = encoded([("a", "r", "b"), ("c", "s", "d")]).take([1]).with_used_names()
    assert (part.entity_names, part.relation_names) == (("c", "d"), ("s",))
    assert listed(part) == [("c", "s", "d")]


def test_a_name_that_is_not_utf8_is_encoded_too():
    vocabulary, codes = Vocabulary.encode(["b", "\ud800"])
    assert (vocabulary, codes.tolist()) == (("b", "\ud800"), [0, 1])


def test_codes_of_another_vocabulary_are_translated_and_strangers_get_the_default():
    ours, theirs = Vocabulary(["a", "b"]), Vocabulary(["x", "b"])
    assert ours.translate(np.array([1, 0, 1]), theirs, default=7).tolist() == [1, 7, 1]


def test_a_vocabulary_travels_without_its_look_ups():
    names = Vocabulary(["a", "b"])
    assert names.places == {"a": 0, "b": 1}
    again = pickle.loads(pickle.dumps(names))
    assert isinstance(again, Vocabulary)
    assert again == names
    assert not vars(again)


@pytest.mark.parametrize("name", [None, np.nan, 3, ("a",)])
@pytest.mark.parametrize("column", ["head", "relation", "tail"])
def test_a_name_that_is_no_text_is_refused_in_one_sentence(column, name):
    columns = {"head": ["a", "b"], "relation": ["r", "r"], "tail": ["c", "c"]} | {column: ["a", name]}
    with pytest.raises(RowError, match=rf"Row 1: the {column} is .* \({type(name).__name__}\); .* must be text"):
        ScoredTriples.from_columns(*columns.values(), [1.0, 2.0])


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(RowError, match="Row 1.*'n/a'"):
        ScoredTriples.from_columns(["a", "b"], ["r", "r"], ["c", "c"], [1.0, "n/a"])


def test_lists_arrays_and_filtered_series_give_the_same_table_and_annotations():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"head": list("abcd"), "relation": list("rrss"), "tail": list("wxyz"), "score": range(4)})
    part = frame[frame.score > 1]
    columns = [part[name] for name in ("head", "relation", "tail")]
    for convert in (lambda column: column, np.asarray, list, tuple):
        pool = ScoredTriples.from_columns(*map(convert, columns), convert(part.score))
        assert listed(pool) == [("c", "s", "y"), ("d", "s", "z")]
        answers = Answers.from_columns(*map(convert, columns), convert(part.score == 3)).on(pool)
        assert (answers.rows.tolist(), answers.labels.tolist()) == ([0, 1], [False, True])


def test_labels_of_another_number_than_triples_are_refused(pool):
    with pytest.raises(TableError):
        Answers.from_columns(["h3"], [pool.triple(3)[1]], ["t"], [1, 1])


def test_tables_show_themselves_in_a_line():
    pool = ScoredTriples.from_columns(map(str, range(5_000)), ["r"] * 5_000, ["t"] * 5_000, np.arange(5_000))
    assert repr(pool) == "ScoredTriples(5,000 triples, 5,001 entities, 1 relations, scores 0 to 4999)"
    assert repr(Annotations(np.arange(4), np.array([1, 0, 0, 1]))) == "Annotations(4 triples, 0 random draws)"
    thresholds = Thresholds(("r", "s"), np.array([0.5, 0.2]), 0.2, np.array([True, False]))
    assert repr(thresholds) == "Thresholds(2 relations, 1 by answers of their own, default 0.2)"


def test_an_annotated_row_is_refused_twice():
    with pytest.raises(TableError):
        Annotations(np.array([1, 1]), np.array([True, True]))


def test_a_label_is_true_or_false():
    with pytest.raises(RowError, match="Row 1.*2"):
        Annotations(np.array([1, 2]), np.array([1, 2]))


def test_contradicting_labels_are_refused_and_equal_ones_count_once(pool):
    relation = pool.triple(3)[1]
    twice = Answers.from_columns(["h3", "h3"], [relation] * 2, ["t", "t"], [1, 1]).on(pool)
    assert twice.rows.tolist() == [3]
    with pytest.raises(RowError, match="Row 1.*row 0"):
        Answers.from_columns(["h3", "h3"], [relation] * 2, ["t", "t"], [1, 0])


def test_unseen_relation_gets_the_default_threshold():
    thresholds = Thresholds(("r",), np.array([0.9]), 0.2, np.array([True]))
    new = ScoredTriples.from_columns("ab", ["r", "other"], "cd", [0.5, 0.5])
    assert thresholds.decide(new).tolist() == [False, True]


def test_a_score_equal_to_the_threshold_is_accepted():
    thresholds = Thresholds(("r",), np.array([0.5]), 0.5, np.array([True]))
    assert thresholds.decide(ScoredTriples.from_columns("a", "r", "b", [0.5])).all()


def test_thresholds_of_different_length_or_without_a_number_are_refused():
    with pytest.raises(TableError):
        Thresholds(("r",), np.array([0.5, 0.6]), 0.5, np.array([True]))
    with pytest.raises(TableError, match="NaN"):
        Thresholds(("r",), np.array([np.nan]), 0.5, np.array([True]))


@pytest.mark.parametrize("score", [1e308, -1e101])
def test_a_score_that_is_too_large_to_be_added_up_is_refused(score):
    with pytest.raises(TableError, match="from -1e\\+100 to 1e\\+100"):
        ScoredTriples.from_columns(["a", "b"], ["r", "r"], ["c", "d"], [0.0, score]).check()
