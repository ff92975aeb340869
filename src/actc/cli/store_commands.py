"""Decided facts into a store, and back: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from actc.cli.parts import (
    PATH,
    base_option,
    credential_options,
    examples,
    graph_option,
    progress_bar,
    quiet_option,
    say,
)

to_option = click.option("--to", required=True, help="sparql:http://host/update, or a file.")
into_option = click.option("--into", required=True, metavar="IRI", help="Each run is a named graph under this IRI.")
query_option = click.option(
    "--query-at", metavar="URL", help="Where a SPARQL store answers queries. [default: by --to]"
)


@click.command(
    "publish",
    epilog=examples(
        "actc publish better --to sparql:http://localhost:7878/update --into http://example.org/kg",
        "actc publish better --to sparql:http://localhost:7878/update --into http://example.org/kg --write",
    ),
)
@click.argument("folder", type=PATH)
@to_option
@into_option
@click.option("--write/--dry-run", default=False, show_default=True, help="Write; or say what would be written.")
@click.option("--remove", is_flag=True, help="Remove the facts that were taken out, from --graph or the default graph.")
@graph_option
@query_option
@credential_options
@base_option
@quiet_option
def publish_command(folder: Path, quiet: bool, **options: Any) -> None:
    """Write what complete or check decided into a store, as a run that can be taken back.

    FOLDER is what they wrote, or a table such as `actc export --accepted` writes. Without --write it says what would be
    written.
    """
    from actc.graph.publish import publish_facts

    with progress_bar("Facts", quiet, late=True) as advance:
        published = publish_facts(folder, progress=advance, **options)
    say(quiet, *published.lines)


@click.command(
    "withdraw",
    epilog=examples("actc withdraw better --to sparql:http://localhost:7878/update --into http://example.org/kg"),
)
@click.argument("folder", type=PATH)
@to_option
@into_option
@click.option("--run", metavar="IRI", help="Which run. [default: the last that was published from FOLDER]")
@click.option("--dry-run", is_flag=True, help="Say what would be changed, and stop.")
@query_option
@credential_options
@quiet_option
def withdraw_command(folder: Path, quiet: bool, **options: Any) -> None:
    """Take a run back out of a store: what it wrote goes, what it removed comes back."""
    from actc.graph.publish import withdraw_facts

    say(quiet, *withdraw_facts(folder, **options).lines)


COMMANDS = [publish_command, withdraw_command]
