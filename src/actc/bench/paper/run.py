"""`actc paper`: run what the paper's tables and figures need, and write them beside the published numbers.

Rows are written first, by the runner of every experiment; everything else is drawn from them, now or later.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from actc.bench.cells import Cell
from actc.bench.datasets import DATASETS, data_folder, has_authors_scores, list_models, load_cell
from actc.bench.measurements import PAPER_METRICS, Measurements, read_measurements
from actc.bench.paper.figures import save_figure
from actc.bench.paper.items import AUTHORS_CELL, ITEMS, PRINTED_TABLES, Place, find_item, plan_runs
from actc.bench.paper.tables import Entry, list_entries
from actc.bench.paper.text_tables import WRITERS, TextTable
from actc.bench.plans import Conditions, Experiment
from actc.bench.plots import check_matplotlib
from actc.bench.runs import run_plan_to_file
from actc.data.files import write_csv, write_text
from actc.data.pages import render
from actc.data.progress import Progress, ignore_progress
from actc.errors import OptionError

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


@dataclass(frozen=True)
class StoredCell:
    """A cell by its name; each process finds the scores itself, by ``ACTC_DATA`` or as ``datasets`` says."""

    dataset: str
    model: str

    def load(self, with_known: bool) -> Cell:
        """Load the cell, or return what was loaded before."""
        return _load_once(self.dataset, self.model, with_known, data_folder())


@lru_cache(maxsize=2)
def _load_once(dataset: str, model: str, with_known: bool, folder: Path | None) -> Cell:
    return load_cell(dataset, model, with_known=with_known)


def list_places(*, quick: bool) -> list[Place]:
    """Name the cells to run: every model whose scores are here, and the scores that the authors published."""
    datasets = DATASETS[:1] if quick else DATASETS
    places = [(dataset, model) for dataset in datasets for model in list_models(dataset)]
    if not places:
        raise OptionError("There are no scores here: run from a checkout of the repository, or set ACTC_DATA.")
    return [*places, AUTHORS_CELL] if has_authors_scores() else places


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
    places = list_places(quick=quick)
    runs = plan_runs(chosen, own_methods, places, min(repeats, QUICK_REPEATS) if quick else repeats)
    plan = Experiment([StoredCell(*place) for place in places], runs, conditions or Conditions(draws="authors"))
    run_plan_to_file(plan, out / "rows.csv", jobs=jobs, progress=progress)
    return write_paper(read_measurements(out / "rows.csv").only(runs), chosen, out, own_methods)


def write_paper(results: Measurements, items: Iterable[str], out: Path, own_methods: Sequence[str] = ()) -> Path:
    """Write the items' tables and figures, a table of all numbers, and the page that shows everything.

    Returns the path of the page. Items whose runs the results do not have are left out.
    """
    chosen = [(name, find_item(name)) for name in items]
    out.mkdir(parents=True, exist_ok=True)
    tables: list[TextTable] = []
    pictures: list[tuple[str, str, str]] = []  # name, heading, the figure in base64
    entries: list[Entry] = []
    for name, item in chosen:
        budget = PRINTED_TABLES.get(name, ("", None))[1]
        measured = budget is None or budget in results.budgets
        if not measured or not any(run.method in item.methods and item.wants(run[:2]) for run in results.runs):
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
            drawn = (out / name).with_suffix(".svg").read_bytes()
            pictures.append((name, item.title, b64encode(drawn).decode("ascii")))
    if entries:
        write_csv(out / "numbers.csv", _entry_rows(entries))
    write_csv(out / "summary.csv", _summary_rows(results))
    page = out / "index.html"
    facts = [*_compare(entries), *_describe(results)]
    write_text(page, render("paper.html", title=TITLE, facts=facts, tables=tables, pictures=pictures))
    return page


def _write_table(table: TextTable, out: Path) -> None:
    for ending in (".md", ".tex"):
        write_text(out / f"{table.name}{ending}", WRITERS[ending](table))
    write_csv(out / f"{table.name}.csv", [table.header, *table.rows])


def _entry_rows(entries: Iterable[Entry]) -> Iterator[Sequence[Any]]:
    yield NUMBERS
    for entry in entries:
        paper, plus_minus = entry.paper or (None, None)
        yield [*entry[:5], *_show(*entry.ours, paper, plus_minus, entry.difference)]


def _summary_rows(results: Measurements) -> Iterator[Sequence[Any]]:
    """Give the mean and the standard error over repeats of every run at every budget."""
    yield SUMMARY
    for run, values in results.runs.items():
        for budget in results.budgets.tolist():
            averages = [results.average(run, metric, budget) for metric in PAPER_METRICS]
            yield [*run, budget, values.shape[2], *_show(*(number for average in averages for number in average[:2]))]


def _show(*numbers: float | None) -> list[str]:
    return ["" if number is None else f"{number:.3f}" for number in numbers]


def _compare(entries: Sequence[Entry]) -> list[str]:
    """Say in a sentence how far our numbers are from the published ones; nothing where none is published."""
    apart = [abs(entry.difference) for entry in entries if entry.difference is not None]
    if not apart:
        return []
    half, most = np.quantile(apart, [0.5, 0.9])
    return [
        f"Of {len(apart):,} numbers that the paper prints, half come out within {half:.1f} points here, nine of ten "
        f"within {most:.1f}."
    ]


def _describe(results: Measurements) -> list[str]:
    repeats = max(values.shape[2] for values in results.runs.values())
    return [
        f"{len(results.cells())} cells, {len(results.methods())} methods and variants, budgets "
        f"{', '.join(map(str, results.budgets))}, up to {repeats} repeats. Differences are ours less the paper's; "
        "the paper's models are not at hand, so apart from the authors' published scores each cell is a model "
        "trained again by the same recipe."
    ]
