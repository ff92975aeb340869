"""What the answers have bought so far, and what ten more would: for people who decide when to stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Picks
from actc.data.files import in_json
from actc.data.triples import BoolArray, IntArray, ScoredTriples, Thresholds
from actc.decide.case import Case

MOST_RELATIONS = 24
"""Whose course is kept, refit by refit."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """What a method makes of the answers.

    Parameters
    ----------
    labels : int
        Triples with a label.
    accepted : bool array of shape (N,), or None
        The decisions on the pool; None before the method has enough answers.
    changed : float or None
        The share of decisions that differ from the refit before.
    expected, low, high : float or None
        Expected share of right decisions on the pool, with its 90 % interval; None where the method has none.
    relations : list of dict
        Name, cut, its interval, accepted share and number of labels of each relation, those with most labels first.
    probabilities : list
        What the method thinks of each planned triple; None where it does not say.
    """

    labels: int
    accepted: BoolArray | None
    changed: float | None
    expected: float | None
    low: float | None
    high: float | None
    relations: list[dict[str, Any]]
    probabilities: list[float | None]

    def as_json(self) -> dict[str, Any]:
        """Return what is kept for the pages."""
        kept = ("labels", "changed", "expected", "low", "high")
        return {name: getattr(self, name) for name in kept} | {"relations": self.relations[:MOST_RELATIONS]}


def look_ahead(case: Case, planned: Picks, before: BoolArray | None) -> Outlook:
    """Say what is expected of a case, as far as its method knows.

    Parameters
    ----------
    case : Case
    planned : Picks
        The triples to be asked next.
    before : bool array of shape (N,), optional
        The decisions of the refit before.
    """
    fit, pool, annotations = case.fit, case.pool, case.annotations
    nothing: list[float | None] = [None] * len(planned)
    plain = Outlook(len(annotations), None, None, None, None, None, [], nothing)
    if fit.thresholds is None:
        return plain
    accepted = case.decisions.accepted
    fitted = replace(
        plain,
        accepted=accepted,
        changed=None if before is None else float(np.mean(accepted != before)),
        relations=_relations(fit.thresholds, pool, annotations, accepted),
        probabilities=_probabilities(case, planned.rows),
    )
    accuracy = None if case.estimates is None else case.estimates.overall["accuracy"]
    if accuracy is None:
        return fitted
    return replace(fitted, expected=accuracy.middle, low=accuracy.low, high=accuracy.high)


def _probabilities(case: Case, rows: IntArray) -> list[float | None]:
    p = case.probabilities(case.pool.take(rows)) if len(rows) else None
    return [None] * len(rows) if p is None else p.tolist()


def _relations(
    thresholds: Thresholds, pool: ScoredTriples, annotations: Annotations, accepted: BoolArray
) -> list[dict[str, Any]]:
    count = len(pool.relation_names)
    labels = np.bincount(pool.relations[annotations.rows], minlength=count)
    taken = np.bincount(pool.relations, accepted, minlength=count)
    chosen = np.lexsort((np.arange(count), -pool.relation_counts, -labels))
    cuts, lower, upper = (
        [None] * count if bound is None else in_json(bound.tolist(), words=False)
        for bound in (thresholds.cuts, thresholds.lower, thresholds.upper)
    )
    return [
        {
            "relation": pool.relation_names[i],
            "cut": cuts[i],
            "lower": lower[i],
            "upper": upper[i],
            "share": round(float(taken[i] / max(pool.relation_counts[i], 1)), 4),
            "triples": int(pool.relation_counts[i]),
            "labels": int(labels[i]),
        }
        for i in chosen
    ]
