"""What do constraints bring? Families of which a part is hidden, and every cell of CoDEx and of the proving ground.

    python benchmarks/constraints/run.py families --seeds 5
    ACTC_DATA=folder ACTC_PROVING=folder python benchmarks/constraints/run.py cells --repeats 5

Families: rules propose, evidence weighs, nobody is asked; decided one by one, with constraints learnt from the graph,
and with "one father, one mother" as hard ones. Cells: thresholds by random answers on the validation triples; the test
triples are decided one by one, and with constraints learnt from the training triples, which are the facts too. Writes
families.csv and cells.csv.gz beside this file.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from families import make_world

from actc.bench.cells import Cell, load_cell, read_cell
from actc.bench.metrics import accuracy, f1
from actc.data.answers import Annotations
from actc.data.constraints import Constraint, Constraints
from actc.data.triples import BoolArray, Triples
from actc.decide.case import Case
from actc.decide.find_constraints import learn_constraints
from actc.evidence.holdouts import score_rules
from actc.evidence.rules import propose_by_rules
from actc.graph.graph import Graph

HERE = Path(__file__).parent
HARD = Constraints(tuple(Constraint("functional", name, use="hard") for name in ("father", "mother")))
BUDGETS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
FAMILIES = ("seed", "facts", "hidden", "candidates", "constraints", "accepted", "held", "held_true", "violations",
            "precision", "recall", "f1")  # fmt: skip
CELLS = ("dataset", "model", "budget", "repeat", "constraints", "accuracy", "f1", "held", "held_true")


def run_families(seed: int) -> Iterator[dict[str, object]]:
    """Complete one world of families in three ways."""
    world = make_world(seed=seed)
    weighed = score_rules(world.graph, *propose_by_rules(world.graph), seed=seed).scored
    pool = weighed.without_pieces()
    truth, hidden = world.hidden.contains(pool), len(world.hidden)
    for name, rules in (("none", Constraints()), ("learnt", learn_constraints(world.graph)), ("hard", HARD)):
        case = Case(pool, method="pooled-evidence", constraints=rules, facts=world.graph)
        accepted, held = case.decisions.accepted, case.decisions.excluded
        right = int((accepted & truth).sum())
        yield {
            "seed": seed, "facts": len(world.graph), "hidden": hidden, "candidates": len(pool), "constraints": name,
            "accepted": int(accepted.sum()), "held": len(held), "held_true": int(truth[held].sum()),
            "violations": count_second_parents(world.graph, pool.take(accepted)),
            "precision": f"{right / accepted.sum():.4f}", "recall": f"{right / hidden:.4f}",
            "f1": f"{2 * right / (accepted.sum() + hidden):.4f}",
        }  # fmt: skip


def count_second_parents(graph: Graph, accepted: Triples) -> int:
    """Count the accepted facts beyond the first father and the first mother of a child."""
    whole = graph.union(accepted)
    rows = np.isin(whole.relations, whole.relation_names.codes(["father", "mother"]))
    _, counts = np.unique(np.stack([whole.heads[rows], whole.relations[rows]]), axis=1, return_counts=True)
    return int((counts - 1).sum())


def find_cells() -> list[Cell]:
    """Read the cells of the proving ground and of CoDEx."""
    named = os.environ.get("ACTC_PROVING")
    folders = sorted(Path(named).glob("*/*/")) if named else []
    models = ("complex", "conve", "transe", "rescal")
    codex = [load_cell(data, model) for data in ("codex-s", "codex-m") for model in models]
    return [*codex, *map(read_cell, folders)]


def run_cell(cell: Cell, repeats: int) -> Iterator[dict[str, object]]:
    """Decide on the test triples of one cell with and without learnt constraints."""
    assert cell.known is not None
    facts = Graph.of(cell.known)
    learnt = learn_constraints(facts)
    for repeat in range(repeats):
        order = np.random.default_rng([12345, repeat]).permutation(len(cell.valid))
        for budget in (one for one in BUDGETS if one <= len(order) and (one or not repeat)):
            rows = order[:budget]
            answers = Annotations(
                rows,
                cell.valid_labels[rows],
                selection="random",
                sampling_frame="pool",
                inclusion_probability=1 / len(cell.valid),
            )
            alone = Case(cell.valid, answers, cell.known, "pooled-rndm", candidates=cell.test)
            together = Case(cell.valid, answers, cell.known, "pooled-rndm", fitted=alone.fit, candidates=cell.test,
                            constraints=learnt, facts=facts)  # fmt: skip
            for name, case in (("none", alone), ("learnt", together)):
                held = case.decisions.excluded
                told = {"dataset": cell.dataset, "model": cell.model, "budget": budget, "repeat": repeat}
                yield told | {
                    "constraints": name,
                    **measure(case.decisions.accepted, cell.test_labels),
                    "held": len(held),
                    "held_true": int(cell.test_labels[held].sum()),
                }


def measure(accepted: BoolArray, truth: BoolArray) -> dict[str, str]:
    """Return accuracy and F1."""
    return {"accuracy": f"{accuracy(truth, accepted):.5f}", "f1": f"{f1(truth, accepted):.5f}"}


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("families", "cells"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if options.what == "families":
        with (HERE / "families.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FAMILIES, lineterminator="\n")
            writer.writeheader()
            for seed in range(options.seeds):
                writer.writerows(run_families(seed))
                file.flush()
        return
    with gzip.GzipFile(HERE / "cells.csv.gz", "wb", mtime=0) as packed, io.TextIOWrapper(packed, newline="") as out:
        writer = csv.DictWriter(out, CELLS, lineterminator="\n")
        writer.writeheader()
        for cell in find_cells():
            writer.writerows(run_cell(cell, options.repeats))
            print(cell.dataset, cell.model, flush=True)


if __name__ == "__main__":
    main()
