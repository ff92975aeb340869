"""A hundred thousand machine answers in a session: status, the page's exchange and a refit, with and without them.

Run: python benchmarks/judges/many.py --out benchmarks/judges/many.csv
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.files import write_scored
from actc.data.triples import ScoredTriples
from actc.session import Judgement, Session
from actc.session.cases import open_case
from actc.session.judge import put_reply
from actc.session.machines import Question, Reply
from actc.session.plan import Planner
from actc.session.settings import Settings
from actc.session.start import create_session
from actc.session.status import people, picture, progress
from actc.session.store import Store

PEOPLE = 200


def make_session(folder: Path, count: int) -> tuple[Session, np.ndarray]:
    """Start a session over so many candidates, and let a person judge some."""
    random = np.random.default_rng(0)
    relations = random.integers(50, size=count)
    scores = random.normal(size=count)
    truth = scores + random.normal(size=count) > relations / 25 - 1
    names = [f"r{code}" for code in relations.tolist()]
    pool = ScoredTriples.from_columns([f"h{i}" for i in range(count)], names, ["t"] * count, scores)
    write_scored(folder / "scores.parquet", pool)
    session = create_session(folder / "session", folder / "scores.parquet", Settings(budget=1000))
    ada = session.add_annotator("Ada")
    for number in range(PEOPLE):
        task = session.ask(ada)[0]
        session.record(ada, [Judgement("true" if truth[task.triple] else "false", task.triple, f"k{number}")])
    return session, truth


def judge_all(session: Session, truth: np.ndarray) -> float:
    """Store a machine's answer to every candidate; return the answers a second."""
    store, random = Store(session.store.path, synced=False), np.random.default_rng(1)
    answers, began = truth == (random.random(len(truth)) < 0.85), time.perf_counter()
    for row, yes in enumerate(answers.tolist()):
        with store.transaction() as connection:
            put_reply(connection, "simulated", Question(row, str(row), {}), Reply("true" if yes else "false"))
    return len(answers) / (time.perf_counter() - began)


def median_of(work: Callable[[], Any], times: int = 7) -> float:
    """Return the median time of some work, in milliseconds."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return 1000 * float(np.median(seconds))


def measure(session: Session) -> dict[str, float]:
    """Return what each thing takes, in milliseconds."""
    planner, ada = Planner(session), session.annotator("Ada")
    planner.step()

    def refit() -> None:
        planner.seen = -1, -1
        planner.step()

    return {
        "open": median_of(lambda: Session(session.folder).close()),
        "status": median_of(lambda: (progress(session), people(session), picture(session))),
        "exchange": median_of(lambda: session.ask(ada, 5)),
        "refit": median_of(refit),
    }


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session, truth = make_session(Path(folder), options.count)
        without = measure(session)
        rate = judge_all(session, truth)
        with_judges = measure(session)
        results = median_of(lambda: open_case(session)[0].decisions, 3)
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["what", "candidates", "without", "with", "unit"])
        for name, before in without.items():
            writer.writerow([name, options.count, f"{before:.1f}", f"{with_judges[name]:.1f}", "ms"])
        writer.writerow(["decisions", options.count, "", f"{results:.1f}", "ms"])
        writer.writerow(["stored", options.count, "", f"{rate:.0f}", "answers a second"])


if __name__ == "__main__":
    main()
