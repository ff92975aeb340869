"""What `actc complete` was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from actc.complete.check_plan import CheckPlan
from actc.data.begun import fingerprint
from actc.errors import OptionError
from actc.graph.terms import Base
from actc.methods.named import find_method
from actc.session.asking import Asking


@dataclass(frozen=True)
class CompletionPlan(Asking):
    """What `actc complete` was asked for; see :func:`actc.complete_graph`."""

    called: ClassVar[str] = "complete"
    graph: Path
    out: Path
    model: Path | None = None
    candidates: Path | None = None
    best: int | None = None
    evidence: bool = True
    held: Path | None = None
    oracle: Path | None = None
    judge: str | None = None
    judge_model: str = "local"
    judge_key_from: str | None = None
    judged: tuple[Path, ...] = ()
    names: tuple[Path, ...] = ()
    language: str = "en"
    constraints: str | Path | None = None
    check: bool = False
    undo: bool = False
    facts: Path | None = None
    precision: float | None = None
    confidence: float = 0.9
    budget: int = 100
    method: str | None = None
    seed: int = 0
    base: Base = ""
    trust: bool = False
    device: str | None = None
    if_changed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "judged", tuple(Path(path) for path in self.judged))
        self._take_paths("graph", "out", "model", "candidates", "oracle", "held", "facts")
        self._check_asking()
        if self.best is not None and self.best < 1:
            raise OptionError(f"--best: at least one answer to a question is needed, not {self.best}.")
        self._check_method()
        if self.judge is not None and (self.oracle is not None or not self.budget):
            raise OptionError(
                "--judge: what a machine is worth is learnt from people; leave --oracle out, give a --budget."
            )
        self._check_model()
        self._check_undo()
        if self.undo and not self.check:
            raise OptionError("--undo: without --check nothing was taken out; give --check too.")
        self._check_files(self.oracle, self.held, self.facts, *self.judged)

    def _check_method(self) -> None:
        if self.method is not None and find_method(self.method).reads == "known" and self.evidence:
            raise OptionError(
                f"--method: {self.method} compares scores with those of known facts, which evidence has none of; "
                "give --no-evidence too."
            )

    def _check_model(self) -> None:
        if self.model is None and not self.evidence:
            raise OptionError("--no-evidence: a model then decides alone; give --model, or leave --no-evidence out.")
        if self.model is None and self.held is not None:
            raise OptionError("--held: these are facts that a model was not trained on; give --model too.")
        if self.model is not None and self.device is not None:
            from actc.complete.pykeen import find_device

            find_device(self.device)

    @property
    def checking(self) -> CheckPlan:
        """The same wishes, of a check whose files lie in a folder within that of the completion."""
        return CheckPlan(self.graph, self.out / "check", seed=self.seed, base=self.base)

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
            "--candidates": fingerprint(self.candidates),
            "--best": self.answers,
            "--evidence": self.evidence,
            "--held": fingerprint(self.held),
            "--seed": self.seed,
        }

    @property
    def wishes(self) -> dict[str, Any]:
        """What decisions depend on besides."""
        rules = None if self.constraints is None else Path(self.constraints)
        return {
            "--oracle": fingerprint(self.oracle),
            "--judge": None if self.judge is None else [self.judge, self.judge_model],
            "--judged": [fingerprint(path) for path in self.judged],
            "--constraints": fingerprint(rules) if rules is not None and rules.exists() else str(rules),
            "--check": self.check,
            "--budget": self.budget,
            "--precision": self.precision,
            "--confidence": self.confidence,
            "--method": self.method,
        }
