"""The paper's tables, measured: ours, the published number and the difference, cell by cell."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from actc.bench.measurements import PAPER_METRICS, Average, Difference, Measurements, Run, compare_methods

Key = tuple[str, str, str, str, str]
"""Where a number stands in the paper: table, data set, model, method, and the metric, "accuracy" or "f1"."""


@cache
def load_published() -> dict[Key, tuple[float, float | None]]:
    """Return every number of the paper's result tables and its plus-minus, in per cent; None where there is none."""
    text = (files("actc.bench.paper") / "published.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        (row["table"], row["dataset"], row["model"], row["method"], row["metric"]): (
            float(row["value"]),
            float(row["plus_minus"]) if row["plus_minus"] else None,
        )
        for row in rows
    }


@dataclass(frozen=True)
class TextTable:
    """A table as people read it."""

    name: str  # short name, fit for a file
    title: str  # one line above the table
    note: str  # what the numbers are: units, averages, standard errors
    header: tuple[str, ...]  # names of the columns
    # cells, as many in each row as there are columns. An empty first cell goes on with the row above.
    rows: tuple[tuple[str, ...], ...]


def write_markdown(table: TextTable) -> str:
    """Write the table for GitHub and its kin."""
    rule = ["---"] + ["---:"] * (len(table.header) - 1)
    lines = ["| " + " | ".join(row) + " |" for row in (table.header, rule, *table.rows)]
    return "\n".join([f"### {table.title}", "", *lines, "", table.note, ""])


def write_latex(table: TextTable) -> str:
    """Write the table for a paper that loads the package booktabs."""
    lines = [" & ".join(map(_latex, row)) + r" \\" for row in table.rows]
    for at in range(len(table.rows) - 1, 0, -1):
        if table.rows[at][0] and not table.rows[at - 1][0]:
            lines.insert(at, r"\addlinespace")
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering\small",
            rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
            r"\toprule",
            " & ".join(map(_latex, table.header)) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{_latex(table.title)}. {_latex(table.note)}}}",
            rf"\label{{tab:{table.name}}}",
            r"\end{table*}",
            "",
        ]
    )


def _latex(text: str) -> str:
    return text.translate(LATEX)


LATEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "±": r"$\pm$", "−": r"$-$", "–": "--", "$": r"\$"}
)
WRITERS: dict[str, Callable[[TextTable], str]] = {
    ".md": write_markdown,
    ".tex": write_latex,
}


PAPER_CELLS = [
    (dataset, model) for dataset in ("codex-s", "codex-m") for model in ("complex", "conve", "transe", "rescal")
]
# The authors published the scores behind one of their cells, so that cell can be compared like with like.
SAME_CELL = {("codex-s", "complex-authors"): ("codex-s", "complex")}
# The appendix rows of ACTC-LR dens come out only with this option, the tables of averages only without it.
SAME_METHOD = {"actc-lr-dens:default=annotations": "actc-lr-dens"}
DATASET_LABELS = {"codex-s": "CoDEx-S", "codex-m": "CoDEx-M"}
MODEL_LABELS = {
    "complex": "ComplEx",
    "conve": "ConvE",
    "transe": "TransE",
    "rescal": "RESCAL",
    "tucker": "TuckER",
    "complex-authors": "ComplEx (authors' scores)",
}
METHOD_LABELS = {
    "localopt-acc": "LocalOpt (Acc)",
    "localopt-f1": "LocalOpt (F1)",
    "globalopt-f1": "GlobalOpt (F1)",
    "actc-lr-dens": "ACTC-LR dens",
    "actc-lr-dens:default=annotations": "ACTC-LR dens, default from annotations",
    "actc-gp-dens": "ACTC-GP dens",
    "actc-lr-rndm": "ACTC-LR rndm",
    "actc-gp-rndm": "ACTC-GP rndm",
    "actc-lr-dens-f1": "ACTC-LR dens (F1)",
    "actc-gp-dens-f1": "ACTC-GP dens (F1)",
    "actc-lr-rndm-f1": "ACTC-LR rndm (F1)",
    "actc-gp-rndm-f1": "ACTC-GP rndm (F1)",
    "actc-lr-uni": "ACTC-LR uniform",
    "actc-gp-uni": "ACTC-GP uniform",
    "localopt-acc-uni": "LocalOpt (Acc) uniform",
    "localopt-f1-uni": "LocalOpt (F1) uniform",
}
NOTHING = "–"


