"""How long does it take to make a table of a million named triples, and to find each of them in it?

    python benchmarks/speed/tables.py

writes tables.csv: rows, entities, what, seconds, plain_seconds (the best of several, by turns, in one run).
The plain way is a Python dict over the names, a look-up for each cell and a sort of all keys with their rows.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from actc import ScoredTriples

HERE = Path(__file__).parent
TURNS = 3
Columns = tuple[list[str], list[str], list[str]]


def draw_columns(rows: int, entities: int) -> Columns:
    """Draw distinct triples: names of entities and of 50 relations."""
    random = np.random.default_rng(0)
    heads, tails = (random.integers(0, entities, rows).tolist() for _ in range(2))
    relations = random.integers(0, 50, rows).tolist()
    distinct = dict.fromkeys(zip(heads, relations, tails, strict=True))
    return [f"Q{h}" for h, _, _ in distinct], [f"P{r}" for _, r, _ in distinct], [f"Q{t}" for _, _, t in distinct]


def plain_keys(heads: list[str], relations: list[str], tails: list[str], names: list[dict[str, int]]) -> np.ndarray:
    """Return a key per triple by one look-up per cell."""
    columns = zip((heads, relations, tails), (names[0], names[1], names[0]), strict=True)
    head, relation, tail = (
        np.fromiter((places.get(name, -1) for name in column), dtype=np.int64, count=len(column))
        for column, places in columns
    )
    return (head * len(names[1]) + relation) * len(names[0]) + tail


def plain_table(heads: list[str], relations: list[str], tails: list[str]) -> tuple[list[dict[str, int]], np.ndarray]:
    """Encode with a dict and look for repeats."""
    names = [
        {name: code for code, name in enumerate(sorted(dict.fromkeys(column)))} for column in (heads + tails, relations)
    ]
    keys = plain_keys(heads, relations, tails, names)
    order = np.lexsort((np.arange(len(keys)), keys))
    assert (np.diff(keys[order]) != 0).all()
    return names, keys


def plain_find(table: tuple[list[dict[str, int]], np.ndarray], columns: Columns) -> np.ndarray:
    """Find each triple by its key."""
    own = table[1]
    names = [dict(zip(places, range(len(places)), strict=True)) for places in table[0]]
    order = np.argsort(own)
    return order[np.searchsorted(own, plain_keys(*columns, names), sorter=order)]


def time_by_turns(*ways: Callable[[], object]) -> list[float]:
    """Return the best seconds of each way."""
    best = [np.inf] * len(ways)
    for _ in range(TURNS):
        for at, way in enumerate(ways):
            start = perf_counter()
            way()
            best[at] = min(best[at], perf_counter() - start)
    return best


def time_cell(entities: int) -> dict[tuple[int, int, str], list[float]]:
    """Time making and finding, our way and the plain way; both must find the same."""
    columns = draw_columns(1_000_000, entities)
    scores = np.zeros(len(columns[0]))
    table, plain = ScoredTriples.from_columns(*columns, scores), plain_table(*columns)
    assert (table.find(*columns) == plain_find(plain, columns)).all()
    size = len(scores), len(table.entity_names)
    making = (lambda: ScoredTriples.from_columns(*columns, scores), lambda: plain_table(*columns))
    # A new table each time, for a table keeps its sorted keys.
    finding = (lambda: table.with_scores(scores).find(*columns), lambda: plain_find(plain, columns))
    return {(*size, "from_columns"): time_by_turns(*making), (*size, "find"): time_by_turns(*finding)}


def main() -> None:
    """Time few entities and many."""
    with (HERE / "tables.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(("rows", "entities", "what", "seconds", "plain_seconds"))
        for entities in (100_000, 1_000_000):
            for cell, seconds in time_cell(entities).items():
                csv.writer(file).writerow((*cell, *(f"{one:.2f}" for one in seconds)))
                file.flush()


if __name__ == "__main__":
    main()
