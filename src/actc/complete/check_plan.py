"""What `actc check` was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from actc.data.begun import fingerprint
from actc.graph.terms import Base
from actc.session.asking import Asking


@dataclass(frozen=True)
class CheckPlan(Asking):
    """What `actc check` was asked for; see :func:`actc.check_graph`."""

    called: ClassVar[str] = "check"
    graph: Path
    out: Path
    oracle: Path | None = None
    names: tuple[Path, ...] = ()
    language: str = "en"
    precision: float = 0.9
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
