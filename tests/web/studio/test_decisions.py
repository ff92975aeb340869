"""The page of decisions: the rows that the commands wrote, under every guarantee, and answers the next run reads."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

import actc
from actc.complete.config import RunConfig
from actc.complete.run import run_config
from actc.data.files import write_triples
from actc.decide.decision_table import DECISIONS
from actc.errors import SessionError
from actc.graph.formats import read_graph
from actc.session import Session
from actc.web.studio.decisions import SORTS, DecisionTable, TableQuery, decided_of, own_answers_of, store_owner_answer
from actc.web.studio.project import Project, create_project
from tests.evidence.test_rules import make_families
from tests.test_doors import POOL, guaranteed, judged, people, rows_of  # noqa: F401
from tests.test_doors import answer as judge


def open_table(session: Session) -> DecisionTable:
    """Export what a session decides, and open the table of it."""
    actc.export_session(session, accepted=session.folder.parent / "a.tsv")
    return DecisionTable(session.folder / DECISIONS, session.names)


def rows_in(table: DecisionTable, **look) -> list[dict]:
    return table.page(TableQuery.model_construct(**{"rows": 10**6, **look}))["rows"]


def fact_of(row: dict) -> tuple[str, str, str]:
    return tuple(row[part] for part in Session.TRIPLE)


@pytest.fixture(scope="module")
def table(judged):  # noqa: F811
    """The decisions of two people's and a machine's session."""
    session = Session(judged)
    yield open_table(session)
    session.close()


def test_pages_sort_and_filter_as_plain_python_would(table):
    rows = rows_in(table)
    assert len(rows) == len(POOL)
    assert [row["probability"] for row in rows] == sorted((row["probability"] for row in rows), reverse=True)
    for sort in SORTS:
        for down in (True, False):
            pages = [rows_in(table, sort=sort, down=down, page=page, rows=37) for page in range(9)]
            found = [row for page in pages for row in page]
            assert sorted(map(fact_of, found)) == sorted(map(fact_of, rows))
            assert [row[sort] for row in found] == sorted((row[sort] for row in found), reverse=down)
    for part, wanted in (("accepted", True), ("rejected", False)):
        page = table.page(TableQuery.model_construct(part=part, relation="r1", by="judges", rows=1000))
        fitting = [row for row in rows if (row["accepted"], row["relation"], row["by"]) == (wanted, "r1", "judges")]
        assert page["rows"] == fitting
        assert page["count"] == len(fitting)
    assert table.page(TableQuery.model_construct(relation="nothing"))["count"] == 0
    with pytest.raises(ValidationError):
        TableQuery(sort="score; DROP")  # type: ignore[arg-type]


@pytest.mark.parametrize("words", ["H12", "h1 r2", "r1 T5", "%", "_", "h1\\", "'", ".*", ""])
def test_each_word_of_a_search_is_part_of_a_head_a_relation_or_a_tail(table, words):
    page = table.page(TableQuery.model_construct(search=words, rows=1000))
    parts = words.lower().split()
    fitting = [row for row in rows_in(table) if all(any(word in name for name in fact_of(row)) for word in parts)]
    assert page["rows"] == fitting
    assert page["count"] == len(fitting)


def test_slider_table_and_relations_are_of_one_guarantee(guaranteed):  # noqa: F811
    session = Session(guaranteed)
    table, sizes = open_table(session), set()
    for level in (None, 0.0, 0.7, 0.99):
        found, page = table.overview(level), table.page(TableQuery.model_construct(level=level, part="accepted"))
        chosen = {0.0: found["unguaranteed"], None: found["unguaranteed"]}
        chosen |= {one["precision"]: one["accepted"] for one in found["levels"]}
        assert page["count"] == found["accepted"] == chosen[level]
        assert found["accepted"] == sum(line["accepted"] for line in found["relations"])
        assert found["candidates"] == len(POOL) == sum(line["candidates"] for line in found["relations"])
        errors = sum(abs(row["accepted"] - row["probability"]) for row in rows_in(table, level=level))
        assert sum(line["errors"] for line in found["relations"]) == pytest.approx(errors)
        sizes.add(page["count"])
    assert len(sizes) > 1
    session.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A graph of families, and the facts that are hidden from it."""
    folder = tmp_path_factory.mktemp("studio")
    graph, hidden = make_families(40, np.random.default_rng(1), 0.75)
    write_triples(folder / "graph.tsv", graph.columns())
    write_triples(folder / "hidden.tsv", hidden.columns())
    return folder


