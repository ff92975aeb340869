"""A graph checked from file to file: the list, answers, what is taken out, what is put back."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from actc.cli.main import commands
from actc.complete.config import RunConfig
from actc.complete.run import run_config
from actc.data.files import write_triples
from actc.errors import ActcError
from actc.graph.formats import read_graph
from actc.session import Session
from actc.session.cases import session_case
from actc.session.export import write_report
from actc.session.plan import Planner
from actc.session.start import start_audit
from actc.session.status import picture, show_review
from tests.conftest import judge_all, triples_of
from tests.synthetic import make_towns


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Write a graph with errors, the graph without them, and check it once without asking anybody."""
    home = tmp_path_factory.mktemp("check")
    graph, wrong = make_towns()
    write_triples(home / "graph.tsv", graph.columns())
    write_triples(home / "truth.tsv", graph.take(~wrong).columns())
    run_config(RunConfig(home / "graph.tsv", home / "out", "wrong", budget=0))
    return home


@pytest.fixture
def out(home, tmp_path):
    """Copy the folder of that run, which a second one goes on in."""
    return shutil.copytree(home / "out", tmp_path / "out")


def lines_of(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def test_without_questions_there_is_a_list_and_nothing_is_taken_out(home):
    listed = lines_of(home / "out" / "doubtful.tsv")
    assert listed[0] == ["head", "relation", "tail", "probability", "reasons"]
    chances = [float(line[3]) for line in listed[1:]]
    assert chances == sorted(chances, reverse=True)
    truth = set(triples_of(home / "truth.tsv"))
    assert sum(tuple(line[:3]) not in truth for line in listed[1:31]) > 24
    assert all(line[4] for line in listed[1:31])
    assert lines_of(home / "out" / "removed.tsv")[1:] == []
    assert set(triples_of(home / "out" / "graph.tsv")) == set(triples_of(home / "graph.tsv"))


def test_a_graph_that_changed_is_checked_again_with_the_answers_of_before(home, out, tmp_path):
    before = read_graph(home / "graph.tsv")
    write_triples(tmp_path / "later.tsv", before.take(before.heads != before.heads[0]).columns())
    for graph, budget in ((home / "graph.tsv", 30), (tmp_path / "later.tsv", 10)):
        run_config(RunConfig(graph, out, "wrong", oracle=home / "truth.tsv", budget=budget))
    assert 35 <= len(lines_of(out / "answers.tsv")) - 1 <= 40
    with pytest.raises(ActcError, match="begun with goal wrong"):
        run_config(RunConfig(home / "graph.tsv", out, budget=0))


def test_an_oracle_takes_wrong_facts_out_and_undo_puts_them_back(home, out):
    before = (home / "graph.tsv").read_bytes()
    check = f"check {home}/graph.tsv --oracle {home}/truth.tsv --budget 60 --precision .8".split()
    assert "taken out" in CliRunner().invoke(commands, [*check, "--out", str(out)], catch_exceptions=False).output
    truth, removed = set(triples_of(home / "truth.tsv")), triples_of(out / "removed.tsv")
    assert len(removed) > 20
    assert sum(one not in truth for one in removed) > 0.8 * len(removed)
    assert set(triples_of(out / "graph.tsv")) == set(triples_of(home / "graph.tsv")) - set(removed)
    report = json.loads((out / "report.json").read_text())
    assert report["removed"] == len(removed)
    assert report["facts_after"] == report["facts_before"] - len(removed)
    lines = (out / "removed.tsv").read_text().splitlines()[:2]
    (home / "back.tsv").write_text("\n".join(lines) + "\n")
    undo = [*check, "--out", str(out), "--undo"]
    CliRunner().invoke(commands, [*undo, str(home / "back.tsv")], catch_exceptions=False)
    assert set(triples_of(out / "removed.tsv")) == set(removed) - set(triples_of(home / "back.tsv"))
    CliRunner().invoke(commands, [*undo, "all"], catch_exceptions=False)
    assert set(triples_of(out / "graph.tsv")) == set(triples_of(home / "graph.tsv"))
    assert (home / "graph.tsv").read_bytes() == before


def test_the_report_has_the_reasons_of_the_list(home, out):
    text = (home / "graph.tsv").read_text().replace("\n", "\tsaid\n")
    (home / "said.tsv").write_text(text.replace("said", "sentence", 1))
    lines = run_config(RunConfig(home / "said.tsv", out := out.parent / "new", "wrong", budget=0)).lines
    assert any("--candidates" in line for line in lines)
    listed = lines_of(out / "doubtful.tsv")[1:]
    shown = [[*one["triple"], one["reasons"]] for one in json.loads((out / "report.json").read_text())["most_doubtful"]]
    assert shown == [[*line[:3], line[4]] for line in listed[: len(shown)]]


def test_people_say_whether_a_fact_is_true_and_wrong_ones_are_taken_out(home, out):
    plan = RunConfig(home / "graph.tsv", out, "wrong", budget=12, names=[write_names(home)])
    said = run_config(plan).lines
    assert any("actc annotate" in line for line in said)
    truth = set(triples_of(home / "truth.tsv"))
    session = Session(out / "session")
    judge_all(session, truth)
    people, sought = session.annotations(), session_case(session).annotations
    assert (people.labels != sought.labels).all()
    speaks_of_wrong_facts(session, out)
    session.close()
    run_config(plan)
    by_hand = [line for line in lines_of(out / "removed.tsv") if line[-1] == "person"]
    assert len(by_hand) == (~people.labels).sum()
    assert all(tuple(line[:3]) not in truth for line in by_hand)
    reasons = reasons_on(out / "report.html")
    assert re.search(r"\bTOWN\d", reasons)
    assert not re.search(r"\btown\d", reasons)


def write_names(home):
    """Call everything by its id in capitals."""
    graph = read_graph(home / "graph.tsv")
    ids = [*graph.entity_names, *graph.relation_names]
    (home / "names.tsv").write_text("id\tname\n" + "".join(f"{one}\t{one.upper()}\n" for one in ids))
    return home / "names.tsv"


def reasons_on(page):
    return " ".join(re.findall('<span class="reason">(.*?)</span>', page.read_text()))


def speaks_of_wrong_facts(session, out):
    """Check that a session which seeks wrong facts calls nothing accepted or true that is taken out, on any page."""
    Planner(session).step()
    shown = picture(session)["words"]
    assert shown["by_relation"].startswith("Taken out")
    card = show_review(session, int(session.annotations().rows[0]))
    assert card["belief"].startswith("Score of the model: ")  # a card asks whether it is
    report = write_report(session, out / "page.html")
    page = re.sub("<style>.*?</style>", "", (out / "page.html").read_text(), flags=re.DOTALL)
    words = " ".join(re.sub("<[^>]*>|--accepted accepted.tsv", " ", page).split())
    assert f"{report.accepted} of {report.pool:,} facts are taken out. Precision" in words
    assert "of the facts taken out are wrong" in words
    assert "accepted" not in words
    assert "is true" not in words
    audit = start_audit(session, count=5)
    judge_all(audit, (), most=5)
    Planner(audit).step()
    told = picture(audit)
    assert told["curve"][-1][1] > 0.5
    assert "facts taken out are wrong (" in told["advice"]
    assert told["words"]["by_relation"] == "Wrong among the judged, relation by relation"


def test_what_was_not_taken_out_cannot_be_put_back_and_a_graph_may_be_too_small(home, tmp_path):
    with pytest.raises(ActcError, match="nothing was taken out"):
        run_config(RunConfig(home / "graph.tsv", tmp_path / "new", "wrong", undo=Path("all")))
    write_triples(tmp_path / "graph.tsv", {"head": ["a"], "relation": ["r"], "tail": ["b"]})
    with pytest.raises(ActcError, match="too small"):
        run_config(RunConfig(tmp_path / "graph.tsv", tmp_path / "out", "wrong"))
    assert not (tmp_path / "out").exists()
