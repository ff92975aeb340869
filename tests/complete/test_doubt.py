"""Errors planted in a graph, and the doubts that find them."""

from __future__ import annotations

import numpy as np
import pytest

from actc.complete.answers import ask_oracle
from actc.complete.doubt import doubt_facts, expect_share, infer_kinds, probability_wrong
from actc.decide.case import Case
from actc.decide.guarantee import TargetPrecision
from actc.evidence.plant import KINDS, Planted, make_errors, replace_end, replace_relation, replace_seen
from actc.graph.graph import Graph
from actc.methods.pooled.method import WRONG_FACTS_METHOD


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
    doubtful = doubt_facts(graph)
    return graph, doubtful, wrong[graph.rows_of(doubtful.triples)]


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
    _, doubtful, wrong = found
    assert wrong[:40].mean() > 0.8
    assert len(doubtful.triples) == len(wrong)  # every fact is a candidate for a question
    assert (np.diff(doubtful.triples.scores) <= 0).all()


def test_probabilities_before_any_answer_add_up_to_about_the_number_of_wrong_facts(found):
    _, doubtful, wrong = found
    assert probability_wrong(doubtful).sum() == pytest.approx(wrong.sum(), rel=0.6)


def test_the_expected_share_is_twice_that_of_facts_that_look_as_wrong_as_the_median_error():
    random = np.random.default_rng(0)
    wrong = random.random(20_000) < 0.05
    facts = np.where(wrong, 3.0, -3.0) + random.normal(0, 1, len(wrong))
    errors = 3.0 + random.normal(0, 1, 2000)
    assert expect_share(facts, errors, np.ones(2000)) == pytest.approx(0.05, abs=0.006)
    assert expect_share(np.zeros(100), np.ones(10), np.ones(10)) == 0.005  # of a hundred, half of a fact


@pytest.mark.long
def test_the_same_seed_gives_the_same_doubts(found):
    graph, doubtful, _ = found
    assert np.allclose(doubt_facts(graph).triples.scores, doubtful.triples.scores)


def ask(doubtful, wrong, budget, **options):
    return ask_oracle(Case(doubtful.triples, method=WRONG_FACTS_METHOD, **options), wrong, budget=budget)


def test_answers_about_facts_find_wrong_ones_and_never_spoil_the_order(found):
    _, doubtful, wrong = found
    case = ask(doubtful, wrong, 40)
    assert wrong[case.decisions.accepted].mean() > 0.8
    rest = np.setdiff1d(np.arange(len(wrong)), case.annotations.rows)
    before, after = (probability_wrong(doubtful, told)[rest] for told in (None, case))
    places = [np.argsort(np.argsort(-told))[wrong[rest]].mean() for told in (before, after)]
    assert places[1] < places[0] + 20
    assert np.array_equal(probability_wrong(doubtful, case)[case.annotations.rows], case.annotations.labels)


def test_a_relation_that_is_often_wrong_is_learned_from_answers_though_the_graph_does_not_show_it(found):
    _, doubtful, _ = found
    speaks = np.array(doubtful.triples.relation_names)[doubtful.triples.relations] == "speaks"
    wrong = speaks & (np.random.default_rng(1).random(len(speaks)) < 0.5)  # whatever the fact looks like
    case = ask(doubtful, wrong, 60, target=TargetPrecision(0.9))
    p = probability_wrong(doubtful, case)
    rest = ~np.isin(np.arange(len(wrong)), case.annotations.rows)
    assert p[rest & speaks].mean() > 0.3
    assert p[rest & ~speaks].mean() < 0.1
    assert not (case.decisions.by[rest & case.decisions.accepted] == "method").any()


def test_the_share_of_wrong_facts_is_within_the_interval_that_answers_give(found):
    _, doubtful, wrong = found
    share = ask(doubtful, wrong, 60).estimates.overall["true_share"]
    assert share.low <= wrong.mean() <= share.high < 0.3
    nobody = ask(doubtful, np.zeros(len(wrong), bool), 20).estimates.overall["true_share"]
    assert nobody.middle < 0.05 < nobody.high  # though no answer was "wrong"


def test_shares_of_kinds_follow_the_facts():
    random = np.random.default_rng(0)
    ratios = np.full((1000, 2), -3.0) + random.normal(0, 0.1, (1000, 2))
    ratios[:50, 0] = 4.0
    mix = infer_kinds(ratios)
    assert mix.sum() == pytest.approx(1)
    assert mix[0] > 0.9
