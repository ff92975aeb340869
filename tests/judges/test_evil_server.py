"""Whatever a server does, a run ends in time, in a sentence at worst; nothing is asked twice, the key stays here."""

from __future__ import annotations

import sqlite3
import time

import pytest

import actc
from actc.cli.show_session import print_judge_run
from actc.errors import ActcError
from actc.judges import ask_server
from actc.session import Settings, start_session
from actc.tables.files import write_scored
from tests.conftest import make_pool
from tests.judges.evil_server import MODES, EvilServer
from tests.judges.model_server import KEY

COUNT, TIMEOUT, RETRIES = 2, 0.05, 1
WELL = ("flapping", "body too long", "the same choice twice")
"""Modes in which every question has a whole answer in the end."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evil")
    write_scored(folder / "scores.parquet", make_pool(12, 2)[0])
    start_session(folder / "session", folder / "scores.parquet", Settings()).close()
    return folder


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(ask_server, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(ask_server, "MOST_WAIT", 0.1)
    monkeypatch.setenv("MODEL_KEY", KEY)


def ask(folder, server, mode):
    """Ask a few questions, in whichever way the server can answer; return what came of it, or the sentence instead."""
    given = {"url": server.url, "model": "small", "which": "all", "count": COUNT, "key_from": "MODEL_KEY", "jobs": 1}
    try:
        run = actc.judge_triples(folder / "session", name=mode, timeout=10 if mode in WELL else TIMEOUT, retries=RETRIES, **given)
    except ActcError as error:
        return None, str(error)
    print_judge_run(run)
    return run, run.problem


@pytest.mark.parametrize("mode", MODES)
def test_a_run_ends_in_time_and_in_a_sentence_at_worst(folder, mode, capfd):
    with EvilServer(mode) as server:
        began, worked = time.monotonic(), time.process_time()
        run, sentence = ask(folder, server, mode)
        waited = time.monotonic() - began - (time.process_time() - worked)
        ways = 2  # tried in vain, for the first question
        assert sum(server.asked.values()) <= (COUNT + ways) * (RETRIES + 1)
        assert waited < (COUNT + ways) * (RETRIES + 1) * (TIMEOUT + 0.2) + 10  # the machine may have other work
        assert set(server.keys) == {KEY}
        asked = server.asked.copy()
        again, _ = ask(folder, server, mode)
        if run is not None and again is not None:
            assert again.before == run.answered + run.senseless
            assert run.failed or server.asked == asked
    if mode in WELL:
        assert (run.answered, run.failed) == (COUNT, 0)
    printed = "".join(capfd.readouterr()) + sentence
    everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    for secret in ("\x1b", "Traceback", KEY, KEY[:8]):
        assert secret not in printed
    assert KEY[:8].encode() not in everything
    assert b"\x1b[" not in everything


def test_stored_reasons_are_one_line_that_can_be_shown(folder):
    with sqlite3.connect(folder / "session" / "judges.sqlite") as connection:
        reasons = [row[0] for row in connection.execute("SELECT reason FROM reply")]
    assert reasons
    assert all(reason.isprintable() and len(reason) <= 2000 for reason in reasons)
