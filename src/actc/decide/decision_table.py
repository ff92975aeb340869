"""Tables of decisions that a run or an export writes: every candidate, and those that constraints excluded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.constraints import KINDS
from actc.data.database import open_database, quote
from actc.data.deliver import write_beside
from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.decide.case import Case
from actc.decide.guarantee import TargetPrecision

DECISIONS = "decisions.parquet"
PRECISIONS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)
"""The guarantees that a person may choose between afterwards, without another fit."""
MAX_REASONS = 10_000
"""Candidates whose reasons are written: the accepted ones and the most probable others."""
MAX_NAMED = 3


def decision_columns(case: Case) -> dict[str, Any]:
    """Return the decisions on every candidate of a case, and under which guarantees each would be accepted.

    Beside the columns of :meth:`actc.decide.case.Decisions.columns`, where the method has probabilities:
    ``guaranteed``, the highest of ``PRECISIONS`` (and of the target) under whose guarantee the candidate is accepted,
    NaN where under none; and where there is a target, ``without_guarantee``: whether the candidate would be accepted
    without one.
    """
    columns: dict[str, Any] = case.decisions.columns(accepted_only=False)
    if case.decisions.probability is None:
        return columns
    columns["guaranteed"] = guaranteed_precisions(case)
    if case.target is not None:
        columns["without_guarantee"] = case.plain.decide(case.candidates).accepted
    return columns


def guaranteed_precisions(case: Case) -> FloatArray:
    """Return the highest precision under whose guarantee each candidate is accepted; NaN where under none."""
    own = case.target or TargetPrecision(PRECISIONS[0])
    found, lists = np.full(len(case.candidates), np.nan), dict[Any, BoolArray]()
    for precision in sorted({*PRECISIONS, own.precision}):
        target = TargetPrecision(precision, own.confidence)
        kept = case.guarantee_for(target)
        passed = (kept.round and kept.round.plan.number, kept.size)  # several precisions often pass with the same list
        if passed not in lists:
            lists[passed] = case.with_target(target).decide(case.candidates).accepted
        found[lists[passed]] = precision
    return found


def rows_to_explain(columns: dict[str, Any]) -> IntArray:
    """Return the rows whose reasons are written."""
    p = columns.get("probability", columns["score"])
    return np.lexsort((-p, ~columns["accepted"]))[:MAX_REASONS]


def write_decisions(path: Path, columns: dict[str, Any], precision: float | None = None) -> Path:
    """Write the table, the most probable first, so that any page of it is found at once; return where it is.

    ``precision`` is what was asked for of what is accepted; it stands in the file's metadata.
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


def excluded_columns(case: Case) -> dict[str, Any]:
    """Return what constraints exclude as a table: triple, score, probability, constraint, why, and what it lost to.

    ``against`` is ``fact`` where the graph holds what contradicts it: a person, or a check of the graph, decides which
    of the two is wrong; ``rival`` where another candidate is more probable; else the constraint alone forbids it.
    """
    decided = case.decisions
    rows, conflicts = decided.excluded, decided.resolution
    columns = {**case.candidates.take(rows).columns(), "score": case.candidates.scores[rows]}
    if decided.probability is not None:
        columns["probability"] = decided.probability[rows]
    cells: dict[str, list[str]] = {name: [] for name in ("constraint", "why", "against", "other")}
    for row in [] if conflicts is None else rows.tolist():
        assert conflicts is not None
        rule, fact, rival = case.rules.each[conflicts.rule[row]], int(conflicts.fact[row]), int(conflicts.rival[row])
        certain = rule.use == "hard" or np.isnan(rule.share)
        against, other = "", ""
        if fact >= 0 and case.facts is not None:
            against, other = "fact", " ".join(case.facts.triple(fact))
        elif rival >= 0:
            against, other = "rival", " ".join(case.candidates.triple(rival))
        why = KINDS[rule.kind] + ("" if certain else f": {rule.share:.1%} of {rule.cases:,}")
        for name, cell in zip(cells, (str(rule), why, against, other), strict=True):
            cells[name].append(cell)
    return {**columns, **{name: np.array(texts, dtype=object) for name, texts in cells.items()}}


def count_excluded(case: Case) -> dict[str, Any]:
    """Count what constraints exclude: in all, against facts, and by each constraint, the most frequent first."""
    columns = excluded_columns(case)
    by_rule = Counter(columns["constraint"].tolist()).most_common()
    facts = int((columns["against"] == "fact").sum())
    counts = {
        "excluded": len(columns["constraint"]),
        "against_facts": facts,
        "violated_by_people": case.violated_by_people,
    }
    return {**counts, "by_constraint": dict(by_rule)}


def describe_excluded(counts: dict[str, Any]) -> list[str]:
    """Return in sentences what :func:`count_excluded` counted."""
    named = list(counts["by_constraint"].items())
    parts = [f"{count:,} by {rule}" for rule, count in named[:MAX_NAMED]]
    parts += [f"{sum(count for _, count in named[MAX_NAMED:]):,} by others"] if len(named) > MAX_NAMED else []
    facts = f"; {counts['against_facts']:,} contradict a fact" if counts["against_facts"] else ""
    because = f" ({', '.join(parts)}{facts})" if named else ""
    violated = counts["violated_by_people"]
    sentences = [f"Constraints exclude {counts['excluded']:,} candidates{because}."]
    if violated:
        sentences.append(f"People judged more triples true than a constraint allows in {violated:,} places; they stay.")
    return sentences
