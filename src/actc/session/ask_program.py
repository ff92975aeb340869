"""A program as judge."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress

from actc.errors import ActcError, OptionError
from actc.session.questions import Question, Reply, read_reply

MOST_UNREADABLE, MOST_LINE = 1000, 1_000_000
"""Lines in a row that answer nothing, after which a program is ended; the longest line."""
GOODBYE_SECONDS = 10.0
"""How long a program that closed its output may still take to read its input."""


def split_command(command: str) -> list[str]:
    """Return a command's words."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise OptionError(f"--program: {command!r} is no command ({str(error).lower()}).") from None
    if not words:
        raise OptionError("--program needs a command, such as 'python judge.py'.")
    if shutil.which(words[0]) is None:
        raise OptionError(f"--program: there is no program {words[0]!r}.")
    return words


def ask_program(command: str, questions: Iterable[Question]) -> Iterator[tuple[Question, Reply]]:
    """Put questions to a program, one JSON object a line, and read its replies, in whichever order they come.

    A reply is an object with ``triple`` and ``answer``, and optionally ``probability`` and ``reason``. A line that
    cannot be read, or is about a triple that is not open, does not count; a program that writes only such lines is
    ended. No shell interprets the command.
    """
    words, waiting, errors = split_command(command), dict[int, Question](), list[Exception]()
    try:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ActcError(f"The program {words[0]!r} cannot be started: {why}.") from None
    assert process.stdin is not None
    assert process.stdout is not None
    stdin = process.stdin

    def feed() -> None:
        try:
            for question in questions:
                waiting[question.triple] = question
                try:
                    stdin.write(json.dumps(question.fields, ensure_ascii=False).encode() + b"\n")
                    stdin.flush()
                except (OSError, ValueError):  # the program closed its input; its answers count
                    break
        except Exception as error:  # a question cannot be made: raised once all replies are stored
            errors.append(error)
        finally:
            with suppress(OSError, ValueError):  # what it did not read cannot be written any more
                stdin.close()

    with process:
        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        try:
            unreadable = 0
            while unreadable < MOST_UNREADABLE and (line := process.stdout.readline(MOST_LINE)):
                unreadable += 1
                try:
                    content = json.loads(line)
                    triple, reply = int(content["triple"]), read_reply(content)
                except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
                    continue
                if triple in waiting:
                    unreadable = 0
                    yield waiting.pop(triple), reply
            if unreadable >= MOST_UNREADABLE:
                raise ActcError(
                    f"The program {words[0]!r} wrote {unreadable:,} lines that answer no question, and was ended; its "
                    "answers before that are stored."
                )
        except BaseException:  # nobody reads the replies any more
            process.kill()
            raise
        finally:
            feeder.join(GOODBYE_SECONDS)
            if feeder.is_alive():  # it writes nothing any more, and does not read
                process.kill()
                feeder.join()
    if errors:
        raise errors[0]
    if process.returncode:
        raise ActcError(f"The program ended with code {process.returncode}; its answers before that are stored.")
