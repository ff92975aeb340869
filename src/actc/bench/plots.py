"""Rows in, figure out: learning curves as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from actc.bench.measurements import Row
from actc.data.deliver import write_beside
from actc.errors import needing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe & Ito's palette: distinct for colour-blind readers and in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def draw_learning_curves(
    rows: Sequence[Row],
    names: Mapping[str, str],
    levels: Mapping[str, float] | None = None,
    title: str = "",
    path: str | Path | None = None,
) -> Figure:
    """Draw mean accuracy by budget, with bands of a standard error over the repeats, and return the figure.

    Parameters
    ----------
    rows : sequence of Row
        What an experiment measured.
    names : dict
        The methods to draw, and the name of each in the legend.
    levels : dict, optional
        Horizontal lines: name and accuracy in %.
    title : str
        Above the picture.
    path : path, optional
        A PNG or SVG file to write it to.
    """
    figure = new_figure(8.0, 5.6)
    axes = figure.add_subplot()
    budgets = sorted({row.budget for row in rows if row.method in names})
    for (method, name), colour, marker in zip(names.items(), COLOURS, MARKERS, strict=False):
        of_budget = {b: [r.accuracy for r in rows if (r.method, r.budget) == (method, b)] for b in budgets}
        measured = {budgets.index(budget): 100 * np.array(values) for budget, values in of_budget.items() if values}
        means = np.array([values.mean() for values in measured.values()])
        errors = np.array([v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0.0 for v in measured.values()])
        axes.fill_between(list(measured), means - errors, means + errors, color=colour, alpha=0.15, linewidth=0)
        axes.plot(list(measured), means, color=colour, marker=marker, markersize=5, label=name)
    for (name, level), style in zip((levels or {}).items(), ("--", ":", "-."), strict=False):
        axes.axhline(level, color="#555555", linewidth=1, linestyle=style, label=f"{name}: {level:.1f}")
    axes.set_xticks(range(len(budgets)), [str(budget) for budget in budgets])
    axes.set_xlabel("triples judged by a person")
    axes.set_ylabel("accuracy on test triples in %")
    axes.set_title(title, loc="left")
    axes.grid(axis="y", color="#dddddd")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, fontsize=9, loc="outside lower center", ncols=2)
    if path is not None:
        with write_beside(path) as temporary:
            figure.savefig(temporary, format=Path(path).suffix[1:], dpi=150)
    return figure


def check_matplotlib() -> None:
    """Raise an error with what to install where figures cannot be drawn."""
    with needing("Drawing figures", "matplotlib", "plots"):
        import matplotlib  # noqa: F401


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches; it is drawn without a screen."""
    check_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
