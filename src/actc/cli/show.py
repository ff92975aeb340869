"""Results as tables on the terminal: what the command line prints."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from actc.decide.estimate import Share

if TYPE_CHECKING:  # a command loads what it needs, not what others print
    from actc.bench.rows import Row
    from actc.bench.sample.demo import Demo
    from actc.data.calibration import Calibration, GuaranteedPrecision
    from actc.data.constraints import Constraints
    from actc.decide.decide_sql import DecisionCounts
    from actc.decide.report import Report

MOST_RELATIONS = 30  # a longer table helps nobody on a terminal; the file has them all


def console(least: int = 0) -> Console:
    """Return a console as wide as the terminal, or wide enough for a table where there is none; ``least`` wide."""
    width = max(shutil.get_terminal_size().columns if sys.stdout.isatty() else 120, least)
    return Console(width=width, highlight=False, markup=False, emoji=False)


def new_table(*columns: str) -> Table:
    """Return an empty table: the first column names things, the others hold numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=i > 0)
    return table


def print_methods(methods: Mapping[str, Any]) -> None:
    """Print each method's name and summary."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, method in methods.items():
        table.add_row(name, method.summary)
    console().print(table)


def print_method(name: str, method: Any) -> None:
    """Print a method's summary and its options."""
    from actc.methods.named import explain_options

    screen, table = console(), Table(box=None, pad_edge=False, header_style="bold")
    for column in ("option", "value", "what it is"):
        table.add_column(column, no_wrap=column != "what it is")
    for option, (value, text) in explain_options(method).items():
        table.add_row(option, value, text)
    screen.print(Text(f"{name}: {method.summary}"), "", table, sep="\n")
    screen.print(f"\nOptions stand behind a colon: {name.partition(':')[0]}:option=value,option=value")


def print_rows(rows: Sequence[Row]) -> None:
    """Print mean accuracy by budget, and the means over budgets, for every cell and for all of them together."""
    cells = list(dict.fromkeys((row.dataset, row.model) for row in rows))
    for dataset, model in cells:
        mine = [row for row in rows if (row.dataset, row.model) == (dataset, model)]
        _print_cell(f"{dataset} / {model}: accuracy on test in %, by budget", mine)
    if len(cells) > 1:
        _print_cell(f"mean of {len(cells)} cells", rows)


def _print_cell(title: str, rows: Sequence[Row]) -> None:
    budgets = sorted({row.budget for row in rows})
    table = new_table("method", *map(str, budgets), "mean acc", "mean F1")
    names = list(dict.fromkeys(row.method for row in rows))
    for name in names:
        mine = [row for row in rows if row.method == name]
        columns = [[(row.repeat, row.accuracy) for row in mine if row.budget == budget] for budget in budgets]
        # The paper's mean is over budgets from 1 on; only some methods work from 0.
        columns += [[(row.repeat, getattr(row, of)) for row in mine if row.budget > 0] for of in ("accuracy", "f1")]
        means, errors = zip(*map(_mean_and_error, columns), strict=True)
        table.add_row(name, *means)
        if any(errors):
            table.add_row("  ± standard error", *errors, style="dim")
    table.columns[0].min_width = max(map(len, names))
    screen = console(least=table.columns[0].min_width + 10 * len(table.columns))
    screen.print(Text(title), table, "", sep="\n")


def _mean_and_error(values: Sequence[tuple[int, float]]) -> tuple[str, str]:
    """Return the mean in per cent and its standard error over the repeats, of (repeat, value); empty for one repeat."""
    if not values:
        return "–", ""
    repeats, numbers = (np.array(column) for column in zip(*values, strict=True))
    of_repeat = 100 * np.bincount(repeats, numbers) / np.bincount(repeats)
    error = of_repeat.std(ddof=1) / np.sqrt(len(of_repeat)) if len(of_repeat) > 1 else 0.0
    return f"{of_repeat.mean():.1f}", f"{error:.1f}" if error > 1e-9 else ""


