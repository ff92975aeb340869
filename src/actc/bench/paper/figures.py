"""The paper's figures, redrawn from rows: rows in, figure out. Every line has a marker of its own beside its colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from actc.bench.measurements import Measurements, Run
from actc.bench.paper.tables import DATASET_LABELS, MODEL_LABELS, label_cell, label_method
from actc.bench.plots import COLOURS, check_matplotlib, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BLUE, VERMILION, GREEN, PURPLE, ORANGE, *_ = COLOURS
# How a line is drawn: colour, marker, style.
METHOD_LOOKS = {
    "actc-lr-rndm": (BLUE, "o", "-"),
    "actc-lr-dens": (BLUE, "o", "-"),
    "localopt-acc": (VERMILION, "s", "-"),
    "localopt-f1": (ORANGE, "^", "-"),
    "globalopt-f1": (GREEN, "D", "-"),
    "actc-lr-uni": (BLUE, "o", "--"),
    "localopt-acc-uni": (VERMILION, "s", "--"),
    "localopt-f1-uni": (ORANGE, "^", "--"),
}
MODEL_LOOKS = {
    "complex": (BLUE, "o", "-"),
    "conve": (VERMILION, "s", "-"),
    "transe": (GREEN, "^", "-"),
    "rescal": (PURPLE, "D", "-"),
    "tucker": (ORANGE, "v", "-"),
}
BASELINES = ("globalopt-f1", "localopt-acc", "localopt-f1")
BANDED = ("actc-lr-rndm", "localopt-acc")  # four bands on top of each other could not be read
UNIFORM_PAIRS = (
    *("actc-lr-rndm", "actc-lr-uni"),
    *("localopt-acc", "localopt-acc-uni"),
    *("localopt-f1", "localopt-f1-uni"),
)
N_VALUES = (5, 10, 20, 50, 100, 200, 500, 1000)


@contextmanager
def drawing_settings() -> Iterator[None]:
    """Draw under our settings meanwhile: axes take them when they are made."""
    check_matplotlib()
    import matplotlib

    settings: Any = {
        "svg.hashsalt": "actc",  # otherwise the ids in an SVG differ from run to run
        "font.size": 10,
        "axes.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "0.9",
        "lines.markersize": 4,
        "lines.linewidth": 1.5,
        "figure.titlesize": 11,
    }
    with matplotlib.rc_context(settings):
        yield


def draw_budgets(results: Measurements, dataset: str) -> Figure:
    """Draw ACTC-LR, random (upper) and density selection (lower), against the baselines, model by model."""
    drawn = ("actc-lr-rndm", "actc-lr-dens")
    has = {run[:2] for run in results.runs if run.method in drawn}
    models = [cell[1] for cell in results.cells() if cell[0] == dataset and cell in has and cell[1] in MODEL_LOOKS]
    figure = new_figure(3.0 * len(models) + 0.6, 6.2)
    axes = figure.subplots(2, len(models), sharex=True, sharey=True, squeeze=False)
    for row, method in enumerate(drawn):
        for column, model in enumerate(models):
            plot = axes[row, column]
            for name in (method, *BASELINES):
                _draw_curve(plot, results, Run(dataset, model, name), "accuracy", band=name in BANDED)
            plot.set_title(f"{MODEL_LABELS[model]}, {'random' if row == 0 else 'density'} selection")
    for plot in axes[:, 0]:
        plot.set_ylabel("test accuracy (%)")
    for plot in axes[-1]:
        _label_budgets(plot, results)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    labels = ["ACTC-LR" if label.startswith("ACTC-LR") else label for label in labels]
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    banded = " and ".join(label_method(name).removesuffix(" rndm") for name in BANDED)
    figure.suptitle(
        f"{DATASET_LABELS.get(dataset, dataset)}: mean of the repeats; "
        f"bands hold the middle 80 % of the repeats of {banded}"
    )
    return figure


def draw_uniform(results: Measurements, cell: tuple[str, str]) -> Figure:
    """Draw one threshold for all relations against one for each."""
    figure = new_figure(10.5, 4.4)
    axes = figure.subplots(1, 2, sharex=True)
    for plot, metric, label in zip(axes, ("accuracy", "f1"), ("test accuracy (%)", "test F1 (%)"), strict=True):
        for name in UNIFORM_PAIRS:
            _draw_curve(plot, results, Run(*cell, name), metric, band=False)
        plot.set_ylabel(label)
        _label_budgets(plot, results)
    figure.suptitle(f"{label_cell(cell)}, random selection: a threshold per relation (solid) or one for all (dashed)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def draw_n(results: Measurements, datasets: Sequence[str]) -> Figure:
    """Draw the average over budgets against n, the smallest decision set that is enough; data sets with runs only."""
    datasets = [dataset for dataset in datasets if _models_over_n(results, dataset)]
    figure = new_figure(0.5 + 5.0 * max(len(datasets), 1), 4.2)
    axes = figure.subplots(1, len(datasets), sharey=True, squeeze=False)[0]
    ends: dict[str, list[tuple[float, str, str]]] = {dataset: [] for dataset in datasets}
    for plot, dataset in zip(axes, datasets, strict=True):
        for model, runs in _models_over_n(results, dataset).items():
            color, marker, _ = MODEL_LOOKS[model]
            values = [results.average([run], "accuracy").value for run in runs]
            plot.plot(N_VALUES, values, color=color, marker=marker)
            ends[dataset].append((values[-1], MODEL_LABELS[model], color))
        plot.set_xscale("log")
        plot.set_xticks(N_VALUES, [str(n) for n in N_VALUES])
        plot.minorticks_off()
        plot.set_xlabel("n, smallest decision set (triples)")
        plot.set_title(DATASET_LABELS.get(dataset, dataset))
    for plot, dataset in zip(axes, datasets, strict=True):
        _label_ends(plot, ends[dataset])  # now that all lines are there, the shared scale is final
    axes[0].set_ylabel("test accuracy (%), mean of the budgets")
    figure.suptitle("ACTC-LR dens: how many labels, given or estimated, are enough for a threshold?")
    return figure


def _models_over_n(results: Measurements, dataset: str) -> dict[str, list[Run]]:
    """Return each model's runs over n, of the models that have them all."""
    runs = {model: [Run(dataset, model, f"actc-lr-dens:n={n}") for n in N_VALUES] for model in MODEL_LOOKS}
    return {model: mine for model, mine in runs.items() if all(run in results.runs for run in mine)}


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as ``path.svg`` and ``path.png``; the same figure gives the same bytes."""
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=150, metadata={"Software": None})


def _draw_curve(plot: Axes, results: Measurements, run: Run, metric: str, band: bool) -> None:
    if run not in results.runs:
        return
    values = results.select(run, metric)
    color, marker, line = METHOD_LOOKS[run.method]
    inside = color if line == "-" else "white"
    means, label = values.mean(axis=1), label_method(run.method)
    plot.plot(results.budgets, means, label=label, color=color, marker=marker, linestyle=line, markerfacecolor=inside)
    if band and values.shape[1] > 1:
        low, high = np.quantile(values, [0.1, 0.9], axis=1)
        plot.fill_between(results.budgets, low, high, color=color, alpha=0.13, linewidth=0)


def _label_budgets(plot: Axes, results: Measurements) -> None:
    plot.set_xscale("log")
    plot.set_xticks(results.budgets, [str(budget) for budget in results.budgets], rotation=45)
    plot.minorticks_off()
    plot.set_xlabel("annotated triples, l")


def _label_ends(plot: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write names at the ends of lines, pushed apart where they would overlap."""
    low, high = plot.get_ylim()
    place = -np.inf
    for value, name, color in sorted(ends):
        place = max(value, place + 0.05 * (high - low))
        plot.annotate(
            name,
            (1.02, place),
            xycoords=plot.get_yaxis_transform(),
            va="center",
            color=color,
            annotation_clip=False,
        )
