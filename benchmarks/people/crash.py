"""Kill the server at random moments under writing clients, and look whether every acknowledged judgement is there.

Run: python -m benchmarks.people.crash --rounds 100 --out benchmarks/people/crash.csv
Two hundred people: --annotators 200 --rounds 10 --longest 25 --out benchmarks/people/crash-200.csv
"""

from __future__ import annotations

import argparse
import csv
import http.client
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from benchmarks.people.serving import Client, Server, write_candidates

from actc.session import Session
from actc.session.settings import Settings
from actc.session.start import create_session


@dataclass(frozen=True)
class Round:
    """What was found after one kill."""

    round: int
    alive_seconds: float
    acknowledged: int
    stored: int
    lost: int
    doubled: int


class Writer(threading.Thread):
    """An annotator who answers, undoes and skips as fast as the server goes, and resends what was not acknowledged."""

    def __init__(self, server: Server, name: str, ending: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.server, self.ending = server, ending
        self.random = random.Random(name)
        self.acknowledged: list[str] = []
        self.unexpected: list[str] = []

    def run(self) -> None:
        """Work until told to end; a judgement in doubt is sent again under the same key."""
        client, number, cards, doubt = Client(self.server.port, self.server.tokens[self.name]), 0, [], None
        while not self.ending.is_set():
            if doubt is None and (cards or self.random.random() < 0.3):
                number += 1
                weights = [5, 3, 1, 2] if cards else [0, 0, 0, 1]
                said = self.random.choices(["true", "false", "unsure", "undo"], weights)[0]
                doubt = {"answer": said, "key": f"{self.name}-{number}"}
                if said != "undo":
                    doubt["triple"] = cards[0]["triple"]
            try:
                status, content = client.exchange([doubt] if doubt else [], 3)
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.02)
                continue
            if status == 200 and doubt is not None:
                self.acknowledged.append(doubt["key"])
            elif status not in (200, 409):
                self.unexpected.append(f"{status} {content}")
            doubt = None
            cards = content["cards"] if status == 200 else cards[1:]
            if not cards:
                time.sleep(0.05)
        client.close()


def run_rounds(folder: Path, rounds: int, annotators: int, longest: float) -> Iterator[Round]:
    """Start, let clients write, kill, check; again and again over the same session."""
    size, names = max(20_000, 300 * annotators), [f"p{number}" for number in range(annotators)]
    write_candidates(folder / "candidates.parquet", size)
    settings = Settings(budget=size, overlap=0.2)
    create_session(folder / "session", folder / "candidates.parquet", settings).close()
    server, ending, draw = Server(folder / "session", names), threading.Event(), random.Random(0)
    server.start()
    writers = [Writer(server, name, ending) for name in names]
    for writer in writers:
        writer.start()
    for number in range(1, rounds + 1):
        alive = draw.uniform(0.05, longest)
        time.sleep(alive)
        server.kill()
        time.sleep(0.1)  # answers that were on the wire are read by the clients
        yield check(folder / "session", number, alive, writers)
        server.start()
    ending.set()
    server.stop()
    for writer in writers:
        writer.join(10)
        if writer.unexpected:
            raise RuntimeError(writer.unexpected[0])


def check(folder: Path, number: int, alive: float, writers: list[Writer]) -> Round:
    """Open the session as it was left, and compare it with what the clients were told."""
    acknowledged = [key for writer in writers for key in list(writer.acknowledged)]
    session = Session(folder)
    stored = Counter(row["key"] for row in session.store.rows("SELECT key FROM judgement"))
    standing_twice = session.store.value(
        "SELECT count(*) FROM (SELECT 1 FROM judgement AS j LEFT JOIN judgement AS u ON u.undoes = j.id "
        "WHERE j.answer IN ('true', 'false') AND u.id IS NULL "
        "GROUP BY j.annotator, j.triple HAVING count(*) > 1)"
    )
    session.close()
    lost = sum(key not in stored for key in acknowledged)
    doubled = sum(count > 1 for count in stored.values()) + int(standing_twice)
    return Round(number, round(alive, 3), len(acknowledged), sum(stored.values()), lost, doubled)


def main() -> None:
    """Run the rounds and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/people/crash.csv"))
    parser.add_argument("--annotators", type=int, default=4)
    parser.add_argument("--longest", type=float, default=3.0, help="Seconds until a kill at most.")
    options = parser.parse_args()
    found: list[Round] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        open(options.out, "w", newline="", encoding="utf-8", buffering=1) as file,
    ):
        writer = csv.DictWriter(file, [field.name for field in fields(Round)], lineterminator="\n")
        writer.writeheader()
        for one in run_rounds(Path(folder), options.rounds, options.annotators, options.longest):
            writer.writerow(asdict(one))
            found.append(one)
    print(
        f"{len(found)} kills, {found[-1].acknowledged} acknowledged judgements, {sum(one.lost for one in found)} lost, "
        f"{sum(one.doubled for one in found)} doubled"
    )


if __name__ == "__main__":
    main()
