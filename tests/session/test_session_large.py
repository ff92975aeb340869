"""A session over more candidates than it holds: a sample is asked about, and all of them are decided on."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import astuple, replace

import numpy as np
import pytest

from actc.errors import FileError
from actc.methods import METHODS
from actc.pooled.sketch import sketch_pool
from actc.pooled.sketch_file import MEASURED, SAMPLE, read_sketch, write_sketch
from actc.session import Judgement, Session, Settings, start_session
from actc.session import start as start_module
from actc.session.exchange import read_judgements
from actc.session.find_case import find_case
from actc.session.plan import Planner
from actc.session.results import write_accepted, write_thresholds
from actc.session.status import picture, progress
from actc.tables.calibration import Calibration
from actc.tables.files import read_scored, write_scored, write_triples
from actc.three_steps.select_triples import select_random
from actc.triples import Annotations
from actc.trust.report import make_report
from tests.conftest import make_pool

SIZE = 12_000
RELATIONS = 100_000
START = """
import sys
from pathlib import Path
from actc import calibrate
from actc.session import start_session
start_session(sys.argv[1] + "/session", sys.argv[1] + "/many.tsv")
calibrate(sys.argv[1] + "/many.tsv", out=sys.argv[1] + "/thresholds.json")
lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
print(lines["VmHWM"].split()[0])  # ru_maxrss would count the process that started this one
"""


@pytest.mark.long
def test_as_many_relations_as_candidates_fit_into_a_gigabyte(tmp_path):
    numbers = np.random.default_rng(0).normal(size=RELATIONS).tolist()
    lines = [f"h{at}\tr{at}\tt{at}\t{score}" for at, score in enumerate(numbers)]
    (tmp_path / "many.tsv").write_text("\n".join(lines) + "\n")
    ran = subprocess.run(
        [sys.executable, "-c", START, tmp_path], capture_output=True, text=True, timeout=300, check=True
    )
    assert int(ran.stdout) < 1_000_000  # kB


@pytest.fixture(scope="module")
def whole():
    return make_pool(SIZE, 5, seed=1)


@pytest.fixture(scope="module")
def parts(whole, tmp_path_factory):
    folder = tmp_path_factory.mktemp("candidates")
    for number, rows in enumerate(np.array_split(np.arange(SIZE), 3)):
        write_scored(folder / f"part-{number}.parquet", whole[0].take(rows))
    return folder


@pytest.fixture
def session(parts, tmp_path, monkeypatch):
    monkeypatch.setattr(start_module, "MOST_HELD", 1_000)
    monkeypatch.setattr("actc.pooled.sketch.sketch_pool.__defaults__", (None, 1_000, None, 0))
    return start_session(tmp_path / "session", parts, Settings(method="pooled", budget=60))


def judge(session, whole, count):
    pool, labels = whole
    ada, planner = session.add_annotator("ada"), Planner(session)
    for number in range(count):
        if number % 10 == 0:
            planner.step()
        task = session.ask(ada)[0]
        row = int(pool.find([task.head], [task.relation], [task.tail])[0])
        session.record(ada, [Judgement("true" if labels[row] else "false", task.triple, f"key-{number}")])
    planner.step()


def test_a_sample_stands_for_the_pool(session):
    pool = session.read_pool()
    assert len(pool) < 1_200
    assert session.settings.triples == pool.stands_for == SIZE
    assert len(read_scored(session.folder / "pool.parquet")[0]) == SIZE
    assert progress(session)["triples"] == SIZE


def test_a_sketch_comes_back_as_it_was(parts, tmp_path):
    sample = sketch_pool(parts, make_pool(300, 5, seed=4)[0], sample=500)
    write_sketch(tmp_path, sample)
    again = read_sketch(tmp_path)
    for name, value in vars(sample.sample_of).items():
        other = getattr(again.sample_of, name)
        if name == "normal":
            assert all(np.array_equal(getattr(value, part), getattr(other, part)) for part in ("scores", "before", "z"))
        elif name == "features":
            assert {key: array.tolist() for key, array in value.items()} == {
                key: array.tolist() for key, array in other.items()
            }
        else:
            assert np.array_equal(value, other), name
    assert [again.triple(row) for row in range(9)] == [sample.triple(row) for row in range(9)]
    whole = (tmp_path / MEASURED).read_bytes()
    for damaged in (b"no sketch", whole[:1000]):
        (tmp_path / MEASURED).write_bytes(damaged)
        with pytest.raises(FileError, match="damaged"):
            read_sketch(tmp_path)
    (tmp_path / MEASURED).write_bytes(whole)
    write_scored(tmp_path / SAMPLE, sample.take(np.arange(100)))
    with pytest.raises(FileError, match="another sample"):
        read_sketch(tmp_path)


def test_a_session_that_lost_its_sketch_says_so(session):
    (session.folder / MEASURED).unlink()
    with pytest.raises(FileError, match="damaged"):
        Session(session.folder).read_pool()


def test_thresholds_hold_for_all_candidates(session, whole, tmp_path):
    judge(session, whole, 60)
    write_thresholds(find_case(session), tmp_path / "thresholds.json")
    found = Calibration.read(tmp_path / "thresholds.json")
    assert (found.thresholds.decide(whole[0]) == whole[1]).mean() > 0.85
    assert found.counts.pool == SIZE
    assert found.counts.triples.tolist() == whole[0].relation_counts.tolist()
    assert found.curves is not None


def test_all_candidates_are_accepted_or_not_and_people_have_the_last_word(session, whole, tmp_path):
    judge(session, whole, 30)
    opened = find_case(session)
    count = write_accepted(opened, tmp_path / "accepted.tsv")
    accepted, _ = read_scored(tmp_path / "accepted.tsv")
    rows = whole[0].find(*zip(*map(accepted.triple, range(len(accepted))), strict=True))
    expected = opened.case.thresholds.decide(whole[0])
    pool, answers = session.read_pool(), session.annotations()
    judged = whole[0].find(*zip(*map(pool.triple, answers.rows.tolist()), strict=True))
    expected[judged] = answers.labels
    assert count == len(accepted) == expected.sum()
    assert np.array_equal(np.sort(rows), np.flatnonzero(expected))
    words = [line.split("\t")[-1] for line in (tmp_path / "accepted.tsv").read_text().splitlines()[1:]]
    assert words.count("person") == answers.labels.sum()
    # The page counts on the sample, and says about the same.
    shown = sum(line["share"] * line["triples"] for line in picture(session)["relations"])
    assert shown == pytest.approx(expected.sum(), rel=0.05)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["accepted.tsv", "session"]


def test_nobody_judged_yet_and_the_method_decides_alone(session, whole, tmp_path):
    opened = find_case(session)
    count = write_accepted(opened, tmp_path / "accepted.parquet")
    assert count == opened.case.thresholds.decide(whole[0]).sum()


def test_labels_of_candidates_outside_the_sample_are_taken_in(session, whole, tmp_path):
    pool, truth = whole
    before, rows = session.read_pool(), np.arange(5, SIZE, 400)
    names = dict(zip(("head", "relation", "tail"), zip(*map(pool.triple, rows.tolist()), strict=True), strict=True))
    write_triples(tmp_path / "labels.tsv", {**names, "label": truth[rows].astype(int)})
    assert read_judgements(session, tmp_path / "labels.tsv", "ada").added == len(rows)
    assert read_judgements(session, tmp_path / "labels.tsv", "ada").added == 0
    after = session.read_pool()
    assert [after.triple(row) for row in range(len(before))] == [before.triple(row) for row in range(len(before))]
    assert after.stands_for == SIZE
    answers = session.annotations()
    assert sorted(map(after.triple, answers.rows.tolist())) == sorted(map(pool.triple, rows.tolist()))
    exact = METHODS["pooled"].fit(pool, Annotations(rows, truth[rows])).cuts
    assert find_case(session).case.thresholds.cuts == pytest.approx(exact[:-1], abs=0.01)
    line = '{"head": "nobody", "relation": "r1", "tail": "t", "said": "true"}'
    (tmp_path / "said.jsonl").write_text(line + "\n")
    with pytest.raises(FileError, match="none of its 1 answers .*: 1 names an entity or a relation that is unknown"):
        read_judgements(session, tmp_path / "said.jsonl")


def test_a_report_is_about_all_candidates(session, whole):
    judge(session, whole, 60)
    session.close()
    case = find_case(session.folder).case
    report = make_report(case)
    accepted = case.thresholds.decide(whole[0])
    assert report.to_dict()["pool"] == SIZE
    assert [line.triples for line in report.relations] == sorted(whole[0].relation_counts.tolist(), reverse=True)
    assert report.accepted == pytest.approx(accepted.sum(), rel=0.05)
    assert report.expectation.overall.triples == SIZE
    # The same answers on the pool held whole lead to the same numbers.
    names = zip(*map(case.pool.triple, case.annotations.rows.tolist()), strict=True)
    answers = replace(case.annotations, rows=whole[0].find(*names))
    held = make_report(replace(case, pool=whole[0], annotations=answers))
    for name, share in report.quality.items():
        assert astuple(share) == pytest.approx(astuple(held.quality[name]), abs=0.02)


def test_random_picks_are_drawn_as_from_the_whole_pool(tmp_path):
    relations = np.repeat(["big", "small"], [9_000, 1_000])
    names = ([f"h{i}" for i in range(10_000)], relations, ["t"] * 10_000)
    pool = type(make_pool()[0]).from_columns(*names, np.random.default_rng(0).random(10_000))
    write_scored(tmp_path / "pool.parquet", pool)
    sample = sketch_pool(tmp_path / "pool.parquet", sample=4_200)
    assert sample.relation_counts.tolist() == [2_100, 1_000]
    draws = [
        select_random(sample, Annotations(), 20, np.random.default_rng(seed), lambda relation=None: np.zeros(0))
        for seed in range(200)
    ]
    assert len(set(draws[0].tolist())) == 20
    assert np.mean(sample.relations[np.concatenate(draws)]) == pytest.approx(0.1, abs=0.02)


def test_methods_that_look_at_every_candidate_get_every_candidate(parts, tmp_path, monkeypatch):
    monkeypatch.setattr(start_module, "MOST_HELD", 1_000)
    session = start_session(tmp_path / "session", parts, Settings(method="actc-lr-rndm"))
    assert len(session.read_pool()) == SIZE
    assert isinstance(Session(session.folder).read_pool(), type(make_pool()[0]))


def test_parts_that_share_a_triple_are_refused_by_the_name_of_their_folder(whole, tmp_path):
    (tmp_path / "parts").mkdir()
    for number, name in enumerate(("a.tsv", "b.tsv")):
        part = whole[0].take([1, 2, 3])
        write_scored(tmp_path / "parts" / name, part.with_scores(part.scores + number))
    with pytest.raises(FileError) as error:
        start_session(tmp_path / "session", tmp_path / "parts")
    assert str(error.value).startswith(f"{tmp_path / 'parts'}, row 4: ")
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]
