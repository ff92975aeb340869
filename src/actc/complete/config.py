# ruff: noqa: RUF009 - the default of an option is what `option` makes of it
"""One run of `actc complete` or `actc check`: its options, described once, for the commands and for Python."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from dataclasses import Field, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from actc.data import options
from actc.data.options import COLUMNS, flag, option
from actc.errors import FileError, OptionError

if TYPE_CHECKING:  # and when they are used: a help text shall not wait for numpy
    from actc.data.frames import Columns
    from actc.decide.guarantee import TargetPrecision
    from actc.graph.rdf import Base

Goal = Literal["missing", "wrong"]
PRECISION = 0.9
"""The precision that `actc check` guarantees of what it removes, unless another one is given."""
CHECK = "check"
"""In the folder of a run that looks for missing facts and for wrong ones: the folder of the wrong ones."""
PATHS = ("graph", "out", "model", "candidates", "oracle", "undo")


@dataclass(frozen=True)
class RunConfig:
    """The configuration of a run into a folder; see :func:`actc.complete_graph` and :func:`actc.check_graph`."""

    graph: Path | None
    out: Path
    goal: Goal = "missing"
    store: tuple[str, ...] = ()  # how the command line named the store that the graph was read from
    model: Path | None = option(None, "A folder that PyKEEN wrote: its model proposes beside the rules.")
    candidates: Path | None = option(
        None, "A table of triples, such as from text; only these are decided. [default: what rules and a model propose]"
    )
    columns: Columns = option(None, f"{COLUMNS} Of --candidates, if there, else of GRAPH.", check=True)
    oracle: Path | None = option(
        None, "Judged triples with labels, or a graph of all true ones. [default: people judge]", check=True
    )
    names: tuple[Path, ...] = option(
        (), "Names of entities or relations, for the people who judge; see: actc start --help. Repeatable.", check=True
    )
    budget: int = option(100, "How many new answers to ask for; 0 asks nobody.", check=True)
    precision: float | None = option(
        None, "Guarantee this precision, with 90% confidence: random draws test the list.", check=True
    )
    constraints: str | Path | None = option(
        None, "What may not be true together: a file of actc constraints, or learned."
    )
    check: bool = option(False, "Find wrong facts of the graph too: half of the answers are about them.")
    seed: int = option(0, "Where draws start from.", check=True)
    method: str = option("pooled-evidence", "See: actc methods.", more=True)
    confidence: float = option(0.9, "The confidence of the guaranteed precision.", more=True)
    best: int = option(10, "How many proposals of a model to a question.", more=True)
    judged: tuple[Path, ...] = option(
        (), "Answers from elsewhere, such as a judged audit: they teach, and decide what they are about. Repeatable.",
        more=True,
    )  # fmt: skip
    language: str = option("en", "The language of names, where a file has several.", check=True, more=True)
    undo: str | Path | None = option(
        None, "Put back what a run into the same folder took out: all, or the facts of a FILE.", check=True, more=True
    )
    base: Base = option(
        "", "What IRIs begin with in RDF and names do not; a second time: those of relations.", check=True, more=True
    )
    trust: bool = option(False, "Allow reading a pickle, which can run any code in it.", more=True)

    def __post_init__(self) -> None:
        from actc.methods.named import find_method

        for name in PATHS:
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else as_path(name, given))
        if self.columns is not None:
            from actc.data.frames import write_columns

            object.__setattr__(self, "columns", write_columns(self.columns))
        for name in ("names", "judged"):
            object.__setattr__(self, name, tuple(Path(path) for path in getattr(self, name)))
        if self.goal == "wrong":
            for one in options_of("missing"):
                if not one.metadata["check"] and getattr(self, one.name) != one.default:
                    raise OptionError(f"{flag(one)}: a check has no such option; it is one of actc complete.")
            object.__setattr__(self, "precision", PRECISION if self.precision is None else self.precision)
        no_graph = self.graph is None
        for wrong, message in (
            (no_graph and self.candidates is None, "Give a GRAPH, or a table of triples with --candidates, or both."),
            (no_graph and self.check, "--check: it checks the facts of a GRAPH; give one."),
            (self.model and self.candidates, "--model: a model proposes, and --candidates are given; leave one out."),
            (self.out.exists() and not self.out.is_dir(), f"--out: {self.out} is a file; give the name of a folder."),
            (
                self.budget < 0,
                f"--budget: how many new answers to ask for; 0 asks nobody, and {self.budget} is not possible.",
            ),
            (self.best < 1, f"--best: at least one proposal to a question is needed, not {self.best}."),
            (
                self.undo is not None and self.goal == "missing" and not self.check,
                "--undo: without --check nothing was taken out; give --check too.",
            ),
        ):
            if wrong:
                raise OptionError(message)
        _ = self.session_target  # refuses what cannot be guaranteed
        if find_method(self.method).reads == "known":
            raise OptionError(
                f"--method: {self.method} compares scores with those of known facts, which evidence has none of; see: "
                "actc calibrate --known."
            )
        for path in (self.oracle, self.facts, self.candidates, *self.judged, *self.names):
            if path is not None and not path.exists():
                raise FileError(f"{path}: there is no such file.")

    @property
    def session(self) -> Path:
        """The folder of the session in which people judge."""
        return self.out / "session"

    @property
    def annotate(self) -> str:
        """The command line that opens the session's page."""
        return f"actc annotate {shlex.quote(str(self.session))}"

    @property
    def facts(self) -> Path | None:
        """The file with the facts to put back; None for all."""
        return None if self.undo is None or str(self.undo) == "all" else Path(self.undo)

    @property
    def graph_columns(self) -> Columns:
        """The names of the graph's columns, where the user gives them."""
        return None if self.candidates else self.columns

    @property
    def target(self) -> TargetPrecision | None:
        """What is guaranteed of what the method decides, if anything; nothing without answers."""
        return self.session_target if self.budget else None

    @property
    def session_target(self) -> TargetPrecision | None:
        """What is guaranteed by the answers in a session, whether or not there will be more of them."""
        from actc.decide.guarantee import TargetPrecision

        return TargetPrecision.of(self.precision, self.confidence)

    @property
    def checking(self) -> RunConfig:
        """The check that is part of a completion; its files lie in a folder within that of the completion."""
        return RunConfig(
            self.graph, self.out / CHECK, "wrong", seed=self.seed, base=self.base, columns=self.graph_columns
        )

    @property
    def new_answers(self) -> int:
        """How many answers to ask for now: what is put back is decided by those that are there."""
        return 0 if self.undo is not None else self.budget

    def inputs(self) -> dict[str, Any]:
        """Return what the candidates and their scores depend on."""
        from actc.data.begun import fingerprint

        base = self.base if isinstance(self.base, str) else list(self.base)
        files = {f"--{name}": fingerprint(getattr(self, name)) for name in ("model", "candidates")}
        inputs = {"goal": self.goal, "graph": fingerprint(self.graph), "--base": base, **files, "--seed": self.seed}
        return {**inputs, "--columns": self.columns, "--best": self.best}

    def command(self, budget: int | None = None, *more: str) -> str:
        """Return the command line that asks for the same, with another budget if one is given, and more words."""
        words = ["actc", "check" if self.goal == "wrong" else "complete"]
        words += self.store or ([] if self.graph is None else [str(self.graph)])
        for one in options_of(self.goal):
            value = budget if one.name == "budget" and budget is not None else getattr(self, one.name)
            if value == defaults_of(self.goal).get(one.name, one.default) or one.name == "undo":
                continue  # it is for one run
            values = value if isinstance(value, tuple | list) else [value]
            words += [flag(one)] if isinstance(value, bool) else [w for each in values for w in (flag(one), f"{each}")]
        return shlex.join([*words, "--out", str(self.out), *more])


