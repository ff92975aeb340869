"""Scenarios 4 and 5: a graph with hidden facts is completed, with nobody asked and with an oracle and a guarantee."""

from __future__ import annotations

import json

import pytest

from tests.scenarios.ways import actc, facts_of, hide_facts, make_families, precision, read_rows, recall, write_graph

FACTS = make_families(seed=1, couples=30)
GIVEN, HIDDEN = hide_facts(FACTS, share=0.2, seed=1)
FILES = {"accepted.tsv", "graph.tsv", "thresholds.json", "report.html", "report.json", "report.md"}
COLUMNS = ["head", "relation", "tail", "score", "probability", "threshold", "method", "date", "by"]


@pytest.fixture
def graph(tmp_path):
    return write_graph(tmp_path / "graph.tsv", GIVEN)


def read_accepted(folder):
    """Return the accepted facts, when the files of a completed graph are whole and agree."""
    assert {path.name for path in folder.iterdir()} >= FILES
    assert list(read_rows(folder / "accepted.tsv")[0])[: len(COLUMNS)] == COLUMNS
    assert read_rows(folder / "accepted.tsv")[0]["reasons"]
    accepted = facts_of(folder / "accepted.tsv")
    assert facts_of(folder / "graph.tsv") == set(GIVEN) | accepted
    assert not accepted & set(GIVEN)
    report = json.loads((folder / "report.json").read_text())
    assert (report["triples_before"], report["accepted"]) == (len(GIVEN), len(accepted))
    low, middle, high = report["accepted_precision"]
    assert 0 <= low <= middle <= high <= 1
    assert low <= precision(accepted, set(FACTS)) <= high
    return accepted


def test_a_graph_is_completed_without_asking_anybody(graph, tmp_path):
    actc("complete", graph, "--budget", 0, "--out", tmp_path / "better")
    accepted = read_accepted(tmp_path / "better")
    assert precision(accepted, set(FACTS)) >= 0.97
    assert recall(accepted, HIDDEN) >= 0.9


def test_a_graph_is_completed_with_an_oracle_and_a_guarantee(graph, tmp_path):
    truth = write_graph(tmp_path / "truth.tsv", FACTS)
    words = ["--oracle", truth, "--budget", 60, "--precision", 0.9, "--confidence", 0.9]
    actc("complete", graph, *words, "--out", tmp_path / "better")
    accepted = read_accepted(tmp_path / "better")
    assert precision(accepted, set(FACTS)) >= 0.9
    assert recall(accepted, HIDDEN) >= 0.75
    report = json.loads((tmp_path / "better" / "report.json").read_text())
    assert report["judged"] <= 60
    by = [row["by"] for row in read_rows(tmp_path / "better" / "accepted.tsv")]
    assert by.count("oracle") == report["judged_true"] > 0
    assert by.count("method") >= 300
