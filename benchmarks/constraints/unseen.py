"""Learnt constraints where nothing about them was chosen: completions by rules of graphs that no choice looked at.

    python benchmarks/constraints/unseen.py GRAPH ...

GRAPH is a folder with train.tsv and valid.tsv (the graph) and test.tsv (hidden facts), such as
benchmarks/evidence/families.py writes. Rules propose, evidence weighs, nobody is asked. Appends to unseen.csv.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from actc.data.constraints import Constraints
from actc.decide.case import Case
from actc.decide.find_constraints import learn_constraints
from actc.evidence.holdouts import score_rules
from actc.evidence.rules import propose_by_rules
from actc.graph.formats import read_graph
from actc.graph.graph import Graph

HERE = Path(__file__).parent
FIELDS = ("graph", "constraints", "accepted", "held", "held_true", "precision", "recall", "f1")


def run(folder: Path) -> list[dict[str, object]]:
    """Complete one graph with and without learnt constraints."""
    train, valid, hidden = (read_graph(next(folder.glob(f"{part}.tsv*"))) for part in ("train", "valid", "test"))
    graph = Graph.of(train.union(valid))
    pool = score_rules(graph, *propose_by_rules(graph), seed=0).scored.without_pieces()
    truth, rows = hidden.contains(pool), []
    for name, rules in (("none", Constraints()), ("learnt", learn_constraints(graph))):
        decided = Case(pool, method="pooled-evidence", constraints=rules, facts=graph).decisions
        right, count = int((decided.accepted & truth).sum()), int(decided.accepted.sum())
        shares = {"precision": right / max(count, 1), "recall": right / len(hidden)}
        shares["f1"] = 2 * right / (count + len(hidden))
        held = {"held": len(decided.excluded), "held_true": int(truth[decided.excluded].sum())}
        told = {key: f"{value:.4f}" for key, value in shares.items()}
        rows.append({"graph": folder.name, "constraints": name, "accepted": count, **held, **told})
    return rows


def main() -> None:
    """Run and append."""
    out = HERE / "unseen.csv"
    is_new = not out.exists()
    with out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        for folder in map(Path, sys.argv[1:]):
            writer.writerows(run(folder))
            file.flush()


if __name__ == "__main__":
    main()
