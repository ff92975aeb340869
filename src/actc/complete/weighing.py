"""Which of many proposals are weighed, and which candidates are worth asking about."""

from __future__ import annotations

import numpy as np

from actc.data.numeric import sigmoid
from actc.data.triples import IntArray, ScoredTriples
from actc.evidence.score import best_place

HOPELESS = (
    0.05  # of the expected number of true candidates: the least likely ones that hold so many are not asked about
)
LEAST_ASKED = 10_000  # candidates that may be asked about, however unlikely
MOST_PROPOSED = 2_000_000  # of which MOST_WEIGHED are weighed, those placed best
MOST_WEIGHED = 1_000_000  # proposals; each takes half a kilobyte of evidence, a few times over


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
