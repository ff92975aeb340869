"""Servers: in this process, or `actc annotate` itself; and hands on the page."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Page

from actc.app.links import Links
from actc.app.serve import links_of
from actc.app.server import create_app
from actc.cli.main import main
from actc.session import Session
from actc.session.plan import Planner


class Server:
    """A session's page and its planner, served by threads of this process: they start at once."""

    def __init__(self, folder: Path, *annotators: str) -> None:
        self.session, self.ending = Session(folder), threading.Event()
        for name in annotators or ("you",):
            self.session.add_annotator(name)
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        self.origin = f"http://127.0.0.1:{port}"
        self.links = dict(links_of(self.session, "127.0.0.1", port))
        config = uvicorn.Config(create_app(self.session), log_level="warning", timeout_graceful_shutdown=2)
        self.server = uvicorn.Server(config)
        serving = threading.Thread(target=self.server.run, kwargs={"sockets": [listener]})
        self.threads = [serving, threading.Thread(target=self._plan, args=(folder,))]
        for thread in self.threads:
            thread.start()

    def link_of(self, name: str) -> str:
        """Return the link of an annotator, new or not."""
        return self.origin + Links.of(self.session.folder).path(self.session.add_annotator(name))

    def _plan(self, folder: Path) -> None:
        planner = Planner(Session(folder, synced=False))
        while not self.ending.wait(0.2):
            planner.step()

    def stop(self) -> None:
        self.server.should_exit = True
        self.ending.set()
        for thread in self.threads:
            thread.join(60)
        self.session.close()


class Process:
    """`actc annotate`, or another command that serves a page, in a process of its own."""

    def __init__(self, folder: Path, *annotators: str, command: tuple[str, ...] = ("annotate",)) -> None:
        self.folder, self.annotators, self.command = folder, annotators, command
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.links: dict[str, str] = {}
        self.start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        names = [word for name in self.annotators for word in ("--annotator", name)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "actc.cli.main", *self.command, str(self.folder), "--port", str(self.port), *names],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.match(r"(\S.*?)\s+(http://\S+)", line):
                self.links[found[1]] = found[2]
            if "Each link" in line:
                return
        raise AssertionError(f"the server ended with {self.process.wait()}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(60)
            assert self.process.stdout is not None
            self.process.stdout.close()


@pytest.fixture
def start_server() -> Iterator:
    """Start a server in this process, by a session's folder and the names of its annotators."""
    with ExitStack() as running:

        def start(folder: Path, *annotators: str) -> Server:
            server = Server(folder, *annotators)
            running.callback(server.stop)
            return server

        yield start


@pytest.fixture
def start_process() -> Iterator:
    """Start `actc annotate` in a process of its own: to kill it, or to see that all works together."""
    with ExitStack() as running:

        def start(folder: Path, *annotators: str, **options) -> Process:
            server = Process(folder, *annotators, **options)
            running.callback(server.stop)
            return server

        yield start


def run(*words: object) -> None:
    """Run an actc command in this process."""
    before, sys.argv = sys.argv, ["actc", *map(str, words), "--quiet"]
    try:
        with pytest.raises(SystemExit) as done:
            main()
    finally:
        sys.argv = before
    assert done.value.code == 0


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions on the packaged sample that nobody has judged yet; to be copied."""
    folder = tmp_path_factory.mktemp("started")
    run("start", folder / "sample", "--sample", "--budget", 200)
    run("start", folder / "shared", "--sample", "--budget", 40, "--overlap", 1.0)
    return folder


@pytest.fixture
def sample(started: Path, tmp_path: Path) -> Path:
    return shutil.copytree(started / "sample", tmp_path / "session")


@pytest.fixture
def shared(started: Path, tmp_path: Path) -> Path:
    return shutil.copytree(started / "shared", tmp_path / "session")


READY = "#card:not([hidden]):not([data-unread])"
"""A card that takes answers."""
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def open_card(page: Page, link: str) -> str:
    """Open a link, wait for the first card, and return its sentence."""
    page.goto(link)
    page.wait_for_selector(READY)
    return page.inner_text("#sentence")


def press(page: Page, *keys: str, card: str = READY) -> None:
    """Press keys that answer, each as soon as a card takes answers."""
    for key in keys:
        page.wait_for_selector(card)
        page.keyboard.press(key)


def saved(page: Page) -> None:
    """Wait until the page says that the server has everything, and a card that is there takes answers."""
    page.wait_for_function(
        """() => document.getElementById('saved').textContent === 'All saved'
            && !document.querySelector('#card[data-unread]:not([hidden])')"""
    )


def wait_for(true, seconds: float = 60.0) -> None:
    """Wait until something holds."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)
