"""What a graph says of a candidate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actc.data.triples import ScoredTriples
from actc.evidence.plan import GRAPH_COLUMNS, SCORE_COLUMNS, candidate_steps
from actc.evidence.steps import Limits, graph_steps
from actc.evidence.table import gather_evidence
from actc.graph.graph import Graph

FAMILY = [
    ("ada", "parent of", "ben"), ("ben", "child of", "ada"), ("ada", "parent of", "cleo"), ("cleo", "child of", "ada"),
    ("dan", "parent of", "eve"), ("ada", "lives in", "york"), ("ben", "lives in", "york"), ("cleo", "lives in", "york"),
    ("dan", "lives in", "rome"), ("york", "part of", "england"), ("ada", "citizen of", "england"),
]  # fmt: skip
names = st.sampled_from("abcdef")
facts = st.lists(st.tuples(names, st.sampled_from("rs"), names), min_size=4, max_size=24, unique=True)


def make(known, asked, scores=None):
    graph = Graph.from_columns(*map(list, zip(*known, strict=True)))
    heads, relations, tails = zip(*asked, strict=True)
    scores = np.zeros(len(asked)) if scores is None else scores
    return graph, ScoredTriples.from_columns(heads, relations, tails, scores)


def look(known, asked, scores=None, **options):
    graph, candidates = make(known, asked, scores)
    return gather_evidence(graph, candidates.with_pieces(score=candidates.scores), **options)


def table(evidence):
    return np.column_stack([*evidence.pieces.values()])


@settings(max_examples=15, deadline=None)
@given(facts, st.data())
def test_a_candidate_that_is_a_fact_is_looked_at_as_if_it_were_not(known, data):
    row = data.draw(st.integers(0, len(known) - 1))
    there = look(known, known).take([row]).pieces
    gone = look(known[:row] + known[row + 1 :], known).take([row]).pieces
    for name in (*GRAPH_COLUMNS, *SCORE_COLUMNS):
        assert there[name] == pytest.approx(gone[name], abs=1e-9), name


# Every list that a limit cuts is cut in graphs of a dozen facts; the second leaves the rules of paths whole.
TIGHT = Limits(path_edges=2, path_facts=2, rule_edges=2, rule_holders=2, rare_edges=2, rare_holders=3, relatives=2)
ALL_BUT_PATHS = replace(TIGHT, path_edges=256, path_facts=2000)


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(facts, st.data(), st.sampled_from([TIGHT, ALL_BUT_PATHS]))
def test_a_candidate_that_is_a_fact_moves_nothing_when_limits_cut_either(known, data, limits):
    row = data.draw(st.integers(0, len(known) - 1))
    there = look(known, known, limits=limits)
    gone = look(known[:row] + known[row + 1 :], known, limits=limits)
    # Rules of paths that are mined from a sample lose a fact only on average.
    exact = [name for name in GRAPH_COLUMNS if limits is ALL_BUT_PATHS or not name.startswith("path_")]
    for name in exact:
        assert there.pieces[name][row] == pytest.approx(gone.pieces[name][row], abs=1e-9, nan_ok=True)


@settings(max_examples=10, deadline=None)
@given(facts, st.randoms())
def test_the_order_of_facts_changes_nothing(known, random):
    mixed = random.sample(known, len(known))
    np.testing.assert_allclose(table(look(known, known)), table(look(mixed, known)), atol=1e-9)


def test_places_are_counted_among_the_candidates_of_a_question():
    asked = [("ada", "likes", "tea"), ("ada", "likes", "rice"), ("ben", "likes", "tea")]
    evidence = look(FAMILY, asked, [0.5, 0.9, 0.7])
    assert evidence.pieces["place_among_tails"].tolist() == [2, 1, 1]
    assert evidence.pieces["place_among_heads"].tolist() == [2, 1, 1]
    np.testing.assert_allclose(evidence.pieces["behind_best_tail"], [-0.4, 0, 0])


def test_names_the_graph_does_not_know_have_no_evidence():
    evidence = look(FAMILY, [("new", "unheard", "other")])
    assert evidence.pieces["head_degree"][0] == evidence.pieces["path_count"][0] == 0
    assert np.isfinite(table(evidence)).all()


def test_progress_counts_every_step():
    seen = []
    look(FAMILY, FAMILY, progress=lambda more, total: seen.append((more, total)))
    steps = len(graph_steps(Limits())) + len(candidate_steps(Limits()))
    assert seen == [(1, steps)] * steps
