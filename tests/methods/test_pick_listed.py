"""Questions drawn from a list that may be vouched for, and by rank from the whole pool."""

from __future__ import annotations

import numpy as np
import pytest

from actc.data.triples import Annotations
from actc.methods.pooled_evidence import FROM_LIST, LEAST, pick_listed

SURE = np.append(np.full(100, 0.97), np.linspace(0.5, 0.001, 900))


def test_most_questions_are_drawn_from_the_list_and_none_twice():
    picks = pick_listed(SURE, Annotations(), 200, np.random.default_rng(0))
    assert len(np.unique(picks.rows)) == 200
    listed = picks.within == "accepted"
    assert (picks.rows[listed] < 130).all()  # nine in ten should be what is sought
    assert (picks.rows[~listed] > 130).any()


def test_an_answered_triple_is_not_asked_again():
    judged = Annotations(np.arange(60), np.ones(60, bool))
    picks = pick_listed(SURE, judged, 900, np.random.default_rng(0))
    assert not np.isin(picks.rows, judged.rows).any()


def test_where_nothing_is_likely_the_list_is_short_and_fewer_are_drawn_from_it():
    picks = [pick_listed(np.full(1000, 1e-4), Annotations(), 1, np.random.default_rng(seed)) for seed in range(400)]
    listed = np.array([one.within[0] == "accepted" for one in picks])
    rows = np.array([one.rows[0] for one in picks])
    assert listed.mean() == pytest.approx(FROM_LIST[0], abs=0.07)
    assert rows[listed].max() < LEAST <= rows[~listed].max()


def test_the_chance_of_a_question_is_how_often_it_is_drawn():
    told = np.append(np.full(30, 0.97), np.full(170, 0.01))
    drawn = [pick_listed(told, Annotations(), 1, np.random.default_rng(seed)) for seed in range(4000)]
    rows, chances = np.array([one.rows[0] for one in drawn]), np.array([one.chance[0] for one in drawn])
    assert np.bincount(rows < 50)[1] / 4000 == pytest.approx(50 * chances[rows < 50].mean(), abs=0.03)
    assert (1 / chances).mean() == pytest.approx(200, rel=0.1)


def test_a_pool_is_asked_to_its_end():
    picks = pick_listed(np.array([0.9, 0.1, 0.2]), Annotations(), 10, np.random.default_rng(0))
    assert sorted(picks.rows.tolist()) == [0, 1, 2]


def test_where_all_is_judged_nothing_is_asked():
    judged = Annotations(np.arange(3), np.ones(3, bool))
    assert len(pick_listed(np.array([0.9, 0.1, 0.2]), judged, 10, np.random.default_rng(0)).rows) == 0
