"""Results as tables on the terminal: what the command line prints."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from actc.decide.estimate import Share, write_cut

if TYPE_CHECKING:  # a command loads what it needs, not what others print
    from actc.bench.measurements import Row
    from actc.bench.sample.demo import Demo
    from actc.data.calibration import Calibration
    from actc.data.constraints import Constraints
    from actc.decide.decide_sql import DecisionCounts
    from actc.decide.report import Report

MOST_RELATIONS = 30  # a longer table helps nobody on a terminal; the file has them all


def show(*parts: Any, least: int = 0) -> None:
    """Print texts and tables one below the other, as wide as the terminal; where there is none, wide enough."""
    width = max(shutil.get_terminal_size().columns if sys.stdout.isatty() else 120, least)
    Console(width=width, highlight=False, markup=False, emoji=False).print(*parts, sep="\n")


def make_table(columns: Sequence[str], rows: Iterable[Sequence[str]], texts: Sequence[str] = ()) -> Table:
    """Return a table: the first column names things, the others hold numbers, but for those that hold texts."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        is_text = place == 0 or column in texts
        table.add_column(column, justify="left" if is_text else "right", no_wrap=not is_text)
    for row in rows:
        table.add_row(*row)
    return table


def print_methods(methods: Mapping[str, Any]) -> None:
    """Print each method's name and summary."""
    rows = [(name, method.summary) for name, method in methods.items()]
    show(make_table(("method", "what it is"), rows, texts=("what it is",)))


def print_method(name: str, method: Any) -> None:
    """Print a method's summary and its options."""
    from actc.methods.named import explain_options

    columns = ("option", "value", "what it is")
    rows = [(option, value, text) for option, (value, text) in explain_options(method).items()]
    how = f"Options stand behind a colon: {name.partition(':')[0]}:option=value,option=value"
    show(f"{name}: {method.summary}", "", make_table(columns, rows, texts=columns), "", how)


def print_rows(rows: Sequence[Row]) -> None:
    """Print mean accuracy by budget, and the means over budgets, for every cell and for all of them together."""
    cells = list(dict.fromkeys((row.dataset, row.model) for row in rows))
    for dataset, model in cells:
        mine = [row for row in rows if (row.dataset, row.model) == (dataset, model)]
        _print_cell(f"{dataset} / {model}: accuracy on test in %, by budget", mine)
    if len(cells) > 1:
        _print_cell(f"mean of {len(cells)} cells", rows)


def _print_cell(title: str, rows: Sequence[Row]) -> None:
    budgets, names = sorted({row.budget for row in rows}), list(dict.fromkeys(row.method for row in rows))
    table = make_table(("method", *map(str, budgets), "mean acc", "mean F1"), [])
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
    show(title, table, "", least=table.columns[0].min_width + 10 * len(table.columns))


def _mean_and_error(values: Sequence[tuple[int, float]]) -> tuple[str, str]:
    """Return the mean in per cent and its standard error over the repeats, of (repeat, value); empty for one repeat."""
    if not values:
        return "–", ""
    repeats, numbers = (np.array(column) for column in zip(*values, strict=True))
    of_repeat = 100 * np.bincount(repeats, numbers) / np.bincount(repeats)
    error = of_repeat.std(ddof=1) / np.sqrt(len(of_repeat)) if len(of_repeat) > 1 else 0.0
    return f"{of_repeat.mean():.1f}", f"{error:.1f}" if error > 1e-9 else ""


def _largest(columns: Sequence[str], sizes: Any, rows: Sequence[Sequence[str]]) -> list[Any]:
    """Return a table of the largest relations, and how many there are more."""
    largest = np.argsort(-sizes, kind="stable")[:MOST_RELATIONS].tolist()
    table = make_table(("relation", *columns), [rows[place] for place in largest])
    more = len(rows) - len(largest)
    return [table, f"... and {more} more relations"] if more else [table]


def print_calibration(calibration: Calibration, out: Path) -> None:
    """Print where true begins for each relation, what the answers were, and what is guaranteed."""
    from actc.decide.report import describe_guarantee, describe_needed

    thresholds, counts, guarantee = calibration.thresholds, calibration.counts, calibration.guarantee
    cuts = [write_cut(cut) + " *" * (not own) for cut, own in zip(thresholds.cuts, thresholds.own, strict=True)]
    numbers = (map(str, one) for one in (counts.answers, counts.triples, counts.accepted))
    rows = list(zip(thresholds.relation_names, cuts, *numbers, strict=True))
    lines = _largest(("threshold", "answers", "candidates", "accepted"), counts.triples, rows)
    if not thresholds.own.all():
        default = write_cut(thresholds.default)
        lines.append(f"* no answer is about this relation; it gets the default threshold, {default}.")
    if counts.annotated and counts.annotated_true in (0, counts.annotated):
        word = "true" if counts.annotated_true else "false"
        lines.append(f"Every answer is {word}: thresholds get better once both answers are there.")
    lines.append(
        f"{counts.accepted.sum():,} of {counts.pool:,} candidates are accepted, by {counts.annotated:,} answers. "
        f"Thresholds: {out}"
    )
    if guarantee is not None:
        lines.append(describe_guarantee(guarantee.describe()))
    if guarantee is not None and calibration.answers_needed is not None:
        lines.append(describe_needed(calibration.answers_needed))
        if not counts.draws:
            lines.append("A list is tested by random draws. If the labelled triples are one, say --picks random.")
    elif guarantee is not None and guarantee.excluded_relations:
        names = guarantee.excluded_relations
        more = f" and {len(names) - MOST_RELATIONS} more" if len(names) > MOST_RELATIONS else ""
        lines.append(f"No candidate of these relations is on the list: {', '.join(names[:MOST_RELATIONS])}{more}.")
    show(*lines)


