"""Some reasons of completions, as a table: the surest of what was accepted, and what comes next below the threshold.

Run: python benchmarks/evidence/reasons.py NAME=FOLDER ... [--count 10]
where each FOLDER was written by `actc complete`. Candidates are taken evenly: half from the accepted, half from as many
that come next, so that reasons against are among them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from actc.data.files import read_scored
from actc.data.triples import IntArray, ScoredTriples
from actc.evidence.reasons import Reasons
from actc.graph.formats import read_graph


def choose_rows(candidates: ScoredTriples, count: int) -> IntArray:
    """Return the rows to show, the most probable first."""
    accepted = max(int((candidates.scores > 0).sum()), 20 * count)
    places = np.linspace(0, min(2 * accepted, len(candidates)) - 1, count).astype(np.int64)
    return np.argsort(-candidates.scores, kind="stable")[places]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("completion", nargs="+", help="NAME=FOLDER")
    parser.add_argument("--count", type=int, default=10)
    options = parser.parse_args()
    print("| graph | fact | reasons |", "| --- | --- | --- |", sep="\n")
    for name, folder in (text.split("=", 1) for text in options.completion):
        candidates = read_scored(Path(folder) / "candidates.parquet")[0]
        reasons = Reasons.load(Path(folder), candidates, read_graph(Path(folder) / "graph.tsv"))
        if reasons is None:
            parser.error(f"{folder}: it has no evidence.")
        rows = choose_rows(candidates, options.count)
        texts = reasons.of(rows, candidates.scores[rows] > 0)
        for row, text in zip(rows.tolist(), texts, strict=True):
            head, relation, tail = candidates.triple(row)
            print(f"| {name} | {relation}({head}, {tail}) | {text} |")


if __name__ == "__main__":
    main()
