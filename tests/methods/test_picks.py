"""Which triples are asked next, and what stands beside each: why, from which set, and with which probability."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actc.data.answers import Annotations
from actc.data.triples import ScoredTriples
from actc.methods.pooled.method import Pooled
from actc.methods.pooled.picks import RANDOM_CHECK, pick_expected_gain, pick_rare, which_set
from actc.methods.pooled.tuned import CHECKS, DUE, LEAST_LIST
from tests.synthetic import make_truth


def ask(pool: ScoredTriples, labels: np.ndarray, count: int, seed: int = 0, step: int = 10) -> Annotations:
    """Return the answers of somebody who is asked in rounds."""
    random, answers = np.random.default_rng(seed), Annotations()
    while len(answers) < count:
        picks = Pooled().fit(pool, answers).pick(min(step, count - len(answers)), random)
        answers = answers.plus(picks.answered(labels[picks.rows]))
    return answers


@given(st.integers(1, 2000))
def test_checks_come_in_their_shares_from_the_first_questions_on(count):
    asked = [which_set(question) for question in range(count)]
    for within, share in CHECKS.items():
        assert abs(asked.count(within) - share * count) <= 2


def test_a_check_is_a_draw_from_what_would_be_accepted_now_or_from_the_rest():
    pool, labels, _ = make_truth()
    fitted = Pooled().fit(pool, Annotations(np.arange(100), labels[:100]))
    picks, accepted = fitted.pick(400, np.random.default_rng(0)), fitted.accepts(pool)
    assert picks.sampling_frame.tolist() == [which_set(100 + at) for at in range(400)]
    assert picks.selection.tolist() == ["check" if within else "gain" for within in picks.sampling_frame]
    assert accepted[picks.rows[picks.sampling_frame == "accepted"]].all()
    assert not accepted[picks.rows[picks.sampling_frame == "rejected"]].any()
    drawn = picks.sampling_frame != ""
    assert set(picks.reasons[drawn]) == {RANDOM_CHECK}  # a card does not tell which way it would be decided
    assert RANDOM_CHECK not in set(picks.reasons[~drawn])


def test_gain_is_asked_where_it_is_uncertain_and_checks_are_not():
    pool, labels, _ = make_truth()
    fitted = Pooled().fit(pool, Annotations(np.arange(100), labels[:100]))
    picks = fitted.pick(400, np.random.default_rng(0))
    doubt = np.abs(fitted.probabilities(pool) - 0.5)[picks.rows]
    assert np.median(doubt[picks.selection == "gain"]) < 0.7 * np.median(doubt[picks.selection == "check"])


def test_every_relation_that_brings_many_accepted_facts_is_checked():
    """Eight relations bring an eighth of the accepted facts each: none of them waits long for its first check."""
    pool, _, _ = make_truth()
    pool = pool.with_scores(pool.scores + 5)
    for seed in range(20):
        picks = Pooled().fit(pool, Annotations()).pick(100, np.random.default_rng(seed))
        checked = pool.relations[picks.rows[picks.sampling_frame == "accepted"]]
        accepted = pool.relations[Pooled().fit(pool, Annotations()).accepts(pool)]
        many = np.flatnonzero(np.bincount(accepted, minlength=8) > 0.1 * len(accepted))
        assert {*many.tolist()} <= {*checked.tolist()}


def test_where_a_set_is_judged_whole_its_checks_are_drawn_from_the_pool():
    pool, labels, _ = make_truth(60, 2)
    best = np.argsort(-np.where(pool.relations == 0, pool.scores, -np.inf))[:5]
    answers = Annotations(best, labels[best])
    picks = pick_expected_gain(
        Pooled().fit(pool, answers).posterior, answers, 40, np.random.default_rng(0), np.array([5, 0])
    )
    assert {*picks.sampling_frame} == {"", "rejected", "pool"}
    assert {*picks.selection[picks.sampling_frame == "pool"]} == {"random"}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 999), st.integers(0, 60), st.integers(1, 80))
def test_every_question_has_a_probability_and_a_check_at_least_that_of_its_share(seed, judged, count):
    pool, labels, _ = make_truth(300, 4, seed=seed)
    picks = Pooled().fit(pool, Annotations(np.arange(judged), labels[:judged])).pick(count, np.random.default_rng(seed))
    assert ((picks.inclusion_probability > 0) & (picks.inclusion_probability <= 1)).all()
    drawn = np.isin(picks.sampling_frame, list(CHECKS))
    assert (picks.inclusion_probability[drawn] >= min(CHECKS.values()) / len(pool) / DUE).all()


def test_probabilities_are_how_often_each_triple_is_asked(monkeypatch):
    """Over many first questions, each of a kind drawn in its share, every triple comes as often as its probability."""
    pool, labels, _ = make_truth(60, 2)
    fitted, random = Pooled().fit(pool, Annotations(np.arange(9), labels[:9])), np.random.default_rng(0)
    kinds, shares = [*CHECKS, ""], [*CHECKS.values(), 1 - sum(CHECKS.values())]
    monkeypatch.setattr("actc.methods.pooled.picks.which_set", lambda question: random.choice(kinds, p=shares))
    times, probability = np.zeros(60), np.zeros(60)
    for _ in range(1500):
        picks = fitted.pick(1, random)
        times[picks.rows] += 1
        probability[picks.rows] = picks.inclusion_probability
    assert probability.sum() == pytest.approx(1)
    assert (np.abs(times - 1500 * probability) <= 4 * np.sqrt(1500 * probability)).all()


def test_answers_weighted_by_their_chance_are_right_on_average_under_its_own_questions():
    """Each by its chance, answers estimate how many triples are true; counted, they are off: a third is of accepted."""
    weighted, plain, real = [], [], []
    for seed in range(60):
        pool, labels, _ = make_truth(1500, 6, cap=0.6, seed=seed)
        answers = ask(pool, labels, 60, seed, step=20)
        weights = 1 / answers.inclusion_probability
        weighted.append(weights @ answers.labels / weights.sum())
        plain.append(answers.labels.mean())
        real.append(labels.mean())
    off, error = np.mean(np.subtract(weighted, real)), np.std(np.subtract(weighted, real)) / np.sqrt(60)
    assert abs(off) < 3 * error
    assert np.mean(plain) - np.mean(real) > 5 * np.std(plain) / np.sqrt(60)
    assert off == pytest.approx(0, abs=0.03)


SURE = np.append(np.full(100, 0.97), np.linspace(0.5, 0.001, 900))


def pick(probabilities, answers, count, seed=0, relations=None):
    relations = np.zeros(len(probabilities), np.int64) if relations is None else relations
    return pick_rare(probabilities, relations, answers, count, np.random.default_rng(seed))


def test_the_list_is_asked_first_and_others_too_and_none_twice():
    rows = pick(SURE, Annotations(), 200).rows
    assert len(np.unique(rows)) == 200
    assert np.isin(np.arange(LEAST_LIST), rows).mean() > 0.9
    assert (rows > 130).any()


def test_an_answered_triple_is_not_asked_again():
    judged = Annotations(np.arange(60), np.ones(60, bool))
    assert not np.isin(pick(SURE, judged, 900).rows, judged.rows).any()


def test_the_chance_of_a_question_is_how_often_it_is_drawn():
    probabilities = np.append(np.full(30, 0.97), np.full(170, 0.01))
    drawn = [pick(probabilities, Annotations(), 1, seed) for seed in range(4000)]
    rows, chances = np.array([one.rows[0] for one in drawn]), np.array([one.inclusion_probability[0] for one in drawn])
    assert (1 / chances).mean() == pytest.approx(200, rel=0.1)
    assert ((rows < 30) / chances).mean() == pytest.approx(30, rel=0.1)


def test_a_relation_with_four_times_as_many_triples_has_twice_as_many_questions():
    relations = np.repeat([0, 1], [800, 200])
    rows = np.array([pick(np.full(1000, 1e-4), Annotations(), 1, seed, relations).rows[0] for seed in range(2000)])
    rest = rows[rows >= LEAST_LIST]
    assert (rest < 800).sum() / (rest >= 800).sum() == pytest.approx(2, rel=0.25)


def test_where_all_is_judged_nothing_is_asked():
    judged = Annotations(np.arange(3), np.ones(3, bool))
    assert len(pick(np.array([0.9, 0.1, 0.2]), judged, 10).rows) == 0
