"""Draw a panel for each graph from the committed rows: accuracy by budget of ACTC and pooled."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
COLOURS = {"actc-lr-rndm": "#888888", "pooled": "#0072B2", "pooled-known": "#009E73"}


def read_means() -> dict[tuple[str, str, int], float]:
    """Return accuracy in per cent by graph, method and budget: the mean of a graph's cells."""
    found = defaultdict(list)
    with gzip.open(HERE / "rows.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["dataset"], row["method"], int(row["budget"])].append(100 * float(row["accuracy"]))
    return {key: float(np.mean(values)) for key, values in found.items()}


def main() -> None:
    """Write graphs.png, a panel for each graph."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    means = read_means()
    graphs, budgets = sorted({key[0] for key in means}), sorted({key[2] for key in means})
    sheet, axes = pyplot.subplots(3, 6, figsize=(20, 9), sharex=True)
    for graph, panel in zip(graphs, axes.flat, strict=False):
        for method, colour in COLOURS.items():
            there = [budget for budget in budgets if (graph, method, budget) in means]
            values = [means[graph, method, budget] for budget in there]
            panel.plot([budgets.index(budget) for budget in there], values, color=colour, label=method, marker=".")
        panel.set_title(graph)
        panel.set_xticks(range(len(budgets)), budgets, rotation=60, fontsize=8)
        panel.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=8)
    sheet.supxlabel("answers")
    sheet.supylabel("test accuracy, %")
    sheet.tight_layout()
    sheet.savefig(HERE / "graphs.png", dpi=80)


if __name__ == "__main__":
    main()
