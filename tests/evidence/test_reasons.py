"""Reasons: what weighed most in the scorer, in sentences that a person can check in the graph."""

from __future__ import annotations

import re

import numpy as np
import pytest

from actc.data.triples import ScoredTriples
from actc.evidence.plan import SIDES
from actc.evidence.reasons import SENTENCES, Reasons, Slots, Subject, join_reasons, weigh_topics
from actc.evidence.score import EvidenceModel, Quantiles, Ridge
from actc.evidence.table import gather_evidence
from actc.graph.graph import Graph

FACTS = [
    ("ada", "born in", "london"), ("bob", "born in", "paris"), ("eve", "born in", "paris"), ("kim", "born in", "rome"),
    ("kim", "born in", "bari"), ("ada", "parent of", "bob"), ("eve", "parent of", "kim"), ("kim", "child of", "eve"),
    ("bob", "lives in", "paris"), ("eve", "lives in", "paris"), ("paris", "in", "france"), ("rome", "in", "italy"),
]  # fmt: skip
ASKED = [("ada", "born in", "paris"), ("bob", "child of", "ada"), ("bob", "parent of", "bob"), ("kim", "in", "london")]


@pytest.fixture(scope="module")
def graph():
    return Graph.from_columns(*zip(*FACTS, strict=True))


@pytest.fixture(scope="module")
def evidence(graph):
    candidates = ScoredTriples.from_columns(*zip(*ASKED, strict=True), np.arange(4.0))
    return gather_evidence(graph, candidates.with_pieces(score=candidates.scores))


def weights(evidence, intercept=0.0, **given):
    """Make a ridge in which the pieces weigh what is given, and all others nothing."""
    of_columns = np.array([given.get(name, 0.0) for name in evidence.pieces])
    table = np.column_stack([*evidence.pieces.values()])
    return EvidenceModel(
        (*evidence.pieces,), Ridge(Quantiles.of(table, np.ones(len(table))), of_columns, intercept), 0.1, 10
    )


def describe(graph, evidence, topic, row, supports, **values):
    """Return the sentence of a topic, by how one of its pieces begins, with some pieces of evidence replaced."""
    evidence = evidence.with_pieces(**{name: np.full(len(evidence), value) for name, value in values.items()})
    slots = {side: Slots(graph, side) for side in SIDES}
    for one in slots.values():
        one.single[:] = 0
    sentence = next(one for pieces, one in SENTENCES.items() if topic in pieces)
    return sentence(Subject(evidence, row, slots, str, share=0.1), supports)


def give(graph, evidence, model, rows, accepted=None):
    """Return the reasons of some candidates."""
    return Reasons(((evidence, model),), graph).give(np.array(rows), accepted)


def test_a_slot_that_most_fill_once_says_so_and_names_what_is_there(evidence, graph):
    (reasons,) = give(graph, evidence, weights(evidence, head_slot_filled=-1.0), [0])
    words = "ada already has the fact born in(ada, london); 75% of the entities with such facts have only one."
    assert reasons == (f"against: {words}",)


def test_fewer_facts_than_are_typical_speak_for_one_more_and_more_against(evidence, graph):
    for count, typical, supports, words in (
        (39, 6.98, False, "ada already has 39 other facts born in(ada, X); 7 is typical."),
        (2, 6.98, True, "ada has only 2 other facts born in(ada, X); 7 is typical."),
        (1, 2.4, True, "ada has only 1 other fact born in(ada, X); 2 is typical."),
        (0, 1.2, True, "No other fact born in(ada, X) is recorded; 1 is typical."),
        (2, 2.2, False, ""),
        (1, 1.4, True, ""),
        (0, 0.0, True, ""),
    ):
        values = {"head_slot_filled": count, "head_slot_usual": typical}
        assert describe(graph, evidence, "head_slot", 0, supports, **values) == words
        assert describe(graph, evidence, "head_slot", 0, not supports, **values) == ""


def test_what_says_the_same_is_one_reason(evidence, graph):
    """A slot without facts has none of the relation's facts: both pieces make one sentence, for or against."""
    both, first, second = (
        weigh_topics(evidence, weights(evidence, **given), np.arange(len(evidence)))
        for given in ({"tail_slot_filled": -1.0, "tail_share": 0.1}, {"tail_slot_filled": -1.0}, {"tail_share": 0.1})
    )
    np.testing.assert_allclose(both, first + second)
    assert ((both != 0).sum(axis=1) <= 1).all()


@pytest.mark.parametrize(("topic", "piece"), [("pair", "pair_best"), ("head_rule", "head_rule_best")])
def test_a_rule_supports_what_it_makes_likelier_than_others(evidence, graph, topic, piece):
    expected = "Rule: parent of(B, A) implies child of(A, B) in 90% of the cases."
    assert describe(graph, evidence, "pair", 1, True, pair_best=0.9) == expected
    for share, supports, words in (  # a tenth of the candidates is true
        *((0.11, True, " in 11% of the cases"), (0.09, False, " in only 9% of the cases")),
        (0.0004, False, " in less than 1% of the cases"),
    ):
        assert words in describe(graph, evidence, topic, 1, supports, **{piece: share})
        assert describe(graph, evidence, topic, 1, not supports, **{piece: share}) == ""


