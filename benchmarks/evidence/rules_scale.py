"""Time and memory of rules and evidence on synthetic, heavy-tailed graphs with planted rules.

Run: python benchmarks/evidence/rules_scale.py 100000 1000000 --out benchmarks/evidence/rules_scale.csv
Facts are drawn as in synthetic.py; those of every fifth relation hold in a second one too (implied), or backwards in
one (inverse). Of all facts 15% are hidden; the hidden ones that follow from others are what rules should find.
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

from actc.evidence.holdouts import score_rules
from actc.evidence.rules import propose_by_rules
from actc.graph.graph import Graph
from synthetic import draw_triples

FIELDS = ("facts", "entities", "candidates", "found_planted", "accepted_planted", "accepted", "hub", "propose_seconds",
          "seconds", "cpu_seconds", "peak_memory_mb")  # fmt: skip
KNOWN = 0.85


def plant(count: int, random: np.random.Generator) -> tuple[Graph, Graph]:
    """Return a graph of about ``count`` facts, and the planted facts that it does not hold."""
    drawn = draw_triples(random, count, count // 5).unique()
    drawn = drawn.take(drawn.heads != drawn.tails)
    chosen, back = drawn.relations % 5 == 0, drawn.relations % 10 == 0
    heads, tails = np.where(back, drawn.tails, drawn.heads)[chosen], np.where(back, drawn.heads, drawn.tails)[chosen]
    relations = (drawn.relations + np.where(back, 1, 2))[chosen]
    follows = Graph(heads, relations, tails, drawn.entity_names, drawn.relation_names).unique()
    whole = Graph.of(drawn.union(follows))
    known = random.random(len(whole)) < KNOWN
    hidden = whole.take(~known)
    return whole.take(known), hidden.take(follows.contains(hidden))


def measure(count: int) -> dict[str, object]:
    """Propose and weigh; return a row."""
    graph, hidden = plant(count, np.random.default_rng(0))
    begun, used = time.perf_counter(), time.process_time()
    proposed, rules = propose_by_rules(graph)
    between = time.perf_counter() - begun
    accepted = score_rules(graph, proposed, rules).scored.scores > 0
    true = hidden.contains(proposed)
    values = (
        len(graph), len(graph.entity_names), len(proposed), round(true.sum() / len(hidden), 4),
        round((true & accepted).sum() / len(hidden), 4), int(accepted.sum()), rules.hub, round(between, 1),
        round(time.perf_counter() - begun, 1), round(time.process_time() - used, 1),
        round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
    )  # fmt: skip
    return dict(zip(FIELDS, values, strict=True))


def main() -> None:
    """Append one row per size, each measured in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=int, nargs="+")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.out is None:
        csv.DictWriter(sys.stdout, FIELDS).writerow(measure(options.facts[0]))
        return
    new = not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file:
        if new:
            csv.writer(file).writerow(FIELDS)
        for count in options.facts:
            run = subprocess.run([sys.executable, __file__, str(count)], stdout=subprocess.PIPE, text=True, check=True)
            file.write(run.stdout.splitlines()[-1] + "\n")
            file.flush()


if __name__ == "__main__":
    main()