def _print_relations(columns: Sequence[str], names: Sequence[str], sizes: Any, cells: Sequence[Sequence[str]]) -> None:
    """Print a table of the largest relations."""
    table, screen = new_table("relation", *columns), console()
    for i in np.argsort(-sizes, kind="stable")[:MOST_RELATIONS].tolist():
        table.add_row(names[i], *cells[i])
    screen.print(table)
    if len(names) > MOST_RELATIONS:
        screen.print(f"... and {len(names) - MOST_RELATIONS:,} more relations.")


def print_calibration(calibration: Calibration, out: Path) -> None:
    """Print where the cuts are, what they accept of the pool, and what is guaranteed."""
    thresholds, counts, screen = calibration.thresholds, calibration.counts, console()
    cuts = [_write_cut(cut) + " *" * (not own) for cut, own in zip(thresholds.cuts, thresholds.own, strict=True)]
    cells = list(zip(cuts, *(map(str, one) for one in (counts.answers, counts.triples, counts.accepted)), strict=True))
    columns = ("threshold", "answers", "candidates", "accepted")
    _print_relations(columns, thresholds.relation_names, counts.triples, cells)
    if not thresholds.own.all():
        screen.print(
            f"* no answer is about this relation; it gets the default threshold, {_write_cut(thresholds.default)}."
        )
    if counts.annotated and counts.annotated_true in (0, counts.annotated):
        word = "true" if counts.annotated_true else "false"
        screen.print(f"Every answer is {word}: thresholds get better once both answers are there.")
    screen.print(
        f"{counts.accepted.sum():,} of {counts.pool:,} candidates are accepted, by {counts.annotated:,} answers. "
        f"Thresholds: {out}"
    )
    if calibration.guarantee is not None:
        _print_guarantee(calibration.guarantee, calibration)


def _write_cut(cut: float) -> str:
    """Write a threshold; where it is infinite, what it does."""
    return f"{cut:.4g}" if np.isfinite(cut) else "accept none" if cut > 0 else "accept all"


def _print_guarantee(guarantee: GuaranteedPrecision, calibration: Calibration) -> None:
    """Print what is guaranteed and which relations have no part in it; or what a guarantee needs."""
    from actc.decide.report import describe_guarantee, describe_needed

    screen = console()
    screen.print(describe_guarantee(guarantee.describe()))
    if calibration.answers_needed is not None:
        screen.print(describe_needed(calibration.answers_needed))
        if not calibration.counts.draws:
            screen.print("A list is tested by random draws. If the labelled triples are one, say --picks random.")
    elif guarantee.excluded_relations:
        names = guarantee.excluded_relations
        more = f" and {len(names) - MOST_RELATIONS} more" if len(names) > MOST_RELATIONS else ""
        shown = ", ".join(names[:MOST_RELATIONS])
        screen.print(Text(f"No candidate of these relations is on the list: {shown}{more}."))


def print_demo(demo: Demo) -> None:
    """Print the demo's story: the answers, what they bring, where the cuts are, what was written."""
    from actc.bench.sample.demo import ANSWERS, METHOD

    screen, sample, answers = console(), demo.sample, demo.case.annotations.first(6)
    screen.print(
        f"1  A model scored {len(sample.valid):,} candidate facts; a person judges {ANSWERS} of them", style="bold"
    )
    screen.print(f"     {METHOD} chooses which, and the sample's labels play the person:")
    for row, label in zip(answers.rows.tolist(), answers.labels.tolist(), strict=True):
        screen.print(Text(f"     {sample.sentence(*sample.valid.triple(row))}?  {'true' if label else 'false'}"))
    screen.print("     ...\n")
    screen.print("2  What the answers bring: accuracy on test triples in %, by triples judged\n", style="bold")
    _print_cell("Mean over the repeats:", demo.rows)
    screen.print("For comparison (no calibration: whatever scores above the mean is accepted):")
    for name, (accuracy, f1) in demo.levels.items():
        screen.print(f"{name}: accuracy {100 * accuracy:.1f}, F1 {100 * f1:.1f}")
    screen.print(
        f"\n3  The thresholds after {ANSWERS} answers, on {len(sample.test):,} further candidates\n", style="bold"
    )
    table = new_table("relation", "threshold", "judged", "candidates", "accepted", "accuracy")
    for row in demo.by_relation:
        table.add_row(*row)
    screen.print(table, "")
    screen.print(
        f"4  {demo.decided.accepted.sum():,} facts are accepted, {demo.precision:.0%} of them true. Written:",
        style="bold",
    )
    for path in demo.written:
        screen.print(f"     {path}")
    report = demo.folder / "report.html"
    screen.print("\n5  A graph alone is enough: no model, no answer", style="bold")
    screen.print(Padding(demo.story_of_families, (0, 0, 0, 5)))
    for rule in demo.rules:
        screen.print(Text(f"     {rule}"))
    screen.print(f"     The new graph and a report with reasons: {demo.folder / 'better'}")
    screen.print(f"\nNext: open {report} in a browser.")


