"""Cells of the proving ground whose candidates are a model's own proposals: FOLDER/GRAPH-top/MODEL."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.evidence.weigh import Held
from actc.graphs.graph import Graph
from actc.tables.files import read_scored
from actc.triples import BoolArray, ScoredTriples


@dataclass(frozen=True, eq=False)
class Cell:
    """One model's proposals on one graph: known facts, held facts, a pool, and a test half with truth."""

    graph_name: str
    model: str
    known: Graph
    held: Held
    scored_held: ScoredTriples
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
    """Read one cell; its graph holds the training facts and the held ones."""
    train, held = (read_scored(folder / f"{name}.tsv.gz")[0] for name in ("train", "held"))
    (pool, _), (test, truth) = (read_scored(folder / f"{name}.tsv.gz") for name in ("valid", "test"))
    both = zip(train.columns().values(), held.columns().values(), strict=True)
    known = Graph.from_columns(*(np.concatenate(pair).tolist() for pair in both))
    assert truth is not None
    return Cell(folder.parent.name, folder.name, known, read_held(folder, held, pool), held, pool, test, truth)


def read_held(folder: Path, held: ScoredTriples, pool: ScoredTriples) -> Held:
    """Read the proposals for the held facts' own questions where there are any, else take those of the pool."""
    path = folder / "held_proposals.tsv.gz"
    if not path.exists():
        return Held.among(held, pool)
    proposals, true = read_scored(path)
    assert true is not None
    return Held(Graph.of(held), proposals, true)
