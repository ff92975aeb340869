"""How good are decisions? Accuracy, F1 and others by name.

A metric of decisions is a function of ``Confusion`` and an entry in ``METRICS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.errors import choose


class Confusion(NamedTuple):
    """What became of labelled triples under S sets of decisions."""

    # true_accepted, accepted: shape (S,); how many true triples, and how many at all, were accepted
    true_accepted: IntArray
    accepted: IntArray
    # true, triples: how many triples are true, and how many there are
    true: int
    triples: int


def accuracy_of(counts: Confusion) -> FloatArray:
    """Share of decisions that are right."""
    true_accepted, accepted, true, triples = counts
    return (true_accepted + triples - accepted - (true - true_accepted)) / triples


def f1_of(counts: Confusion) -> FloatArray:
    """Harmonic mean of precision and recall; 1 where nothing is accepted and nothing true."""
    return _share(2 * counts.true_accepted, counts.accepted + counts.true)


def precision_of(counts: Confusion) -> FloatArray:
    """Share of the accepted triples that are true; 1 where nothing is accepted."""
    return _share(counts.true_accepted, counts.accepted)


def recall_of(counts: Confusion) -> FloatArray:
    """Share of the true triples that are accepted; 1 where nothing is true."""
    return _share(counts.true_accepted, np.full_like(counts.accepted, counts.true))


def _share(part: IntArray, whole: IntArray) -> FloatArray:
    return np.where(whole > 0, part / np.maximum(whole, 1), 1.0)


METRICS: dict[str, Callable[[Confusion], FloatArray]] = {
    "accuracy": accuracy_of,
    "f1": f1_of,
    "precision": precision_of,
    "recall": recall_of,
}


def measure_decisions(labels: BoolArray, decisions: BoolArray, metrics: Sequence[str]) -> FloatArray:
    """Return metrics, by their names, of S sets of decisions, shape (S, M): shape (metrics, S)."""
    counts = Confusion((labels & decisions).sum(axis=1), decisions.sum(axis=1), int(labels.sum()), len(labels))
    return np.array([choose("metric", name, METRICS)(counts) for name in metrics])


def accuracy(labels: BoolArray, decisions: BoolArray) -> float:
    """Share of decisions that are right."""
    return float(measure_decisions(labels, decisions[None], ["accuracy"])[0, 0])


def f1(labels: BoolArray, decisions: BoolArray) -> float:
    """Harmonic mean of precision and recall of the accepted triples; 1 where nothing is accepted and nothing true."""
    return float(measure_decisions(labels, decisions[None], ["f1"])[0, 0])
