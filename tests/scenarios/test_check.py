"""Scenario 6: wrong facts, planted in a graph, are listed first and taken out."""

from __future__ import annotations

import numpy as np

from tests.scenarios.ways import actc, facts_of, make_families, precision, read_rows, recall, write_graph


def test_planted_errors_are_found_and_taken_out(tmp_path):
    facts = make_families(seed=1, couples=15)
    random, people, wrong = np.random.default_rng(3), sorted({fact[0] for fact in facts}), set()
    while len(wrong) < 20:
        head, relation, _ = facts[random.integers(len(facts))]
        wrong |= {(head, relation, people[random.integers(len(people))])} - set(facts)
    graph = write_graph(tmp_path / "graph.tsv", sorted({*facts, *wrong}))
    truth, out = write_graph(tmp_path / "truth.tsv", facts), tmp_path / "checked"
    actc("check", graph, "--oracle", truth, "--budget", 40, "--precision", 0.9, "--out", out)

    doubtful = read_rows(out / "doubtful.tsv")
    assert list(doubtful[0])[:5] == ["head", "relation", "tail", "probability", "reasons"]
    doubts = [float(row["probability"]) for row in doubtful]
    assert doubts == sorted(doubts, reverse=True)
    first = {(row["head"], row["relation"], row["tail"]) for row in doubtful[:40]}
    assert recall(first, wrong) >= 0.9

    removed = facts_of(out / "removed.tsv")
    assert {"probability", "reasons", "by"} <= set(read_rows(out / "removed.tsv")[0])
    assert precision(removed, wrong) >= 0.9
    assert recall(removed, wrong) >= 0.4
    assert facts_of(out / "graph.tsv") == {*facts, *wrong} - removed
    assert {"report.html", "report.json", "report.md"} <= {path.name for path in out.iterdir()}
