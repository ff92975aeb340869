"""Decisions as a table: the rows that the commands write, at every level, whatever was said of whichever candidate."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import actc
from actc.complete.check_run import CheckPlan, run_check
from actc.complete.run import CompletionPlan, run_completion
from actc.data.files import write_triples
from actc.errors import ChoiceError, SessionError
from actc.graph.formats import read_graph
from actc.session import Session
from actc.web.studio.decisions import Wish
from actc.web.studio.make_table import make_table
from actc.web.studio.overrule import overrule
from actc.web.studio.table import SORTS, Look, Table
from tests.evidence.test_rules import make_families
from tests.test_doors import POOL, TRUTH, answer, judged, people, rows_of, truth_of  # noqa: F401


def open_table(wish: Wish, folder) -> Table:
    """Make a table and open it."""
    path = folder / f"{wish.precision}-{len(list(folder.iterdir()))}.duckdb"
    make_table(wish, path)
    return Table(path)


def rows_in(table: Table, session: Session, **look) -> list[dict]:
    return table.page(Look(**{"rows": 10**6, **look}), session.names)["rows"]


def accepted_in(table: Table, session: Session) -> dict:
    """Return who decided each accepted triple of a table."""
    rows = rows_in(table, session, part="accepted")
    assert len(rows) == table.counts()["accepted"]
    return {(row["head"], row["relation"], row["tail"]): row["by"] for row in rows}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A graph of families, and the facts that are hidden from it."""
    folder = tmp_path_factory.mktemp("studio")
    graph, hidden = make_families(40, np.random.default_rng(1), 0.75)
    write_triples(folder / "graph.tsv", graph.columns())
    write_triples(folder / "hidden.tsv", hidden.columns())
    return folder


def accepted_by(session: Session, path, **options) -> Counter:
    """Return how many of each relation an export accepts."""
    actc.export_session(session, accepted=path, **options)
    return Counter(relation for _, relation, _ in rows_of(path))


@pytest.mark.parametrize("precision", [None, 0.7])
def test_the_table_accepts_what_an_export_accepts_and_its_levels_what_a_promise_would(judged, tmp_path, precision):  # noqa: F811
    session, wish = Session(judged), Wish(str(judged), precision=precision)
    table = open_table(wish, tmp_path)
    actc.export_session(session, accepted=tmp_path / "a.tsv", precision=precision)
    assert accepted_in(table, session) == rows_of(tmp_path / "a.tsv")
    found = table.told("levels")
    assert found["said"] == sum(by != "method" for by in rows_of(tmp_path / "a.tsv").values())
    for at in (None, 0, 2):
        level = found["levels"][at] if at is not None else {"precision": None, "accepted": found["now"]}
        by_relation = [line["now"] if at is None else line["accepted_at"][at] for line in found["relations"]]
        counts = accepted_by(session, tmp_path / f"{at}.tsv", precision=level["precision"])
        assert level["accepted"] == sum(counts.values())
        assert by_relation == [counts["r0"], counts["r1"], counts["r2"]]
    session.close()


def test_pages_sort_search_and_filter_as_plain_python_would(judged, tmp_path):  # noqa: F811
    session = Session(judged)
    table = open_table(Wish(str(judged)), tmp_path)
    rows = rows_in(table, session)
    assert [row["triple"] for row in rows] != sorted(row["triple"] for row in rows)
    assert len(rows) == table.counts()["candidates"] == len(POOL)
    keys = {"by": lambda row: (row["by"], row["who"]), "distance": lambda row: abs(row["distance"])}
    for sort in SORTS:
        for down in (True, False):
            pages = [rows_in(table, session, sort=sort, down=down, page=page, rows=37) for page in range(9)]
            found = [row for page in pages for row in page]
            assert sorted(row["triple"] for row in found) == list(range(len(POOL)))
            told = [keys.get(sort, lambda row, sort=sort: row[sort])(row) for row in found]
            assert told == sorted(told, reverse=down), sort
    for words in ("H12", "r1 T", "%", "_", "h1\\", "'", ".*", "h12 r"):
        page = table.page(Look(search=words, rows=1000), session.names)
        fitting = {row["triple"] for row in rows if words.lower() in row["sentence"].lower()}
        assert {row["triple"] for row in page["rows"]} == fitting
        assert page["count"] == len(fitting)
    for by, mine in (("bob", lambda row: "bob" in row["who"]), ("judges", lambda row: row["by"] == "judges")):
        wanted = next((row["accepted"], row["relation"]) for row in rows if mine(row))
        look = Look("accepted" if wanted[0] else "rejected", relation=wanted[1], by=by, rows=1000)
        page = table.page(look, session.names)
        fitting = {row["triple"] for row in rows if (row["accepted"], row["relation"]) == wanted and mine(row)}
        assert {row["triple"] for row in page["rows"]} == fitting
        assert page["count"] == len(fitting) > 0
    near = rows_in(table, session, part="near", sort="distance", down=False)
    assert near
    assert not any(row["accepted"] or row["by"] == "person" for row in near)
    assert table.page(Look(relation="nothing"), session.names)["count"] == 0
    with pytest.raises(ChoiceError):
        Look(sort="triple; DROP TABLE decision")
    session.close()


