"""When no questions can be planned, the owner reads why, in words."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from actc.data.files import write_scored
from actc.session import OWNER, Session
from actc.session.plan import LEASED_EACH, Planner
from actc.session.processes import describe_in_a_line, planning
from actc.session.settings import Settings
from actc.session.status import describe_session
from actc.web.access import Links
from actc.web.server import create_app
from tests.conftest import start_copy, wait_for
from tests.synthetic import make_truth


def begin(tmp_path, size=200):
    pool, _, _ = make_truth(size, 3)
    write_scored(tmp_path / "scores.tsv", pool)
    return start_copy(tmp_path / "s", tmp_path / "scores.tsv", Settings(budget=size))


def test_a_planner_that_fails_shows_why_on_the_page_and_in_the_report_until_it_plans_again(tmp_path):
    session = begin(tmp_path)
    pool = session.folder / "pool.parquet"
    sound = pool.read_bytes()
    pool.write_bytes(sound[:-100] + bytes(100))
    sentences: list[str] = []
    with planning(session, sentences.append):
        wait_for(lambda: sentences)
        assert "pool.parquet" in sentences[0]
        assert "Traceback" not in sentences[0]
        trouble = session.read_failure()
        assert "pool.parquet" in trouble
        assert describe_session(session)[-1].endswith(trouble)
        token = Links.of(session.folder).token(session.annotator(OWNER))
        page = TestClient(create_app(session), base_url="http://127.0.0.1")
        seen = page.get("/api/owner", headers={"authorization": f"Bearer {token}"}).json()
        assert seen["trouble"] == trouble
        pool.write_bytes(sound)
        wait_for(lambda: session.read_failure() == "")
    session.close()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ZeroDivisionError("by zero"), MemoryError()])
def test_any_failure_is_one_line(error):
    assert len(describe_in_a_line(error).splitlines()) == 1


def test_a_plan_has_a_full_table_for_everybody_however_many_they_are(tmp_path):
    session = begin(tmp_path, 3000)
    crowd = [session.add_annotator(f"person {number}") for number in range(150)]
    Planner(Session(session.folder, synced=False)).step()
    assert all(len(session.ask(person, LEASED_EACH)) == LEASED_EACH for person in crowd)
    session.close()
