"""`actc paper`: run what the paper's tables and figures need, and write them beside the published numbers.

Rows are written first, by the runner of every experiment; everything else is drawn from them, now or later.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from actc.bench.cells import AUTHORS_MODEL, DATASETS, CellFolder, list_cells, read_cell_once
from actc.bench.measurements import PAPER_METRICS, Measurements, Run, read_measurements
from actc.bench.paper.figures import (
    N_VALUES,
    UNIFORM_PAIRS,
    draw_budgets,
    draw_n,
    draw_uniform,
    drawing_settings,
    save_figure,
)
from actc.bench.paper.tables import (
    DATASET_LABELS,
    WRITERS,
    Entry,
    TextTable,
    build_ablation,
    build_comparisons,
    build_paper_table,
    list_entries,
    load_published,
)
from actc.bench.plots import check_matplotlib
from actc.bench.runs import Conditions, Experiment, run_plan_to_file
from actc.data.progress import Progress, ignore_progress
from actc.data.text_files import render, write_csv, write_text
from actc.errors import OptionError, choose
from actc.methods.named import find_method

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Place = tuple[str, str]

BASELINES = ("localopt-acc", "localopt-f1", "globalopt-f1")
ACTC = ("actc-lr-dens", "actc-gp-dens", "actc-lr-rndm", "actc-gp-rndm")
APPENDIX = (ACTC[0], "actc-lr-dens:default=annotations", *ACTC[1:])
ACTC_F1 = tuple(f"{method}-f1" for method in ACTC)
UNIFORM = ("actc-lr-uni", "actc-gp-uni", "localopt-acc-uni", "localopt-f1-uni")
PAPER_METHODS = (*BASELINES, *ACTC, *ACTC_F1, *UNIFORM)
ABLATION_REPEATS = 10
AUTHORS_CELL: Place = ("codex-s", AUTHORS_MODEL)
UNIFORM_CELL: Place = ("codex-s", "conve")


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper; its name begins with its kind."""

    title: str  # what it shows
    methods: tuple[str, ...]  # what must be run for it
    wants: Callable[[Place], bool] = lambda place: True  # returns whether the item needs a (data set, model)
    repeats: int | None = None  # the most repeats it needs
    budget: int | None = None  # the one that it is for
    labels: tuple[str, ...] = ()  # of an ablation's variants
    draw: Callable[[Measurements], Figure] | None = None  # returns the figure


def build_table(results: Measurements, name: str, own_methods: Sequence[str]) -> TextTable:
    """Return the table of that name."""
    item = ITEMS[name]
    if name.startswith("table"):
        return build_paper_table(results, name, item.title, (*item.methods, *own_methods), item.budget)
    if name.startswith("comparisons"):
        mine = [(method, other) for method in own_methods for other in ("actc-lr-rndm", "localopt-acc")]
        return build_comparisons(results, [*PAIRS, *mine], name.removeprefix("comparisons-"), item.title)
    variants, cells = dict(zip(item.labels, item.methods, strict=True)), list(filter(item.wants, results.cells()))
    return build_ablation(results.first_repeats(ABLATION_REPEATS), name, item.title, variants, cells)


def plan_runs(
    items: Iterable[str], own_methods: Sequence[str], cells: Sequence[CellFolder], repeats: int
) -> dict[Run, int]:
    """Return what must be run and how often; cell by cell, so that each is loaded once.

    A method that needs the known triples is left out where their scores are not at hand.
    """
    wanted: dict[Run, int] = {}
    chosen = {name: choose("table or figure", name, ITEMS) for name in items}
    needs_known = {method for method in own_methods if find_method(method).reads != "pool"}
    for cell in cells:
        place = (cell.dataset, cell.model)
        impossible = set() if cell.has_known else needs_known
        for name, item in chosen.items():
            own = own_methods if name.startswith(("table", "comparisons")) else ()
            for method in (*item.methods, *own):
                if item.wants(place) and method not in impossible:
                    run = Run(*place, method)
                    wanted[run] = max(wanted.get(run, 0), min(repeats, item.repeats or repeats))
    return wanted


def _ablation(title: str, variants: dict[str, str]) -> Item:
    return Item(
        title,
        tuple(variants.values()),
        lambda place: place[0] == "codex-s" and place != AUTHORS_CELL,
        ABLATION_REPEATS,
        labels=tuple(variants),
    )


