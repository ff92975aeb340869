"""An annotation session on the terminal: where it stands, who judged, and everybody's links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actc.cli.show import console, new_table
from actc.judges.store import ReplyStore
from actc.session import Session
from actc.session.judge import JudgeRun
from actc.session.review import count_reviews
from actc.session.sought import sought_in
from actc.session.start import NameCount
from actc.session.status import agreement, people, picture, progress, write_count
from actc.session.trouble import read_trouble


def print_status(session: Session) -> None:
    """Print progress, the people, how far they agree, and what more answers would bring."""
    counts, settings, screen = progress(session), session.settings, console()
    how = f"an audit, design {settings.design}" if settings.design else f"method {settings.method}"
    screen.print(
        f"{session.title}: {write_count(counts)}, from "
        f"{counts['triples']:,} {sought_in(settings).things} of {settings.relations:,} relations; {how}.",
        markup=False,
    )
    table = new_table("who", "judged", "true", "false", "unsure", "seconds", "same on repeats", "agrees with people")
    for one in people(session):
        if one["judged"] or one["kind"] == "person":
            table.add_row(*_line(one))
    screen.print(table, "", sep="\n")
    found = agreement(session)
    if found["shared"]:
        screen.print(
            f"Agreement on {found['shared']:,} shared triples: Krippendorff's alpha {_number(found['krippendorff'])}, "
            f"Fleiss' kappa {_number(found['fleiss'])}; {count_reviews(session)['differ']:,} to settle."
        )
        for line in found["rules"]:
            if line["changed"]:
                differ = f"{line['changed']:,} of {line['labels']:,} labels would differ"
                screen.print(f"Combined by {line['rule']} instead, {differ}.")
    for name, asked in ReplyStore(session.folder).counts().items():
        screen.print(f"Machine judge {name}: asked {asked:,} times; `actc report` says what it is worth.", markup=False)
    if trouble := read_trouble(session.folder):
        screen.print(f"The last try to plan questions failed: {trouble}", markup=False)
    screen.print(picture(session)["advice"])


def print_audit_of(audit: Session) -> None:
    """Say what an audit is about, and what it found so far."""
    settings = audit.settings
    found = sought_in(settings).found
    print(f"{settings.title}: {settings.budget:,} of {settings.triples:,} {found} are drawn to be judged.")
    print(picture(audit)["advice"])


def _line(one: dict[str, Any]) -> list[str]:
    repeats, trust = one["repeats"], one.get("reliability")
    return [
        one["name"].replace("[", "\\["),
        *(str(one[word]) for word in ("judged", "true", "false", "unsure")),
        "–" if one["seconds"] is None else f"{one['seconds']:.1f}",
        f"{repeats['same']} of {repeats['shown']}" if repeats["shown"] else "–",
        f"{100 * trust['right']:.0f} % of {trust['compared']}" if trust and trust["compared"] else "–",
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def print_named(named: NameCount, session: Path) -> None:
    """Say how many entities have a name, and what to do about the others."""
    if named.named == named.entities:
        return
    print(
        f"{named.named:,} of {named.entities:,} entities have a name; cards show the ids of the others. "
        f"Give names with --names, or now: actc names {session} FILE"
    )


def print_links(links: Sequence[tuple[str, str]], everywhere: bool) -> None:
    """Print everybody's link."""
    screen = console()
    table = new_table("who", "link")
    for name, link in links:
        table.add_row(name.replace("[", "\\["), link)
    screen.print(table)
    if everywhere:
        screen.print(
            "Mind: this is plain HTTP, reachable from other machines. Whoever reads the traffic can judge in somebody "
            "else's name; put a proxy with HTTPS before it, or use a network that you trust."
        )
    screen.print("Each link is a secret of its own. Stop with Ctrl+C; every answer is on the disk already.")


def print_judge_run(run: JudgeRun) -> None:
    """Say what a judge was asked, what came of it, what it cost and how far it can be trusted."""
    console().print("\n".join(run.sentences()), markup=False)
