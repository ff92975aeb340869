"""The studio's page of decisions at a million candidates: how long any page of the table takes.

python benchmarks/studio/table.py --candidates 1000000 --out benchmarks/studio/table.csv

Wall time and processor time of each kind of request, medians over requests that differ; the first of each kind is
counted among them. The memory is that of the whole process that answers, less what it had before the table was opened.
"""

from __future__ import annotations

import csv
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
import numpy as np

from actc.data.files import write_scored, write_triples
from actc.data.triples import ScoredTriples
from actc.decide.decision_table import DECISIONS
from actc.session import Session
from actc.session.export import export_session
from actc.session.import_answers import import_judgements
from actc.session.settings import SessionInputs, Settings
from actc.session.start import create_session
from actc.web.studio.decisions import DecisionTable, TableQuery

REPEATS = 15
FIRST = ("Amber", "Birch", "Cedar", "Delta", "Ember", "Fjord", "Grove", "Haven", "Islet", "Jetty", "Knoll", "Ledge")
LAST = ("bridge", "castle", "abbey", "mill", "tower", "harbour", "museum", "station", "church", "market")


def make_session(folder: Path, count: int) -> Path:
    """Make a session with scored candidates of forty relations, names of everything, and fifty answers."""
    random = np.random.default_rng(0)
    entities = max(count // 10, 10)
    ids = np.array([f"Q{at}" for at in range(entities)], dtype=object)
    relations = np.array([f"P{at}" for at in range(40)], dtype=object)
    which = np.minimum(random.geometric(0.1, count) - 1, 39)
    heads = random.permutation(count) % entities
    tails = (heads + 1 + 37 * (np.argsort(np.argsort(heads, kind="stable")) % 10)) % entities  # no triple twice
    logit = random.normal(-1.5, 2, count)
    pool = ScoredTriples.from_columns(ids[heads], relations[which], ids[tails], logit)
    write_scored(folder / "scores.parquet", pool)
    named = [f"{FIRST[at % 12]} {LAST[at // 12 % 10]} {at}" for at in range(entities)]
    names = {"id": [*ids, *relations], "name": [*named, *(f"is related {at} to" for at in range(40))]}
    write_triples(folder / "names.tsv", {name: np.array(column, dtype=object) for name, column in names.items()})
    settings = Settings("pooled", budget=50)
    session = create_session(
        folder / "session", folder / "scores.parquet", settings, SessionInputs([folder / "names.tsv"])
    )
    rows = random.permutation(count)[:50]
    true = random.random(50) < 1 / (1 + np.exp(-logit[rows]))
    write_triples(folder / "labels.tsv", {**pool.take(rows).columns(), "label": true.astype(int)})
    import_judgements(session, folder / "labels.tsv", annotator="Ada")
    session.close()
    return session.folder


def requests(pages: int) -> Iterator[tuple[str, list[TableQuery]]]:
    """Return what is asked: of each kind as many different ones as are timed."""
    numbers = range(REPEATS)
    yield "first page", [TableQuery(part="accepted")] * REPEATS
    yield "first page of all", [TableQuery()] * REPEATS
    yield "first page under a guarantee", [TableQuery(level=0.7, part="accepted")] * REPEATS
    for sort in ("probability", "score", "relation", "by"):
        yield f"sorted by {sort}", [TableQuery(sort=sort, down=bool(at % 2)) for at in numbers]
    yield "one relation", [TableQuery(relation=f"P{at}") for at in numbers]
    yield "people's", [TableQuery(by="person")] * REPEATS
    yield "search: many", [TableQuery(search=LAST[at % 10]) for at in numbers]
    yield "search: one", [TableQuery(search=f"{FIRST[at % 12].lower()} mill {24 + at % 12}") for at in numbers]
    yield "search: none", [TableQuery(search=f"nothing {at}") for at in numbers]
    yield "a page in the middle", [TableQuery(page=pages // 2 + at) for at in numbers]


def timed(ask: Callable[[], object]) -> tuple[float, float]:
    """Return wall and processor milliseconds of a call."""
    start, busy = time.perf_counter(), time.process_time()
    ask()
    return 1000 * (time.perf_counter() - start), 1000 * (time.process_time() - busy)


def memory() -> float:
    """Return how much memory this process has now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def ask(folder: Path, candidates: int) -> list[tuple[str, float, float, float]]:
    """Ask for every kind of page, in a process that has done nothing else; return the times, and its memory."""
    session = Session(folder)
    had, table = memory(), DecisionTable(folder / DECISIONS, session.names)
    kinds: list[tuple[str, list[Callable[[], object]]]] = [
        (what, [lambda look=look: table.page(look) for look in looks]) for what, looks in requests(candidates // 50)
    ]
    kinds.append(("overview", [lambda at=at: table.overview((None, 0.0, 0.7, 0.9)[at % 4]) for at in range(REPEATS)]))
    rows = []
    for what, calls in kinds:
        walls, cpus = zip(*map(timed, calls), strict=True)
        rows.append((what, statistics.median(walls), statistics.median(cpus), max(walls)))
    rows.append(("more memory in the server, MB", memory() - had, 0, 0))
    session.close()
    return rows


def export(folder: Path) -> float:
    """Let an export write the table; return its size in MB."""
    export_session(folder, accepted=folder.parent / "accepted.tsv")
    return (folder / DECISIONS).stat().st_size / 1e6


def elsewhere(work: Callable[..., Any], *values: Any) -> Any:
    """Do something in a process of its own, so that this one stays small: its children begin as large as it is."""
    with ProcessPoolExecutor(1, get_context("spawn")) as other:
        return other.submit(work, *values).result()


@click.command()
@click.option("--candidates", default=1_000_000, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(candidates: int, out: Path) -> None:
    """Make a table and ask for pages of it; write the rows."""
    rows: list[tuple[str, float, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        session = elsewhere(make_session, Path(folder), candidates)
        rows.append(("the file, MB", elsewhere(export, session), 0, 0))
        rows += elsewhere(ask, session, candidates)
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["candidates", "what", "median", "processor", "most"])
        writer.writerows([candidates, what, *(round(value, 1) for value in values)] for what, *values in rows)


if __name__ == "__main__":
    main()
