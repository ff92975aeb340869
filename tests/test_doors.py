"""Every door gives the same answer: from one case the same accepted triples, by the same hands, with the same interval.

Doors are the commands, the functions for frames, the report, the page's files and ``complete``. Whatever counts or
promises something does so of the rows of the file beside it.
"""

from __future__ import annotations

import csv
import json
import shutil
import time
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import actc
from actc.cli.main import commands
from actc.complete.run import run_config
from actc.data.answers import Answers
from actc.data.calibration import Calibration, Sources
from actc.data.constraints import Constraint, Constraints
from actc.data.files import read_scored, write_scored, write_triples
from actc.data.triples import ScoredTriples
from actc.decide.calibrate import describe_calibration
from actc.decide.case import FOLDS
from actc.decide.decision_table import DECISIONS, PRECISIONS
from actc.decide.estimate import Share
from actc.errors import ActcError
from actc.graph.formats import read_graph
from actc.methods.named import METHODS
from actc.session import Judgement, Session
from actc.session.cases import open_case
from actc.session.import_answers import import_judgements
from actc.session.plan import Planner
from actc.session.processes import main as make_file
from actc.session.settings import SessionInputs, Settings
from actc.session.start import create_session
from tests.complete.test_complete import folder, plan  # noqa: F401
from tests.conftest import let_machine_say, make_pool, triples_of

POOL, TRUTH = make_pool(300, 3, seed=5)


