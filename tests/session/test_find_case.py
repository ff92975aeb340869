"""A report from a session: what people said, and which triples they were asked at random."""

from __future__ import annotations

import pytest

from actc.errors import FileError
from actc.session import Judgement, Settings, start_session
from actc.session.find_case import find_case
from actc.session.plan import Planner
from actc.tables.files import write_scored
from actc.trust.report import make_report
from tests.synthetic import make_truth


def judged_session(folder, method: str, count: int):
    pool, labels, _ = make_truth(600, 4)
    write_scored(folder / "scores.parquet", pool)
    session = start_session(folder / "session", folder / "scores.parquet", Settings(method=method, budget=200))
    ada, planner = session.add_annotator("ada"), Planner(session)
    for number in range(count):
        if number % 10 == 0:
            planner.step()
        task = session.ask(ada)[0]
        row = int(pool.find([task.head], [task.relation], [task.tail])[0])
        session.record(ada, [Judgement("true" if labels[row] else "false", task.triple, f"key-{number}")])
    return session


def test_a_session_of_the_pooled_method_knows_its_random_checks(tmp_path):
    session = judged_session(tmp_path, "pooled", 75)
    planned_as_checks = session.store.rows("SELECT triple FROM task WHERE uniform = 1")
    session.close()
    case = find_case(session.folder)
    assert len(case.annotations) == 75
    assert case.uniform.any()
    assert set(case.annotations.rows[case.uniform]) == {row["triple"] for row in planned_as_checks}
    report = make_report(case)
    assert report.expectation.source == "model and looks"
    assert report.expectation.looks == case.uniform.sum()


def test_every_answer_of_a_random_session_is_a_check(tmp_path):
    session = judged_session(tmp_path, "pooled-rndm", 12)
    session.close()
    assert find_case(session.folder).uniform.tolist() == [True] * 12


def test_a_check_stays_a_check_however_its_reason_is_worded(tmp_path):
    session = judged_session(tmp_path, "pooled", 75)
    before = session.asked_at_random(session.annotations()).tolist()
    with session.store.transaction() as connection:
        connection.execute("UPDATE task SET reason = 'Une vérification au hasard.'")
    assert session.asked_at_random(session.annotations()).tolist() == before
    session.close()


def test_a_folder_that_is_no_session_is_refused(tmp_path):
    with pytest.raises(FileError, match="no annotation session"):
        find_case(tmp_path)
