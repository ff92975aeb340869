"""The command of the studio: parse, call, print."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from actc.cli.parts import examples, quiet_option
from actc.errors import OptionError


@click.command("studio", epilog=examples("actc studio", "actc studio my-projects --host 0.0.0.0 --port 8080"))
@click.argument("folder", type=click.Path(path_type=Path), default="actc-studio")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8766,
    show_default=True,
    help="The port to listen on; 0 for any free one.",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser.")
@quiet_option
def studio_command(folder: Path, host: str, port: int, browser: bool, quiet: bool) -> None:
    """Do all of it in a browser: graphs, runs, people, decisions, files.

    FOLDER holds the projects; it is made if it is not there, with a first project to try.
    """
    try:
        from actc.web.serve import browsing, serve_studio
        from actc.web.studio.project import HIDDEN
    except ModuleNotFoundError:
        raise OptionError("This actc comes without pages; each step is a command: actc --help.") from None

    def announce(link: str) -> None:
        if not quiet:
            click.echo(f"The studio is here; whoever has this address may use it:\n  {link}\nCtrl-C ends it.")
        if browser and sys.stdout.isatty():
            ending.enter_context(browsing(link, folder / HIDDEN))

    with ExitStack() as ending:
        serve_studio(folder, host, port, announce)


COMMANDS = [studio_command]
