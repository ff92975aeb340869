"""How many proposals for a slot should be weighed, and how many kept by evidence? F1 of `complete` at 100 answers.

RUNS/GRAPH/sSEED is what `actc complete RUNS/GRAPH/graph.tsv --oracle RUNS/GRAPH/truth.tsv --seed SEED` wrote, graph and
truth as in complete.py; its model is used.

Run: python benchmarks/evidence/best.py RUNS --asked 5 10 20 --kept 3 5 8 --out benchmarks/evidence/best.csv
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path

import numpy as np

from actc.complete.completion import complete
from actc.complete.weighing import LOG_ODDS, weigh_proposals
from actc.graphs.formats import read_graph
from actc.graphs.graph import Graph
from actc.models.candidates import CandidateSearch, Wanted, write_candidates
from actc.models.keep_out import read_held
from actc.models.load_scorer import load_scorer
from actc.tables.files import read_scored
from actc.triples import ScoredTriples

FIELDS = ("graph", "seed", "asked", "kept", "candidates", "hidden_among_them", "f1", "precision", "low", "high")


def propose(folder: Path, known: Graph, asked: int) -> ScoredTriples:
    """Ask the model of a run for so many proposals for each slot."""
    scorer = load_scorer(folder / "model", device="cpu")
    with tempfile.TemporaryDirectory() as place:
        write_candidates(CandidateSearch(scorer, known, Wanted(asked)), Path(place) / "proposals.parquet")
        return read_scored(Path(place) / "proposals.parquet")[0]


def measure(folder: Path, asked: int, kept: list[int]) -> list[dict[str, object]]:
    """Weigh so many answers, keep fewer or all of them, and hold what is accepted to the truth."""
    graph, truth = (read_graph(folder.parent / f"{name}.tsv") for name in ("graph", "truth"))
    holdout, seed, rows = read_held(folder / "model"), int(folder.name[1:]), []
    proposals = propose(folder, graph.take(np.flatnonzero(~holdout.contains(graph))), asked)
    weighed, _ = weigh_proposals(graph, holdout, proposals, lambda *steps: None)
    for most in [*(count for count in kept if count < asked), asked]:
        candidates = (weighed if most == asked else weighed.keep_best(most)).candidates.with_used_names()
        true, hidden = truth.contains(Graph.of(candidates)), len(truth) - len(graph)
        everyone = np.arange(len(candidates))
        done = complete(candidates, lambda _, rows, true=true: true[rows], everyone, method=LOG_ODDS, seed=seed)
        right, taken = int((done.accepted & true).sum()), int(done.accepted.sum())
        low, _, high = done.precision
        figures = (true.sum() / hidden, 2 * right / (taken + hidden), right / max(taken, 1), low, high)
        values = (folder.parent.name, seed, asked, most, len(candidates), *(f"{one:.3f}" for one in figures))
        rows.append(dict(zip(FIELDS, values, strict=True)))
        print(*values, flush=True)
    return rows


def main() -> None:
    """Write one row per graph, seed, asked and kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--asked", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--kept", type=int, nargs="+", default=[3, 5, 8])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for folder in sorted(options.runs.glob("*/s*")):
            for asked in options.asked:
                writer.writerows(measure(folder, asked, options.kept))


if __name__ == "__main__":
    main()