class Entry(NamedTuple):
    """One number of one table, with everything that stands beside it; all in per cent."""

    key: Key
    ours: Average
    paper: float | None = None
    plus_minus: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.paper is None else self.ours.value - self.paper


def label_method(method: str) -> str:
    """Return how the paper calls a method; a method it does not have keeps its own name."""
    return METHOD_LABELS.get(method, method)


def label_cell(cell: tuple[str, str]) -> str:
    """Return how the paper calls a cell, or the mean of cells."""
    dataset, model = cell
    if model == "all":
        return "Avg" if dataset == "all" else f"Avg of {dataset}"
    return f"{DATASET_LABELS.get(dataset, dataset)} {MODEL_LABELS.get(model, model)}"


def list_entries(results: Measurements, table: str, methods: Sequence[str], budget: int | None) -> list[Entry]:
    """Return the numbers of one of the paper's tables: every cell, then the mean of the paper's cells."""
    published, entries = load_published(), []

    def look_up(dataset: str, model: str, method: str, metric: str) -> tuple[float | None, float | None]:
        printed = SAME_CELL.get((dataset, model), (dataset, model))
        return published.get((table, *printed, SAME_METHOD.get(method, method), metric), (None, None))

    for method in methods:
        cells = dict.fromkeys([*PAPER_CELLS, *results.cells()])
        runs = [Run(*cell, method) for cell in cells if Run(*cell, method) in results.runs]
        averaged = [run for run in runs if run[:2] in PAPER_CELLS]
        for metric in PAPER_METRICS:
            for run in runs:
                key = (table, *run, metric)
                entries.append(Entry(key, results.average([run], metric, budget), *look_up(*run, metric)))
            if len(averaged) > 1:
                # All eight stand beside the paper's column "Avg", fewer beside the mean of theirs.
                average = results.average(averaged, metric, budget)
                paper, plus_minus = look_up("all", "all", method, metric)
                dataset = "all"
                if len(averaged) < len(PAPER_CELLS):
                    printed = [look_up(*run, metric)[0] for run in averaged]
                    known = [number for number in printed if number is not None]
                    paper, plus_minus = sum(known) / len(known) if len(known) == len(printed) else None, None
                    dataset = f"{len(averaged)} cells"
                entries.append(Entry((table, dataset, "all", method, metric), average, paper, plus_minus))
    return entries


def build_paper_table(
    results: Measurements, name: str, title: str, methods: Sequence[str], budget: int | None
) -> TextTable:
    """Return a table whose cells have our number, its standard error, the paper's number and the difference."""
    entries = {entry.key[1:]: entry for entry in list_entries(results, name.removeprefix("table-"), methods, budget)}
    places = list(dict.fromkeys(key[:2] for key in entries))
    places.sort(key=lambda place: place[1] == "all")
    lines: list[tuple[str, Callable[[Entry], str]]] = [
        ("ours", lambda entry: _format(entry.ours.value)),
        ("± over repeats", lambda entry: _format(entry.ours.over_repeats)),
        ("± over budgets", lambda entry: _format(entry.ours.over_budgets)),
        ("paper", lambda entry: NOTHING if entry.paper is None else f"{entry.paper:.0f}"),
        ("difference", lambda entry: _format(entry.difference, "+.1f")),
    ]
    if budget is not None:
        del lines[2]
    if not any(entry.paper is not None for entry in entries.values()):
        del lines[-2:]
    rows = []
    for method in dict.fromkeys(key[2] for key in entries):
        pairs = [[entries.get((*place, method, metric)) for metric in PAPER_METRICS] for place in places]
        for line, show in lines:
            cells = ["/".join(NOTHING if entry is None else show(entry) for entry in pair) for pair in pairs]
            label = label_method(method) if line == "ours" else ""
            rows.append((label, line, *(NOTHING if set(cell) <= {NOTHING, "/"} else cell for cell in cells)))
    repeats = max(values.shape[2] for values in results.runs.values())
    over = f"at l = {budget}" if budget is not None else f"averaged over {len(results.budgets)} budgets"
    of_budgets = "± over budgets: standard error over the budgets' means, the paper's ±. " if budget is None else ""
    note = (
        f"Accuracy/F1 on the test set in per cent, {over}, {repeats} repeats (dens needs one). "
        f"± over repeats: standard error of the mean, what other draws would change. {of_budgets}"
        "The models are our own, trained again; the authors' scores, and models that the paper does not have, stand "
        "apart and do not count for Avg."
    )
    header = ("method", "", *map(label_cell, places))
    return TextTable(name, title, note, header, tuple(rows))


