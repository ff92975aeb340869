"""How good are decisions and probabilities? Accuracy, F1, calibration error, and a report by relation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Thresholds, as_vocabulary


def accuracy(labels: BoolArray, decisions: BoolArray) -> float:
    """Share of decisions that are right."""
    return float(np.mean(labels == decisions))


def f1(labels: BoolArray, decisions: BoolArray) -> float:
    """Harmonic mean of precision and recall of the accepted triples; 1 where nothing is accepted and nothing true."""
    size = int(labels.sum() + decisions.sum())
    return 2 * int((labels & decisions).sum()) / size if size else 1.0


def brier(labels: BoolArray, probabilities: FloatArray) -> float:
    """Mean squared distance of probability and truth."""
    return float(np.mean((probabilities - labels) ** 2))


def calibration_error(labels: BoolArray, probabilities: FloatArray, bins: int = 10) -> float:
    """Expected calibration error: |mean probability - share of true ones| in equal-width bins, weighted by size."""
    which = np.minimum((probabilities * bins).astype(int), bins - 1)
    excess = np.bincount(which, probabilities - labels, minlength=bins)
    return float(np.abs(excess).sum() / len(labels))


@dataclass(frozen=True, eq=False)
class Scorer:
    """Labelled triples, arranged so that any number of threshold tables is scored without looking at a triple twice.

    Parameters
    ----------
    scores : tuple of float arrays
        Ascending scores of the triples that share a column of the threshold table.
    trues_from : tuple of int arrays
        How many true triples stand at or after each of them (one longer than ``scores``).
    columns : int array
        The column of the threshold table that each of them obeys.
    """

    scores: tuple[FloatArray, ...]
    trues_from: tuple[IntArray, ...]
    columns: IntArray

    @classmethod
    def of(cls, triples: ScoredTriples, labels: BoolArray, relation_names: tuple[str, ...]) -> Scorer:
        """Arrange by the relations of the pool; any other relation obeys the last column, the default."""
        names = as_vocabulary(relation_names)
        column = names.translate(triples.relations, triples.relation_names, default=len(names))
        order = np.lexsort((triples.scores, column))
        columns, starts = np.unique(column[order], return_index=True)
        scores = np.split(triples.scores[order], starts[1:])
        trues = np.split(labels[order].astype(np.int64), starts[1:])
        return cls(tuple(scores), tuple(np.append(np.cumsum(part[::-1])[::-1], 0) for part in trues), columns)

    def accuracy_and_f1(self, cuts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return accuracy and F1 of each row of a threshold table of shape (S, R + 1)."""
        true_accepted, accepted = np.zeros(len(cuts)), np.zeros(len(cuts))
        for scores, trues_from, column in zip(self.scores, self.trues_from, self.columns, strict=True):
            place = np.searchsorted(scores, cuts[:, column])
            true_accepted += trues_from[place]
            accepted += len(scores) - place
        true = sum(int(trues[0]) for trues in self.trues_from)
        size = sum(len(scores) for scores in self.scores)
        right = true_accepted + size - accepted - (true - true_accepted)
        return right / size, np.where(accepted + true > 0, 2 * true_accepted / np.maximum(accepted + true, 1), 1.0)


@dataclass(frozen=True)
class RelationReport:
    """What the thresholds do to one relation."""

    relation: str
    cut: float
    own: bool
    triples: int
    accepted: int
    accuracy: float | None
    f1: float | None


def report_by_relation(
    thresholds: Thresholds, triples: ScoredTriples, labels: BoolArray | None = None
) -> list[RelationReport]:
    """Say of each relation of the triples where the cut is and, given labels, how good it is."""
    decisions, cuts = thresholds.decide(triples), thresholds.of(triples)
    own = dict(zip(thresholds.relation_names, thresholds.own.tolist(), strict=True))
    reports = []
    for code in np.flatnonzero(triples.relation_counts).tolist():
        mine = triples.relations == code
        name = triples.relation_names[code]
        known = labels is not None
        reports.append(
            RelationReport(
                relation=name,
                cut=float(cuts[mine][0]),
                own=own.get(name, False),
                triples=int(mine.sum()),
                accepted=int(decisions[mine].sum()),
                accuracy=accuracy(labels[mine], decisions[mine]) if known else None,  # type: ignore[index]
                f1=f1(labels[mine], decisions[mine]) if known else None,  # type: ignore[index]
            )
        )
    return reports
