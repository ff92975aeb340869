"""Say where the time of the paper's grid goes: processor seconds by method and by part, one process, two cells.

Usage: python benchmarks/paper/profile_grid.py [REPEATS], with MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ as in
experiment/processes.py.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import time
from collections import Counter
from typing import Any

from actc.bench.paper.run import PAPER_METHODS, StoredCell
from actc.bench.plans import Conditions, Experiment
from actc.bench.rows import Run
from actc.bench.runs import run_plan

CELLS = [("codex-s", "complex"), ("codex-m", "complex")]
PARTS = {
    "_find_mode": "Gaussian process: Newton's banded systems (LAPACK)",
    "_optimality_bands": "Gaussian process: Newton's banded systems (LAPACK)",
    "fit_matern": "Gaussian process: Newton's banded systems (LAPACK)",
    "_means": "Gaussian process: latent means of the estimated triples",
    "_neighbours": "Gaussian process: latent means of the estimated triples",
    "_decay": "Gaussian process: latent means of the estimated triples",
    "_time": "Gaussian process: latent means of the estimated triples",
    "is_true": "Gaussian process: latent means of the estimated triples",
    "_newton": "logistic regression: Newton's steps and the logits",
    "total": "logistic regression: Newton's steps and the logits",
    "_logits": "logistic regression: Newton's steps and the logits",
    "fit_logistic": "logistic regression: Newton's steps and the logits",
    "sigmoid": "logistic regression: Newton's steps and the logits",
    "_rows_to_estimate": "which triples to estimate, and merging them with the annotations",
    "_merge": "which triples to estimate, and merging them with the annotations",
    "interleave": "which triples to estimate, and merging them with the annotations",
    "estimate_labels": "which triples to estimate, and merging them with the annotations",
    "_quality_of_cuts": "quality of every cut, and the best one",
    "choose_thresholds": "quality of every cut, and the best one",
    "f1_score": "quality of every cut, and the best one",
    "count_correct": "quality of every cut, and the best one",
    "_group_starts": "quality of every cut, and the best one",
}
REST = "everything else: grouping, checks, scoring, rows"
Function = tuple[str, int, str]


def find_shares(stats: dict[Function, Any], function: Function, depth: int = 8) -> Counter[str]:
    """Share out a function's time: ours by name, a library's by who called it."""
    file, _, name = function
    callers = stats[function][4]
    if "actc" in file or not callers or not depth:
        return Counter({PARTS.get(name, REST): 1.0})
    times = {caller: times[2] for caller, times in callers.items()}
    total = sum(times.values()) or 1.0
    shares: Counter[str] = Counter()
    for caller, seconds in times.items():
        for part, share in find_shares(stats, caller, depth - 1).items():
            shares[part] += share * seconds / total
    return shares


def run(method: str, cell: tuple[str, str], repeats: int) -> None:
    """Run some repeats of one method as the grid does."""
    run_plan(Experiment([StoredCell(*cell)], {Run(*cell, method): repeats}, Conditions()))


def main() -> None:
    """Print seconds by method, then shares by part."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    for cell in CELLS:
        run("localopt-acc", cell, repeats)  # loads the cell
    print(f"processor seconds for {repeats} repeats of all budgets, {len(CELLS)} cells")
    for method in PAPER_METHODS:
        start = time.process_time()
        for cell in CELLS:
            run(method, cell, repeats)
        print(f"  {method:18} {time.process_time() - start:.2f}")
    profile = cProfile.Profile()
    profile.enable()
    for method in PAPER_METHODS:
        for cell in CELLS:
            run(method, cell, repeats)
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    shares: Counter[str] = Counter()
    for function, (_, _, own, _, _) in stats.items():
        for part, share in find_shares(stats, function).items():
            shares[part] += share * own
    for part, seconds in shares.most_common():
        print(f"  {seconds / shares.total():4.0%} {part}")


if __name__ == "__main__":
    main()
