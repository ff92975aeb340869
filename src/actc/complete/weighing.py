"""Candidates scored by all that the graph says of them, and the sentences that say why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from actc.evidence.keep_weighed import load_weighed, save_weighed
from actc.evidence.reasons import give_reasons
from actc.evidence.table import Evidence
from actc.evidence.weigh import best_place
from actc.evidence.worth import Worth
from actc.graphs.graph import Graph
from actc.numeric import sigmoid
from actc.triples import BoolArray, IntArray, ScoredTriples

LOG_ODDS = "pooled-evidence"
"""The method for scores that are log-odds by evidence."""
WEIGHED = ("evidence.npz", "evidence-of-model.npz")
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
    parts : tuple of (Evidence, Worth)
        Of the candidates, in their order: those of rules, and those of a model alone, are weighed apart.
    graph : Graph
        The known facts.
    """

    parts: tuple[tuple[Evidence, Worth], ...]
    graph: Graph

    def of(self, rows: IntArray, accepted: BoolArray) -> list[str]:
        """Return the reasons of some candidates, those for what was decided in front, in one text each."""
        return ["; ".join(texts) for texts in self._give(rows, accepted)]

    def marked(self, rows: IntArray) -> list[tuple[str, ...]]:
        """Return the reasons of some candidates as a session keeps them: ids in double brackets, no side in front."""
        return self._give(rows, None, "[[{}]]".format)

    def _give(
        self, rows: IntArray, accepted: BoolArray | None, call: Callable[[str], str] = str
    ) -> list[tuple[str, ...]]:
        said: dict[int, tuple[str, ...]] = {}
        start = 0
        for evidence, worth in self.parts:
            here = np.flatnonzero((rows >= start) & (rows < start + len(evidence)))
            side = None if accepted is None else accepted[here]
            given = give_reasons(evidence, worth, rows[here] - start, graph=self.graph, accepted=side, call=call)
            said |= dict(zip(here.tolist(), given, strict=True))
            start += len(evidence)
        return [said[place] for place in range(len(rows))]

    def describe(self) -> dict[str, Any]:
        """Return what the evidence was worth, as plain values: the heaviest pieces of the first part first."""
        worths = [worth for _, worth in self.parts]
        weights = sorted(worths[0].weights().items(), key=lambda item: -abs(item[1]))
        true = sum(worth.share * len(evidence) for evidence, worth in self.parts)
        return {
            "holdout_facts": sum(worth.holdout for worth in worths),
            "expected_share": round(true / sum(len(evidence) for evidence, _ in self.parts), 4),
            "learner": "trees" if worths[0].trees else "ridge",
            "weights": {name: round(weight, 3) for name, weight in weights},
        }

    def save(self, folder: Path) -> None:
        """Write it into the folder of a completion."""
        for (evidence, worth), name in zip(self.parts, WEIGHED, strict=False):
            save_weighed(folder / name, evidence, worth)

    @classmethod
    def load(cls, folder: Path, candidates: ScoredTriples, graph: Graph) -> Reasons | None:
        """Read it back; None where the run used no evidence."""
        parts: list[tuple[Evidence, Worth]] = []
        for path in (folder / name for name in WEIGHED):
            if path.exists():
                done = sum(len(evidence) for evidence, _ in parts)
                parts.append(load_weighed(path, candidates.take(np.arange(done, len(candidates)))))
        return cls(tuple(parts), graph) if parts else None


def best_placed(proposals: ScoredTriples, most: int = MOST_WEIGHED) -> ScoredTriples:
    """Return the proposals that stand highest in the better of their two slots: about ``most``, or all first ones."""
    place = best_place(proposals)
    up_to = np.cumsum(np.bincount(place.astype(np.int64)))
    last = max(1, int(np.searchsorted(up_to, most, side="right")) - 1)
    return proposals.take(np.flatnonzero(place <= last))


def ask_for(best: int, slots: int) -> int:
    """Return how many proposals for each slot to ask the model for: not many more in all than can be weighed."""
    return max(1, min(best, -(-MOST_PROPOSED // max(slots, 1))))


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
