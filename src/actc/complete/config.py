# ruff: noqa: RUF009 - the default of an option is what `_option` makes of it
"""One run of `actc complete` or `actc check`: its options, described once, for the commands and for Python."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from actc.errors import FileError, OptionError

if TYPE_CHECKING:  # and when they are used: a help text shall not wait for numpy
    from actc.decide.guarantee import TargetPrecision
    from actc.graph.terms import Base

Goal = Literal["missing", "wrong"]
PRECISION = 0.9
"""The precision that `actc check` guarantees of what it removes, unless another one is given."""
Function = TypeVar("Function", bound=Callable[..., Any])
ONE_TIME = ("undo", "facts", "if_changed")
"""Options of one run that the next one does not repeat."""
CHECK = "check"
"""In the folder of a run that looks for missing facts and for wrong ones: the folder of the wrong ones."""
PATHS = ("graph", "out", "model", "candidates", "oracle", "held", "facts")


def _option(default: Any, text: str, *, check: bool = False, more: bool = False) -> Any:
    """Describe an option: for the help of ``actc complete`` (and of ``check``), and for Python."""
    return field(default=default, metadata={"help": text, "check": check, "more": more})


@dataclass(frozen=True)
class RunConfig:
    """The configuration of a run into a folder; see :func:`actc.complete_graph` and :func:`actc.check_graph`."""

    graph: Path | None
    out: Path
    goal: Goal = "missing"
    store: tuple[str, ...] = ()  # how the command line named the store that the graph was read from
    model: Path | None = _option(None, "A folder that PyKEEN wrote: its model proposes beside the rules.")
    candidates: Path | None = _option(
        None, "A table of triples, such as from text; only these are decided. [default: what rules and a model propose]"
    )
    evidence: bool = _option(True, "Score candidates by what the graph says of them, or by the model alone.")
    oracle: Path | None = _option(
        None, "Judged triples with labels, or a graph of all true ones. [default: people are asked]", check=True
    )
    names: tuple[Path, ...] = _option(
        (), "Names of entities or relations, for the people who judge; see: actc start --help. Repeatable.", check=True
    )
    budget: int = _option(100, "How many new answers to ask for; 0 asks nobody.", check=True)
    precision: float | None = _option(
        None, "Guarantee this precision, with --confidence: random draws test the list.", check=True
    )
    constraints: str | Path | None = _option(
        None, "What may not be true together: a file of actc constraints, or learnt."
    )
    check: bool = _option(False, "Find wrong facts of the graph too: half of the answers are about them.")
    seed: int = _option(0, "Where draws start from.", check=True)
    method: str | None = _option(
        None, "See: actc methods. [default: pooled-evidence; without evidence pooled]", more=True
    )
    confidence: float = _option(0.9, "The confidence of the guaranteed precision.", check=True, more=True)
    best: int | None = _option(
        None, "How many proposals of a model to a question. [default: 10; without evidence 2]", more=True
    )
    held: Path | None = _option(
        None, "Facts that the model was not trained on. [default: those of its folder]", more=True
    )
    judged: tuple[Path, ...] = _option(
        (), "Answers from elsewhere, such as a judged audit: they teach, and decide what they are about. Repeatable.",
        more=True,
    )  # fmt: skip
    language: str = _option("en", "The language of names, where a file has several.", check=True, more=True)
    undo: bool = _option(
        False, "Put back what an earlier run into the same folder took out.", check=True, more=True
    )  # fmt: skip
    facts: Path | None = _option(None, "With --undo: put back these facts only.", check=True, more=True)
    base: Base = _option(
        "", "What IRIs begin with in RDF and names do not; a second time: those of relations.", check=True, more=True
    )
    trust: bool = _option(False, "Allow reading a pickle, which can run any code in it.", more=True)
    if_changed: bool = _option(False, "Do nothing where nothing is new since the last run.", more=True)

    def __post_init__(self) -> None:
        for name in PATHS:
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else as_path(name, given))
        for name in ("names", "judged"):
            object.__setattr__(self, name, tuple(Path(path) for path in getattr(self, name)))
        if self.goal == "wrong":
            for one in options_of("missing"):
                if not one.metadata["check"] and getattr(self, one.name) != one.default:
                    raise OptionError(f"{flag(one)}: a check has no such option; it is one of actc complete.")
            object.__setattr__(self, "precision", PRECISION if self.precision is None else self.precision)
        for wrong, message in self._refusals():
            if wrong:
                raise OptionError(message)
        if self.precision is not None:
            self._demand(self.precision)  # refuses what cannot be guaranteed
        if self.method is not None:
            from actc.methods.named import find_method

            if find_method(self.method).reads == "known" and self.evidence:
                raise OptionError(
                    f"--method: {self.method} compares scores with those of known facts, which evidence has none of; "
                    "give --no-evidence too."
                )
        for path in (self.oracle, self.held, self.facts, self.candidates, *self.judged, *self.names):
            if path is not None and not path.exists():
                raise FileError(f"{path}: there is no such file.")

    def _refusals(self) -> list[tuple[bool, str]]:
        """Return what cannot be asked together, and whether it is."""
        no_graph = self.graph is None
        return [
            (no_graph and self.candidates is None, "Give a GRAPH, or a table of triples with --candidates, or both."),
            (no_graph and self.check, "--check: it checks the facts of a GRAPH; give one."),
            (
                no_graph and not self.evidence,
                "--no-evidence: a model then compares with the facts of a GRAPH; give one.",
            ),
            (self.out.exists() and not self.out.is_dir(), f"--out: {self.out} is a file; give the name of a folder."),
            (
                self.budget < 0,
                f"--budget: how many new answers to ask for; 0 asks nobody, and {self.budget} is not possible.",
            ),
            (
                self.best is not None and self.best < 1,
                f"--best: at least one answer to a question is needed, not {self.best}.",
            ),
            (
                self.model is None and not self.evidence,
                "--no-evidence: a model then decides alone; give --model, or leave --no-evidence out.",
            ),
            (
                self.model is None and self.held is not None,
                "--held: these are facts that a model was not trained on; give --model too.",
            ),
            (
                self.facts is not None and not self.undo,
                "--facts: it names the facts to put back; give --undo too.",
            ),
            (
                self.undo and self.goal == "missing" and not self.check,
                "--undo: without --check nothing was taken out; give --check too.",
            ),
        ]

    @property
    def source(self) -> Path:
        """The graph, or the candidates where there is none."""
        path = self.graph or self.candidates
        assert path is not None
        return path

    @property
    def title(self) -> str:
        """What pages call the run."""
        return self.source.name.partition(".")[0]

    @property
    def target(self) -> TargetPrecision | None:
        """What is guaranteed of what the method decides, if anything; nothing without answers."""
        return self.session_target if self.budget else None

    @property
    def session_target(self) -> TargetPrecision | None:
        """What is guaranteed by the answers in a session, whether or not more of them are asked for."""
        return None if self.precision is None else self._demand(self.precision)

    def _demand(self, precision: float) -> TargetPrecision:
        from actc.decide.guarantee import TargetPrecision

        return TargetPrecision(precision, self.confidence)

    @property
    def checking(self) -> RunConfig:
        """The check that is part of a completion; its files lie in a folder within that of the completion."""
        return RunConfig(self.graph, self.out / "check", "wrong", seed=self.seed, base=self.base)

    @property
    def new_answers(self) -> int:
        """How many answers to ask for now: what is put back is decided by those that are there."""
        return 0 if self.undo else self.budget

    @property
    def answers(self) -> int:
        """How many answers to a question are candidates."""
        return self.best or (10 if self.evidence else 2)

    def inputs(self) -> dict[str, Any]:
        """Return what the candidates and their scores depend on."""
        from actc.data.begun import fingerprint

        base = self.base if isinstance(self.base, str) else list(self.base)
        inputs = {"graph": fingerprint(self.graph), "--base": base, "--seed": self.seed}
        if self.goal == "wrong":
            return {**inputs, "check": True}
        more = {f"--{name}": fingerprint(getattr(self, name)) for name in ("model", "candidates", "held")}
        return {**inputs, **more, "--best": self.answers, "--evidence": self.evidence}

    def decision_inputs(self) -> dict[str, Any]:
        """Return what decisions depend on besides."""
        from actc.data.begun import fingerprint

        rules = None if self.constraints is None else Path(self.constraints)
        return {
            "--oracle": fingerprint(self.oracle),
            "--judged": [fingerprint(path) for path in self.judged],
            "--constraints": fingerprint(rules) if rules is not None and rules.exists() else str(rules),
            **{f"--{name}": getattr(self, name) for name in ("check", "budget", "precision", "confidence", "method")},
        }

    def command(self, budget: int | None = None, *more: str) -> str:
        """Return the command line that asks for the same, with another budget if one is given, and more words."""
        words = ["actc", "check" if self.goal == "wrong" else "complete"]
        words += self.store or ([] if self.graph is None else [str(self.graph)])
        for one in options_of(self.goal):
            value = budget if one.name == "budget" and budget is not None else getattr(self, one.name)
            if value == default_of(one, self.goal) or one.name in ONE_TIME:
                continue
            values = value if isinstance(value, tuple | list) else [value]
            words += [flag(one)] if isinstance(value, bool) else [w for each in values for w in (flag(one), f"{each}")]
        return shlex.join([*words, "--out", str(self.out), *more])


def as_path(name: str, given: Any) -> Path:
    """Return a path; refuse what is none, such as a data frame."""
    if not isinstance(given, str | os.PathLike):
        raise OptionError(f"{name}: a path was expected, not a {type(given).__name__}; write it to a file first.")
    return Path(given)


def options_of(goal: Goal) -> list[Field[Any]]:
    """Return the fields that are options of ``actc complete`` (missing facts) or ``actc check`` (wrong ones)."""
    return [one for one in fields(RunConfig) if one.metadata and (goal == "missing" or one.metadata["check"])]


def default_of(one: Field[Any], goal: Goal) -> Any:
    """Return what an option is where nobody gives it."""
    return PRECISION if one.name == "precision" and goal == "wrong" else one.default


def flag(one: Field[Any]) -> str:
    """Return the option of the command line that a field is."""
    return f"--{'no-' * (one.default is True)}{one.name.replace('_', '-')}"


def documented(goal: Goal) -> Callable[[Function], Function]:
    """Add the options to the docstring of a function that takes them as keywords."""

    def document(function: Function) -> Function:
        lines = ["", "    Options", "    -------"]
        for one in options_of(goal):
            lines += [
                f"    {one.name} : {one.type}, default {default_of(one, goal)!r}",
                f"        {one.metadata['help']}",
            ]
        function.__doc__ = "\n".join([(function.__doc__ or "").rstrip(), *lines, "    "])
        return function

    return document
