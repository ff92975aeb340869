"""The evidence of a cell, looked up once and kept in a folder, so that a trial of a setting takes seconds.

Three sets of candidates: the training set, looked at without the holdout facts;
the pool and the test half, looked at with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cells import Cell, read_cell

from actc.data.triples import BoolArray, ScoredTriples
from actc.evidence.plan import GRAPH_COLUMNS
from actc.evidence.steps import Limits
from actc.evidence.table import gather_evidence, place_scores
from actc.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Tables:
    """The evidence of one cell.

    Parameters
    ----------
    cell : Cell
    labels : bool array of shape (P,)
        Of the pool.
    folder : Path
        Where values are kept.
    limits : Limits
        Those that ``score_pools`` would choose, or others.
    """

    cell: Cell
    labels: BoolArray
    folder: Path
    limits: Limits

    def training(self) -> ScoredTriples:
        """Return the evidence that weights are learnt from."""
        return self._gather("training", self.cell.training.proposals, False)

    def pool(self) -> ScoredTriples:
        """Return the evidence of the pool."""
        return self._gather("pool", self.cell.pool.with_pieces(score=self.cell.pool.scores), True)

    def test(self) -> ScoredTriples:
        """Return the evidence of the test half."""
        return self._gather("test", self.cell.test.with_pieces(score=self.cell.test.scores), True)

    def _gather(self, name: str, candidates: ScoredTriples, known: bool) -> ScoredTriples:
        models = int("score" in candidates.pieces)
        kept = f"{self.cell.graph_name}-{self.cell.model}-{name}-{models}-{'known' if known else 'before'}"
        path = self.folder / f"{kept}-{self.limits.path_edges}.npy"
        columns = (*place_scores(candidates).pieces, *GRAPH_COLUMNS)
        if path.exists():
            pieces = dict(zip(columns, np.load(path).T, strict=True))
            return candidates.without_pieces().with_pieces(**pieces)
        facts = self.cell.known
        graph = facts if known else facts.take(~self.cell.holdout.contains(facts))
        evidence = gather_evidence(Graph.of(graph), candidates, limits=self.limits)
        np.save(path, np.column_stack([evidence.pieces[name] for name in columns]))
        return evidence


def open_tables(folder: Path, kept: Path, limits_of: int = 0) -> Tables:
    """Return the tables of a cell, of which those that were looked up before are read from a folder."""
    kept.mkdir(exist_ok=True, parents=True)
    cell = read_cell(folder)
    limits = Limits.for_count(max(len(cell.pool), len(cell.test), len(cell.training.proposals), limits_of))
    return Tables(cell, cell.labels, kept, limits)
