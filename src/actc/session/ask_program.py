"""A program as judge."""

from __future__ import annotations

import json
import shlex
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from actc.errors import ActcError, OptionError
from actc.session.replies import NO_ANSWER, Question, Reply, read_reply

MOST_SENSELESS, MOST_LINE = 1000, 1_000_000
"""Lines in a row that answer nothing, after which a program is ended; the longest line."""
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


def ask_program(command: str, questions: Iterable[Question]) -> Iterator[tuple[Question, Reply]]:
    """Put questions to a program, one JSON object a line, and read its replies, in whichever order they come.

    A reply is an object with ``triple`` and ``said``, and ``probability`` and ``reason`` if it likes. A line that
    makes no sense, or speaks of a triple that is not open, counts for nothing; a program that writes such lines and
    nothing else is ended. No shell interprets the command.
    """
    words, waiting, failed = split_command(command), dict[int | None, Question](), list[Exception]()
    try:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ActcError(f"The program {words[0]!r} cannot be started: {why}.") from None
    with process:
        feeder = threading.Thread(target=_feed, args=(process.stdin, questions, waiting, failed), daemon=True)
        feeder.start()
        try:
            senseless = 0
            while senseless < MOST_SENSELESS and (line := process.stdout.readline(MOST_LINE)):  # type: ignore[union-attr]
                triple, reply = _read_line(line)
                senseless += 1
                if triple in waiting:
                    senseless = 0
                    yield waiting.pop(triple), reply
            if senseless >= MOST_SENSELESS:
                raise ActcError(
                    f"The program {words[0]!r} wrote {senseless:,} lines that answer no question, and was ended; what "
                    "it said before that is kept."
                )
        except BaseException:  # whoever asked is not there any more
            process.kill()
            raise
        finally:
            feeder.join(GOODBYE_SECONDS)
            if feeder.is_alive():  # it says nothing any more, and does not listen
                process.kill()
                feeder.join()
    if failed:
        raise failed[0]
    if process.returncode:
        raise ActcError(f"The program ended with code {process.returncode}; what it said before that is kept.")


def _feed(
    stdin: Any, questions: Iterable[Question], waiting: dict[int | None, Question], failed: list[Exception]
) -> None:
    try:
        for question in questions:
            waiting[question.triple] = question
            line = json.dumps(question.told, ensure_ascii=False).encode() + b"\n"
            try:
                stdin.write(line)
                stdin.flush()
            except (OSError, ValueError):  # the program closed its input; what it said counts
                break
    except Exception as error:  # a question cannot be made: whoever asked is told, once what was said is kept
        failed.append(error)
    finally:
        with suppress(OSError, ValueError):  # what it did not read cannot be written any more
            stdin.close()


def _read_line(line: bytes) -> tuple[int | None, Reply]:
    try:
        told = json.loads(line)
        return int(told["triple"]), read_reply(told)
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None, NO_ANSWER
