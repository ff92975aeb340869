"""What the commands share: options, examples at the foot of a help text, places of outputs, a progress bar."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import Field
from functools import partial, reduce
from pathlib import Path
from typing import Any, TextIO, cast

import click

from actc.data.options import COLUMNS, Options, flag
from actc.data.progress import report_progress

PATH = click.Path(path_type=Path)
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
COMMANDS: list[click.Command] = []
"""All commands, in the order in which they are defined."""
CONTROL = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def show_controls(text: str) -> str:
    """Return a text in which control characters are visible: a name must not write to the clipboard or move the cursor.

    Bold type, which our tables have, stays.
    """
    return CONTROL.sub(lambda match: match[0] if len(match[0]) > 1 else f"\\x{ord(match[0]):02x}", text)


class Output:
    """An output on which control characters are visible, or a quiet one; otherwise the stream that it was made of."""

    def __init__(self, stream: TextIO, quiet: bool = False) -> None:
        self._stream, self.quiet = stream, quiet

    def write(self, text: str) -> int:
        """Write a text."""
        if not self.quiet:
            self._stream.write(show_controls(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def is_overwriting() -> bool:
    """Return whether the command that runs may replace outputs."""
    return bool(click.get_current_context().meta.get("overwrite"))


def _be_quiet(context: click.Context, option: click.Parameter, quiet: bool) -> None:
    if quiet:
        context.with_resource(redirect_stdout(cast(TextIO, Output(sys.stdout, quiet=True))))


QUIET = click.Option(
    ["--quiet"], is_flag=True, expose_value=False, callback=_be_quiet, help="Print nothing but errors."
)
"""An option of every command."""
OVERWRITE = click.Option(
    ["--overwrite"],
    is_flag=True,
    expose_value=False,
    callback=lambda context, option, given: context.meta.update(overwrite=given),
    help="Replace an output that is there already.",
)
"""An option of every command that writes a new output."""


class Command(click.Command):
    """A command with the options that many have; its help shows what most people need before the others."""

    def __init__(self, *args: Any, shared: Sequence[click.Option] = (), more: Sequence[str] = (), **how: Any) -> None:
        super().__init__(*args, **how)
        self.shared, self.more = shared, more

    def get_params(self, context: click.Context) -> list[click.Parameter]:
        """Return its parameters and those that many commands have."""
        return [*self.params, *self.shared, *filter(None, [self.get_help_option(context)])]

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section, or two."""
        options = [one for one in self.get_params(context) if isinstance(one, click.Option)]
        for title, more in (("Options", False), ("More options", True)):
            rows = [one.get_help_record(context) for one in options if (one.name in self.more) is more]
            if rows:
                with formatter.section(title):
                    formatter.write_dl([row for row in rows if row])


