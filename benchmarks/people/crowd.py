"""Two hundred annotators, an answer every two seconds each, on a million candidates after 50,000 answers.

Every page looks at the picture every two seconds, and the owner's page at everything every two seconds, as they do.
It is the server that is measured: the clients are one thread that does next to nothing, and how much of a core that
takes is in the row. An answer is timed from when it is sent to when the next cards are there.

Run: python -m benchmarks.people.crowd --seconds 300 --out benchmarks/people/crowd.csv
Beside a busy machine: --burn 4, so many processes that do nothing but take the cores.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.people.exchange import add_answers
from benchmarks.people.load import resident_mb
from benchmarks.people.serving import Server, write_candidates

from actc.session import OWNER, Session
from actc.session.settings import Settings
from actc.session.start import create_session
from actc.web.access import Links

EACH = 2.0  # seconds, of answers and of looks
CARDS = 6


@dataclass(frozen=True)
class Crowd:
    """One run; times in milliseconds, memory in MB."""

    candidates: int
    answers_before: int
    annotators: int
    seconds: float
    answers: int
    looks: int
    errors: int
    without_a_card: int
    answer_median: float
    answer_p95: float
    answer_p99: float
    answer_worst: float
    look_p95: float
    owner_p95: float
    memory_first: float
    memory_last: float
    server_cpu_per_second: float
    refits: int
    load_average: float
    clients_cpu_per_second: float
    burning: int = 0


class Line:
    """One connection that is kept open, and as little work for each request as can be: the server is measured."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.headers = f"Host: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: bytes = b"") -> tuple[int, Any]:
        """Send a request; return the status and what came."""
        try:
            if self.streams is None:
                self.streams = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self.streams
            head = f"{method} {path} HTTP/1.1\r\n{self.headers}Content-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            found = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(found.partition(b"content-length:")[2].partition(b"\r\n")[0])
            return int(found[9:12]), json.loads(await reader.readexactly(length))
        except (OSError, ValueError, asyncio.IncompleteReadError):
            await self.close()
            return 0, None

    async def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self.streams is not None:
            writer, self.streams = self.streams[1], None
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


class Judge:
    """Somebody who answers the first card, and looks at the picture."""

    def __init__(self, line: Line) -> None:
        self.line, self.number, self.without, self.have = line, 0, 0, ""
        self.cards: list[dict[str, Any]] = []

    async def answer(self) -> bool:
        """Answer the first card on the table, if there is one, and take the next."""
        said = "true" if self.number % 2 else "false"
        told = [{"answer": said, "triple": card["triple"], "key": f"k{self.number}"} for card in self.cards[:1]]
        self.without += not told and self.number > 0
        self.number += 1
        body = json.dumps({"judgements": told, "cards": CARDS})
        status, content = await self.line.send("POST", "/api/exchange", body.encode())
        self.cards = content["cards"] if status == 200 else []
        return status == 200

    async def look(self) -> bool:
        """Look at the picture, if it is another one."""
        status, content = await self.line.send("GET", f"/api/picture?have={self.have}")
        self.have = content["state"] if status == 200 else ""
        return status == 200


class Person:
    """Does things at a steady pace, whatever the server does, and says how long each took."""

    def __init__(self, *acts: Callable[[], Awaitable[bool]]) -> None:
        self.acts, self.errors = acts, 0
        self.waits: tuple[list[float], ...] = tuple([] for _ in acts)

    async def live(self, begin: float, until: float) -> None:
        """Act in turn, each act once in ``EACH`` seconds."""
        due, number = begin, 0
        while due < until:
            await asyncio.sleep(due - time.monotonic())
            started, act = time.perf_counter(), number % len(self.acts)
            self.errors += not await self.acts[act]()
            self.waits[act].append(time.perf_counter() - started)
            due, number = due + EACH / len(self.acts), number + 1


