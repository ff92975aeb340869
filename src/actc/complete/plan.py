"""What `actc complete` was asked for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from actc.complete.folder import fingerprint
from actc.errors import FileError, OptionError
from actc.graphs.terms import Base
from actc.methods import find_method
from actc.models.train_model import find_device
from actc.trust.promise import Demand


class Asking:
    """What plans have in common that ask somebody: an oracle, people, or nobody."""

    out: Path
    names: tuple[Path, ...]
    precision: float | None
    confidence: float
    budget: int
    base: Base

    @property
    def demand(self) -> Demand | None:
        """What is promised of what the method decides, if anything."""
        return None if self.precision is None else Demand(self.precision, self.confidence)

    @property
    def plain_base(self) -> str | list[str]:
        """The base as JSON has it."""
        return self.base if isinstance(self.base, str) else list(self.base)

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
        if self.demand is not None and not self.budget:
            raise OptionError("--precision: without answers nothing can be promised; give a --budget.")

    def _check_files(self, *paths: Path | None) -> None:
        for path in (*paths, *self.names):
            if path is not None and not path.exists():
                raise FileError(f"{path}: there is no such file.")


@dataclass(frozen=True)
class CompletionPlan(Asking):
    """What `actc complete` was asked for; see its help.

    Parameters
    ----------
    graph, out : path
        The graph, in any format that actc reads; the folder to write to.
    model : path, optional
        A trained model's folder.
    kind : str, optional
        Train a model of this kind, on a CPU for at most ``seconds``. Without a model and a kind the graph's own rules
        propose alone.
    candidates : path, optional
        Facts in question, the only ones that are decided; without it what rules propose and the model's proposals,
        ``best`` to a question (10; without evidence 2, and the model alone).
    evidence : bool
        Whether candidates are scored by what the graph says of them; else by the model alone.
    held : path, optional
        Facts that the model was not trained on, from which is learnt what evidence is worth; without it those that
        ``actc train`` kept out.
    oracle : path, optional
        Judged triples with labels, or a graph of all true ones; without it people are asked.
    names : sequence of path
        Names of entities or relations, for the people who judge.
    constraints : str or path, optional
        What may not be true together: a file of ``actc constraints``, or ``learnt`` from the graph.
    precision, confidence : float, optional
        Promise this share of true facts among those that the method accepts, with this confidence.
    budget, method, seed
        How many answers to ask for, 0 to ask nobody; who chooses the questions and the thresholds (pooled, with
        evidence pooled-evidence); where draws start from.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    trust : bool
        Whether a pickle may be read, which can run any code in it.
    device : str, optional
        cuda or cpu; a GPU where there is one, if not given.
    """

    graph: Path
    out: Path
    model: Path | None = None
    kind: str | None = None
    candidates: Path | None = None
    best: int | None = None
    evidence: bool = True
    held: Path | None = None
    oracle: Path | None = None
    names: tuple[Path, ...] = ()
    constraints: str | Path | None = None
    precision: float | None = None
    confidence: float = 0.9
    budget: int = 100
    method: str | None = None
    seconds: float = 600.0
    seed: int = 0
    base: Base = ""
    trust: bool = False
    device: str | None = None

    def __post_init__(self) -> None:
        self._take_paths("graph", "out", "model", "candidates", "oracle", "held")
        self._check_asking()
        if not self.seconds > 0:
            raise OptionError(f"--seconds: {self.seconds:g} seconds are no time to train in; give more than 0.")
        if self.best is not None and self.best < 1:
            raise OptionError(f"--best: at least one answer to a question is needed, not {self.best}.")
        self._check_method()
        if self.device is not None:
            find_device(self.device)
        self._check_files(self.oracle, self.held)

    def _check_method(self) -> None:
        if self.method is not None and find_method(self.method).reads == "known" and self.evidence:
            raise OptionError(
                f"--method: {self.method} compares scores with those of known facts, which evidence has none of; "
                "give --no-evidence too."
            )

    @property
    def by_rules(self) -> bool:
        """Whether the graph's own rules propose, without any model."""
        return self.model is None and self.kind is None and self.evidence

    @property
    def splits(self) -> bool:
        """Whether a model is trained without the holdouts of rules, so that both are learnt from the same facts."""
        return self.evidence and self.kind is not None and not (self.model or self.held or self.candidates)

    @property
    def answers(self) -> int:
        """How many answers to a question are candidates."""
        return self.best or (10 if self.evidence else 2)

    @property
    def asked(self) -> dict[str, Any]:
        """What the candidates and their scores depend on."""
        return {
            "graph": fingerprint(self.graph),
            "--base": self.plain_base,
            "--model": fingerprint(self.model),
            "--train": self.kind,
            "--candidates": fingerprint(self.candidates),
            "--best": self.answers,
            "--evidence": self.evidence,
            "--held": fingerprint(self.held),
            "--seed": self.seed,
        }

    def command(self, budget: int | None = None) -> str:
        """Return the command line that asks for the same, with another budget if one is given."""
        start = type(self)(self.graph, self.out, evidence=self.evidence)
        words = ["actc", "complete", str(self.graph)]
        for field in fields(self)[2:]:
            value = budget if field.name == "budget" and budget is not None else getattr(self, field.name)
            if value != getattr(start, field.name):
                words += _option(field.name, value)
        words += [] if self.evidence else ["--no-evidence"]
        return shlex.join([*words, "--out", str(self.out)])


def _option(name: str, value: Any) -> list[str]:
    """Return an option of the command line and its value, once for each of several."""
    option = "--train" if name == "kind" else f"--{name}"
    if value is True:
        return [option]
    return [word for one in (value if isinstance(value, (tuple, list)) else [value]) for word in (option, f"{one}")]
