"""A program, or a function of the user's own, as judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any

from actc.errors import OptionError
from actc.judges.converse import converse, split_command
from actc.judges.replies import NO_ANSWER, Question, Reply, read_reply
from actc.methods import import_named


def ask_program(command: str, questions: Iterable[Question]) -> Iterator[tuple[Question, Reply]]:
    """Put questions to a program, one JSON object a line, and read its replies, in whichever order they come.

    A reply is an object with ``triple`` and ``said``, and ``probability`` and ``reason`` if it likes. A line that
    makes no sense, or speaks of a triple that is not open, counts for nothing.

    Parameters
    ----------
    command : str
        The program and its arguments; no shell interprets it.
    """
    waiting: dict[int, Question] = {}

    def tell() -> Iterator[dict[str, Any]]:
        for question in questions:
            waiting[question.triple] = question
            yield question.told

    with closing(converse(split_command(command), tell())) as lines:
        for line in lines:
            triple, reply = _read_line(line)
            if triple in waiting:
                yield waiting.pop(triple), reply


def _read_line(line: bytes) -> tuple[int | None, Reply]:
    try:
        told = json.loads(line)
        return int(told["triple"]), read_reply(told)
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None, NO_ANSWER


def ask_script(name: str, questions: Iterable[Question]) -> Iterator[tuple[Question, Reply]]:
    """Put questions to a function of the user's own, ``module:function``, one after the other.

    It is given what a program reads as a line, and returns what a program writes, or just true, false or "unsure".
    """
    function = find_function(name)
    for question in questions:
        yield question, read_reply(function(dict(question.told)))


def find_function(name: str) -> Callable[[dict[str, Any]], Any]:
    """Import a function; only for a name that the user gave, never for one out of a file."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise OptionError(f"--script: {name!r} names no function; write module:function.")
    found = import_named(module, attribute, "--script")
    if not callable(found):
        raise OptionError(f"--script: {name} is no function.")
    return found  # type: ignore[no-any-return]
