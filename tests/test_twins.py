"""Whatever a command does, a function of the package does: the same files, the same sentences."""

from __future__ import annotations

import inspect
import json
import re
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import actc
from actc.cli.main import commands
from actc.complete.config import RunConfig
from actc.data.calibration import Calibration
from actc.data.files import write_scored, write_triples
from actc.data.options import options_of
from actc.errors import ActcError
from actc.session import Session
from actc.session.settings import AuditConfig, ExportFiles, JudgeConfig
from tests.complete.small_graph import make_graph, new_facts
from tests.conftest import judge_all, triples_of
from tests.synthetic import make_truth

TWINS = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "make_reference.py"))["TWINS"]
FLAT = [name for name, twins in TWINS.items() if name not in ("methods", "start", "annotate", "bench")]


def run(*words):
    result = CliRunner().invoke(commands, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.fixture(scope="module")
def home(tmp_path_factory, small_model):
    """Make what the commands below work on: scores, labels, thresholds, a session, a graph, candidates, a model."""
    home = tmp_path_factory.mktemp("home")
    pool, labels, _ = make_truth(600, 3)
    rows = np.arange(80)
    write_scored(home / "scores.tsv", pool)
    write_triples(home / "labels.tsv", {**pool.take(rows).columns(), "label": labels[rows].astype(int)})
    run("calibrate", home / "scores.tsv", "--labels", home / "labels.tsv", "--out", home / "thresholds.json")
    run("start", home / "session", home / "scores.tsv", "--budget", 20)
    judge(home / "session", {pool.triple(row) for row in np.flatnonzero(labels)})
    graph = make_graph()
    write_triples(home / "graph.tsv", graph.columns())
    write_triples(home / "truth.tsv", new_facts(True).columns())
    write_triples(home / "candidates.tsv", new_facts(True).union(new_facts(False)).columns())
    shutil.copytree(small_model, home / "model")
    return home


def judge(folder, truth):
    session = Session(folder)
    judge_all(session, truth)
    session.close()


def test_an_audit_and_an_import_by_function(home, tmp_path):
    found = actc.audit_accepted(home / "scores.tsv", home / "labels.tsv", target=0.01)
    assert (found.judged, found.more) == (80, 0)
    shutil.copytree(home / "session", tmp_path / "session")
    assert actc.import_judgements(tmp_path / "session", home / "labels.tsv", annotator="Bob")[0] == 80
    assert actc.import_judgements(tmp_path / "session", home / "labels.tsv", annotator="Bob")[0] == 0


def test_tables_in_memory_do_wherever_files_do(home):
    pool, labels, _ = make_truth(600, 3)
    tables = actc.calibrate(pool, actc.Answers.of(pool, np.arange(80), labels[:80]))
    files = actc.calibrate(home / "scores.tsv", home / "labels.tsv")
    assert tables.thresholds.cuts.tolist() == files.thresholds.cuts.tolist()
    assert tables.curves.probabilities.tolist() == files.curves.probabilities.tolist()


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return actc.run_demo(tmp_path_factory.mktemp("demo"), repeats=1, jobs=1).written[0].parent


def completed(home, out, **options):
    return actc.complete_graph(
        str(home / "graph.tsv"), str(out), candidates=str(home / "candidates.tsv"), budget=8, **options
    )


def make_thresholds(origin, home, demo, folder):
    """Make a folder with a thresholds.json from one of those that write it."""
    if origin == "calibrate":
        for name in ("scores.tsv", "labels.tsv"):
            shutil.copy(home / name, folder)
        actc.calibrate(folder / "scores.tsv", folder / "labels.tsv", out=folder / "thresholds.json")
    elif origin == "export":
        shutil.copytree(home / "session", folder / "session")
        actc.export_session(folder / "session", thresholds=folder / "thresholds.json")
    elif origin == "demo":
        shutil.copytree(demo, folder, dirs_exist_ok=True)
    else:
        completed(home, folder, oracle=home / "truth.tsv" if origin == "complete by an oracle" else None)
        if origin == "complete by people":
            judge(folder / "session", triples_of(home / "truth.tsv"))
            completed(home, folder)


ORIGINS = ["calibrate", "export", "demo", "complete by an oracle", "complete by people"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_every_thresholds_file_can_be_reported_on_even_when_its_folder_was_moved(origin, home, demo, tmp_path):
    (tmp_path / "here").mkdir()
    make_thresholds(origin, home, demo, tmp_path / "here")
    shutil.move(tmp_path / "here", tmp_path / "there")
    there = tmp_path / "there" / "thresholds.json"
    output = run("report", there, "--out", tmp_path / "page.html", "--json", tmp_path / "report.json")
    calibration, report = Calibration.read(there), json.loads((tmp_path / "report.json").read_text())
    assert "candidates are accepted" in output
    assert report["answers"] == calibration.counts.annotated > 0
    assert report["accepted"] == calibration.counts.accepted.sum()
    assert calibration.curves is not None


def test_thresholds_whose_session_is_gone_say_so(home, tmp_path):
    shutil.copytree(home / "session", tmp_path / "session")
    actc.export_session(tmp_path / "session", thresholds=tmp_path / "t.json")
    shutil.rmtree(tmp_path / "session")
    with pytest.raises(ActcError):
        actc.write_report(tmp_path / "t.json", tmp_path / "page.html")


def test_answers_that_came_after_the_export_count_in_the_report(home, tmp_path):
    shutil.copytree(home / "session", tmp_path / "session")
    actc.export_session(tmp_path / "session", thresholds=tmp_path / "t.json")
    actc.import_judgements(tmp_path / "session", home / "labels.tsv")
    report = actc.write_report(tmp_path / "t.json", tmp_path / "page.html")
    assert report.answers > Calibration.read(tmp_path / "t.json").counts.annotated


def test_the_report_of_a_session_s_thresholds_leads_back_to_its_people(home, tmp_path, monkeypatch):
    shutil.copytree(home / "session", tmp_path / "session")
    monkeypatch.chdir(tmp_path)
    actc.export_session("session", thresholds="t.json", precision=0.6)
    actc.write_report("t.json", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "actc annotate session" in page
    assert "my-session" not in page


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda home: actc.calibrate(home / "scores.tsv", method="localopt-acc"), "needs annotations: give a file"),
        (lambda home: actc.calibrate(home / "scores.tsv", picks="randm"), "Did you mean 'random'"),
        (lambda home: actc.audit_accepted(home / "scores.tsv"), "Give --out to draw"),
        (lambda home: actc.run_demo(home / "scores.tsv"), "is a file; give the name of a folder"),
        (
            lambda home: actc.propose_candidates(home / "graph.tsv", home / "c.tsv", model=home / "model", best=0),
            "one answer",
        ),
    ],
)
def test_a_function_refuses_what_its_command_refuses(home, call, sentence):
    with pytest.raises(ActcError, match=sentence):
        call(home)


