"""How good are decisions? Accuracy, F1 and others by name.

A metric of decisions is a function of ``Confusion`` and an entry in ``METRICS``, at the foot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, as_vocabulary
from actc.errors import choose


class Confusion(NamedTuple):
    """What became of labelled triples under S sets of decisions."""

    # true_accepted, accepted: shape (S,); how many true triples, and how many at all, were accepted
    true_accepted: FloatArray
    accepted: FloatArray
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


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.where(whole > 0, part / np.maximum(whole, 1), 1.0)


def count_decisions(labels: BoolArray, decisions: BoolArray) -> Confusion:
    """Count one set of decisions, aligned with the labels."""
    true_accepted, accepted = (np.array([float(mask.sum())]) for mask in (labels & decisions, decisions))
    return Confusion(true_accepted, accepted, int(labels.sum()), len(labels))


def accuracy(labels: BoolArray, decisions: BoolArray) -> float:
    """Share of decisions that are right."""
    return float(accuracy_of(count_decisions(labels, decisions))[0])


def f1(labels: BoolArray, decisions: BoolArray) -> float:
    """Harmonic mean of precision and recall of the accepted triples; 1 where nothing is accepted and nothing true."""
    return float(f1_of(count_decisions(labels, decisions))[0])


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """Labelled triples, arranged so that any number of threshold tables is scored without looking at a triple twice."""

    scores: tuple[FloatArray, ...]  # ascending scores of the triples that share a column of the threshold table
    # how many true triples stand at or after each of them (one longer than ``scores``)
    trues_from: tuple[IntArray, ...]
    columns: IntArray  # the column of the threshold table that each of them obeys

    @classmethod
    def of(cls, triples: ScoredTriples, labels: BoolArray, relation_names: tuple[str, ...]) -> LabelledScores:
        """Arrange by the relations of the pool; any other relation obeys the last column, the default."""
        names = as_vocabulary(relation_names)
        column = names.translate(triples.relations, triples.relation_names, default=len(names))
        order = np.lexsort((triples.scores, column))
        columns, starts = np.unique(column[order], return_index=True)
        scores = np.split(triples.scores[order], starts[1:])
        trues = np.split(labels[order].astype(np.int64), starts[1:])
        return cls(tuple(scores), tuple(np.append(np.cumsum(part[::-1])[::-1], 0) for part in trues), columns)

    def count(self, cuts: FloatArray) -> Confusion:
        """Count what each row of a threshold table of shape (S, R + 1) accepts."""
        true_accepted, accepted = np.zeros(len(cuts)), np.zeros(len(cuts))
        for scores, trues_from, column in zip(self.scores, self.trues_from, self.columns, strict=True):
            place = np.searchsorted(scores, cuts[:, column])
            true_accepted += trues_from[place]
            accepted += len(scores) - place
        true = sum(int(trues[0]) for trues in self.trues_from)
        return Confusion(true_accepted, accepted, true, sum(len(scores) for scores in self.scores))

    def measure(self, cuts: FloatArray, metrics: Sequence[str] = ("accuracy", "f1")) -> FloatArray:
        """Return metrics, by their names, of each row of a threshold table: shape (metrics, S)."""
        counts = self.count(cuts)
        return np.array([find_metric(name)(counts) for name in metrics])


def find_metric(name: str) -> Callable[[Confusion], FloatArray]:
    """Return the metric of that name."""
    return choose("metric", name, METRICS)


METRICS: dict[str, Callable[[Confusion], FloatArray]] = {
    "accuracy": accuracy_of,
    "f1": f1_of,
    "precision": precision_of,
    "recall": recall_of,
}
