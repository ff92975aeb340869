"""Precision on demand as others do it: one cut for all relations, from random picks."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from actc.triples import BoolArray, FloatArray

try:
    from mapie.risk_control import BinaryClassificationController
except ImportError:
    BinaryClassificationController = None


def scan_cut(scores: FloatArray, labels: BoolArray, precision: float, confidence: float) -> float:
    """Return the lowest judged score from which on the exact one-sided bound of the precision reaches the target.

    Every cut is looked at as if it were the only one, as a plain scan does; so it promises more than it keeps.
    """
    order = np.argsort(-scores, kind="stable")
    judged, trues = np.arange(1, len(order) + 1), np.cumsum(labels[order])
    low = np.where(trues > 0, betaincinv(np.maximum(trues, 1), judged - trues + 1, 1 - confidence), 0.0)
    kept = np.flatnonzero(low >= precision)
    return float(scores[order[kept[-1]]]) if kept.size else np.inf


def mapie_cut(
    pool: FloatArray, scores: FloatArray, labels: BoolArray, precision: float, confidence: float
) -> float | None:
    """Return the cut of MAPIE's controller (defaults; the score's rank as probability), None where MAPIE is missing."""
    if BinaryClassificationController is None:
        return None
    ordered = np.sort(pool)

    def predict_proba(x: FloatArray) -> FloatArray:
        rank = np.searchsorted(ordered, x[:, 0], side="right") / (len(ordered) + 1)
        return np.column_stack([1 - rank, rank])

    controller = BinaryClassificationController(predict_proba, "precision", precision, confidence)
    with np.testing.suppress_warnings() as quiet:
        quiet.filter(UserWarning)
        controller.calibrate(scores[:, None], labels.astype(int))
    best = controller.best_predict_param
    return (
        np.inf if best is None else float(ordered[min(int(np.ceil(best * (len(ordered) + 1))) - 1, len(ordered) - 1)])
    )
