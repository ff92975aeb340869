"""Answers outlive the pool that they were asked from: which are used again, why others are not, what they prove."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc.errors import FileError
from actc.tables.answers import Answers
from actc.tables.files import write_scored
from actc.triples import Annotations, ScoredTriples, encode_columns
from actc.trust.calibrate import calibrate

POOL = ScoredTriples.from_columns("abcdef", "rrrsss", "uvwxyz", np.arange(6.0))
SAID = Annotations([1, 4, 5], [True, False, True], "check", "accepted", 0.25, 6, "ann")


def answers(*triples: str, label: int = 1, **how) -> Answers:
    named = encode_columns(*([one[i] for one in triples] for i in range(3)))
    return Answers(named, Annotations(np.arange(len(triples)), np.full(len(triples), label), **how))


def test_answers_are_written_and_read_back(tmp_path):
    Answers.of(POOL, SAID).write(tmp_path / "answers.tsv")
    again, use = Answers.read(tmp_path / "answers.tsv").among(POOL)
    assert (again.rows.tolist(), again.labels.tolist()) == ([1, 4, 5], [True, False, True])
    assert (again.chance == 0.25).all()
    assert use.notes == ()


def test_of_two_answers_to_a_triple_the_later_one_counts():
    both = answers("aru", "brv").plus(answers("brv", "esy", label=0))
    assert [both.triples.triple(row) for row in range(3)] == [tuple("aru"), tuple("brv"), tuple("esy")]
    assert both.said.labels.tolist() == [True, False, False]


def test_every_answer_that_matches_is_used_and_of_the_others_it_is_said_why_not():
    graph = encode_columns("ag", "rr", "vu")
    said, use = answers("aru", "arv", "brz", "arq").among(POOL, graph)
    assert said.rows.tolist() == [0]
    assert use.notes == (
        "1 of 4 answers are about candidates and are used; 1 is a fact of the graph already, 1 names an entity or a "
        "relation that is unknown here, 1 is not among the candidates.",
    )


def test_draws_from_another_pool_teach_and_prove_nothing():
    said, use = answers("aru", "arz", asked="random", within="pool", chance=0.1).among(POOL)
    assert (said.rows.tolist(), said.proves.tolist()) == ([0], [False])
    assert "prove nothing" in use.notes[-1]
    same, use = answers("aru", "brv", asked="random", within="pool", chance=1 / 6, reach=6).among(POOL)
    assert same.proves.all()
    assert use.notes == ()


def test_draws_from_the_first_part_of_a_pool_prove_nothing_of_the_rest_until_that_is_drawn_from():
    early = Annotations([0, 2], [True, False], "random", "pool", 1 / 3, 3)
    assert not early.in_grown(6).proves.any()
    both = early.plus(Annotations([4], [True], "random", "pool", 1 / 6))
    assert both.in_grown(6).proves.all()
    assert not early.plus(Annotations([5], [True], "random", "pool", 1 / 3, 3)).in_grown(6).proves.any()


@given(st.lists(st.tuples(st.integers(5, 60), st.integers(1, 30)), min_size=1, max_size=4), st.integers(0, 99))
def test_weights_of_a_pool_that_grew_add_up_to_its_size_on_average(stages, seed):
    """Whatever the stages are, inverse chances estimate how many candidates there are, old ones and new ones."""
    random, sizes = np.random.default_rng(seed), np.cumsum([size for size, _ in stages])
    counts = np.array([count for _, count in stages])
    # The mean chance of every candidate over all questions, by the definition.
    chance = np.mean(np.repeat((np.arange(sizes[-1]) < sizes[:, None]) / sizes[:, None], counts, axis=0), axis=0)
    reach = np.repeat(sizes, counts)
    rows = random.permutation(sizes[-1])[: len(reach)]
    reach, rows = reach[: len(rows)], rows[rows < sizes[-1]]
    fits = rows < reach
    if not fits.all() or len(rows) < counts.sum():
        return
    found = Annotations(rows, np.ones(len(rows)), "random", "pool", 1 / reach, reach).in_grown(int(sizes[-1]))
    assert found.chance == pytest.approx(chance[rows])


def test_the_share_of_true_ones_is_estimated_without_bias_when_a_pool_grew():
    truth = np.r_[np.ones(300), np.zeros(300)]  # all that came later is false
    random, shares, plain = np.random.default_rng(0), [], []
    for _ in range(400):
        old, new = random.choice(300, 30, replace=False), random.choice(600, 30, replace=False)
        new = np.setdiff1d(new, old)
        reach = np.r_[np.full(30, 300), np.full(len(new), 600)]
        rows = np.r_[old, new]
        found = Annotations(rows, truth[rows], "random", "pool", 1 / reach, reach).in_grown(600)
        shares.append(np.average(found.labels, weights=1 / found.chance))
        plain.append(found.labels.mean())
    assert np.mean(shares) == pytest.approx(0.5, abs=0.02)
    assert np.mean(plain) > 0.7  # as if the old answers were draws from the new pool


def test_calibrate_uses_the_labels_that_match_and_says_what_became_of_the_others(tmp_path, caplog):
    write_scored(tmp_path / "scores.tsv", POOL)
    labels = tmp_path / "labels.tsv"
    labels.write_text("head\trelation\ttail\tlabel\na\tr\tu\t0\nf\ts\tz\t1\nnobody\tr\tu\t1\n")
    with caplog.at_level(logging.WARNING, logger="actc"):
        found = calibrate(tmp_path / "scores.tsv", labels, method="localopt-acc")
    assert found.counts.annotated == 2
    assert "2 of 3 answers are about candidates" in caplog.text
    labels.write_text("head\trelation\ttail\tlabel\nnobody\tr\tu\t1\n")
    with pytest.raises(FileError, match="none of its 1 answers is about the 6 candidates: 1 names an entity"):
        calibrate(tmp_path / "scores.tsv", labels, method="localopt-acc")
