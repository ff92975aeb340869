"""`actc candidates`: by rules, by a model, or with evidence by both."""

from __future__ import annotations

import duckdb
import pytest

from actc.complete.candidates import ask_for
from actc.complete.propose import propose_candidates
from actc.complete.pykeen import find_unseen
from actc.data.files import read_scored, write_triples
from actc.errors import OptionError
from actc.graph.graph import Graph
from tests.complete.small_graph import make_graph


def test_holdout_facts_without_evidence_are_refused(tmp_path):
    with pytest.raises(OptionError, match="--holdout: from holdout facts the weights of evidence are learned"):
        propose_candidates(tmp_path / "graph.tsv", tmp_path / "c.tsv", model=tmp_path, holdout=tmp_path / "held.tsv")


def test_a_model_of_ones_own_proposes_by_evidence(small_model, tmp_path):
    write_triples(tmp_path / "graph.tsv", make_graph().columns())
    held = find_unseen(small_model, make_graph())
    proposed = propose_candidates(tmp_path / "graph.tsv", tmp_path / "c.tsv", model=small_model, best=2, evidence=True)
    candidates = read_scored(tmp_path / "c.tsv")[0]
    assert f"{len(candidates)} candidates" in proposed.lines[-1]
    assert len(candidates) > 0
    assert not held.contains(Graph.of(candidates)).any()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv", "graph.tsv"]
    by = duckdb.read_csv(str(tmp_path / "c.tsv")).fetchnumpy()["proposed_by"]
    assert set(by) <= {"rules", "model", "rules;model"}
    assert "rules;model" in set(by)


def test_no_more_answers_are_asked_for_than_can_be_weighed():
    assert ask_for(10, 1000) == 10
    assert ask_for(10, 300_000) == 7
    assert ask_for(10, 50_000_000) == 1