def print_demo(demo: Demo) -> None:
    """Print the demo's story: the answers, what they bring, where the cuts are, what was written."""
    from actc.bench.sample.demo import ANSWERS, METHOD

    sample, answers = demo.sample, demo.case.annotations.first(6)
    show(
        Text(f"1  A model scored {len(sample.valid):,} candidate facts; a person judges {ANSWERS} of them", "bold"),
        f"     {METHOD} chooses which, and the sample's labels play the person:",
        *(
            f"     {sample.sentence(*sample.valid.triple(row))}?  {'true' if label else 'false'}"
            for row, label in zip(answers.rows.tolist(), answers.labels.tolist(), strict=True)
        ),
        "     ...\n",
        Text("2  What the answers bring: accuracy on test triples in %, by triples judged\n", "bold"),
    )
    _print_cell("Mean over the repeats:", demo.rows)
    columns = ("relation", "threshold", "judged", "candidates", "accepted", "accuracy")
    accepted, further = demo.decided.accepted.sum(), len(sample.test)
    show(
        "For comparison (no calibration: whatever scores above the mean is accepted):",
        *(f"{name}: accuracy {100 * right:.1f}, F1 {100 * f1:.1f}" for name, (right, f1) in demo.levels.items()),
        Text(f"\n3  The thresholds after {ANSWERS} answers, on {further:,} further candidates\n", "bold"),
        make_table(columns, demo.by_relation),
        "",
        Text(f"4  {accepted:,} facts are accepted, {demo.precision:.0%} of them true. Written:", "bold"),
        *(f"     {path}" for path in demo.written),
        Text("\n5  A graph alone is enough: no model, no answer", "bold"),
        Padding(demo.story_of_families, (0, 0, 0, 5)),
        *(f"     {rule}" for rule in demo.rules),
        f"     The new graph and a report with reasons: {demo.folder / 'better'}",
        f"\nNext: open {demo.folder / 'report.html'} in a browser.",
    )


def print_constraints(constraints: Constraints, out: Path | None) -> None:
    """Print the constraints as a table, and what was not understood."""
    rows = [
        (
            *(one.kind, one.relation, one.other, f"{one.cases:,}"),
            *("-" if np.isnan(one.share) else f"{one.share:.1%}", one.source, one.use),
        )
        for one in constraints.each
    ]
    table = make_table(("kind", "relation", "other", "cases", "keep it", "source", "use"), rows)
    show(table if rows else "There is no constraint.", *constraints.notes)
    if out is not None:
        show(f"Written: {out}. Edit the column use (hard, soft, no), and give it with --constraints.")


def print_decided(decided: DecisionCounts, calibration: Calibration, out: str | Path) -> None:
    """Print what became of the candidates of the largest relations, and of all."""
    names, default = decided.relation_names, write_cut(calibration.thresholds.default)
    known = set(calibration.thresholds.relation_names)
    strange = [name not in known for name in names]
    columns = zip(names, decided.cuts, decided.candidates, decided.accepted, strange, strict=True)
    rows = [(name, write_cut(cut) + " *" * new, f"{n:,}", f"{k:,}") for name, cut, n, k, new in columns]
    lines = _largest(("threshold", "candidates", "accepted"), decided.candidates, rows)
    if any(strange):
        lines.append(
            f"* not in the thresholds (relations: {sum(strange):,}, candidates: "
            f"{decided.candidates[strange].sum():,}): they get the default threshold, {default}."
        )
    if decided.excluded is not None:
        lines.append(f"{decided.excluded.sum():,} candidates are excluded by constraints; --all lists them.")
    accepted, candidates = decided.accepted.sum(), decided.candidates.sum()
    lines.append(f"{accepted:,} of {candidates:,} candidates are accepted. Written: {out}")
    if calibration.accepted_precision is not None:
        precision = Share(*calibration.accepted_precision)
        lines.append(f"Precision of the accepted ones in the pool of these thresholds: {precision}.")
        pool, of_pool = calibration.counts.pool, calibration.counts.accepted.sum()
        if (candidates, accepted) != (pool, of_pool):
            lines.append(
                f"That pool has {pool:,} triples, of which {of_pool / pool:.0%} are accepted; here it is "
                f"{accepted / candidates:.0%} of {candidates:,} rows, and a triple in two rows counts twice. The "
                "precision holds for scores like the pool's. Measure that of others with `actc audit`."
            )
    show(*lines)


def print_report(report: Report, written: Sequence[Path]) -> None:
    """Print the report's first sentences, its quantities, its relations and where it is written."""
    goal = report.goal
    first, *others = report.sentences()
    others = others[1:] if report.quality["precision"] else others  # the table has it
    columns = (goal.accepted, goal.things, "answers", "precision (90% interval)", "above 50%?")
    rows = []
    for line in report.relations:
        precision, counts = line.quality["precision"], (line.accepted, line.triples, line.answers)
        shown = "–" if precision is None else precision.brief
        rows.append((line.relation, *(f"{count:,}" for count in counts), shown, line.over_half))
    show(
        first,
        *(f"  {title:<16}{report.quality[name] or '–'}" for name, (title, _) in goal.quantities.items()),
        *(*others, *report.session, ""),
        *(*report.judges, "") if report.judges else (),
        *_largest(columns, -np.arange(len(rows)), rows),
    )
    print(f"Written: {', '.join(map(str, written))}")
