"""An audit of what a session accepts: drawn once, judged in its own order, over when there are answers enough."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from actc.data.files import read_scored, write_scored
from actc.decide.audit import MIN_ANSWERS, assess
from actc.errors import OptionError
from actc.session import Judgement, Session
from actc.session.cases import open_case
from actc.session.export import write_accepted
from actc.session.plan import Planner, judged_draws
from actc.session.settings import Settings
from actc.session.start import start_audit
from actc.session.status import picture, what_is_left
from tests.conftest import make_pool, start_copy
from tests.session.answering import answer_truly


@pytest.fixture(scope="module")
def forty(tmp_path_factory) -> Path:
    """The folder of a session with forty answers."""
    folder = tmp_path_factory.mktemp("audit")
    pool, labels = make_pool(400, 4)[:2]
    write_scored(folder / "scores.parquet", pool)
    session = start_copy(folder / "session", folder / "scores.parquet", Settings(title="Births"))
    answer_truly(session, pool, labels, 40)
    session.close()
    return session.folder


@pytest.fixture
def judged(forty, tmp_path) -> Session:
    return Session(shutil.copytree(forty, tmp_path / "session"))


def judge(audit: Session, count: int, answer: str = "true") -> list[int]:
    """Let ada judge an audit, and its planner look; return what she was drawn."""
    ada, planner, drawn = audit.annotator("ada"), Planner(audit), []
    for _ in range(count):
        if not (tasks := audit.ask(ada)):
            break
        drawn.append(tasks[0].triple)
        audit.record(ada, [Judgement(answer, tasks[0].triple, f"k{tasks[0].triple}{answer}")])
        planner.step()
    return drawn


def assess_session(session):
    return assess(session.read_pool(), judged_draws(session), session.settings.stopping_rule)


def test_an_audit_draws_from_what_is_accepted_counts_the_unsure_as_false_and_ends_with_its_budget(judged, tmp_path):
    audit = start_audit(judged, count=8, seed=7)
    write_accepted(judged, open_case(judged)[0], tmp_path / "accepted.tsv")
    assert (audit.folder, audit.settings.title) == (judged.folder / "audit", "Audit of Births")
    drawn = judge(audit, 5) + judge(audit, 1, "false")
    assert read_scored(tmp_path / "accepted.tsv")[0].contains(audit.read_pool().take(drawn)).all()
    result = assess_session(audit)
    assert (result.judged, result.trues, result.total) == (6, 5, audit.settings.triples)
    assert result.share == assess(audit.read_pool(), audit.annotations()).share
    judge(audit, 1, "unsure")
    assert (assess_session(audit).judged, assess_session(audit).trues) == (7, 5)
    again = start_audit(judged.folder, count=99)  # the same command goes on with it
    assert (again.settings.budget, len(again.annotations())) == (8, 6)
    assert len(set(drawn + judge(again, 100))) >= 8
    assert what_is_left(again, again.annotator("ada")) == "spent"
    with pytest.raises(OptionError):
        open_case(again)  # it decides nothing itself


def test_an_audit_ends_when_the_share_is_known_well_enough(judged):
    audit = start_audit(judged, within=0.1)
    drawn = judge(audit, 200)
    assert len(set(drawn)) == len(drawn) == MIN_ANSWERS  # all are true
    share = assess_session(audit).share
    assert share.high - share.low <= 0.2
    assert what_is_left(audit, audit.annotator("ada")) == "certified"


def test_an_audit_of_a_guarantee_draws_from_what_was_accepted_under_it(judged, tmp_path):
    some = tmp_path / "accepted.tsv"
    write_accepted(judged, open_case(judged)[0], some)
    few = some.read_text().splitlines()[:6]
    some.write_text("\n".join(few) + "\n")
    audit = start_audit(judged, among=str(some), count=30)
    drawn = {(task.head, task.relation, task.tail) for task in audit.ask(audit.annotator("ada"), 30)}
    assert drawn == {tuple(line.split("\t")[:3]) for line in few[1:]}
    assert audit.settings.triples == 5


def test_it_is_over_when_the_target_is_certified_and_goes_on_when_an_answer_is_taken_back(judged):
    audit = start_audit(judged, count=100, target=0.5)
    drawn, ada = judge(audit, 100), audit.annotator("ada")
    assert 3 < len(drawn) < 40
    assert what_is_left(audit, ada) == "certified"
    assert picture(audit)["advice"].endswith("Certified: at least 50% of the accepted facts are true.")
    audit.record(ada, [Judgement("undo", None, "u")])
    Planner(audit).step()
    assert audit.ask(ada) != []


@pytest.mark.parametrize("options", [{"target": 2.0}, {"within": 7}])
def test_what_cannot_be_audited_is_refused_and_nothing_is_made(judged, options):
    with pytest.raises(OptionError):
        start_audit(judged, **options)
    assert not (judged.folder / "audit").exists()
