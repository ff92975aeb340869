"""Answers come back from files and frames with how they were selected."""

from __future__ import annotations

import string

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actc import ScoredTriples
from actc.data.answers import PROVENANCE, SELECTIONS, Annotations, Answers
from actc.data.files import write_triples
from actc.errors import FileError, RowError

POOL = ScoredTriples.from_columns(
    [f"h{i}" for i in range(12)], ["r", "s"] * 6, [f"t{i}" for i in range(12)], np.arange(12.0)
)
WORDS = st.text(string.ascii_letters + "äß '#-:+", max_size=8)
CHANCES = st.floats(1e-300, 1) | st.just(float("nan"))
WITHIN = st.sampled_from(("", "pool", "accepted", "rejected", "relation"))


@st.composite
def answers(draw) -> Annotations:
    rows = draw(st.lists(st.integers(0, 11), min_size=1, unique=True))
    how = (st.sampled_from(SELECTIONS), WITHIN, CHANCES, st.integers(0, 99), WORDS, WORDS, st.integers(0, 3))
    labels, *columns = [draw(st.lists(one, min_size=len(rows), max_size=len(rows))) for one in (st.booleans(), *how)]
    return Annotations(np.array(rows), labels, **dict(zip(PROVENANCE, columns, strict=True)))


def assert_same(one: Answers, two: Answers) -> None:
    assert (one.triples.rows_of(two.triples) == np.arange(len(two))).all()
    for name in ("labels", *PROVENANCE):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def columns_of(annotations: Annotations) -> dict:
    return annotations.about(POOL).columns()


@pytest.mark.parametrize("name", ["answers.tsv", "answers.csv", "answers.tsv.gz", "answers.parquet"])
@settings(max_examples=10, deadline=None)
@given(given_answers=answers())
def test_answers_come_back_from_a_file_as_they_were(tmp_path_factory, name, given_answers):
    path = tmp_path_factory.mktemp("answers") / name
    write_triples(path, columns_of(given_answers))
    assert_same(Answers.read(path), given_answers.about(POOL))


@given(answers(), st.sampled_from([pd.DataFrame, dict]))
def test_answers_come_back_from_a_frame_as_they_were(given_answers, make):
    frame = make({**columns_of(given_answers), "inclusion_probability": given_answers.inclusion_probability})
    assert_same(Answers.from_frame(frame), given_answers.about(POOL))


def test_an_empty_cell_says_that_nobody_knows(tmp_path):
    cells = {
        "selection": [None, "check"],
        "sampling_frame": [None, "accepted"],
        "inclusion_probability": [None, 0.25],
        "who": [None, "ann"],
    }
    frame = pd.DataFrame({**POOL.take([3, 5]).columns(), "label": [1, 0], **cells})
    frame.to_csv(tmp_path / "answers.csv", index=False)
    for read in (Answers.from_frame(frame).on(POOL), Answers.read(tmp_path / "answers.csv").on(POOL)):
        assert (read.selection.tolist(), read.sampling_frame.tolist()) == (["given", "check"], ["", "accepted"])
        assert (read.has_inclusion_probability.tolist(), read.who.tolist()) == ([False, True], ["", "ann"])


STRANGE = {"selection": ("guessed", "'guessed'"), "inclusion_probability": ("2", "2.0")}


@pytest.mark.parametrize("column", STRANGE)
@pytest.mark.parametrize("again", [False, True])
def test_a_strange_way_to_ask_or_chance_is_one_sentence_with_its_line(tmp_path, column, again):
    cell, words = STRANGE[column]
    fine = "h0\tr\tt0\t1\tcheck\t0.5\n"
    strange = f"h1\ts\tt1\t1\t{cell}\t0.5\n" if column == "selection" else f"h1\ts\tt1\t1\tcheck\t{cell}\n"
    (tmp_path / "x.tsv").write_text(
        "head\trelation\ttail\tlabel\tselection\tinclusion_probability\n" + fine * (1 + again) + strange
    )
    with pytest.raises(FileError, match=rf"x.tsv, line {3 + again}.*{words}"):
        Answers.read(tmp_path / "x.tsv").on(POOL)


def test_a_chance_that_is_no_number_is_one_sentence_with_its_line(tmp_path):
    (tmp_path / "x.tsv").write_text("head\trelation\ttail\tlabel\tinclusion_probability\nh0\tr\tt0\t1\thalf\n")
    with pytest.raises(FileError, match=r"line 2.*'half'"):
        Answers.read(tmp_path / "x.tsv").on(POOL)


@pytest.mark.parametrize(
    "how", [{"selection": "guessed"}, {"inclusion_probability": 0.0}, {"inclusion_probability": 2}]
)
def test_what_cannot_be_is_refused_in_memory_too(how):
    with pytest.raises(RowError, match="Row 0"):
        Annotations(np.arange(2), np.ones(2), **how)


def test_answers_keep_how_they_were_asked_when_taken_and_put_together():
    draws = {"selection": ["check", "gain", "given"], "inclusion_probability": [0.5, 0.1, np.nan]}
    one = Answers.of(POOL, np.arange(3), np.ones(3), **draws, who="ann")
    two = Answers.of(POOL, np.array([7]), np.zeros(1), who="ben")
    both = one.plus(two)
    assert_same(both.take([0, 1, 2]), one)
    assert_same(both.first(3), one)
    assert_same(both.take(both.who == "ben"), two)
    assert both.has_inclusion_probability.tolist() == [True, True, False, False]
