"""A server that answers questions to a model in every wrong way: ``MODES`` has them, one function each.

A mode is given the connection, the reply that an honest server would have given, and the key that came with the
question; it writes whatever bytes it likes. It runs on bare sockets, since no server library would send these.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
import time
from collections import Counter

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
    "drip of chunks": drip(CHUNKED % b"200 OK", b"1\r\n \r\n"),
    "for ever 100 Continue": drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    # huge
    "huge body": drip(LONG.replace(b"1000000", b"99999999999"), b" " * 65536, 0),
    "huge head": drip(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 60000 + b"\r\n", 0),
    "gzip bomb": send(packet(gzip.compress(b" " * 50_000_000), headers=["Content-Encoding: gzip"])),
    "huge reason": say(json.dumps({"answer": "true", "reason": "x" * 900_000})),
    "huge number of tokens": send(packet(completion(usage={"prompt_tokens": 10**30, "completion_tokens": 10**400}))),
    "huge probability": say(f'{{"answer": "true", "probability": 1{"0" * 400}}}'),
    "number of 5000 digits": say(f'{{"answer": "true", "probability": {"9" * 5000}}}'),
    # broken
    "broken chunked 500": send(CHUNKED % b"500 Out of order", b"5\r\nab"),
    "broken chunked 200": send(CHUNKED % b"200 OK", b"zz\r\nab\r\n"),
    "body too short": send(packet(completion(), length=5000)),
    "body too long": send(packet(completion()) + b"and more" * 100),
    "cut in a word": send(packet(json.dumps(completion())[:60])),
    "closed at once": send(),
    "reset": reset,
    "no HTTP": send(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "TLS alert": send(b"\x15\x03\x01\x00\x02\x02\x28"),
    "HTTP/9.9": send(b"HTTP/9.9 200 OK\r\n\r\n{}"),
    "a head of noise": send(b"HTTP/1.1 200 OK\r\n\xff\xfe\x00: \x01\r\n\r\n{}"),
    "no gzip in the head alone": send(packet(b"not gzip at all", headers=["Content-Encoding: gzip"])),
    "not UTF-8": send(packet(b'{"choices": [{"message": {"content": "\xff\xfe true"}}]}')),
    "empty": send(packet(b"")),
    "204": send(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "HTML": send(packet("<html><body>true</body></html>", kind="text/html")),
    # lying
    "negative length": send(packet(completion(), length=-1)),
    "two lengths": send(packet(completion(), headers=["Content-Length: 3"])),
    "comes back in a thousand years": send(packet({}, "429 Too Many", ["Retry-After: 31536000000"])),
    "comes back at NaN": send(packet({}, "429 Too Many", ["Retry-After: nan"])),
    "comes back on a day of no calendar": send(packet({}, "503 Busy", ["Retry-After: Fri, 31 Dec 99999 23:59:59 GMT"])),
    "key in the reason": send(lambda key: packet(completion(json.dumps({"answer": "true", "reason": f"you: {key}"})))),
    "key in an error": send(lambda key: packet({"error": f"bad key {key}"}, "500 Out of order")),
    "key at the end of a long reason": send(
        lambda key: packet(completion(json.dumps({"answer": "true", "reason": "x" * 1990 + key})))
    ),
    "key in a refusal": send(lambda key: packet({"error": f"{key} {ESCAPE}"}, "400 Bad")),
    "escape codes in the reason": say(json.dumps({"answer": "true", "reason": ESCAPE})),
    "escape codes in an error": send(packet(ESCAPE, "500 Out of order")),
    "escape codes in the head": send(f"HTTP/1.1 500 {ESCAPE}\r\nContent-Length: 0\r\n\r\n".encode()),
    # redirecting
    "away to another host": away("http://127.0.0.1:9/elsewhere"),
    "away to a file": away("file:///etc/passwd", "302 Found"),
    "away to itself": away("/v1/chat/completions", "308 Permanent Redirect"),
    # other types than agreed
    "a list": send(packet([completion()])),
    "null": send(packet(b"null")),
    "a number": send(packet(b"1")),
    "deep": send(packet(b"[" * 400_000)),
    "deep in the reason": say(f'{{"answer": "true", "reason": {"[" * 800}{"]" * 800}}}'),
    "NaN": say('{"answer": NaN, "probability": NaN}'),
    "no choices": choose([]),
    "choices that are null": choose(None),
    "choices that are an object": choose({"0": 1}),
    "a choice that is a text": choose(["true"]),
    "content that is null": choose([{"message": {"content": None}}]),
    "content in parts": choose([{"message": {"content": [{"type": "text", "text": HONEST}]}}]),
    "the same choice twice": choose([completion()["choices"][0]] * 2),
    "usage that is a list": send(packet(completion(usage=[1, 2]))),
    "usage of other types": send(packet(completion(usage={"prompt_tokens": "many", "completion_tokens": None}))),
    "half a character": say('{"answer": "true", "reason": "\\ud83d"}'),
    "NUL": say('{"answer": "true", "reason": "a\\u0000b"}'),
    "surrogates as answer": say('{"answer": "\\udfff"}'),
    # well, at times
    "flapping": None,
}


SLOW = tuple(MODES)[:8]
"""Modes that never end by themselves."""


class EvilServer:
    """Listens on 127.0.0.1; treats every question in its ``mode``, and notes what it was asked."""

    def __init__(self, mode):
        self.mode, self.questions, self.keys = mode, Counter(), []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.open, self.turn = True, 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.listen, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.open = False
        self.socket.close()

    def listen(self):
        while self.open:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.treat, args=(connection,), daemon=True).start()

    def treat(self, connection):
        with connection:
            try:
                head, body = self.read(connection)
                key = next((line.split()[-1].decode() for line in head.split(b"\r\n") if b"earer" in line), "")
                self.questions[json.loads(body)["messages"][0]["content"]] += 1
                self.keys.append(key)
                self.turn += 1
                mode = MODES[self.mode] or (send(packet(completion())) if self.turn % 3 else reset)
                mode(connection, key)
            except (OSError, ValueError):  # the client is gone
                pass

    def read(self, connection):
        content = b""
        while b"\r\n\r\n" not in content:
            content += connection.recv(65536)
        head, _, body = content.partition(b"\r\n\r\n")
        length = next(int(line.split()[-1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-len"))
        while len(body) < length:
            body += connection.recv(65536)
        return head, body
