"""Settings of the learner, compared on the pool halves of the proving ground: each cell, each value, no answer.

Run: ACTC_PROVING=FOLDER python benchmarks/evidence/choice.py --out benchmarks/evidence/choice.csv
Then each graph gets the value that is best on the others (leave one graph out); the last lines print that.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from cells import Cell, find_cells, read_cell
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from actc.evidence import trees, worth
from actc.evidence.plan import Limits
from actc.evidence.table import Evidence, gather_evidence
from actc.evidence.weigh import known_to, without
from actc.tables.files import read_scored

RIDGES = (3.0, 10.0, 33.0, 100.0, 300.0)
ROUNDS = (100, 300, 600)
FIELDS = ("graph", "model", "held", "own_questions", "learner", "value", "pool_ap", "intercept", "slope")


def try_settings(folder: Path, rounds: tuple[int, ...]) -> Iterator[list[object]]:
    """Yield a row for each value: average precision, and the line that all pool labels ask of the log-odds."""
    cell = read_cell(folder)
    labels = read_scored(folder / "valid.tsv.gz")[1]
    before = without(cell.known, cell.held.facts)
    limits = Limits.for_count(max(len(cell.pool), len(cell.held.proposals)))
    lesson = gather_evidence(before, cell.held.proposals, limits=limits)
    values: list[tuple[str, float]] = [("ridge", ridge) for ridge in RIDGES]
    if cell.held.own_questions:
        values += [("trees", count) for count in rounds]
    tables: dict[bool, Evidence] = {}
    for learner, value in values:
        learnt = learn(cell, lesson, learner, value)
        grown = learnt.trees is not None
        if grown not in tables:
            tables[grown] = gather_evidence(known_to(learnt, cell.known, before), cell.pool, limits=limits)
        log_odds = learnt.log_odds(tables[grown])
        line = LogisticRegression(C=1e6).fit(log_odds[:, None], labels)
        figures = [average_precision_score(labels, log_odds), line.intercept_[0], line.coef_[0, 0]]
        row = [cell.graph_name, cell.model, learnt.held, int(cell.held.own_questions), learner, value]
        yield row + [f"{figure:.4f}" for figure in figures]


def learn(cell: Cell, lesson: Evidence, learner: str, value: float) -> worth.Worth:
    """Learn with one setting in the place of the chosen one."""
    chosen, settings = worth.CHOICES, dict(trees.SETTINGS)
    try:
        if learner == "ridge":
            worth.CHOICES = worth.Choices(ridge=value, many=10**9)
        else:
            worth.CHOICES = worth.Choices(many=0)
            trees.SETTINGS["max_iter"] = int(value)
        return worth.learn_worth(lesson, cell.held.true, cell.held.own_questions)
    finally:
        worth.CHOICES = chosen
        trees.SETTINGS.update(settings)


def choose(rows: list[list[object]]) -> None:
    """Print, for each graph, the value that is best on the mean of the others."""
    for learner in ("ridge", "trees"):
        found: dict[object, dict[object, list[float]]] = defaultdict(lambda: defaultdict(list))
        for graph, _, _, _, by, value, ap, *_ in rows:
            if by == learner:
                found[graph][value].append(float(str(ap)))
        for graph in found:
            others = [table for name, table in found.items() if name != graph]
            mean = {value: np.mean([np.mean(table[value]) for table in others]) for value in found[graph] if others}
            print(learner, graph, max(mean, key=lambda value: mean[value]) if mean else "-")


def main() -> None:
    """Write one row per cell and value."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--graphs", nargs="*", help="only these, for example umls-top")
    options = parser.parse_args()
    rows: list[list[object]] = []
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for folder in find_cells():
            if options.graphs and folder.parent.name not in options.graphs:
                continue
            for row in try_settings(folder, ROUNDS):
                print(*row, flush=True)
                writer.writerow(row)
                file.flush()
                rows.append(row)
    choose(rows)


if __name__ == "__main__":
    main()
