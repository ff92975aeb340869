"""Scenario 10: a hundred thousand candidates, decided by DuckDB and by Spark, the same way."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from tests.scenarios.ways import actc, write_rows

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::ResourceWarning")]

CANDIDATES = """
SELECT 'h' || (i % 20011) AS head, 'r' || (i % 5) AS relation, 't' || (i // 5) AS tail,
       round(2 * sin(i) + (i % 5) / 5.0 + cos(7 * i), 4) AS score
FROM range(100000) t(i)
"""


def test_a_hundred_thousand_candidates_by_both_engines(spark, tmp_path):
    parts = tmp_path / "candidates"
    parts.mkdir()
    for part in range(2):
        duckdb.sql(f"COPY ({CANDIDATES} WHERE i % 2 = {part}) TO '{parts}/{part}.parquet'")
    sample = duckdb.sql(f"SELECT * FROM '{parts}/*.parquet' WHERE tail[-1] = '3' ORDER BY ALL LIMIT 2000").fetchall()
    random = np.random.default_rng(6)
    drawn = random.choice(len(sample), 80, replace=False)
    answers = [(*sample[row][:3], int(sample[row][3] + 0.5 * random.normal() > 1)) for row in drawn]
    scores = write_rows(tmp_path / "scores.tsv", "head relation tail score", sample)
    labels = write_rows(tmp_path / "labels.tsv", "head relation tail label", answers)
    thresholds = tmp_path / "thresholds.json"
    actc("calibrate", scores, "--labels", labels, "--method", "pooled", "--out", thresholds)

    actc("decide", thresholds, parts, "--all", "--out", f"{tmp_path}/by-duckdb/")
    actc("decide", thresholds, parts, "--all", "--out", f"{tmp_path}/by-spark/", "--engine", "spark")
    ours, theirs = (f"'{tmp_path}/by-{engine}/*.parquet'" for engine in ("duckdb", "spark"))
    columns = ["head", "relation", "tail", "score", "threshold", "probability", "accepted", "by"]
    assert duckdb.sql(f"FROM {ours}").columns == duckdb.sql(f"FROM {theirs}").columns == columns
    equal = duckdb.sql(f"""
        SELECT count(*), sum(one.accepted::int), max(abs(one.threshold - two.threshold)),
               max(abs(one.probability - two.probability)), bool_and(one.accepted = two.accepted AND one.by = two.by)
        FROM {ours} one JOIN {theirs} two USING (head, relation, tail, score)
    """).fetchall()
    rows, accepted, threshold, probability, same = equal[0]
    assert rows == 100_000
    assert 20_000 <= accepted <= 50_000
    assert threshold <= 1e-9
    assert probability <= 1e-9
    assert same
    for table in (ours, theirs):
        wrong = f"SELECT count(*) FROM {table} WHERE \"by\" = 'method' AND accepted != (score >= threshold)"
        assert duckdb.sql(wrong).fetchall() == [(0,)]
