"""What commands that go the whole way share: whom they ask, how far they are, what came of the asking."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actc.decide.case import Case
from actc.decide.list_test import Demand
from actc.errors import OptionError
from actc.session.find_case import session_case
from actc.session.judge_store import ReplyStore
from actc.session.session import Session
from actc.session.sought import parts_of

Stage = Callable[[str], AbstractContextManager[Callable[..., Any]]]
"""Called with a stage's name, for as long as it lasts: gives a function to tell steps done, steps in all."""


def no_stage(name: str) -> AbstractContextManager[Callable[..., Any]]:
    """Tell nobody of a stage."""
    return nullcontext(lambda *steps: None)


@dataclass(frozen=True)
class Finished:
    """What came of a command that goes the whole way.

    Parameters
    ----------
    lines : tuple of str
        What a person should read.
    files : tuple of Path
        The new graph, lists and reports; none while people have yet to judge.
    """

    lines: tuple[str, ...]
    files: tuple[Path, ...] = ()


def annotate_command(folder: Path) -> str:
    """Return the command line that opens a session's page."""
    return f"actc annotate {shlex.quote(str(folder))}"


def count_said(session: Session) -> list[Any]:
    """Return, as JSON has it, numbers that change with everything that is said or chosen in a session."""
    said = [session.store.value(f"SELECT coalesce(max(id), 0) FROM {table}") for table in ("judgement", "choice")]
    return [*said, ReplyStore(session.folder).counts()]


def open_judged(
    session: Session, answers: int, demand: Demand | None, carried: int = 0
) -> tuple[list[Case], list[str]]:
    """Open the cases of a session in which somebody has judged, one of each part; say where people stopped early.

    ``answers`` are asked for in all, besides the ``carried`` ones that were there before anybody was asked.
    """
    annotate, budget = annotate_command(session.folder), min(answers + carried, session.settings.triples)
    if budget != session.budget:
        session.set_budget(budget)
    cases = [session_case(session, demand, part) for part in parts_of(session.settings)]
    given = sum(len(case.annotations) for case in cases)
    if not given:
        raise OptionError(f"{session.folder}: nobody has called any triple true or false yet; judge with: {annotate}")
    early = f"{given:,} of {budget:,} answers are there; for more: {annotate}, then this command again."
    return cases, [early] if given < budget else []
