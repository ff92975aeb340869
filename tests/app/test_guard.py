"""Whoever holds connections without asking anything shuts nobody out; what cannot be stored is refused, once."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time

import httpx
import numpy as np
import pytest
import uvicorn

from actc.app.gate import Gate
from actc.app.guard import guarded
from actc.app.links import Links
from actc.app.serve import listen
from actc.app.server import create_app
from actc.session import Settings, start_session
from actc.tables.files import write_rows_of
from tests.synthetic import make_truth


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    home = tmp_path_factory.mktemp("guard")
    write_rows_of(home / "scores.tsv", make_truth(100, 2)[0], np.arange(100))
    return start_session(home / "s", home / "scores.tsv", Settings(budget=20))


@contextlib.contextmanager
def serving(session, most, seconds):
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(create_app(session), log_level="error", http=guarded(most, seconds), lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)


def knock(port, words=b""):
    one = socket.create_connection(("127.0.0.1", port), timeout=20)
    one.sendall(words)
    return one


def test_silent_connections_shut_nobody_out(session):
    with serving(session, most=50, seconds=60) as port:
        silent = [knock(port, b"GET / HT") for _ in range(120)]
        assert httpx.get(f"http://127.0.0.1:{port}/", timeout=20).status_code == 200
        for one in silent:
            one.close()


@pytest.mark.parametrize("words", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_request_that_is_never_complete_is_ended(session, words):
    with serving(session, most=50, seconds=0.8) as port, knock(port, words) as one:
        started = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            assert one.recv(100) == b""
        assert time.monotonic() - started < 15


def test_a_body_that_never_ends_is_not_waited_for(session):
    words = b"POST /api/exchange HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    reset = contextlib.suppress(ConnectionResetError)
    with serving(session, most=50, seconds=0.8) as port, knock(port, words) as one, reset:
        while one.recv(1000):
            pass


def test_changing_the_cookie_does_not_change_the_address(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    gate = Gate(None)  # type: ignore[arg-type]
    scope = {"client": ("192.0.2.1", 1), "method": "GET"}
    refused = [gate._problem(scope, {b"cookie": str(number).encode()}) for number in range(12_000)]
    assert refused[0] is None
    assert refused[-1] == (429, "Too many requests; wait a second.")


def test_half_a_character_is_refused_and_the_next_answer_is_stored(session):
    ada = session.add_annotator("ada")
    head = {"content-type": "application/json", "authorization": f"Bearer {Links.of(session.folder).token(ada)}"}
    with serving(session, most=50, seconds=20) as port:

        def send(body):
            return httpx.post(f"http://127.0.0.1:{port}/api/exchange", content=body.encode(), headers=head, timeout=20)

        triple = send('{"cards": 1}').json()["cards"][0]["triple"]
        words = f'"said": "true", "triple": {triple}, "key": "k1"'
        assert 400 <= send(f'{{"judgements": [{{{words}, "note": "\\ud800"}}]}}').status_code < 500
        assert 400 <= send('{"\\ud800": 1}').status_code < 500
        assert send(f'{{"judgements": [{{{words}, "note": "fine"}}]}}').json()["recorded"] == [
            {"id": 1, "triple": triple}
        ]


def test_a_look_at_many_answers_is_not_taken_anew_every_two_seconds(session, monkeypatch):
    from actc.app import owner

    looks = []

    def look(session):
        looks.append(1)
        time.sleep(0.25)
        return {}

    monkeypatch.setattr(owner, "agreement", look)
    app, links = create_app(session), Links.of(session.folder)
    for _ in range(3):
        owner._recent_people(app, session, links)
    assert len(looks) == 1
    session.add_annotator("somebody new")
    owner._recent_people(app, session, links)
    assert len(looks) == 2


def test_the_threads_of_a_server_share_one_heap():
    program = (
        "import ctypes, threading\n"
        "from actc.app.serve import give_memory_back\n"
        "give_memory_back()\n"
        "threads = [threading.Thread(target=lambda: [bytes(10_000) for _ in range(100)]) for _ in range(4)]\n"
        "[thread.start() for thread in threads], [thread.join() for thread in threads]\n"
        "ctypes.CDLL(None).malloc_stats()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.count("Arena ") == 1
