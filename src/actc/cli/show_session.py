"""An annotation session on the terminal: what an audit found, names that are missing, everybody's links."""

from __future__ import annotations

from collections.abc import Sequence

from actc.cli.show import console, new_table
from actc.session import Session
from actc.session.judge import JudgeRun
from actc.session.sought import sought_in
from actc.session.start import count_named
from actc.session.status import picture


def print_audit_of(audit: Session) -> None:
    """Say what an audit is about, and what it found so far."""
    settings = audit.settings
    found = sought_in(settings).found
    print(f"{settings.title}: {settings.budget:,} of {settings.triples:,} {found} are drawn to be judged.")
    print(picture(audit)["advice"])


def print_named(session: Session) -> None:
    """Say how many entities have a name, and what to do about the others."""
    named, entities = count_named(session)
    if named < entities:
        print(
            f"{named:,} of {entities:,} entities have a name; cards show the ids of the others. "
            f"Give names with --names, or now: actc annotate {session.folder} --names FILE"
        )


def print_links(links: Sequence[tuple[str, str]], everywhere: bool) -> None:
    """Print everybody's link."""
    screen = console()
    table = new_table("who", "link")
    for name, link in links:
        table.add_row(name, link)
    screen.print(table)
    if everywhere:
        screen.print(
            "Mind: this is plain HTTP, reachable from other machines. Whoever reads the traffic can judge in somebody "
            "else's name; put a proxy with HTTPS before it, or use a network that you trust."
        )
    screen.print("Each link is a secret of its own. Stop with Ctrl+C; every answer is on the disk already.")


def print_judge_run(run: JudgeRun) -> None:
    """Say what a judge was asked, what came of it and how far it can be trusted."""
    console().print("\n".join(run.sentences()), markup=False)
