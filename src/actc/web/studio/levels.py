"""What a promised precision costs: how many would be accepted at each level, overall and by relation."""

from __future__ import annotations

from typing import Any

import numpy as np

from actc.data.triples import IntArray
from actc.decide.case import Case
from actc.decide.list_test import Demand
from actc.web.studio.decisions import Standing, Wish

PRECISIONS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)


def describe_levels(standing: Standing, wish: Wish) -> dict[str, Any]:
    """Return how many are accepted at each level; none are promised by a method that does not know how sure it is."""
    case, names = standing.case, standing.session.names
    wanted = sorted({*PRECISIONS, *([] if wish.precision is None else [wish.precision])})
    knows = case.plain.decisions.probability is not None
    kept = [case.with_demand(Demand(precision)) for precision in wanted] if knows else []
    cases = [case.plain, *kept]
    counts = [_count(standing, one) for one in cases]
    sizes, more = case.target.relation_counts.tolist(), len(standing.called)
    return {
        "levels": [
            {
                "precision": demand,
                "accepted": int(counts[at + 1].sum()) + more,
                "needed": case.answers_needed(Demand(demand)),
            }
            for at, demand in enumerate(wanted[: len(kept)])
        ],
        "now": int(counts[0].sum()) + more,
        "said": _count_said(case) + more,
        "chosen": wish.precision,
        "confidence": Demand(PRECISIONS[0]).confidence,
        "promises": knows,
        "relations": [
            {
                "relation": relation,
                "name": names.of(relation).name,
                "candidates": sizes[at],
                "now": int(counts[0][at]),
                "accepted_at": [int(count[at]) for count in counts[1:]],
            }
            for at, relation in enumerate(case.target.relation_names)
        ],
    }


def _count_said(case: Case) -> int:
    """Count what people, judges or constraints accepted themselves, whatever is promised."""
    decided = case.decide_alone(case.target)
    return int((decided.accepted & (decided.by != "method")).sum())


def _count(standing: Standing, case: Case) -> IntArray:
    """Count what a case accepts, relation by relation: the rows that are written."""
    accepted = case.decide(case.target).accepted  # not kept: there are many cases, and each decides on all candidates
    if standing.never is not None:
        accepted = accepted & ~standing.never
    return np.bincount(case.target.relations[accepted], minlength=len(case.target.relation_names))
