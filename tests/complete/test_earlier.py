"""Life in time: the same folder again with a grown graph, another model, other candidates."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from actc.complete.answers import Earlier, describe_changes, draw_pool, read_answers, set_aside, store_answer
from actc.complete.config import RunConfig
from actc.complete.run import run_config
from actc.data.answers import Answers
from actc.data.files import write_triples
from actc.data.triples import ScoredTriples, encode_columns
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.session import Session
from tests.conftest import judge_all, triples_of
from tests.evidence.test_rules import make_families


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A graph of this week, one of the next that has families more, and all that is true."""
    folder = tmp_path_factory.mktemp("world")
    graph, hidden = make_families(90, np.random.default_rng(1), 0.75)
    young = np.array([int(name[1:]) < 70 for name in graph.columns()["head"]])
    write_triples(folder / "old.tsv", graph.take(young).columns())
    write_triples(folder / "new.tsv", graph.columns())
    write_triples(folder / "truth.tsv", graph.union(hidden).columns())
    return folder


@pytest.fixture(scope="module")
def twice(world, tmp_path_factory):
    """A folder after two weeks."""
    out = tmp_path_factory.mktemp("life") / "out"
    run_config(plan(world, out, "old.tsv"))
    first = json.loads((out / "report.json").read_text())
    return out, first, run_config(plan(world, out, "new.tsv"))


def plan(world: Path, out: Path, graph: str, **more) -> RunConfig:
    return RunConfig(world / graph, out, **{"oracle": world / "truth.tsv", "budget": 15, **more})


def test_a_grown_graph_uses_earlier_answers_asks_new_questions_and_says_what_changed(twice, world):
    out, first, completed = twice
    report = json.loads((out / "report.json").read_text())
    assert (first["judged"], report["judged"]) == (15, 30)
    said = Answers.read(out / "answers.tsv")
    assert len(said) == 30
    assert (said.who == "oracle").all()
    since = report["since"]
    old, new = triples_of(out / "earlier" / "1" / "accepted.tsv"), triples_of(out / "accepted.tsv")
    assert since["accepted_added"] == len(new - old)
    assert since["accepted_removed"] == len(old - new)
    assert since["facts_added"] == len(triples_of(world / "new.tsv") - triples_of(world / "old.tsv"))
    assert since["facts_removed"] == 0
    assert any(line.startswith("Since the run before: ") for line in completed.lines)
    assert any("15 of 15 answers can be used" in line for line in completed.lines)
    assert any("they are used to fit, and guarantee nothing" in line for line in completed.lines)


def test_only_draws_from_the_candidates_of_this_run_prove_something(twice):
    out, _, _ = twice
    earlier, judged = Answers.read(out / "earlier" / "1" / "answers.tsv"), Answers.read(out / "judged.parquet")
    assert earlier.has_inclusion_probability.all()
    assert (judged.has_inclusion_probability == ~earlier.triples.contains(judged.triples)).all()


def test_without_a_budget_the_same_answers_decide_the_same(twice, world):
    out, _, completed = twice
    before = (out / "accepted.tsv").read_bytes(), (out / "answers.tsv").read_bytes()
    again = run_config(plan(world, out, "new.tsv", budget=0))
    assert ((out / "accepted.tsv").read_bytes(), (out / "answers.tsv").read_bytes()) == before
    assert again.files == completed.files


def test_a_budget_is_of_new_answers_though_nothing_else_is_new(world, tmp_path):
    for judged in (15, 30):
        run_config(plan(world, tmp_path / "out", "old.tsv"))
        assert json.loads((tmp_path / "out" / "report.json").read_text())["judged"] == judged
    answers = Answers.read(tmp_path / "out" / "answers.tsv")
    assert len(answers) == 30
    assert answers.has_inclusion_probability.all()  # all are draws from the same candidates


def test_people_s_answers_outlive_the_graph_they_were_asked_about(world, tmp_path):
    out, truth = tmp_path / "out", triples_of(world / "truth.tsv")
    run_config(plan(world, out, "old.tsv", oracle=None))

    session = Session(out / "session")
    judge_all(session, truth, most=8, who="Ada")
    session.add_annotator("Bob")
    session.change_link("Bob", void=True)
    people = [(one.name, one.link) for one in session.annotators()]
    secret = (out / "session" / "secret").read_bytes()
    session.close()
    lines = run_config(plan(world, out, "new.tsv", oracle=None)).lines
    assert "8 earlier answers are about these, and are used again." in lines
    assert any("Judge 15 of them" in line for line in lines)
    session = Session(out / "session")
    assert len(session.annotations()) == 8
    assert session.annotations().who.tolist() == ["Ada"] * 8
    assert [(one.name, one.link) for one in session.annotators()] == people  # a void link stays void
    assert (out / "session" / "secret").read_bytes() == secret
    judge_all(session, truth, who="Ada")
    session.close()
    report = run_config(plan(world, out, "new.tsv", oracle=None))
    told = json.loads((out / "report.json").read_text())
    assert told["judged"] == 23
    assert len(Answers.read(out / "answers.tsv")) == 23
    assert report.files
    session = Session(out / "session")
    assert session.annotations().has_inclusion_probability.tolist() == [False] * 8 + [True] * 15
    session.close()


