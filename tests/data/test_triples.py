from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc import ScoredTriples
from actc.data.answers import Annotations, Answers
from actc.data.triples import Thresholds, Vocabulary, encode_columns
from actc.errors import TableError

# What is refused: head, relation, tail and score, and what the sentence names.
REFUSED = {
    "no triples": (([], [], [], []), "no triple"),
    "columns of different length": ((["a", "b"], ["r"], ["c", "d"], [1, 2]), "2 heads, 1 relations, 2 tails, 2 scores"),
    "NaN": (("ab", "rr", "cc", [1.0, np.nan]), "Row 1.*nan"),
    "infinite": (("ab", "rr", "cc", [1.0, -np.inf]), "Row 1.*-inf"),
    "no number": (("ab", "rr", "cc", [1.0, "n/a"]), "Row 1.*'n/a'"),
    "too large to be added up": (("ab", "rr", "cd", [0.0, 1e308]), r"from -1e\+100 to 1e\+100"),
    "too small": (("ab", "rr", "cd", [0.0, -1e101]), r"from -1e\+100 to 1e\+100"),
    "a triple twice": (("aba", "rrr", "ccc", [1, 2, 3]), "Row 2.*row 0"),
    **{
        f"{column} {name!r}": (
            [
                *({"head": ["a", "b"], "relation": ["r", "r"], "tail": ["c", "c"]} | {column: ["a", name]}).values(),
                [1, 2],
            ],
            rf"Row 1: the {column} is .* \({type(name).__name__}\); .* must be text",
        )
        for column, name in (("head", None), ("relation", np.nan), ("tail", 3), ("head", ("a",)))
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_table_that_cannot_be_is_refused_in_one_sentence(case):
    columns, sentence = REFUSED[case]
    with pytest.raises(TableError, match=sentence):
        ScoredTriples.from_columns(*columns)


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


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Answers.from_columns(["a"], ["r"], ["t"], [1, 1]), "1 annotated triples but 2 labels"),
        (lambda: Answers.from_columns(["a", "a"], ["r", "r"], ["t", "t"], [1, 0]), "Row 1.*row 0"),
        (lambda: Annotations(np.array([1, 1]), np.array([True, True])), "twice"),
        (lambda: Annotations(np.array([1, 2]), np.array([1, 2])), "Row 1.*2"),
        (lambda: Annotations(np.array([0.5]), np.array([1])), "whole numbers"),
        (lambda: Annotations(np.array([-1]), np.array([1])), "-1"),
        (lambda: Annotations(np.arange(2), np.ones(2), selection="guessed"), "Row 0.*'guessed'"),
        (lambda: Annotations(np.arange(2), np.ones(2), inclusion_probability=0.0), "Row 0"),
        (lambda: Annotations(np.arange(2), np.ones(2), inclusion_probability=2), "Row 0"),
        (lambda: Thresholds(("r",), np.array([0.5, 0.6]), 0.5, np.array([True])), "1 relations but 2 values of cuts"),
        (lambda: Thresholds(("r",), np.array([np.nan]), 0.5, np.array([True])), "NaN"),
    ],
)
def test_answers_and_thresholds_that_cannot_be_are_refused(make, sentence):
    with pytest.raises(TableError, match=sentence):
        make()


def test_equal_answers_count_once(pool):
    relation = pool.triple(3)[1]
    assert Answers.from_columns(["h3"] * 2, [relation] * 2, ["t"] * 2, [1, 1]).on(pool).rows.tolist() == [3]


def test_a_score_equal_to_the_threshold_is_accepted_and_another_relation_gets_the_default():
    thresholds = Thresholds(("r",), np.array([0.5]), 0.2, np.array([True]))
    new = ScoredTriples.from_columns("abc", ["r", "r", "other"], "ddd", [0.5, 0.4, 0.4])
    assert thresholds.decide(new).tolist() == [True, False, True]
