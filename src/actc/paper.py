"""Every table and figure of the paper, measured, beside the published numbers.

An item is a table or a figure. It says which methods it needs in which cells, so that a few items can be
asked for and only their part of the grid is run; and how it is built from the results. Rows are written
first (``grid.py``), everything else is drawn from them, now or later.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from actc.datasets import DATASETS, has_authors_scores, list_models
from actc.errors import ChoiceError, OptionError
from actc.files import write_beside
from actc.grid import Settings, read_results, run_grid
from actc.paper_figures import (
    N_VALUES,
    UNIFORM_PAIRS,
    check_matplotlib,
    draw_budgets,
    draw_n,
    draw_uniform,
    save_figure,
)
from actc.paper_page import Picture, build_page
from actc.paper_tables import (
    DATASET_LABELS,
    Entry,
    build_ablation,
    build_comparisons,
    build_paper_table,
    list_entries,
)
from actc.results import METRICS, Results, Run
from actc.text_tables import WRITERS, TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Place = tuple[str, str]

NUMBERS = (
    *("table", "dataset", "model", "method", "metric"),
    *("ours", "over_repeats", "over_budgets", "paper", "paper_plus_minus", "difference"),
)
SUMMARY = (
    *("dataset", "model", "method", "budget", "repeats"),
    *("accuracy", "accuracy_error", "f1", "f1_error"),
)
BASELINES = ("localopt-acc", "localopt-f1", "globalopt-f1")
ACTC = ("actc-lr-dens", "actc-gp-dens", "actc-lr-rndm", "actc-gp-rndm")
APPENDIX = (ACTC[0], "actc-lr-dens:default=annotations", *ACTC[1:])
ACTC_F1 = tuple(f"{method}-f1" for method in ACTC)
UNIFORM = ("actc-lr-uni", "actc-gp-uni", "localopt-acc-uni", "localopt-f1-uni")
PAPER_METHODS = (*BASELINES, *ACTC, *ACTC_F1, *UNIFORM)
ABLATION_REPEATS = 10
QUICK_REPEATS = 10
AUTHORS_CELL: Place = ("codex-s", "complex-authors")
UNIFORM_CELL: Place = ("codex-s", "conve")


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper.

    Parameters
    ----------
    title : str
        What it shows.
    methods : tuple of str
        What must be run for it.
    build : callable
        Given results, the item's name and methods of the user's own, returns the table or figure.
    wants : callable
        Says of a (data set, model) whether the item needs it.
    repeats : int, optional
        The most repeats it needs.
    own_methods : bool
        Whether the user's own methods stand in it too.
    """

    title: str
    methods: tuple[str, ...]
    build: Callable[[Results, str, tuple[str, ...]], TextTable | Figure]
    wants: Callable[[Place], bool] = lambda place: True
    repeats: int | None = None
    own_methods: bool = False


def plan_runs(
    items: Iterable[str], own_methods: Sequence[str], places: Sequence[Place], repeats: int
) -> dict[Run, int]:
    """Return what must be run and how often; cell by cell, so that each is loaded once."""
    wanted: dict[Run, int] = {}
    chosen = [find_item(name) for name in items]
    for place in places:
        for item in (item for item in chosen if item.wants(place)):
            for method in (*item.methods, *(own_methods if item.own_methods else ())):
                run = Run(*place, method)
                wanted[run] = max(wanted.get(run, 0), min(repeats, item.repeats or repeats))
    return wanted


def list_places(*, quick: bool = False) -> list[Place]:
    """Name the cells to run: every model whose scores are here, and the scores that the authors published."""
    datasets = DATASETS[:1] if quick else DATASETS
    places = [(dataset, model) for dataset in datasets for model in list_models(dataset)]
    if not places:
        raise OptionError("There are no scores here: run from a checkout of the repository, or set ACTC_DATA.")
    return [*places, AUTHORS_CELL] if has_authors_scores() else places


