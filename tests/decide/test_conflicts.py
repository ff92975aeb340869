"""What constraints exclude: exact for groups, and nothing is added; `test_judged_by_others` sees what they violate."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actc.data.constraints import Constraint, Constraints
from actc.data.triples import ScoredTriples, encode_columns
from actc.decide.conflicts import couple, match_conflicts, resolve_conflicts, weigh_facts

HARD = Constraints((Constraint("functional", "father", use="hard"),))


def soft(rho_cases: int = 300) -> Constraints:
    return Constraints((Constraint("functional", "father", cases=rho_cases, share=1.0),))


def fathers(count: int, head: str = "eve") -> ScoredTriples:
    return ScoredTriples.from_columns([head] * count, ["father"] * count, [f"m{i}" for i in range(count)], range(count))


def decide(constraints, triples, p, accepted=None, words=None, facts=None):
    p = np.asarray(p, dtype=np.float64)
    accepted = p >= 0.5 if accepted is None else np.asarray(accepted)
    words = np.full(len(p), -1) if words is None else np.asarray(words)
    conflicts = match_conflicts(constraints, triples, facts)
    return resolve_conflicts(conflicts, triples, p, accepted, words, np.full(len(p), 0.5))


def by_brute_force(p, rho: float, facts: int):
    """Return P(true) of each rival by going through all that may be true."""
    odds, total, each = np.asarray(p) / (1 - np.asarray(p)), 0.0, np.zeros(len(p))
    for true in product((0, 1), repeat=len(p)):
        weight = np.prod(odds ** np.array(true)) * (rho if sum(true) + facts > 1 else 1.0)
        total += weight
        each += weight * np.array(true)
    return each / total


@settings(max_examples=30)
@given(st.lists(st.floats(0.02, 0.98), min_size=2, max_size=6), st.integers(0, 2), st.sampled_from([0, 60, 300, 5000]))
def test_the_probabilities_of_a_place_are_those_of_going_through_all_that_may_be_true(p, facts, cases):
    constraints = HARD if not cases else soft(cases)
    known = encode_columns(["eve"] * facts, ["father"] * facts, [f"f{i}" for i in range(facts)]) if facts else None
    triples = fathers(len(p))
    conflicts = match_conflicts(constraints, triples, known)
    everybody, nobody = np.ones(len(p), dtype=bool), np.zeros(len(p), dtype=bool)
    rho = constraints.each[0].rho
    expected = np.zeros(len(p)) if facts and rho == 0 else by_brute_force(p, rho, facts)
    assert couple(conflicts, np.array(p), everybody, nobody) == pytest.approx(expected, abs=1e-9)


def test_of_two_fathers_the_more_probable_enters_and_both_are_less_probable_than_by_themselves():
    found = decide(HARD, fathers(3), [0.8, 0.6, 0.1])
    assert found.accepted.tolist() == [True, False, False]
    assert found.rule.tolist() == [-1, 0, 0]
    assert found.rival.tolist() == [-1, 0, 0]
    assert (found.probability < [0.8, 0.6, 0.1]).all()


def test_equally_probable_ones_are_decided_by_score_then_by_name_whatever_their_order():
    triples, p = fathers(3), [0.7, 0.7, 0.7]
    assert decide(HARD, triples, p).accepted.tolist() == [False, False, True]
    same = triples.with_scores(np.zeros(3))
    assert decide(HARD, same, p).accepted.tolist() == [True, False, False]
    turned = same.take([2, 1, 0])
    assert decide(HARD, turned, p).accepted.tolist() == [False, False, True]


def test_a_fact_in_the_place_keeps_others_out_by_a_hard_constraint_and_lowers_them_by_a_soft_one():
    facts = encode_columns(["eve"], ["father"], ["abel"])
    found = decide(HARD, fathers(1), [0.99], facts=facts)
    assert not found.accepted.any()
    assert (found.fact[0], found.rival[0], found.probability[0]) == (0, -1, 0.0)
    lowered = decide(soft(), fathers(1), [0.9], facts=facts)
    assert not lowered.accepted.any()
    assert 0.05 < lowered.probability[0] < 0.5
    assert decide(soft(), fathers(1), [0.9999], facts=facts).accepted.all()


def test_a_persons_word_is_final():
    found = decide(HARD, fathers(3), [0.9, 0.8, 0.7], accepted=[False, True, True], words=[0, -1, 1])
    assert found.accepted.tolist() == [False, False, True]
    assert found.rival[1] == 2
    both = decide(HARD, fathers(2), [0.9, 0.8], accepted=[True, True], words=[1, 1])
    assert both.accepted.all()


def test_who_is_out_makes_room_elsewhere():
    """B loses its place to A; so C, whose only rival was B, enters."""
    constraints = Constraints(
        (Constraint("functional", "spouse", use="hard"), Constraint("inverse-functional", "spouse", use="hard"))
    )
    triples = ScoredTriples.from_columns("aac", ["spouse"] * 3, "xyy", [0.0, 0.0, 0.0])
    found = decide(constraints, triples, [0.95, 0.9, 0.6])
    assert found.accepted.tolist() == [True, False, True]
    assert found.probability[2] == pytest.approx(0.6, abs=1e-9)


def test_classes_keep_out_the_wrong_kind_and_both_of_disjoint_ones():
    facts = encode_columns(
        ["bob", "oslo", "city"], ["rdf:type", "rdf:type", "rdfs:subClassOf"], ["person", "city", "place"]
    )
    named = Constraints(
        (Constraint("type", "rdf:type", use="hard"), Constraint("subclass", "rdfs:subClassOf", use="hard"))
    )
    born = ScoredTriples.from_columns(["bob"] * 3, ["born"] * 3, ["oslo", "bob", "atlantis"], [0, 1, 2])
    ranged = named.plus(Constraints((Constraint("range", "born", "place", use="hard"),)))
    assert decide(ranged, born, [0.9] * 3, facts=facts).accepted.tolist() == [True, False, False]
    told = named.plus(Constraints((Constraint("range", "born", "place", cases=1000, share=1.0),)))
    assert decide(told, born, [0.9] * 3, facts=facts).accepted.tolist() == [True, False, True]
    types = ScoredTriples.from_columns(
        ["oslo", "eve", "eve"], ["rdf:type"] * 3, ["person", "person", "place"], [0, 1, 2]
    )
    apart = named.plus(Constraints((Constraint("disjoint", "person", "place", use="hard"),)))
    assert decide(apart, types, [0.9, 0.9, 0.8], facts=facts).accepted.tolist() == [False, True, False]


@st.composite
def worlds(draw):
    count = draw(st.integers(1, 25))
    names = st.sampled_from("abcd")
    rows = draw(st.lists(st.tuples(names, st.sampled_from("rq"), names), min_size=count, max_size=count, unique=True))
    triples = ScoredTriples.from_columns(*map(list, zip(*rows, strict=True)), np.arange(len(rows)))
    p = draw(st.lists(st.floats(0.01, 0.99), min_size=len(rows), max_size=len(rows)))
    kinds = draw(
        st.sets(st.sampled_from(["functional", "inverse-functional", "asymmetric", "irreflexive"]), min_size=1)
    )
    uses = {kind: draw(st.sampled_from(["hard", "soft"])) for kind in kinds}
    each = [Constraint(kind, r, "", uses[kind], 300, 1.0) for kind in sorted(kinds) for r in "rq"]
    return triples, np.array(p), Constraints((*each, Constraint("not-both", "r", "q", use="hard")))


@settings(max_examples=30, deadline=None)
@given(worlds(), st.randoms())
def test_nothing_is_added_and_the_order_of_rows_does_not_matter(world, random):
    triples, p, constraints = world
    found = decide(constraints, triples, p)
    assert not (found.accepted & (p < 0.5)).any()
    assert (found.probability <= p.round(6) + 2e-5).all()
    order = random.sample(range(len(triples)), len(triples))
    again = decide(constraints, triples.take(order), p[order])
    assert again.accepted.tolist() == found.accepted[order].tolist()


COUNTED = Constraints((Constraint("functional", "r", cases=1000, share=0.98),))


def weigh(beside: int, elsewhere: int, p: float = 0.9) -> float:
    """Return the factor where so many candidates stand beside a fact."""
    count = beside + elsewhere
    triples = ScoredTriples.from_columns([f"h{i}" for i in range(count)], ["r"] * count, ["t"] * count, range(count))
    facts = encode_columns([f"h{i}" for i in range(beside)], ["r"] * beside, ["there"] * beside)
    found = weigh_facts(match_conflicts(COUNTED, triples, facts), triples, np.full(count, p))
    return float(found.constraints.against[0])


def test_as_many_beside_facts_as_in_the_graph_are_held_against_nobody():
    assert weigh(40, 960) == 1.0


def test_more_than_that_are_wrong_as_far_as_they_are_more():
    factor = weigh(400, 600)
    odds = factor * 0.9 / 0.1
    assert factor < 0.05
    assert 400 * odds / (1 + odds) == pytest.approx(2 * 0.0285 * 900, rel=0.05)  # the bound of 980 in 1,000 is .9715
