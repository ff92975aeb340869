"""Cells of the proving ground whose candidates are a model's own proposals: FOLDER/GRAPH-top/MODEL."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.evidence.table import Proposals
from actc.evidence.weigh import Lesson
from actc.graphs.graph import Graph
from actc.tables.files import read_scored
from actc.triples import BoolArray, ScoredTriples


@dataclass(frozen=True, eq=False)
class Cell:
    """One model's proposals on one graph: known facts, a lesson, a pool, and a test half with truth."""

    graph_name: str
    model: str
    known: Graph
    lesson: Lesson
    holdout: ScoredTriples
    pool: ScoredTriples
    test: ScoredTriples
    truth: BoolArray


def find_cells() -> list[Path]:
    """Return the folders of all cells under ACTC_PROVING."""
    folder = os.environ.get("ACTC_PROVING")
    if not folder:
        sys.exit("Set ACTC_PROVING to the folder of the proving ground.")
    return sorted(path.parent for path in Path(folder).glob("*-top/*/held.tsv.gz"))


def read_cell(folder: Path) -> Cell:
    """Read one cell; its graph holds the training facts and the holdout."""
    train, holdout = (read_scored(folder / f"{name}.tsv.gz")[0] for name in ("train", "held"))
    (pool, _), (test, truth) = (read_scored(folder / f"{name}.tsv.gz") for name in ("valid", "test"))
    both = zip(train.columns().values(), holdout.columns().values(), strict=True)
    known = Graph.from_columns(*(np.concatenate(pair).tolist() for pair in both))
    assert truth is not None
    return Cell(folder.parent.name, folder.name, known, read_lesson(folder, holdout, pool), holdout, pool, test, truth)


def read_lesson(folder: Path, holdout: ScoredTriples, pool: ScoredTriples) -> Lesson:
    """Read the proposals for the holdout facts' own slots where there are any, else take those of the pool."""
    path = folder / "held_proposals.tsv.gz"
    if not path.exists():
        return Lesson.placed(holdout, pool)
    proposals, true = read_scored(path)
    assert true is not None
    return Lesson(holdout, Proposals.of(proposals), true, rest_is_false=True)
