"""Scenario 2: the pooled method on CoDEx-S, with nobody's answer and with 50."""

from __future__ import annotations

import json

from tests.scenarios.ways import actc, draw_labelled, facts_of, precision, read_codex, read_rows, recall, write_rows


def f1(accepted, true):
    return 2 * precision(accepted, true) * recall(accepted, true) / (precision(accepted, true) + recall(accepted, true))


def test_pooled_decides_without_answers_and_better_with_fifty(tmp_path):
    pool, test = read_codex("valid"), read_codex("test")
    true = {row[:3] for row in test if row[4]}
    write_rows(tmp_path / "pool.tsv", "head relation tail score", [row[:4] for row in pool])
    write_rows(tmp_path / "test.tsv", "head relation tail score", [row[:4] for row in test])
    labels = write_rows(tmp_path / "labels.tsv", "head relation tail label", draw_labelled(pool, 50, seed=7))
    reached = []
    for words in ([], ["--labels", labels]):
        found, accepted = tmp_path / f"{len(words)}.json", tmp_path / f"{len(words)}.tsv"
        actc("calibrate", tmp_path / "pool.tsv", *words, "--method", "pooled", "--out", found)
        actc("decide", found, tmp_path / "test.tsv", "--out", accepted)
        rows = read_rows(accepted)
        assert list(rows[0]) == ["head", "relation", "tail", "score", "threshold", "probability", "by"]
        assert all(0.5 <= float(row["probability"]) <= 1 for row in rows if row["by"] == "method")
        reached.append(f1(facts_of(accepted), true))
    assert reached[0] >= 0.75  # .76 from the scores alone
    assert reached[1] >= 0.82  # .84 from 50 random answers

    actc("report", tmp_path / "2.json", "--out", tmp_path / "report.html", "--json", tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())
    assert "<html" in (tmp_path / "report.html").read_text()