def _budget_figure(dataset: str) -> Item:
    return Item(
        f"ACTC-LR by annotation budget, {DATASET_LABELS[dataset]} (Figure 2)",
        (*BASELINES, "actc-lr-rndm", "actc-lr-dens"),
        lambda place: place[0] == dataset and place != AUTHORS_CELL,
        draw=lambda results: draw_budgets(results, dataset),
    )


def _four(without: str, what: str, option: str) -> dict[str, str]:
    """Return ACTC's four methods without an option and with it."""
    return {
        f"{kind}, {name}": f"actc-{kind.lower().replace(' ', '-')}{text}"
        for kind in ("LR rndm", "LR dens", "GP rndm", "GP dens")
        for name, text in ((without, ""), (what, option))
    }


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
COMPARED = tuple(dict.fromkeys(method for pair in PAIRS for method in pair))
ITEMS: dict[str, Item] = {
    "table-avg": Item("Averages over the annotation budgets (Table 2)", (*BASELINES, *ACTC)),
    "table-avg-f1": Item(
        "Averages over the annotation budgets, with the F1 versions (Table 3)", (*BASELINES, *ACTC, *ACTC_F1)
    ),
    "table-l1": Item("One annotated triple (Table 4)", (*BASELINES, *APPENDIX), budget=1),
    "table-l10": Item("Ten annotated triples (Table 5)", (*BASELINES, *APPENDIX), budget=10),
    "table-l50": Item("Fifty annotated triples (Table 6)", (*BASELINES, *APPENDIX), budget=50),
    "table-uniform": Item("One threshold for all relations: averages (beside Figure 3)", UNIFORM),
    "comparisons-accuracy": Item("Paired differences in accuracy", COMPARED, lambda place: place != AUTHORS_CELL),
    "comparisons-f1": Item("Paired differences in F1", COMPARED, lambda place: place != AUTHORS_CELL),
    "ablation-estimate-all": _ablation(
        "Estimate all triples, or only until there are n = 500", _four("n = 500", "all", ":estimate_all=true")
    ),
    "ablation-soft": _ablation("Hard labels or soft ones", _four("hard", "soft", ":soft=true")),
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
        "One threshold for all relations against one for each (Figure 3)",
        UNIFORM_PAIRS,
        lambda place: place == UNIFORM_CELL,
        draw=lambda results: draw_uniform(results, UNIFORM_CELL),
    ),
    "figure-n": Item(
        "How many labels are enough for a threshold (Figure 4)",
        tuple(f"actc-lr-dens:n={n}" for n in N_VALUES),
        lambda place: place != AUTHORS_CELL,
        draw=lambda results: draw_n(results, DATASETS),
    ),
}


TITLE = "ACTC, run again"
NUMBERS = (
    *("table", "dataset", "model", "method", "metric"),
    *("ours", "over_repeats", "over_budgets", "paper", "paper_plus_minus", "difference"),
)
SUMMARY = (
    *("dataset", "model", "method", "budget", "repeats"),
    *("accuracy", "accuracy_error", "f1", "f1_error"),
)
QUICK_REPEATS = 10


def run_paper(
    out: str | Path,
    *,
    rows: str | Path | None = None,
    items: Sequence[str] = (),
    own_methods: Sequence[str] = (),
    quick: bool = False,
    repeats: int = 100,
    conditions: Conditions | None = None,
    jobs: int = -1,
    progress: Progress = ignore_progress,
) -> Path:
    """Run what the items need, resuming from ``out/rows.csv``, and write them all, as ``actc paper`` does.

    Returns the page's path.

    Parameters
    ----------
    out : Path
        A folder, made if it is not there.
    rows : Path, optional
        Rows of an earlier run: everything is drawn from these, and nothing is run.
    items : sequence of str
        Names in ``ITEMS``; none means all of them.
    own_methods : sequence of str
        Methods that stand beside the paper's, as ``module:name`` or any other name ``find_method`` knows.
    quick : bool
        CoDEx-S alone and at most ``QUICK_REPEATS`` repeats: a look, not a measurement.
    conditions : Conditions, optional
        The paper's by default, with the authors' draws.
    repeats, jobs, progress
        See ``run_experiment``.
    """
    chosen, out = list(items) or list(ITEMS), Path(out)
    if rows is not None:
        return write_paper(read_measurements(Path(rows)), chosen, out, own_methods)
    if any(name.startswith("figure") for name in chosen):
        check_matplotlib()  # now, not after the run
    cells = list_cells(DATASETS[:1] if quick else DATASETS)
    if not cells:
        raise OptionError("There are no scores here: run from a checkout of the repository, or set ACTC_SCORES.")
    read_cell_once.cache_clear()  # a folder may have changed since
    runs = plan_runs(chosen, own_methods, cells, min(repeats, QUICK_REPEATS) if quick else repeats)
    plan = Experiment(cells, runs, conditions or Conditions(draws="authors"))
    run_plan_to_file(plan, out / "rows.csv", jobs=jobs, progress=progress)
    return write_paper(read_measurements(out / "rows.csv", runs), chosen, out, own_methods)


