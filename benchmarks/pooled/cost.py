"""What does the pooled method cost? Processor time to prepare a pool, and to fit it again and pick the next triple.

    OMP_NUM_THREADS=1 python benchmarks/pooled/cost.py

writes cost.csv, a row for each made-up pool: relations, triples, whether they are lists of answers (five candidates to
each question, of which one in ten is true), and the best of seven times in milliseconds: prepare (of three), and refit
and pick with 11, 101 and 1,001 labels.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from actc.data.answers import Annotations
from actc.data.numeric import sigmoid
from actc.data.triples import ScoredTriples
from actc.methods.named import METHODS
from actc.methods.pooled.features import prepare_pool

HERE = Path(__file__).parent
POOLS = [(50, 20_000, ""), (50, 20_000, "lists"), (50, 1_000_000, ""), (1_000, 20_000, ""), (1_000, 1_000_000, "")]
LABELS = (11, 101, 1001)


def make_pool(relations: int, triples: int, kind: str) -> tuple[ScoredTriples, np.ndarray]:
    """Make up a pool and its labels."""
    random = np.random.default_rng(0)
    questions = triples // 5 if kind else triples
    relation = np.repeat(random.integers(0, relations, questions), triples // questions)
    head = np.repeat(np.arange(questions), triples // questions)
    tail = random.permutation(triples)
    lines = random.normal([-2.0 if kind else 0.0, 1.5, 0.0], [1.0, 0.3, 1.0], (relations, 3))
    scores = random.normal(size=triples) + lines[relation, 2]
    labels = random.random(triples) < sigmoid(lines[relation, 0] + lines[relation, 1] * (scores - lines[relation, 2]))
    columns = {"h": head, "r": relation, "t": tail}
    names = [np.char.add(prefix, codes.astype(str)) for prefix, codes in columns.items()]
    return ScoredTriples.from_columns(*names, scores), labels


def best(call: Callable[[], object], times: int) -> float:
    """Return the least processor time of several calls, in milliseconds."""
    found = []
    for _ in range(times):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return 1000 * min(found)


def measure(relations: int, triples: int, kind: str) -> list[str]:
    """Return a pool's times."""
    pool, labels = make_pool(relations, triples, kind)

    def prepare() -> None:
        prepare_pool.cache_clear()
        prepare_pool(pool)

    times = [best(prepare, 3)]
    order = np.random.default_rng(1).permutation(triples)
    for count in LABELS:
        annotations = Annotations(order[:count], labels[order[:count]])
        times.append(best(lambda a=annotations: METHODS["pooled"].fit(pool, a).pick(1, np.random.default_rng(0)), 7))
    return [f"{one:.1f}" for one in times]


if __name__ == "__main__":
    with (HERE / "cost.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("relations", "triples", "kind", "prepare", *(f"labels_{count}" for count in LABELS)))
        for one in POOLS:
            writer.writerow((*one, *measure(*one)))
            out.flush()
