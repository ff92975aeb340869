"""Draw the figures of docs/pooled.md from the committed rows, as PNG and SVG."""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib as mpl
import numpy as np
from summarise import mean_by_budget, read_rows

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
LINES = {
    "pooled-known": ("pooled-known: own picks, known triples' scores", "#08519c", "-"),
    "pooled": ("pooled: own picks", "#3182bd", "-"),
    "pooled-rndm": ("pooled-rndm: random labels", "#6baed6", "--"),
    "actc-lr-rndm": ("ACTC (LR, random labels)", "#d95f0e", "--"),
    "localopt-acc": ("LocalOpt (random labels)", "#969696", ":"),
}
GREY, BLUE, LIGHT, ORANGE = "#737373", "#08519c", "#6baed6", "#d95f0e"


def plot_cells() -> None:
    """Draw accuracy and F1 against the budget, the mean of the eight cells."""
    table = read_rows("cells.csv.gz")
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), sharex=True, layout="constrained")
    for axis, column, name in zip(axes, (0, 1), ("accuracy", "F1"), strict=True):
        for method, (label, colour, dashes) in LINES.items():
            means = mean_by_budget(table, method)
            axis.plot(list(means), [value[column] for value in means.values()], dashes, color=colour, label=label, lw=2)
        axis.set_xscale("symlog", linthresh=1, linscale=0.4)
        axis.set_xticks(
            [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], labels=[0, 1, 2, 5, 10, 20, 50, 100, 200, 500, "1k"]
        )
        axis.minorticks_off()
        axis.set_xlabel("annotated triples")
        axis.set_ylabel(f"{name} on test, %")
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    save(figure, "cells")


def plot_thresholds() -> None:
    """Draw how much of each relation is accepted, against what all labels would accept."""
    rows = read("thresholds.csv")
    best = {row["relation"]: float(row["accepted_share"]) for row in rows if row["method"] == "all labels"}
    panels = {"ACTC": ORANGE, "pooled, no label": LIGHT, "pooled, same labels": "#3182bd", "pooled, own picks": BLUE}
    figure, axes = plt.subplots(1, 4, figsize=(12, 4.1), sharey=True, layout="constrained")
    for axis, (method, colour) in zip(axes, panels.items(), strict=True):
        mine = [row for row in rows if row["method"] == method]
        x = np.array([best[row["relation"]] for row in mine])
        y = np.array([float(row["accepted_share"]) for row in mine])
        size = np.array([int(row["triples"]) for row in mine])
        axis.plot([0, 1], [0, 1], color=GREY, lw=1, ls=":")
        axis.scatter(x, y, s=4 + 400 * size / size.max(), color=colour, alpha=0.55, lw=0, clip_on=False)
        off = np.average(np.abs(x - y), weights=size)
        axis.set_title(
            f"{method}{'' if 'no label' in method else ', 50 labels'}\noff by {100 * off:.0f}% on average", fontsize=10
        )
        axis.set_xlabel("accepted with all 20,620 labels")
        axis.set(xlim=(-0.05, 1.08), ylim=(-0.05, 1.08), aspect="equal")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("share of the relation accepted")
    save(figure, "thresholds")


def plot_picks() -> None:
    """Draw which relations, and which of their triples, the labels went to."""
    rows, shares = read("picks.csv"), read("thresholds.csv")
    best = {row["relation"]: float(row["accepted_share"]) for row in shares if row["method"] == "all labels"}
    size = {row["relation"]: int(row["triples"]) for row in shares if row["method"] == "all labels"}
    shown = sorted(size, key=lambda name: -size[name])[:20]
    figure, axes = plt.subplots(1, 2, figsize=(10, 5), sharey=True, layout="constrained")
    for axis, method in zip(axes, ("random", "pooled"), strict=True):
        for at, relation in enumerate(shown):
            axis.barh(at, 1, color="#f0f0f0", height=0.8)
            axis.plot([1 - best[relation]] * 2, [at - 0.4, at + 0.4], color=GREY, lw=2)
            mine = [row for row in rows if (row["method"], row["relation"]) == (method, relation)]
            for label, colour in ((1, BLUE), (0, ORANGE)):
                ranks = [float(row["rank"]) for row in mine if int(row["label"]) == label]
                axis.scatter(ranks, [at] * len(ranks), s=26, color=colour, zorder=3, lw=0)
        count = sum(row["method"] == method for row in rows)
        outside = count - sum(row["method"] == method and row["relation"] in shown for row in rows)
        title = "random labels" if method == "random" else "pooled picks"
        axis.set_title(f"{count} {title} ({outside} in smaller relations)", fontsize=10)
        axis.set_yticks(range(len(shown)), labels=[f"{name} ({size[name]})" for name in shown], fontsize=8)
        axis.set_xlabel("rank of the score in the relation, lowest to highest")
        axis.spines[["top", "right", "left"]].set_visible(False)
    axes[0].invert_yaxis()
    handles = [
        plt.Line2D([], [], marker="o", ls="", color=BLUE, label="judged true"),
        plt.Line2D([], [], marker="o", ls="", color=ORANGE, label="judged false"),
        plt.Line2D([], [], color=GREY, lw=2, label="best cut, all labels"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    save(figure, "picks")


def read(name: str) -> list[dict[str, str]]:
    """Read a small table."""
    with open(HERE / name, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def save(figure: plt.Figure, name: str) -> None:
    """Write a figure twice, without a date in the file."""
    figure.savefig(HERE / f"{name}.png", dpi=130)
    figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    mpl.rcParams["svg.hashsalt"] = "actc"
    plot_thresholds()
    plot_picks()
    plot_cells()
