"""What a project's pictures show, as numbers: what answers brought, what a longer list costs, where scores lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from actc.decide.case import Case
from actc.session import Session
from actc.session.status import picture
from actc.web.studio.decisions import Standing

LENGTHS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
"""Shares of the candidates, the most probable first."""
BINS = 24
MOST_RELATIONS = 60


def describe_learning(session: Session) -> list[dict[str, Any]]:
    """Return what was expected of the decisions after so many answers, refit by refit."""
    names = ("answers", "middle", "low", "high")
    return [dict(zip(names, point, strict=True)) for point in picture(session)["curve"]]


def describe_pictures(standing: Standing) -> dict[str, Any]:
    """Return precision against the number accepted, and each relation's scores."""
    return {"precision": _describe_precision(standing.case), "relations": _describe_relations(standing)}


def _describe_precision(case: Case) -> list[dict[str, Any]]:
    """Return which share of the accepted should be true, had so many been accepted; shortest list first."""
    if case.estimates is None:
        return []
    ranking = case.plain.ranking
    sizes = {max(round(share * len(ranking.p)), 1) for share in LENGTHS if len(ranking.p)}
    points = {size: case.estimates.of_list(ranking.p[:size]) for size in sizes}
    now = int(case.decisions.accepted.sum())
    if (precision := case.estimates.overall["precision"]) is not None:
        points[now] = precision
    return [
        {"accepted": count, "low": share.low, "middle": share.middle, "high": share.high, "now": count == now}
        for count, share in sorted(points.items())
    ]


def _describe_relations(standing: Standing) -> list[dict[str, Any]]:
    """Return how the scores of the largest relations lie about their cuts."""
    case = standing.case
    target, accepted, sizes = case.target, case.decisions.accepted, case.target.relation_counts
    cuts = dict(zip(case.thresholds.relation_names, case.thresholds.cuts.tolist(), strict=True))
    low, high = map(float, np.quantile(target.scores, [0.002, 0.998]))
    span = (low, high) if high > low else (low - 1, high + 1)
    order = np.argsort(target.relations, kind="stable")
    ends = np.cumsum(target.relation_counts)
    lines = []
    for at in np.argsort(-sizes, kind="stable")[:MOST_RELATIONS].tolist():
        rows = order[ends[at] - target.relation_counts[at] : ends[at]]
        scores, taken = np.clip(target.scores[rows], *span), accepted[rows]
        name = target.relation_names[at]
        cut = cuts.get(name, case.thresholds.default)
        lines.append(
            {
                "relation": name,
                "name": standing.session.names.of(name).name,
                "low": span[0],
                "high": span[1],
                "bins": _bins(scores, span),
                "accepted_bins": _bins(scores[taken], span),
                "cut": cut if np.isfinite(cut) else None,
                "accepted": int(taken.sum()),
                "candidates": int(sizes[at]),
            }
        )
    return lines


def _bins(scores: Any, span: tuple[float, float]) -> list[int]:
    return list(np.histogram(scores, BINS, span)[0].tolist())
