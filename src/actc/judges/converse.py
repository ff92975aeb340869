"""A conversation with a program: JSON lines into its standard input, lines out of its standard output."""

from __future__ import annotations

import json
import shlex
import subprocess
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from typing import Any

from actc.errors import ActcError, OptionError

GOODBYE_SECONDS = 10.0
"""How long a program that closed its output may still take to read what it is told."""


def split_command(command: str) -> list[str]:
    """Return a command's words."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise OptionError(f"--program: {command!r} is no command ({str(error).lower()}).") from None
    if not words:
        raise OptionError("--program needs a command, such as 'python judge.py'.")
    return words


def converse(words: list[str], told: Iterable[Mapping[str, Any]]) -> Generator[bytes, None, None]:
    """Start a program, tell it objects, one a line, and return the lines that it writes, as they come.

    Whoever does not read to the end closes this (``contextlib.closing``), which ends the program.

    Parameters
    ----------
    words : list of str
        The program and its arguments; no shell interprets them.
    told : iterable of mapping
        What it is told, taken while it answers.
    """
    try:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        raise ActcError(
            f"The program {words[0]!r} cannot be started: {(error.strerror or str(error)).lower()}."
        ) from None
    with process:
        feeder = threading.Thread(target=_feed, args=(process, told), daemon=True)
        feeder.start()
        assert process.stdout is not None
        try:
            yield from process.stdout
        except BaseException:  # whoever asked is not there any more
            process.kill()
            raise
        finally:
            feeder.join(GOODBYE_SECONDS)
            if feeder.is_alive():  # it says nothing any more, and does not listen
                process.kill()
                feeder.join()
    if process.returncode:
        raise ActcError(f"The program ended with code {process.returncode}; what it said before that is kept.")


def _feed(process: subprocess.Popen[bytes], told: Iterable[Mapping[str, Any]]) -> None:
    assert process.stdin is not None
    try:
        for one in told:
            process.stdin.write(json.dumps(one, ensure_ascii=False).encode() + b"\n")
            process.stdin.flush()
    except (OSError, ValueError):  # the program closed its input; what it said counts
        pass
    finally:
        with suppress(OSError, ValueError):  # what it did not read cannot be written any more
            process.stdin.close()
