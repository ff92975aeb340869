"""A report from a session: people's answers, and how each triple was selected."""

from __future__ import annotations

import pytest

from actc.data.files import write_scored
from actc.decide.report import make_report
from actc.session.cases import open_case
from actc.session.settings import Settings
from tests.conftest import start_copy
from tests.session.answering import answer_truly
from tests.synthetic import make_truth


@pytest.mark.parametrize(
    ("method", "count", "selections", "frames"),
    [("pooled", 75, {"check", "gain"}, {"accepted", "rejected"}), ("pooled-rndm", 12, {"random"}, {"pool"})],
)
def test_a_case_knows_how_each_triple_was_selected(tmp_path, method, count, selections, frames):
    pool, labels, _ = make_truth(600, 4)
    write_scored(tmp_path / "scores.parquet", pool)
    session = start_copy(tmp_path / "session", tmp_path / "scores.parquet", Settings(method=method, budget=200))
    answer_truly(session, pool, labels, count)
    sql = "SELECT triple, selection, sampling_frame, inclusion_probability FROM task WHERE answered > 0"
    stored = {row: how for row, *how in session.store.rows(sql)}
    reasons = session.store.rows("SELECT DISTINCT reason FROM task WHERE selection = 'check'")
    session.close()
    assert len(reasons) <= 1  # no card shows which way a check would be decided
    case = open_case(session.folder)[0]
    answers = case.annotations
    how = zip(answers.selection, answers.sampling_frame, answers.inclusion_probability.tolist(), strict=True)
    assert dict(zip(answers.rows.tolist(), map(list, how), strict=True)) == stored
    assert selections <= set(answers.selection)
    assert frames <= set(answers.sampling_frame)
    report = make_report(case)
    assert (len(answers), report.name, report.rests_on) == (count, "scores", "answers")
    assert report.draws == answers.has_inclusion_probability.sum()
