"""Measure a session over a pool of millions: start, refit and next pick, peak memory.

    python benchmarks/scale/run_pool.py --rows 1e6,10e6 --folder /tmp/candidates --out benchmarks/scale/pool.csv

Each size runs in a process of its own, which starts a session from the folder of candidates as `actc start` does.
Refit and pick are the slowest of 200 steps with one answer each; plan is the slowest of 20 rounds of the session's
planner, each after ten answers: a refit, the next 128 triples or more, and what the page shows.
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
from pathlib import Path

import numpy as np
from make_candidates import make_candidates, make_thresholds

from actc.data.answers import Annotations
from actc.methods.named import METHODS
from actc.session import Judgement
from actc.session.plan import Planner
from actc.session.settings import Settings
from actc.session.start import create_session

FIELDS = ("rows", "relations", "sample", "start_seconds", "refit_seconds", "pick_seconds", "plan_seconds", "peak_mb")
STEPS, ROUNDS = 200, 20


def run_one(folder: Path, out: Path) -> None:
    """Answer 200 questions about the pool in a folder, and print what it took."""
    start = time.perf_counter()
    session = create_session(out, folder, Settings(method="pooled", budget=10_000))
    started = time.perf_counter() - start
    pool = session.read_pool()
    method, random, truth = METHODS["pooled"], np.random.default_rng(0), make_thresholds().decide(pool)
    annotations, refits, picks = Annotations(), [], []
    for _ in range(STEPS):
        start = time.perf_counter()
        fit = method.fit(pool, annotations)
        fit.thresholds  # noqa: B018 - worked out when it is first asked for
        middle = time.perf_counter()
        picked = fit.pick(1, random)
        picks.append(time.perf_counter() - middle)
        refits.append(middle - start)
        annotations = annotations.plus(picked.answered(truth[picked.rows]))
    plans, planner, ada = [], Planner(session, pool), session.add_annotator("ada")
    for number in range(ROUNDS):
        tasks = session.ask(ada, 10)
        said = [
            Judgement("true" if truth[task.triple] else "false", task.triple, f"{number}-{i}")
            for i, task in enumerate(tasks)
        ]
        session.record(ada, said)
        start = time.perf_counter()
        planner.step()
        plans.append(time.perf_counter() - start)
    print(
        json.dumps(
            {
                "relations": len(pool.relation_names),
                "sample": len(pool),
                "start_seconds": round(started, 2),
                "refit_seconds": round(max(refits), 4),
                "pick_seconds": round(max(picks), 4),
                "plan_seconds": round(max(plans), 4),
            }
        )
    )


def main() -> None:
    """Measure every size asked for and write rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1e6,10e6")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", action="store_true")
    arguments = parser.parse_args()
    if arguments.one:
        return run_one(arguments.folder, arguments.folder.parent / "session")
    with open(arguments.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for rows in (int(float(text)) for text in arguments.rows.split(",")):
            folder = make_candidates(arguments.folder / str(rows), rows)
            shutil.rmtree(folder.parent / "session", ignore_errors=True)
            command = [sys.executable, __file__, "--one", "--folder", str(folder)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            text = process.stdout.read() if process.stdout else ""
            _, status, usage = os.wait4(process.pid, 0)
            if status:
                raise SystemExit("the run failed")
            row = {"rows": rows, **json.loads(text), "peak_mb": round(usage.ru_maxrss / 1000)}
            print(row, flush=True)
            writer.writerow(row)
    return None


if __name__ == "__main__":
    main()
