"""Several people's answers to one triple become one label: that of the majority.

The owner's decision overrules all other answers. A triple whose answers balance exactly has no label until somebody
breaks the tie. Models of how often each person is right agree no more with experts (`benchmarks/real/people.csv`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.data.triples import Annotations, BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Votes:
    """Standing answers, true or false, oldest first.

    Parameters
    ----------
    triples, annotators : int array of shape (V,)
        Who judged which row of the pool; no pair twice.
    labels : bool array of shape (V,)
        What they said.
    final : bool array of shape (V,)
        True for the owner's decision, which overrules all other answers.
    """

    triples: IntArray
    annotators: IntArray
    labels: BoolArray
    final: BoolArray

    def __len__(self) -> int:
        return len(self.triples)

    def shared(self) -> Votes:
        """Return the answers to triples that have several."""
        place, counts = np.unique(self.triples, return_inverse=True, return_counts=True)[1:]
        return self.take(counts[place] > 1)

    def take(self, which: BoolArray) -> Votes:
        """Return some of them."""
        return Votes(self.triples[which], self.annotators[which], self.labels[which], self.final[which])


def combine(votes: Votes) -> Annotations:
    """Return one label per triple, by majority, in the order in which triples were first judged."""
    if not len(votes):
        return Annotations()
    triples, first, place = np.unique(votes.triples, return_index=True, return_inverse=True)
    leaning = np.bincount(place, np.where(votes.labels, 1.0, -1.0), minlength=len(triples))
    leaning[place[votes.final]] = np.where(votes.labels[votes.final], np.inf, -np.inf)
    order = np.argsort(first)
    order = order[leaning[order] != 0]
    return Annotations(triples[order], leaning[order] > 0)