def write_paper(results: Measurements, items: Iterable[str], out: Path, own_methods: Sequence[str] = ()) -> Path:
    """Write the items' tables and figures, a table of all numbers, and the page that shows everything.

    Returns the path of the page. Items whose runs the results do not have are left out.
    """
    chosen = {name: choose("table or figure", name, ITEMS) for name in items}
    out.mkdir(parents=True, exist_ok=True)
    printed = {key[0] for key in load_published()}
    tables: list[TextTable] = []
    pictures: list[tuple[str, str, str]] = []  # name, heading, the figure in base64
    entries: list[Entry] = []
    for name, item in chosen.items():
        measured = item.budget is None or item.budget in results.budgets
        if not measured or not any(run.method in item.methods and item.wants(run[:2]) for run in results.runs):
            continue
        if item.draw is not None:
            with drawing_settings():
                save_figure(item.draw(results), out / name)
            drawn = (out / name).with_suffix(".svg").read_bytes()
            pictures.append((name, item.title, b64encode(drawn).decode("ascii")))
            continue
        made = build_table(results, name, own_methods)
        tables.append(made)
        for ending, write in WRITERS.items():
            write_text(out / f"{name}{ending}", write(made))
        write_csv(out / f"{name}.csv", [made.header, *made.rows])
        table = name.removeprefix("table-")
        if table in printed:
            entries += list_entries(results, table, (*item.methods, *own_methods), item.budget)
    if entries:
        numbers = ([*one.key, *_show(*one.ours, one.paper, one.plus_minus, one.difference)] for one in entries)
        write_csv(out / "numbers.csv", [NUMBERS, *numbers])
    write_csv(out / "summary.csv", [SUMMARY, *_summary_rows(results)])
    page, facts = out / "index.html", _describe(results, entries)
    write_text(page, render("paper.html", title=TITLE, facts=facts, tables=tables, pictures=pictures))
    return page


def _summary_rows(results: Measurements) -> Iterator[Sequence[Any]]:
    """Give the mean and the standard error over repeats of every run at every budget."""
    for run, values in results.runs.items():
        for budget in results.budgets.tolist():
            averages = [results.average([run], metric, budget) for metric in PAPER_METRICS]
            yield [*run, budget, values.shape[2], *_show(*(number for average in averages for number in average[:2]))]


def _show(*numbers: float | None) -> list[str]:
    return ["" if number is None else f"{number:.3f}" for number in numbers]


def _describe(results: Measurements, entries: Sequence[Entry]) -> list[str]:
    """Describe how far our numbers are from the published ones, each of which counts once, and what was run."""
    repeats = max(values.shape[2] for values in results.runs.values())
    run = (
        f"{len(results.cells())} cells, {len(results.methods())} methods and variants, budgets "
        f"{', '.join(map(str, results.budgets))}, up to {repeats} repeats. Differences are ours less the paper's; "
        "the paper's models are not at hand, so apart from the authors' published scores each cell is a model "
        "trained again by the same recipe."
    )
    published = load_published()
    apart = [abs(one.ours.value - published[one.key][0]) for one in entries if one.key in published]
    if not apart:
        return [run]
    half, most = np.quantile(apart, [0.5, 0.9])
    return [
        f"Of {len(apart):,} numbers that the paper prints, half come out within {half:.1f} points here, nine of ten "
        f"within {most:.1f}.",
        run,
    ]
