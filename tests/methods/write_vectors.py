"""Write what a prior of the pooled method answers on one cell: ``python -m tests.methods.write_vectors pool log-odds``.

``pooled_vectors.json`` is the specification's and was not written here. The files that this writes hold the answers of
our own code, asked as anybody would ask: a change of the shipped numbers that nobody meant fails
``test_shipped_numbers.py``. Whoever means to change them runs this again and commits both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from actc.bench.datasets import load_scored
from actc.data.triples import Annotations
from actc.methods.named import find_method

FOLDER = Path(__file__).parent
CELL = ("codex-s", "complex")
METHODS = ("pooled", "pooled-known", "pooled:objective=f1")
COUNTS = (0, 40, 400)
"""Answers: none, few, many."""


def answers_of(prior: str) -> dict[str, Any]:
    """Return thresholds, probabilities, picks and accuracy of a prior, by method and number of answers."""
    (pool, labels), (test, truth), (known, _) = (load_scored(*CELL, split) for split in ("valid", "test", "train"))
    order = np.random.default_rng(0).permutation(len(pool))
    found: dict[str, Any] = {}
    for name in METHODS:
        method = find_method(name + (":" if ":" not in name else ",") + f"prior={prior}")
        for count in COUNTS:
            rows = order[:count]
            fit = method.fit(pool, Annotations(rows, labels[rows] > 0), known)
            picks = fit.pick(12, np.random.default_rng(1))
            found[f"{name}, {count} answers"] = {
                "thresholds": dict(zip(pool.relation_names, fit.thresholds.cuts.tolist(), strict=True)),
                "default": fit.thresholds.default,
                "lower": fit.thresholds.lower.tolist(),
                "upper": fit.thresholds.upper.tolist(),
                "probabilities_of_test_rows": fit.probabilities(test.take(np.arange(0, len(test), 97))).tolist(),
                "picks": picks.rows.tolist(),
                "reasons": [str(reason) for reason in picks.reasons],
                "gain": fit.gain,
                "test_accuracy": float((fit.thresholds.decide(test) == (truth > 0)).mean()),
            }
    return found


def path_of(prior: str) -> Path:
    """Return where the vectors of a prior stand."""
    return FOLDER / f"pooled_vectors_{prior}.json"


if __name__ == "__main__":
    for prior in sys.argv[1:]:
        content = json.dumps(answers_of(prior), indent=1)
        path_of(prior).write_text(content + "\n", encoding="utf-8")
