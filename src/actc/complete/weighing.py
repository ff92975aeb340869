"""Candidates scored by all that the graph says of them, and the sentences that say why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import TableError
from actc.evidence.keep_weighed import load_weighed, save_weighed
from actc.evidence.reasons import give_reasons
from actc.evidence.table import Evidence
from actc.evidence.weigh import Weighed, best_place, find_lesson, weigh
from actc.evidence.worth import Worth
from actc.graphs.graph import Graph
from actc.models.score_triples import Scorer, score_triples
from actc.numeric import sigmoid
from actc.triples import BoolArray, IntArray, ScoredTriples, Triples

LOG_ODDS = "pooled-evidence"
"""The method for scores that are log-odds by evidence."""
WEIGHED = "evidence.npz"
MORE = 2  # times as many proposals for a slot are weighed as are kept
HOPELESS = (
    0.05  # of the expected number of true candidates: the least likely ones that hold so many are not asked about
)
LEAST_ASKED = 10_000  # candidates that may be asked about, however unlikely
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
            "holdout_facts": self.worth.holdout,
            "expected_share": round(self.worth.share, 4),
            "learner": "trees" if self.worth.trees else "ridge",
            "weights": {name: round(weight, 3) for name, weight in weights},
        }

    def save(self, folder: Path) -> None:
        """Write it into the folder of a completion."""
        save_weighed(folder / WEIGHED, self.evidence, self.worth)

    @classmethod
    def load(cls, folder: Path, candidates: ScoredTriples, graph: Graph) -> Reasons | None:
        """Read it back; None where the run used no evidence."""
        path = folder / WEIGHED
        return cls(*load_weighed(path, candidates), graph) if path.exists() else None


def best_placed(proposals: ScoredTriples, most: int = MOST_WEIGHED) -> ScoredTriples:
    """Return the proposals that stand highest in the better of their two slots: about ``most``, or all first ones."""
    place = best_place(proposals)
    up_to = np.cumsum(np.bincount(place.astype(np.int64)))
    last = max(1, int(np.searchsorted(up_to, most, side="right")) - 1)
    return proposals.take(np.flatnonzero(place <= last))


def ask_for(best: int, slots: int) -> int:
    """Return how many proposals for each slot to ask the model for, of which the best by evidence are kept.

    They are more than are kept, but not many more in all than can be weighed.
    """
    return max(1, min(best * MORE, -(-MOST_PROPOSED // max(slots, 1))))


def worth_asking(candidates: ScoredTriples, rows: IntArray) -> IntArray:
    """Return those of some candidates that questions should be about: without the least likely.

    Of a large graph's proposals one in a hundred or a thousand is true: a hundred questions about any of them would
    find none.

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


def only_new(proposals: ScoredTriples, graph: Graph, holdout: Graph | None) -> ScoredTriples:
    """Return the proposals that neither the graph nor the holdout has."""
    known = graph.contains(proposals)
    if holdout is not None:
        known |= holdout.contains(proposals)
    return proposals.take(np.flatnonzero(~known))


def weigh_proposals(
    graph: Graph, holdout: Graph | None, proposals: ScoredTriples, advance: Callable[..., Any]
) -> tuple[Weighed | None, ScoredTriples]:
    """Weigh a model's proposals, which were made as if the holdout facts were not known.

    Returns
    -------
    weighed : Weighed or None
        None where the graph is too small to learn from.
    candidates : ScoredTriples
        The proposals that are new.
    """
    candidates = only_new(proposals, graph, holdout)
    return _weigh(graph, candidates, proposals, holdout, advance), candidates


def weigh_given(
    graph: Graph, holdout: Graph | None, candidates: ScoredTriples, scorer: Scorer, advance: Callable[..., Any]
) -> Weighed | None:
    """Weigh candidates that somebody else proposed; None where the graph is too small to learn from."""
    scored = None
    if holdout is not None:
        codes = holdout.recoded(scorer.entity_names, scorer.relation_names)
        familiar = np.flatnonzero((codes.heads >= 0) & (codes.relations >= 0) & (codes.tails >= 0))
        scored = score_triples(scorer, holdout.take(familiar)) if len(familiar) >= 2 else None
    return _weigh(graph, candidates, candidates, scored, advance)


def _weigh(
    graph: Graph,
    candidates: ScoredTriples,
    proposals: ScoredTriples,
    holdout: Triples | None,
    advance: Callable[..., Any],
) -> Weighed | None:
    """Weigh candidates by the best lesson there is; None where the graph is too small to learn from."""
    if not len(candidates):
        return None
    try:
        lesson = find_lesson(graph, proposals, holdout)
        # Steps are told of two look-ups, one after the other.
        return weigh(graph, candidates, lesson, progress=lambda done, total, name: advance(1, 2 * total))
    except TableError:
        return None


def tell_learnt(worth: Worth | None, holdout: Graph | None, given: bool = False) -> list[str]:
    """Say where the weights of evidence come from, unless holdout facts among the model's proposals taught them.

    ``given`` says that somebody else proposed the candidates.
    """
    if worth is None:
        return ["The graph is too small to learn from what evidence is worth; the model's scores decide alone."]
    if worth.with_scores:
        return []
    if given and holdout is not None:
        return ["The model did not propose these candidates: what evidence is worth is learnt without its scores."]
    why = "No holdout facts are known" if holdout is None else "Too few holdout facts are among the proposals"
    return [f"{why}: the graph's own facts teach what evidence is worth, and scores do not count; --held gives some."]
