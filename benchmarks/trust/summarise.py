"""Count what run.py wrote: python benchmarks/trust/summarise.py RUNS... writes coverage.csv and promise.csv here."""

from __future__ import annotations

import csv
import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def read(names: Iterable[str], part: str) -> Iterable[dict[str, str]]:
    """Read the rows of several runs; a run that was stopped early counts as far as it got."""
    for name in names:
        with gzip.open(f"{name}-{part}.csv.gz", "rt", newline="") as file, suppress(EOFError):
            yield from csv.DictReader(file)


def write(path: Path, head: str, rows: Iterable[list[Any]]) -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(head.split(","))
        writer.writerows([f"{v:.4f}" if isinstance(v, float) else v for v in row] for row in rows)


def count_coverage(names: list[str]) -> Iterable[list[Any]]:
    """Yield one line per cell, kind, picks, budget and quantity, and one for all cells together."""
    table = defaultdict(list)
    for row in read(names, "coverage"):
        numbers = [float(row[key]) for key in ("truth", "middle", "low", "high", "model_low", "model_high")]
        for cell in (row["cell"], "all"):
            key = (row["kind"], cell, row["picks"], int(row["budget"]), row["quantity"])
            table[key].append([*numbers, row["source"] == "looks"])
    for key, values in sorted(table.items()):
        truth, middle, low, high, model_low, model_high, looks = np.array(values).T
        known = np.isfinite(truth)
        yield [
            *key,
            int(known.sum()),
            float(((low <= truth) & (truth <= high))[known].mean()),
            float((high - low)[known].mean() / 2),
            float((middle - truth)[known].mean()),
            float(looks.mean()),
            float(((model_low <= truth) & (truth <= model_high))[known].mean()),
            float((model_high - model_low)[known].mean() / 2),
        ]


def count_promises(names: list[str]) -> Iterable[list[Any]]:
    """Yield how often a promise was broken, how often none was made, and the share of triples accepted."""
    table = defaultdict(list)
    for row in read(names, "promise"):
        for cell in (row["cell"], "all"):
            key = (row["kind"], cell, row["picks"], int(row["budget"]), row["asked"], row["who"])
            table[key].append([float(row["precision"]) < float(row["asked"]), float(row["accepted"])])
    for key, values in sorted(table.items()):
        broken, accepted = np.array(values, dtype=float).T
        yield [*key, len(values), float(broken.mean()), float((accepted == 0).mean()), float(accepted.mean())]


if __name__ == "__main__":
    write(
        HERE / "coverage.csv",
        "kind,cell,picks,budget,quantity,runs,held,half_width,bias,on_looks_alone,model_held,model_half_width",
        count_coverage(sys.argv[1:]),
    )
    write(
        HERE / "promise.csv",
        "kind,cell,picks,budget,precision,who,runs,broken,nothing_accepted,accepted",
        count_promises(sys.argv[1:]),
    )
