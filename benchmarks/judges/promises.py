"""Promises with simulated judges that say how sure they are, and without: how many facts are accepted, how many true.

Run: ACTC_DATA=FOLDER ACTC_PROVING=FOLDER python benchmarks/judges/promises.py --out benchmarks/judges/promises.csv.gz
and python benchmarks/judges/summarise.py, which reads the rows.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from simulate import CELLS, GRADED, read_pool, simulate_graded

from actc.judges.answers import JudgeAnswers
from actc.triples import Annotations
from actc.trust.case import Case
from actc.trust.promise import Demand

ASKED = ((100, 0.8), (100, 0.9), (300, 0.9))
"""People's answers, and the precision that is promised; with a confidence of 0.9."""
FIELDS = ("cell", "answers", "target", "quality", "repeat", "pool", "accepted", "true")


def measure(name: str, pool: Any, truth: Any, known: Any, repeat: int) -> Iterator[dict[str, Any]]:
    """Return the rows of one draw of people's answers: what is accepted beyond them, with each judge and with none."""
    random = np.random.default_rng([27, repeat])
    order = random.permutation(len(pool))
    judges = {quality: simulate_graded(quality, pool, truth, random) for quality in GRADED}
    for count, target in ASKED:
        rows, rest = order[:count], np.ones(len(pool), dtype=np.bool_)
        rest[rows] = False
        answers = Annotations(rows, truth[rows]).drawn_at_random(pool)
        fit = Case(pool, answers, known, "pooled-evidence-rndm:move=false").fit
        for quality, judged in {"none": JudgeAnswers.none(), **judges}.items():
            case = Case(pool, answers, known, "pooled-evidence-rndm:move=false", judged, Demand(target), fitted=fit)
            taken = case.decisions.accepted & rest
            about = {"cell": name, "answers": count, "target": target, "quality": quality, "repeat": repeat}
            yield about | {"pool": len(pool), "accepted": int(taken.sum()), "true": int((taken & truth).sum())}


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cells", nargs="*", default=["codex-m", "umls-top", "wn18rr-top"], choices=list(CELLS))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    with gzip.open(options.out, "wt", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for name in options.cells:
            pool, truth, known = read_pool(name)
            for repeat in range(options.first, options.first + options.repeats):
                writer.writerows(measure(name, pool, truth, known, repeat))
                print(name, repeat, flush=True)


if __name__ == "__main__":
    main()
