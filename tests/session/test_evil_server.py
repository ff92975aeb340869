"""Whatever a server does, asking ends in time, in a sentence at worst; the key stays here.

``MODES`` has a function for every wrong way to answer. It is given the connection and the key that came with the
question, and writes whatever bytes it likes. It runs on bare sockets, since no server library would send these.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
import time
from collections import Counter
from contextlib import suppress
from http.client import parse_headers
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest

from actc.errors import ActcError
from actc.session import machines
from actc.session.machines import Question
from actc.session.settings import JudgeConfig
from tests.session.model_server import KEY

ESCAPE = "\x1b[2J\x1b]0;owned\x07\x1b[31m"
HONEST = '{"answer": "true", "probability": 0.9, "reason": "I read it."}'


def completion(text=HONEST, **more):
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage} | more


def packet(body, status="200 OK", headers=(), length=None, kind="application/json"):
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close", *headers]
    lines.append(f"Content-Length: {len(data) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + data


def send(*packets):
    """Send these bytes, or what a function makes of the key, and close."""

    def mode(connection, key):
        for one in packets:
            connection.sendall(one(key) if callable(one) else one)

    return mode


def drip(start, piece, seconds=0.05):
    """Send a beginning, then a piece again and again, for ever."""

    def mode(connection, key):
        connection.sendall(start)
        while True:
            connection.sendall(piece)
            time.sleep(seconds)

    return mode


def wait(start=b""):
    """Send a beginning, and nothing more."""

    def mode(connection, key):
        connection.sendall(start)
        time.sleep(20)

    return mode


def reset(connection, key):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


CHUNKED = b"HTTP/1.1 %s\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"
LONG = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"


def say(text):
    return send(packet(completion(text)))


def choose(choices):
    return send(packet(completion() | {"choices": choices}))


def away(place, status="307 Temporary Redirect"):
    return send(packet({}, status, [f"Location: {place}"]))


MODES = {
    # slow
    "never a byte": wait(),
    "head and no body": wait(LONG),
    "drip of the head": drip(b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n"),
    "drip of the body": drip(LONG, b" "),
    "for ever 100 Continue": drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    # huge
    "huge body": drip(LONG.replace(b"1000000", b"99999999999"), b" " * 65536, 0),
    "huge head": drip(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 60000 + b"\r\n", 0),
    "gzip bomb": send(packet(gzip.compress(b" " * 50_000_000), headers=["Content-Encoding: gzip"])),
    "huge reason": say(json.dumps({"answer": "true", "reason": "x" * 900_000})),
    "huge probability": say(f'{{"answer": "true", "probability": 1{"0" * 400}}}'),
    # broken
    "broken chunked 500": send(CHUNKED % b"500 Out of order", b"5\r\nab"),
    "broken chunked 200": send(CHUNKED % b"200 OK", b"zz\r\nab\r\n"),
    "body too short": send(packet(completion(), length=5000)),
    "cut in a word": send(packet(json.dumps(completion())[:60])),
    "reset": reset,
    "no HTTP": send(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "a head of noise": send(b"HTTP/1.1 200 OK\r\n\xff\xfe\x00: \x01\r\n\r\n{}"),
    "not UTF-8": send(packet(b'{"choices": [{"message": {"content": "\xff\xfe true"}}]}')),
    "HTML": send(packet("<html><body>true</body></html>", kind="text/html")),
    # lying
    "two lengths": send(packet(completion(), headers=["Content-Length: 3"])),
    "comes back in a thousand years": send(packet({}, "429 Too Many", ["Retry-After: 31536000000"])),
    "comes back at NaN": send(packet({}, "429 Too Many", ["Retry-After: nan"])),
    "key in the reason": send(lambda key: packet(completion(json.dumps({"answer": "true", "reason": f"you: {key}"})))),
    "key at the end of a long reason": send(
        lambda key: packet(completion(json.dumps({"answer": "true", "reason": "x" * 1990 + key})))
    ),
    "escape codes in the reason": say(json.dumps({"answer": "true", "reason": ESCAPE})),
    "escape codes in an error": send(packet(ESCAPE, "500 Out of order")),
    # redirecting
    "away to another host": away("http://127.0.0.1:9/elsewhere"),
    "away to itself": away("/v1/chat/completions", "308 Permanent Redirect"),
    # other types than agreed
    "a list": send(packet([completion()])),
    "deep": send(packet(b"[" * 400_000)),
    "deep in the reason": say(f'{{"answer": "true", "reason": {"[" * 800}{"]" * 800}}}'),
    "NaN": say('{"answer": NaN, "probability": NaN}'),
    "no choices": choose([]),
    "a choice that is a text": choose(["true"]),
    "content in parts": choose([{"message": {"content": [{"type": "text", "text": HONEST}]}}]),
    "usage of other types": send(packet(completion(usage={"prompt_tokens": "many", "completion_tokens": None}))),
    "half a character": say('{"answer": "true", "reason": "\\ud83d"}'),
    "NUL": say('{"answer": "true", "reason": "a\\u0000b"}'),
    # well, at times
    "flapping": None,
}


SLOW = tuple(MODES)[:7]
"""Modes that never end by themselves."""


class EvilServer(ThreadingTCPServer):
    """Treats every question in its ``mode``, and notes what it was asked."""

    daemon_threads, block_on_close = True, False

    def __init__(self, mode):
        super().__init__(("127.0.0.1", 0), Evil)
        self.mode, self.questions, self.keys = mode, Counter(), []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()


class Evil(StreamRequestHandler):
    def handle(self):
        server = self.server
        with suppress(OSError, ValueError):  # the client is gone
            self.rfile.readline()
            headers = parse_headers(self.rfile)
            body = json.loads(self.rfile.read(int(headers["Content-Length"])))
            key = headers.get("Authorization", "").removeprefix("Bearer ")
            server.questions[body["messages"][0]["content"]] += 1
            server.keys.append(key)
            mode = MODES[server.mode] or (send(packet(completion())) if len(server.keys) % 3 else reset)
            mode(self.connection, key)


COUNT, TIMEOUT, RETRIES = 2, 0.05, 1


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
    if mode == "flapping":
        assert [reply.answer for reply in replies] == ["true"] * COUNT
    assert all(reply.reason.isprintable() and len(reply.reason) <= 2000 for reply in replies)
    written = sentence + model.problem + repr(replies)
    for secret in ("\x1b", KEY, KEY[:8]):
        assert secret not in written
