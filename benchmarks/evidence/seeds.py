"""The same answer from every seed? What is accepted without any answer, by holdouts of different seeds.

Run: python benchmarks/evidence/seeds.py umls nations wn18rr --graphs FOLDER --out benchmarks/evidence/seeds.csv
     python benchmarks/evidence/families.py families unequal --out WORLDS, and the same with --graphs WORLDS
FOLDER/GRAPH has train, valid and test; the graph is train and valid, what is hidden is test. Accepted is what is
likelier than not. ``cpu_seconds`` are those of the weighing alone.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from pathlib import Path

from rules import judge, read_split

from actc.evidence.holdouts import score_rules
from actc.evidence.rules import propose_by_rules

FIELDS = (
    "graph", "seed", "candidates", "found_hidden", "expected_share", "true_share", "ap", "best_f1", "accepted",
    "precision", "recall", "f1", "low", "middle", "high", "cpu_seconds",
)  # fmt: skip


def measure(folder: Path, seeds: list[int]) -> Iterator[dict[str, object]]:
    """Weigh what the rules of one graph propose, once for each seed."""
    graph, hidden = read_split(folder)
    proposed, rules = propose_by_rules(graph)
    true = hidden.contains(proposed)
    same = {"graph": folder.name, "candidates": len(proposed), "found_hidden": true.sum() / len(hidden)}
    for seed in seeds:
        begun = time.process_time()
        found = score_rules(graph, proposed, rules, seed=seed)
        used, log_odds = time.process_time() - begun, found.scored.scores
        expected = dict(zip(("low", "middle", "high"), found.precision, strict=True))
        row = {**same, "seed": seed, "expected_share": found.share, "true_share": true.mean(), **expected}
        yield row | judge(log_odds, log_odds > 0, true, len(hidden)) | {"cpu_seconds": used}


def main() -> None:
    """Append a row for each graph and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--graphs", type=Path, required=True, help="a folder with a folder per graph")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    new = not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        for name in options.names:
            for row in measure(options.graphs / name, options.seeds):
                print(row, flush=True)
                writer.writerow({key: f"{one:.4g}" if isinstance(one, float) else one for key, one in row.items()})
                file.flush()


if __name__ == "__main__":
    main()
