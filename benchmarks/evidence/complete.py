"""The whole way, by `actc complete`: how many of the hidden facts are found, and does the promise hold?

The graph is train and valid, the oracle all three files. UMLS and Nations are closed worlds. In FB15k-237 and WN18RR
whatever the three files do not list counts as false, though much of it is true: those rows are about time and memory.

Run: python benchmarks/evidence/complete.py --graphs FOLDER --out benchmarks/evidence/complete.csv umls nations
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from actc.graphs.formats import read_graph
from actc.graphs.graph import Graph
from actc.tables.files import read_scored, write_triples

FIELDS = ("graph", "evidence", "seed", "answers", "candidates", "share_true", "accepted", "precision", "found", "f1",
          "low", "middle", "high", "holds", "seconds", "cpu_seconds", "peak_memory_mb", "load")  # fmt: skip


def write_task(folder: Path, out: Path) -> tuple[Graph, Graph]:
    """Write graph.tsv and truth.tsv; return the graph and all that is true."""
    parts = [read_graph(next(folder.glob(f"{name}.tsv*"))) for name in ("train", "valid", "test")]
    known = Graph.of(parts[0].union(parts[1]))
    truth = Graph.of(known.union(parts[2]))
    write_triples(out / "graph.tsv", known.columns())
    write_triples(out / "truth.tsv", truth.columns())
    return known, truth


def measure(folder: Path, options: list[str], seed: int) -> dict[str, object]:
    """Run `actc complete` once and hold it to the truth."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        known, truth = write_task(folder, out)
        command = [sys.executable, "-m", "actc.cli.main", "complete", "graph.tsv", "--oracle", "truth.tsv"]
        started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        asked = [*command, "--budget", "100", "--seed", str(seed), "--out", "better", *options]
        subprocess.run(asked, cwd=out, check=True)
        seconds = time.perf_counter() - started
        report = json.loads((out / "better" / "report.json").read_text(encoding="utf-8"))
        accepted = read_graph(out / "better" / "accepted.tsv") if report["accepted"] else known.take(np.arange(0))
        candidates = read_scored(out / "better" / "candidates.parquet")[0]
        true, hidden = int(truth.contains(accepted).sum()), len(truth) - len(known)
        share = truth.contains(Graph.of(candidates)).mean()
    low, middle, high = report["accepted_precision"] or (0.0, 0.0, 0.0)
    precision = true / max(len(accepted), 1)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    figures = (precision, true / hidden, 2 * true / (len(accepted) + hidden), low, middle, high)
    values = [folder.name, report["evidence"] is not None, seed, report["judged"], len(candidates), f"{share:.4f}",
              len(accepted), *(f"{figure:.3f}" for figure in figures), low <= precision <= high,
              f"{seconds:.0f}", f"{cpu:.0f}", used.ru_maxrss // 1024, f"{os.getloadavg()[0]:.0f}"]  # fmt: skip
    print(*values, flush=True)
    return dict(zip(FIELDS, values, strict=True))


def main() -> None:
    """Append one row per graph and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--graphs", type=Path, required=True, help="a folder with a folder per graph")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--options", default="", help="for `actc complete`, such as '--no-evidence'")
    options = parser.parse_args()
    new = not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        for name in options.names:
            for seed in range(options.seeds):
                writer.writerow(measure(options.graphs / name, options.options.split(), seed))
                file.flush()


if __name__ == "__main__":
    main()
