"""Decide on many candidates that compete: seconds and peak memory, each run in a process of its own.

    python benchmarks/constraints/scale.py --rows 1e6,1e7 --folder /tmp/rivals

A hundred relations with about three candidates for each head, all with at most one tail: half of them hard, half soft;
a tenth with at most one head too. One fact for ten candidates. Everything follows from hashes. Rows go to scale.csv,
which keeps those it has.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np

from actc.data.calibration import KNOTS, Curves
from actc.data.constraints import Constraint, Constraints
from actc.data.triples import Thresholds
from actc.decide.decide_candidates import decide_candidates

HERE = Path(__file__).parent
RELATIONS, RIVALS = 100, 3
NAMES = tuple(sorted(f"P{code}" for code in range(RELATIONS)))
FIELDS = ("rows", "engine", "constraints", "memory", "seconds", "cpu_seconds", "peak_mb", "accepted", "held")


def make_rivals(folder: Path, rows: int) -> None:
    """Write the candidates and the facts, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    heads = max(rows // RELATIONS // RIVALS, 1)
    head, tail = f"'Q' || hash(i, 1) % {heads}", f"'Q' || hash(i, 2) % {heads * 2}"
    columns = f"{head} AS head, 'P' || i % {RELATIONS} AS relation, {tail} AS tail"
    score = "ln(u / (1 - u)) AS score FROM (SELECT i, (hash(i, 3) % 1000000 + 0.5) / 1000000 AS u"
    candidates = f"SELECT DISTINCT ON (head, relation, tail) {columns}, {score} FROM range({rows}) t(i))"
    facts = f"SELECT DISTINCT {columns} FROM range({rows}, {rows + rows // 10}) t(i)"
    for name, query in (("candidates", candidates), ("facts", facts)):
        if not (folder / f"{name}.parquet").exists():
            duckdb.sql(f"COPY ({query}) TO '{folder}/{name}.parquet'")


def make_constraints() -> Constraints:
    """Return at most one tail for every relation, and at most one head for a tenth of them."""
    tails = [
        Constraint("functional", name, "", "hard" if at % 2 else "soft", 1000, 0.995) for at, name in enumerate(NAMES)
    ]
    return Constraints((*tails, *(Constraint("inverse-functional", name, use="hard") for name in NAMES[::10])))


def run_one(folder: Path, engine: str, constraints: bool, memory: str) -> None:
    """Decide here and print what it took."""
    thresholds = Thresholds(NAMES, np.zeros(RELATIONS), 0.0, np.ones(RELATIONS, dtype=np.bool_))
    grid = 1 / (1 + np.exp(-np.linspace(-15, 15, KNOTS)))
    curves = Curves(NAMES, -15.0, 15.0, np.tile(grid, (RELATIONS + 1, 1)))
    start = time.perf_counter()
    decided = decide_candidates(
        thresholds, folder / "candidates.parquet", folder / f"out-{engine}", memory=memory, curves=curves,
        engine=engine, constraints=make_constraints() if constraints else None, graph=folder / "facts.parquet",
        overwrite=True,
    )  # fmt: skip
    held = 0 if decided.excluded is None else int(decided.excluded.sum())
    seconds = f"{time.perf_counter() - start:.1f}"
    print(json.dumps({"seconds": seconds, "accepted": int(decided.accepted.sum()), "held": held}))


def measure(folder: Path, engine: str, constraints: bool, memory: str) -> dict[str, object]:
    """Run it in a fresh process; peak memory is the kernel's figure for it."""
    words = [str(folder), engine, str(int(constraints)), memory]
    process = subprocess.Popen([sys.executable, __file__, "--one", *words], stdout=subprocess.PIPE, text=True)
    text = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{words} failed")
    cpu, peak = f"{usage.ru_utime + usage.ru_stime:.1f}", round(usage.ru_maxrss / 1000)
    return {**json.loads(text.splitlines()[-1]), "cpu_seconds": cpu, "peak_mb": peak}


def main() -> None:
    """Run everything asked for and append rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1e6,1e7")
    parser.add_argument("--engines", default="duckdb")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--one", nargs=4)
    options = parser.parse_args()
    if options.one:
        folder, engine, constraints, memory = options.one
        return run_one(Path(folder), engine, constraints == "1", memory)
    out = HERE / "scale.csv"
    is_new = not out.exists()
    with out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        for rows in (int(float(text)) for text in options.rows.split(",")):
            make_rivals(options.folder / str(rows), rows)
            for engine in options.engines.split(","):
                for constraints in (False, True):
                    found = measure(options.folder / str(rows), engine, constraints, options.memory)
                    told = {"rows": rows, "engine": engine, "constraints": int(constraints), "memory": options.memory}
                    writer.writerow(told | found)
                    file.flush()
                    print(told | found, flush=True)
    return None


if __name__ == "__main__":
    main()
