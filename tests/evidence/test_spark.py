"""The evidence plan on Spark: real Spark, and the rows that DuckDB writes."""

from __future__ import annotations

import os
import subprocess
import sys

import duckdb
import numpy as np
import pytest

from actc.data.database import in_one_sentence
from actc.data.files import write_scored, write_triples
from actc.errors import ActcError
from actc.evidence.plan import MODEL_SCORE, SCORE_COLUMNS
from actc.evidence.score import create_training_set, learn
from actc.evidence.spark_engine import write_evidence as write_by_spark
from actc.evidence.steps import Limits
from actc.evidence.table import Work, place_scores, write_evidence
from actc.graph.graph import Graph

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::ResourceWarning")]

# So small that every list of this graph is cut somewhere.
TIGHT = Limits(path_edges=4, path_facts=20, rule_edges=3, rule_holders=3, rare_edges=3, rare_holders=6, relatives=6)


def draw(count, rng):
    """Draw triples of 30 entities, few of which have most facts, and 4 relations."""
    heads, tails = ((rng.random(count) ** 2 * 30).astype(int) for _ in range(2))
    names = [f"e{k:02d}" for k in range(30)], list("abcd")
    return Graph(heads, rng.integers(4, size=count), tails, *names).unique()


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(7)
    graph, other = draw(200, rng), draw(100, rng)
    asked = Graph.of(graph.take(np.arange(60)).union(other))
    return graph, asked.with_scores(rng.integers(20, size=len(asked)) / 10)


def read(folder):
    return duckdb.sql(f"SELECT * FROM read_parquet('{folder}/*.parquet') ORDER BY relation, head, tail").fetchnumpy()


def check_alike(ours, theirs, missing=()):
    """Compare two tables, numbers to 1e-9."""
    assert list(ours) == list(theirs)
    for name, column in ours.items():
        if name in ("head", "relation", "tail"):
            assert column.tolist() == theirs[name].tolist()
            continue
        there = ~np.ma.getmaskarray(np.ma.asarray(column))
        assert there.all() != (name in missing)
        assert there.tolist() == (~np.ma.getmaskarray(np.ma.asarray(theirs[name]))).tolist()
        np.testing.assert_allclose(theirs[name][there], column[there], rtol=0, atol=1e-9, err_msg=name)
    assert np.ptp(ours["score"]) > 1


@pytest.mark.long
def test_spark_weighs_and_writes_as_duckdb_does(spark, case, tmp_path):
    graph, candidates = case
    some = np.where(candidates.scores < 0.5, np.nan, np.round(np.sin(candidates.scores), 3))
    scored = candidates.with_pieces(score=some)
    model, graph = learn(graph, create_training_set(graph, scored, graph.take(np.arange(0, 60, 4))), TIGHT)
    assert {"has_score", "score"} <= set(model.columns)
    work = Work.of(graph, place_scores(scored), TIGHT)
    write_evidence(work, model.log_odds, tmp_path / "duckdb")
    write_by_spark(work, model, tmp_path / "spark", 10**9)
    ours, theirs = read(tmp_path / "duckdb"), read(tmp_path / "spark")
    assert len(ours["head"]) == len(candidates)
    check_alike(ours, theirs, {MODEL_SCORE, *SCORE_COLUMNS} - {"score"})


def test_what_spark_could_not_do_is_said_in_a_sentence(spark):
    with pytest.raises(ActcError, match=r"^Spark could not finish \(.+\)\.$"), in_one_sentence():
        spark.sql("SELECT raise_error('a disk is full')").collect()


ON_CLUSTER = """
import sys
from pathlib import Path
import numpy as np
from actc import add_evidence, decide_candidates
from actc.data.constraints import Constraint, Constraints
from actc.data.triples import Thresholds
folder = Path(sys.argv[1])
thresholds = Thresholds(("a", "b"), np.array([0.0, -1.0]), -0.5, np.full(2, True))
kinds = [("functional", "a"), ("inverse-functional", "b"), ("asymmetric", "c"), ("irreflexive", "d")]
constraints = Constraints(tuple(Constraint(*kind, use="hard") for kind in kinds))
for engine, master in (("duckdb", None), ("spark", "local-cluster[2,1,1024]")):
    by = {"engine": engine, "master": master, "memory": "1GB"}
    add_evidence(folder / "graph.tsv", folder / "candidates.tsv", folder / engine, holdout=folder / "held.tsv", **by)
    decided = decide_candidates(thresholds, folder / engine, folder / f"{engine}-decided", keep_all=True,
                                constraints=constraints, graph=folder / "graph.tsv", **by)
    print(decided.candidates.sum(), decided.accepted.sum(), decided.excluded.sum())
"""


@pytest.mark.long
def test_a_cluster_of_two_workers_without_python_finds_weighs_and_decides_as_duckdb_does(case, tmp_path):
    """From the graph to decisions under constraints; a Python that is not there would be started for rows of ours."""
    graph, candidates = case
    write_triples(tmp_path / "graph.tsv", graph.columns())
    write_scored(tmp_path / "candidates.tsv", candidates)
    write_scored(tmp_path / "held.tsv", candidates.take(np.flatnonzero(graph.contains(candidates))[::2]))
    settings = {"sql.shuffle.partitions": 2, "sql.codegen.wholeStage": "false", "pyspark.python": "/nonexistent"}
    lines = "".join(f"spark.{name} {value}\n" for name, value in settings.items())
    (tmp_path / "spark-defaults.conf").write_text(lines)
    environment = {**os.environ, "SPARK_CONF_DIR": str(tmp_path), "PYSPARK_DRIVER_PYTHON": sys.executable}
    command = [sys.executable, "-c", ON_CLUSTER, str(tmp_path)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    first, second = result.stdout.splitlines()
    assert first == second
    assert min(map(int, first.split())) > 0
    check_alike(read(tmp_path / "duckdb"), read(tmp_path / "spark"))
    ours, theirs = read(tmp_path / "duckdb-decided"), read(tmp_path / "spark-decided")
    for name, column in ours.items():
        if column.dtype.kind == "f":
            np.testing.assert_allclose(theirs[name], column, rtol=0, atol=1e-9)
        else:
            assert column.tolist() == theirs[name].tolist(), name
