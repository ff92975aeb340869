"""Reasons: what weighed most in the scorer, in sentences that a person can check in the graph."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from actc.data.triples import ScoredTriples
from actc.evidence.model import EvidenceModel, Quantiles, Ridge
from actc.evidence.plan import SIDES
from actc.evidence.reasons import SENTENCES, Slots, Subject, give_reasons, join_reasons, score_topics
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
    scores = np.array([1.0, 2.0, 3.0, 4.0])
    return gather_evidence(
        graph, ScoredTriples.from_columns(*zip(*ASKED, strict=True), scores).with_pieces(score=scores)
    )


def weights(evidence, **given):
    """Make a ridge in which the pieces weigh what is given, and all others nothing."""
    of_columns = np.array([given.get(name, 0.0) for name in evidence.pieces])
    table = np.column_stack([*evidence.pieces.values()])
    return EvidenceModel((*evidence.pieces,), Ridge(Quantiles.of(table, np.ones(len(table))), of_columns, 0.0), 0.1, 10)


def describe(graph, evidence, topic, row, supports, **values):
    """Return the sentence of a topic, with some pieces of evidence replaced."""
    evidence = evidence.with_pieces(**{name: np.full(len(evidence), value) for name, value in values.items()})
    slots = {side: replace(Slots.of(graph, side), single=np.zeros(len(graph.relation_names))) for side in SIDES}
    return SENTENCES[topic](Subject(evidence, row, slots, str, share=0.1), supports)


def test_a_slot_that_most_fill_once_says_so_and_names_what_is_there(evidence, graph):
    (reasons,) = give_reasons(evidence, weights(evidence, head_slot_filled=-1.0), graph, np.array([0]))
    assert reasons == (
        "against: ada already has the fact born in(ada, london); 75% of the entities with such facts have only one.",
    )


def test_a_slot_is_compared_with_what_is_typical(evidence, graph):
    many = {"head_slot_filled": 39, "head_slot_usual": 6.98}
    expected = "ada already has 39 facts born in(ada, X); 7 is typical."
    assert describe(graph, evidence, "head_slot", 0, False, **many) == expected
    assert (
        describe(graph, evidence, "head_slot", 0, True, head_slot_filled=0)
        == "ada has no recorded fact born in(ada, X)."
    )
    assert describe(graph, evidence, "tail_slot", 0, True, tail_slot_filled=2, tail_slot_usual=2.2) == ""


def test_what_says_the_same_is_one_reason(evidence, graph):
    """A slot without facts has none of the relation's facts: both pieces make one sentence, for or against."""
    model = weights(evidence, tail_slot_filled=-1.0, tail_share=0.1)
    one, other = (
        weights(evidence, **{name: weight}) for name, weight in (("tail_slot_filled", -1.0), ("tail_share", 0.1))
    )
    both, first, second = (score_topics(evidence, each, np.arange(len(evidence))) for each in (model, one, other))
    at = both[0].index("tail_slot")
    assert "tail_share" not in both[0]
    np.testing.assert_allclose(both[1][:, at], first[1][:, at] + second[1][:, at])


def test_rules_stand_as_rules(evidence, graph):
    expected = "Rule: parent of(B, A) implies child of(A, B) in 90% of the cases."
    assert describe(graph, evidence, "pair", 1, True, pair_best=0.9) == expected
    assert describe(graph, evidence, "pair", 1, False, pair_best=0.03).endswith("in only 3% of the cases.")


@pytest.mark.parametrize(("topic", "piece"), [("pair", "pair_best"), ("head_rule", "head_rule_best")])
def test_a_rule_supports_what_it_makes_likelier_than_others(evidence, graph, topic, piece):
    assert describe(graph, evidence, topic, 1, True, **{piece: 0.0004}) == ""
    assert "less than 1%" in describe(graph, evidence, topic, 1, False, **{piece: 0.0004})
    for share, supports in ((0.4, True), (0.11, True), (0.09, False)):  # a tenth of the candidates is true
        assert f"{share:.0%}" in describe(graph, evidence, topic, 1, supports, **{piece: share})
        assert describe(graph, evidence, topic, 1, not supports, **{piece: share}) == ""


@pytest.mark.parametrize(
    ("five", "count", "first", "supports", "words"),
    [
        (1, 1, 1, True, "The entity most similar to ada has the same fact: born in(eve, paris)."),
        (1, 5, 1, True, "The entity most similar to ada has the same fact: born in(eve, paris)."),
        (3, 5, 0, True, "3 of the 5 entities most similar to ada have the same fact, for example born in(eve, paris)."),
        (1, 5, 0, False, "Only 1 of the 5 entities most similar to ada has the fact born in(X, paris)."),
        (0, 5, 0, False, "None of the 5 entities most similar to ada has the fact born in(X, paris)."),
        (0, 1, 0, False, "The entity most similar to ada does not have the fact born in(X, paris)."),
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


def test_a_kind_names_the_relation_that_makes_it(graph):
    evidence = gather_evidence(graph, Graph.from_columns(["kim"], ["lives in"], ["paris"]))
    words = describe(graph, evidence, "head_kind", 0, True, head_kind_best=0.9)
    assert re.fullmatch(r"kim is a (head|tail) of [a-z ]+; 90% of such entities are heads of lives in\.", words)
    assert "; only 10%" in describe(graph, evidence, "head_kind", 0, False, head_kind_best=0.1)


def test_head_and_tail_in_one_are_a_reason(evidence, graph):
    (reasons,) = give_reasons(evidence, weights(evidence, same_entity=-2.0), graph, np.array([2]))
    assert reasons == ("against: Head and tail are the same entity.",)


def test_reasons_for_what_was_decided_come_first(evidence, graph):
    model = weights(evidence, head_slot_filled=-3.0, path_count=1.0, score=-0.5)
    (free,) = give_reasons(evidence, model, graph, np.array([0]))
    assert free[0].startswith("against: ada already has the fact")
    (accepted,) = give_reasons(evidence, model, graph, np.array([0]), accepted=np.array([True]), most=2)
    assert not accepted[0].startswith("against: ")
    assert accepted[1] == free[0]


def test_where_no_piece_supports_what_was_decided_a_sentence_says_so(evidence, graph):
    model = weights(evidence, head_slot_filled=-3.0)
    (reasons,) = give_reasons(evidence, model, graph, [0], accepted=np.array([True]))
    assert reasons[0] == "No single piece of evidence supports it."
    assert reasons[1].startswith("against: ada already has the fact")
    assert give_reasons(evidence, weights(evidence), graph, [0], accepted=np.array([False])) == [
        ("against: No single piece of evidence opposes it.",)
    ]


def test_one_text_has_those_for_and_those_against_apart():
    assert join_reasons(["against: Two.", "against: Three.", "One."]) == "Against: Two. Three. For: One."
    assert join_reasons([]) == ""


def test_ids_are_called_by_names(evidence, graph):
    (reasons,) = give_reasons(evidence, weights(evidence, pair_best=1.0), graph, np.array([0]), call="[[{}]]".format)
    assert reasons == ("against: No other fact links [[ada]] and [[paris]].",)


def test_slots_know_how_many_there_are(graph):
    heads, tails = Slots.of(graph, "head"), Slots.of(graph, "tail")
    assert heads.look_up("ada", "born in") == (1, "london", 0.75)
    assert heads.look_up("kim", "born in")[0] == tails.look_up("paris", "born in")[0] == 2
    assert heads.look_up("nobody", "born in") == (0, "", 0.75)
    assert heads.look_up("kim", "married to") == (0, "", 0.0)
