"""The command line: one command per library verb; parses, calls, prints."""

from __future__ import annotations

import io
import logging
import os
import platform
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from logging.handlers import MemoryHandler
from typing import TextIO, cast

import click

from actc import __version__
from actc.cli import core_commands, graph_commands, session_commands  # noqa: F401 - each adds to COMMANDS
from actc.cli.parts import COMMANDS, Output, show_controls
from actc.errors import describe_failure


def main() -> None:
    """Run a command; whatever a person can put right becomes one sentence and exit code 2."""
    _mend_streams()
    plain = cast(TextIO, Output(sys.stdout))
    with _interrupt_by_signals() as signals, _delay_warnings() as warnings, redirect_stdout(plain):
        try:
            code = commands.main(standalone_mode=False)
        except BaseException as error:
            if signals:  # whatever it became on its way here: DuckDB makes an error of its own of it
                sys.exit(128 + signals[0])
            warnings.buffer.clear()
            _end_with(error)
        sys.exit(code if isinstance(code, int) else 0)


def _end_with(error: BaseException) -> None:
    if isinstance(error, click.UsageError):
        help_hint = f" Try: {error.ctx.command_path} --help" if error.ctx else ""
        message = error.format_message().rstrip(".")
        _stop(message + ("" if message.endswith(("?", "?)")) else ".") + help_hint)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        sys.exit(128 + signal.SIGINT)
    if isinstance(error, SystemExit):  # click's, where nobody reads what is printed: as for any program in a pipe
        sys.exit(141 if error.code == 1 else error.code)
    if isinstance(error, Exception):
        _stop(describe_failure(error))
    raise error


def _stop(sentence: str) -> None:
    try:
        print(f"actc: {show_controls(' '.join(sentence.split()))}", file=sys.stderr)
    except OSError:  # nobody can read it, nor what Python keeps of it until the end, which would be another exit code
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.exit(2)


def _mend_streams() -> None:
    """Let a stream that is closed lead nowhere, not into the next file that is opened; print what letters we can."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        with suppress(OSError):
            os.fstat(number)
            continue
        os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for as long as we run
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


@contextmanager
def _interrupt_by_signals() -> Iterator[list[int]]:
    """Let a signal to end be an interrupt, so that nothing is left behind; yields those that came."""
    signals: list[int] = []

    def end(number: int, frame: object) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])):
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # else somebody sees to it
                before[number] = signal.signal(number, end)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _delay_warnings() -> Iterator[MemoryHandler]:
    """Print warnings at the end: an error is one sentence."""
    log, warnings = logging.getLogger("actc"), MemoryHandler(1000, logging.CRITICAL, logging.StreamHandler())
    log.addHandler(warnings)
    try:
        yield warnings
    finally:
        log.removeHandler(warnings)
        warnings.close()


EXTRAS = {
    "plots": "matplotlib",
    "app": "fastapi",
    "judge": "httpx",
    "pykeen": "pykeen",
    "rdf": "pyoxigraph",
    "store": "httpx",
    "spark": "pyspark",
}
"""Each extra and the package that it is about."""


def _print_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    from importlib.metadata import PackageNotFoundError, version

    click.echo(f"actc, version {__version__} (Python {platform.python_version()})")
    for extra, package in EXTRAS.items():
        try:
            installed = f"{package} {version(package)}"
        except PackageNotFoundError:
            installed = "not installed"
        click.echo(f"  {extra}: {installed}")
    context.exit()


def _allow_method(context: click.Context, option: click.Parameter, name: str | None) -> None:
    if name is not None:
        from actc.methods.named import find_method

        find_method(name)


JOBS = {
    "See it work": ("demo", "methods"),
    "All of it in a browser": ("studio",),
    "Find thresholds, decide": ("calibrate", "decide"),
    "Let people judge": ("start", "annotate", "judge", "export", "import"),
    "Know how good it is": ("report", "audit"),
    "From a graph": ("candidates", "evidence", "constraints", "complete", "check", "convert", "publish", "withdraw"),
    "Compare methods": ("bench", "paper"),
}


class CommandsByJob(click.Group):
    """Lists the commands under the jobs that they do."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each job."""
        for job, names in JOBS.items():
            with formatter.section(job):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(90)) for name in names])


@click.group(
    cls=CommandsByJob,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show versions and exit.",
)
@click.option(
    "--allow-method",
    metavar="MODULE:NAME",
    expose_value=False,
    callback=_allow_method,
    help="A method of your own that a file names: files cannot make actc import it, only you can.",
)
@click.pass_context
def commands(context: click.Context) -> None:
    """Decide which predicted facts may enter a knowledge graph, with the least human work."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for each in COMMANDS:
    commands.add_command(each)


if __name__ == "__main__":
    main()
