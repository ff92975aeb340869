"""Reports and audits on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from actc.cli.show import MOST_RELATIONS, console, new_table
from actc.decide.audit import Audit, describe_audit
from actc.decide.report import Report


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


def print_drawn(drawn: int, out: Path) -> None:
    """Print what was drawn."""
    screen = console()
    screen.print(f"{drawn:,} accepted triples are drawn: {out}", soft_wrap=True)
    screen.print("Judge them from the top: add a column label (1 or 0); give all answers back with --labels.")


def print_audit(audit: Audit) -> None:
    """Print what the audit shows."""
    screen = console()
    screen.print(f"{audit.trues:,} of {audit.judged:,} judged triples are true; {audit.total:,} are accepted in all.")
    screen.print(describe_audit(audit))
