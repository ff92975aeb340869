"""The evidence of a cell, looked up once and kept in a folder, so that a trial of a setting takes seconds.

Three sets of candidates, each looked at without the held facts ("before") and with them ("known"):
the lesson (proposals among which the held facts are), the pool, the test half.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from cells import Cell, read_cell

from actc.evidence.plan import GRAPH_COLUMNS, Limits, score_columns
from actc.evidence.table import Evidence, gather_evidence
from actc.evidence.weigh import Held, without
from actc.graphs.graph import Graph
from actc.tables.files import read_scored
from actc.triples import BoolArray, ScoredTriples


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
        Those that ``weigh_pools`` would choose, or others.
    """

    cell: Cell
    labels: BoolArray
    folder: Path
    limits: Limits

    def lesson(self) -> Evidence:
        """Return the evidence that weights are learnt from."""
        name = "lesson" if self.cell.held.own_questions else "among"
        return self._gather(name, self.cell.held.proposals, False)

    def among(self) -> Tables:
        """Return the tables of the cell as if there were no proposals for the held facts' own questions."""
        return replace(self, cell=replace(self.cell, held=Held.among(self.cell.scored_held, self.cell.pool)))

    def pool(self, known: bool) -> Evidence:
        """Return the evidence of the pool, looked at with the held facts or without."""
        return self._gather("pool", self.cell.pool, known)

    def test(self, known: bool) -> Evidence:
        """Return the evidence of the test half, looked at with the held facts or without."""
        return self._gather("test", self.cell.test, known)

    def _gather(self, name: str, candidates: ScoredTriples, known: bool) -> Evidence:
        kept = f"{self.cell.graph_name}-{self.cell.model}-{name}-{'known' if known else 'before'}"
        path = self.folder / f"{kept}-{self.limits.doubt:g}-{self.limits.path_edges}.npy"
        if path.exists():
            nothing = np.zeros((len(candidates), 0), dtype=np.int64)
            return Evidence(candidates, (*score_columns(1), *GRAPH_COLUMNS), np.load(path), nothing, (), ())
        graph = self.cell.known if known else without(self.cell.known, self.cell.held.facts)
        evidence = gather_evidence(Graph.of(graph), candidates, limits=self.limits)
        np.save(path, evidence.values)
        return evidence


def open_tables(folder: Path, kept: Path, doubt: float | None = None, limits_of: int = 0) -> Tables:
    """Return the tables of a cell, of which those that were looked up before are read from a folder."""
    kept.mkdir(exist_ok=True, parents=True)
    cell = read_cell(folder)
    labels = read_scored(folder / "valid.tsv.gz")[1]
    assert labels is not None
    limits = Limits.for_count(max(len(cell.pool), len(cell.test), len(cell.held.proposals), limits_of))
    return Tables(cell, labels, kept, limits if doubt is None else replace(limits, doubt=doubt))
