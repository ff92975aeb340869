"""Time and memory of the evidence table on synthetic graphs with heavy-tailed degrees.

Run: python benchmarks/evidence/scale.py 100000 1000000 --out benchmarks/evidence/scale.csv
Each size is so many facts and as many candidates, of 500 relations.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from actc.evidence.table import gather_evidence
from actc.graphs.graph import Graph
from actc.triples import IntArray, ScoredTriples

RELATIONS = 500
FIELDS = ("facts", "candidates", "entities", "seconds", "peak_memory_mb")


def draw_entities(rng: np.random.Generator, count: int, entities: int) -> IntArray:
    """Draw entities so that few have very many facts: degrees fall as the square root of the place."""
    return np.minimum((rng.random(count) ** 2 * entities).astype(np.int64), entities - 1)


def draw_triples(rng: np.random.Generator, count: int, entities: int) -> Graph:
    """Draw triples, each relation between two of twenty kinds of entities."""
    names = tuple(f"e{k:09d}" for k in range(entities)), tuple(f"r{k:03d}" for k in range(RELATIONS))
    relations = np.minimum((rng.random(count) ** 2 * RELATIONS).astype(np.int64), RELATIONS - 1)
    heads, tails = (draw_entities(rng, count, entities // 20) * 20 for _ in range(2))
    graph = Graph(heads + relations % 20, relations, tails + relations * 7 % 20, *names)
    return graph.without_repeats()


def measure(facts: int, memory: str) -> None:
    """Print one row: size, seconds, memory."""
    rng = np.random.default_rng(0)
    entities = max(facts // 10, 1000)
    graph, asked = draw_triples(rng, facts, entities), draw_triples(rng, facts, entities)
    candidates: ScoredTriples = asked.with_scores(rng.normal(size=len(asked)))
    start = time.perf_counter()
    gather_evidence(graph, candidates, memory=memory, progress=lambda *step: print(*step, file=sys.stderr))
    spent = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(len(graph), len(candidates), entities, f"{spent:.1f}", peak)


def main() -> None:
    """Measure every size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=int, nargs="+")
    parser.add_argument("--memory", default="3GB")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.out is None:
        measure(options.facts[0], options.memory)
        return
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for facts in options.facts:
            command = [sys.executable, __file__, str(facts), "--memory", options.memory]
            row = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
