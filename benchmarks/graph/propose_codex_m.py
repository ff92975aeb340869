"""How long do CoDEx-M's 1.7 million questions take, and in how much memory? One relation's, then all of them.

    python benchmarks/graph/propose_codex_m.py --out benchmarks/graph/propose_codex_m.csv

A small ComplEx trained for twenty seconds will do: what it answers does not matter here.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import tempfile
import time
from pathlib import Path

from actc.graphs.formats import read_graph
from actc.models.candidates import CandidateSearch, Wanted, write_candidates
from actc.models.recipes import load_recipe
from actc.models.saved_model import EmbeddingScorer
from actc.models.train_model import train_model


def measure(search: CandidateSearch) -> dict[str, object]:
    """Ask everything, and say what was foreseen and what came."""
    questions, foreseen = search.estimate_seconds()
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        count = write_candidates(search, Path(folder) / "candidates.parquet")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "questions": questions,
        "candidates": count,
        "foreseen_seconds": round(foreseen, 1),
        "wall_seconds": round(wall, 1),
        "cpu_seconds": round(cpu, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.environ.get("ACTC_DATA")  # a folder that has CoDEx as text: codex-m/train.txt and so on
    parser.add_argument("--data", type=Path, default=data, required=data is None)
    parser.add_argument("--relation", default="P27")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    graph = read_graph(arguments.data / "codex-m" / "train.txt")
    scorer = EmbeddingScorer(train_model(graph, load_recipe("complex_small"), seconds=20))
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        writer = None
        for relations in ((arguments.relation,), ()):
            search = CandidateSearch(scorer, graph, Wanted(any_entity=True, relations=relations))
            row = {**measure(search), "device": scorer.device, "cores": os.cpu_count()}
            writer = writer or csv.DictWriter(file, list(row), lineterminator="\n")
            if relations:
                writer.writeheader()
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
