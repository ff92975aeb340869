"""Candidates scored by all that the graph says of them, and the sentences that say why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import TableError
from actc.evidence.from_files import load_evidence, save_evidence, weigh_by_known
from actc.evidence.reasons import give_reasons
from actc.evidence.table import Evidence, Progress
from actc.evidence.weigh import Held, Weighed, best_place, weigh_candidates
from actc.evidence.worth import Worth
from actc.graphs.graph import Graph
from actc.models.score_triples import Scorer, score_triples
from actc.numeric import sigmoid
from actc.triples import BoolArray, IntArray, ScoredTriples

LOG_ODDS = "pooled:prior=log-odds"
"""The method for scores that are log-odds by evidence."""
EVIDENCE, WORTH = "evidence.npz", "worth.json"
MORE = 2  # times as many answers to a question are weighed as are kept
HOPELESS = 0.05  # of the candidates expected to be true: the least likely, which hold no more, are not asked about
LEAST_ASKED = 10_000  # candidates are asked about however hopeless
MOST_PROPOSED = 2_000_000  # of which MOST_WEIGHED are weighed, those placed best
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


def ask_for(best: int, questions: int) -> int:
    """Return how many answers to each question to ask the model for, of which the best by evidence are kept.

    They are more than are kept, but not many more in all than can be weighed.
    """
    return max(1, min(best * MORE, -(-MOST_PROPOSED // max(questions, 1))))


def keep_best(weighed: Weighed, best: int) -> Weighed:
    """Return the candidates that are among the best so many answers to one of their questions, by all the evidence."""
    rows = np.flatnonzero(best_place(weighed.candidates) <= best)
    return replace(weighed, evidence=weighed.evidence.take(rows), log_odds=weighed.log_odds[rows])


def worth_asking(candidates: ScoredTriples, rows: IntArray) -> IntArray:
    """Return those of some candidates that questions should be about: not the hopeless ones.

    Of a large graph's proposals one in a hundred or a thousand is true. Among all of them a hundred questions would
    find none, and say nothing of where "true" begins.

    Parameters
    ----------
    candidates : ScoredTriples
        Their scores are log-odds by evidence.
    rows : int array
        Rising.
    """
    chance = sigmoid(candidates.scores[rows])
    order = np.argsort(chance, kind="stable")
    hopeless = np.cumsum(chance[order]) <= HOPELESS * chance.sum()
    hopeless[-LEAST_ASKED:] = False
    return np.sort(rows[order[~hopeless]])


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
    graph: Graph, held: Graph | None, proposals: ScoredTriples, advance: Callable[..., Any]
) -> tuple[Weighed | None, ScoredTriples]:
    """Weigh a model's proposals, which were made as if the held facts were not known.

    Returns
    -------
    weighed : Weighed or None
        None where the graph is too small to learn from.
    candidates : ScoredTriples
        The proposals that are new.
    """
    if held is None:
        return _weigh_by_known(graph, proposals, advance), proposals
    candidates, true = split_proposals(proposals, graph, held)
    weighed = _weigh(graph, candidates, Held(held, proposals, true, own_questions=False), advance)
    return weighed or _weigh_by_known(graph, candidates, advance), candidates


def weigh_given(
    graph: Graph, held: Graph | None, candidates: ScoredTriples, scorer: Scorer, advance: Callable[..., Any]
) -> Weighed | None:
    """Weigh candidates that somebody else proposed; None where the graph is too small to learn from."""
    weighed = None
    if held is not None:
        codes = held.recoded(scorer.entity_names, scorer.relation_names)
        familiar = held.take(np.flatnonzero((codes.heads >= 0) & (codes.relations >= 0) & (codes.tails >= 0)))
        if len(familiar) >= 2:
            weighed = _weigh(graph, candidates, Held.among(score_triples(scorer, familiar), candidates), advance)
    return weighed or _weigh_by_known(graph, candidates, advance)


def _weigh(graph: Graph, candidates: ScoredTriples, held: Held, advance: Callable[..., Any]) -> Weighed | None:
    if int(held.true.sum()) < 2 or held.true.all() or not len(candidates):
        return None
    try:
        return weigh_candidates(Graph.of(graph.union(held.facts)), candidates, held, progress=_two_lookups(advance))
    except TableError:
        return None


def _weigh_by_known(graph: Graph, candidates: ScoredTriples, advance: Callable[..., Any]) -> Weighed | None:
    """Weigh by some of the graph's own facts, scores left out; None where there are too few of them."""
    try:
        return weigh_by_known(graph, candidates, progress=_two_lookups(advance)) if len(candidates) else None
    except TableError:
        return None


def _two_lookups(advance: Callable[..., Any]) -> Progress:
    """Tell steps of two look-ups, of what is learnt from and of the candidates, one after the other."""
    return lambda done, total, name: advance(1, 2 * total)


def tell_learnt(worth: Worth | None, held: Graph | None, given: bool = False) -> list[str]:
    """Say where the weights of evidence come from, unless held facts among the model's proposals taught them.

    ``given`` says that somebody else proposed the candidates.
    """
    if worth is None:
        return ["The graph is too small to learn from what evidence is worth; the model's scores decide alone."]
    if worth.with_scores:
        return []
    if given and held is not None:
        return ["The model did not propose these candidates: what evidence is worth is learnt without its scores."]
    why = "No held facts are known" if held is None else "Too few held facts are among the proposals"
    return [f"{why}: the graph's own facts teach what evidence is worth, and scores do not count; --held gives some."]
