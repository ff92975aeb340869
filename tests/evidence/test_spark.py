"""The evidence plan on Spark: real Spark, and the rows that DuckDB writes."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from actc.errors import OptionError
from actc.evidence.plan import Limits
from actc.evidence.table import Proposals
from actc.evidence.write_table import write_evidence
from actc.graphs.graph import Graph

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::ResourceWarning")]

# So small that every list of this graph is cut somewhere.
TIGHT = Limits(path_edges=4, path_facts=20, rule_edges=3, rule_holders=3, rare_edges=3, rare_holders=6, relatives=6)


@pytest.fixture
def session(spark):
    return spark


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


@pytest.mark.long
def test_spark_writes_the_table_that_duckdb_writes(session, case, tmp_path):
    graph, candidates = case
    some = np.where(candidates.scores < 0.5, np.nan, np.round(np.sin(candidates.scores), 3))
    both = Proposals(candidates, (candidates.scores, some))
    for engine in ("duckdb", "spark"):
        write_evidence(graph, both, tmp_path / engine, TIGHT, engine=engine)
    ours, theirs = read(tmp_path / "duckdb"), read(tmp_path / "spark")
    assert list(ours) == list(theirs)
    assert len(ours["head"]) == len(candidates)
    for name, column in ours.items():
        if name in ("head", "relation", "tail"):
            assert column.tolist() == theirs[name].tolist()
        else:
            missing = np.ma.getmaskarray(np.ma.asarray(column))
            assert missing.any() == name.endswith("_2")
            assert missing.tolist() == np.ma.getmaskarray(np.ma.asarray(theirs[name])).tolist()
            np.testing.assert_allclose(theirs[name][~missing], column[~missing], rtol=0, atol=1e-9, err_msg=name)


def test_spark_writes_no_single_file(case, tmp_path):
    graph, candidates = case
    with pytest.raises(OptionError, match="without an ending"):
        write_evidence(graph, candidates, tmp_path / "rows.parquet", engine="spark")
