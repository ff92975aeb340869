"""Sum the rows up: one line for each cell and judge, and one for each of the bounds.

Run: python benchmarks/judges/summarise.py
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
COMPARED = ("accuracy", "brier", "ece")
MEANS = ("judge_accuracy", *(f"{name}_{how}" for name in COMPARED for how in ("without", "with")), "weight")


def mean(rows: list[dict[str, str]], name: str) -> float:
    """Return the mean of a column."""
    return float(np.mean([float(row[name]) for row in rows]))


def holds(rows: list[dict[str, str]]) -> float:
    """Return how often intervals hold the truth."""
    return float(np.mean([float(row["low"]) <= float(row["truth"]) <= float(row["high"]) for row in rows]))


def width(rows: list[dict[str, str]]) -> float:
    """Return the mean width of intervals."""
    return mean(rows, "high") - mean(rows, "low")


def write(name: str, fields: list[str], lines: list[list[str]]) -> None:
    """Write a table."""
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([fields, *lines])


def summarise_graded() -> None:
    """Write graded.csv: of each judge that says how sure it is, read as it is and as yes or no, what it brings."""
    found = defaultdict(list)
    with gzip.open(HERE / "graded.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = row["cell"], row["answers"], row["quality"], row["reading"]
            found[(*key, row["decisions"], row["quantity"])].append(row)
    lines = []
    for key in sorted({key[:4] for key in found}):
        plain, heeded = ((*key, kind) for kind in ("thresholds", "heeded"))
        rows = found[(*heeded, "accuracy")]
        held = [f"{holds(found[(*heeded, name)]):.4f}" for name in ("accuracy", "precision", "recall")]
        ratio = width(rows) / width(found[(*plain, "accuracy")])
        of_people = width(rows) / (mean(rows, "alone_high") - mean(rows, "alone_low"))
        means = [f"{mean(rows, name):.4f}" for name in ("accuracy_without", "accuracy_with")]
        lines.append([*key, str(len(rows)), *means, f"{ratio:.4f}", f"{of_people:.4f}", *held])
    held_names = [f"holds_{name}" for name in ("accuracy", "precision", "recall")]
    fields = [
        "cell",
        "answers",
        "quality",
        "reading",
        "repeats",
        "accuracy_without",
        "accuracy_with",
        "width",
        "of_people",
    ]
    write("graded.csv", [*fields, *held_names], lines)


def main() -> None:
    """Write quality.csv, bounds.csv and graded.csv."""
    summarise_graded()
    quality, bounds = defaultdict(list), defaultdict(list)
    with gzip.open(HERE / "rows.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            bounds[row["cell"], row["quality"], row["decisions"], row["quantity"]].append(row)
            if (row["decisions"], row["quantity"]) == ("thresholds", "accuracy"):
                quality[row["cell"], row["quality"]].append(row)
    lines = [[*key, str(len(rows)), *(f"{mean(rows, name):.4f}" for name in MEANS)] for key, rows in quality.items()]
    write("quality.csv", ["cell", "quality", "repeats", *MEANS], lines)
    figures = {"truth": lambda rows: mean(rows, "truth"), "holds": holds, "width": width}
    lines = [[*key, *(f"{figure(rows):.4f}" for figure in figures.values())] for key, rows in bounds.items()]
    write("bounds.csv", ["cell", "quality", "decisions", "quantity", *figures], lines)


if __name__ == "__main__":
    main()
