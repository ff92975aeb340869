"""Draw CPU time against the number of candidates from decide.csv: both axes logarithmic, so linear time has slope 1;
the smallest size still carries the half second that Python takes to start.

python benchmarks/scale/plot.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
NAMES = {
    "bare-copy": "bare copy, one constant",
    "decide-file": "actc decide, one file",
    "decide-folder": "actc decide, folder of parts",
}


def best(rows: list[dict[str, str]], what: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes and the least CPU time at each."""
    sizes = sorted({int(row["rows"]) for row in rows if row["what"] == what})
    mine = [row for row in rows if row["what"] == what and row["cpu_seconds"]]
    times = [min(float(row["cpu_seconds"]) for row in mine if int(row["rows"]) == size) for size in sizes]
    return np.array(sizes), np.array(times)


def main() -> None:
    """Write decide.png."""
    with open(HERE / "decide.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for what, marker in zip(NAMES, "s^o", strict=True):
        sizes, times = best(rows, what)
        slope = np.diff(np.log(times[-2:]))[0] / np.diff(np.log(sizes[-2:]))[0]
        axes.loglog(sizes, times, marker=marker, label=f"{NAMES[what]} (last slope {slope:.2f})")
    axes.set(xlabel="candidates", ylabel="CPU seconds, least of the runs", title="1,000 relations, --memory 1GB")
    axes.grid(which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(HERE / "decide.png", dpi=150)


if __name__ == "__main__":
    main()
