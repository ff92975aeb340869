from __future__ import annotations

import hashlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from actc.bench.datasets import fetch_file
from actc.errors import FileError

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Shelf(ThreadingHTTPServer):
    """A server of one file on this machine, with the faults of real ones."""

    daemon_threads = True
    content = CONTENT

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.faults: list[int | str] = []  # one per request: a status to refuse with, or "break" in mid-file
        self.requests = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/file"


class Answer(BaseHTTPRequestHandler):
    server: Shelf

    def do_GET(self) -> None:
        self.server.requests += 1
        fault = self.server.faults.pop(0) if self.server.faults else None
        if isinstance(fault, int):
            self.send_error(fault)
            return
        body = self.server.content
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if fault == "break" else body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    server = Shelf()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_is_fetched_once(shelf, tmp_path):
    path = tmp_path / "new" / "file"
    assert fetch_file(shelf.url, path, SHA256) == path
    assert path.read_bytes() == CONTENT
    fetch_file(shelf.url, path, SHA256)
    assert shelf.requests == 1


def test_a_passing_refusal_is_tried_again(shelf, tmp_path):
    shelf.faults = [503, 429]
    fetch_file(shelf.url, tmp_path / "file", SHA256, wait_seconds=0.01)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_another_file_than_expected_is_refused_and_not_kept(shelf, tmp_path):
    shelf.content = b"something else"
    with pytest.raises(FileError):
        fetch_file(shelf.url, tmp_path / "file", SHA256)
    assert list(tmp_path.iterdir()) == []


def test_a_final_refusal_is_not_tried_again(shelf, tmp_path):
    shelf.faults = [404]
    with pytest.raises(FileError, match="404"):
        fetch_file(shelf.url, tmp_path / "file", SHA256)
    assert shelf.requests == 1
