"""A real server that is slow, fails, limits, talks nonsense and cuts lines: no answer is lost, none is doubled."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

import actc
from actc.data.files import write_scored
from actc.errors import ActcError, MissingExtraError, OptionError
from actc.session import machines
from actc.session.cases import read_judges
from actc.session.session import Session
from actc.session.settings import Settings
from actc.session.store import FILE, Store
from tests.conftest import make_pool, start_copy, wait_for
from tests.session.model_server import KEY, ModelServer


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch):
    monkeypatch.setattr(machines, "FIRST_WAIT", 0.01)


@pytest.fixture
def folder(tmp_path):
    write_scored(tmp_path / "scores.parquet", make_pool(60, 3)[0])
    start_copy(tmp_path / "session", tmp_path / "scores.parquet", Settings()).close()
    (tmp_path / "prompt.txt").write_text("Is it true?\n{relation} holds between {tail} and {head_id}")
    return tmp_path


def judge(folder, server, **options):
    given = {"url": server.url, "model": "small", "prompt": folder / "prompt.txt", "which": "all", "way": "text"}
    return actc.judge_triples(folder / "session", **(given | options))


def stored(folder):
    with sqlite3.connect(folder / "session" / "session.sqlite") as connection:
        return connection.execute("SELECT triple, answer, probability, reason FROM reply").fetchall()


def way_of(folder):
    return Store(folder / "session" / FILE).value("SELECT way FROM judge WHERE id = 1")


def everything_on_disk(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_every_triple_is_judged_once_whatever_the_server_does(folder):
    moods = ["busy", "broken", "cut", "well", "hang-up", "slow", "broken", "busy", "cut", "nonsense"] * 4
    with ModelServer(moods) as server:
        run = judge(folder, server, jobs=6, retries=30)
    rows = stored(folder)
    assert sorted(row[0] for row in rows) == list(range(60))
    assert (run.answered + run.unreadable, run.failed, run.before) == (60, 0, 0)
    assert run.requests == len(server.questions) > 60
    assert 0 < run.unreadable == sum(row[1] is None for row in rows)


def test_answers_are_those_that_the_server_gave_to_so_many_requests_at_once(folder):
    pool = make_pool(60, 3)[0]
    with ModelServer(seconds=0.02) as server:
        run = judge(folder, server, jobs=3)
    assert server.most_at_once == 3
    for triple, answer, probability, reason in stored(folder):
        even = int(pool.triple(triple)[0].lstrip("h")) % 2 == 0
        assert (answer, probability, reason) == (("true", 0.9) if even else ("false", 0.1)) + ("I read it.",)
    assert (run.tokens_in, run.tokens_out) == (6000, 600)


def test_what_was_asked_is_not_asked_again_unless_the_prompt_is_another(folder):
    with ModelServer() as server:
        judge(folder, server, count=20)
        again = judge(folder, server)
        assert (again.before, again.answered, len(server.questions)) == (20, 40, 60)
        (folder / "prompt.txt").write_text("Really true? {tail} {head_id}")
        assert judge(folder, server).answered == 60
    store, pool = Store(folder / "session" / FILE), Session(folder / "session").read_pool()
    names, counts = np.unique(read_judges(store, pool).who.astype(str), return_counts=True)
    assert counts.tolist() == [60, 60]  # another prompt is another judge
    assert all(name.startswith("small (") for name in names)


@pytest.mark.parametrize(
    ("can", "refuses", "way"),
    [
        (("tokens", "schema", "text"), (), "tokens"),
        (("schema", "text"), (), "schema"),
        (("schema", "text"), ("tokens",), "schema"),
        (("text",), (), "text"),
        (("text",), ("tokens", "schema"), "text"),
    ],
)
def test_a_server_is_asked_in_the_best_way_that_it_can_answer_tried_once(folder, can, refuses, way):
    with ModelServer(["broken"], can=can, refuses=refuses) as server:  # a failure shows nothing about ways
        run = judge(folder, server, way="", count=10)
        tried = 1 + ["tokens", "schema", "text"].index(way)
        assert (run.answered, run.unreadable, len(server.questions)) == (10, 0, 10 + tried)
        assert way_of(folder) == way
        assert judge(folder, server, way="", count=20).answered == 10
        assert len(server.questions) == 20 + tried  # remembered
    assert all(("logprobs" in body) == (way == "tokens") for body in server.bodies[tried:])


def test_token_probabilities_are_the_answer_in_all_spellings(folder):
    pool = make_pool(60, 3)[0]
    with ModelServer(can=("tokens",)) as server:
        judge(folder, server, way="")
    for triple, answer, probability, _ in stored(folder):
        number = int(pool.triple(triple)[0].lstrip("h"))
        assert probability == pytest.approx(0.5 + (0.3 if number % 2 == 0 else -0.3) + number / 1000)
        assert answer == ("true" if probability > 0.5 else "false")
    assert all(body["max_tokens"] == 1 for body in server.bodies)


def test_without_httpx_one_sentence_names_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)  # which is how Python remembers that it cannot be imported
    with ModelServer() as server, pytest.raises(MissingExtraError, match=r"actc\[judge\]"):
        judge(folder, server)


def test_the_limit_of_requests_holds_to_the_last_one(folder):
    with ModelServer(["broken"] * 10) as server:
        run = judge(folder, server, limit=25, jobs=4)
        assert len(server.questions) == run.requests == 25
        assert run.answered == len(stored(folder)) == 15
        assert run.failed == 45
        assert judge(folder, server).answered == 45


def test_a_server_that_gives_a_time_to_come_back_is_left_alone_till_then(folder):
    with ModelServer(["busy"]) as server:
        judge(folder, server, jobs=1, count=1, which="doubtful")
    assert server.times[1] - server.times[0] >= 0.2
    assert server.questions[0].startswith("Is it true?\nr")  # the prompt, and nothing else of ours
    assert "Authorization" not in server.headers[0]


def test_a_server_that_is_not_there_ends_the_run_and_its_answers_stay(folder):
    with ModelServer() as server:
        judge(folder, server, count=5)
    with pytest.raises(ActcError):
        judge(folder, server, retries=0)
    assert len(stored(folder)) == 5


@pytest.mark.parametrize(("mood", "status"), [("refuse", "400"), ("away", "307")])
def test_what_no_retry_can_mend_ends_the_run_in_a_sentence(folder, mood, status):
    with ModelServer([mood] * 60) as server, pytest.raises(ActcError, match=status):
        judge(folder, server)


def test_the_key_is_sent_and_is_nowhere_else(folder, monkeypatch, capfd, caplog):
    monkeypatch.setenv("MODEL_KEY", KEY)
    with ModelServer(["broken", "busy", "echo", "nonsense"], key=KEY) as server:
        run = judge(folder, server, key_from="MODEL_KEY", jobs=1)
        assert (run.answered, run.unreadable) == (59, 1)
        server.moods = ["broken"] * 100
        with pytest.raises(ActcError) as failure:
            judge(folder, server, key_from="MODEL_KEY", name="other", retries=0)
        server.moods = ["refuse"] * 9  # requests of the run before may still be on their way
        with pytest.raises(ActcError) as refusal:
            judge(folder, server, key_from="MODEL_KEY", name="third", retries=0)
    assert all(headers["Authorization"] == f"Bearer {KEY}" for headers in server.headers)
    printed = "".join(capfd.readouterr()) + caplog.text + repr(failure.value) + repr(refusal.value) + repr(run)
    assert KEY.encode() not in everything_on_disk(folder) + printed.encode()
    assert "(key)" in str(refusal.value)


def test_a_wrong_key_or_none_is_refused_in_a_sentence_without_it(folder, monkeypatch):
    monkeypatch.setenv("MODEL_KEY", "wrong")
    with ModelServer(key=KEY) as server:
        with pytest.raises(ActcError, match="401") as refusal:
            judge(folder, server, key_from="MODEL_KEY")
        with pytest.raises(ActcError, match="NO_SUCH_KEY"):
            judge(folder, server, key_from="NO_SUCH_KEY")
    assert "wrong" not in str(refusal.value)


def start(folder, server, *more):
    command = [sys.executable, "-m", "actc.cli.main", "judge", str(folder / "session"), "--model", "small", "--quiet"]
    command += ["--prompt", str(folder / "prompt.txt"), "--which", "all", "--url", server.url, *more]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def test_the_first_interrupt_ends_a_run_that_waits_for_a_reply(folder):
    with ModelServer(seconds=600) as server:
        process = start(folder, server)
        wait_for(lambda: server.questions)
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate(timeout=30)
        assert (process.returncode, printed.strip()) == (130, b"")


def test_of_two_runs_at_once_one_asks_and_the_other_refuses(folder):
    with ModelServer(seconds=0.05) as server:
        first = start(folder, server)
        wait_for(lambda: server.questions)
        with pytest.raises(OptionError):
            judge(folder, server)
        assert first.wait(60) == 0
        first.stderr.close()
        assert judge(folder, server).before == 60
        assert sum(server.answered.values()) <= 61  # one question was asked in two ways


@pytest.mark.long
def test_a_run_that_is_killed_goes_on_where_it_was_and_nothing_is_lost_or_doubled(folder):
    with ModelServer(seconds=0.08) as server:
        kills = 0
        while len(set(server.questions)) < 50:
            process = start(folder, server, "--jobs", "2")
            seen = len(server.questions)
            while len(server.questions) < seen + 25 and process.poll() is None:
                time.sleep(0.01)
            process.kill()
            process.communicate()
            kills += process.returncode == -signal.SIGKILL
        at_last = judge(folder, server, jobs=2)
    assert kills >= 2
    assert sorted(row[0] for row in stored(folder)) == list(range(60))
    assert at_last.before + at_last.answered == 60
    # What was on its way when the process died has to be asked again: at most a request per job and kill. And one
    # question was asked in two ways, once, to find out how the server answers.
    assert sum(server.answered.values()) <= 60 + 2 * kills + 1
    assert way_of(folder) == "schema"