def build_ablation(
    results: Measurements, name: str, title: str, variants: dict[str, str], cells: Sequence[tuple[str, str]]
) -> TextTable:
    """Set variants of a method under each other, budget by budget, averaged over some cells."""
    rows = []
    for label, method in variants.items():
        runs = [Run(*cell, method) for cell in cells if Run(*cell, method) in results.runs]
        if runs:
            budgets: list[int | None] = [*results.budgets.tolist(), None]
            means = [[results.average(runs, metric, budget).value for metric in PAPER_METRICS] for budget in budgets]
            rows.append((label, *("/".join(f"{value:.1f}" for value in pair) for pair in means)))
    header = ("variant", *(f"l = {budget}" for budget in results.budgets), "average")
    named = ", ".join(label_cell(cell) for cell in cells)
    note = f"Accuracy/F1 on the test set in per cent, mean of {len(cells)} cells: {named}."
    return TextTable(name, title, note, header, tuple(rows))


def build_comparisons(results: Measurements, pairs: Sequence[tuple[str, str]], metric: str, title: str) -> TextTable:
    """Set paired differences of methods under each other, budget by budget, with their intervals."""
    cells = [cell for cell in PAPER_CELLS if cell in results.cells()] or results.cells()
    rows = []
    for first, second in pairs:
        if not {first, second} <= set(results.methods()):
            continue
        comparison = compare_methods(results, first, second, metric, cells=cells)
        differences = (*comparison.by_budget.values(), comparison.average)
        verdicts = [difference.verdict for difference in comparison.by_cell.values()]
        tally = "/".join(str(verdicts.count(verdict)) for verdict in ("win", "tie", "loss"))
        rows.append(
            (
                f"{label_method(first)} − {label_method(second)}",
                *(_format_difference(one, comparison.is_random) for one in differences),
                tally if comparison.is_random else NOTHING,
            )
        )
    header = ("first − second", *(f"l = {budget}" for budget in results.budgets), "average", "win/tie/loss")
    note = (
        "Mean paired difference in percentage points and its 95 % bootstrap interval over repeats, mean over "
        f"{len(cells)} cells. Win/tie/loss: cells whose average has its interval above, around or below 0. "
        "Without an interval: neither method draws anything at random, so there is nothing to be uncertain about, "
        "and nothing to conclude for other draws."
    )
    return TextTable(f"comparisons-{metric}", title, note, header, tuple(rows))


def _format_difference(difference: Difference, with_interval: bool) -> str:
    mean, lower, upper = (_format(value, "+.1f") for value in difference)
    return f"{mean} [{lower}, {upper}]" if with_interval else mean


def _format(value: float | None, pattern: str = ".1f") -> str:
    """Write a number, or that there is none; with a true minus, and no "−0.0"."""
    return NOTHING if value is None else format(round(value, 1) + 0.0, pattern).replace("-", "−")
