"""What `actc check` was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from actc.graphs.terms import Base
from actc.session.asking import Asking
from actc.tables.begun import fingerprint


@dataclass(frozen=True)
class CheckPlan(Asking):
    """What `actc check` was asked for; see its help.

    Parameters
    ----------
    graph, out : path
        The graph, in any format that actc reads; the folder to write to.
    oracle : path, optional
        Judged triples with labels, or a graph of all true ones; without it people are asked.
    names : sequence of path
        Names of entities or relations, for the people who judge.
    language : str
        The language of names, where a file has several.
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

    called: ClassVar[str] = "check"
    graph: Path
    out: Path
    oracle: Path | None = None
    names: tuple[Path, ...] = ()
    language: str = "en"
    precision: float | None = None
    confidence: float = 0.9
    budget: int = 100
    seed: int = 0
    base: Base = ""
    undo: bool = False
    facts: Path | None = None

    def __post_init__(self) -> None:
        self._take_paths("graph", "out", "oracle", "facts")
        self._check_asking()
        self._check_undo()
        self._check_files(self.graph, self.oracle, self.facts)

    @property
    def asked(self) -> dict[str, Any]:
        """What the doubts depend on."""
        return {"graph": fingerprint(self.graph), "--base": self.plain_base, "--seed": self.seed, "check": True}
