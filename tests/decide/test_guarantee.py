"""Rounds of draws: the list is found again from the answers alone, and what it guarantees is kept."""

from __future__ import annotations

import numpy as np
import pytest

from actc.data.answers import Annotations
from actc.decide.case import Case
from actc.decide.guarantee import LIST, BegunRound, name_round, split_random
from actc.decide.list_test import Demand, Round
from actc.decide.pick import pick_next
from actc.session.oracle import ask_oracle
from tests.synthetic import make_truth

POOL, TRUTH, _ = make_truth(3000, 5)


def ask(seed: int, target: float, budget: int = 100) -> Case:
    """Ask an oracle for answers that serve a guarantee."""
    rows = np.arange(len(POOL))
    return ask_oracle(POOL, lambda _, asked: TRUTH[asked], rows, budget=budget, seed=seed, demand=Demand(target))


@pytest.mark.parametrize("target", [0.6, 0.8])
def test_a_guarantee_is_kept_in_nearly_every_run(target):
    broken, made = 0, 0
    for seed in range(20):
        case = ask(seed, target)
        mine = case.decisions.accepted & (case.decisions.by == "method")
        made += mine.any()
        broken += bool(mine.any() and TRUTH[mine].mean() < target)
    assert made >= 8
    assert broken <= 4  # 2 are allowed on the mean


def test_the_list_is_the_same_whatever_the_order_of_the_answers():
    case = ask(0, 0.7)
    order = np.random.default_rng(0).permutation(len(case.annotations))
    again = Case(POOL, case.annotations.take(order), demand=case.demand)
    assert again.guarantee.rows.tolist() == case.guarantee.rows.tolist()
    assert len(case.guarantee.rows)


def test_draws_are_from_the_list_that_the_answers_before_them_make():
    case = ask(1, 0.7)
    assert sum(len(one.places) for one in case.rounds) == (case.annotations.selection == LIST).sum()
    for one in case.rounds:
        mine = case.annotations.take((case.annotations.round == one.number) & (case.annotations.selection == LIST))
        assert (one.places < one.size).all()
        assert one.size == pytest.approx(1 / mine.inclusion_probability[0], abs=1)


def test_cuts_accept_what_is_on_the_list():
    case = ask(2, 0.7)
    free = ~np.isin(np.arange(len(POOL)), case.annotations.rows)
    assert (case.thresholds.decide(POOL)[free] == case.decisions.accepted[free]).all()


def test_without_a_list_that_passes_only_people_s_answers_are_accepted():
    case = ask(3, 0.995)
    assert not case.guarantee.size
    assert set(case.decisions.by[case.decisions.accepted]) == {"oracle"}


def test_a_higher_target_is_tested_on_shorter_lists_of_the_same_draws():
    case = ask(4, 0.7)
    sizes = [case.guarantee_for(Demand(target)).size for target in (0.6, 0.7, 0.8, 0.99)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[1] == case.guarantee.size


def test_a_list_that_failed_is_given_up_and_the_asking_ends_where_a_list_has_passed():
    asked = ask(5, 0.5, budget=400)
    assert asked.guarantee.size
    assert len(asked.annotations) < 400
    assert not len(pick_next(asked, 10, np.random.default_rng(0), 400, final=True))


def test_a_random_draw_is_split_so_that_one_half_tests_what_the_other_found():
    rows = np.random.default_rng(0).permutation(len(POOL))[:200]
    answers = split_random(Annotations(rows, TRUTH[rows]), len(POOL), np.random.default_rng(1))
    case = Case(POOL, answers, demand=Demand(0.6))
    (drawn,) = case.rounds
    assert (len(drawn.base.annotations), len(drawn.places)) == (100, 100)
    assert drawn.size == len(POOL) - 100


def test_what_stands_beside_a_draw_is_read_back():
    assert BegunRound.read(2, name_round(Round(85, 0.7)), 1 / 400) == BegunRound(2, Round(85, 0.7), 400)
    assert BegunRound.read(1, "accepted", 0.1) is None


def test_about_as_many_answers_as_are_said_to_be_needed_are_enough():
    first = Case(POOL, ask(6, 0.7, budget=60).annotations.without_inclusion_probability())
    needed = first.answers_needed(Demand(0.7))
    assert 10 < needed < 300
    passed = [bool(ask(seed, 0.7, budget=60 + needed).guarantee.size) for seed in range(6)]
    assert sum(passed) >= 3


def test_no_more_draws_are_given_out_than_a_round_has_left():
    case = Case(POOL, ask(7, 0.7, budget=20).annotations.without_inclusion_probability(), demand=Demand(0.7))
    begun = pick_next(case, 5, np.random.default_rng(0))
    case = Case(POOL, case.annotations.plus(begun.answered(TRUTH[begun.rows])), demand=Demand(0.7))
    free, left = np.setdiff1d(np.arange(len(POOL)), case.annotations.rows), case.rounds[0].open_draws
    for waiting in (left - 2, left, left + 3):
        assert len(pick_next(case, 1000, np.random.default_rng(1), besides=free[:waiting])) == max(left - waiting, 0)
