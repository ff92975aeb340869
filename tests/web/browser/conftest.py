"""Servers: in this process, or `actc annotate` itself; sessions that are made once; and hands on the page."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Page

from actc.session import Judgement, Session
from actc.session.plan import Planner
from actc.session.settings import SessionInputs, Settings
from actc.session.start import copy_sample, create_session
from actc.session.status import history
from actc.web.access import Links
from actc.web.serve import links_of
from actc.web.server import create_app


class Serving:
    """An application, made with its address, that a thread of this process serves: it starts at once."""

    def __init__(self, make_app: Callable[[str], FastAPI]) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.app = make_app(self.origin)
        self.server = uvicorn.Server(uvicorn.Config(self.app, log_level="warning", timeout_graceful_shutdown=2))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listener]})
        self.thread.start()

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(60)


class Server(Serving):
    """A session's page. Its first plan is enough for most tests.

    Parameters
    ----------
    folder : Path
    *annotators : str
    planning : bool
        Whether a planner refits the method after answers.
    """

    def __init__(self, folder: Path, *annotators: str, planning: bool = False) -> None:
        self.session, self.ending = Session(folder), threading.Event()
        for name in annotators or ("you",):
            self.session.add_annotator(name)
        super().__init__(lambda origin: create_app(self.session))
        self.links = dict(links_of(self.session, self.origin))
        self.place = f"{self.origin}{Links.of(folder).place}/"
        self.planner = threading.Thread(target=self._plan, args=(folder,))
        if planning:
            self.planner.start()

    def link_of(self, name: str) -> str:
        """Return the link of an annotator, new or not."""
        return self.origin + Links.of(self.session.folder).path(self.session.add_annotator(name))

    def _plan(self, folder: Path) -> None:
        planner = Planner(Session(folder, synced=False))
        while not self.ending.wait(0.2):
            planner.step()

    def stop(self) -> None:
        self.ending.set()
        super().stop()
        if self.planner.ident:
            self.planner.join(60)
        self.session.close()


class Process:
    """`actc annotate`, or `actc studio`, in a process of its own; started again, it listens where it did."""

    def __init__(self, folder: Path, *annotators: str, command: str = "annotate") -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.origin = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.folder, self.links = folder, dict[str, str]()
        port = self.origin.rpartition(":")[2]
        names = [word for name in annotators for word in ("--annotator", name)]
        self.words = [command, str(folder), "--port", port, "--no-browser", *names]
        self.start()

    @property
    def place(self) -> str:
        return f"{self.origin}{Links.of(self.folder).place}/"

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "actc.cli.main", *self.words],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
            cwd=self.folder.parent,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.match(r"(\S.*?)?\s+(http://\S+)", line):
                self.links[found[1] or "studio"] = found[2]
            if "Ctrl" in line:
                return
        raise AssertionError(f"the server ended with {self.process.wait()}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.communicate(timeout=60)


@pytest.fixture
def start_server() -> Iterator:
    """Start a server in this process, by a session's folder and the names of its annotators."""
    with ExitStack() as running:

        def start(folder: Path, *annotators: str, **options) -> Server:
            server = Server(folder, *annotators, **options)
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


GUIDELINES = "# Usually\n\nWhat is **usually** true.\n\n- [here](https://example.org)\n- <b>not</b> snake_case_names\n"
HOSTILE = {
    "script": "<script>document.title = 'broken'</script><img src=x onerror=\"document.title = 'broken'\">",
    "quotes": "\"'`--></h1>&lt;&amp;",
    "bidi": "abc\u202egnp.exe\u202c \u2066\u200f",
    "long": "x" * 10_000,
}


def start_sample(folder: Path, settings: Settings) -> None:
    scores, names, graph = copy_sample(folder.parent)
    create_session(folder, scores, settings, SessionInputs(names, graph=graph)).close()


def start_on(folder: Path, rows: list[str], names: dict, settings: Settings, graph: str = "", **options) -> None:
    """Start a session on lines of scores, with names, and a graph where it has one."""
    home = folder.parent
    (home / "scores.tsv").write_text("".join(rows))
    (home / "names.json").write_text(json.dumps(names))
    (home / "graph.tsv").write_text(graph)
    known = home / "graph.tsv" if graph else None
    inputs = SessionInputs([home / "names.json"], graph=known, **options)
    create_session(folder, home / "scores.tsv", settings, inputs).close()


