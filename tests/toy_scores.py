"""A folder like ACTC_SCORES with small score tables, for tests that run experiments."""

from __future__ import annotations

from pathlib import Path

import numpy as np

RELATIONS = ("P1", "P2", "P3")


def write_toy_scores(folder: Path, cells: list[tuple[str, str]], size: int = 120) -> Path:
    """Write valid.tsv and test.tsv for each (data set, model): half true, true ones scored higher."""
    for number, (dataset, model) in enumerate(cells):
        target = folder / dataset / model
        target.mkdir(parents=True)
        for split in ("valid", "test"):
            random = np.random.default_rng([number, len(split)])
            labels = np.arange(size) < size // 2
            scores = random.normal(labels * 2.0, 1.0)
            relations = random.choice(RELATIONS, size)
            lines = [
                f"{split}-h{row}\t{relations[row]}\tt{row}\t{scores[row]:.6g}\t{int(labels[row])}"
                for row in range(size)
            ]
            text = "\n".join(["head\trelation\ttail\tscore\tlabel", *lines])
            (target / f"{split}.tsv").write_text(text + "\n")
    return folder
