"""Compare a full run with averages measured once with the authors' own code on the same retrained scores.

Usage: python benchmarks/paper/check_reference.py benchmarks/paper/rows.csv.gz

The reference averages were made with 20 repeats (density selection 1, ACTC-GP rndm 5) and other random
draws, so a cell is expected within 1.5 points and the mean of the eight cells within 1.0.
"""

from __future__ import annotations

import sys
from pathlib import Path

from actc.bench.measurements import PAPER_METRICS, Measurements, Run, read_measurements
from actc.bench.paper.tables import PAPER_CELLS, label_method

METHODS = (
    *("localopt-acc", "localopt-f1", "globalopt-f1"),
    *("actc-lr-rndm", "actc-lr-dens", "actc-gp-rndm", "actc-gp-dens"),
)
REPEATS = {"actc-gp-rndm": 5}
REFERENCE = """
69.6/68.6 65.8/67.8 70.3/74.0 73.4/73.1 71.4/72.9 73.8/74.5 71.0/73.7
71.5/70.5 67.3/68.8 72.5/75.1 75.7/75.4 75.7/74.8 75.9/76.5 75.6/74.7
68.9/68.7 64.5/67.3 68.2/72.0 73.1/73.1 71.0/70.0 73.6/74.0 71.4/70.0
73.6/73.2 69.4/71.3 75.5/78.4 79.0/79.2 79.5/78.8 79.4/80.3 79.3/78.7
71.8/71.1 69.5/70.2 72.0/75.3 77.1/77.3 77.8/76.6 76.7/77.6 77.8/76.5
71.8/71.4 69.8/70.7 72.6/75.2 76.5/77.2 77.5/75.6 77.1/77.7 78.0/76.2
65.5/66.0 63.5/66.2 64.3/70.3 68.2/68.4 65.2/63.5 68.9/71.1 65.6/64.1
71.7/70.7 69.5/69.9 71.3/74.4 76.3/76.5 75.3/74.1 76.8/76.6 75.1/73.6
"""


def list_differences(results: Measurements, method: str, metric: str) -> dict[tuple[str, str], float]:
    """Return ours less the reference for each of the eight cells, in percentage points."""
    column, at = METHODS.index(method), PAPER_METRICS.index(metric)
    lines = [line.split() for line in REFERENCE.splitlines() if line]
    same = results.first_repeats(REPEATS.get(method, 20))
    return {
        cell: same.average([Run(*cell, method)], metric).value - float(line[column].split("/")[at])
        for cell, line in zip(PAPER_CELLS, lines, strict=True)
    }


def main() -> None:
    """Print every difference."""
    results = read_measurements(Path(sys.argv[1]))
    for metric in PAPER_METRICS:
        print(f"{metric}: ours less the reference, the mean and each cell")
        for method in METHODS:
            differences = list(list_differences(results, method, metric).values())
            shown = " ".join(f"{difference:+.1f}" for difference in differences)
            print(f"  {label_method(method):15} {sum(differences) / len(differences):+.2f}   {shown}")


if __name__ == "__main__":
    main()
