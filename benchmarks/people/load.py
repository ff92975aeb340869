"""Twenty annotators at two judgements a second on a million candidates: how long until each is acknowledged?

Run: python -m benchmarks.people.load --seconds 120 --stored 100000 --out benchmarks/people/load.csv
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from benchmarks.people.exchange import add_answers
from benchmarks.people.serving import Client, Server, write_candidates

from actc.session import Session
from actc.session.settings import Settings
from actc.session.start import create_session


@dataclass(frozen=True)
class Load:
    """One run."""

    candidates: int
    stored: int
    annotators: int
    seconds: float
    judgements: int
    errors: int
    starved: int
    median_ms: float
    p95_ms: float
    p99_ms: float
    worst_ms: float
    memory_first_mb: float
    memory_last_mb: float
    refits: int
    load_average: float


class Annotator(threading.Thread):
    """Somebody who judges at a steady pace, whatever the server does."""

    def __init__(self, client: Client, name: str, until: float, each: float) -> None:
        super().__init__(name=name, daemon=True)
        self.client, self.until, self.each = client, until, each
        self.waits: list[float] = []
        self.errors = self.starved = 0

    def run(self) -> None:
        """Answer the first card, as often as the pace says."""
        cards = self.client.exchange([], 6)[1]["cards"]
        number = 0
        due = time.monotonic() + self.each * (hash(self.name) % 100) / 100
        while due < self.until:
            time.sleep(max(0.0, due - time.monotonic()))
            due += self.each
            if not cards:
                self.starved += 1
                cards = self.client.exchange([], 6)[1]["cards"]
                continue
            number += 1
            judgement = {"answer": "true" if number % 2 else "false", "triple": cards[0]["triple"], "key": f"k{number}"}
            started = time.perf_counter()
            status, content = self.client.exchange([judgement], 6)
            self.waits.append(time.perf_counter() - started)
            self.errors += status != 200
            cards = content["cards"] if status == 200 else cards[1:]
            if number % 4 == 0:  # the page looks every two seconds
                self.errors += self.client.picture()[0] != 200
        self.client.close()


def run_load(folder: Path, size: int, stored: int, annotators: int, seconds: float, each: float = 0.5) -> Load:
    """Start a session on ``size`` candidates with ``stored`` answers, and let people judge."""
    write_candidates(folder / "candidates.parquet", size)
    settings = Settings(budget=size, overlap=0.1)
    create_session(folder / "session", folder / "candidates.parquet", settings).close()
    names = [f"annotator {number}" for number in range(annotators)]
    store_answers(folder / "session", names, size, stored)
    server = Server(folder / "session", names)
    server.start()
    try:
        return measure(server, folder / "session", size, stored, names, seconds, each)
    finally:
        server.stop()


def store_answers(folder: Path, names: list[str], size: int, count: int) -> None:
    """Put answers into a session as if people had given them before."""
    session = Session(folder)
    people = [session.add_annotator(name).id for name in names]
    planned = {row["triple"] for row in session.store.rows("SELECT triple FROM plan")}
    free = (triple for triple in range(size) if triple not in planned)
    add_answers(session, free, count, people, 0)
    session.close()


def measure(
    server: Server, folder: Path, size: int, stored: int, names: list[str], seconds: float, each: float
) -> Load:
    """Let everybody judge for a while, and count."""
    first = Client(server.port, server.tokens[names[0]])
    first.exchange([], 1)  # what loads on the first request is loaded
    first.close()
    until = time.monotonic() + seconds
    people = [Annotator(Client(server.port, server.tokens[name]), name, until, each) for name in names]
    for one in people:
        one.start()
    memory = []
    while any(one.is_alive() for one in people):
        memory.append(resident_mb(server.process.pid))
        time.sleep(0.5)
    waits = 1000 * np.array([wait for one in people for wait in one.waits])
    third = max(1, len(memory) // 3)
    session = Session(folder)
    refits = int(session.store.value("SELECT count(*) FROM refit"))
    session.close()
    return Load(
        size,
        stored,
        len(names),
        seconds,
        len(waits),
        sum(one.errors for one in people),
        sum(one.starved for one in people),
        *(round(float(np.quantile(waits, q)), 2) for q in (0.5, 0.95, 0.99, 1.0)),
        round(float(np.mean(memory[:third])), 1),
        round(float(np.mean(memory[-third:])), 1),
        refits,
        round(os.getloadavg()[0], 2),
    )


def resident_mb(process: int) -> float:
    """Return the memory that a process holds, in MB; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def main() -> None:
    """Run once and add a row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--stored", type=int, default=0)
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/people/load.csv"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load = run_load(Path(folder), options.size, options.stored, options.annotators, options.seconds)
    new = not options.out.exists()
    with open(options.out, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Load)], lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(asdict(load))
    print(load)


if __name__ == "__main__":
    main()
