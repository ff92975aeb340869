"""Trust on the terminal: what the commands about it print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from actc.cli.show import MOST_RELATIONS, console, new_table
from actc.decide.audit import write_verdict
from actc.decide.report import Report, tell_needed
from actc.session.examine import AuditResult, AuditSlice


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


def print_slice(drawn: AuditSlice, out: Path | None) -> None:
    """Say what was drawn."""
    screen = console()
    screen.print(f"{len(drawn.rows):,} of {len(drawn.accepted):,} accepted triples drawn: {out}", soft_wrap=True)
    screen.print("Judge them from the top: add a column label (1 or 0); give it back with --labels.")


def print_audit(result: AuditResult) -> None:
    """Print what the audit says."""
    screen, audit, target = console(), result.audit, result.target
    screen.print(f"{audit.trues:,} of {audit.judged:,} judged triples are true; {audit.total:,} are accepted in all.")
    table = new_table(f"bounds of the share of true ones ({audit.level:.0%})", "from", "to")
    for name, (low, high) in audit.intervals.items():
        table.add_row(_KINDS.get(name, name), f"{low:.1%}", f"{high:.1%}")
    screen.print(table)
    if target is not None:
        screen.print(write_verdict(target, result.more))


_KINDS = {
    "anytime": "anytime: stop when you like",
    "clopper-pearson": "clopper-pearson: exact, if the number of answers was fixed before",
    "relation": "within each relation",
    "head": "by head entity",
}