def start_differing(folder: Path) -> None:
    """Start a session of two people who differ on three triples; one of them wrote a note."""
    start_sample(folder, Settings(budget=40, overlap=1.0))
    session = Session(folder)
    for name, said in (("Ada", "true"), ("Bob", "false")):
        person = session.add_annotator(name)
        notes = ["are you sure?" if name == "Bob" else "", "", ""]
        for task, note in zip(session.ask(person, 3), notes, strict=True):
            session.record(person, [Judgement(said, task.triple, f"{name} {task.triple}", note=note, seconds=2.0)])
    Planner(session).step()
    session.close()


def start_linked(folder: Path) -> None:
    """Start a session whose cards have every part, links and text too, and fit on a phone; the graph has each fact."""
    rows = [f"Q{i}\tP1\tQ{i + 50}\t0.{i}\tHere q{i} is near Q{i + 50}, not Q{i + 50}0.\n" for i in range(1, 50)]
    graph = "".join(f"Q{i}\tP1\tQ{i + 50}\nQ{i}\tP1\tQ200\n" for i in range(1, 50))
    names = {"P1": {"name": "is near", "description": "not far"}}
    start_on(folder, ["head\trelation\ttail\tscore\ttext\n", *rows], names, Settings(), graph)


def start_guided(folder: Path) -> None:
    """Start a session with guidelines and reasons, whose cards a phone has to scroll."""
    rows = [f"a{i}\tr\tb{i}\t0.{i}\n" for i in range(1, 9)]
    names = {f"a{i}": {"name": f"a{i}", "description": "word " * 900} for i in range(1, 9)}
    reasons = [("[[it]] is known", "against: two others are likelier")] * len(rows)
    start_on(folder, rows, names, Settings(title="My facts", guidelines=GUIDELINES + "\n\nmore" * 60), evidence=reasons)


def start_odd(folder: Path) -> None:
    """Start a session with hostile names, and with cards of very different lengths."""
    rows = [f"{name}\tr\tb\t0.{number}\n" for number, name in enumerate(HOSTILE, start=1)]
    rows += ["c\ts\td\t0.6\n", "e\ts\tf\t0.7\n"]
    names = {key: {"name": text, "description": text, "types": text} for key, text in HOSTILE.items()}
    names["r"] = {"name": HOSTILE["script"], "description": HOSTILE["long"]}
    names["c"] = {"name": "c", "description": "word " * 900}
    start_on(folder, rows, names, Settings(title=HOSTILE["script"]))


def start_arabic(folder: Path) -> None:
    rows = [f"a\tr\tb{i}\t0.{i}\n" for i in range(9)]
    names = {"a": {"name": "نجيب محفوظ"}, "r": {"name": "مكان"}} | {f"b{i}": {"name": "القاهرة"} for i in range(9)}
    start_on(folder, rows, names, Settings())


SESSIONS = {
    "sample": lambda folder: start_sample(folder, Settings(budget=200)),
    "shared": lambda folder: start_sample(folder, Settings(budget=40, overlap=1.0)),
    "few": lambda folder: start_sample(folder, Settings(budget=5)),
    "guided": start_guided,
    "differing": start_differing,
    "linked": start_linked,
    "odd": start_odd,
    "arabic": start_arabic,
}
"""What starts each session; each is made once and copied."""


@pytest.fixture
def copy_session(build_once, tmp_path) -> Callable[[str], Path]:
    """Return a function that copies one of the sessions by its name."""

    def copy(name: str) -> Path:
        made = build_once(f"session-{name}", lambda folder: SESSIONS[name](folder / "session"))
        return shutil.copytree(made / "session", tmp_path / name)

    return copy


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
    """Wait until the server has every answer and took it, and a card that is there takes answers."""
    page.wait_for_function(
        """() => document.querySelector('#saved[data-waiting="0"][data-refused="0"]')
            && !document.querySelector('#card[data-unread]:not([hidden])')"""
    )


def stop_scrolling(page: Page) -> None:
    """Wait until nothing scrolls any more."""
    page.evaluate(
        """() => new Promise((done) => {
            let [y, still] = [scrollY, 0];
            const look = () => {
                still = scrollY === y ? still + 1 : 0;
                y = scrollY;
                if (still > 8) done(); else requestAnimationFrame(look);
            };
            look();
        })"""
    )


def said(folder: Path) -> list[str]:
    """Return what was answered in a session, oldest first."""
    session = Session(folder)
    lines = [line["answer"] for line in history(session)][::-1]
    session.close()
    return lines
