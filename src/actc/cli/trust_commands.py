"""The commands about trust: report and audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from actc.cli.page import page_options, serve_page
from actc.cli.parts import (
    PATH,
    allow_method_option,
    claim_output,
    examples,
    overwrite_option,
    quiet_option,
    seed_option,
)
from actc.errors import OptionError


@click.command(
    "report",
    epilog=examples("actc report thresholds.json --out report.html", "actc report my-session --json report.json"),
)
@click.argument("source", type=PATH)
@click.option("--out", type=PATH, default=Path("report.html"), show_default=True, help="The page.")
@click.option("--json", "json_out", type=PATH, help="The same numbers as JSON.")
@allow_method_option
@overwrite_option
@quiet_option
def report_command(
    source: Path, out: Path, json_out: Path | None, overwrite: bool, quiet: bool, **options: Any
) -> None:
    """Say how good the decisions are, how that is known, and what to ask next.

    SOURCE is a session, or a thresholds file that `actc calibrate` wrote; either with a pooled method.
    """
    from actc.cli.show_trust import print_report
    from actc.session.examine import write_report

    claim_output(out, overwrite=overwrite, inputs=(source,))
    claim_output(json_out, overwrite=overwrite, inputs=(source, out))
    report = write_report(source, out, json_out=json_out, **options)
    if not quiet:
        print_report(report, [path for path in (out, json_out) if path is not None])


@click.command(
    "audit",
    epilog=examples(
        "actc audit my-session --target 0.9",
        "actc audit my-session --among accepted.tsv --target 0.9",
        "actc audit accepted.tsv --count 100 --out slice.tsv",
        "actc audit accepted.tsv --labels slice-judged.tsv --target 0.9",
    ),
)
@click.argument("accepted", type=PATH)
@click.option("--among", type=PATH, help="Of a session: draw from this accepted.tsv, such as that of a promise.")
@click.option("--count", default=100, show_default=True, help="How many answers to ask for.")
@click.option(
    "--by",
    "design",
    default="simple",
    show_default=True,
    help="How to draw: simple; relation (within each); head (all triples of some head entities).",
)
@seed_option()
@click.option("--out", type=PATH, help="Of a file: the slice to be judged. Of a session: the audit's folder.")
@click.option("--labels", type=PATH, help="The judged slice: head, relation, tail, label (1 or 0).")
@click.option("--target", type=float, help="The share of true triples to certify, such as 0.9.")
@click.option("--level", default=0.9, show_default=True, help="How sure the bounds should be.")
@page_options
@allow_method_option
@overwrite_option
@quiet_option
def audit_command(
    accepted: Path,
    among: Path | None,
    count: int,
    design: str,
    seed: int,
    out: Path | None,
    labels: Path | None,
    overwrite: bool,
    quiet: bool,
    annotators: tuple[str, ...],
    host: str,
    port: int,
    browser: bool,
    **rest: Any,
) -> None:
    """Judge a random slice of accepted triples: how many are true, without any model.

    ACCEPTED is a session: what it accepts is judged on a page, which says when there are answers enough; the same
    command goes on later. Or it is a file: without --labels, a slice is drawn and written to --out; with them, they
    are read as the slice was drawn.
    """
    if (accepted / "judgements.sqlite").is_file() and labels is None:
        from actc.cli.show_session import print_audit_of
        from actc.session.start_audit import find_audit

        chosen = {name: rest[name] for name in ("target", "level")}
        audit = find_audit(accepted, out, among=among, count=count, design=design, seed=seed, **chosen)
        if not quiet:
            print_audit_of(audit)
        return serve_page(audit.folder, annotators, host, port, browser, quiet)
    from actc.cli.show_trust import print_audit, print_slice
    from actc.session.examine import audit_accepted, draw_audit

    if among is not None:
        raise OptionError(f"--among: {accepted} is not a session; give one, or audit {among} itself.")
    if labels is None:
        claim_output(out, overwrite=overwrite, inputs=(accepted,))
        drawn = draw_audit(accepted, out, count=count, design=design, seed=seed)
        return None if quiet else print_slice(drawn, out)
    result = audit_accepted(accepted, labels, design=design, **rest)
    return None if quiet else print_audit(result)


COMMANDS = [report_command, audit_command]
