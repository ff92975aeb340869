"""Time and memory of the evidence table on synthetic graphs with heavy-tailed degrees, written to Parquet.

Run: python benchmarks/evidence/scale.py 100000 1000000 10000000 --out benchmarks/evidence/scale.csv
Each size is so many facts and as many candidates, of 500 relations; every size is looked at under the same limits,
those of ten million candidates. With --default-limits, under those that so many candidates get by themselves.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from actc.evidence.plan import Limits
from actc.evidence.write_table import write_evidence
from actc.graphs.graph import Graph
from actc.triples import IntArray, ScoredTriples

RELATIONS = 500
KINDS = 20
KNOWN_SHARE = 0.05  # of the candidates that are facts themselves
FIELDS = ("facts", "candidates", "entities", "limits", "wall_seconds", "cpu_seconds", "peak_memory_mb", "written_mb")


def draw_entities(rng: np.random.Generator, count: int, entities: int, power: int) -> IntArray:
    """Draw entities so that few have very many facts: the degree at place p falls as p ** (1 / power - 1)."""
    return np.minimum((rng.random(count) ** power * entities).astype(np.int64), entities - 1)


def draw_triples(rng: np.random.Generator, count: int, entities: int) -> Graph:
    """Draw triples, each relation between two of twenty kinds of entities; tails have the greater hubs."""
    names = tuple(f"e{k:09d}" for k in range(entities)), tuple(f"r{k:03d}" for k in range(RELATIONS))
    relations = np.minimum((rng.random(count) ** 2 * RELATIONS).astype(np.int64), RELATIONS - 1)
    heads, tails = (draw_entities(rng, count, entities // KINDS, power) * KINDS for power in (2, 3))
    return Graph(heads + relations % KINDS, relations, tails + relations * 7 % KINDS, *names).unique()


def draw_case(facts: int) -> tuple[Graph, ScoredTriples]:
    """Draw a graph and its candidates, some of which it holds."""
    rng = np.random.default_rng(0)
    entities = max(facts // 10, 1000)
    graph, other = draw_triples(rng, facts, entities), draw_triples(rng, facts, entities)
    known = graph.take(rng.choice(len(graph), int(KNOWN_SHARE * facts), replace=False))
    asked = Graph.of(known.union(other.take(np.arange(len(other) - len(known)))))
    asked = asked.take(rng.permutation(len(asked)))
    return graph, asked.with_scores(rng.normal(size=len(asked)))


def measure(facts: int, memory: str, limits: Limits | None) -> None:
    """Print one row: size, seconds, memory."""
    graph, candidates = draw_case(facts)
    before, start = time.process_time(), time.perf_counter()
    step = [before, start]

    def tell(done: int, total: int, name: str) -> None:
        now = [time.process_time(), time.perf_counter()]
        spent = [f"{after - earlier:.1f}" for after, earlier in zip(now, step, strict=True)]
        step[:] = now
        print(f"{done}/{total} {name}: {spent[0]} s of CPU, {spent[1]} s", file=sys.stderr)

    with tempfile.TemporaryDirectory() as folder:
        out = write_evidence(graph, candidates, Path(folder) / "rows", limits=limits, memory=memory, progress=tell)
        written = sum(part.stat().st_size for part in out.iterdir()) // 2**20
    spent = f"{time.perf_counter() - start:.1f}", f"{time.process_time() - before:.1f}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    kind = "default" if limits is None else "same"
    print(len(graph), len(candidates), len(graph.entity_names), kind, *spent, peak, written)


def main() -> None:
    """Measure every size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=int, nargs="+")
    parser.add_argument("--memory", default="2GB", help="of the database; Python's own comes on top")
    parser.add_argument("--default-limits", action="store_true")
    parser.add_argument("--out", type=Path, help="rows are added to those that are there")
    options = parser.parse_args()
    if options.out is None:
        measure(options.facts[0], options.memory, None if options.default_limits else Limits.for_count(10_000_000))
        return
    new = not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([FIELDS] if new else [])
        for facts in options.facts:
            command = [sys.executable, __file__, str(facts), "--memory", options.memory]
            command += ["--default-limits"] if options.default_limits else []
            row = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
