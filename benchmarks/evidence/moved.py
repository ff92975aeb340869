"""Should answers move the weights of the pieces where `actc complete` decides? The same answers, decided both ways.

``pooled-evidence`` asks the same whether it moves weights or not, so one run's answers serve both. RUNS/GRAPH/sSEED is
what `actc complete RUNS/GRAPH/graph.tsv --oracle RUNS/GRAPH/truth.tsv --seed SEED` wrote, as in complete.py.

Run: python benchmarks/evidence/moved.py RUNS --out benchmarks/evidence/moved.csv
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from actc.data.answers import Annotations
from actc.data.files import read_scored
from actc.evidence.model import pieces_of
from actc.evidence.reasons import Reasons
from actc.evidence.score import TriplesWithEvidence
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.methods.named import find_method

FIELDS = ("graph", "seed", "answers", "method", "accepted", "precision", "found", "f1")
BUDGETS = (100, 300)


def read_run(folder: Path) -> TriplesWithEvidence:
    """Read the candidates of a run with their evidence."""
    candidates = read_scored(folder / "candidates.parquet")[0]
    reasons = Reasons.load(folder, candidates, read_graph(folder.parent / "graph.tsv"))
    assert reasons is not None
    model = reasons.model
    pieces = model.ridge.quantiles.transform(pieces_of(reasons.evidence, model.columns))
    return TriplesWithEvidence.of(candidates, pieces, model.columns, with_log_odds=True)


def measure(folder: Path, seed: int) -> list[dict[str, object]]:
    """Ask once, decide twice at each budget."""
    candidates, graph = read_run(folder), read_graph(folder.parent / "graph.tsv")
    truth = read_graph(folder.parent / "truth.tsv")
    true, hidden = truth.contains(Graph.of(candidates)), len(truth) - len(graph)
    names = ("pooled-evidence:move=false", "pooled-evidence")
    plain, moving = map(find_method, names)
    random, answers, rows = np.random.default_rng(seed), Annotations(), []
    while len(answers) < max(BUDGETS):
        count = min([plain.batch(len(answers)), *(n - len(answers) for n in BUDGETS if n > len(answers))])
        picks = plain.fit(candidates, answers).pick(count, random)
        answers = answers.plus(picks.rows, true[picks.rows])
        if len(answers) in BUDGETS:
            for method, decider in zip(names, (plain, moving), strict=True):
                accepted = decider.fit(candidates, answers).accepts(candidates)
                accepted[answers.rows] = answers.labels
                right, taken = int((accepted & true).sum()), int(accepted.sum())
                figures = (right / max(taken, 1), right / hidden, 2 * right / (taken + hidden))
                values = (folder.parent.name, seed, len(answers), method, taken, *(f"{one:.3f}" for one in figures))
                rows.append(dict(zip(FIELDS, values, strict=True)))
                print(*values, flush=True)
    return rows


def main() -> None:
    """Write one row per graph, seed, budget and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for folder in sorted(options.runs.glob("*/s*")):
            writer.writerows(measure(folder, int(folder.name[1:])))


if __name__ == "__main__":
    main()
