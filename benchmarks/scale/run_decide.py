"""Measure `decide` against a bare copy of the same files: time and peak memory, each run in a process of its own.

    python benchmarks/scale/run_decide.py --rows 2e6,20e6 --folder /tmp/candidates --out benchmarks/scale/decide.csv

The bare copy is DuckDB's `COPY (SELECT ... WHERE score >= constant)`, accepting as many rows, with the same memory.
Runs take turns, so that a busy machine is busy for all. Rows already in the file are kept.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
from make_candidates import make_candidates, make_curves, make_thresholds, same_share_cut

from actc.decide.decide_candidates import decide_candidates

FIELDS = ("rows", "relations", "what", "run", "seconds", "cpu_seconds", "peak_mb", "accepted")
MEMORY = "1GB"


def copy_bare(folder: Path, out: Path) -> int:
    """Copy the candidates above one constant, doing nothing else."""
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit='850MB'; SET preserve_insertion_order=false")
        cut = float(os.environ["CUT"])
        columns = "head, relation, tail, score"
        query = f"SELECT {columns} FROM read_parquet('{folder}/*.parquet') WHERE score >= {cut!r}"
        return int(connection.execute(f"COPY ({query}) TO '{out}.parquet' (FORMAT parquet)").fetchall()[0][0])


def decide_file(folder: Path, out: Path) -> int:
    """Decide into one file."""
    return int(decide_candidates(make_thresholds(), folder, out.with_suffix(".parquet"), memory=MEMORY).accepted.sum())


def decide_folder(folder: Path, out: Path) -> int:
    """Decide into a folder of parts."""
    return int(decide_candidates(make_thresholds(), folder, out, memory=MEMORY).accepted.sum())


def decide_probable(folder: Path, out: Path) -> int:
    """Decide into a folder of parts, with probabilities."""
    thresholds = make_thresholds()
    return int(decide_candidates(thresholds, folder, out, memory=MEMORY, curves=make_curves(thresholds)).accepted.sum())


def decide_best(folder: Path, out: Path) -> int:
    """Decide with one tail at most for each head and relation."""
    return int(decide_candidates(make_thresholds(), folder, out, memory=MEMORY, best_only=True).accepted.sum())


WHAT: dict[str, Callable[[Path, Path], int]] = {
    "bare-copy": copy_bare,
    "decide-file": decide_file,
    "decide-folder": decide_folder,
    "decide-probability": decide_probable,
    "decide-best-tail": decide_best,
}


def measure(what: str, folder: Path) -> dict[str, float]:
    """Run one thing in a fresh process; peak memory is the kernel's figure for it."""
    out = folder.parent / "out"
    for leftover in (out, out.with_suffix(".parquet")):
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)
    command = [sys.executable, __file__, "--one", what, "--folder", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{what} failed")
    cpu = usage.ru_utime + usage.ru_stime  # of all threads: says what the work costs even when others have the cores
    return {**json.loads(text), "cpu_seconds": cpu, "peak_mb": usage.ru_maxrss / 1000}


def run_one(what: str, folder: Path) -> None:
    """Do one thing here and print what it took."""
    os.environ["CUT"] = repr(same_share_cut(folder))
    start = time.perf_counter()
    accepted = WHAT[what](folder, folder.parent / "out")
    print(json.dumps({"seconds": time.perf_counter() - start, "accepted": accepted}))


def main() -> None:
    """Run everything asked for and append rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="2e6")
    parser.add_argument("--what", default="bare-copy,decide-file,decide-folder")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", choices=WHAT)
    arguments = parser.parse_args()
    if arguments.one:
        return run_one(arguments.one, arguments.folder)
    is_new = not arguments.out.exists()
    with open(arguments.out, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        for rows in (int(float(text)) for text in arguments.rows.split(",")):
            folder = make_candidates(arguments.folder / str(rows), rows)
            for run in range(arguments.repeats):
                for what in arguments.what.split(","):
                    row = {"rows": rows, "relations": 1000, "what": what, "run": run, **measure(what, folder)}
                    row |= {name: f"{row[name]:.2f}" for name in ("seconds", "cpu_seconds")}
                    row["peak_mb"] = f"{row['peak_mb']:.0f}"
                    print(row, flush=True)
                    writer.writerow(row)
                    file.flush()
    return None


if __name__ == "__main__":
    main()
