"""Answers come back from files and frames with how they were selected, and outlive the pool that they were about."""

from __future__ import annotations

import logging
import string

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actc import ScoredTriples
from actc.data.answers import OTHER_POOL, PROVENANCE, SELECTIONS, Annotations, Answers
from actc.data.files import write_scored, write_triples
from actc.data.triples import encode_columns
from actc.decide.calibrate import calibrate
from actc.errors import FileError, TableError

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


@pytest.mark.parametrize(
    ("cells", "words"), [("guessed\t0.5", "'guessed'"), ("check\t2", "2.0"), ("check\thalf", "'half'")]
)
def test_a_strange_selection_or_probability_is_one_sentence_with_its_line(tmp_path, cells, words):
    rows = ("head\trelation\ttail\tlabel\tselection\tinclusion_probability", *["h0\tr\tt0\t1\tcheck\t0.5"] * 2)
    (tmp_path / "x.tsv").write_text("\n".join([*rows, f"h1\ts\tt1\t1\t{cells}\n"]))
    with pytest.raises(FileError, match=rf"x.tsv, line 4.*{words}"):
        Answers.read(tmp_path / "x.tsv")


def test_answers_keep_how_they_were_asked_when_taken_and_put_together():
    draws = {"selection": ["check", "gain", "given"], "inclusion_probability": [0.5, 0.1, np.nan]}
    one = Answers.of(POOL, np.arange(3), np.ones(3), **draws, who="ann")
    two = Answers.of(POOL, np.array([7]), np.zeros(1), who="ben")
    both = one.plus(two)
    assert_same(both.take([0, 1, 2]), one)
    assert_same(both.first(3), one)
    assert_same(both.take(both.who == "ben"), two)
    assert both.has_inclusion_probability.tolist() == [True, True, False, False]


SMALL = ScoredTriples.from_columns("abcdef", "rrrsss", "uvwxyz", np.arange(6.0))


def judged(*triples: str, label: int = 1, **how) -> Answers:
    named = encode_columns(*([one[i] for one in triples] for i in range(3)))
    return Answers(named, np.full(len(triples), label), **how)


def test_of_two_answers_to_a_triple_the_later_one_counts():
    both = judged("aru", "brv").plus(judged("brv", "esy", label=0))
    assert [both.triples.triple(row) for row in range(3)] == [tuple("aru"), tuple("brv"), tuple("esy")]
    assert both.labels.tolist() == [True, False, False]


def test_every_answer_that_matches_is_used_and_of_the_others_it_is_said_why_not():
    graph = encode_columns("ag", "rr", "vu")
    said = judged("aru", "arv", "brz", "arq")
    assert said.on(SMALL).rows.tolist() == [0]
    assert said.describe_use(SMALL, graph) == [
        "1 of 4 answers can be used; 1 is a fact of the graph already, 1 names an entity or a "
        "relation that is unknown here, 1 is not among the candidates.",
    ]


def test_draws_from_another_pool_teach_and_prove_nothing():
    said = judged("aru", "arz", selection="random", sampling_frame="pool", inclusion_probability=0.1)
    assert said.on(SMALL).has_inclusion_probability.tolist() == [False]
    assert said.describe_use(SMALL)[-1] == OTHER_POOL
    same = judged("aru", "brv", selection="random", sampling_frame="pool", inclusion_probability=1 / 6, frame_size=6)
    assert same.on(SMALL).has_inclusion_probability.all()
    assert same.describe_use(SMALL) == []


def test_only_draws_from_as_many_candidates_prove_something():
    earlier = judged("aru", "brz", selection="random", sampling_frame="pool", inclusion_probability=1 / 3, frame_size=3)
    today = judged("esy", selection="random", sampling_frame="pool", inclusion_probability=1 / 6, frame_size=6)
    both = earlier.plus(today)
    found = both.on(SMALL)
    assert (found.rows.tolist(), found.has_inclusion_probability.tolist()) == ([0, 4], [False, True])
    assert len(both.describe_use(SMALL)) == 1  # one answer is about no candidate


def test_calibrate_uses_the_labels_that_match_and_says_what_became_of_the_others(tmp_path, caplog):
    write_scored(tmp_path / "scores.tsv", SMALL)
    labels = tmp_path / "labels.tsv"
    labels.write_text("head\trelation\ttail\tlabel\na\tr\tu\t0\nf\ts\tz\t1\nnobody\tr\tu\t1\n")
    with caplog.at_level(logging.WARNING, logger="actc"):
        found = calibrate(tmp_path / "scores.tsv", labels, method="localopt-acc")
    assert found.counts.annotated == 2
    assert "2 of 3 answers can be used" in caplog.text
    labels.write_text("head\trelation\ttail\tlabel\nnobody\tr\tu\t1\n")
    with pytest.raises(TableError):
        calibrate(tmp_path / "scores.tsv", labels, method="localopt-acc")
