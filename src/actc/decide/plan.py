"""What to do with candidates, and what became of them: the words that ``decide`` and its engines share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from actc.tables.calibration import Exceptions
from actc.tables.constraints import Constraints
from actc.tables.curves import Curves
from actc.tables.parts import Candidates
from actc.triples import FloatArray, IntArray, Thresholds, as_vocabulary


@dataclass(frozen=True)
class DecisionPlan:
    """What to do with the candidates; an engine carries it out.

    Parameters
    ----------
    thresholds : Thresholds
    curves : Curves or None
        Where a column ``probability`` comes from.
    exceptions : Exceptions
        Triples that are decided by somebody's word, whatever their score.
    keep_all : bool
        Write rejected candidates too, with a column ``accepted``.
    best_only : bool
        Accept at most one tail for each head and relation: the one with the highest score, the first name among equals.
    memory : int
        Bytes that the engine may use.
    master : str or None
        Where Spark runs.
    constraints : Constraints
        What cannot be true together; those that are used.
    facts : Candidates or str, optional
        Files of facts, or the address of such for Spark, which candidates may contradict.
    """

    thresholds: Thresholds
    curves: Curves | None = None
    exceptions: Exceptions = field(default_factory=Exceptions)
    keep_all: bool = False
    best_only: bool = False
    memory: int = 10**9
    master: str | None = None
    constraints: Constraints = field(default_factory=Constraints)
    facts: Candidates | str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the output."""
        extra = {"probability": self.curves is not None, "accepted": self.keep_all}
        told = (name for name, wanted in extra.items() if wanted)
        return ("head", "relation", "tail", "score", "threshold", *told, "by")

    @property
    def words(self) -> dict[str, Any]:
        """The exceptions as columns."""
        found = self.exceptions
        names = {"head": found.heads, "relation": found.relations, "tail": found.tails, "who": found.by}
        columns = {name: np.array(texts, dtype=object) for name, texts in names.items()}
        told = np.array(found.probability, dtype=np.float64)
        return {**columns, "word": np.array(found.accepted, dtype=np.int64), "told": told}

    @property
    def looks_back(self) -> bool:
        """Whether what is accepted is only known when it is written."""
        return self.best_only or self.curves is not None or len(self.exceptions) > 0 or len(self.constraints) > 0

    @property
    def cuts(self) -> dict[str, Any]:
        """The cuts as columns: name, cut and code, which says where in :attr:`knots` a relation's curve begins."""
        names = self.thresholds.relation_names
        columns = {"name": np.array(names, dtype=object), "cut": self.thresholds.cuts.astype(np.float64)}
        if self.curves is not None:
            known = as_vocabulary(self.curves.relation_names)
            columns["code"] = known.codes(names, default=len(known))
            columns["bar"] = self.curves.bars(self.thresholds)[columns["code"]]
        return columns

    @property
    def default_bar(self) -> float:
        """The least probability that enters of a relation without a cut of its own."""
        return 0.0 if self.curves is None else float(self.curves.bars(self.thresholds)[-1])

    @property
    def knots(self) -> dict[str, Any]:
        """The curves as columns: knot (code times K plus position), start and rise of the probability."""
        assert self.curves is not None
        start, rise = self.curves.probabilities.ravel(), self.curves.rises.ravel()
        return {"knot": np.arange(len(start)), "start": start, "rise": rise}


@dataclass(frozen=True, eq=False)
class Decided:
    """What became of the candidates, relation by relation.

    Parameters
    ----------
    relation_names : tuple of str
        The candidates' relations, sorted.
    cuts : float array of shape (R,)
        The cut that applied to each.
    candidates, accepted : int array of shape (R,)
        How many candidates there were; how many of them were accepted.
    expected_precision : float array of shape (R,), optional
        The mean probability of the accepted ones, where the method has probabilities; NaN where none was accepted.
    held : int array of shape (R,), optional
        How many constraints held back, where there are any.
    """

    relation_names: tuple[str, ...]
    cuts: FloatArray
    candidates: IntArray
    accepted: IntArray
    expected_precision: FloatArray | None = None
    held: IntArray | None = None

    def __len__(self) -> int:
        return len(self.relation_names)
