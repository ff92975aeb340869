"""What commands that go the whole way share: whom they ask, how far they are, what came of the asking."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, cast

from actc.decide.case import Case
from actc.decide.list_test import Demand
from actc.errors import FileError, OptionError
from actc.graph.terms import Base
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


class Asking:
    """What plans have in common that ask somebody: an oracle, people, or nobody."""

    called: ClassVar[str]
    graph: Path
    out: Path
    names: tuple[Path, ...]
    language: str
    precision: float | None
    confidence: float
    budget: int
    base: Base
    undo: bool
    facts: Path | None

    @property
    def demand(self) -> Demand | None:
        """What is guaranteed of what the method decides, if anything."""
        return None if self.precision is None or not self.budget else Demand(self.precision, self.confidence)

    @property
    def plain_base(self) -> str | list[str]:
        """The base as JSON has it."""
        return self.base if isinstance(self.base, str) else list(self.base)

    def command(self, budget: int | None = None, *more: str) -> str:
        """Return the command line that asks for the same, with another budget if one is given, and more words."""
        words = ["actc", self.called, str(self.graph)]
        for field in fields(cast(Any, self))[2:]:
            value = budget if field.name == "budget" and budget is not None else getattr(self, field.name)
            if value != field.default and field.name not in ("undo", "facts", "if_changed"):
                words += _option(field.name, value)
        return shlex.join([*words, "--out", str(self.out), *more])

    def _take_paths(self, *names: str) -> None:
        """Turn what was given under some names into paths: texts do as well."""
        for name in names:
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else Path(given))
        object.__setattr__(self, "names", tuple(Path(path) for path in self.names))

    def _check_asking(self) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise OptionError(f"--out: {self.out} is a file; give the name of a folder.")
        if self.budget < 0:
            raise OptionError(f"--budget: {self.budget} answers cannot be asked for; give 0 to ask nobody.")
        if self.precision is not None:
            Demand(self.precision, self.confidence)  # refuses what cannot be guaranteed

    def _check_undo(self) -> None:
        if self.facts is not None and not self.undo:
            raise OptionError("--facts: it names the facts to put back; give --undo too.")

    def _check_files(self, *paths: Path | None) -> None:
        for path in (*paths, *self.names):
            if path is not None and not path.exists():
                raise FileError(f"{path}: there is no such file.")


def _option(name: str, value: Any) -> list[str]:
    """Return an option of the command line and its value, once for each of several."""
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option if value else f"--no-{name}"]
    return [word for one in (value if isinstance(value, (tuple, list)) else [value]) for word in (option, f"{one}")]


def annotate_command(folder: Path) -> str:
    """Return the command line that opens a session's page."""
    return f"actc annotate {shlex.quote(str(folder))}"


def count_said(session: Session) -> list[Any]:
    """Return, as JSON has it, numbers that change with everything that is said or chosen in a session."""
    said = [session.store.value(f"SELECT coalesce(max(id), 0) FROM {table}") for table in ("judgement", "choice")]
    return [*said, ReplyStore(session.folder).counts()]


def open_judged(session: Session, plan: Asking, carried: int = 0) -> tuple[list[Case], list[str]]:
    """Open the cases of a session in which somebody has judged, one of each part; say where people stopped early.

    ``carried`` answers were there before anybody was asked.
    """
    annotate, budget = annotate_command(session.folder), min(plan.budget + carried, session.settings.triples)
    if budget != session.budget:
        session.set_budget(budget)
    cases = [session_case(session, plan.demand, part) for part in parts_of(session.settings)]
    answers = sum(len(case.annotations) for case in cases)
    if not answers:
        raise OptionError(f"{session.folder}: nobody has called any triple true or false yet; judge with: {annotate}")
    early = f"{answers:,} of {budget:,} answers are there; for more: {annotate}, then this command again."
    return cases, [early] if answers < budget else []
