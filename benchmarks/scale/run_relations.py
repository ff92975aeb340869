"""Time and memory of `actc start` and `actc calibrate` on a pool with as many relations as candidates.

    python benchmarks/scale/run_relations.py 1000 100000 --out benchmarks/scale/relations.csv

Each candidate has a relation of its own; 200 of them have an answer. Seconds, processor seconds and the peak of memory
are those of the command and all processes it starts.
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
from pathlib import Path

import numpy as np
from run_evidence import watch

from actc.data.files import write_triples

FIELDS = ("command", "relations", "seconds", "cpu_seconds", "peak_mb", "load")
ANSWERS = 200


def make_files(relations: int, folder: Path) -> None:
    """Write a pool and answers."""
    random, rows = np.random.default_rng(0), np.arange(relations)
    pool = {
        "head": np.array([f"h{row % 5000}" for row in rows], dtype=object),
        "relation": np.array([f"r{row}" for row in rows], dtype=object),
        "tail": np.array([f"t{7 * row % 5000}" for row in rows], dtype=object),
    }
    write_triples(folder / "scores.tsv", {**pool, "score": random.normal(size=relations).round(6)})
    chosen = random.choice(relations, ANSWERS, replace=False)
    answers = {name: column[chosen] for name, column in pool.items()}
    write_triples(folder / "labels.tsv", {**answers, "label": random.integers(0, 2, ANSWERS)})


def main() -> None:
    """Measure every size, and add rows to those that are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("relations.csv"))
    options = parser.parse_args()
    is_new = not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerows([FIELDS] if is_new else [])
        for size in options.sizes:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                make_files(size, folder)
                scores, labels, out = (str(folder / one) for one in ("scores.tsv", "labels.tsv", "thresholds.json"))
                lines = {
                    "start": [str(folder / "session"), scores],
                    "calibrate": [scores, "--labels", labels, "--out", out],
                }
                for command, words in lines.items():
                    load = round(os.getloadavg()[0], 1)
                    seconds, used, peak = watch([command, *words])
                    row = command, size, round(seconds, 1), round(used, 1), round(peak), load
                    print(*row, flush=True)
                    rows.writerow(row)


if __name__ == "__main__":
    main()
