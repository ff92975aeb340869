"""Machines judge a session: which triples, by which questions; people's answers stay the only labels."""

from __future__ import annotations

import sqlite3
import sys
import time

import numpy as np
import pytest

import actc
from actc.data.files import read_scored, write_triples
from actc.decide.guarantee import TargetPrecision
from actc.errors import ActcError
from actc.session import Judgement
from actc.session.cards import make_card
from actc.session.cases import open_case, read_judges, session_case
from actc.session.export import compare_judges, write_accepted
from actc.session.judge import CHOICES, judge_triples, make_question
from actc.session.names import SOURCE, write_texts
from actc.session.plan import Planner
from actc.session.settings import Settings
from tests.conftest import make_pool, start_copy

POOL, TRUTH = make_pool(240, 3, seed=7)
PROGRAM = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    number = int(question["head_id"][1:])
    if number % 10 == 9:
        print("no sense at all")
        print(json.dumps({"triple": question["triple"], "answer": "perhaps not"}))
        continue
    answer = "true" if number in TRUE else "false"
    print(json.dumps({"triple": question["triple"], "answer": answer, "probability": 0.03 + 0.94 * (number in TRUE)}))
    print(json.dumps({"triple": question["triple"], "answer": "unsure"}), flush=True)  # once more: the first one counts
