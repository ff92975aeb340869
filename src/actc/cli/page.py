"""Serving a page: the options of every command that does, and how it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from actc.errors import OptionError

if TYPE_CHECKING:
    from actc.session import Session


def _tidy_names(context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> list[str]:
    from actc.session.judge_store import tidy_name

    return [tidy_name(name, "an annotator") for name in names]


_OPTIONS = (
    click.option(
        "--annotator",
        "annotators",
        multiple=True,
        callback=_tidy_names,
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


def serve_page(
    session: Path, prepare: Callable[[Session], None], host: str, port: int, browser: bool, quiet: bool
) -> None:
    """Serve a session's page until interrupted; ``prepare`` changes the session once the port is ours."""
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
        serve(session, prepare, host, port, announce, lambda line: click.echo(line, err=True))
