"""A real browser, one for all tests of a process, and servers: in this process, or `actc annotate` itself."""

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
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from actc.app.links import Links
from actc.app.serve import links_of
from actc.app.server import create_app
from actc.cli.main import main
from actc.session import Session
from actc.session.plan import Planner

NO_CHROMIUM = (
    "No Chromium that runs was found for the browser tests. `make test` installs one where it may; "
    "else name one in the environment variable ACTC_CHROMIUM."
)
# A browser that asks nobody about updates, and runs as root in a container.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium(playwright: Playwright) -> str:
    """Return the path of a Chromium: one that was named, the system's, or Playwright's own; as `tools/prepare` does."""
    own = Path(playwright.chromium.executable_path)
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    named = os.environ.get("ACTC_CHROMIUM")
    for place in (
        [named] if named else [*map(shutil.which, names), *own.parents[2].glob("chromium-*/chrome-linux*/chrome")]
    ):
        # Ubuntu's may be a script that only says where the real one is.
        if place and subprocess.run([place, "--version"], capture_output=True, check=False).returncode == 0:
            return str(place)
    pytest.fail(NO_CHROMIUM)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=ARGUMENTS)
        yield browser
        browser.close()


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


@pytest.fixture
def new_page(chromium: Browser) -> Iterator:
    contexts: list[BrowserContext] = []
    problems: list[str] = []
    asked: list[str] = []

    def new(**options) -> Page:
        context = chromium.new_context(**options)
        context.set_default_timeout(60_000)  # a busy machine is no fault of the page
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if "Content Security" in line.text else None)
        context.on("request", lambda request: asked.append(request.url))
        return page

    new.asked = asked
    yield new
    for context in contexts:
        context.close()
    assert problems == []
    elsewhere = [url for url in asked if not url.startswith(("http://127.0.0.1:", "file:", "data:"))]
    assert elsewhere == [], "a request left the machine"


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
