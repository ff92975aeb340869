"""Whatever a server does, asking ends in time, in a sentence at worst; the key stays here."""

from __future__ import annotations

import time

import pytest

from actc.errors import ActcError
from actc.session import machines
from actc.session.machines import Question
from actc.session.settings import JudgeConfig
from tests.session.evil_server import MODES, SLOW, EvilServer
from tests.session.model_server import KEY

COUNT, TIMEOUT, RETRIES = 2, 0.05, 1
WELL = ("flapping", "body too long", "the same choice twice")
"""Modes in which every question has a whole answer in the end."""


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(machines, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(machines, "MOST_WAIT", 0.05)


@pytest.mark.parametrize("mode", MODES)
def test_asking_ends_in_time_and_in_a_sentence_at_worst(mode):
    questions = [Question(row, str(row), {"sentence": f"h{row} likes t"}) for row in range(COUNT)]
    timeout = TIMEOUT if mode in SLOW else 10  # a busy machine is slow, too
    with EvilServer(mode) as server:
        config = JudgeConfig(url=server.url, model="small", jobs=1, retries=RETRIES, timeout=timeout, limit=100)
        model = machines.Server(config, "{sentence}? {answer}", KEY)
        began, worked = time.monotonic(), time.process_time()
        try:
            replies, sentence = [reply for _, reply in model.ask(questions)], ""
        except ActcError as error:
            replies, sentence = [], str(error)
        waited = time.monotonic() - began - (time.process_time() - worked)
        ways = 2  # tried in vain, for the first question
        most = (COUNT + ways) * (RETRIES + 1)
        assert sum(server.questions.values()) <= model.requests <= most
        assert waited < most * (TIMEOUT + 0.2) + 10  # the machine may have other work
        assert set(server.keys) <= {KEY}
    if mode in WELL:
        assert [reply.answer for reply in replies] == ["true"] * COUNT
    assert all(reply.reason.isprintable() and len(reply.reason) <= 2000 for reply in replies)
    written = sentence + model.problem + repr(replies)
    for secret in ("\x1b", KEY, KEY[:8]):
        assert secret not in written
