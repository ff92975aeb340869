"""The commands about trust: report and audit."""

from __future__ import annotations

from contextlib import closing
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
        "actc audit my-session --within 0.05",
        "actc audit my-session --among accepted.tsv --target 0.9",
        "actc audit accepted.tsv --out first.tsv",
        "actc audit accepted.tsv --labels judged.tsv --count 20 --out more.tsv",
    ),
)
@click.argument("accepted", type=PATH)
@click.option("--among", type=PATH, help="Of a session: draw from this accepted.tsv, such as that of a promise.")
@click.option("--count", type=int, help="How many answers to ask for. [default: 100; of a session, what it takes]")
@seed_option()
@click.option("--out", type=PATH, help="Of a file: the draws to be judged. Of a session: the audit's folder.")
@click.option("--labels", type=PATH, help="The judged draws: head, relation, tail, label (1 or 0).")
@click.option("--within", default=0.05, show_default=True, help="Know the share of true triples to plus or minus this.")
@click.option("--target", type=float, help="Certify this share of true triples instead, such as 0.9.")
@click.option("--level", default=0.9, show_default=True, help="How sure the bounds should be.")
@page_options
@allow_method_option
@overwrite_option
@quiet_option
def audit_command(
    accepted: Path,
    among: Path | None,
    count: int | None,
    seed: int,
    out: Path | None,
    labels: Path | None,
    overwrite: bool,
    quiet: bool,
    annotators: list[str],
    host: str,
    port: int,
    browser: bool,
    **rest: Any,
) -> None:
    """Judge random draws from accepted triples: how many are true, without any model.

    ACCEPTED is a session: what it accepts is judged on a page, which says when there are answers enough; the same
    command goes on later. Or it is a file: draws are written to --out; with --labels it says what the answers show,
    about how many more are needed, and --out draws more.
    """
    if (accepted / "judgements.sqlite").is_file() and labels is None:
        from actc.cli.show_session import print_audit_of
        from actc.session.start_audit import find_audit

        with closing(find_audit(accepted, out, among=among, count=count, seed=seed, **rest)) as session:
            if not quiet:
                print_audit_of(session)
            folder = session.folder
        serve_page(folder, lambda session: session.change({}, annotators), host, port, browser, quiet)
        return
    from actc.cli.show_trust import print_audit, print_drawn
    from actc.decide.audit import Goal
    from actc.session.examine import audit_accepted, draw_audit

    Goal(**rest)  # refuses what cannot be shown
    if among is not None:
        raise OptionError(f"--among: {accepted} is not a session; give one, or audit {among} itself.")
    if labels is not None:
        audit = audit_accepted(accepted, labels, **rest)
        if not quiet:
            print_audit(audit)
    if labels is None or out is not None:
        claim_output(out, overwrite=overwrite, inputs=(accepted, *([] if labels is None else [labels])))
        drawn = draw_audit(
            accepted, out, labels, count=100 if count is None else count, target=rest["target"], seed=seed
        )
        if not quiet:
            print_drawn(drawn, out)


COMMANDS = [report_command, audit_command]
