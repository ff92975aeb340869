"""Questions where what is sought is rare: part from a list of the most probable ones, the rest from the whole pool."""

from __future__ import annotations

import numpy as np
import pytest

from actc.data.answers import Annotations
from actc.methods.pooled.picks import pick_listed
from actc.methods.pooled.tuned import FROM_LIST, LEAST_LIST

SURE = np.append(np.full(100, 0.97), np.linspace(0.5, 0.001, 900))


def pick(probabilities, answers, count, seed=0, relations=None):
    relations = np.zeros(len(probabilities), np.int64) if relations is None else relations
    return pick_listed(probabilities, relations, answers, count, np.random.default_rng(seed))


def test_the_list_is_asked_first_and_others_too_and_none_twice():
    rows = pick(SURE, Annotations(), 200).rows
    assert len(np.unique(rows)) == 200
    assert np.isin(np.arange(LEAST_LIST), rows).mean() > 0.9
    assert (rows > 130).any()


def test_an_answered_triple_is_not_asked_again():
    judged = Annotations(np.arange(60), np.ones(60, bool))
    assert not np.isin(pick(SURE, judged, 900).rows, judged.rows).any()


def test_where_nothing_is_likely_fewer_are_drawn_from_the_list():
    rows = np.array([pick(np.full(1000, 1e-4), Annotations(), 1, seed).rows[0] for seed in range(400)])
    assert (rows < LEAST_LIST).mean() == pytest.approx(FROM_LIST[0], abs=0.08)


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


def test_a_pool_is_asked_to_its_end():
    assert sorted(pick(np.array([0.9, 0.1, 0.2]), Annotations(), 10).rows.tolist()) == [0, 1, 2]


def test_where_all_is_judged_nothing_is_asked():
    judged = Annotations(np.arange(3), np.ones(3, bool))
    assert len(pick(np.array([0.9, 0.1, 0.2]), judged, 10).rows) == 0
