"""What `actc check` was asked for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actc.complete.folder import fingerprint
from actc.errors import FileError, OptionError
from actc.graphs.terms import Base
from actc.trust.promise import Demand


@dataclass(frozen=True)
class CheckPlan:
    """What `actc check` was asked for; see its help.

    Parameters
    ----------
    graph, out : path
        The graph, in any format that actc reads; the folder to write to.
    oracle : path, optional
        Judged triples with labels, or a graph of all true ones; without it people are asked.
    names : sequence of path
        Names of entities or relations, for the people who judge.
    precision, confidence : float, optional
        Promise this share of wrong facts among those that are taken out without being asked about, with this
        confidence.
    budget : int
        How many answers to ask for; 0 asks nobody, and takes nothing out.
    seed : int
        Where draws start from.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    undo : bool
        Put facts back that an earlier run into the same folder took out: all, or those in ``facts``.
    facts : path, optional
        With ``undo``: the facts to put back.
    """

    graph: Path
    out: Path
    oracle: Path | None = None
    names: tuple[Path, ...] = ()
    precision: float | None = None
    confidence: float = 0.9
    budget: int = 100
    seed: int = 0
    base: Base = ""
    undo: bool = False
    facts: Path | None = None

    def __post_init__(self) -> None:
        for name in ("graph", "out", "oracle", "facts"):  # texts do as well
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else Path(given))
        object.__setattr__(self, "names", tuple(Path(path) for path in self.names))
        if self.out.exists() and not self.out.is_dir():
            raise OptionError(f"--out: {self.out} is a file; give the name of a folder.")
        if self.budget < 0:
            raise OptionError(f"--budget: {self.budget} answers cannot be asked for; give 0 to ask nobody.")
        if self.demand is not None and not self.budget:
            raise OptionError("--precision: without answers nothing can be promised; give a --budget.")
        if self.facts is not None and not self.undo:
            raise OptionError("--facts: it names the facts to put back; give --undo too.")
        for path in (self.graph, self.oracle, self.facts, *self.names):
            if path is not None and not path.exists():
                raise FileError(f"{path}: there is no such file.")

    @property
    def demand(self) -> Demand | None:
        """What is promised of the facts that are taken out, if anything."""
        return None if self.precision is None else Demand(self.precision, self.confidence)

    @property
    def asked(self) -> dict[str, Any]:
        """What the doubts depend on."""
        base = self.base if isinstance(self.base, str) else list(self.base)
        return {"graph": fingerprint(self.graph), "--base": base, "--seed": self.seed, "check": True}

    def command(self, *more: str) -> str:
        """Return a command line for the same graph and folder."""
        return shlex.join(["actc", "check", str(self.graph), *more, "--out", str(self.out)])