def run_paper(
    out: Path,
    *,
    items: Sequence[str] = (),
    own_methods: Sequence[str] = (),
    quick: bool = False,
    repeats: int = 100,
    settings: Settings | None = None,
    jobs: int = -1,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Path:
    """Run what the items need, resuming from ``out/rows.csv``, and write them all; returns the page's path.

    Parameters
    ----------
    out : Path
        A folder, made if it is not there.
    items : sequence of str
        Names in ``ITEMS``; none means all of them.
    own_methods : sequence of str
        Methods that stand beside the paper's, as ``module:name`` or any other name ``find_method`` knows.
    quick : bool
        CoDEx-S alone and at most ``QUICK_REPEATS`` repeats: a look, not a measurement.
    repeats, settings, jobs, progress
        See ``grid.run_grid``. The draws are the authors' unless the settings say otherwise.
    """
    chosen = list(items) or list(ITEMS)
    if any(name.startswith("figure") for name in chosen):
        check_matplotlib()  # now, not after the run
    places = list_places(quick=quick)
    runs = plan_runs(chosen, own_methods, places, min(repeats, QUICK_REPEATS) if quick else repeats)
    rows = out / "rows.csv"
    run_grid(runs, settings or Settings(draws="authors"), rows, jobs=jobs, progress=progress)
    return write_paper(read_results(rows).only(runs), chosen, out, own_methods)


def redraw_paper(rows: Path, out: Path, *, items: Sequence[str] = (), own_methods: Sequence[str] = ()) -> Path:
    """Write the items from rows that are there already, without running anything; returns the page's path."""
    return write_paper(read_results(rows), list(items) or list(ITEMS), out, own_methods)


def write_paper(results: Results, items: Iterable[str], out: Path, own_methods: Sequence[str] = ()) -> Path:
    """Write the items' tables and figures, a table of all numbers, and the page that shows everything.

    Returns the path of the page. Items whose runs the results do not have are left out.
    """
    out.mkdir(parents=True, exist_ok=True)
    tables: list[TextTable] = []
    pictures: list[Picture] = []
    entries: list[Entry] = []
    for name in items:
        item = find_item(name)
        if not any(run.method in item.methods and item.wants(run[:2]) for run in results.runs):
            continue
        made = item.build(results, name, tuple(own_methods))
        if isinstance(made, TextTable):
            tables.append(made)
            _write_table(made, out)
            if name in PRINTED_TABLES:
                table, budget = PRINTED_TABLES[name]
                entries += list_entries(results, table, (*item.methods, *own_methods), budget)
        else:
            save_figure(made, out / name)
            pictures.append(Picture(name, item.title, out / name))
    if entries:
        _write_entries(out / "numbers.csv", entries)
    _write_summary(out / "summary.csv", results)
    page = out / "index.html"
    with write_beside(page) as temporary:
        temporary.write_text(build_page(TITLE, _describe(results), tables, pictures), encoding="utf-8")
    return page


def find_item(name: str) -> Item:
    """Return the item of that name."""
    if name not in ITEMS:
        raise ChoiceError("table or figure", name, ITEMS)
    return ITEMS[name]


def _write_table(table: TextTable, out: Path) -> None:
    for ending in (".md", ".tex"):
        with write_beside(out / f"{table.name}{ending}") as temporary:
            temporary.write_text(WRITERS[ending](table), encoding="utf-8")
    with write_beside(out / f"{table.name}.csv") as temporary, temporary.open("w", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerows([table.header, *table.rows])


def _write_entries(path: Path, entries: Iterable[Entry]) -> None:
    with write_beside(path) as temporary, temporary.open("w", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(NUMBERS)
        for entry in entries:
            paper, plus_minus = entry.paper or (None, None)
            numbers = (*entry.ours, paper, plus_minus, entry.difference)
            writer.writerow([*entry[:5], *("" if number is None else f"{number:.3f}" for number in numbers)])


def _write_summary(path: Path, results: Results) -> None:
    """Write the mean and the standard error over repeats of every run at every budget."""
    with write_beside(path) as temporary, temporary.open("w", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(SUMMARY)
        for run, values in results.runs.items():
            for budget in results.budgets.tolist():
                estimates = [results.estimate(run, metric, budget) for metric in METRICS]
                numbers = [number for estimate in estimates for number in estimate[:2]]
                shown = ["" if number is None else f"{number:.3f}" for number in numbers]
                writer.writerow([*run, budget, values.shape[2], *shown])


def _describe(results: Results) -> list[str]:
    repeats = max(values.shape[2] for values in results.runs.values())
    return [
        f"{len(results.cells())} cells, {len(results.methods())} methods and variants, budgets "
        f"{', '.join(map(str, results.budgets))}, up to {repeats} repeats. Differences are ours less the paper's; "
        "the paper's models are not at hand, so apart from the authors' published scores each cell is a model "
        "trained again by the same recipe."
    ]


def _paper_table(title: str, table: str, budget: int | None, methods: tuple[str, ...]) -> Item:
    def build(results: Results, name: str, own: tuple[str, ...]) -> TextTable:
        return build_paper_table(results, table, title, (*methods, *own), budget)

    return Item(title, methods, build, own_methods=True)


def _ablation(title: str, variants: dict[str, str]) -> Item:
    def wants(place: Place) -> bool:
        return place[0] == "codex-s" and place != AUTHORS_CELL

    def build(results: Results, name: str, own: tuple[str, ...]) -> TextTable:
        cells = [cell for cell in results.cells() if wants(cell)]
        return build_ablation(results.first_repeats(ABLATION_REPEATS), name, title, variants, cells)

    return Item(title, tuple(variants.values()), build, wants, ABLATION_REPEATS)


def _comparisons(metric: str, title: str) -> Item:
    def build(results: Results, name: str, own: tuple[str, ...]) -> TextTable:
        mine = [(method, other) for method in own for other in ("actc-lr-rndm", "localopt-acc")]
        return build_comparisons(results, [*PAIRS, *mine], metric, title)

    methods = tuple(dict.fromkeys(method for pair in PAIRS for method in pair))
    return Item(title, methods, build, lambda place: place != AUTHORS_CELL, own_methods=True)


def _budget_figure(dataset: str) -> Item:
    return Item(
        f"ACTC-LR by annotation budget, {DATASET_LABELS[dataset]}",
        (*BASELINES, "actc-lr-rndm", "actc-lr-dens"),
        lambda results, name, own: draw_budgets(results, dataset),
        lambda place: place[0] == dataset and place != AUTHORS_CELL,
    )


TITLE = "ACTC, run again"
PAIRS = (
    ("actc-lr-rndm", "localopt-acc"),
    ("actc-lr-rndm", "globalopt-f1"),
    ("actc-lr-dens", "localopt-acc"),
    ("actc-lr-dens", "globalopt-f1"),
    ("actc-lr-rndm", "actc-lr-dens"),
    ("actc-lr-rndm", "actc-gp-rndm"),
    ("actc-lr-dens", "actc-gp-dens"),
    ("actc-lr-rndm-f1", "actc-lr-rndm"),
    ("actc-lr-rndm", "actc-lr-uni"),
    ("localopt-acc", "localopt-acc-uni"),
)
# Which items stand in the paper: the name of its table, and the budget it is for.
PRINTED_TABLES: dict[str, tuple[str, int | None]] = {
    "table-avg": ("avg", None),
    "table-avg-f1": ("avg-f1", None),
    "table-l1": ("l1", 1),
    "table-l10": ("l10", 10),
    "table-l50": ("l50", 50),
}
ITEMS: dict[str, Item] = {
    "table-avg": _paper_table("Averages over the annotation budgets", "avg", None, (*BASELINES, *ACTC)),
    "table-avg-f1": _paper_table(
        "Averages over the annotation budgets, with the F1 versions", "avg-f1", None, (*BASELINES, *ACTC, *ACTC_F1)
    ),
    "table-l1": _paper_table("One annotated triple", "l1", 1, (*BASELINES, *APPENDIX)),
    "table-l10": _paper_table("Ten annotated triples", "l10", 10, (*BASELINES, *APPENDIX)),
    "table-l50": _paper_table("Fifty annotated triples", "l50", 50, (*BASELINES, *APPENDIX)),
    "table-uniform": _paper_table("One threshold for all relations, averages", "uniform", None, UNIFORM),
    "comparisons-accuracy": _comparisons("accuracy", "Paired differences in accuracy"),
    "comparisons-f1": _comparisons("f1", "Paired differences in F1"),
    "ablation-estimate-all": _ablation(
        "Estimate all triples, or only until there are n = 500",
        {
            f"{kind}, {what}": f"actc-{kind.lower().replace(' ', '-')}{option}"
            for kind in ("LR rndm", "LR dens", "GP rndm", "GP dens")
            for what, option in (("n = 500", ""), ("all", ":estimate_all=true"))
        },
    ),
    "ablation-soft": _ablation(
        "Hard labels or soft ones",
        {
            f"{kind}, {what}": f"actc-{kind.lower().replace(' ', '-')}{option}"
            for kind in ("LR rndm", "LR dens", "GP rndm", "GP dens")
            for what, option in (("hard", ""), ("soft", ":soft=true"))
        },
    ),
    "ablation-kernels": _ablation(
        "Kernels of the Gaussian process, density selection",
        {
            "Matérn 3/2, length 0.1 (the paper's tables)": "actc-gp-dens",
            "Rational quadratic, length 0.1": "actc-gp-dens:estimator=gp-rational-quadratic",
            "10 × RBF, length 10": "actc-gp-dens:estimator=gp-rbf",
        },
    ),
    "ablation-density": _ablation(
        "Density as run (nearest the mean score) and as printed (farthest)",
        {
            "LR, nearest, as run": "actc-lr-dens",
            "LR, farthest, as printed": "actc-lr-dens:selector=farthest-mean",
            "LR, random": "actc-lr-rndm",
            "GP, nearest, as run": "actc-gp-dens",
            "GP, farthest, as printed": "actc-gp-dens:selector=farthest-mean",
            "GP, random": "actc-gp-rndm",
        },
    ),
    "ablation-default": _ablation(
        "Where the threshold of relations without annotations comes from",
        {
            "LR dens, from estimates": "actc-lr-dens",
            "LR dens, from annotations": "actc-lr-dens:default=annotations",
            "GlobalOpt, found on the grid": "globalopt-f1",
            "GlobalOpt, 0.5 as in the footnote": "globalopt-f1:default=half",
        },
    ),
    "figure-budgets-s": _budget_figure("codex-s"),
    "figure-budgets-m": _budget_figure("codex-m"),
    "figure-uniform": Item(
        "One threshold for all relations against one for each",
        UNIFORM_PAIRS,
        lambda results, name, own: draw_uniform(results, UNIFORM_CELL),
        lambda place: place == UNIFORM_CELL,
    ),
    "figure-n": Item(
        "How many labels are enough for a threshold",
        tuple(f"actc-lr-dens:n={n}" for n in N_VALUES),
        lambda results, name, own: draw_n(results, DATASETS),
        lambda place: place != AUTHORS_CELL,
    ),
}
