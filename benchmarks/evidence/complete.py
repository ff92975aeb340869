"""The whole way with a model, by `actc complete`: how many of the hidden facts are found, and does the promise hold?

The graph is train and valid, the oracle all three files. UMLS and Nations are closed worlds. In FB15k-237 and WN18RR
whatever the three files do not list counts as false, though much of it is true. Without answers and with 100; the
second goes on from the first's candidates, and its seconds are those of both. MODEL may hold {graph}, which stands for
the graph's name.

Run: python benchmarks/evidence/complete.py umls nations --graphs FOLDER --out benchmarks/evidence/complete.csv
     (the same) wn18rr --model 'MODELS/{graph}' --best 2
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
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np

from actc.data.files import write_triples
from actc.data.triples import encode_columns
from actc.graph.formats import read_graph
from actc.graph.graph import Graph

FIELDS = (
    "graph", "model", "seed", "answers", "candidates", "share_true", "expected_share", "found_rules", "found_model",
    "found_both", "model_adds", "accepted", "precision", "recall", "f1", "low",
    "middle", "high", "holds", "seconds", "cpu_seconds", "peak_memory_mb", "load",
)  # fmt: skip


def write_task(folder: Path, out: Path) -> tuple[Graph, Graph]:
    """Write graph.tsv and truth.tsv; return the graph and all that is true."""
    parts = [read_graph(next(folder.glob(f"{name}.tsv*"))) for name in ("train", "valid", "test")]
    known = Graph.of(parts[0].union(parts[1]))
    truth = Graph.of(known.union(parts[2]))
    write_triples(out / "graph.tsv", known.columns())
    write_triples(out / "truth.tsv", truth.columns())
    return known, truth


def measure(folder: Path, words: list[str], seed: int, answers: list[int]) -> Iterator[dict[str, object]]:
    """Run `actc complete` for each number of answers and hold it to the truth."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        known, truth = write_task(folder, out)
        started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        for budget in answers:
            command = [sys.executable, "-m", "actc.cli.main", "complete", "graph.tsv", "--oracle", "truth.tsv"]
            asked = [*command, "--budget", str(budget), "--seed", str(seed), "--out", "better", *words]
            subprocess.run(asked, cwd=out, check=True)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
            row = {"graph": folder.name, "model": "given", "seed": seed}
            row |= hold_to_truth(out / "better", known, truth) | {"seconds": time.perf_counter() - started}
            row |= {"cpu_seconds": cpu, "peak_memory_mb": used.ru_maxrss // 1024, "load": os.getloadavg()[0]}
            yield {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()}


def hold_to_truth(out: Path, known: Graph, truth: Graph) -> dict[str, object]:
    """Return what a folder of `actc complete` says, beside the truth."""
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    accepted = read_graph(out / "accepted.tsv") if report["accepted"] else known.take(np.arange(0))
    columns = duckdb.read_parquet(str(out / "candidates.parquet")).fetchnumpy()
    true = truth.contains(encode_columns(*(columns[name] for name in ("head", "relation", "tail"))))
    by, hidden, right = columns["proposed_by"].astype(str), len(truth) - len(known), int(truth.contains(accepted).sum())
    precision, adds = right / max(len(accepted), 1), int(((by == "model") & (columns["score"] > 0)).sum())
    low, middle, high = report["accepted_precision"] or (0.0, 0.0, 0.0)
    return {
        "answers": report["judged"], "candidates": len(true), "share_true": float(true.mean()),
        "expected_share": report["evidence"]["expected_share"],
        "found_rules": true[by != "model"].sum() / hidden, "found_model": true[by != "rules"].sum() / hidden,
        "found_both": true.sum() / hidden,
        "model_adds": adds, "accepted": len(accepted), "precision": precision, "recall": right / hidden,
        "f1": 2 * right / (len(accepted) + hidden), "low": low, "middle": middle, "high": high,
        "holds": low <= precision <= high,
    }  # fmt: skip


def main() -> None:
    """Append a row per graph, seed and number of answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--graphs", type=Path, required=True, help="a folder with a folder per graph")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--answers", type=int, nargs="+", default=[0, 100])
    parser.add_argument("--model", required=True, help="the folder of a PyKEEN model, {graph} in place of the graph")
    parser.add_argument("--best", default="10", help="proposals of the model to a question")
    options = parser.parse_args()
    new = not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        for name in options.names:
            given = ["--model", options.model.format(graph=name)]
            for seed in options.seeds:
                for row in measure(options.graphs / name, [*given, "--best", options.best], seed, options.answers):
                    print(row, flush=True)
                    writer.writerow(row)
                    file.flush()


if __name__ == "__main__":
    main()
