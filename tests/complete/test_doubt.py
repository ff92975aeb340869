"""Errors planted in a graph, and the doubts that find them."""

from __future__ import annotations

import numpy as np
import pytest

from actc.complete.answers import ask_oracle
from actc.complete.doubt import doubt_facts, expect_share, infer_kinds, probability_wrong
from actc.decide.case import Case
from actc.decide.guarantee import TargetPrecision
from actc.methods.pooled.method import WRONG_FACTS_METHOD
from tests.synthetic import make_towns


@pytest.fixture(scope="module")
def found():
    graph, wrong = make_towns()
    doubtful = doubt_facts(graph)
    return graph, doubtful, wrong[graph.rows_of(doubtful.triples)]


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