def facts_of(path) -> list:
    graph = read_graph(path)
    return [graph.triple(row) for row in range(len(graph))]


def project_in(folder, goal: str) -> Project:
    return create_project(folder, "Families").change({"goal": goal})


def test_answers_on_the_page_are_what_the_next_run_writes(home, tmp_path, monkeypatch):
    monkeypatch.setattr("actc.complete.answers.LEAST_ELIGIBLE", 20)
    project = project_in(tmp_path, "complete")
    asking = RunConfig(home / "graph.tsv", project.result, budget=12)
    run_config(asking)
    session, hidden = Session(project.session), set(facts_of(home / "hidden.tsv"))
    with pytest.raises(SessionError, match="decided"):
        decided_of(project, session, TableQuery())
    candidates = facts_of(project.result / "candidates.parquet")
    judge(session, "ada", {triple: triple in hidden for triple in candidates}, 12)
    run_config(asking)
    table = decided_of(project, session, TableQuery())
    rows, pool, before = rows_in(table), set(facts_of(session.folder / "pool.parquet")), table.version
    assert {fact_of(row): row["by"] for row in rows if row["accepted"]} == rows_of(project.result / "accepted.tsv")
    inside = next(row for row in rows if fact_of(row) in pool and row["by"] == "method" and row["accepted"])
    outside = next(row for row in rows if fact_of(row) not in pool and not row["accepted"])
    taken_back = next(row for row in rows if row not in (inside, outside) and fact_of(row) in pool)
    assert inside["why"]
    for row, said in ((inside, "false"), (outside, "true"), (taken_back, "true"), (taken_back, "undo")):
        store_owner_answer(project, session, fact_of(row), said, f"key-{rows.index(row)}")
    assert own_answers_of(session) == {fact_of(inside): "false"}
    assert rows_in(table) == rows  # the list stands still
    run_config(asking)
    accepted = rows_of(project.result / "accepted.tsv")
    assert accepted[fact_of(outside)] == "person"
    assert fact_of(inside) not in accepted
    assert table.version != before
    assert {fact_of(row) for row in rows_in(table, part="accepted")} == set(accepted)
    session.close()


@pytest.mark.long
@pytest.mark.parametrize("goal", ["check", "both"])
def test_wrong_facts_have_a_table_of_what_is_taken_out(home, tmp_path, goal):
    project = project_in(tmp_path, goal)
    asking = RunConfig(home / "graph.tsv", project.result, "wrong", budget=12)
    if goal == "both":
        asking = RunConfig(home / "graph.tsv", project.result, budget=12, check=True)
    run_config(asking)
    session, graph = Session(project.session), set(facts_of(home / "graph.tsv"))
    pool = session.read_pool()
    judge(session, "ada", {(t := pool.triple(row)): (t in graph) != (row % 3 == 0) for row in range(len(pool))}, 12)
    run_config(asking)
    table = decided_of(project, session, TableQuery(of="facts"))
    removed = rows_of(project.result / "removed.tsv")
    assert {fact_of(row): row["by"] for row in rows_in(table, part="accepted")} == removed
    assert removed
    first = next(row for row in rows_in(table, part="accepted") if row["by"] == "person")
    store_owner_answer(project, session, fact_of(first), "true", "right-after-all")
    run_config(asking)
    left = {fact_of(row) for row in rows_in(table, part="accepted")}
    assert left == set(rows_of(project.result / "removed.tsv"))
    assert fact_of(first) not in left
    if goal == "both":
        candidates = pd.read_parquet(decided_of(project, session, TableQuery()).path)
        assert candidates["accepted"].sum() == len(rows_of(project.result / "accepted.tsv"))
    session.close()