def run(*words) -> str:
    done = CliRunner().invoke(commands, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def answer(session: Session, who: str, truth: dict, count: int, unsure: int = -1) -> None:
    """Let somebody judge, with a refit now and then; unsure of one answer, where it is given."""
    person, planner = session.add_annotator(who), Planner(session)
    for number in range(count):
        if number % 8 == 0:
            planner.step()
        tasks = session.exchange(person, [], 1)[1]
        if not tasks and planner.step():
            tasks = session.exchange(person, [], 1)[1]
        if not tasks:  # a list has passed: nobody is asked any more
            return
        [task] = tasks
        said = "true" if truth[task.head, task.relation, task.tail] else "false"
        said = "unsure" if number == unsure else said
        session.exchange(person, [Judgement(said, task.triple, f"{who}-{task.triple}-{said}")], 0)


def truth_of(pool, labels) -> dict:
    return dict(zip(map(pool.triple, range(len(pool))), labels.tolist(), strict=True))


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A session of two people, one of whom is unsure once."""
    home = tmp_path_factory.mktemp("doors")
    write_scored(home / "scores.parquet", POOL)
    session = create_session(home / "session", home / "scores.parquet", Settings("pooled", budget=100))
    truth = truth_of(POOL, TRUTH)
    answer(session, "ada", truth, 16)
    answer(session, "bob", truth, 20, unsure=3)
    answer(session, "ada", truth, 8)
    session.close()
    return home / "session"


@pytest.fixture(scope="module")
def judged(people, tmp_path_factory):
    """The same session, of whose triples a machine said something too: right, but for every seventh."""
    copy = shutil.copytree(people, tmp_path_factory.mktemp("judged") / "session")
    other = Session(copy)
    let_machine_say(other, {row: TRUTH[row] != (row % 14 == 0) for row in range(0, len(POOL), 2)})
    other.close()
    return copy


RULES = Constraints(
    (
        Constraint("functional", "r0", use="hard"),
        Constraint("functional", "r1", cases=300, share=0.99),
        Constraint("inverse-functional", "r2", use="hard"),
        Constraint("asymmetric", "r2", use="hard"),
    )
)


@pytest.fixture(scope="module")
def rivals(tmp_path_factory):
    """A session with rivals, facts that some contradict, a person and a machine."""
    home = tmp_path_factory.mktemp("rivals")
    rows = range(len(POOL))
    relations = [POOL.triple(row)[1] for row in rows]
    names = [f"h{row % 60}" for row in rows], [f"{'h' if row % 5 == 0 else 't'}{row % 70}" for row in rows]
    pool = ScoredTriples.from_columns(names[0], relations, names[1], POOL.scores)
    write_scored(home / "scores.parquet", pool)
    facts = {"head": ["h3", "h8", "h9"], "relation": ["r0", "r1", "r2"], "tail": ["there", "there", "t2"]}
    write_triples(home / "facts.tsv", {name: np.array(column, dtype=object) for name, column in facts.items()})
    files = home / "session", home / "scores.parquet"
    settings = Settings("pooled", budget=100)
    session = create_session(*files, settings, SessionInputs(graph=home / "facts.tsv", constraints=RULES))
    answer(session, "ada", truth_of(pool, TRUTH), 30)
    let_machine_say(session, {row: TRUTH[row] != (row % 28 == 0) for row in range(0, len(pool), 4)})
    session.close()
    return home / "session"


@pytest.fixture(scope="module")
def walked(request, tmp_path_factory):
    """For the name of each session: its folder, where its doors wrote, and what each accepts."""
    made = {}

    def walk(name):
        if name not in made:
            session, out = request.getfixturevalue(name), tmp_path_factory.mktemp(f"{name}-doors")
            made[name] = session, out, check_doors(session, out)
        return made[name]

    return walk


@pytest.mark.parametrize("name", ["people", "judged", "rivals"])
def test_every_door_accepts_the_same_triples_by_the_same_hands(walked, name):
    _, out, accepted = walked(name)
    for door, rows in accepted.items():
        assert rows == accepted["export"], door
    assert set(accepted["export"].values()) == {"person", "method"} | ({"judges"} if name != "people" else set())
    assert (out / "export.tsv").read_text() == (out / "page.tsv").read_text()
    assert (accepted["export"] == walked("people")[2]["export"]) == (name == "people")


def test_what_constraints_exclude_is_the_same_by_every_door(walked, tmp_path):
    rivals, out, accepted = walked("rivals")
    case = open_case(rivals)[0]
    held = case.decisions.excluded_columns(case.facts)["against"]
    assert set(held) - {""} == {"fact", "rival"}
    told = json.loads((out / "session.json").read_text())["constraints"]
    assert told == json.loads((out / "thresholds.json").read_text())["constraints"]
    assert told["excluded"] == len(held) > 10
    assert f"Constraints exclude {len(held)} candidates" in (out / "r.html").read_text()
    keys = [(head, relation) for head, relation, _ in accepted["export"] if relation == "r0"]
    words = {key[:2] for key, by in accepted["export"].items() if by == "person"}
    assert not {key for key in keys if keys.count(key) > 1} - words
    run("decide", out / "t.json", rivals / "pool.parquet", "--all", "--out", tmp_path / "all.tsv")
    everything = pd.read_csv(tmp_path / "all.tsv", sep="\t")
    assert (everything["by"] == "constraint").sum() == len(held)


def test_a_method_that_takes_log_odds_says_so_of_a_model_s_own_scores_by_every_door(tmp_path, caplog):
    write_scored(tmp_path / "scores.parquet", POOL)
    weighed = POOL.with_scores(8 * POOL.scores - 4)
    doors = (
        lambda pool: actc.accept_triples(pool, method="pooled-evidence"),
        lambda pool: actc.pick_triples(pool, 3, method="pooled-evidence"),
        lambda pool: actc.calibrate(pool, method="pooled-evidence"),
        lambda pool: actc.Calibrator("pooled-evidence").fit(pool),
    )
    for door in doors:
        caplog.clear()
        door(weighed)
        assert not caplog.messages
        door(POOL)
        assert len([one for one in caplog.messages if "reads scores as log-odds" in one]) == 1
    caplog.clear()
    create_session(tmp_path / "session", tmp_path / "scores.parquet", Settings("pooled-evidence")).close()
    assert len([one for one in caplog.messages if "reads scores as log-odds" in one]) == 1


def test_rivals_in_frames_files_and_sessions(walked, tmp_path):
    rivals, out, _ = walked("rivals")
    alone = open_case(rivals)[0].without_judges().decisions.columns()  # labels have no judges
    found = decided_in(alone)
    RULES.write(tmp_path / "rules.tsv")
    facts = rivals / "facts.parquet"
    more = ("--constraints", tmp_path / "rules.tsv", "--graph", facts)
    run("calibrate", rivals / "pool.parquet", "--labels", out / "l.tsv", *more, "--out", tmp_path / "c.json")
    run("decide", tmp_path / "c.json", rivals / "pool.parquet", "--out", tmp_path / "c.tsv")
    assert rows_of(tmp_path / "c.tsv") == found
    pool, answers = read_scored(rivals / "pool.parquet")[0], pd.read_csv(out / "l.tsv", sep="\t")
    known = read_graph(facts)
    frame = actc.accept_triples(pool, answers, constraints=RULES, graph=known, method="pooled")
    assert decided_in(frame) == found
    assert "method" in found.values()
    plain = actc.accept_triples(pool, answers)
    assert set(found) < set(decided_in(plain))


def rows_of(path) -> dict:
    """Return who decided each accepted triple of a file."""
    with open(path, encoding="utf-8", newline="") as file:
        return {(row["head"], row["relation"], row["tail"]): row["by"] for row in csv.DictReader(file, delimiter="\t")}


def chances_of(path) -> dict:
    """Return P(true) of each accepted triple of a file."""
    with open(path, encoding="utf-8", newline="") as file:
        return {
            (row["head"], row["relation"], row["tail"]): float(row["probability"])
            for row in csv.DictReader(file, delimiter="\t")
        }


def decided_in(table) -> dict:
    """Return who decided each row of a table of decisions."""
    names = zip(table["head"], table["relation"], table["tail"], strict=True)
    return dict(zip(names, table["by"], strict=True))


def interval_of(path) -> list[float]:
    """Return low, middle and high of the precision in a report."""
    return list(json.loads(path.read_text())["quality"]["precision"].values())


def check_doors(session, out) -> dict:
    """Go through every door of a session; return what each accepts."""
    run("export", session, "--thresholds", out / "t.json", "--accepted", out / "export.tsv", "--labels", out / "l.tsv")
    printed = {"decide": run("decide", out / "t.json", session / "pool.parquet", "--out", out / "decide.tsv")}
    make_file(str(session), "", "accepted.tsv", str(out / "page.tsv"))
    make_file(str(session), "", "thresholds.json", str(out / "page.json"))
    run("decide", out / "page.json", session / "pool.parquet", "--out", out / "decide-page.tsv")
    printed["report"] = run("report", session, "--out", out / "r.html", "--json", out / "session.json")
    run("report", out / "t.json", "--out", out / "t.html", "--json", out / "thresholds.json")
    names = ("export", "decide", "page", "decide-page")
    accepted = {name: rows_of(out / f"{name}.tsv") for name in names}
    table = pd.read_parquet(session / DECISIONS)
    assert len(table) == len(POOL)
    accepted["table"] = decided_in(table[table["accepted"]])
    for name in names:  # to the digit, also where a judge spoke without turning the decision
        assert chances_of(out / f"{name}.tsv") == pytest.approx(chances_of(out / "export.tsv"), abs=1e-12), name
    reports = [json.loads((out / f"{name}.json").read_text()) for name in ("session", "thresholds")]
    counts = {len(rows) for rows in accepted.values()}
    assert {report["accepted"] for report in reports} == counts
    assert [sum(line["accepted"] for line in report["relations"]) for report in reports] == [*counts] * 2
    assert interval_of(out / "session.json") == pytest.approx(interval_of(out / "thresholds.json"), abs=1e-9)
    count, page = counts.pop(), " ".join((out / "r.html").read_text().split())
    assert f"{count:,} of {len(POOL)}" in page
    assert str(Share(*interval_of(out / "session.json"))) in page
    check_numbers(session, out, reports[0], printed)
    return accepted


def check_numbers(session, out, report, printed) -> None:
    """Hold every door to one precision with its interval, one recall, the same counts and the same base."""
    low, middle, high = interval_of(out / "session.json")
    shown = str(Share(low, middle, high))
    assert printed["decide"].count(shown) == 1
    assert shown in printed["report"]
    case = open_case(session)[0]
    for name, share in report["quality"].items():
        assert str(case.estimates.overall[name]) in printed["report"]
        assert share == pytest.approx(vars(case.estimates.overall[name])), name
    assert f"{report['accepted']:,} of {report['pool']:,}" in printed["report"]
    for name in ("t.json", "page.json"):
        assert Calibration.read(out / name).accepted_precision == pytest.approx([low, middle, high])
    relations = [line["quality"]["precision"]["middle"] for line in report["relations"] if line["accepted"]]
    assert min(relations) - 1e-9 <= middle <= max(relations) + 1e-9
    other = Session(session)
    Planner(other).step()
    latest = json.loads(other.store.value("SELECT content FROM refit ORDER BY id DESC LIMIT 1"))
    other.close()
    if not len(case.judged) and not len(case.constraints):  # the page's curve is of people's answers
        assert latest["expected"] == pytest.approx(report["quality"]["accuracy"]["middle"], abs=1e-4)


def test_labels_in_frames_and_files_decide_as_their_session_does(walked, tmp_path):
    people, out, accepted = walked("people")
    pool, answers = read_scored(people / "pool.parquet")[0], pd.read_csv(out / "l.tsv", sep="\t")
    assert decided_in(actc.accept_triples(pool, answers)) == accepted["export"]
    calibrated = actc.calibrate(people / "pool.parquet", out / "l.tsv", out=tmp_path / "again.json")
    assert calibrated.thresholds.cuts.tolist() == Calibration.read(out / "t.json").thresholds.cuts.tolist()
    run("report", tmp_path / "again.json", "--out", tmp_path / "a.html", "--json", tmp_path / "again-report.json")
    assert interval_of(tmp_path / "again-report.json") == pytest.approx(interval_of(out / "session.json"))


def test_questions_have_the_probability_that_the_files_have_and_none_was_judged(walked, tmp_path):
    judged, out, _ = walked("judged")
    run("decide", out / "t.json", judged / "pool.parquet", "--all", "--out", tmp_path / "all.tsv")
    chances = chances_of(tmp_path / "all.tsv")
    questions = json.loads((out / "session.json").read_text())["ask_next"]
    asked = {(one["head"], one["relation"], one["tail"]): one["probability"] for one in questions}
    assert asked == pytest.approx({triple: chances[triple] for triple in asked}, abs=1e-9)
    assert len(asked) == 10
    labels = pd.read_csv(out / "l.tsv", sep="\t")
    assert not set(zip(labels["head"], labels["relation"], labels["tail"], strict=True)) & set(asked)


def test_a_card_has_the_probability_that_the_files_have(walked, tmp_path):
    people, out, _ = walked("people")
    run("decide", out / "t.json", people / "pool.parquet", "--all", "--out", tmp_path / "all.tsv")
    session = Session(people)
    Planner(session).step()
    planned = session.store.rows("SELECT triple, probability FROM plan")
    session.close()
    chances = chances_of(tmp_path / "all.tsv")
    assert planned
    assert [row["probability"] for row in planned] == pytest.approx([chances[POOL.triple(row[0])] for row in planned])


@pytest.fixture(scope="module")
def guaranteed(tmp_path_factory):
    """A session whose questions served a guarantee of .7, and whose list passed."""
    home = tmp_path_factory.mktemp("guaranteed") / "session"
    write_scored(home.parent / "scores.tsv", POOL)
    settings = Settings(budget=60, precision=0.7, confidence=0.8)
    session = create_session(home, home.parent / "scores.tsv", settings)
    truth = {POOL.triple(row): bool(TRUTH[row]) for row in range(len(POOL))}
    answer(session, "ann", truth, 110)
    session.close()
    return home


def test_a_guarantee_is_the_same_by_every_door(guaranteed, tmp_path):
    files = {"thresholds": tmp_path / "t.json", "accepted": tmp_path / "e.tsv"}
    actc.export_session(guaranteed, **files, precision=0.7, confidence=0.8)
    run("export", guaranteed, "--labels", tmp_path / "l.tsv")
    run("decide", tmp_path / "t.json", guaranteed / "pool.parquet", "--out", tmp_path / "d.tsv")
    answers = pd.read_csv(tmp_path / "l.tsv", sep="\t")
    frame = actc.accept_triples(POOL, answers, precision=0.7, confidence=0.8)
    actc.calibrate(
        guaranteed / "pool.parquet", tmp_path / "l.tsv", precision=0.7, confidence=0.8, out=tmp_path / "c.json"
    )
    run("decide", tmp_path / "c.json", guaranteed / "pool.parquet", "--out", tmp_path / "c.tsv")
    found = rows_of(tmp_path / "e.tsv")
    assert "method" in found.values()
    assert rows_of(tmp_path / "d.tsv") == rows_of(tmp_path / "c.tsv") == found
    for name in ("t", "c"):
        pages = ("--out", tmp_path / f"{name}.html", "--json", tmp_path / f"{name}-r.json")
        run("report", tmp_path / f"{name}.json", *pages)
        told = json.loads((tmp_path / f"{name}-r.json").read_text())["guarantee"]
        assert told == {"precision": 0.7, "confidence": 0.8, "passed": True}
        assert "Guaranteed with 80% confidence: at least 70%" in (tmp_path / f"{name}.html").read_text()
    assert decided_in(frame) == found


@pytest.mark.parametrize("precision", [None, 0.8])
def test_one_table_has_what_every_guarantee_would_accept(guaranteed, tmp_path, precision):
    actc.export_session(guaranteed, accepted=tmp_path / "now.tsv", precision=precision)
    table = pd.read_parquet(guaranteed / DECISIONS)
    assert decided_in(table[table["accepted"]]) == rows_of(tmp_path / "now.tsv")
    assert table["probability"].is_monotonic_decreasing
    plain = table["accepted" if precision is None else "without_guarantee"]
    actc.export_session(guaranteed, accepted=tmp_path / "plain.tsv")
    assert set(decided_in(table[plain])) == set(rows_of(tmp_path / "plain.tsv"))
    sizes = set()
    for precision in PRECISIONS:
        actc.export_session(guaranteed, accepted=tmp_path / "a.tsv", precision=precision)
        accepted = set(rows_of(tmp_path / "a.tsv"))
        assert set(decided_in(table[table["guaranteed"] >= precision])) == accepted
        sizes.add(len(accepted))
    assert len(sizes) > 1


def test_how_each_was_asked_is_the_same_in_the_store_and_in_the_labels_read_back(people, tmp_path):
    session = Session(people)
    stored = session.annotations()
    session.close()
    time.sleep(1.1)  # what is brought in later was said before
    run("export", people, "--labels", tmp_path / "labels.tsv", "--history", tmp_path / "history.jsonl")
    again = Answers.read(tmp_path / "labels.tsv").on(POOL)
    assert again.rows.tolist() == stored.rows.tolist()
    for name in ("labels", "selection", "sampling_frame", "who", "when"):
        assert getattr(again, name).tolist() == getattr(stored, name).tolist()
    np.testing.assert_array_equal(again.inclusion_probability, stored.inclusion_probability)
    assert {"check", "gain"} <= set(stored.selection)
    write_scored(tmp_path / "scores.parquet", POOL)
    for name in ("history.jsonl", "labels.tsv"):
        other = create_session(tmp_path / name.partition(".")[0], tmp_path / "scores.parquet", Settings("pooled"))
        import_judgements(other, tmp_path / name)
        told = other.annotations()
        other.close()
        places = np.argsort(stored.rows), np.argsort(told.rows)
        for column in ("rows", "labels", "selection", "sampling_frame", "who", "when"):
            assert getattr(told, column)[places[1]].tolist() == getattr(stored, column)[places[0]].tolist()
        np.testing.assert_array_equal(told.inclusion_probability[places[1]], stored.inclusion_probability[places[0]])


def test_an_oracle_every_door_accepts_the_same_triples_by_the_same_hands(folder, tmp_path):  # noqa: F811
    out = tmp_path / "out"
    completed = run_config(plan(folder, out))
    check_completion(out, completed.lines)
    accepted = rows_of(out / "accepted.tsv")
    assert "oracle" in accepted.values()
    assert "person" not in accepted.values()
    table = pd.read_parquet(out / DECISIONS)
    assert decided_in(table[table["accepted"]]) == accepted
    assert len(table) == len(triples_of(out / "candidates.parquet"))
    report = json.loads((out / "report.json").read_text())
    sources = Calibration.read(out / "thresholds.json").sources
    answers = Answers.read(sources.labels).on(read_scored(out / "candidates.parquet")[0])
    assert set(answers.who) == {"oracle"}
    labels = pd.read_parquet(sources.labels)
    frame = actc.accept_triples(read_scored(out / "candidates.parquet")[0], labels, method=report["method"])
    assert decided_in(frame) == accepted
    assert "judged by an oracle" in " ".join((out / "report.html").read_text().split())


def check_completion(out, lines) -> None:
    """Hold what a completion wrote against what other doors say of it."""
    accepted, report = rows_of(out / "accepted.tsv"), json.loads((out / "report.json").read_text())
    run("decide", out / "thresholds.json", out / "candidates.parquet", "--out", out / "decide.tsv")
    assert rows_of(out / "decide.tsv") == accepted
    assert chances_of(out / "decide.tsv") == pytest.approx(chances_of(out / "accepted.tsv"), abs=6e-5)  # four digits
    run("report", out / "thresholds.json", "--out", out / "r.html", "--json", out / "r.json")
    told, page = json.loads((out / "r.json").read_text()), (out / "report.html").read_text()
    assert report["accepted"] == told["accepted"] == len(accepted)
    assert report["accepted_by"] == {who: list(accepted.values()).count(who) for who in report["accepted_by"]}
    assert sum(line["accepted"] for line in report["relations"].values()) == len(accepted)
    assert f"{len(accepted)} accepted" in lines[0]
    low, middle, high = report["accepted_precision"]
    assert [low, middle, high] == pytest.approx(interval_of(out / "r.json"))
    precision = f"Precision of the accepted facts: {Share(low, middle, high)}."
    assert precision in lines[1]
    assert f"{len(accepted)} of {report['candidates']} candidates" in " ".join(page.split())
    assert precision in page
    assert precision in (out / "report.md").read_text()


@pytest.mark.parametrize("oracle", [True, False])
def test_a_completion_obeys_constraints_by_every_door(folder, tmp_path, oracle):  # noqa: F811
    relations = sorted({relation for _, relation, _ in triples_of(folder / "candidates.tsv")})
    rules = [Constraint(kind, name, use="hard") for kind in ("functional", "inverse-functional") for name in relations]
    Constraints(tuple(rules)).write(tmp_path / "rules.tsv")
    more = {} if oracle else {"oracle": None}
    asking = replace(plan(folder, tmp_path / "out", **more), constraints=tmp_path / "rules.tsv")
    completed = run_config(asking)
    if not oracle:
        true = triples_of(folder / "truth.tsv")
        ask_people(asking, {triple: triple in true for triple in triples_of(folder / "candidates.tsv")}, judges=False)
        completed = run_config(asking)
        run("export", asking.out / "session", "--accepted", tmp_path / "export.tsv")
        assert rows_of(tmp_path / "export.tsv") == rows_of(asking.out / "accepted.tsv")
    check_completion(asking.out, completed.lines)
    held = pd.read_csv(asking.out / "excluded.tsv", sep="\t")
    assert len(held) or not oracle
    assert json.loads((asking.out / "report.json").read_text())["constraints"]["excluded"] == len(held)
    assert any(f"Constraints exclude {len(held)} candidates" in line for line in completed.lines)


def ask_people(asking, truth, judges: bool) -> None:
    """Let one person judge the session of a completion, and a machine too, if it should."""
    session = Session(asking.out / "session")
    pool = session.read_pool()
    answer(session, "ada", truth, asking.budget)
    if judges:
        let_machine_say(session, {row: truth[pool.triple(row)] for row in range(0, len(pool), 3)})
    session.close()


@pytest.mark.parametrize("judges", [False, True])
def test_a_completion_by_people_is_what_its_session_says(folder, tmp_path, judges):  # noqa: F811
    asking = plan(folder, tmp_path / "out", oracle=None)
    run_config(asking)
    candidates = triples_of(folder / "candidates.tsv")
    true = triples_of(folder / "truth.tsv")
    ask_people(asking, {triple: triple in true for triple in candidates}, judges)
    with counted() as counts:
        completed = run_config(asking)
    answers = json.loads((asking.out / "report.json").read_text())["judged"]
    assert counts == {"opened": 1, "read": 1, "fitted": 1 + min(FOLDS, answers)}
    check_completion(asking.out, completed.lines)
    run("export", asking.out / "session", "--accepted", tmp_path / "export.tsv")
    assert rows_of(tmp_path / "export.tsv") == rows_of(asking.out / "accepted.tsv")


@contextmanager
def counted():
    """Count how often a session is opened, its pool is read, the method is fitted."""
    counts = {"opened": 0, "read": 0, "fitted": 0}
    pooled = type(METHODS["pooled"])

    def wrap(name, function):
        def counting(*values, **more):
            counts[name] += 1
            return function(*values, **more)

        return counting

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "__init__", wrap("opened", Session.__init__))
        patch.setattr("actc.session.session.read_scored", wrap("read", read_scored))
        patch.setattr(pooled, "fit", wrap("fitted", pooled.fit))
        yield counts


@pytest.mark.parametrize(("which", "fits"), [("people", 1 + FOLDS), ("judged", 1 + 2 * FOLDS)])
def test_a_report_or_an_export_of_everything_opens_reads_and_fits_once(request, tmp_path, which, fits):
    session = request.getfixturevalue(which)
    with counted() as counts:
        actc.write_report(session, tmp_path / "report.html", json_out=tmp_path / "report.json")
    assert counts == {"opened": 1, "read": 1, "fitted": fits}
    with counted() as counts:
        files = {"labels": "l.tsv", "history": "h.jsonl", "thresholds": "t.json", "accepted": "a.tsv"}
        actc.export_session(session, **{name: tmp_path / file for name, file in files.items()})
    assert counts == {"opened": 1, "read": 1, "fitted": 1 + FOLDS}


@pytest.mark.parametrize("bad", [{"selection": "xyz"}, {"inclusion_probability": "7"}, {"inclusion_probability": "a"}])
def test_a_way_of_asking_that_cannot_be_is_refused_in_one_sentence(people, tmp_path, bad):
    triple = dict(zip(("head", "relation", "tail"), POOL.triple(3), strict=True))
    path = tmp_path / "history.jsonl"
    path.write_text(json.dumps(triple | {"answer": "true", "name": "eve"} | bad) + "\n")
    session = Session(people)
    count = session.store.value("SELECT count(*) FROM judgement")
    with pytest.raises(ActcError) as caught:
        actc.import_judgements(session, path)
    assert session.store.value("SELECT count(*) FROM judgement") == count
    session.close()
    assert f"{path}, line 1: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_candidates_of_relations_that_the_pool_does_not_have_are_decided_as_in_the_case(people, tmp_path):
    rows = np.arange(len(POOL))
    columns = POOL.columns()
    columns["relation"] = np.where(rows % 2, columns["relation"], "other")
    wider = ScoredTriples.from_columns(*columns.values(), POOL.scores + 5)
    write_scored(tmp_path / "wider.parquet", wider)
    case = replace(open_case(people)[0], candidates=wider)
    made = describe_calibration(case, Sources(session=people))
    made.write(tmp_path / "wider.json")
    run("decide", tmp_path / "wider.json", tmp_path / "wider.parquet", "--out", tmp_path / "wider.tsv")
    accepted = rows_of(tmp_path / "wider.tsv")
    kept = case.decisions.accepted
    assert set(accepted) == {wider.triple(row) for row in np.flatnonzero(kept)}
    told = {wider.triple(row): case.decisions.probability[row] for row in np.flatnonzero(kept)}
    assert chances_of(tmp_path / "wider.tsv") == pytest.approx(told, abs=1e-12)
    assert told[wider.triple(top := int(np.argmax(wider.scores * kept)))] == pytest.approx(
        case.fit.probabilities(wider)[top], abs=0.01
    )  # though no score of the pool is so high
    assert {"other"} <= {relation for _, relation, _ in accepted}
