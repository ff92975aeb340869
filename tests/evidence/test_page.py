"""The page about evidence cannot drift: its queries give what the plan gives."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from actc.data.triples import ScoredTriples
from actc.evidence.plan import GRAPH_COLUMNS, SCORE_COLUMNS
from actc.evidence.table import Work, gather_evidence, open_tables
from actc.graph.graph import Graph

PAGE = (Path(__file__).parents[2] / "docs" / "evidence.md").read_text(encoding="utf-8")
QUERIES = {block.split("\n")[0].strip(): block for block in re.findall(r"```sql\n-- (.*?)```", PAGE, flags=re.S)}


def make_world(seed=0):
    """Make a random graph of 25 entities and 4 relations, and candidates that are none of its facts."""
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, [25, 4, 25], (220, 3)), axis=0)
    names = [[f"{'ere'[at]}{code:02}" for code in codes[:, at]] for at in range(3)]
    facts = rng.random(len(codes)) < 0.7
    rows = [[name for name, fact in zip(column, facts, strict=True) if fact] for column in names]
    asked = [[name for name, fact in zip(column, facts, strict=True) if not fact] for column in names]
    return Graph.from_columns(*rows), ScoredTriples.from_columns(*asked, rng.permutation(len(asked[0])))


@pytest.fixture(scope="module")
def answers():
    """Run every query of the page, in its order, beside the plan."""
    graph, candidates = make_world()
    candidates = candidates.with_pieces(score=candidates.scores)
    evidence, work = gather_evidence(graph, candidates), Work.of(graph, candidates)
    found = {}
    with open_tables(work, "1GB") as connection:
        connection.execute("CREATE VIEW candidates AS SELECT id, h, r, t, score FROM candidate")
        for name, query in QUERIES.items():
            rows = connection.execute(re.sub(r"\bcandidate\b", "candidates", f"--{query}")).fetchall()
            found[name] = dict(rows) if name in evidence.pieces else {}
    return evidence, found


@pytest.mark.parametrize("column", [name for name in QUERIES if name in {*GRAPH_COLUMNS, *SCORE_COLUMNS}])
def test_the_query_on_the_page_gives_what_the_plan_gives(answers, column):
    evidence, found = answers
    said = np.array([found[column].get(row) or 0 for row in range(len(evidence))])
    np.testing.assert_allclose(said, evidence.pieces[column], atol=1e-9)
    assert said.any()


def test_every_kind_of_evidence_has_a_query_and_every_column_is_named():
    kinds = {re.sub(r"^(head|tail)_", "", name).split("_")[0] for name in QUERIES}
    assert {"place", "slot", "share", "pair", "kind", "path", "rule", "relatives"} <= kinds
    said = {name for name in (*GRAPH_COLUMNS, *SCORE_COLUMNS) if not name.startswith("tail_")}
    assert {name for name in said if f"`{name}`" not in PAGE} == set()
