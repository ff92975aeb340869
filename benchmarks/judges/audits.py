"""Audits of each design with guesses of each quality: how often the bounds hold, and how wide they are beside people's.

Run: ACTC_DATA=FOLDER ACTC_PROVING=FOLDER python benchmarks/judges/audits.py --out benchmarks/judges/audits.csv
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from simulate import CELLS, read_pool, simulate_graded

from actc.data.answers import Annotations
from actc.decide.audit import DESIGNS, assess, assess_with_guesses, draw_slice
from actc.decide.case import Case

QUALITIES = ("0.5", "0.8", "0.95")
FIELDS = ("cell", "quality", "design", "answers", "repeats", "share", "holds", "width", "alone_holds", "alone_width")


def measure(name: str, read: Any, quality: str, answers: int, repeats: int) -> list[dict[str, Any]]:
    """Return a line for each design: slices of what a session of 100 answers accepts, with its judge and without."""
    pool, truth, known = read
    random = np.random.default_rng(27)
    rows = random.permutation(len(pool))[:100]
    taught = Annotations(rows, truth[rows]).drawn_at_random(pool)
    judged = simulate_graded(quality, pool, truth, random)
    decisions = Case(pool, taught, known, "pooled-evidence-rndm:move=false", judged).decisions
    taken = np.setdiff1d(np.flatnonzero(decisions.accepted), rows)
    assert decisions.probability is not None
    accepted, right, guesses = pool.take(taken), truth[taken], decisions.probability[taken]
    found = []
    for design in DESIGNS:
        tally = []
        for _ in range(repeats):
            slice_ = draw_slice(accepted, answers, design, random)
            told = Annotations(slice_, right[slice_])
            intervals = (
                assess_with_guesses(accepted, told, guesses, design).interval,
                assess(accepted, told, design).intervals["clopper-pearson" if design == "simple" else design],
            )
            tally.append([value for low, high in intervals for value in (low <= right.mean() <= high, high - low)])
        holds, width, alone_holds, alone_width = np.mean(np.array(tally, dtype=np.float64), axis=0).round(4)
        about = {"cell": name, "quality": quality, "design": design, "answers": answers, "repeats": repeats}
        figures = {"holds": holds, "width": width, "alone_holds": alone_holds, "alone_width": alone_width}
        found.append(about | {"share": round(float(right.mean()), 4)} | figures)
    return found


def main() -> None:
    """Write the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cells", nargs="*", default=["codex-m", "umls-top"], choices=list(CELLS))
    parser.add_argument("--repeats", type=int, default=1000)
    options = parser.parse_args()
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for name in options.cells:
            read = read_pool(name)
            for quality in QUALITIES:
                for answers in (50, 100):
                    writer.writerows(measure(name, read, quality, answers, options.repeats))


if __name__ == "__main__":
    main()
