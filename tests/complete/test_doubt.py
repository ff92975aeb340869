"""Errors planted in a graph, and the doubts that find them."""

from __future__ import annotations

import numpy as np
import pytest

from actc.complete.check_ask import ask_about, find_doubtful, most_doubtful
from actc.complete.check_doubt import bound_share, doubt_facts, infer_kinds
from actc.complete.check_ratios import count_cases, stack
from actc.errors import TableError
from actc.evidence.plant import KINDS, Planted, make_errors, replace_end, replace_relation, replace_seen
from actc.graph.graph import Graph


def make_towns(towns=30, people=12, wrong=40, seed=0):
    """Make a graph of towns, of which each person is born in one, lives there and speaks its language."""
    facts = []
    for town in range(towns):
        facts.append((f"town{town}", "country", f"land{town % 5}"))
        for person in range(people):
            name = f"p{town}-{person}"
            facts += [
                (name, "born", f"town{town}"),
                (name, "lives", f"town{town}"),
                (name, "speaks", f"lang{town % 5}"),
            ]
    graph = Graph.from_columns(*zip(*facts, strict=True))
    return plant_in(graph, wrong, seed)


def plant_in(graph, count, seed=0, corrupt=replace_seen):
    planted = Planted.of(graph, count, np.random.default_rng(seed), (corrupt,), replaced=0.0)
    order = np.random.default_rng(seed).permutation(len(planted.graph))
    return planted.graph.take(order), (planted.kinds > 0)[order]


@pytest.fixture(scope="module")
def found():
    graph, wrong = make_towns()
    return doubt_facts(graph), wrong


def test_planted_errors_are_no_facts_and_none_is_there_twice():
    graph, _ = make_towns(wrong=0)
    planted = Planted.of(graph, 20, np.random.default_rng(1))
    errors = planted.graph.take(planted.kinds > 0)
    assert not graph.contains(errors).any()
    assert len(errors.unique()) == len(errors) == 20 * len(KINDS)
    assert np.array_equal(np.bincount(planted.kinds)[1:], np.full(len(KINDS), 20))


def test_half_of_the_errors_stand_in_the_place_of_a_fact():
    graph, _ = make_towns(wrong=0)
    planted = Planted.of(graph, 40, np.random.default_rng(1))
    kept = planted.rows[planted.kinds == 0]
    assert 0.3 < (len(graph) - len(kept)) / (40 * len(KINDS)) < 0.6
    assert np.array_equal(planted.graph.take(planted.kinds == 0).keys, graph.take(kept).keys)


@pytest.mark.parametrize("corrupt", KINDS.values(), ids=KINDS)
def test_a_kind_of_error_changes_what_it_names(corrupt):
    graph, _ = make_towns(wrong=0)
    errors, rows = make_errors(graph, graph, 50, corrupt, np.random.default_rng(0))
    same = [getattr(errors, name) == getattr(graph, name)[rows] for name in ("heads", "relations", "tails")]
    if corrupt is replace_relation:
        assert same[0].all()
        assert same[2].all()
    elif corrupt is replace_end:
        assert same[1].all()
        assert (same[0] | same[2]).all()
    elif corrupt is replace_seen:
        slots = {(r, t) for r, t in zip(graph.relations.tolist(), graph.tails.tolist(), strict=True)}
        assert all((r, t) in slots for r, t in zip(errors.relations.tolist(), errors.tails.tolist(), strict=True))


def test_a_graph_that_has_no_more_errors_to_offer_gives_fewer():
    graph = Graph.from_columns(["a", "b"], ["r", "r"], ["b", "a"])
    errors, _ = make_errors(graph, graph, 10, replace_seen, np.random.default_rng(0))
    assert len(errors) == 2  # a r a, b r b


def test_wrong_facts_stand_at_the_top(found):
    doubts, wrong = found
    assert wrong[doubts.order[:40]].mean() > 0.8


def test_the_share_of_wrong_facts_is_within_its_interval(found):
    doubts, wrong = found
    low, middle, high = doubts.share
    assert low <= wrong.mean() <= high < 0.3
    assert 0.5 * wrong.mean() < middle < 2 * wrong.mean()


