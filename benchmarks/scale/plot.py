"""Draw time against the number of candidates from decide.csv: both axes logarithmic, so linear time has slope 1.

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
    """Return the sizes and the best time at each."""
    sizes = sorted({int(row["rows"]) for row in rows if row["what"] == what})
    times = [min(float(r["seconds"]) for r in rows if r["what"] == what and int(r["rows"]) == n) for n in sizes]
    return np.array(sizes), np.array(times)


def main() -> None:
    """Write decide.png."""
    with open(HERE / "decide.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for what, marker in zip(NAMES, "s^o", strict=True):
        sizes, times = best(rows, what)
        slope = np.polyfit(np.log10(sizes), np.log10(times), 1)[0]
        axes.loglog(sizes, times, marker=marker, label=f"{NAMES[what]} (slope {slope:.2f})")
    axes.set(
        xlabel="candidates", ylabel="seconds, best of the runs", title="Two cores, 1,000 relations, 1 GB of memory"
    )
    axes.grid(which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(HERE / "decide.png", dpi=150)


if __name__ == "__main__":
    main()
