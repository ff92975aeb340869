"""Both ways in one run: facts added, wrong ones taken out; one budget, one session, one report."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from actc.cli.main import commands
from actc.complete.config import RunConfig
from actc.complete.run import run_config
from actc.data.files import write_triples
from actc.decide.decide_candidates import decide_candidates
from actc.errors import ActcError
from actc.graph.formats import read_graph
from actc.session import Session
from actc.session.cases import open_case, parts_of, session_case
from tests.complete.test_check import reasons_on, write_names
from tests.conftest import judge_all, triples_of
from tests.synthetic import make_towns


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Write a graph that lacks facts and has wrong ones, all that is true, and prepare a run once."""
    home = tmp_path_factory.mktemp("both")
    graph, wrong = make_towns()
    missing = ~wrong & (np.random.default_rng(1).random(len(graph)) < 0.1)
    write_triples(home / "graph.tsv", graph.take(~missing).columns())
    write_triples(home / "truth.tsv", graph.take(~wrong).columns())
    run_config(RunConfig(home / "graph.tsv", home / "out", check=True, budget=0))
    return home


@pytest.fixture
def out(home, tmp_path):
    return shutil.copytree(home / "out", tmp_path / "out")


def run(home, out, *options):
    words = ["complete", str(home / "graph.tsv"), "--check", "--out", str(out), *map(str, options)]
    return CliRunner().invoke(commands, words, catch_exceptions=False).output


def test_nobody_asked_nothing_is_taken_out_and_the_doubtful_are_listed(home):
    before = triples_of(home / "graph.tsv")
    assert before < triples_of(home / "out" / "graph.tsv")
    assert not triples_of(home / "out" / "removed.tsv")
    assert triples_of(home / "out" / "doubtful.tsv") <= before


def test_an_oracle_adds_and_takes_out_and_what_was_taken_out_can_be_put_back(home, out):
    called = {"head": ["ada"], "relation": ["lives"], "tail": ["nowhere"], "label": [1]}
    write_triples(out.parent / "called.tsv", called)
    words = ("--oracle", home / "truth.tsv", "--budget", 60, "--judged", out.parent / "called.tsv")
    told = run(home, out, *words)
    before, truth = triples_of(home / "graph.tsv"), triples_of(home / "truth.tsv")
    added, removed = triples_of(out / "accepted.tsv"), triples_of(out / "removed.tsv")
    table = pd.read_parquet(out / "check" / "decisions.parquet")
    named = list(zip(table["head"], table["relation"], table["tail"], strict=True))
    assert {fact for fact, out_of in zip(named, table["removed"], strict=True) if out_of} == removed
    assert len(named) == len(triples_of(out / "doubtful.tsv"))
    assert len(added) > 20
    assert len(removed) > 5
    assert len(removed - truth) > 0.8 * len(removed)  # what people called wrong, and a list that passed
    assert triples_of(out / "graph.tsv") == (before - removed) | added
    assert not added & before
    report = json.loads((out / "report.json").read_text())
    assert ("ada", "lives", "nowhere") in added
    for page in (told, (out / "report.md").read_text(), (out / "report.html").read_text()):
        assert f"{len(added):,} facts added, {len(removed):,} taken out" in page
    assert f"The graph had {len(before):,} facts and has {report['triples_after']:,} now." in told
    assert sum(report["accepted_by"].values()) == len(added)
    assert report["judged"] + report["check"]["judged"] == 60
    assert 22 <= report["check"]["judged"] <= 30  # no more than are of use
    assert report["triples_after"] == len(before) + len(added) - len(removed)
    assert "taken out" in (out / "report.md").read_text()
    assert "Wrong facts of the graph" in (out / "report.html").read_text()
    run(home, out, *words, "--undo", "all")
    assert triples_of(out / "graph.tsv") == before | added


def test_people_judge_candidates_and_facts_in_one_session(home, out):
    plan = RunConfig(home / "graph.tsv", out, check=True, budget=24, names=[write_names(home)])
    assert any("doubtful facts" in line for line in run_config(plan).lines)
    before, truth = triples_of(home / "graph.tsv"), triples_of(home / "truth.tsv")
    with_session = Session(out / "session")
    asked = judge_all(with_session, truth)
    assert len(asked) == 24
    assert 8 <= sum(one in before for one in asked) <= 16  # in turn
    candidates, facts = (session_case(with_session, None, part) for part in parts_of(with_session.settings))
    for case, sought in ((candidates, truth), (facts, before - truth)):
        for row, label in zip(case.annotations.rows.tolist(), case.annotations.labels.tolist(), strict=True):
            assert (case.pool.triple(row) in sought) == label
    with_session.close()
    run_config(plan)
    by_hand = {one for one in asked if one in before and one not in truth}
    assert by_hand <= triples_of(out / "removed.tsv")
    reasons = reasons_on(out / "report.html")
    assert "TOWN" in reasons
    assert "town" not in reasons
    added = triples_of(out / "accepted.tsv")
    assert not added & before
    opened = open_case(out / "thresholds.json")[0]
    assert {opened.candidates.triple(row) for row in np.flatnonzero(opened.decisions.accepted).tolist()} == added
    decide_candidates(out / "thresholds.json", out / "candidates.parquet", out / "again.tsv")
    assert triples_of(out / "again.tsv") == added
    with pytest.raises(ActcError, match="begun with --check"):
        run_config(RunConfig(home / "graph.tsv", out, budget=24))


def test_what_is_taken_out_contradicts_no_candidate(home, out, tmp_path):
    rules = tmp_path / "rules.tsv"
    rules.write_text("kind\trelation\tuse\nfunctional\tborn\thard\nfunctional\tlives\thard\n")
    run(home, out, "--oracle", home / "truth.tsv", "--budget", 60, "--constraints", rules)
    held_against = read_graph(out / "facts.parquet")
    facts = {held_against.triple(row) for row in range(len(held_against))}
    left = triples_of(home / "graph.tsv") - triples_of(out / "removed.tsv")
    assert (
        facts
        == {one for one in left if one[1] in ("born", "lives")}
        < {one for one in triples_of(home / "graph.tsv") if one[1] in ("born", "lives")}
    )
    slots = [one[:2] for one in triples_of(out / "graph.tsv") if one[1] in ("born", "lives")]
    assert not {one[:2] for one in triples_of(out / "accepted.tsv")} & {one for one in slots if slots.count(one) > 1}


def test_an_oracle_that_judges_no_fact_is_asked_about_candidates_alone(home, out, tmp_path):
    before, truth = triples_of(home / "graph.tsv"), triples_of(home / "truth.tsv")
    lines = ["head\trelation\ttail\tlabel"]
    candidates = read_graph(out / "candidates.parquet")
    for row in range(len(candidates)):
        triple = candidates.triple(row)
        assert triple not in before
        lines.append("\t".join([*triple, str(int(triple in truth))]))
    (tmp_path / "labels.tsv").write_text("\n".join(lines) + "\n")
    told = run(home, out, "--oracle", tmp_path / "labels.tsv", "--budget", 40)
    assert "doubtful facts is judged in it" in told
    assert json.loads((out / "report.json").read_text())["judged"] == 40
    assert not triples_of(out / "removed.tsv")
