"""A guarantee by testing a list: exact by enumeration, computed again from the answers alone, and kept."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from actc.complete.answers import ask_oracle
from actc.data.answers import Annotations, Answers
from actc.data.triples import ScoredTriples
from actc.decide.case import Case
from actc.decide.guarantee import (
    LIST,
    RoundPlan,
    TargetPrecision,
    draws_to_pass,
    is_settled,
    largest_passing,
    nested_lists,
    p_values,
    plan_rounds,
    split_random,
)
from actc.decide.pick import pick_next
from tests.synthetic import make_truth

POOL, TRUTH, _ = make_truth(3000, 5)
NINETY = TargetPrecision(0.9)


def ask(seed: int, target: float, budget: int = 100) -> Case:
    """Ask an oracle for answers that serve a guarantee."""
    return ask_oracle(Case(POOL, target=TargetPrecision(target)), TRUTH, budget=budget, seed=seed)


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
    again = Case(POOL, case.annotations.take(order), target=case.target)
    assert again.guarantee.rows.tolist() == case.guarantee.rows.tolist()
    assert len(case.guarantee.rows)


def test_draws_are_from_the_list_that_the_answers_before_them_make():
    case = ask(1, 0.7)
    assert sum(len(one.places) for one in case.rounds) == (case.annotations.selection == LIST).sum()
    for one in case.rounds:
        mine = case.annotations.take((case.annotations.round == one.plan.number) & (case.annotations.selection == LIST))
        assert (one.places < one.size).all()
        assert one.size == pytest.approx(1 / mine.inclusion_probability[0], abs=1)


@pytest.mark.parametrize("judged", [0, 600])
def test_cuts_accept_what_is_on_the_list(judged):
    """Answers of judges move single candidates, not the cuts."""
    rows = np.random.default_rng(1).permutation(len(POOL))[:judged]
    right = np.random.default_rng(2).random(judged) < 0.85
    case = replace(ask(2, 0.7), judged=Answers(POOL.take(rows).plain(), TRUTH[rows] == right, who="judge"), fitted=None)
    free = ~np.isin(np.arange(len(POOL)), np.append(rows, case.annotations.rows))
    assert case.guarantee.size
    assert (case.thresholds.decide(POOL)[free] == case.decisions.accepted[free]).all()


def test_without_a_list_that_passes_only_people_s_answers_are_accepted():
    case = ask(3, 0.995)
    assert not case.guarantee.size
    assert set(case.decisions.by[case.decisions.accepted]) == {"oracle"}


def test_a_higher_target_is_tested_on_shorter_lists_of_the_same_draws():
    case = ask(4, 0.7)
    sizes = [case.guarantee_for(TargetPrecision(target)).size for target in (0.6, 0.7, 0.8, 0.99)]
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
    case = Case(POOL, answers, target=TargetPrecision(0.6))
    (drawn,) = case.rounds
    assert (len(drawn.base.annotations), len(drawn.places)) == (100, 100)
    assert drawn.size == len(POOL) - 100


def test_a_list_that_is_short_gets_the_draws_that_it_needs():
    """22 true draws of a list of 150 are too few for .9, though they are enough for a list without end."""
    names, labels = [f"e{row}" for row in range(400)], np.arange(400) < 150
    scores = np.where(labels, 4.0, -4.0) + np.random.default_rng(0).normal(size=400)
    pool = ScoredTriples.from_columns(names, ["r"] * 400, names, scores)
    case = ask_oracle(Case(pool, method="pooled-evidence", target=NINETY), labels, budget=30)
    assert case.guarantee.size > 100


def test_about_as_many_answers_as_are_said_to_be_needed_are_enough():
    first = Case(POOL, ask(6, 0.7, budget=60).annotations.without_inclusion_probability())
    needed = first.answers_needed(TargetPrecision(0.7))
    assert 10 < needed < 300
    passed = [bool(ask(seed, 0.7, budget=60 + needed).guarantee.size) for seed in range(6)]
    assert sum(passed) >= 3


def test_no_more_draws_are_given_out_than_a_round_has_left():
    case = Case(POOL, ask(7, 0.7, budget=20).annotations.without_inclusion_probability(), target=TargetPrecision(0.7))
    begun = pick_next(case, 5, np.random.default_rng(0))
    case = Case(POOL, case.annotations.plus(begun.answered(TRUTH[begun.rows])), target=TargetPrecision(0.7))
    free, left = np.setdiff1d(np.arange(len(POOL)), case.annotations.rows), case.rounds[0].open_draws
    for waiting in (left - 2, left, left + 3):
        assert len(pick_next(case, 1000, np.random.default_rng(1), waiting=free[:waiting])) == max(left - waiting, 0)


@pytest.mark.parametrize("true", range(13))
@pytest.mark.parametrize("target", [0.5, 0.7, 0.9])
def test_of_all_samples_at_most_alpha_guarantee_a_rest_that_is_too_bad(true, target):
    labels, broken, alpha = np.arange(12) < true, [], 0.2
    for rows in combinations(range(12), 6):
        drawn = labels[list(rows)]
        p = p_values(np.array([12]), np.array([6]), np.array([(~drawn).sum()]), target)[0]
        broken.append(p <= alpha and true - drawn.sum() < target * 6 - 1e-9)
    assert np.mean(broken) <= alpha


def test_of_all_samples_at_most_alpha_guarantee_one_of_nested_lists_that_is_too_bad():
    sizes, alpha, target = np.array([5, 8, 11]), 0.25, 0.6
    random = np.random.default_rng(0)
    for _ in range(25):
        labels, broken = random.random(11) < random.random(), []
        for rows in combinations(range(11), 6):
            places = np.array(rows)
            size = largest_passing(sizes, places, labels[places], target, alpha)
            rest = np.setdiff1d(np.arange(size), places)
            broken.append(len(rest) > 0 and labels[rest].mean() < target - 1e-9)
        assert np.mean(broken) <= alpha


def test_a_long_list_passes_as_by_clopper_and_pearson():
    sizes, drawn, false = np.full(4, 10**7), np.array([22, 38, 52, 65]), np.arange(4)
    assert (p_values(sizes, drawn, false, 0.9) <= 0.1).all()
    assert (p_values(sizes, drawn - 1, false, 0.9) > 0.1).all()
    assert [draws_to_pass(k, 0.9, 0.1) for k in range(4)] == [22, 38, 52, 65]


def test_lists_end_at_the_first_that_fails():
    sizes, places = np.array([1000, 2000]), np.arange(0, 2000, 20)
    assert largest_passing(sizes, places, np.ones(100, dtype=bool), 0.9, 0.1) == 2000
    assert largest_passing(sizes, places, places < 1000, 0.9, 0.1) == 1000
    assert largest_passing(sizes, places, places >= 1000, 0.9, 0.1) == 0


def test_open_draws_count_as_false_ones():
    sizes, places = np.array([1000, 2000]), np.arange(0, 2000, 20)
    true = np.ones(100, dtype=bool)
    for count in (30, 60, 90):
        given = (sizes, places[:count], true[:count], 0.9, 0.1)
        padded = np.append(places[:count], np.zeros(100 - count, dtype=int)), np.arange(100) < count
        assert largest_passing(*given, 100 - count) == largest_passing(sizes, *padded, 0.9, 0.1)


def test_a_round_is_settled_when_its_list_has_passed_or_cannot_pass_any_more():
    sizes, places = np.array([2000]), np.arange(0, 2000, 20)
    true = np.ones(100, dtype=bool)
    assert not is_settled(sizes, places[:50], true[:50], 0.9, 0.1, 50)
    assert is_settled(sizes, places[:97], true[:97], 0.9, 0.1, 3)
    assert is_settled(sizes, places[:50], ~true[:50], 0.9, 0.1, 50)
    assert is_settled(sizes, places, true, 0.9, 0.1, 0)


def test_errors_and_answers_of_the_rounds_add_up():
    for budget in (30, 50, 100, 300, 1000):
        for target in (0.8, 0.9, 0.95):
            teach, rounds = plan_rounds(budget, TargetPrecision(target))
            assert teach + sum(part.draws for part in rounds) == budget
            assert sum(part.share for part in rounds) == pytest.approx(1)


@pytest.mark.parametrize(("size", "draws"), [(300, 24), (2000, 22), (20_000, 22)])
def test_a_small_budget_tests_one_list_that_passes_without_a_false_draw_and_is_no_longer_than_pays(size, draws):
    p = np.concatenate([np.full(size // 2, 0.97), np.linspace(0.97, 0.3, size // 2)])
    p = np.sort(p - 1e-9 * np.arange(len(p)))[::-1]
    sizes = nested_lists(p, NINETY, RoundPlan(1, draws, 1.0))
    assert len(sizes) == 1
    assert largest_passing(sizes, np.arange(draws), np.ones(draws, dtype=bool), 0.9, 0.1) == sizes[0]
    assert 0.4 < sizes[0] / size < 0.8


def test_lists_are_nested_hold_ties_together_and_are_none_where_nothing_is_likely():
    sizes = nested_lists(np.linspace(1, 0, 1000), NINETY, RoundPlan(1, 100, 1.0))
    assert (np.diff(sizes) > 0).all()
    ties = np.repeat([0.99, 0.95, 0.9, 0.85, 0.4], 50)
    assert set(nested_lists(ties, NINETY, RoundPlan(1, 100, 1.0)).tolist()) <= {50, 100, 150, 200, 250}
    assert not len(nested_lists(np.full(10, 0.2), NINETY, RoundPlan(1, 100, 1.0)))
