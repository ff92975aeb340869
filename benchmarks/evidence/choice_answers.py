"""How far answers may move what evidence says, compared on the pool halves of the proving ground.

Each pool is halved by slot: answers come from one half, accuracy is measured on the other, then the other way
round. No test half is looked at. Rows are added to those of choice.py, and chosen.py reads both.

Run: ACTC_PROVING=FOLDER python benchmarks/evidence/choice_answers.py --out benchmarks/evidence/choice.csv

Settings: ``nothing`` and ``widths`` (answers.py; widths are multiplied), ``line`` (of the log-odds prior: how far
intercept and slope may be elsewhere, multiplied) and ``tau`` (how far a relation's may). ``figure`` is the mean
accuracy in % at 20, 50 and 100 answers.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from actc.methods.named.pooled import log_odds
from cells import find_cells
from choice import FIELDS, learn
from tables import Tables, open_tables

from actc.bench.cells import Cell
from actc.bench.runs import run_experiment
from actc.data.triples import BoolArray
from actc.evidence import trees
from actc.evidence.pools import WeighedTriples
from actc.evidence.worth import pieces_of
from actc.methods.named import evidence_answers as answers

BUDGETS = (20, 50, 100)
VALUES = {"nothing": (0.2, 0.5, 0.8), "widths": (0.5, 1.0, 2.0), "line": (0.5, 1.0, 2.0), "tau": (0.5, 1.0, 2.0)}


def weigh_pool(tables: Tables) -> WeighedTriples:
    """Return the pool with its evidence, weighed as `actc bench` does."""
    worth = learn(tables)
    evidence = tables.pool(worth.trees is None)
    pieces = worth.ridge.quantiles.transform(pieces_of(evidence, worth.columns))
    scored = evidence.candidates.with_scores(worth.log_odds(evidence))
    return WeighedTriples.of(scored, pieces, worth.columns, True)


def halve(name: str, pool: WeighedTriples, labels: BoolArray) -> list[Cell]:
    """Return two cells, the halves of a pool by slot, either being what answers come from."""
    slots = pool.heads * len(pool.relation_names) + pool.relations
    codes = np.unique(slots, return_inverse=True)[1]
    side = np.random.default_rng(0).integers(0, 2, codes.max() + 1)[codes] == 0
    cells = []
    for rows in (side, ~side):
        here, there = np.flatnonzero(rows), np.flatnonzero(~rows)
        cell = Cell(name, str(len(cells)), pool.take(here), labels[here], pool.take(there), labels[there], pool)
        cell.__dict__["weighed"] = cell  # its evidence is beside it already
        cells.append(cell)
    return cells


@contextmanager
def setting(name: str, value: float) -> Iterator[None]:
    """Put another value in the place of the chosen one."""
    kept = answers.NOTHING, answers.WIDTHS, log_odds.PRIOR
    prior = log_odds.PRIOR
    try:
        if name == "nothing":
            answers.NOTHING = value
        elif name == "widths":
            answers.WIDTHS = tuple(value * width for width in kept[1])
        elif name == "tau":
            prior = replace(prior, tau=(value * prior.tau[0], value * prior.tau[1]))
        else:
            prior = replace(prior, coefficients={k: (m, value * s) for k, (m, s) in prior.coefficients.items()})
        log_odds.PRIOR = prior
        yield
    finally:
        answers.NOTHING, answers.WIDTHS, log_odds.PRIOR = kept


def try_settings(tables: Tables) -> Iterator[list[object]]:
    """Yield a row for each setting and value; the chosen value of all settings is one run."""
    cells = halve(tables.cell.graph_name, weigh_pool(tables), tables.labels)
    chosen: float | None = None
    for name, values in VALUES.items():
        for value in values:
            as_is = value == (0.5 if name == "nothing" else 1.0)
            figure = chosen
            if not as_is or figure is None:
                with setting(name, value):
                    rows = run_experiment(cells, ["pooled-evidence"], BUDGETS, repeats=1)
                figure = 100 * float(np.mean([row.accuracy for row in rows]))
            chosen = figure if as_is else chosen
            yield [name, value, "accuracy", f"{figure:.3f}"]


def main() -> None:
    """Add one row per cell, setting and value."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--graphs", nargs="*", help="only these, for example umls-top")
    parser.add_argument("--tables", type=Path, help="a folder that keeps what was looked up")
    parser.add_argument("--seeds", type=int, default=trees.SEEDS, help="runs of the trees; fewer are quicker")
    options = parser.parse_args()
    trees.SEEDS = options.seeds
    kept, new = options.tables or Path(tempfile.mkdtemp()), not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([FIELDS] if new else [])
        for folder in find_cells():
            if options.graphs and folder.parent.name not in options.graphs:
                continue
            tables = open_tables(folder, kept)
            for row in try_settings(tables):
                row = [folder.parent.name, folder.name, int(tables.cell.lesson.true.sum()), *row]
                print(*row, flush=True)
                writer.writerow(row)
                file.flush()


if __name__ == "__main__":
    main()
