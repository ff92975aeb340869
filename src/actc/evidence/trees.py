"""Boosted trees over evidence, where an experiment has many holdout facts (``worth.Choices.many``)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from actc.data.numeric import one_thread
from actc.data.triples import BoolArray, FloatArray

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


@dataclass(frozen=True, eq=False)
class Trees:
    """The mean of a few runs of boosted trees, which see different columns.

    Parameters
    ----------
    table : float array of shape (N, F)
        What they learn from; NaN where a piece is missing.
    labels : bool array of shape (N,)
    cases : float array of shape (N,)
        How much each row counts.
    """

    table: FloatArray
    labels: BoolArray
    cases: FloatArray

    @cached_property
    @one_thread("sklearn.ensemble")
    def models(self) -> list[Any]:
        """The fitted classifiers of scikit-learn, grown when they are first needed."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        new = (HistGradientBoostingClassifier(random_state=seed, **SETTINGS) for seed in range(SEEDS))
        return [model.fit(self.table, self.labels, self.cases) for model in new]

    def log_odds(self, table: FloatArray) -> FloatArray:
        """Return the log-odds of each row of a table of shape (n, F), shape (n,)."""
        return np.asarray(np.mean([model.decision_function(table) for model in self.models], axis=0))