def test_what_was_called_true_enters_and_what_was_called_false_does_not_whoever_proposes(world, tmp_path):
    out = tmp_path / "out"
    heads = read_graph(world / "old.tsv").entity_names[:2]
    said = {"head": [heads[0], heads[1]], "relation": ["likes", "likes"], "tail": ["nobody", "somebody"]}
    write_triples(tmp_path / "audit.tsv", {**said, "label": [1, 0]})
    run_config(plan(world, out, "old.tsv", judged=(tmp_path / "audit.tsv",), budget=0, oracle=None))
    assert (heads[0], "likes", "nobody") in triples_of(out / "accepted.tsv")
    assert (heads[0], "likes", "nobody") in triples_of(out / "graph.tsv")
    assert (heads[1], "likes", "somebody") not in triples_of(out / "graph.tsv")
    report = json.loads((out / "report.json").read_text())
    assert (report["called_true"], report["since"]) == (1, None)  # there is no run to compare with
    assert sum(line["known"] for line in report["relations"].values()) == report["triples_before"]
    listed = [line.split("\t") for line in (out / "accepted.tsv").read_text(encoding="utf-8").splitlines()]
    by = [line[listed[0].index("by")] for line in listed[1:]]
    assert report["accepted_by"] == {who: by.count(who) for who in report["accepted_by"]}
    assert sum(report["accepted_by"].values()) == report["accepted"] == len(by)
    assert sum(line["accepted"] for line in report["relations"].values()) == len(by)
    assert report["triples_after"] == len(triples_of(out / "graph.tsv"))
    assert any("2 name an entity or a relation that is unknown" in note for note in report["notes"])
    wrong = min(triples_of(out / "accepted.tsv") - {(heads[0], "likes", "nobody")})
    write_triples(tmp_path / "no.tsv", {**encode_columns(*([one] for one in wrong)).columns(), "label": [0]})
    run_config(plan(world, out, "old.tsv", judged=(tmp_path / "no.tsv",), budget=0, oracle=None))
    assert wrong not in triples_of(out / "accepted.tsv")
    run_config(plan(world, out, "new.tsv", budget=0, oracle=None))
    assert wrong not in triples_of(out / "accepted.tsv")
    assert (heads[0], "likes", "nobody") in triples_of(out / "accepted.tsv")


def test_an_oracle_s_labels_that_are_about_no_candidate_are_counted_and_the_true_ones_enter(world, tmp_path):
    graph = read_graph(world / "truth.tsv")
    known = triples_of(world / "old.tsv")
    rows = [row for row in range(len(graph)) if graph.triple(row) not in known][:200]
    listed = {name: np.append(column, [word]) for (name, column), word in
              zip(graph.take(rows).columns().items(), ("m000", "likes", "f000"), strict=True)}  # fmt: skip
    write_triples(tmp_path / "labels.tsv", {**listed, "label": np.ones(len(rows) + 1, dtype=int)})
    lines = run_config(plan(world, tmp_path / "out", "old.tsv", oracle=tmp_path / "labels.tsv")).lines
    assert any("of 201 answers can be used;" in line for line in lines)
    assert ("m000", "likes", "f000") in triples_of(tmp_path / "out" / "accepted.tsv")


def test_a_graph_that_was_fed_back_keeps_what_people_called_true_as_lessons(world, tmp_path):
    out = tmp_path / "out"
    run_config(plan(world, out, "old.tsv"))
    before = Answers.read(out / "answers.tsv")
    (tmp_path / "fed.tsv").write_bytes((out / "graph.tsv").read_bytes())
    completed = run_config(RunConfig(tmp_path / "fed.tsv", out, oracle=world / "truth.tsv", budget=15))
    report = json.loads((out / "report.json").read_text())
    assert report["judged"] == 30  # true ones among them, which are facts of the graph now
    assert not triples_of(out / "accepted.tsv") & triples_of(tmp_path / "fed.tsv")
    judged = Answers.read(out / "judged.parquet")
    again = before.triples.contains(judged.triples)
    assert not judged.has_inclusion_probability[again].any()
    assert judged.has_inclusion_probability[~again].all()
    assert any("they are used to fit, and guarantee nothing" in line for line in completed.lines)
    assert report["triples_after"] == len(triples_of(out / "graph.tsv"))


