"""Write what the shipped numbers of the pooled methods answer on one cell: ``python -m tests.methods.write_vectors``.

``shipped_vectors.json`` holds the numbers of our own code: who means to change them runs this again and commits
both. ``pooled_vectors.json`` is the specification's and was not written here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from actc.bench.cells import load_scored
from actc.data.answers import Annotations
from actc.methods.named import find_method

PATH = Path(__file__).with_name("shipped_vectors.json")
CELL = ("codex-s", "complex")
METHODS = ("pooled", "pooled-known", "pooled:objective=f1", "pooled-evidence", "pooled-evidence:objective=f1")
COUNTS = (0, 40, 400)
"""Answers: none, few, many."""


def compute_vectors() -> dict[str, Any]:
    """Return thresholds, probabilities, picks and accuracy, by method and number of answers."""
    (pool, labels), (test, truth), (known, _) = (load_scored(*CELL, split) for split in ("valid", "test", "train"))
    order = np.random.default_rng(0).permutation(len(pool))
    vectors: dict[str, Any] = {}
    for name in METHODS:
        for count in COUNTS:
            rows = order[:count]
            fit = find_method(name).fit(pool, Annotations(rows, labels[rows] > 0), known)
            picks = fit.pick(12, np.random.default_rng(1))
            vectors[f"{name}, {count} answers"] = {
                "thresholds": dict(zip(pool.relation_names, fit.thresholds.cuts.tolist(), strict=True)),
                "default": fit.thresholds.default,
                "lower": fit.thresholds.lower.tolist(),
                "upper": fit.thresholds.upper.tolist(),
                "probabilities_of_test_rows": fit.probabilities(test.take(np.arange(0, len(test), 97))).tolist(),
                "picks": picks.rows.tolist(),
                "reasons": [str(reason) for reason in picks.reasons],
                "test_accuracy": float((fit.thresholds.decide(test) == (truth > 0)).mean()),
            }
    return vectors


if __name__ == "__main__":
    PATH.write_text(json.dumps(compute_vectors(), indent=1) + "\n", encoding="utf-8")
