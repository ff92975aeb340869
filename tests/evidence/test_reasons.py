"""Reasons: what weighed most in the scorer, in sentences that a person can check in the graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from actc.data.triples import ScoredTriples
from actc.evidence.model import EvidenceModel, Quantiles, Ridge
from actc.evidence.plan import NAMED_COLUMNS
from actc.evidence.reasons import give_reasons
from actc.evidence.score import gather_evidence
from actc.evidence.sentences import SENTENCES, Row, Slots
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
    return gather_evidence(graph, ScoredTriples.from_columns(*zip(*ASKED, strict=True), [1.0, 2.0, 3.0, 4.0]))


def score_evidence(evidence, **weights):
    """Make a ridge in which the pieces weigh what is given, and all others nothing."""
    of_columns = np.array([weights.get(name, 0.0) for name in evidence.columns])
    ridge = Ridge(Quantiles.of(evidence.values, np.ones(len(evidence))), of_columns, 0.0)
    return EvidenceModel(evidence.columns, ridge, 0.1, 10)


def test_a_slot_that_most_fill_once_says_so_and_names_what_is_there(evidence, graph):
    (said,) = give_reasons(evidence, score_evidence(evidence, head_slot_filled=-1.0), np.array([0]), graph=graph)
    assert said == ("against: ada has one born in already (london), and 75% have only one",)


def test_an_inverse_that_holds_is_called_an_inverse(evidence):
    (said,) = give_reasons(evidence, score_evidence(evidence, pair_best=1.0), np.array([1]))
    assert said[0].startswith("parent of holds the other way round (")  # in one of two cases, and five to doubt it
    sure = replace(evidence, values=np.where(np.array(evidence.columns) == "pair_best", 0.9, evidence.values))
    (said,) = give_reasons(sure, score_evidence(evidence, pair_best=1.0), np.array([1]))
    assert said == ("inverse of parent of, which holds (90% have both)",)


def test_relatives_are_counted(evidence):
    (said,) = give_reasons(evidence, score_evidence(evidence, head_relatives_five=1.0), np.array([0]))
    assert not said  # nobody like ada has it, which is no reason for anything
    (said,) = give_reasons(evidence, score_evidence(evidence, head_relatives_five=-1.0), np.array([3]))
    assert not said


def test_one_relative_is_one_entity(evidence):
    named = np.where(np.array(list(NAMED_COLUMNS)) == "head_relatives_count", 1, evidence.named)
    for share, weight, told in ((0.0, -1.0, "against: the entity most like ada does not have it"), (1.0, 1.0, None)):
        values = np.where(np.array(evidence.columns) == "head_relatives_five", share, evidence.values)
        one = replace(evidence, values=values, named=named)
        said = SENTENCES["head_relatives"](Row(one, 0, {}, str), weight > 0)
        assert said == (told or "the entity most like ada has it").removeprefix("against: ")


@pytest.mark.parametrize("topic", ["head_share", "pair", "head_rule"])
def test_no_percentage_that_reads_as_none_speaks_for_anything(evidence, topic):
    pieces = {"head_share": "head_share", "pair": "pair_best", "head_rule": "head_rule_best"}
    of = np.array(evidence.columns) == pieces[topic]
    rare = replace(evidence, values=np.where(of, 0.0004, evidence.values))
    assert SENTENCES[topic](Row(rare, 1, {}, str), True) == ""
    assert SENTENCES[topic](Row(rare, 1, {}, str), False)
    usual = replace(evidence, values=np.where(of, 0.4, evidence.values))
    assert "40" in SENTENCES[topic](Row(usual, 1, {}, str), True)


def test_a_fact_alone_is_one_fact(evidence):
    alone = replace(evidence, values=np.where(np.array(evidence.columns) == "head_degree", 1, evidence.values))
    assert SENTENCES["head_share"](Row(alone, 0, {}, str), False).endswith("which is in 1 fact")


def test_head_and_tail_in_one_are_said(evidence):
    (said,) = give_reasons(evidence, score_evidence(evidence, same_entity=-2.0), np.array([2]))
    assert said == ("against: head and tail are the same",)


def test_reasons_for_what_was_decided_come_first(evidence, graph):
    worth = score_evidence(evidence, head_slot_filled=-3.0, path_count=1.0, score=-0.5)
    (free,) = give_reasons(evidence, worth, np.array([0]), graph=graph)
    assert free[0].startswith("against: ada has one born in")
    (taken,) = give_reasons(evidence, worth, np.array([0]), graph=graph, accepted=np.array([True]), most=2)
    assert not taken[0].startswith("against: ")
    assert taken[1] == free[0]


def test_where_no_piece_speaks_for_what_was_decided_that_is_said(evidence, graph):
    worth = score_evidence(evidence, head_slot_filled=-3.0)
    (said,) = give_reasons(evidence, worth, [0], graph=graph, accepted=np.array([True]))
    assert said[0] == "no piece of evidence alone speaks for it"
    assert said[1].startswith("against: ada has one born in already")
    assert give_reasons(evidence, score_evidence(evidence), [0], accepted=np.array([False])) == [
        ("no piece of evidence alone speaks against it",)
    ]


def test_ids_are_called_by_names(evidence):
    (said,) = give_reasons(evidence, score_evidence(evidence, pair_best=1.0), np.array([0]), call="[[{}]]".format)
    assert said == ("against: nothing else is known between [[ada]] and [[paris]]",)


def test_slots_know_how_many_there_are(graph):
    heads, tails = Slots.of(graph, "head"), Slots.of(graph, "tail")
    assert heads.look_up("ada", "born in") == (1, "london", 0.75)
    assert heads.look_up("kim", "born in").entities == tails.look_up("paris", "born in").entities == 2
    assert heads.look_up("nobody", "born in") == (0, "", 0.75)
    assert heads.look_up("kim", "married to") == (0, "", 0.0)
