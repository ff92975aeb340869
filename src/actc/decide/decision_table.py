"""Decisions: one table of triples, who decided on each, and what constraints excluded; written once by a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.data.constraints import KINDS, Constraint
from actc.data.database import open_database, quote
from actc.data.deliver import write_beside
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.decide.conflicts import Resolution

DECISIONS = "decisions.parquet"
PRECISIONS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)
"""The guarantees that a person may choose between afterwards, without another fit."""
MAX_REASONS = 10_000
"""Candidates whose reasons are written: the accepted ones and the most probable others."""
ORACLE = "oracle"
"""Who answered, where a file played the person."""
PEOPLE = ("person", ORACLE)
"""Whose answers decide before all others."""
BY = (*PEOPLE, "judges", "method")
"""Who may have accepted a triple."""
CONSTRAINT = "constraint"
"""Who decided, where a triple would have been accepted by itself."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """What becomes of triples."""

    triples: ScoredTriples
    accepted: BoolArray  # (N,)
    probability: FloatArray | None  # (N,) P(true): 0 or 1 where a person answered; None where the method has none
    # (N,) who decided: ``person``, ``oracle``, ``judges`` (where they changed the method's decision), ``method``, or
    # ``constraint`` where it would have been accepted by itself
    by: NDArray[np.object_]
    p_unjudged: FloatArray | None  # (N,) P(true) without people's answers and constraints
    resolution: Resolution | None = None  # what constraints excluded, where there are any

    @property
    def excluded(self) -> IntArray:
        """The rows that constraints excluded."""
        return np.flatnonzero(self.by == CONSTRAINT)

    @property
    def losses(self) -> list[tuple[Constraint, int, int]]:
        """Of each of them the constraint, and what it lost to: a fact's row and a rival's, or -1."""
        if (lost := self.resolution) is None:
            return []
        columns = np.stack([lost.rule, lost.fact, lost.rival], axis=1)[self.excluded].tolist()
        return [(lost.constraints.each[rule], fact, rival) for rule, fact, rival in columns]

    def columns(self, accepted_only: bool = True) -> dict[str, NDArray[Any]]:
        """Return head, relation, tail, score, accepted (of all), probability and by, as files and frames have them."""
        rows = np.flatnonzero(self.accepted) if accepted_only else np.arange(len(self.triples))
        made = {"accepted": None if accepted_only else self.accepted, "probability": self.probability, "by": self.by}
        more = {name: column[rows] for name, column in made.items() if column is not None}
        columns = {**self.triples.take(rows).columns(), "score": self.triples.scores[rows]}
        return {f"given_{name}" if name in more else name: column for name, column in columns.items()} | more

    def excluded_columns(self, facts: Triples | None) -> dict[str, Any]:
        """Return what constraints exclude as a table: triple, score, probability, constraint, why, against, other.

        ``against`` is ``fact`` where the graph holds what contradicts it, a row of ``facts``: a person, or a check of
        the graph, decides which of the two is wrong; ``rival`` where another candidate is more probable; else the
        constraint alone forbids it. ``other`` is that fact or candidate.
        """
        rows, cells = self.excluded, []
        for constraint, fact, rival in self.losses:
            why, against = KINDS[constraint.kind], ("", "")
            if constraint.use != "hard" and not np.isnan(constraint.share):
                why += f": {constraint.share:.1%} of {constraint.cases:,}"
            if fact >= 0 and facts is not None:
                against = "fact", " ".join(facts.triple(fact))
            elif rival >= 0:
                against = "rival", " ".join(self.triples.triple(rival))
            cells.append((str(constraint), why, *against))
        texts = dict(
            zip(("constraint", "why", "against", "other"), np.array(cells, object).reshape(-1, 4).T, strict=True)
        )
        columns = {**self.triples.take(rows).columns(), "score": self.triples.scores[rows]}
        return columns | ({} if self.probability is None else {"probability": self.probability[rows]}) | texts


def rows_to_explain(columns: dict[str, Any]) -> IntArray:
    """Return the rows whose reasons are written."""
    p = columns.get("probability", columns["score"])
    return np.lexsort((-p, ~columns["accepted"]))[:MAX_REASONS]


def write_decisions(path: Path, columns: dict[str, Any], precision: float | None = None) -> Path:
    """Write the table, the most probable first, so that any page of it is read at once; return its path.

    ``precision``, the target of what is accepted, stands in the file's metadata.
    """
    p = columns.get("probability", columns["score"])
    order = np.lexsort((-np.nan_to_num(columns["score"]), -np.nan_to_num(p, nan=-np.inf)))
    rows = {name: np.asarray(column)[order] for name, column in columns.items()}
    empty = ", ".join(f"nullif({name}, 'nan'::DOUBLE) AS {name}" for name, one in rows.items() if one.dtype.kind == "f")
    metadata = "" if precision is None else f", KV_METADATA {{precision: '{precision:g}'}}"
    with write_beside(path) as temporary, open_database() as connection:
        connection.register("decision_rows", rows)
        select = f"SELECT * REPLACE ({empty}) FROM decision_rows"
        connection.execute(f"COPY ({select}) TO {quote(str(temporary))} (FORMAT PARQUET{metadata})")
    return path