def test_every_command_has_a_twin_that_is_public():
    assert set(TWINS) == set(commands.commands)
    assert {name for twins in TWINS.values() for name in twins} <= set(actc.__all__)


@pytest.mark.parametrize("name", FLAT)
def test_an_option_has_the_name_of_its_function_s_parameter(name):
    known = {word for twin in TWINS[name] for word in inspect.signature(getattr(actc, twin)).parameters}
    described = {"complete": [RunConfig], "check": [RunConfig], "judge": [JudgeConfig], "export": [ExportFiles]}
    described["audit"] = [AuditConfig]
    known |= {field.name for field in options_of(*described.get(name, []))}
    if name == "paper":
        known |= {"rows", "methods"}  # in its settings, or read from a text
    if name == "studio":
        known |= {"host", "port", "browser", "public_url"}  # of the page, as those of annotate
    known |= {"graphs", "key_from", "engine"}  # of a store, which is read before the call
    assert {option.name for option in commands.commands[name].params} <= known


def test_every_public_function_takes_the_name_of_a_file_as_text():
    for name in actc.__all__:
        if inspect.isfunction(function := getattr(actc, name)):
            kinds = {word: str(one.annotation) for word, one in inspect.signature(function).parameters.items()}
            no_text = [word for word, kind in kinds.items() if re.search(r"\bPath\b", kind) and "str" not in kind]
            assert not no_text, f"{name}: {no_text}"


def test_no_public_name_hides_a_folder():
    folders = {path.stem for path in Path(actc.__file__).parent.iterdir()}
    assert folders.isdisjoint(actc.__all__)
