"""The command line: one command per library verb; parses, calls, prints."""

from __future__ import annotations

import io
import logging
import os
import platform
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from logging.handlers import MemoryHandler
from typing import Any, TextIO, cast

import click

from actc import __version__
from actc.cli import (
    core_commands,
    evidence_commands,
    experiment_commands,
    graph_commands,
    judge_commands,
    session_commands,
    store_commands,
    studio_commands,
    trust_commands,
)
from actc.errors import ActcError, say_failure

CONTROL = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def main() -> None:
    """Run a command; whatever a person can put right becomes one sentence and exit code 2."""
    _mend_streams()
    plain = cast(TextIO, PlainOutput(sys.stdout))
    with _signals_heeded() as told, _warnings_held() as held, redirect_stdout(plain):
        try:
            code = commands.main(standalone_mode=False)
        except BaseException as error:
            if told:  # whatever it became on its way here: DuckDB makes an error of its own of it
                sys.exit(128 + told[0])
            held.buffer.clear()
            _end_with(error)
        sys.exit(code if isinstance(code, int) else 0)


def _end_with(error: BaseException) -> None:
    if isinstance(error, click.UsageError):
        help_hint = f" Try: {error.ctx.command_path} --help" if error.ctx else ""
        message = error.format_message().rstrip(".")
        _stop(message + ("" if message.endswith(("?", "?)")) else ".") + help_hint)
    if isinstance(error, ActcError):
        _stop(str(error))
    if isinstance(error, KeyboardInterrupt | click.Abort):
        sys.exit(128 + signal.SIGINT)
    if isinstance(error, SystemExit):  # click's, where nobody reads what is printed: as for any program in a pipe
        sys.exit(141 if error.code == 1 else error.code)
    if isinstance(error, Exception):
        _stop(say_failure(error))
    raise error


def _stop(sentence: str) -> None:
    with suppress(OSError):  # nobody can be told
        print(f"actc: {show_controls(' '.join(sentence.split()))}", file=sys.stderr)
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


def show_controls(text: str) -> str:
    """Return a text in which control characters are visible: a name must not write to the clipboard or move the cursor.

    Bold type, which our tables have, stays.
    """
    return CONTROL.sub(lambda found: found[0] if len(found[0]) > 1 else f"\\x{ord(found[0]):02x}", text)


class PlainOutput:
    """An output on which control characters are visible; otherwise it is the stream that it was made of."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        self._stream.write(show_controls(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _signals_heeded() -> Iterator[list[int]]:
    """Let a signal to end be an interrupt, so that nothing is left behind; yields those that came."""
    told: list[int] = []

    def end(number: int, frame: object) -> None:
        told.append(number)
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])):
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # else somebody sees to it
                before[number] = signal.signal(number, end)
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _warnings_held() -> Iterator[MemoryHandler]:
    """Print warnings at the end: whoever is refused is told one thing."""
    log, held = logging.getLogger("actc"), MemoryHandler(1000, logging.CRITICAL, logging.StreamHandler())
    log.addHandler(held)
    try:
        yield held
    finally:
        log.removeHandler(held)
        held.close()


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


def _tell_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    from importlib.metadata import PackageNotFoundError, version

    click.echo(f"actc, version {__version__} (Python {platform.python_version()})")
    for extra, package in EXTRAS.items():
        try:
            found = f"{package} {version(package)}"
        except PackageNotFoundError:
            found = "not installed"
        click.echo(f"  {extra}: {found}")
    context.exit()


JOBS = {
    "See it work": ("demo", "methods"),
    "All of it in a browser": ("studio",),
    "Find thresholds, decide": ("calibrate", "decide"),
    "Let people judge": ("start", "annotate", "judge", "export", "import"),
    "Know how good it is": ("report", "audit"),
    "From a graph to a better graph": (
        "candidates",
        "evidence",
        "constraints",
        "complete",
        "check",
        "convert",
        "publish",
        "withdraw",
    ),
    "Compare methods": ("bench", "paper"),
}


class CommandsByJob(click.Group):
    """Lists the commands under the jobs that they do."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the commands' names, in the order of the jobs."""
        return [name for names in JOBS.values() for name in names]

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each job."""
        for job, names in JOBS.items():
            with formatter.section(job):
                found = [(name, self.get_command(context, name)) for name in names]
                formatter.write_dl([(name, command.get_short_help_str(90)) for name, command in found if command])


@click.group(
    cls=CommandsByJob,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_tell_version, help="Show versions and exit."
)
@click.pass_context
def commands(context: click.Context) -> None:
    """Decide which predicted facts may enter a knowledge graph, with the least human work."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


GROUPS = (
    core_commands,
    studio_commands,
    session_commands,
    judge_commands,
    graph_commands,
    evidence_commands,
    store_commands,
    trust_commands,
    experiment_commands,
)
for group in GROUPS:
    for command in group.COMMANDS:
        commands.add_command(command)


if __name__ == "__main__":
    main()
