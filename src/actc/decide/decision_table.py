"""The one table of decisions that a run or an export leaves: every candidate, what became of it, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from actc.data.database import open_database
from actc.data.deliver import write_beside
from actc.data.files import quote
from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.decide.case import Case
from actc.decide.list_test import Demand

DECISIONS = "decisions.parquet"
PRECISIONS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)
"""The guarantees that a person may choose between afterwards, without another fit."""
MOST_REASONS = 10_000
"""Candidates whose reasons are worked out: the accepted ones and the most probable others."""


def decision_columns(case: Case) -> dict[str, Any]:
    """Return the decisions on every candidate of a case, and under which guarantees each would be accepted.

    Beside the columns of :meth:`actc.decide.case.Decisions.columns`, where the method has probabilities:
    ``guaranteed``, the highest of ``PRECISIONS`` (and of the demanded one) under whose guarantee the candidate is
    accepted, NaN where under none; and where a precision was demanded, ``without_guarantee``: whether the candidate
    would be accepted if none were.
    """
    columns: dict[str, Any] = case.decisions.columns(accepted_only=False)
    if case.decisions.probability is None:
        return columns
    columns["guaranteed"] = guaranteed_precisions(case)
    if case.demand is not None:
        columns["without_guarantee"] = case.plain.decide(case.target).accepted
    return columns


def guaranteed_precisions(case: Case) -> FloatArray:
    """Return the highest precision under whose guarantee each candidate is accepted; NaN where under none."""
    confidence = Demand(PRECISIONS[0]).confidence if case.demand is None else case.demand.confidence
    demanded = [] if case.demand is None else [case.demand.target]
    found, lists = np.full(len(case.target), np.nan), dict[Any, BoolArray]()
    for precision in sorted({*PRECISIONS, *demanded}):
        demand = Demand(precision, confidence)
        kept = case.guarantee_for(demand)
        passed = (kept.drawn and kept.drawn.number, kept.size)  # several precisions often pass with the same list
        if passed not in lists:
            lists[passed] = case.with_demand(demand).decide(case.target).accepted
        found[lists[passed]] = precision
    return found


def worth_explaining(columns: dict[str, Any]) -> IntArray:
    """Return the rows whose reasons are worked out."""
    p = columns.get("probability", columns["score"])
    return np.lexsort((-p, ~columns["accepted"]))[:MOST_REASONS]


def write_decisions(path: Path, columns: dict[str, Any], precision: float | None = None) -> Path:
    """Write the table, the most probable first, so that any page of it is found at once; return where it is.

    ``precision`` is what was demanded of what is accepted; it stands in the file's metadata.
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
