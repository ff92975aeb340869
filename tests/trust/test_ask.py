"""Three ways, and when to stop."""

from __future__ import annotations

import numpy as np
import pytest

from actc import ScoredTriples
from actc.errors import OptionError
from actc.pooled.model import find_cuts
from actc.pooled.picks import expected_gains
from actc.trust.ask import decide_three_ways, gain_beyond, weigh_next_answers
from actc.trust.case import Case
from tests.synthetic import fit_on_random, make_truth


@pytest.fixture
def fitted():
    pool, labels, _ = make_truth()
    posterior, annotations = fit_on_random(pool, labels, 100)
    return pool, labels, posterior, find_cuts(posterior), Case(pool, annotations)


def test_every_triple_goes_one_way_and_the_queue_falls_in_worth(fitted):
    pool, *_, case = fitted
    three = decide_three_ways(case)
    assert not (three.accept & three.ask).any()
    assert 0 < three.ask.sum() < len(pool)
    assert (np.diff(three.worth[three.queue]) <= 0).all()
    assert set(three.queue) == set(np.flatnonzero(three.ask))


def test_decisions_that_are_not_asked_are_better_than_all_of_them(fitted):
    pool, labels, _, cuts, case = fitted
    three = decide_three_ways(case)
    sure = ~three.ask
    everywhere = (labels == (pool.scores >= cuts[pool.relations])).mean()
    assert (labels == three.accept)[sure].mean() > everywhere + 0.03


def test_dearer_answers_are_asked_less_often(fitted):
    *_, case = fitted
    asked = [decide_three_ways(case, price=price).ask.sum() for price in (0.2, 0.5, 5.0)]
    assert asked[0] > asked[1] > asked[2] or asked[1] == asked[2] == 0
    with pytest.raises(OptionError, match="positive"):
        decide_three_ways(case, price=0)


def test_an_early_answer_sets_more_right_than_its_own_triple():
    pool, labels, _ = make_truth()
    _, annotations = fit_on_random(pool, labels, 5)
    assert decide_three_ways(Case(pool, annotations)).worth.max() > 1


def test_a_relation_that_the_pool_lacks_brings_nothing_to_others(fitted):
    *_, posterior, _, _ = fitted
    strange = ScoredTriples.from_columns(["a"], ["never seen"], ["b"], [0.1])
    codes = posterior.pool.relation_codes(strange)
    assert gain_beyond(posterior, posterior.pool.centred(strange.scores, codes), codes).tolist() == [0.0]


@pytest.mark.parametrize("relations", [4, 25])
def test_the_next_ten_answers_go_where_they_bring_most(relations):
    pool, labels, _ = make_truth(1000, relations)
    posterior, _ = fit_on_random(pool, labels, 40)
    best = np.sort(expected_gains(posterior, np.arange(relations)).max(axis=1))
    gain = weigh_next_answers(posterior).gain
    assert best[-1] < gain < 10 * best[-1]  # less than if every answer went to the very best place
    assert gain >= 10 * best.mean()  # more than if they went anywhere
    assert gain == pytest.approx(10 * best[-10:].mean())


def test_the_first_answers_are_worth_their_price_and_the_thousandth_is_not():
    pool, labels, _ = make_truth()
    first, later = (weigh_next_answers(fit_on_random(pool, labels, count)[0]) for count in (3, 1000))
    assert first.go_on
    assert not later.go_on
    assert first.gain > 5 * later.gain
    assert str(first).endswith("decisions: worth going on.")
    assert str(later).endswith("decisions: hardly worth going on.")
    assert not weigh_next_answers(fit_on_random(pool, labels, 3)[0], price=1e6).go_on
