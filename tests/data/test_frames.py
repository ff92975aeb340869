"""Data frames of the libraries that people use, in and out; and what a notebook shows."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from actc import Calibrator, ScoredTriples, accept_triples, pick_triples
from actc.data.answers import Answers
from actc.data.frames import MANY, as_arrow, as_list, read_optional
from actc.errors import ActcError, ChoiceError, OptionError, RowError, TableError

COLUMNS = {"head": ["é", "b", "c"], "relation": ["r", "s", "r"], "tail": ["x", "y", "é"], "score": [0.25, -1.5, 3.0]}
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "dict": dict}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_scored_triples_come_back_from_the_frame_they_became(library, pool):
    frame = pool.to_frame(library)
    assert type(frame).__module__.split(".")[0] == library
    again = ScoredTriples.from_frame(frame)
    assert [again.triple(row) for row in range(len(again))] == [pool.triple(row) for row in range(len(pool))]
    assert (again.scores == pool.scores).all()


@pytest.mark.parametrize("kind", ["category", "string", "object"])
def test_pandas_may_keep_names_as_it_likes_and_rows_under_any_index(kind):
    frame = pd.DataFrame(COLUMNS).astype({"head": kind, "relation": kind})
    pool = ScoredTriples.from_frame(frame[frame["score"] > 0])
    assert pool.columns()["head"].tolist() == ["é", "c"]


def test_arrow_dictionaries_and_chunks_are_columns_too():
    table = pa.table({**COLUMNS, "relation": pa.array(COLUMNS["relation"]).dictionary_encode()})
    pool = ScoredTriples.from_frame(pa.concat_tables([table.slice(0, 1), table.slice(1)]))
    assert pool.columns()["relation"].tolist() == COLUMNS["relation"]


LONG_KINDS = {
    "pandas": pd.DataFrame,
    "pandas-object": lambda columns: pd.DataFrame(columns).astype({"head": "object", "tail": "object"}),
    "pandas-category": lambda columns: pd.DataFrame(columns).astype({"head": "category", "relation": "category"}),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


@pytest.mark.parametrize("make", LONG_KINDS.values(), ids=LONG_KINDS)
def test_a_long_frame_is_encoded_in_arrow_as_lists_are_in_python(make):
    rng = np.random.default_rng(0)
    names = np.array(
        [f"{letter}{number}" for letter in ("é", "z", "Z", "\U0001f600", "\uffff") for number in range(400)]
    )
    columns = {name: names[rng.integers(len(names), size=MANY)].tolist() for name in ("head", "relation", "tail")}
    columns["tail"] = [f"{tail} {row}" for row, tail in enumerate(columns["tail"])]
    columns["score"] = rng.random(MANY).tolist()
    frame, plain = ScoredTriples.from_frame(make(columns)), ScoredTriples.from_frame(columns)
    assert as_arrow(make(columns)["relation"]) is not None
    assert (frame.entity_names, frame.relation_names) == (plain.entity_names, plain.relation_names)
    for name in ("heads", "relations", "tails", "scores"):
        assert (getattr(frame, name) == getattr(plain, name)).all()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_missing_name_in_a_long_frame_is_told_by_its_row(make):
    columns = {"head": ["a", None] * (MANY // 2), "relation": ["r"] * MANY, "tail": ["t"] * MANY, "score": [0.0] * MANY}
    with pytest.raises(RowError, match="Row 1"):
        ScoredTriples.from_frame(make(columns))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_answers_are_found_in_the_pool_by_their_names(make):
    pool = ScoredTriples.from_frame(COLUMNS)
    answers = Answers.from_frame(make({"Subject": ["c"], "predicate": ["r"], "object": ["é"], "label": [1]})).on(pool)
    assert (answers.rows.tolist(), answers.labels.tolist()) == ([2], [True])


@pytest.mark.parametrize(
    ("frame", "kind", "sentence"),
    [
        (pd.DataFrame({"head": ["a"]}), TableError, "'relation'.*head"),
        (np.zeros((2, 4)), TableError, "ndarray"),
        (pd.DataFrame(np.zeros((2, 4))), TableError, "'head' is missing .the columns: 0, 1, 2, 3"),
        (pd.DataFrame({**COLUMNS, "head": ["a", None, "c"]}), RowError, "Row 1"),
        (pl.DataFrame({**COLUMNS, "head": [1.0, 2, 3]}), RowError, "Row 0.*1.0"),
        (pl.DataFrame({**COLUMNS, "score": [1.0, None, 3.0]}), RowError, "Row 1"),
        (pd.DataFrame({**COLUMNS, "score": [1.0, float("nan"), 3.0]}), RowError, "Row 1.*nan"),
    ],
)
def test_a_frame_that_will_not_do_is_answered_with_a_sentence(frame, kind, sentence):
    with pytest.raises(kind, match=sentence):
        ScoredTriples.from_frame(frame)


def test_to_frame_says_which_libraries_it_knows_and_what_to_install(pool, monkeypatch):
    with pytest.raises(ChoiceError, match="'pandas'"):
        pool.to_frame("panda")
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(OptionError, match="pip install polars"):
        pool.to_frame("polars")


def test_a_notebook_shows_the_first_rows_escaped(pool):
    odd = ScoredTriples.from_columns(["<b>a</b>"], ["r"], ["t"], [0.5])
    assert "<td>&lt;b&gt;a&lt;/b&gt;</td>" in odd._repr_html_()
    assert pool._repr_html_().count("<td>h") == 10
    assert pool._repr_html_().startswith("<p>ScoredTriples(60 triples")


@pytest.mark.parametrize("wrong", [np.zeros(3), pd.DataFrame(COLUMNS), None])
def test_a_calibrator_says_what_it_wants_instead(wrong, pool, labels):
    with pytest.raises(ActcError, match="ScoredTriples.from_frame"):
        Calibrator().fit(wrong)
    fitted = Calibrator().fit(pool)
    for method in (fitted.predict, fitted.predict_proba):
        with pytest.raises(ActcError, match="ScoredTriples.from_frame"):
            method(wrong)


def relation_of(columns):
    return duckdb.from_arrow(pa.table(columns))


KINDS = {
    "pandas": (pd.DataFrame, pd.DataFrame),
    "polars": (pl.DataFrame, pl.DataFrame),
    "lazy": (pl.LazyFrame, pl.LazyFrame),
    "pyarrow": (pa.table, pa.Table),
    "duckdb": (relation_of, duckdb.DuckDBPyRelation),
    "dict": (dict, pd.DataFrame),
}


@pytest.mark.parametrize(("make", "kind"), KINDS.values(), ids=KINDS)
def test_the_kind_of_frame_that_goes_in_comes_out_and_integer_ids_stay_integers(make, kind):
    columns = {"Head": list(range(8)), "relation": ["r"] * 8, "tail": list(range(8, 16)), "score": np.arange(8.0)}
    asked = pick_triples(make(columns), 3)
    assert isinstance(asked, kind)
    answers = {name: as_list(column) for name, column in read_optional(asked, PICKED).items()}
    answers = make({**answers, "label": [1.0, 0.0, float("nan")]})
    accepted = accept_triples(make(columns), answers)
    assert isinstance(accepted, kind)
    heads, tails, by = (as_list(column) for column in read_optional(accepted, ("head", "tail", "by")).values())
    assert all(isinstance(name, int) for name in heads + tails)
    assert by.count("person") == 1


PICKED = ("head", "relation", "tail", "score", "selection", "sampling_frame", "inclusion_probability", "frame_size")


def test_of_a_lazy_frame_only_the_columns_that_are_needed_are_worked_out():
    lazy = pl.LazyFrame(COLUMNS).with_columns(other=pl.col("head").map_elements(lambda name: 1 / 0, pl.Float64))
    assert len(ScoredTriples.from_frame(lazy)) == 3


@pytest.mark.parametrize("empty", [None, float("nan")])
def test_a_row_without_a_label_is_not_answered(empty):
    pool = ScoredTriples.from_frame(COLUMNS)
    cells = {"label": [empty, True, 0], "inclusion_probability": [0.5, 0.25, 0.125]}
    said = Answers.from_frame({**COLUMNS, **cells}).on(pool)
    assert (said.rows.tolist(), said.labels.tolist(), said.inclusion_probability.tolist()) == (
        [1, 2],
        [True, False],
        [0.25, 0.125],
    )
    assert len(Answers.from_frame({**COLUMNS, "label": [empty] * 3}).on(pool)) == 0


def test_labels_may_be_text_as_in_files_and_other_text_is_called_text():
    pool = ScoredTriples.from_frame(COLUMNS)
    assert Answers.from_frame({**COLUMNS, "label": ["1", "False", "0"]}).on(pool).labels.tolist() == [1, 0, 0]
    with pytest.raises(RowError, match="'yes'.*1"):
        Answers.from_frame({**COLUMNS, "label": ["1", "yes", "0"]}).on(pool)
    with pytest.raises(RowError):
        Answers.from_frame({**COLUMNS, "label": [1, 2, 0]}).on(pool)


def test_a_column_confidence_is_the_score_unless_there_is_a_score():
    columns = {"Subject": ["a"], "predicate": ["r"], "object": ["x"], "Confidence": [0.5]}
    read = ScoredTriples.from_frame(columns)
    assert (read.scores.tolist(), read.probabilities) == ([0.5], True)
    assert not ScoredTriples.from_frame({**columns, "Confidence": [2.0]}).probabilities
    assert ScoredTriples.from_frame({"score": [9.0], **columns}).scores.tolist() == [9.0]