def test_a_completion_s_table_and_overruling_are_what_the_next_run_writes(home, tmp_path, monkeypatch):
    monkeypatch.setattr("actc.complete.weighing.LEAST_ASKED", 20)
    asking = CompletionPlan(home / "graph.tsv", tmp_path / "out", budget=12)
    run_completion(asking)
    session, hidden = Session(asking.out / "session"), set(rows_of_graph(home / "hidden.tsv"))
    candidates = rows_of_graph(asking.out / "candidates.parquet")
    answer(session, "ada", {triple: triple in hidden for triple in candidates}, 12)
    wish = Wish(str(session.folder), str(asking.out))
    state = wish.state(session)
    (tmp_path / "tables").mkdir()
    table = open_table(wish, tmp_path / "tables")
    run_completion(asking)
    assert accepted_in(table, session) == rows_of(asking.out / "accepted.tsv")
    assert table.counts()["candidates"] == len(candidates)
    rows = rows_in(table, session)
    asked = [row["triple"] for row in rows if table.triple(row["triple"])[4] >= 0]
    others = [row for row in rows if row["triple"] not in asked]
    assert others
    assert asked
    inside = next(row for row in rows if row["triple"] in asked and row["by"] == "method" and row["accepted"])
    outside = next(row for row in others if not row["accepted"])
    for row, said in ((inside, "false"), (outside, "true")):
        overrule(session, wish, table, row["triple"], said, f"key-{row['triple']}")
    assert wish.state(session) != state
    again = open_table(wish, tmp_path / "tables")
    run_completion(replace(asking, if_changed=True))
    accepted = rows_of(asking.out / "accepted.tsv")
    assert accepted_in(again, session) == accepted
    assert accepted[tuple(outside[part] for part in Session.TRIPLE)] == "person"
    assert tuple(inside[part] for part in Session.TRIPLE) not in accepted
    shown = {row["triple"]: row for row in rows_in(again, session, by="owner")}
    assert set(shown) == {inside["triple"], outside["triple"]}
    assert all(row["why"] for row in rows_in(again, session, part="near", rows=5))
    actc.decide_candidates(asking.out / "thresholds.json", asking.out / "candidates.parquet", tmp_path / "d.tsv")
    assert rows_of(tmp_path / "d.tsv") == accepted
    report = actc.write_report(asking.out / "thresholds.json", tmp_path / "r.html")
    assert report.accepted == len(accepted)
    with pytest.raises(SessionError):
        overrule(session, wish, table, 10**9, "true", "key-none")
    session.close()


def rows_of_graph(path) -> list:
    graph = read_graph(path)
    return [graph.triple(row) for row in range(len(graph))]


@pytest.mark.long
@pytest.mark.parametrize("both", [False, True])
def test_wrong_facts_have_a_table_of_what_is_taken_out(home, tmp_path, both):
    out = tmp_path / "out"
    asking = (
        CompletionPlan(home / "graph.tsv", out, budget=12, check=True) if both else CheckPlan(home / "graph.tsv", out)
    )
    run = run_completion if both else run_check
    run(asking)
    session, graph = Session(out / "session"), set(rows_of_graph(home / "graph.tsv"))
    pool = session.read_pool()
    answer(session, "ada", {(t := pool.triple(row)): (t in graph) != (row % 3 == 0) for row in range(len(pool))}, 12)
    wish = Wish(str(session.folder), str(out), facts=both)
    table = open_table(wish, tmp_path)
    run(asking)
    removed = rows_of(out / "removed.tsv")
    assert accepted_in(table, session) == removed
    assert removed
    assert table.told("sought") == {"wrong": True}
    first = next(row for row in rows_in(table, session, part="accepted") if row["by"] == "person")
    overrule(session, wish, table, first["triple"], "true", "right-after-all")
    again = open_table(wish, tmp_path)
    run(asking)
    assert accepted_in(again, session) == rows_of(out / "removed.tsv")
    assert tuple(first[part] for part in Session.TRIPLE) not in rows_of(out / "removed.tsv")
    if both:
        assert accepted_in(open_table(replace(wish, facts=False), tmp_path), session) == rows_of(out / "accepted.tsv")
    session.close()
