"""What a contradiction with a fact counts is what the candidates bear out."""

from __future__ import annotations

import numpy as np
import pytest

from actc.data.constraints import Constraint, Constraints
from actc.data.triples import ScoredTriples, encode_columns
from actc.decide.against_facts import weigh_against_facts
from actc.decide.places import find_places

RULE = Constraints((Constraint("functional", "r", cases=1000, share=0.98),))


def weigh(beside: int, elsewhere: int, p: float = 0.9) -> float:
    """Return the factor where so many candidates stand beside a fact."""
    count = beside + elsewhere
    triples = ScoredTriples.from_columns([f"h{i}" for i in range(count)], ["r"] * count, ["t"] * count, range(count))
    facts = encode_columns([f"h{i}" for i in range(beside)], ["r"] * beside, ["there"] * beside)
    found = weigh_against_facts(find_places(RULE, triples, facts), triples, np.full(count, p))
    return float(found.against[0])


def test_as_many_beside_facts_as_in_the_graph_are_held_against_nobody():
    assert weigh(40, 960) == 1.0


def test_more_than_that_are_wrong_as_far_as_they_are_more():
    factor = weigh(400, 600)
    odds = factor * 0.9 / 0.1
    assert factor < 0.05
    assert 400 * odds / (1 + odds) == pytest.approx(2 * 0.0285 * 900, rel=0.05)  # the bound of 980 in 1,000 is .9715


def test_a_factor_that_was_found_before_stays():
    told = Constraints((Constraint("functional", "r", cases=1000, share=0.98, against=0.5),))
    triples = ScoredTriples.from_columns("ab", "rr", "xy", [0.0, 1.0])
    places = find_places(told, triples, encode_columns("a", "r", "z"))
    assert weigh_against_facts(places, triples, np.array([0.9, 0.9])).against.tolist() == [0.5]
