"""Rules and a model propose together: each candidate once, and the holdout says whether the model pays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from actc.complete.propose import candidates_of_both, candidates_of_rules, candidates_of_rules_and_model, join_proposals
from actc.complete.search import CandidateSearch, collect_candidates
from actc.data.progress import no_stage
from actc.errors import TableError
from actc.evidence.holdouts import split_holdouts
from actc.evidence.reasons import Reasons
from actc.evidence.rules import propose_by_rules
from actc.graph.graph import Graph
from tests.evidence.test_rules import make_families


@dataclass
class Guess:
    """A scorer that has heard of some facts, among noise."""

    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]
    heard: Graph
    strength: float = 4.0

    def score(self, heads, relations, tails):
        asked = Graph(heads, relations, tails, self.entity_names, self.relation_names)
        noise = np.sin(1e4 * (heads + 0.37 * relations + 0.61 * tails))
        return self.strength * self.heard.contains(asked) + noise

    def answers(self, known, relations, *, heads):
        every = np.tile(np.arange(len(self.entity_names)), len(known))
        asked, told = np.repeat(known, len(self.entity_names)), np.repeat(relations, len(self.entity_names))
        ends = (every, told, asked) if heads else (asked, told, every)
        return self.score(*ends).reshape(len(known), -1)


@pytest.fixture(scope="module")
def world():
    """Families, from which rules can tell what is hidden, and acquaintances, of whom only a model can have heard."""
    random = np.random.default_rng(3)
    families, _ = make_families(100, random)
    pairs = [(families.entity_names[a], families.entity_names[b]) for a, b in random.integers(0, 400, (500, 2))]
    met = Graph.from_columns([a for a, b in pairs], ["met"] * len(pairs), [b for a, b in pairs])
    truth = Graph.of(families.union(met))
    known = random.random(len(truth)) < 0.75
    return truth.take(known), truth.take(~known), truth


def propose(graph, heard, strength=4.0, names=None):
    """Return a proposer that has heard of some facts, with one of the graph's holdouts."""
    scorer = Guess((names or graph).entity_names, graph.relation_names, heard, strength)
    out = split_holdouts(graph, 0)[0]
    search = CandidateSearch(scorer, graph.take(~out), 1)
    return scorer, graph.take(out), collect_candidates(search)


def f1(candidates, hidden):
    accepted = candidates.take(np.flatnonzero(candidates.scores > 0))
    return 2 * hidden.contains(accepted).sum() / (len(hidden) + len(accepted))


def test_each_candidate_is_there_once_and_says_who_proposed_it(world):
    graph, _, truth = world
    rules, (scorer, _, proposals) = propose_by_rules(graph)[0], propose(graph, truth)
    union = join_proposals(rules, proposals, scorer, graph)
    assert len(union.unique()) == len(union)
    by, rule = union.further["proposed_by"], union.further["rule"]
    assert set(by) == {"rules", "model", "rules;model"}
    assert np.array_equal(by != "model", rules.contains(union))
    assert np.array_equal(by != "rules", proposals.contains(union))
    assert np.array_equal(by == "model", rule == "")
    assert np.isfinite(union.pieces["score"]).all()  # what rules propose has a score too
    assert np.isnan(union.pieces["rule_confidence"][by == "model"]).all()


def test_a_model_that_knows_what_rules_cannot_pays(world):
    graph, hidden, truth = world
    both, alone = candidates_of_both(graph, *propose(graph, truth)), candidates_of_rules(graph)
    assert hidden.contains(both.triples).sum() > hidden.contains(alone.triples).sum()
    assert both.notes[1].endswith("So the model pays.")
    assert f1(both.triples, hidden) > f1(alone.triples, hidden)


def test_a_model_of_noise_does_not_pay_and_spoils_nothing(world):
    graph, hidden, truth = world
    found = candidates_of_both(graph, *propose(graph, truth, strength=0.0))
    assert "So rules alone would do." in found.notes[1]
    assert f1(found.triples, hidden) > f1(candidates_of_rules(graph).triples, hidden) - 0.02


@pytest.mark.long
def test_what_rules_propose_is_decided_as_without_a_model(world):
    graph, _, truth = world
    found, alone = candidates_of_both(graph, *propose(graph, truth)), candidates_of_rules(graph)
    by_rules = found.triples.further["proposed_by"] != "model"
    assert by_rules.any()
    assert not by_rules.all()
    rows = alone.triples.rows_of(found.triples.take(by_rules))
    np.testing.assert_allclose(found.triples.scores[by_rules], alone.triples.scores[rows])
    assert len(found.reasons.of(np.arange(len(found.triples)), found.triples.scores > 0)) == len(found.triples)


@pytest.mark.long
def test_reasons_of_both_kinds_are_read_back(world, tmp_path):
    graph, _, truth = world
    found = candidates_of_both(graph, *propose(graph, truth))
    found.reasons.save(tmp_path)
    rows = np.array([len(found.triples) - 1, 0, len(found.triples) // 2])
    again = Reasons.load(tmp_path, found.triples, graph)
    assert again.of(rows, np.ones(3, bool)) == found.reasons.of(rows, np.ones(3, bool))


def test_names_that_the_model_does_not_know_leave_a_score_missing(world):
    graph, _, truth = world
    heard = truth.take(np.flatnonzero(truth.heads < 300))
    scorer = Guess(graph.entity_names[:300], graph.relation_names, heard)
    rules, _ = propose_by_rules(graph)
    union = join_proposals(rules, heard.take(np.arange(0)), scorer, graph)
    known = (union.heads < 300) & (union.tails < 300)
    assert np.array_equal(np.isfinite(union.pieces["score"]), known)
    assert 0 < known.sum() < len(known)


def test_without_a_holdout_only_what_rules_propose_is_weighed(world):
    graph, _, truth = world
    scorer, _, proposals = propose(graph, truth)
    found = candidates_of_both(graph, scorer, graph.take(np.arange(0)), proposals)
    assert "whether it pays is unknown" in found.notes[1]
    assert "proposals of the model alone are left out" in found.notes[2]
    assert set(found.triples.further["proposed_by"]) == {"rules", "rules;model"}


def test_no_more_answers_are_asked_for_than_can_be_scored(world, tmp_path, monkeypatch):
    graph, _, truth = world
    scorer, holdout, _ = propose(graph, truth)
    one = candidates_of_rules_and_model(graph, scorer, holdout, 1, tmp_path / "parts", 0, no_stage)
    monkeypatch.setattr("actc.complete.propose.MOST_PROPOSED", 1)
    monkeypatch.setattr("actc.complete.propose.best_placed", lambda proposals: proposals.take(range(10)))
    few = candidates_of_rules_and_model(graph, scorer, holdout, 3, tmp_path / "parts", 0, no_stage)
    assert one.triples.contains(few.triples).all()
    assert "the 10 best placed in their questions are scored" in few.notes[0]


def test_a_tiny_graph_is_refused():
    graph = Graph.from_columns("ab", "rr", "xy")
    scorer = Guess(graph.entity_names, graph.relation_names, graph)
    proposed = collect_candidates(CandidateSearch(scorer, graph, 1))
    with pytest.raises(TableError, match="needs at least 20"):
        candidates_of_both(graph, scorer, graph.take(np.arange(0)), proposed)
