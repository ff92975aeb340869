"""What the answers have bought so far, and what ten more would: for people who decide when to stop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from actc.calibrator import Calibrator
from actc.errors import ActcError
from actc.triples import Annotations, BoolArray, FloatArray, IntArray, ScoredTriples

MOST_RELATIONS = 24
SAMPLE = 4000
REASONS = {
    "random": "Drawn at random: every candidate has the same chance to be checked.",
    "nearest-mean": "Its score is among those nearest to the mean of all scores.",
    "farthest-mean": "Its score is among those farthest from the mean of all scores.",
    "uncertainty": "The model is least sure about it.",
}


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
    gain : float or None
        Right decisions that ten more answers are expected to add.
    relations : list of dict
        Name, cut, its interval, accepted share and number of labels of the relations that matter most.
    probabilities, gains : list
        What the method thinks of each planned triple; None where it does not say.
    reasons : list of str
        Why each planned triple is asked.
    """

    labels: int
    accepted: BoolArray | None
    changed: float | None
    expected: float | None
    low: float | None
    high: float | None
    gain: float | None
    relations: list[dict[str, Any]]
    probabilities: list[float | None]
    gains: list[float | None]
    reasons: list[str]

    def as_json(self) -> dict[str, Any]:
        """Return what is kept for the pages."""
        kept = ("labels", "changed", "expected", "low", "high", "gain", "relations")
        shown = {name: getattr(self, name) for name in kept}
        return shown | {"accepted": None if self.accepted is None else int(self.accepted.sum())}


def look_ahead(
    calibrator: Calibrator,
    method: Any,
    pool: ScoredTriples,
    annotations: Annotations,
    known: ScoredTriples | None,
    planned: IntArray,
    before: BoolArray | None,
) -> Outlook:
    """Say what a fitted calibrator expects, as far as its method knows.

    Parameters
    ----------
    planned : int array
        The rows to be asked next.
    before : bool array of shape (N,), optional
        The decisions of the refit before.
    """
    nothing: list[float | None] = [None] * len(planned)
    reason = REASONS.get(str(method.selector), "Chosen by the method's own rule.")
    if not hasattr(calibrator, "thresholds_"):
        return Outlook(
            len(annotations), None, None, None, None, None, None, [], nothing, nothing, [reason] * len(planned)
        )
    accepted = calibrator.thresholds_.decide(pool)
    changed = None if before is None else float((accepted != before).mean())
    expected, low, high, gain = _expect(calibrator, pool, accepted)
    return Outlook(
        len(annotations),
        accepted,
        changed,
        expected,
        low,
        high,
        gain,
        _relations(calibrator, pool, annotations, accepted),
        _probabilities(calibrator, pool, planned),
        nothing,
        [reason] * len(planned),
    )


def _expect(
    calibrator: Calibrator, pool: ScoredTriples, accepted: BoolArray
) -> tuple[float | None, float | None, float | None, float | None]:
    rows = np.linspace(0, len(pool) - 1, min(len(pool), SAMPLE)).astype(np.int64)
    true = _probabilities(calibrator, pool, rows)
    if not true or true[0] is None:
        return None, None, None, None
    p: FloatArray = np.array(true)
    return float(np.where(accepted[rows], p, 1 - p).mean()), None, None, None


def _probabilities(calibrator: Calibrator, pool: ScoredTriples, rows: IntArray) -> list[float | None]:
    if not len(rows):
        return []
    try:
        return [float(p) for p in calibrator.predict_proba(pool.take(rows))[:, 1]]
    except ActcError:  # the baselines decide without probabilities
        return [None] * len(rows)


def _relations(
    calibrator: Calibrator, pool: ScoredTriples, annotations: Annotations, accepted: BoolArray
) -> list[dict[str, Any]]:
    count = len(pool.relation_names)
    labels = np.bincount(pool.relations[annotations.rows], minlength=count)
    taken = np.bincount(pool.relations, accepted, minlength=count)
    thresholds = calibrator.thresholds_
    chosen = np.lexsort((np.arange(count), -pool.relation_counts, -labels))[:MOST_RELATIONS]
    return [
        {
            "relation": pool.relation_names[i],
            "cut": _finite(thresholds.cuts[i]),
            "lower": None if thresholds.lower is None else _finite(thresholds.lower[i]),
            "upper": None if thresholds.upper is None else _finite(thresholds.upper[i]),
            "share": round(float(taken[i] / max(pool.relation_counts[i], 1)), 4),
            "triples": int(pool.relation_counts[i]),
            "labels": int(labels[i]),
        }
        for i in chosen
    ]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