@dataclass(frozen=True)
class Finished:
    """The outcome of a command that makes files.

    Parameters
    ----------
    lines : tuple of str
        What a person should read.
    files : tuple of Path
        The new graph, lists and reports; none while people have yet to judge.
    """

    lines: tuple[str, ...]
    files: tuple[Path, ...] = ()

    @classmethod
    def written(cls, lines: Iterable[str], files: Iterable[Path], *after: str) -> Finished:
        """Return the outcome with a line that names the files."""
        return cls((*lines, f"Written: {', '.join(map(str, files))}", *after), tuple(files))


def as_path(name: str, given: Any) -> Path:
    """Return a path; refuse what is none, such as a data frame."""
    if not isinstance(given, str | os.PathLike):
        raise OptionError(f"{name}: a path was expected, not a {type(given).__name__}; write it to a file first.")
    return Path(given)


def options_of(goal: Goal) -> list[Field[Any]]:
    """Return the fields that are options of ``actc complete`` (missing facts) or ``actc check`` (wrong ones)."""
    return [one for one in options.options_of(RunConfig) if goal == "missing" or one.metadata["check"]]


def defaults_of(goal: Goal) -> dict[str, Any]:
    """Return the defaults that are others than those of the fields."""
    return {"precision": PRECISION} if goal == "wrong" else {}
