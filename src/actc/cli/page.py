"""Serving a page: the options of every command that does, and how it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from actc.errors import OptionError

_OPTIONS = (
    click.option(
        "--annotator",
        "annotators",
        multiple=True,
        help="A name that gets a link; repeatable. [default: those there are, or you]",
    ),
    click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=8765,
        show_default=True,
        help="The port to listen on; 0 for any free one.",
    ),
    click.option("--browser/--no-browser", default=True, help="Open the page in a browser."),
)


def page_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a page."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def serve_page(session: Path, annotators: tuple[str, ...], host: str, port: int, browser: bool, quiet: bool) -> None:
    """Serve a session's page until interrupted."""
    from actc.cli.show_session import print_links

    try:
        from actc.web.serve import browsing, link_to_open, serve
    except ModuleNotFoundError:
        raise OptionError("This actc comes without the annotation page; judge in the terminal: --terminal.") from None

    def announce(links: list[tuple[str, str]]) -> None:
        if not quiet:
            print_links(links, host not in ("127.0.0.1", "localhost", "::1"))
        if browser and sys.stdout.isatty():
            ending.enter_context(browsing(link_to_open(links), session))

    with ExitStack() as ending:
        serve(session, annotators, host, port, announce, lambda line: click.echo(line, err=True))