def command(
    *examples: str, writes: bool = False, more: Sequence[str] = ()
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function, whose name is that of the command and ``_command``.

    Parameters
    ----------
    *examples : str
        Shown at the foot of its help.
    writes : bool
        Whether it writes a new output, which may be there already: it has the option --overwrite.
    more : sequence of str
        Names of the options that its help shows last.
    """
    title = "Examples" if len(examples) > 1 else "Example"
    foot = "\n".join([f"\b\n{title}:", *(f"  {line}" for line in examples)])

    def make(function: Callable[..., Any]) -> click.Command:
        name = function.__name__.removesuffix("_command")
        shared = (OVERWRITE, QUIET) if writes else (QUIET,)
        COMMANDS.append(click.command(name, cls=Command, shared=shared, more=more, epilog=foot)(function))
        return COMMANDS[-1]

    return make


def option(names: str, text: str | None = None, default: Any = None, **how: Any) -> Decorator:
    """Return an option: its names, with spaces between them, and what it is; a default is shown if it is a value."""
    shown = default not in (None, "", ()) and not isinstance(default, bool)
    return click.option(*names.split(), help=text, default=default, show_default=shown, **how)


path_option = partial(option, type=PATH)
flag_option = partial(option, default=False, is_flag=True)
path_argument = partial(click.argument, type=PATH)
base_option = option(
    "--base",
    "What IRIs begin with in RDF and names do not; a second time: those of relations.",
    multiple=True,
    callback=lambda context, option, given: given[0] if len(given) == 1 else given or "",
)
seed_option = partial(option, "--seed", "Where draws start from.", type=click.IntRange(0, 2**63 - 1))
columns_option = option("--columns", COLUMNS, metavar="NAMES")
graph_option = option("--graph graphs", "Of a SPARQL store: a named graph; repeatable.", multiple=True, metavar="IRI")
key_option = option(
    "--key-from", "Of a store: the environment variable with a bearer token, or user:password.", metavar="NAME"
)
engine_option = option(
    "--engine",
    "duckdb; spark on this machine; or the address of a Spark cluster: spark://host:7077, yarn, k8s://…",
    "duckdb",
)


def together(*options: Decorator) -> Decorator:
    """Return several options as one decorator."""
    return lambda command: reduce(lambda made, one: one(made), reversed(options), command)


constraint_options = together(
    path_option("--constraints", "What may not be true together: see actc constraints."),
    path_option("--graph", "The facts that candidates may contradict."),
)
SHARED: dict[str, Decorator] = {"base": base_option, "seed": seed_option(0)}
"""Options of a form of their own."""


def add_options(options: Options, defaults: Mapping[str, Any] | None = None) -> Decorator:
    """Return the options that a configuration describes; ``defaults`` are those that differ."""
    return together(*(_option_of(one, (defaults or {}).get(one.name, one.default)) for one in options))


def _option_of(one: Field[Any], default: Any) -> Decorator:
    """Return the option that a field is."""
    text = one.metadata["help"]
    if one.name in SHARED:
        return SHARED[one.name]
    if isinstance(default, bool):
        return flag_option(f"--{one.name}/--no-{one.name}" if default else flag(one), text, default=default)
    kind = str(one.type).removesuffix(" | None")
    type_of = PATH if "Path" in kind else {"int": int, "float": float}.get(kind, str)
    return option(flag(one), text, default, type=type_of, multiple=default == ())


def read_engine(engine: str) -> dict[str, str]:
    """Return an engine, and the address of the cluster that it runs on, where one was given."""
    is_address = "://" in engine or engine == "yarn" or engine.startswith("local")
    return {"engine": "spark", "master": engine} if is_address else {"engine": engine}


def claim_output(path: Path | None, inputs: Sequence[Any] = (), folder: bool = False, overwrite: bool = False) -> None:
    """Refuse a place where a command must not write, and keep it from other runs until the command ends."""
    if path is None:
        return
    from actc.data.deliver import alone, check_output

    overwrite = overwrite or is_overwriting()
    check_output(path, overwrite=overwrite, inputs=inputs, folder=folder)
    click.get_current_context().with_resource(alone(path))
    # Another run may have ended between the two.
    check_output(path, overwrite=overwrite, inputs=inputs, folder=folder)


@contextmanager
def progress_bar(label: str, late: bool = False) -> Iterator[Callable[..., Any]]:
    """Show a bar on a terminal; elsewhere, and when quiet, nothing. Yields a function: steps done, steps in all.

    A late bar appears with the first step, so that what is printed before it stays apart from it. A program that runs
    the command reads the file that ``ACTC_PROGRESS`` names.
    """
    report = report_progress(label)
    if getattr(sys.stdout, "quiet", False) or not sys.stderr.isatty():
        yield report
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(label, total=None)

    def advance(done: int, total: int | None = None) -> None:
        bar.start()  # once more does no harm
        bar.update(task, advance=done, total=total)
        report(done, total)

    try:
        if not late:
            bar.start()
        yield advance
    finally:
        bar.stop()
