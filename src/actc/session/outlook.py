"""What the answers have bought so far, and what ten more would: for people who decide when to stop."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from actc.calibrator import Calibrator
from actc.errors import ActcError
from actc.methods import Method
from actc.pooled.draws import gain_left
from actc.pooled.features import POINTS
from actc.pooled.method import Pooled
from actc.pooled.model import Posterior
from actc.pooled.picks import expected_gains, is_audit
from actc.session.ask import DRAWN_AT_RANDOM, RANDOM_CHECK
from actc.triples import Annotations, BoolArray, FloatArray, IntArray, ScoredTriples
from actc.trust.ask import advise
from actc.trust.expect import Quality, expect

MOST_RELATIONS = 24
SAMPLE = 4000
REASONS = {
    "random": DRAWN_AT_RANDOM,
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
    taken : float or None
        How many candidates are accepted; of a sample, about how many of those it stands for.
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
    taken: float | None
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
        return shown | {"accepted": None if self.taken is None else round(self.taken)}


def look_ahead(
    calibrator: Calibrator,
    method: Method,
    annotations: Annotations,
    planned: IntArray,
    turns: IntArray,
    pool: ScoredTriples,
    before: BoolArray | None,
    uniform: BoolArray,
) -> Outlook:
    """Say what a calibrator expects, as far as its method knows.

    Parameters
    ----------
    calibrator : Calibrator
        Fitted, if its method can do with the annotations that there are.
    planned : int array of shape (n,)
        The rows to be asked next.
    turns : int array of shape (n,)
        How many answers come before each of them.
    before : bool array of shape (N,), optional
        The decisions of the refit before.
    uniform : bool array of shape (l,)
        Which annotations were picked uniformly.
    """
    nothing: list[float | None] = [None] * len(planned)
    reasons = [REASONS.get(str(method.selector), "Chosen by the method's own rule.")] * len(planned)
    plain = Outlook(len(annotations), None, None, None, None, None, None, None, [], nothing, nothing, reasons)
    if not hasattr(calibrator, "thresholds_"):
        return plain
    accepted = calibrator.thresholds_.decide(pool)
    fitted = replace(
        plain,
        accepted=accepted,
        taken=float(pool.weights @ accepted),
        changed=None if before is None else float(np.average(accepted != before, weights=pool.weights)),
        relations=_relations(calibrator, pool, annotations, accepted),
        probabilities=_probabilities(calibrator, pool, planned),
    )
    if isinstance(method, Pooled):
        posterior = method.fit(pool, annotations, calibrator.known_)
        cuts = calibrator.thresholds_.cuts_and_default
        found = expect(posterior, cuts, annotations, uniform, pool, each=False).overall
        return _foresee(fitted, posterior, method, planned, turns, found)
    return replace(fitted, expected=_expect(calibrator, pool, accepted))


def _foresee(
    fitted: Outlook, posterior: Posterior, method: Pooled, planned: IntArray, turns: IntArray, found: Quality
) -> Outlook:
    """Add what only the pooled method knows: an interval, and what an answer is expected to bring."""
    low, high = found.interval("accuracy")
    table = expected_gains(posterior)
    gains = _gains(posterior, table, planned)
    most = gain_left(posterior, draws=100, points=1000) * float(posterior.pool.sizes.sum())
    gain = min(advise(posterior, gains=table).gain, most)
    chosen = method.selector == "expected-gain"
    return replace(
        fitted,
        expected=found.middle("accuracy"),
        low=low,
        high=high,
        gain=gain if chosen and len(gains) else None,
        gains=gains.tolist(),
        reasons=[_reason(g, is_audit(int(t))) for g, t in zip(gains, turns, strict=True)] if chosen else fitted.reasons,
    )


def _gains(posterior: Posterior, table: FloatArray, rows: IntArray) -> FloatArray:
    """Return the right decisions that an answer to each row is expected to add."""
    pool = posterior.pool
    relations = pool.relations[rows]
    place = pool.places[rows] - pool.starts[relations]
    point = np.minimum(place * POINTS // np.maximum(pool.counts[relations], 1), POINTS - 1)
    gains: FloatArray = table[relations, point]
    return gains


def _reason(gain: float, audit: bool) -> str:
    if audit:
        return RANDOM_CHECK
    if gain < 0.05:
        return "It is where an answer still teaches the most, though little."
    return f"An answer here is expected to put about {gain:.1f} other decisions right."


def _expect(calibrator: Calibrator, pool: ScoredTriples, accepted: BoolArray) -> float | None:
    rows = np.linspace(0, len(pool) - 1, min(len(pool), SAMPLE)).astype(np.int64)
    true = _probabilities(calibrator, pool, rows)
    if true[0] is None:
        return None
    p: FloatArray = np.array(true)
    return float(np.where(accepted[rows], p, 1 - p).mean())


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
    chosen = np.lexsort((np.arange(count), -pool.relation_sizes, -labels))[:MOST_RELATIONS]
    return [
        {
            "relation": pool.relation_names[i],
            "cut": _finite(thresholds.cuts[i]),
            "lower": None if thresholds.lower is None else _finite(thresholds.lower[i]),
            "upper": None if thresholds.upper is None else _finite(thresholds.upper[i]),
            "share": round(float(taken[i] / max(pool.relation_counts[i], 1)), 4),
            "triples": int(pool.relation_sizes[i]),
            "labels": int(labels[i]),
        }
        for i in chosen
    ]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
