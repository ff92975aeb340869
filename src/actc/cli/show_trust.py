"""Trust on the terminal: what the commands about it print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from actc.cli.show import MOST_RELATIONS, console, new_table
from actc.data.triples import ScoredTriples
from actc.decide.audit import Audit, describe_audit
from actc.decide.report import Report, tell_needed


def print_report(report: Report, written: Sequence[Path]) -> None:
    """Print the report's headline, its relations and where it is written."""
    screen, total, answers = console(), len(report.case.target), len(report.case.annotations)
    sought = report.sought
    screen.print(f"{report.accepted:,} of {total:,} {sought.things} are {sought.accepted}, from {answers:,} answers.")
    for name, share in report.quality.items():
        screen.print(f"  {name:<10}{share or '–'}")
    screen.print(Text(report.rests_on), tell_needed(report.needed), *map(Text, report.session), "", sep="\n")
    screen.print(*map(Text, report.judges), sep="\n", end="\n\n" if report.judges else "")
    over_half = f"over half {sought.true}?"
    table = new_table("relation", sought.accepted, sought.things, "answers", "precision", over_half)
    for line in report.relations[:MOST_RELATIONS]:
        counts = f"{line.accepted:,}", f"{line.triples:,}", str(line.answers)
        table.add_row(line.relation, *counts, str(line.quality["precision"] or "–"), line.over_half)
    screen.print(table)
    if len(report.relations) > MOST_RELATIONS:
        screen.print(f"... and {len(report.relations) - MOST_RELATIONS} more relations on the page.")
    screen.print(f"Written: {', '.join(map(str, written))}", soft_wrap=True)


def print_drawn(drawn: ScoredTriples, out: Path | None) -> None:
    """Say what was drawn."""
    screen = console()
    screen.print(f"{len(drawn):,} accepted triples are drawn: {out}", soft_wrap=True)
    screen.print("Judge them from the top: add a column label (1 or 0); give all answers back with --labels.")


def print_audit(audit: Audit) -> None:
    """Print what the audit says."""
    screen = console()
    screen.print(f"{audit.trues:,} of {audit.judged:,} judged triples are true; {audit.total:,} are accepted in all.")
    screen.print(describe_audit(audit))
