"""Rows in, figure out: learning curves as a picture, and as text for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from actc.bench.rows import Row
from actc.data.deliver import write_beside
from actc.errors import needing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe & Ito's palette: distinct for colour-blind readers and in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LETTERS = "ox+*#@%"


@dataclass(frozen=True)
class Curve:
    """One line of a learning curve: mean accuracy in % by budget, and half the width of its band."""

    name: str
    budgets: tuple[int, ...]
    means: tuple[float, ...]
    errors: tuple[float, ...]


def curves_of(rows: Sequence[Row], names: Mapping[str, str]) -> list[Curve]:
    """Fold rows into one curve per method, in the order of ``names`` (method: label); bands are standard errors."""
    curves = []
    for method, name in names.items():
        mine = [row for row in rows if row.method == method]
        budgets = tuple(sorted({row.budget for row in mine}))
        values = [np.array([100 * row.accuracy for row in mine if row.budget == budget]) for budget in budgets]
        errors = tuple(float(v.std(ddof=1) / np.sqrt(len(v))) if len(v) > 1 else 0.0 for v in values)
        curves.append(Curve(name, budgets, tuple(float(v.mean()) for v in values), errors))
    return curves


def draw_learning_curves(
    curves: Sequence[Curve], levels: Mapping[str, float] | None = None, title: str = "", path: str | Path | None = None
) -> Figure:
    """Draw accuracy by budget and return the figure.

    Parameters
    ----------
    curves : sequence of Curve
        See :func:`curves_of`.
    levels : dict, optional
        Horizontal lines: name and accuracy in %.
    title : str
        Above the picture.
    path : path, optional
        A PNG or SVG file to write it to.
    """
    figure = new_figure(8.0, 5.6)
    axes = figure.add_subplot()
    budgets = sorted({budget for curve in curves for budget in curve.budgets})
    place = {budget: i for i, budget in enumerate(budgets)}
    for curve, colour, marker in zip(curves, COLOURS, MARKERS, strict=False):
        x = [place[budget] for budget in curve.budgets]
        low, high = np.subtract(curve.means, curve.errors), np.add(curve.means, curve.errors)
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(x, curve.means, color=colour, marker=marker, markersize=5, label=curve.name)
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


def sketch_learning_curves(curves: Sequence[Curve], height: int = 16, column: int = 7) -> str:
    """Return the curves as text: one letter per curve, budgets along the foot, accuracy up the side."""
    budgets = sorted({budget for curve in curves for budget in curve.budgets})
    every = [mean for curve in curves for mean in curve.means]
    low, high = np.floor(min(every)), np.ceil(max(every))
    step = max((high - low) / (height - 1), 1e-9)
    canvas = [[" "] * (column * len(budgets)) for _ in range(height)]
    for curve, letter in reversed(list(zip(curves, LETTERS, strict=False))):
        x = [budgets.index(budget) * column + column // 2 for budget in curve.budgets]
        for at in range(x[0], x[-1] + 1):
            line = canvas[height - 1 - round((float(np.interp(at, x, curve.means)) - low) / step)]
            if at in x:
                line[at] = letter
            elif line[at] == " ":
                line[at] = "·"
    lines = [f"{low + step * (height - 1 - i):5.1f} |" + "".join(line).rstrip() for i, line in enumerate(canvas)]
    foot = "      +" + "-" * (column * len(budgets))
    ticks = "       " + "".join(f"{budget:^{column}}" for budget in budgets).rstrip()
    legend = [f"       {letter} {curve.name}" for curve, letter in zip(curves, LETTERS, strict=False)]
    return "\n".join([*lines, foot, ticks, *legend])
