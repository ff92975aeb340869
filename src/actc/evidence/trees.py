"""Boosted trees as plain arrays: learnt by scikit-learn, evaluated here, saved as data without code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from actc.triples import BoolArray, FloatArray, IntArray

SEEDS = 3
SETTINGS = {
    "max_iter": 300,  # 200 to 600 rank alike (benchmarks/evidence/choice.csv, rounds); the others are first guesses
    "learning_rate": 0.05,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 20,
    "l2_regularization": 5.0,
    "max_features": 0.4,
    "early_stopping": False,
}
FIELDS = ("feature", "threshold", "left", "right", "value", "gain")


@dataclass(frozen=True, eq=False)
class Trees:
    """A sum of trees: log-odds = start + the leaf of every tree that a row falls into.

    Parameters
    ----------
    roots : int array of shape (T,)
        The node each tree begins with.
    feature, left, right : int array of shape (M,)
        For each node the column it asks (-1: a leaf), and where to go on.
    threshold, value, gain : float array of shape (M,)
        Go left when the column is at most the threshold; the log-odds of a leaf; how much a question helped.
    start : float
    """

    roots: IntArray
    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    value: FloatArray
    gain: FloatArray
    start: float

    @classmethod
    def learn(cls, table: FloatArray, labels: BoolArray, weights: FloatArray) -> Self:
        """Learn from a table of shape (N, F), the mean of a few runs that see different columns."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        parts: dict[str, list[Any]] = {name: [] for name in FIELDS}
        roots: list[int] = []
        nodes, start = 0, 0.0
        for seed in range(SEEDS):
            model = HistGradientBoostingClassifier(random_state=seed, **SETTINGS).fit(table, labels, weights)
            start += float(np.ravel(model._baseline_prediction)[0]) / SEEDS
            for (predictor,) in model._predictors:
                tree = predictor.nodes
                leaf = tree["is_leaf"].astype(bool)
                parts["feature"].append(np.where(leaf, -1, tree["feature_idx"].astype(np.int64)))
                parts["threshold"].append(np.where(leaf, 0.0, tree["num_threshold"]))
                parts["left"].append(nodes + tree["left"].astype(np.int64))
                parts["right"].append(nodes + tree["right"].astype(np.int64))
                parts["value"].append(np.where(leaf, tree["value"] / SEEDS, 0.0))
                parts["gain"].append(np.where(leaf, 0.0, tree["gain"]))
                roots.append(nodes)
                nodes += len(tree)
        return cls(np.array(roots), start=start, **{name: np.concatenate(part) for name, part in parts.items()})

    def log_odds(self, table: FloatArray) -> FloatArray:
        """Return the log-odds of each row of a table of shape (N, F), shape (N,)."""
        total = np.full(len(table), self.start)
        rows = np.arange(len(table))
        for root in self.roots.tolist():
            at = np.full(len(table), root)
            while (asks := self.feature[at] >= 0).any():
                below = table[rows, np.maximum(self.feature[at], 0)] <= self.threshold[at]
                at = np.where(asks, np.where(below, self.left[at], self.right[at]), at)
            total += self.value[at]
        return total

    def weights(self, columns: int) -> FloatArray:
        """Return the share of each column in all that the trees' questions gained, shape (F,)."""
        asks = self.feature >= 0
        gain = np.bincount(self.feature[asks], weights=self.gain[asks], minlength=columns)
        return np.asarray(gain / max(gain.sum(), 1e-12))

    def to_data(self) -> dict[str, Any]:
        """Return it as lists."""
        return {"start": self.start, "roots": self.roots.tolist()} | {
            name: getattr(self, name).tolist() for name in FIELDS
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Read what :meth:`to_data` wrote."""
        return cls(start=float(data["start"]), **{name: np.array(data[name]) for name in ("roots", *FIELDS)})