def test_the_highest_share_is_what_looks_as_wrong_as_nine_in_ten_planted_errors():
    random = np.random.default_rng(0)
    wrong = random.random(20_000) < 0.05
    facts = np.where(wrong, 3.0, -3.0) + random.normal(0, 1, len(wrong))
    planted = 3.0 + random.normal(0, 1, 2000)
    less = planted - 2.0  # a kind that looks less wrong
    kinds = np.repeat([1, 2], 1000)
    both = np.column_stack([planted, np.append(planted[:1000], less[1000:])])
    one = bound_share(facts[:, None], planted[:, None], np.ones(2000, int), facts, planted, np.ones(2000))
    two = bound_share(np.column_stack([facts, facts]), both, kinds, facts, planted, np.ones(2000))
    assert one == pytest.approx((0.05, 0.05), abs=0.006)
    assert two[0] == one[0]
    assert two[1] > one[1]


def test_probabilities_add_up_to_the_expected_number_of_wrong_facts(found):
    doubts, wrong = found
    assert doubts.probability.sum() == pytest.approx(wrong.sum(), rel=0.6)


def test_the_kind_of_error_is_inferred(found):
    doubts, _ = found
    of_slots = doubts.kinds["another entity of the slot"] + doubts.kinds["another fact's entity"]
    assert of_slots > 0.5


@pytest.mark.long
def test_the_same_seed_gives_the_same_doubts(found):
    doubts, _ = found
    assert np.allclose(doubt_facts(doubts.graph).log_odds, doubts.log_odds)


def test_answers_about_doubtful_facts_find_wrong_ones(found):
    doubts, wrong = found
    doubtful = find_doubtful(doubts)
    labels = wrong[most_doubtful(doubts)]
    case = ask_about(doubtful.facts, lambda triples, rows: ~labels[rows], np.arange(len(labels)), 30)
    assert labels[case.decide(doubtful.facts).accepted].mean() > 0.8


def test_answers_correct_the_share_and_never_spoil_the_order(found):
    doubts, wrong = found
    doubtful, labels = find_doubtful(doubts), wrong[most_doubtful(doubts)]
    case = ask_about(doubtful.facts, lambda triples, rows: ~labels[rows], np.arange(len(labels)), 40)
    low, middle, high = doubtful.share(case, doubts.share[1])
    assert low <= wrong.mean() <= high < 0.3
    assert low <= middle <= high
    rest = np.setdiff1d(np.arange(len(labels)), case.annotations.rows)
    before, after = (doubtful.probability(told)[rest] for told in (None, case))
    places = [np.argsort(np.argsort(-told))[labels[rest]].mean() for told in (before, after)]
    assert places[1] < places[0] + 20
    assert np.array_equal(doubtful.probability(case)[case.annotations.rows], case.annotations.labels)


def test_with_no_wrong_answer_the_share_may_still_be_above_none(found):
    doubts, _ = found
    doubtful = find_doubtful(doubts)
    case = ask_about(doubtful.facts, lambda triples, rows: np.ones(len(rows), bool), np.arange(len(doubtful.facts)), 20)
    low, middle, high = doubtful.share(case, doubts.share[1])
    assert low == middle == 0 < high


def test_a_tiny_graph_is_refused():
    graph, _ = make_towns(towns=2, people=2, wrong=0)
    with pytest.raises(TableError, match="too small"):
        doubt_facts(graph)


def test_shares_of_kinds_follow_the_facts():
    random = np.random.default_rng(0)
    ratios = np.full((1000, 2), -3.0) + random.normal(0, 0.1, (1000, 2))
    ratios[:50, 0] = 4.0
    mix = infer_kinds(ratios)
    assert mix.sum() == pytest.approx(0.05)
    assert mix[0] > 0.9 * mix.sum()


def test_facts_count_as_much_as_all_errors():
    cases = count_cases(np.array([0, 0, 0, 1, 2, 2]), np.ones(6))
    assert cases[:3].sum() == pytest.approx(cases[3:].sum())
    assert cases[3] == pytest.approx(cases[4:].sum())


def test_a_learner_that_knows_nothing_counts_for_nothing():
    random = np.random.default_rng(0)
    kinds = random.integers(0, 2, 2000)
    good = np.where(kinds == 1, 1.0, -1.0)[:, None] + random.normal(0, 1, (2000, 1))
    weights = stack([2 * good, random.normal(0, 1, (2000, 1))], kinds, np.ones(2000))
    assert weights[0] == pytest.approx(1, abs=0.15)
    assert weights[1] < 0.1
