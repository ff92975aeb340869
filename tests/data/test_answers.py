"""Answers outlive the pool that they were asked from: which are used again, why others are not, what they prove."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from actc.data.answers import OTHER_POOL, Annotations, Answers
from actc.data.files import write_scored
from actc.data.triples import ScoredTriples, encode_columns
from actc.decide.calibrate import calibrate
from actc.errors import TableError

POOL = ScoredTriples.from_columns("abcdef", "rrrsss", "uvwxyz", np.arange(6.0))
DRAW = {"selection": "check", "sampling_frame": "accepted", "inclusion_probability": 0.25}
SAID = Annotations([1, 4, 5], [True, False, True], **DRAW, frame_size=6, who="ann")


def answers(*triples: str, label: int = 1, **how) -> Answers:
    named = encode_columns(*([one[i] for one in triples] for i in range(3)))
    return Answers(named, np.full(len(triples), label), **how)


def test_answers_are_written_and_read_back(tmp_path):
    SAID.about(POOL).write(tmp_path / "answers.tsv")
    read = Answers.read(tmp_path / "answers.tsv")
    again = read.on(POOL)
    assert (again.rows.tolist(), again.labels.tolist()) == ([1, 4, 5], [True, False, True])
    assert (again.inclusion_probability == 0.25).all()
    assert read.describe_use(POOL) == []
    assert Answers.from_frame(read.to_frame()).to_frame().equals(read.to_frame())


def test_of_two_answers_to_a_triple_the_later_one_counts():
    both = answers("aru", "brv").plus(answers("brv", "esy", label=0))
    assert [both.triples.triple(row) for row in range(3)] == [tuple("aru"), tuple("brv"), tuple("esy")]
    assert both.labels.tolist() == [True, False, False]


def test_every_answer_that_matches_is_used_and_of_the_others_it_is_said_why_not():
    graph = encode_columns("ag", "rr", "vu")
    said = answers("aru", "arv", "brz", "arq")
    assert said.on(POOL).rows.tolist() == [0]
    assert said.describe_use(POOL, graph) == [
        "1 of 4 answers can be used; 1 is a fact of the graph already, 1 names an entity or a "
        "relation that is unknown here, 1 is not among the candidates.",
    ]


def test_draws_from_another_pool_teach_and_prove_nothing():
    said = answers("aru", "arz", selection="random", sampling_frame="pool", inclusion_probability=0.1)
    assert said.on(POOL).has_inclusion_probability.tolist() == [False]
    assert said.describe_use(POOL)[-1] == OTHER_POOL
    same = answers("aru", "brv", selection="random", sampling_frame="pool", inclusion_probability=1 / 6, frame_size=6)
    assert same.on(POOL).has_inclusion_probability.all()
    assert same.describe_use(POOL) == []


def test_only_draws_from_as_many_candidates_prove_something():
    earlier = answers(
        "aru", "brz", selection="random", sampling_frame="pool", inclusion_probability=1 / 3, frame_size=3
    )
    today = answers("esy", selection="random", sampling_frame="pool", inclusion_probability=1 / 6, frame_size=6)
    both = earlier.plus(today)
    found = both.on(POOL)
    assert (found.rows.tolist(), found.has_inclusion_probability.tolist()) == ([0, 4], [False, True])
    assert len(both.describe_use(POOL)) == 1  # one answer is about no candidate


def test_calibrate_uses_the_labels_that_match_and_says_what_became_of_the_others(tmp_path, caplog):
    write_scored(tmp_path / "scores.tsv", POOL)
    labels = tmp_path / "labels.tsv"
    labels.write_text("head\trelation\ttail\tlabel\na\tr\tu\t0\nf\ts\tz\t1\nnobody\tr\tu\t1\n")
    with caplog.at_level(logging.WARNING, logger="actc"):
        found = calibrate(tmp_path / "scores.tsv", labels, method="localopt-acc")
    assert found.counts.annotated == 2
    assert "2 of 3 answers can be used" in caplog.text
    labels.write_text("head\trelation\ttail\tlabel\nnobody\tr\tu\t1\n")
    with pytest.raises(TableError):
        calibrate(tmp_path / "scores.tsv", labels, method="localopt-acc")
