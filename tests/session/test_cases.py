"""A report from a session: people's answers, and how each triple was selected."""

from __future__ import annotations

from actc.data.files import write_scored
from actc.decide.report import make_report
from actc.session.cases import open_case
from actc.session.settings import Settings
from tests.conftest import start_copy
from tests.session.answering import answer_truly
from tests.synthetic import make_truth


def judged_session(folder, method: str, count: int):
    pool, labels, _ = make_truth(600, 4)
    write_scored(folder / "scores.parquet", pool)
    session = start_copy(folder / "session", folder / "scores.parquet", Settings(method=method, budget=200))
    answer_truly(session, pool, labels, count)
    return session


def test_a_session_of_the_pooled_method_knows_its_random_checks(tmp_path):
    session = judged_session(tmp_path, "pooled", 75)
    with session.store.transaction() as connection:  # a check stays a check, however its reason is worded
        reasons = connection.execute("SELECT DISTINCT reason FROM task WHERE selection = 'check'").fetchall()
        connection.execute("UPDATE task SET reason = 'Une vérification au hasard.'")
    assert len(reasons) == 1  # no card shows which way a check would be decided
    rows = session.store.rows(
        "SELECT triple, selection, sampling_frame, inclusion_probability FROM task WHERE answered > 0"
    )
    session.close()
    case = open_case(session.folder)[0]
    answers = case.annotations
    stored = {row["triple"]: (row["selection"], row["sampling_frame"], row["inclusion_probability"]) for row in rows}
    how = zip(answers.selection, answers.sampling_frame, answers.inclusion_probability.tolist(), strict=True)
    assert dict(zip(answers.rows.tolist(), how, strict=True)) == stored
    assert {"check", "gain"} <= set(answers.selection)
    assert {"accepted", "rejected"} <= set(answers.sampling_frame)
    report = make_report(case)
    assert (len(answers), report.name, report.rests_on) == (75, "scores", "answers")
    assert report.draws == answers.has_inclusion_probability.sum()


def test_every_answer_of_a_random_session_is_a_check(tmp_path):
    session = judged_session(tmp_path, "pooled-rndm", 12)
    session.close()
    answers = open_case(session.folder)[0].annotations
    assert (set(answers.selection), set(answers.sampling_frame)) == ({"random"}, {"pool"})
    assert answers.has_inclusion_probability.all()