"""


@pytest.fixture
def session(tmp_path):
    sources = [f"Text {i}." if i % 2 else "" for i in range(len(POOL))]
    write_triples(tmp_path / "scores.tsv", {**POOL.columns(), "score": POOL.scores, "source": sources})
    (tmp_path / "judge.py").write_text(PROGRAM.replace("TRUE", repr(set(np.flatnonzero(TRUTH).tolist()))))
    return start_copy(tmp_path / "session", tmp_path / "scores.tsv", Settings(method="pooled-rndm"))


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("untouched")
    write_triples(folder / "scores.tsv", {**POOL.columns(), "score": POOL.scores})
    return start_copy(folder / "session", folder / "scores.tsv", Settings(method="pooled-rndm"))


def command(tmp_path):
    return f"{sys.executable} {tmp_path / 'judge.py'}"


def let_people_answer(session, count):
    ada = session.add_annotator("ada")
    for task in session.ask(ada, count):
        session.record(ada, [Judgement(str(TRUTH[task.triple]).lower(), task.triple, f"k{task.triple}")])


def test_a_program_judges_everything_once_and_its_answers_are_no_labels(session, tmp_path):
    planner = Planner(session)
    planner.step()
    planned = session.store.value("SELECT count(*) FROM plan")
    run = judge_triples(session, program=command(tmp_path), which="all")
    assert (run.wanted, run.answered, run.unreadable, run.before) == (240, 216, 24, 0)
    again = judge_triples(session, program=command(tmp_path), which="all")
    assert (again.before, again.answered) == (240, 0)
    judged = read_judges(session.store, POOL)
    assert len(judged) == 216
    assert (judged.labels == TRUTH[POOL.rows_of(judged.triples)]).all()
    assert not planner.step()  # nothing is new to it
    assert session.store.value("SELECT count(*) FROM plan") == planned
    assert len(session.annotations()) == session.store.value("SELECT count(*) FROM judgement") == 0
    task = next(task for task in session.ask(session.add_annotator("ada"), 20) if task.triple % 2)
    card = make_card(session.names, task)
    assert card["source"] == make_question(session, task).fields["source"] == f"Text {task.triple}."
    assert not {"judge", "judges", "answer", "probability"} & set(card)


def test_a_program_that_writes_nothing_and_does_not_listen_is_ended(session, tmp_path, monkeypatch):
    monkeypatch.setattr("actc.session.machines.GOODBYE_SECONDS", 0.2)
    (tmp_path / "deaf.py").write_text("import os, time\nos.close(1)\ntime.sleep(60)\n")
    write_texts(session.store, SOURCE, ["x" * 2000] * len(POOL))
    deaf, began = f"{sys.executable} {tmp_path / 'deaf.py'}", time.monotonic()
    with pytest.raises(ActcError):
        judge_triples(session, program=deaf, which="all")
    assert time.monotonic() - began < 30


def test_what_people_judged_comes_first_and_tells_how_far_to_trust_it(session, tmp_path):
    let_people_answer(session, 30)
    people = session.annotations()
    run = judge_triples(session, program=command(tmp_path), count=0)
    assert run.wanted == 30
    assert run.reliability.compared == int((people.rows % 10 != 9).sum())
    assert run.reliability.right == 1


@pytest.mark.parametrize("which", list(CHOICES))
def test_each_choice_of_triples_has_what_its_name_means(session, tmp_path, which):
    let_people_answer(session, 20)
    judge_triples(session, program=command(tmp_path), which=which, count=60)
    with sqlite3.connect(session.folder / "session.sqlite") as connection:
        asked = np.array([row[0] for row in connection.execute("SELECT triple FROM reply")])
    case = open_case(session)[0]
    new = np.setdiff1d(asked, session.annotations().rows)
    assert len(new) <= 60
    if which == "accepted":
        assert case.without_judges().decisions.accepted[new].all()
    if which == "doubtful":
        p = case.fit.probabilities(POOL)
        others = np.setdiff1d(np.arange(240), asked)
        assert np.abs(p[new] - 0.5).max() <= np.abs(p[others] - 0.5).min()


def test_answers_of_judges_come_from_a_file_once(session, tmp_path):
    signals = np.where(POOL.scores > 0.5, 1, 0)
    columns = {**POOL.columns(), "judge": np.array(["a", "b"] * 120, dtype=object), "label": signals}
    write_triples(tmp_path / "judges.tsv", columns)
    for expected in (240, 0):
        assert actc.import_judgements(session, tmp_path / "judges.tsv", judge=True)[0] == expected
    judged = read_judges(session.store, POOL)
    assert set(judged.who) == {"a", "b"}
    assert (judged.labels == (POOL.scores[POOL.rows_of(judged.triples)] > 0.5)).all()
    assert open_case(session)[0].judge_adjusted is not None
    assert not len(session.annotations())


@pytest.mark.parametrize(
    "line", ["h\tr\tt\ta\t1", "{first}\ta\tmaybe", "{first}\ta\t"], ids=["unknown", "no label", "empty"]
)
def test_a_file_of_judges_that_cannot_be_read_changes_nothing(untouched, tmp_path, line):
    first = "\t".join(POOL.triple(0))
    path = tmp_path / "judges.tsv"
    path.write_text("head\trelation\ttail\tjudge\tlabel\n" + line.format(first=first) + "\n")
    with pytest.raises(ActcError, match="judges.tsv"):
        actc.import_judgements(untouched, path, judge=True)
    assert not len(read_judges(untouched.store, POOL))


def test_a_run_never_asks_more_than_its_limit(session, tmp_path):
    assert judge_triples(session, program=command(tmp_path), which="all", limit=50).failed == 190
    assert judge_triples(session, program=command(tmp_path), which="all").before == 50


NO_HOSTS = ("[::1", "a℀b/", "h:x/", "h:99999/", "a b/", "a:b@c")
NO_ADDRESSES = (*(f"http://{host}" for host in NO_HOSTS), "file:///etc/passwd", "ftp://x", "x")
NO_PROGRAMS = ("'", "no-such-program", "sh -c 'exit 3'", "yes", "cat /dev/zero", "sh -c 'while :; do echo {}; done'")
NO_CHOICES = (
    {"which": "al"},
    {"limit": 0},
    {"count": -1},
    {"prompt": "no-such.txt"},
    {"url": "http://a", "model": "m"},
)
REFUSED = [
    *({"url": url, "model": "m"} for url in NO_ADDRESSES),
    *({"program": program} for program in NO_PROGRAMS),
    *({"program": "true"} | more for more in NO_CHOICES),
    *({}, {"url": "http://127.0.0.1:9"}),
]


@pytest.mark.parametrize("options", REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(untouched, options):
    with pytest.raises(ActcError):
        judge_triples(untouched, **options)


def test_judges_turn_decisions_round_and_the_report_shows_what_they_bought(session, tmp_path):
    let_people_answer(session, 60)
    plain = open_case(session)[0]
    assert compare_judges(plain) is None
    judge_triples(session, program=command(tmp_path), which="all")
    case, plain = open_case(session)[0], plain.decisions.accepted
    decided = case.decisions
    assert (decided.accepted == TRUTH).mean() > (plain == TRUTH).mean()
    assert (case.without_judges().decisions.accepted == plain).all()
    assert (plain[decided.by == "judges"] != decided.accepted[decided.by == "judges"]).all()
    write_accepted(session, case, tmp_path / "accepted.tsv")
    header, *rows = [line.split("\t") for line in (tmp_path / "accepted.tsv").read_text().splitlines()]
    by = [row[header.index("by")] for row in rows]
    assert set(by) == {"person", "judges", "method"}
    comparison = compare_judges(case)
    with_judges, without = comparison["with"]["accuracy"], comparison["without"]["accuracy"]
    assert with_judges.high - with_judges.low < without.high - without.low
    assert with_judges.low <= (decided.accepted == TRUTH).mean()
    assert comparison["checks"] == 60
    assert comparison["judges"][0]["weight"] > 1
    written = actc.write_report(session.folder, tmp_path / "report.html", json_out=tmp_path / "report.json")
    assert f"The judges change {comparison['changed']} decisions." in written.judges
    assert any(line.startswith("Accuracy with judges: ") and "; without them: " in line for line in written.judges)
    assert "What machine judges added" in (tmp_path / "report.html").read_text()
    assert '"changed"' in (tmp_path / "report.json").read_text()


def test_judges_order_the_list_and_a_reader_of_its_file_accepts_the_same(session, tmp_path):
    judge_triples(session, program=command(tmp_path), which="all")
    session.change({"precision": 0.7})
    planner = Planner(session)
    for _ in range(19):  # with a refit now and then
        planner.step()
        let_people_answer(session, 5)
    case = session_case(session, TargetPrecision(0.7))
    assert case.guarantee.size
    assert (case.decisions.by == "judges").any()
    assert TRUTH[case.decisions.accepted].mean() >= 0.7
    written = {"thresholds": tmp_path / "t.json", "accepted": tmp_path / "accepted.tsv"}
    actc.export_session(session, precision=0.7, **written)
    again = open_case(tmp_path / "t.json")[0]
    assert (again.decisions.accepted == case.decisions.accepted).all()
    assert again.guarantee.min_probability == case.guarantee.min_probability
    assert (POOL.rows_of(read_scored(tmp_path / "accepted.tsv")[0]) >= 0).sum() == case.decisions.accepted.sum()
