"""One exchange (an answer in, the next cards and the counts out): does it get slower as answers pile up?

The answers before it are put into the database directly: twenty annotators, a tenth of the triples judged by two, one
in fifty unsure at first and decided by another. No planner runs beside it, and the disk
is synced as in a real session, so ``median_ms`` holds one sync; ``sync_ms`` says what that costs alone, and ``cpu_ms``
what the exchange costs the processor, whoever else uses it.

Run: python -m benchmarks.people.exchange --code after --out benchmarks/people/exchange.csv
To compare two versions in one sitting, run it once with each on PYTHONPATH, ``--code before`` and ``--code after``.
"""

from __future__ import annotations

import argparse
import csv
import os
import sqlite3
import tempfile
import time
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from benchmarks.people.serving import write_candidates

from actc.session import Judgement, Session
from actc.session.settings import Settings
from actc.session.start import create_session
from actc.session.status import progress

ANNOTATORS = 20
CARDS = 6


@dataclass(frozen=True)
class Exchange:
    """Many exchanges after a number of stored answers."""

    code: str
    candidates: int
    answers: int
    exchanges: int
    median_ms: float
    p95_ms: float
    worst_ms: float
    cpu_ms: float
    sync_ms: float
    load_average: float


def measure(code: str, folder: Path, candidates: int, sizes: list[int], exchanges: int) -> list[Exchange]:
    """Let the history of one session grow from size to size, and time exchanges after each."""
    write_candidates(folder / "candidates.parquet", candidates)
    settings = Settings("actc-lr-rndm", budget=candidates, overlap=0.1)
    session = create_session(folder / "session", folder / "candidates.parquet", settings)
    people = [session.add_annotator(f"annotator {number}") for number in range(ANNOTATORS)]
    store = folder / "session" / "session.sqlite"
    with closing(sqlite3.connect(store)) as connection:
        planned = {row[0] for row in connection.execute("SELECT triple FROM plan")}
    free = (triple for triple in range(candidates) if triple not in planned)
    found, stored = [], 0
    for size in sizes:
        stored += add_answers(session, free, size - stored, [one.id for one in people], stored)
        found.append(time_exchanges(code, session, candidates, size, exchanges, people))
        stored = session.store.value("SELECT count(*) FROM answer")
    session.close()
    return found


def add_answers(session: Session, free, count: int, people: list[int], start: int) -> int:
    """Put answers into the history as if people had given them; return how many."""
    rng = np.random.default_rng(start)
    tasks, judgements, answers = [], [], []
    with session.store.transaction() as connection:
        number = connection.execute("SELECT coalesce(max(id), 0) FROM judgement").fetchone()[0]
        while len(answers) < count:
            triple, unsure, shared = next(free), rng.random() < 0.02, rng.random() < 0.1
            tasks.append((triple, f"e{triple}", "r0", "e1", 0.0, "Stored beforehand.", 1 + shared))
            who = rng.choice(people, 1 + (shared or unsure), replace=False).tolist()
            for place, annotator in enumerate(who):
                label = None if unsure and place == 0 else int(rng.random() < 0.5)
                said = "unsure" if label is None else ("false", "true")[label]
                number += 1
                judgements.append((number, 0.0, annotator, triple, said, "shared" if place else "new", f"s{number}"))
                answers.append((triple, annotator, label, number))
        task = "INSERT INTO task (triple, head, relation, tail, score, reason, wanted) VALUES (?, ?, ?, ?, ?, ?, ?)"
        connection.executemany(task, tasks)
        connection.executemany(
            "INSERT INTO judgement (id, at, annotator, triple, answer, purpose, key, note, shown) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, '', '{}')",
            judgements,
        )
        connection.executemany("INSERT INTO answer (triple, annotator, label, judgement) VALUES (?, ?, ?, ?)", answers)
    return len(answers)


def time_exchanges(code: str, session: Session, candidates: int, answers: int, exchanges: int, people) -> Exchange:
    """Let everybody answer in turn; a first round warms up and is not counted."""
    times, processor = [], []
    for number in range(exchanges + len(people)):
        one = people[number % len(people)]
        cards = session.ask(one, CARDS)
        judgement = Judgement("true" if number % 2 else "false", cards[0].triple, f"x{answers}-{number}")
        started, busy = time.perf_counter(), time.process_time()
        session.exchange(one, [judgement], CARDS)
        progress(session, one)
        times.append(1000 * (time.perf_counter() - started))
        processor.append(1000 * (time.process_time() - busy))
    counted = np.array(times[len(people) :])
    shown = (round(float(np.quantile(counted, q)), 2) for q in (0.5, 0.95, 1.0))
    cpu = round(float(np.median(processor[len(people) :])), 2)
    load = round(os.getloadavg()[0], 2)
    return Exchange(code, candidates, answers, exchanges, *shown, cpu, round(time_sync(session), 2), load)


def time_sync(session: Session, times: int = 50) -> float:
    """Return the median milliseconds of a transaction that changes next to nothing."""
    waits = []
    for _ in range(times):
        started = time.perf_counter()
        session.change({"budget": session.settings.budget})
        waits.append(1000 * (time.perf_counter() - started))
    return float(np.median(waits))


def main() -> None:
    """Measure and add rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--code", required=True, help="What to call the version that is measured.")
    parser.add_argument("--candidates", type=int, default=1_000_000)
    parser.add_argument("--answers", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--exchanges", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/people/exchange.csv"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(options.code, Path(folder), options.candidates, options.answers, options.exchanges)
    new = not options.out.exists()
    with open(options.out, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Exchange)], lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(map(asdict, rows))
    print(*rows, sep="\n")


if __name__ == "__main__":
    main()
