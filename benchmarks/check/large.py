"""Time and memory of checking synthetic graphs, those of benchmarks/evidence/synthetic.py.

Run: python benchmarks/check/large.py 100000 1000000 --out benchmarks/check/large.csv
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

from actc.complete.doubt import doubt_facts

sys.path.insert(0, str(Path(__file__).parent.parent / "evidence"))
from synthetic import draw_triples

FIELDS = ("facts", "wall_seconds", "cpu_seconds", "peak_memory_mb")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.out is None:
        run_size(args.sizes[0])
        return
    with args.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for size in args.sizes:  # each in a process of its own: peak memory is that of a process
            told = subprocess.run([sys.executable, __file__, str(size)], capture_output=True, text=True, check=True)
            writer.writerow(told.stdout.split())
            file.flush()


def run_size(size: int) -> None:
    """Check one graph, and print its row."""
    graph = draw_triples(np.random.default_rng(0), size, max(size // 10, 1000))
    started, used = time.perf_counter(), time.process_time()
    doubt_facts(graph)
    wall, cpu = time.perf_counter() - started, time.process_time() - used
    print(len(graph), round(wall, 1), round(cpu, 1), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


if __name__ == "__main__":
    main()
