"""What a project's pictures show, as numbers: what answers brought, what a longer list costs, where scores lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from actc.app.studio.decisions import Standing
from actc.session import Session
from actc.session.status import picture
from actc.triples import Thresholds
from actc.trust.case import Case
from actc.trust.expect import Share
from actc.trust.promise import cuts_at

LEVEL = 0.9
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
    if case.fit.draws is None:
        return []
    names, own = case.pool.relation_names, np.ones(len(case.pool.relation_names), dtype=np.bool_)
    points = dict([_point(case)])
    for least, cuts in cuts_at(case.posterior, case.target, LENGTHS):
        count, share = _point(case.decided_by(Thresholds(names, cuts[:-1], float(cuts[-1]), own), least))
        points.setdefault(count, share)
    now = next(iter(points))
    return [
        {"accepted": count, "low": share.low, "middle": share.middle, "high": share.high, "now": count == now}
        for count, share in sorted(points.items(), key=lambda point: point[0])
        if share is not None
    ]


def _point(case: Case) -> tuple[int, Share | None]:
    """Return how many a case accepts, and which share of them should be true."""
    count = int(case.decisions.accepted.sum())
    return count, Share.of(case.expectation.overall, "precision", LEVEL) if count else None


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
