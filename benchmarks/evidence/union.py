"""How many hidden facts are among the candidates of rules, of a model, and of both, for 1, 2, 5 and 10 to a question.

The graph is train and valid, what is hidden is test. MODEL is the folder of a PyKEEN model of the graph. It is asked
as if the facts that it was not trained on were not known, as `actc complete` does; PROPOSALS keeps its answers.

Run: python benchmarks/evidence/union.py wn18rr --graphs FOLDER --model MODEL --proposals FILE.parquet \
    --out benchmarks/evidence/union.csv
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from actc.complete.pykeen import find_unseen, load_result
from actc.complete.search import CandidateSearch, collect_candidates
from actc.data.files import read_scored, write_scored
from actc.evidence.rules import propose_by_rules
from actc.evidence.score import best_place
from actc.graph.formats import read_graph
from actc.graph.graph import Graph

FIELDS = ("graph", "best", "rules", "rules_found", "model", "model_found", "both", "both_found")
BEST = (1, 2, 5, 10)


def ask_model(model: Path, graph: Graph, out: Path) -> None:
    """Have the model propose as if its holdout were not known."""
    held = find_unseen(model, graph)
    known = graph.take(~held.contains(graph))
    write_scored(out, collect_candidates(CandidateSearch(load_result(model), known, max(BEST))))


def main() -> None:
    """Append the rows of one graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    for name in ("graphs", "model", "proposals", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    parts = [
        read_graph(next((options.graphs / options.graph).glob(f"{name}.tsv*"))) for name in ("train", "valid", "test")
    ]
    graph = Graph.of(parts[0].union(parts[1]))
    hidden = parts[2].take(~graph.contains(parts[2]))
    if not options.proposals.exists():
        ask_model(options.model, graph, options.proposals)
    proposals = read_scored(options.proposals)[0]
    proposals = proposals.take(np.flatnonzero(~graph.contains(proposals)))
    place, rules = best_place(proposals), propose_by_rules(graph)[0]
    new = not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(FIELDS)
        for best in BEST:
            model = Graph.of(proposals.take(np.flatnonzero(place <= best)))
            row: list[object] = [options.graph, best]
            for found in (rules, model, Graph.of(model.union(rules))):
                row += [len(found), f"{found.contains(hidden).mean():.4f}"]
            writer.writerow(row)
            print(*row, flush=True)


if __name__ == "__main__":
    main()
