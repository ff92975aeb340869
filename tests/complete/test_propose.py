"""Candidates ranked and cut by evidence: better ones get in."""

from __future__ import annotations

import numpy as np
import pytest

from actc.complete.propose import propose_candidates, rank_by_evidence
from actc.complete.weighing import ask_for
from actc.errors import OptionError
from actc.evidence import duckdb_engine
from actc.evidence.plan import Limits
from actc.evidence.table import gather_evidence
from actc.evidence.weigh import Learnt
from actc.evidence.worth import CHOICES, learn_worth
from actc.graphs.formats import read_graph
from actc.graphs.graph import Graph
from actc.models.load_scorer import find_held
from actc.tables.files import read_scored, write_triples
from actc.triples import ScoredTriples
from tests.evidence.test_worth import make_town
from tests.models.test_train_model import make_graph


def with_held(facts, pool):
    """Return proposals among which are the holdout facts."""
    columns = zip(facts.columns().values(), pool.columns().values(), strict=True)
    scores = np.concatenate([facts.scores, pool.scores])
    return ScoredTriples.from_columns(*(np.concatenate(pair) for pair in columns), scores)


def test_the_best_by_evidence_are_kept_whatever_the_model_thinks():
    graph, facts, pool, truth = make_town()
    ranked, worth = rank_by_evidence(graph, Graph.of(facts), with_held(facts, pool), best=1)
    assert worth.with_scores
    kept = ranked.rows_of(pool.take(np.flatnonzero(truth))) >= 0
    assert kept.all()
    assert len(ranked) < len(pool)
    assert not Graph.of(facts).contains(Graph.of(ranked)).any()


def test_without_holdout_facts_the_graphs_own_say_what_evidence_is_worth():
    graph, _, pool, truth = make_town()
    ranked, worth = rank_by_evidence(graph, None, pool, best=1)
    assert not worth.with_scores
    assert (ranked.rows_of(pool.take(np.flatnonzero(truth))) >= 0).mean() > 0.9


def test_a_tiny_graph_leaves_it_to_the_model():
    graph = Graph.from_columns("ab", "rr", "xy")
    pool = ScoredTriples.from_columns("aa", "rr", "yb", [1.0, 2.0])
    ranked, worth = rank_by_evidence(graph, None, pool, best=1)
    assert worth is None
    assert ranked.scores.tolist() == [1.0, 2.0]  # each is the best answer to one of its questions


@pytest.mark.parametrize("many", [10, 10_000])
def test_chunks_score_as_the_whole_does(many, monkeypatch):
    monkeypatch.setattr("actc.evidence.worth.CHOICES", type(CHOICES)(many=many))
    graph, _, pool, truth = make_town()
    limits = Limits.for_count(len(pool))
    evidence = gather_evidence(graph, pool, limits=limits)
    worth = learn_worth(evidence, truth, rest_is_false=True)
    assert (worth.trees is not None) == (many == 10)
    monkeypatch.setattr(duckdb_engine, "CHUNK", 30)
    np.testing.assert_allclose(Learnt(worth, graph, limits).score(pool), worth.log_odds(evidence))


def test_holdout_facts_without_evidence_are_refused(tmp_path):
    with pytest.raises(OptionError, match="--held: holdout facts say what evidence is worth"):
        propose_candidates(tmp_path / "graph.tsv", tmp_path / "c.tsv", model=tmp_path, held=tmp_path / "held.tsv")


def test_a_model_of_ones_own_proposes_by_evidence(tmp_path):
    from actc.models.from_files import train_model

    write_triples(tmp_path / "graph.tsv", make_graph().columns())
    train_model(tmp_path / "graph.tsv", tmp_path / "model", device="cpu", seconds=2)
    held = find_held(tmp_path / "model", tmp_path / "graph.tsv", read_graph(tmp_path / "graph.tsv"))
    proposed = propose_candidates(
        tmp_path / "graph.tsv", tmp_path / "c.tsv", model=tmp_path / "model", best=2, evidence=True, device="cpu"
    )
    candidates = read_scored(tmp_path / "c.tsv")[0]
    assert proposed.candidates == len(candidates) > 0
    assert not held.contains(Graph.of(candidates)).any()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv", "graph.tsv", "model"]


def test_validation_triples_of_a_folder_of_numbers_are_holdout_facts(tmp_path):
    for name, text in {
        "entity_ids.del": "0\tada\n1\tbob\n2\teve\n",
        "relation_ids.del": "0\tknows\n",
        "train.del": "0\t0\t1\n",
        "valid.del": "1\t0\t2\n2\t0\t0\n",
    }.items():
        (tmp_path / name).write_text(text)
    held = find_held(tmp_path / "no model", tmp_path, read_graph(tmp_path))
    assert {held.triple(row) for row in range(2)} == {("bob", "knows", "eve"), ("eve", "knows", "ada")}


def test_more_answers_are_asked_for_than_are_kept_but_not_more_than_can_be_weighed():
    assert ask_for(10, 1000) == 20
    assert ask_for(10, 300_000) == 7
    assert ask_for(10, 50_000_000) == 1