def prepare(folder: Path, size: int, answers: int, annotators: int) -> list[str]:
    """Start a session and put answers into it; return the annotators' names."""
    write_candidates(folder / "candidates.parquet", size)
    session = create_session(folder / "session", folder / "candidates.parquet", Settings(budget=size, overlap=0.1))
    names = [f"annotator {number}" for number in range(annotators)]
    people = [session.add_annotator(name).id for name in names]
    planned = {row[0] for row in session.store.rows("SELECT triple FROM plan")}
    add_answers(session, (triple for triple in range(size) if triple not in planned), answers, people, 0)
    session.close()
    return names


async def watch(process: int, memory: list[float]) -> None:
    """Write down a process's memory twice a second."""
    while True:
        memory.append(resident_mb(process))
        await asyncio.sleep(0.5)


async def live(judges: list[Judge], owner: Line, seconds: float, process: int) -> tuple[list[Person], list[float]]:
    """Let everybody judge for a while, the owner's page last of all; return them, and the server's memory."""
    await owner.send("GET", "/api/owner")  # what loads on the first request is loaded

    async def oversee() -> bool:
        return (await owner.send("GET", "/api/owner"))[0] == 200

    people = [*(Person(judge.answer, judge.look) for judge in judges), Person(oversee)]
    begin, memory = time.monotonic() + 2, []
    watching = asyncio.create_task(watch(process, memory))
    places = enumerate(people)
    await asyncio.gather(*(one.live(begin + EACH * at / len(people), begin + seconds) for at, one in places))
    watching.cancel()
    for line in (owner, *(judge.line for judge in judges)):
        await line.close()
    return people, memory


@contextmanager
def burning(count: int) -> Iterator[None]:
    """Keep so many processes busy."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def measure(folder: Path, names: list[str], size: int, before: int, seconds: float, burn: int = 0) -> Crowd:
    """Serve the session, let everybody judge for a while, and count."""
    server = Server(folder / "session", names)
    server.start()
    try:
        judges = [Judge(Line(server.port, server.tokens[name])) for name in names]
        owner = Line(server.port, owner_token(folder / "session"))
        busy, own = cpu_seconds(server.process.pid), time.process_time()
        with burning(burn):
            people, memory = asyncio.run(live(judges, owner, seconds, server.process.pid))
            load = os.getloadavg()[0]
        busy, own = cpu_seconds(server.process.pid) - busy, time.process_time() - own
    finally:
        server.stop()
    *crowd, watching = people
    waits = [1000 * np.array([wait for one in crowd for wait in one.waits[act]]) for act in (0, 1)]
    third = max(1, len(memory) // 3)
    session = Session(folder / "session")
    refits = int(session.store.value("SELECT count(*) FROM refit"))
    session.close()
    return Crowd(
        size, before, len(names), seconds, len(waits[0]), len(waits[1]),
        sum(one.errors for one in people), sum(one.without for one in judges),
        *(round(float(np.quantile(waits[0], q)), 1) for q in (0.5, 0.95, 0.99, 1.0)),
        round(float(np.quantile(waits[1], 0.95)), 1),
        round(1000 * float(np.quantile(watching.waits[0], 0.95)), 1),
        round(float(np.mean(memory[:third])), 1),
        round(float(np.mean(memory[-third:])), 1),
        round(busy / seconds, 3),
        refits,
        round(load, 2),
        round(own / seconds, 3),
        burn,
    )  # fmt: skip


def owner_token(folder: Path) -> str:
    """Return the secret part of the owner's link."""
    session = Session(folder)
    token = Links.of(folder).token(session.annotator(OWNER))
    session.close()
    return token


def cpu_seconds(process: int) -> float:
    """Return the processor time that a process has taken."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Run once and add a row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--answers", type=int, default=50_000)
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--burn", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/people/crowd.csv"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names = prepare(Path(folder), options.size, options.answers, options.annotators)
        crowd = measure(Path(folder), names, options.size, options.answers, options.seconds, options.burn)
    new = not options.out.exists()
    with open(options.out, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Crowd)], lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(asdict(crowd))
    print(crowd)


if __name__ == "__main__":
    main()