@pytest.mark.parametrize(
    ("five", "count", "first", "supports", "words"),
    [
        (1, 1, 1, True, "The entity most similar to ada has the same fact: born in(eve, paris)."),
        (1, 5, 1, True, "The entity most similar to ada has the same fact: born in(eve, paris)."),
        (2, 2, 1, True, "Both entities most similar to ada have the same fact, for example born in(eve, paris)."),
        (5, 5, 1, True, "All 5 entities most similar to ada have the same fact, for example born in(eve, paris)."),
        (3, 5, 0, True, "3 of the 5 entities most similar to ada have the same fact, for example born in(eve, paris)."),
        (1, 5, 0, False, "Only 1 of the 5 entities most similar to ada has the fact born in(X, paris)."),
        (0, 5, 0, False, "None of the 5 entities most similar to ada has the fact born in(X, paris)."),
        (0, 2, 0, False, ""),
    ],
)
def test_similar_entities_support_a_fact_if_the_most_similar_one_or_most_of_them_have_it(
    graph, evidence, five, count, first, supports, words
):
    entity = graph.entity_names.places["eve"]
    numbers = {"five": five, "count": count, "first": first, "entity": entity if five else -1}
    values = {f"head_relatives_{name}": number for name, number in numbers.items()}
    assert describe(graph, evidence, "head_relatives", 0, supports, **values) == words
    assert describe(graph, evidence, "head_relatives", 0, not supports, **values) == ""


def test_the_most_similar_entity_that_has_the_fact_is_named(graph):
    pieces = gather_evidence(graph, Graph.from_columns(["bob"], ["parent of"], ["kim"])).pieces
    relatives = {name: int(pieces[f"head_relatives_{name}"][0]) for name in ("five", "count", "first", "entity")}
    assert relatives == {"five": 1, "count": 1, "first": 1, "entity": graph.entity_names.places["eve"]}


def test_a_kind_is_named_by_its_facts_where_the_entity_has_no_such_fact_yet(graph):
    evidence = gather_evidence(graph, Graph.from_columns(["kim"], ["lives in"], ["paris"]))
    words = describe(graph, evidence, "head_kind", 0, True, head_kind_best=0.9)
    assert re.fullmatch(
        r"Of the entities A with facts [a-z ]+\((A, X|X, A)\), 90% have facts lives in\(A, X\); here A is kim\.", words
    )
    assert ", only 10% have" in describe(graph, evidence, "head_kind", 0, False, head_kind_best=0.1)
    assert ", less than 1% have" in describe(graph, evidence, "head_kind", 0, False, head_kind_best=0.0)
    assert describe(graph, evidence, "head_kind", 0, True, head_kind_best=0.9, head_slot_filled=1) == ""


def test_it_is_no_reason_that_nobody_has_a_fact_that_nobody_can_have(graph, evidence):
    """Without any fact born in(X, paris) no entity has one, however similar."""
    similar = {"head_relatives_five": 0, "head_relatives_count": 5, "head_relatives_first": 0}
    for topic, values in (("head_relatives", similar), ("head_rule", {"head_rule_best": 0})):
        assert describe(graph, evidence, topic, 0, False, **values) != ""
        assert describe(graph, evidence, topic, 0, False, **values, tail_slot_filled=0) == ""


def test_head_and_tail_in_one_are_a_reason(evidence, graph):
    (reasons,) = give(graph, evidence, weights(evidence, same_entity=-2.0), [2])
    assert reasons == ("against: Head and tail are the same entity.",)


def test_reasons_for_what_was_decided_come_first(evidence, graph):
    model = weights(evidence, head_slot_filled=-3.0, path_count=1.0, score=-0.5)
    (free,) = give(graph, evidence, model, [0])
    assert free[0].startswith("against: ada already has the fact")
    (accepted,) = give(graph, evidence, model, [0], [True])
    assert not accepted[0].startswith("against: ")
    assert accepted[1] == free[0]


@pytest.mark.parametrize(
    ("intercept", "accepted", "words", "words_alone"),
    [
        (
            -9.0,
            False,
            "against: The reasons for it are too weak together.",
            "against: Nothing in the graph speaks for it.",
        ),
        (9.0, True, "The reasons against it are too weak together.", "Nothing in the graph speaks against it."),
        (
            9.0,
            False,
            "against: Nothing in the graph speaks against it.",
            "against: Nothing in the graph speaks against it.",
        ),
        (-9.0, True, "Nothing in the graph speaks for it.", "Nothing in the graph speaks for it."),
    ],
)
def test_where_no_piece_supports_what_was_decided_the_reasons_describe_it(
    evidence, graph, intercept, accepted, words, words_alone
):
    """A decision against the evidence was a person's, or is no decision: a fact that is looked at."""
    row, piece = (0, {"head_slot_filled": -3.0}) if accepted else (1, {"pair_best": 3.0})
    (reasons,) = give(graph, evidence, weights(evidence, intercept, **piece), [row], [accepted])
    assert reasons[0] == words
    assert len(reasons) == 2
    assert reasons[1].startswith("against: ") == accepted
    assert give(graph, evidence, weights(evidence, intercept), [row], [accepted]) == [(words_alone,)]


def test_one_text_has_those_for_and_those_against_apart():
    assert join_reasons(["against: Two.", "against: Three.", "One."]) == "Against: Two. Three. For: One."
    assert join_reasons([]) == ""
