"""Candidates scored by all that the graph says of them, and the sentences that say why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import TableError
from actc.evidence.from_files import load_evidence, save_evidence
from actc.evidence.reasons import give_reasons
from actc.evidence.table import Evidence
from actc.evidence.weigh import Held, Weighed, best_place, weigh_candidates
from actc.evidence.worth import Worth
from actc.graphs.graph import Graph
from actc.models.score_triples import Scorer, score_triples
from actc.triples import BoolArray, IntArray, ScoredTriples

LOG_ODDS = "pooled:prior=log-odds"
"""The method for scores that are log-odds by evidence."""
EVIDENCE, WORTH = "evidence.npz", "worth.json"
MOST_WEIGHED = 1_000_000  # proposals; each takes half a kilobyte of evidence, a few times over


@dataclass(frozen=True, eq=False)
class Reasons:
    """What the graph says of each candidate, and what that is worth.

    Parameters
    ----------
    evidence : Evidence
        Of the N candidates, in their order.
    worth : Worth
    graph : Graph
        The known facts.
    """

    evidence: Evidence
    worth: Worth
    graph: Graph

    def of(self, rows: IntArray, accepted: BoolArray) -> list[str]:
        """Return the reasons of some candidates, those for what was decided in front, in one text each."""
        said = give_reasons(self.evidence, self.worth, rows, graph=self.graph, accepted=accepted)
        return ["; ".join(texts) for texts in said]

    def marked(self, rows: IntArray) -> list[tuple[str, ...]]:
        """Return the reasons of some candidates as a session keeps them: ids in double brackets, no side in front."""
        return give_reasons(self.evidence, self.worth, rows, graph=self.graph, call="[[{}]]".format)

    def describe(self) -> dict[str, Any]:
        """Return what the evidence was worth, as plain values: the heaviest pieces first."""
        weights = sorted(self.worth.weights().items(), key=lambda item: -abs(item[1]))
        return {
            "held_facts": self.worth.held,
            "expected_share": round(self.worth.share, 4),
            "learner": "trees" if self.worth.trees else "ridge",
            "weights": {name: round(weight, 3) for name, weight in weights},
        }

    def save(self, folder: Path) -> None:
        """Write it into the folder of a completion."""
        save_evidence(folder / EVIDENCE, self.evidence)
        self.worth.save(folder / WORTH)

    @classmethod
    def load(cls, folder: Path, candidates: ScoredTriples, graph: Graph) -> Reasons | None:
        """Read it back; None where the run used no evidence."""
        if not (folder / WORTH).exists():
            return None
        return cls(load_evidence(folder / EVIDENCE, candidates), Worth.load(folder / WORTH), graph)


def best_placed(proposals: ScoredTriples, most: int = MOST_WEIGHED) -> ScoredTriples:
    """Return the proposals that stand highest in the better of their two questions: about ``most``, or all first ones.

    Held facts among them are kept or left like any others.
    """
    place = best_place(proposals)
    up_to = np.cumsum(np.bincount(place.astype(np.int64)))
    last = max(1, int(np.searchsorted(up_to, most, side="right")) - 1)
    return proposals.take(np.flatnonzero(place <= last))


def split_proposals(proposals: ScoredTriples, graph: Graph, held: Graph) -> tuple[ScoredTriples, BoolArray]:
    """Tell new candidates from held facts that the model proposes too.

    Returns
    -------
    candidates : ScoredTriples
        Those that neither the graph nor the held facts have.
    true : bool array of shape (N,)
        True for the proposals that are held facts.
    """
    true = held.contains(Graph.of(proposals))
    return proposals.take(np.flatnonzero(~true & ~graph.contains(Graph.of(proposals)))), true


def weigh_proposals(
    graph: Graph, held: Graph, proposals: ScoredTriples, advance: Callable[..., Any]
) -> tuple[Weighed | None, ScoredTriples]:
    """Weigh a model's proposals, which were made as if the held facts were not known.

    Returns
    -------
    weighed : Weighed or None
        None where too few held facts stand among the proposals to learn from.
    candidates : ScoredTriples
        The proposals that are new.
    """
    candidates, true = split_proposals(proposals, graph, held)
    return _weigh(graph, candidates, Held(held, proposals, true, own_questions=False), advance), candidates


def weigh_given(
    graph: Graph, held: Graph, candidates: ScoredTriples, scorer: Scorer, advance: Callable[..., Any]
) -> Weighed | None:
    """Weigh candidates that somebody else proposed; None where too few held facts are there to learn from."""
    codes = held.recoded(scorer.entity_names, scorer.relation_names)
    familiar = held.take(np.flatnonzero((codes.heads >= 0) & (codes.relations >= 0) & (codes.tails >= 0)))
    if len(familiar) < 2:
        return None
    return _weigh(graph, candidates, Held.among(score_triples(scorer, familiar), candidates), advance)


def _weigh(graph: Graph, candidates: ScoredTriples, held: Held, advance: Callable[..., Any]) -> Weighed | None:
    def tell(done: int, total: int, name: str) -> None:
        advance(1, 2 * total)  # held facts and candidates are looked up one after the other

    if int(held.true.sum()) < 2 or held.true.all() or not len(candidates):
        return None
    try:
        return weigh_candidates(Graph.of(graph.union(held.facts)), candidates, held, progress=tell)
    except TableError:
        return None