def print_constraints(constraints: Constraints, out: Path | None) -> None:
    """Print the constraints as a table, and what was not understood."""
    screen = console()
    table = new_table("kind", "relation", "other", "cases", "keep it", "source", "use")
    for one in constraints.each:
        share = "-" if np.isnan(one.share) else f"{one.share:.1%}"
        table.add_row(one.kind, one.relation, one.other, f"{one.cases:,}", share, one.source, one.use)
    screen.print(table if len(constraints) else "There is no constraint.")
    for note in constraints.notes:
        screen.print(Text(note))
    if out is not None:
        screen.print(f"Written: {out}. Edit the column use (hard, soft, no), and give it with --constraints.")


def print_decided(decided: DecisionCounts, calibration: Calibration, out: str | Path) -> None:
    """Print what became of the candidates of the largest relations, and of all."""
    thresholds, precision = calibration.thresholds, calibration.accepted_precision
    known = set(thresholds.relation_names)
    strange = [i for i, name in enumerate(decided.relation_names) if name not in known]
    rows = zip(decided.relation_names, decided.cuts, decided.candidates, decided.accepted, strict=True)
    cells = [(_write_cut(cut) + " *" * (name not in known), f"{n:,}", f"{k:,}") for name, cut, n, k in rows]
    _print_relations(("threshold", "candidates", "accepted"), decided.relation_names, decided.candidates, cells)
    screen = console()
    if strange:
        screen.print(
            f"* not in the thresholds (relations: {len(strange):,}, candidates: "
            f"{decided.candidates[strange].sum():,}): they get the default threshold, {_write_cut(thresholds.default)}."
        )
    accepted, candidates = decided.accepted.sum(), decided.candidates.sum()
    if decided.excluded is not None:
        screen.print(f"{decided.excluded.sum():,} candidates are excluded by constraints; --all lists them.")
    screen.print(f"{accepted:,} of {candidates:,} candidates are accepted. Written: {out}")
    if precision is not None:
        low, middle, high = precision
        screen.print(f"Precision of the accepted ones in the pool of these thresholds: {Share(middle, low, high)}.")


def print_report(report: Report, written: Sequence[Path]) -> None:
    """Print the report's first sentences, its quantities, its relations and where it is written."""
    screen, goal = console(), report.goal
    first, *others = report.sentences()
    screen.print(Text(first))
    for name, (title, _) in goal.quantities.items():
        screen.print(f"  {title:<16}{report.quality[name] or '–'}")
    others = others[1:] if report.quality["precision"] else others  # the table has it
    screen.print(*map(Text, (*others, *report.session)), "", sep="\n")
    screen.print(*map(Text, report.judges), sep="\n", end="\n\n" if report.judges else "")
    table = new_table("relation", goal.accepted, goal.things, "answers", "precision (90% interval)", "above 50%?")
    for line in report.relations[:MOST_RELATIONS]:
        precision, counts = line.quality["precision"], (line.accepted, line.triples, line.answers)
        shown = "–" if precision is None else precision.brief
        table.add_row(line.relation, *(f"{count:,}" for count in counts), shown, line.over_half)
    screen.print(table)
    if len(report.relations) > MOST_RELATIONS:
        screen.print(f"... and {len(report.relations) - MOST_RELATIONS} more relations on the page.")
    screen.print(f"Written: {', '.join(map(str, written))}", soft_wrap=True)
