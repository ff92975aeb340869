"""Time and memory of `actc evidence` on synthetic graphs: so many facts, as many candidates, learnt and weighed.

    python benchmarks/scale/run_evidence.py 100000 1000000 10000000 --out benchmarks/scale/evidence.csv
    python benchmarks/scale/run_evidence.py 100000 1000000 --engine spark --out benchmarks/scale/evidence.csv

Graphs have 500 relations and heavy-tailed degrees; every twentieth candidate is a fact, and 2,000 of these are the
holdout. Seconds, processor seconds and the peak of memory are those of the command and all processes it starts, reading
and writing Parquet included. `exponent` says how processor seconds grew since the size before.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from actc.data.files import write_scored, write_triples

sys.path.insert(0, str(Path(__file__).parent.parent / "evidence"))
from synthetic import draw_case

HOLDOUT = 2000
TICKS, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
FIELDS = ("engine", "facts", "candidates", "seconds", "cpu_seconds", "exponent", "peak_mb", "written_mb", "load")


def make_files(size: int, folder: Path) -> tuple[int, int]:
    """Write a graph, candidates and a holdout; return how many facts and candidates there are."""
    folder.mkdir(parents=True)
    graph, candidates = draw_case(size)
    write_triples(folder / "graph.parquet", graph.columns())
    write_scored(folder / "candidates.parquet", candidates)
    write_scored(folder / "held.parquet", candidates.take(np.flatnonzero(graph.contains(candidates))[:HOLDOUT]))
    return len(graph), len(candidates)


def processes_of(parent: int) -> dict[int, tuple[float, int]]:
    """Return processor seconds and bytes of memory of a process and all that it started."""
    found: dict[int, tuple[int, float, int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            cells = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        found[int(path.parent.name)] = (int(cells[1]), (int(cells[11]) + int(cells[12])) / TICKS, int(cells[21]) * PAGE)
    tree = {parent}
    while more := {pid for pid, (above, _, _) in found.items() if above in tree} - tree:
        tree |= more
    return {pid: found[pid][1:] for pid in tree & set(found)}


def watch(words: list[str]) -> tuple[float, float, float]:
    """Run a command of actc; return seconds, processor seconds and megabytes at the peak, with all that it starts."""
    used: dict[int, float] = {}
    peak, start = 0, time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "actc.cli.main", *words, "--quiet"])
    while process.poll() is None:
        now = processes_of(process.pid)
        used |= {pid: seconds for pid, (seconds, _) in now.items()}
        peak = max(peak, sum(memory for _, memory in now.values()))
        time.sleep(0.3)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"actc {words[0]} failed")
    return seconds, sum(used.values()), peak / 1e6


def measure(folder: Path, engine: str, memory: str) -> tuple[float, float, float, float]:
    """Run the command; return seconds, processor seconds, megabytes at the peak, megabytes written."""
    out = folder / "out"
    files = [str(folder / f"{name}.parquet") for name in ("graph", "candidates", "held")]
    words = ["evidence", *files[:2], "--holdout", files[2], "--out", str(out), "--engine", engine, "--memory", memory]
    told = watch(words)
    written = sum(part.stat().st_size for part in out.iterdir())
    shutil.rmtree(out)
    return *told, written / 1e6


def growth(out: Path, engine: str, facts: int, used: float) -> float | str:
    """Return how processor seconds grew since the next smaller size that the same engine has a row of."""
    with out.open(encoding="utf-8") if out.exists() else io.StringIO() as file:
        rows = [
            (int(row["facts"]), float(row["cpu_seconds"])) for row in csv.DictReader(file) if row["engine"] == engine
        ]
    smaller = max((row for row in rows if row[0] < facts), default=None)
    return "" if smaller is None else round(math.log(used / smaller[1]) / math.log(facts / smaller[0]), 3)


def main() -> None:
    """Measure every size, and add rows to those that are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--engine", default="duckdb")
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--out", type=Path, default=Path("evidence.csv"))
    options = parser.parse_args()
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as name:
            counts = make_files(size, Path(name) / "case")
            load = os.getloadavg()[0]
            seconds, used, peak, written = measure(Path(name) / "case", options.engine, options.memory)
        power = growth(options.out, options.engine, counts[0], used)
        told = round(seconds, 1), round(used, 1), power, round(peak), round(written), round(load, 1)
        row = (options.engine, *counts, *told)
        print(*row, flush=True)
        is_new = not options.out.exists()
        with options.out.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([FIELDS, row] if is_new else [row])


if __name__ == "__main__":
    main()
