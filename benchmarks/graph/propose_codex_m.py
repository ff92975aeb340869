"""How long do CoDEx-M's 1.7 million questions take, and in how much memory? Measured on one relation, foreseen for all.

    python benchmarks/graph/propose_codex_m.py --out benchmarks/graph/propose_codex_m.csv

A small ComplEx trained for half a minute will do: what it answers does not matter here.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import tempfile
import time
from pathlib import Path

from actc.candidates import CandidateSearch, Wanted, write_candidates
from actc.graph_formats import read_graph
from actc.recipes import load_recipe
from actc.saved_model import EmbeddingScorer
from actc.train_model import train_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("ACTC_DATA", "../shared/data")))
    parser.add_argument("--relation", default="P27")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    graph = read_graph(arguments.data / "codex-m" / "train.txt")
    scorer = EmbeddingScorer(train_model(graph, load_recipe("complex_small"), seconds=20))
    everything, foreseen = CandidateSearch(scorer, graph, Wanted(any_entity=True)).estimate_seconds()
    one = CandidateSearch(scorer, graph, Wanted(any_entity=True, relations=(arguments.relation,)))
    questions, expected = one.estimate_seconds()
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        count = write_candidates(one, Path(folder) / "candidates.parquet")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    row = {
        "questions": questions,
        "candidates": count,
        "foreseen_seconds": round(expected, 1),
        "wall_seconds": round(wall, 1),
        "cpu_seconds": round(cpu, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "all_questions": everything,
        "all_foreseen_minutes": round(foreseen / 60, 1),
        "device": scorer.device,
        "cores": os.cpu_count(),
    }
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)


if __name__ == "__main__":
    main()
