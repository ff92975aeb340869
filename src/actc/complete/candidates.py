"""Candidates before any answer: triples with log-odds and reasons by evidence, stored in the folder of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from actc.data.database import open_database, quote_file
from actc.data.deliver import write_beside
from actc.data.files import write_scored
from actc.data.frames import TRIPLE
from actc.data.triples import ScoredTriples
from actc.evidence.reasons import Reasons
from actc.evidence.score import EvidenceModel
from actc.graph.graph import Graph

CANDIDATES, PIECES = "candidates.parquet", "pieces.npz"
"""In a run's folder: the candidates; the evidence of facts."""
RECORDED = ("notes", "precisions", "by_themselves")


@dataclass(frozen=True, eq=False)
class Candidates:
    """Triples that may be decided, and what is known of each before any answer.

    Parameters
    ----------
    triples : ScoredTriples
        Missing facts, or the graph's facts where wrong ones are looked for. Their scores are log-odds of being what is
        looked for. Beside them stand who proposed each (``proposed_by``), by which rule, and the columns of the user's
        own table. The pieces of facts are normal quantiles of their evidence, in single precision: answers move the
        weight of each.
    notes : tuple of str
    reasons : Reasons, optional
    precisions : tuple of float
        Draws of the accepted precision by the holdout; empty where no holdout gives it.
    by_themselves : bool
        Whether they are evidence for each other, as no graph is.
    """

    triples: ScoredTriples
    notes: tuple[str, ...] = ()
    reasons: Reasons | None = None
    precisions: tuple[float, ...] = ()
    by_themselves: bool = False

    @classmethod
    def by_evidence(cls, scored: ScoredTriples, model: EvidenceModel, graph: Graph, *notes: str) -> Self:
        """Return candidates whose scores are log-odds by evidence."""
        return cls(scored.without_pieces(), notes, Reasons(((scored, model),), graph))

    @property
    def scored(self) -> ScoredTriples:
        """The triples and their scores alone."""
        return replace(self.triples, further={}, pieces={})

    def save(self, folder: Path) -> dict[str, Any]:
        """Write them into the folder of a run; return what its record has of them."""
        write_scored(folder / CANDIDATES, self.triples)
        if self.reasons is not None:
            self.reasons.save(folder)
        if self.triples.pieces:
            with write_beside(folder / PIECES) as temporary, temporary.open("wb") as file:
                columns: dict[str, Any] = {**self.triples.pieces}
                np.savez(file, **columns)
        return {name: getattr(self, name) for name in RECORDED}

    @classmethod
    def load(cls, folder: Path, graph: Graph, record: dict[str, Any]) -> Self:
        """Read what :meth:`save` wrote, with what the folder's record has of it."""
        with open_database() as connection:
            table = connection.execute(f"SELECT * FROM {quote_file(folder / CANDIDATES)}").fetchnumpy()
        further = {name: np.ma.filled(one, "" if one.dtype.kind == "O" else np.nan) for name, one in table.items()}
        triples = ScoredTriples.from_columns(*(further.pop(name) for name in (*TRIPLE, "score")))
        pieces = dict(np.load(folder / PIECES, allow_pickle=False)) if (folder / PIECES).exists() else {}
        values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in record.items()}
        graph = Graph.of(graph.union(triples)) if record["by_themselves"] else graph
        reasons = Reasons.load(folder, triples, graph)
        return cls(replace(triples, further=further, pieces=pieces), reasons=reasons, **values)
