"""A session's pool grows while people judge."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from actc.errors import FileError, OptionError
from actc.session import Judgement, Session, Settings, start_session
from actc.session.backup import backup_session
from actc.session.exchange import read_judgements, write_labels
from actc.session.extend import extend_session
from actc.session.find_case import find_case
from actc.session.plan import Planner
from actc.session.start_audit import start_audit
from actc.session.status import progress
from actc.tables.files import write_scored, write_triples
from tests.conftest import make_pool, start_copy

WHOLE, TRUTH = make_pool(200, 3)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    write_scored(tmp_path / "scores.parquet", WHOLE.take(np.arange(120)))
    write_scored(tmp_path / "more.tsv", WHOLE.take(np.arange(100, 200)))
    return start_copy(tmp_path / "session", tmp_path / "scores.parquet", Settings(budget=60))


def judge(session: Session, count: int, name: str = "ada") -> list[int]:
    annotator, done = session.add_annotator(name), []
    for _ in range(count):
        task = session.ask(annotator)[0]
        session.record(annotator, [Judgement("true" if TRUTH[task.triple] else "false", task.triple, f"{task.triple}")])
        done.append(task.triple)
    return done


def test_new_candidates_stand_at_the_end_and_old_ones_keep_their_rows(session, tmp_path):
    assert extend_session(session, tmp_path / "more.tsv") == (80, 20, 200)
    pool = Session(session.folder).read_pool()
    assert [pool.triple(row) for row in range(200)] == [WHOLE.triple(row) for row in range(200)]
    assert np.array_equal(pool.scores, WHOLE.scores)
    assert progress(session)["triples"] == 200
    assert extend_session(session, tmp_path / "more.tsv") == (0, 100, 200)


def test_answers_and_leases_stay_and_new_candidates_are_asked(session, tmp_path):
    ada, done = session.add_annotator("ada"), judge(session, 10)
    leased = [task.triple for task in session.ask(ada, 3)]
    extend_session(session.folder, tmp_path / "more.tsv")
    assert [task.triple for task in session.ask(ada, 3)] == leased
    assert session.annotations().rows.tolist() == done
    assert max(judge(session, 40)) >= 120


def test_a_planner_that_runs_sees_the_new_candidates(session, tmp_path):
    planner = Planner(session)
    planner.step()
    assert not planner.step()
    extend_session(session.folder, tmp_path / "more.tsv")
    assert planner.step()
    assert len(planner.pool) == 200


def test_earlier_draws_prove_something_again_once_the_whole_pool_was_drawn_from(session, tmp_path):
    judge(session, 10)
    assert session.annotations().proves.sum() == 10
    extend_session(session, tmp_path / "more.tsv")
    assert not session.annotations().proves.any()
    judge(session, 20)  # some of these were planned before
    again = session.annotations()
    assert again.proves.all()
    old = again.rows < 120
    raw = dict(session.store.rows("SELECT triple, chance * reach FROM task WHERE answered > 0"))
    relative = again.chance / [raw[row] for row in again.rows.tolist()]
    assert relative[old].min() > relative[~old].max()  # the old ones had more draws that could be about them
    assert find_case(session).case.expectation.checks == 30


def test_labels_of_a_session_that_grew_go_out_and_come_back(session, tmp_path):
    judge(session, 10)
    extend_session(session, tmp_path / "more.tsv")
    judge(session, 20)
    write_labels(session, tmp_path / "labels.tsv")
    write_scored(tmp_path / "all.parquet", session.read_pool())
    other = start_session(tmp_path / "other", tmp_path / "all.parquet")
    assert read_judgements(other, tmp_path / "labels.tsv") == (30, ())
    assert other.annotations().chance == pytest.approx(session.annotations().chance)
    smaller = start_session(tmp_path / "smaller", tmp_path / "scores.parquet")
    added, notes = read_judgements(smaller, tmp_path / "labels.tsv")
    assert added == (session.annotations().rows < 120).sum()
    assert "name an entity or a relation that is unknown" in notes[0]
    assert not smaller.annotations().proves.any()


def test_a_copy_of_a_session_that_grew_is_whole(session, tmp_path):
    extend_session(session, tmp_path / "more.tsv")
    backup_session(session, tmp_path / "copy")
    assert len(Session(tmp_path / "copy").read_pool()) == 200


def test_a_changed_part_is_found_out(session, tmp_path):
    extend_session(session, tmp_path / "more.tsv")
    write_scored(session.folder / "more-1.parquet", WHOLE.take(np.arange(120, 199)))
    with pytest.raises(FileError, match="this is not what was written"):
        session.read_pool()


def test_killed_before_its_end_nothing_has_grown_and_it_can_be_done_again(session, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("actc.session.extend.add_seal", lambda path: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            extend_session(session, tmp_path / "more.tsv")
    assert (session.folder / "more-1.parquet").exists()
    assert len(session.read_pool()) == 120
    assert extend_session(session, tmp_path / "more.tsv").triples == 200


def test_texts_of_new_candidates_are_put_beside_the_others(tmp_path):
    def write(name: str, rows: range) -> None:
        columns = {**WHOLE.take(rows).columns(), "score": WHOLE.scores[rows]}
        write_triples(tmp_path / name, {**columns, "source": [f"text {row}" for row in rows]})

    write("scores.tsv", range(50))
    write("more.tsv", range(50, 60))
    session = start_copy(tmp_path / "session", tmp_path / "scores.tsv")
    extend_session(session, tmp_path / "more.tsv")
    with sqlite3.connect(session.folder / "texts.sqlite") as connection:
        texts = dict(connection.execute("SELECT triple, text FROM by_triple"))
    assert (len(texts), texts[0], texts[59]) == (60, "text 0", "text 59")


def test_an_audit_does_not_grow(session, tmp_path):
    start_audit(session, tmp_path / "audit", count=20)
    with pytest.raises(OptionError, match="is an audit"):
        extend_session(tmp_path / "audit", tmp_path / "more.tsv")
