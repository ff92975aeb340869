"""What the commands share: examples at the foot of a help text, options, lines that are said, a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from actc.data.progress import report_progress

PATH = click.Path(path_type=Path)


def examples(*lines: str) -> str:
    """Format a command's examples for the foot of its help."""
    return "\b\nExample" + ("s" if len(lines) > 1 else "") + ":\n" + "\n".join(f"  {line}" for line in lines)


def look_here(context: click.Context, parameter: click.Parameter, given: Any) -> Any:
    """Look for code of the user's own, module:name, in the working folder: for this option's sake, and no other."""
    from actc.methods.named import names_module, search_here

    texts = [given] if isinstance(given, str) else list(given or ())
    if any(names_module(text) for text in texts):
        search_here()
    return given


def _allow(context: click.Context, parameter: click.Parameter, given: str | None) -> None:
    from actc.methods.named import find_method

    if given is not None:
        look_here(context, parameter, given)
        find_method(given)


method_option = click.option(
    "--method", default="pooled", show_default=True, callback=look_here, help="See: actc methods."
)
allow_method_option = click.option(
    "--method",
    metavar="MODULE:NAME",
    expose_value=False,
    callback=_allow,
    help="A method of your own that was used: files cannot make actc import it, only you can.",
)


def promise_options(default: float | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --precision and --confidence to a command."""
    confidence = click.option(
        "--confidence", default=0.9, show_default=True, help="The confidence of the guaranteed precision."
    )
    precision = click.option(
        "--precision",
        type=float,
        default=default,
        show_default=default is not None,
        help="Guarantee this precision, with --confidence: random draws test the list.",
    )
    return lambda command: precision(confidence(command))


language_option = click.option(
    "--language", default="en", show_default=True, help="The language of names, where a file has several."
)


def constraint_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --constraints and --graph to a command."""
    graph = click.option("--graph", type=PATH, help="The facts that candidates may contradict.")
    table = click.option("--constraints", type=PATH, help="What may not be true together: see actc constraints.")
    return table(graph(command))


graph_option = click.option(
    "--graph", "graphs", multiple=True, metavar="IRI", help="Of a SPARQL store: a named graph; repeatable."
)


def credential_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --key-from and --user-from to a command: who asks a store."""
    key = click.option("--key-from", metavar="NAME", help="Of a store: the environment variable with a bearer token.")
    user = click.option("--user-from", metavar="NAME", help="Of a store: the environment variable with user:password.")
    return key(user(command))


def claim_output(path: Path | None, *, overwrite: bool, inputs: Sequence[Any] = (), folder: bool = False) -> None:
    """Refuse a place where a command must not write, and keep it from other runs until the command ends.

    Parameters
    ----------
    path : Path, optional
        Where the output shall be; where there shall be none, there is nothing to claim.
    overwrite, inputs, folder
        As in :func:`actc.data.deliver.check_output`.
    """
    if path is None:
        return
    from actc.data.deliver import check_output, claim

    check_output(path, overwrite=overwrite, inputs=inputs, folder=folder)
    if folder or path.absolute().parent.is_dir():
        click.get_current_context().with_resource(claim(path))
        # Another run may have ended between the two.
        check_output(path, overwrite=overwrite, inputs=inputs, folder=folder)


base_option = click.option(
    "--base",
    multiple=True,
    callback=lambda context, option, given: given[0] if len(given) == 1 else given or "",
    help="What IRIs begin with in RDF and names do not; a second time: those of relations.",
)


def seed_option(default: int = 0) -> Callable[..., Any]:
    """Return the option --seed."""
    kind = click.IntRange(0, 2**63 - 1)
    return click.option("--seed", type=kind, default=default, show_default=True, help="Where draws start from.")


overwrite_option = click.option("--overwrite", is_flag=True, help="Replace an output that is there already.")
quiet_option = click.option("--quiet", is_flag=True, help="Print nothing but errors.")


def say(quiet: bool, *lines: str) -> None:
    """Print lines, unless told to be quiet."""
    for line in () if quiet else lines:
        click.echo(line)


@contextmanager
def progress_bar(label: str, quiet: bool, late: bool = False) -> Iterator[Callable[..., Any]]:
    """Show a bar on a terminal; elsewhere, and when quiet, nothing. Yields a function: steps done, steps in all.

    A late bar appears with the first step, so that what is printed before it stays apart from it. A program that runs
    the command is told by ``ACTC_PROGRESS``.
    """
    tell = report_progress(label)
    if quiet or not sys.stderr.isatty():
        yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(label, total=None)

    def advance(done: int, total: int | None = None) -> None:
        bar.start()  # once more does no harm
        bar.update(task, advance=done, total=total)
        tell(done, total)

    try:
        if not late:
            bar.start()
        yield advance
    finally:
        bar.stop()
