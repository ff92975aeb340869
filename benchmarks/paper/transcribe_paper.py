"""Read the tables of the paper's LaTeX source into src/actc/bench/paper/published.csv.

Usage: python benchmarks/paper/transcribe_paper.py paper.tex > src/actc/bench/paper/published.csv
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

TABLES = {
    "table:avg_res": "avg",
    "table:avg_res_f1": "avg-f1",
    "tab:res_1": "l1",
    "tab:res_10": "l10",
    "tab:res_50": "l50",
}
METHODS = {
    "LocalOpt (Acc)": "localopt-acc",
    "LocalOpt (F1)": "localopt-f1",
    "GlobalOpt (F1)": "globalopt-f1",
    "ACTC-LR_{dens}": "actc-lr-dens",
    "ACTC-GP_{dens}": "actc-gp-dens",
    "ACTC-LR_{rndm}": "actc-lr-rndm",
    "ACTC-GP_{rndm}": "actc-gp-rndm",
}
CELLS = [(dataset, model) for dataset in ("codex-s", "codex-m") for model in ("complex", "conve", "transe", "rescal")]
COLUMNS = [(*cell, metric) for cell in [*CELLS, ("all", "all")] for metric in ("accuracy", "f1")]


def find_tables(source: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the body of every table that has one of the wanted labels."""
    for block in re.findall(r"\\begin\{table\*\}(.*?)\\end\{table\*\}", source, flags=re.DOTALL):
        label = re.search(r"\\label\{(.*?)\}", block)
        if label and label[1] in TABLES:
            yield TABLES[label[1]], block


def read_method(cell: str) -> str | None:
    """Return our name of the method that heads a row, None where the row is not a method's."""
    for printed, name in METHODS.items():
        if printed in cell:
            return name + "-f1" if "} (F1)" in cell else name
    return None


def read_number(cell: str) -> str:
    """Return the number in a cell (bold, small, after a plus-minus or in brackets), or nothing."""
    number = re.search(r"\d+(\.\d+)?", cell.replace("\\scriptsize", ""))
    return number[0] if number else ""


def read_rows(body: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each method with its numbers and, from the row below, their plus-minus."""
    lines = [line.split("&") for line in re.split(r"\\\\(?:\[.*?\])?", body)]
    for line, below in pairwise(lines):
        method = read_method(line[0])
        if method:
            numbers = [read_number(cell) for cell in line[1:]]
            spreads = [read_number(cell) for cell in below[1:]]
            yield method, numbers, spreads + [""] * (len(numbers) - len(spreads))


def main() -> None:
    """Write the tidy rows to standard output."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["table", "dataset", "model", "method", "metric", "value", "plus_minus"])
    for table, body in find_tables(Path(sys.argv[1]).read_text(encoding="utf-8")):
        for method, numbers, spreads in read_rows(body):
            for (dataset, model, metric), number, spread in zip(COLUMNS, numbers, spreads, strict=True):
                writer.writerow([table, dataset, model, method, metric, number, spread])


if __name__ == "__main__":
    main()
