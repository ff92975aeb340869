"""Cells of the proving ground whose candidates are a model's own proposals: FOLDER/GRAPH-top/MODEL."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from actc.bench import cells
from actc.data.triples import BoolArray, ScoredTriples, Triples
from actc.evidence.score import TrainingSet
from actc.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Cell:
    """One model's proposals on one graph: known facts, a training set, a pool, and a test half with truth."""

    graph_name: str
    model: str
    known: Graph
    training: TrainingSet
    holdout: Triples
    pool: ScoredTriples
    labels: BoolArray
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
    read = cells.read_cell(folder)
    assert read.known is not None
    assert read.training is not None
    holdout, pool, test = read.training.holdout, (read.valid, read.valid_labels), (read.test, read.test_labels)
    return Cell(read.dataset, read.model, Graph.of(read.known.union(holdout)), read.training, holdout, *pool, *test)