def test_files_are_set_aside_whole_wherever_it_is_killed(world, tmp_path, monkeypatch):
    out = tmp_path / "out"
    run_config(plan(world, out, "old.tsv", budget=5))
    names = {path.name for path in out.iterdir()}
    moved, rename = [], Path.rename

    def rename_some(path: Path, target: Path) -> Path:
        if len(moved) == 3:
            raise KeyboardInterrupt
        moved.append(path)
        return rename(path, target)

    for _ in range(2):  # twice in the middle
        moved.clear()
        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", rename_some)
            with pytest.raises(KeyboardInterrupt):
                set_aside(out)
    run_config(plan(world, out, "new.tsv", budget=5))
    assert {path.name for path in (out / "earlier" / "1").iterdir()} == names
    assert len(Answers.read(out / "answers.tsv")) == 10


def test_killed_with_the_power_nothing_is_lost(world, tmp_path):
    out = tmp_path / "out"
    run_config(plan(world, out, "old.tsv", budget=5))
    before = triples_of(out / "answers.tsv")
    words = ["complete", str(world / "new.tsv"), "--oracle", str(world / "truth.tsv"), "--budget", "5"]
    process = subprocess.Popen([sys.executable, "-m", "actc.cli.main", *words, "--out", str(out)])
    while not (out / "earlier" / "1" / "begun.json").exists():
        assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    run_config(plan(world, out, "new.tsv", budget=5))
    assert before < triples_of(out / "answers.tsv")


def test_only_the_last_run_s_large_files_are_kept(world, tmp_path):
    out = tmp_path / "out"
    for graph in ("old.tsv", "new.tsv", "old.tsv"):
        run_config(plan(world, out, graph, budget=3))
    first, second = (out / "earlier" / name for name in "12")
    assert not (first / "candidates.parquet").exists()
    assert (second / "candidates.parquet").exists()
    assert (first / "answers.tsv").exists()
    assert (first / "report.json").exists()


POOL = ScoredTriples.from_columns("abcdefgh", "rrrrssss", "stuvwxyz", np.arange(8.0))


def test_answered_candidates_that_may_not_be_asked_about_now_stand_last():
    old = POOL.take([6, 4, 2, 0])
    said = Answers.of(old, [0, 2], [True, False], selection="random", sampling_frame="pool", inclusion_probability=0.25)
    rows = draw_pool(POOL, np.array([0, 4, 6]), said, np.random.default_rng(0))
    assert rows.tolist() == [0, 4, 6, 2]
    assert said.on(POOL.take(rows)).rows.tolist() == [2, 3]


def test_changes_are_counted_and_said():
    one, two = POOL.take([0, 1, 2]), POOL.take([1, 2, 3, 4])
    before = Earlier(accepted=one, undecided=POOL.take([5, 6]), graph=POOL.take([6]))
    found = before.compare(two, POOL.take([5]), Graph.of(POOL.take([0, 7])))
    assert describe_changes({**found, "answers_against_the_graph": 1}) == (
        "Since the run before: 2 newly accepted, 0 no longer accepted, 2 accepted as before, 1 accepted before and in "
        "the graph now; 1 still undecided. New facts of the graph: 2; gone: 1. Facts of the graph that people called "
        "false: 1 (disagreeing.tsv)."
    )


@pytest.mark.long
def test_facts_that_were_called_false_are_taken_out_of_the_next_graph_too(world, tmp_path):
    truth, out = triples_of(world / "truth.tsv"), tmp_path / "out"
    right = read_graph(world / "old.tsv").columns()
    wrong = [("m000", "married", f"f{k:03d}") for k in range(1, 12)]
    for file, more in (("old.tsv", wrong), ("new.tsv", [*wrong, ("m001", "married", "f050")])):
        columns = {name: np.append(column, [one[i] for one in more]) for i, (name, column) in enumerate(right.items())}
        write_triples(tmp_path / file, columns)
    asked = RunConfig(tmp_path / "old.tsv", out, oracle=world / "truth.tsv", budget=30, check=True)
    run_config(asked)
    said = Answers.read(out / "answers.tsv")
    false = {said.triples.triple(row) for row in range(len(said)) if not said.labels[row]} & set(wrong)
    assert false
    assert not false & truth
    run_config(RunConfig(tmp_path / "new.tsv", out, budget=0, check=True))
    assert not false & triples_of(out / "graph.tsv")
    assert len(Answers.read(out / "answers.tsv")) == len(said)


def test_words_of_several_at_once_are_all_kept_and_one_can_be_taken_back(tmp_path):
    triples = [(f"h{at}", "r", "t") for at in range(12)]
    with ThreadPoolExecutor(6) as many:
        list(many.map(lambda triple: store_answer(tmp_path, triple, triple != triples[0], "owner"), triples))
    said = read_answers(tmp_path)
    assert {said.triples.triple(row): bool(said.labels[row]) for row in range(len(said))} == {
        triple: triple != triples[0] for triple in triples
    }
    store_answer(tmp_path, triples[3], None, "owner")
    assert not read_answers(tmp_path).triples.contains(encode_columns(*([part] for part in triples[3]))).any()
    assert [one.name for one in tmp_path.iterdir()] == ["answers.tsv"]
