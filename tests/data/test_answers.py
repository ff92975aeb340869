"""Answers outlive the pool that they were asked from: which are used again, why others are not, what they prove."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from actc.data.answers import Answers
from actc.data.files import write_scored
from actc.data.triples import Annotations, ScoredTriples, encode_columns
from actc.decide.calibrate import calibrate
from actc.errors import FileError

POOL = ScoredTriples.from_columns("abcdef", "rrrsss", "uvwxyz", np.arange(6.0))
SAID = Annotations([1, 4, 5], [True, False, True], "check", "accepted", 0.25, 6, "ann")


def answers(*triples: str, label: int = 1, **how) -> Answers:
    named = encode_columns(*([one[i] for one in triples] for i in range(3)))
    return Answers(named, Annotations(np.arange(len(triples)), np.full(len(triples), label), **how))


def test_answers_are_written_and_read_back(tmp_path):
    Answers.of(POOL, SAID).write(tmp_path / "answers.tsv")
    again, use = Answers.read(tmp_path / "answers.tsv").among(POOL)
    assert (again.rows.tolist(), again.labels.tolist()) == ([1, 4, 5], [True, False, True])
    assert (again.inclusion_probability == 0.25).all()
    assert use.notes == ()


def test_of_two_answers_to_a_triple_the_later_one_counts():
    both = answers("aru", "brv").plus(answers("brv", "esy", label=0))
    assert [both.triples.triple(row) for row in range(3)] == [tuple("aru"), tuple("brv"), tuple("esy")]
    assert both.annotations.labels.tolist() == [True, False, False]


def test_every_answer_that_matches_is_used_and_of_the_others_it_is_said_why_not():
    graph = encode_columns("ag", "rr", "vu")
    said, use = answers("aru", "arv", "brz", "arq").among(POOL, graph)
    assert said.rows.tolist() == [0]
    assert use.notes == (
        "1 of 4 answers are about candidates and are used; 1 is a fact of the graph already, 1 names an entity or a "
        "relation that is unknown here, 1 is not among the candidates.",
    )


def test_draws_from_another_pool_teach_and_prove_nothing():
    said, use = answers("aru", "arz", selection="random", sampling_frame="pool", inclusion_probability=0.1).among(POOL)
    assert (said.rows.tolist(), said.has_inclusion_probability.tolist()) == ([0], [False])
    assert "prove nothing" in use.notes[-1]
    same, use = answers(
        "aru", "brv", selection="random", sampling_frame="pool", inclusion_probability=1 / 6, frame_size=6
    ).among(POOL)
    assert same.has_inclusion_probability.all()
    assert use.notes == ()


def test_only_draws_from_as_many_candidates_prove_something():
    said = Annotations([0, 2, 4], [True, False, True], "random", "pool", [1 / 3, 1 / 3, 1 / 6], [3, 3, 6])
    assert said.drawn_from(6).has_inclusion_probability.tolist() == [False, False, True]
    assert (said.drawn_from(6).frame_size == 0).all()
    earlier = answers(
        "aru", "brz", selection="random", sampling_frame="pool", inclusion_probability=1 / 3, frame_size=3
    )
    today = answers("esy", selection="random", sampling_frame="pool", inclusion_probability=1 / 6, frame_size=6)
    found, use = earlier.plus(today).among(POOL)
    assert (found.rows.tolist(), found.has_inclusion_probability.tolist()) == ([0, 4], [False, True])
    assert len(use.notes) == 1  # one answer is about no candidate


def test_calibrate_uses_the_labels_that_match_and_says_what_became_of_the_others(tmp_path, caplog):
    write_scored(tmp_path / "scores.tsv", POOL)
    labels = tmp_path / "labels.tsv"
    labels.write_text("head\trelation\ttail\tlabel\na\tr\tu\t0\nf\ts\tz\t1\nnobody\tr\tu\t1\n")
    with caplog.at_level(logging.WARNING, logger="actc"):
        found = calibrate(tmp_path / "scores.tsv", labels, method="localopt-acc")
    assert found.counts.annotated == 2
    assert "2 of 3 answers are about candidates" in caplog.text
    labels.write_text("head\trelation\ttail\tlabel\nnobody\tr\tu\t1\n")
    with pytest.raises(FileError):
        calibrate(tmp_path / "scores.tsv", labels, method="localopt-acc")
