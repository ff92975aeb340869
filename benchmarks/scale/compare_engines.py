"""Do both engines decide alike, to the last bit? And what does Spark cost on one machine?

    python benchmarks/scale/compare_engines.py --rows 20e6 --folder /tmp/candidates --out benchmarks/scale/engines.csv

Every candidate is written with its threshold, probability and decision; each output is sorted and hashed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import shutil
import time
from pathlib import Path

import duckdb
from make_candidates import make_candidates, make_curves, make_thresholds

from actc.decide.decide_candidates import ENGINES, decide_candidates

FIELDS = ("rows", "engine", "seconds", "candidates", "accepted", "sha256")


def digest(folder: Path) -> str:
    """Hash the rows of a folder of parts in one order, doubles written so that they read back the same."""
    scratch = folder.with_suffix(".csv")
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit='3GB'; SET temp_directory='{folder.parent / 'spill'}'")
        connection.execute(
            f"COPY (SELECT * FROM '{folder}/*.parquet' ORDER BY ALL) TO '{scratch}' (FORMAT csv, HEADER)"
        )
    with open(scratch, "rb") as file:
        value = hashlib.file_digest(file, "sha256").hexdigest()
    scratch.unlink()
    return value


def main() -> None:
    """Run both engines on the same candidates and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=20e6)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    rows = int(arguments.rows)
    folder = make_candidates(arguments.folder / str(rows), rows)
    thresholds = make_thresholds()
    with open(arguments.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for engine in ENGINES:
            out = arguments.folder / f"decided-{engine}"
            start = time.perf_counter()
            memory = "2GB" if engine == "spark" else "1GB"
            decided = decide_candidates(
                thresholds, folder, out, True, memory, curves=make_curves(thresholds), engine=engine
            )
            seconds = time.perf_counter() - start
            counts = (int(decided.candidates.sum()), int(decided.accepted.sum()))
            row = (rows, engine, f"{seconds:.1f}", *counts, digest(out))
            print(row, flush=True)
            writer.writerow(row)
            shutil.rmtree(out)


if __name__ == "__main__":
    main()
