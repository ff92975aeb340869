"""Errors planted in a graph are no facts of it, and each is wrong in the way of its kind."""

from __future__ import annotations

import numpy as np
import pytest

from actc.evidence.plant import KINDS, Planted, make_errors, replace_end, replace_relation, replace_seen
from actc.graph.graph import Graph
from tests.synthetic import make_towns


@pytest.fixture(scope="module")
def graph():
    return make_towns(wrong=0)[0]


def test_planted_errors_are_no_facts_none_is_there_twice_and_half_stand_in_the_place_of_a_fact(graph):
    planted = Planted.of(graph, 40, np.random.default_rng(1))
    errors, kept = planted.graph.take(planted.kinds > 0), planted.rows[planted.kinds == 0]
    assert not graph.contains(errors).any()
    assert len(errors.unique()) == len(errors) == 40 * len(KINDS)
    assert np.array_equal(np.bincount(planted.kinds)[1:], np.full(len(KINDS), 40))
    assert 0.3 < (len(graph) - len(kept)) / len(errors) < 0.6
    assert np.array_equal(planted.graph.take(planted.kinds == 0).keys, graph.take(kept).keys)


@pytest.mark.parametrize("corrupt", KINDS.values(), ids=KINDS)
def test_a_kind_of_error_changes_what_it_names(graph, corrupt):
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
