"""Which triples should be judged next, where a list of the most probable ones is to be vouched for?

All are drawn, with a known chance: most from the longest list of which nine in ten should be what is sought, evenly, so
that the answers bear out a promise about it; the others from the whole pool, by rank, to say what the list misses.
"""

from __future__ import annotations

import numpy as np

from actc.data.triples import Annotations, FloatArray, Picks
from actc.methods.pooled.picks import RANDOM_CHECK

PURE = 0.9  # of the list should be what is sought, as far as the fit can tell
LEAST, LEAST_SHARE = 50, 0.02  # triples, and of the pool: the list has so many, however unlikely
FROM_LIST = (0.4, 0.8)  # of the questions: where the list should hold nothing, and where it is as pure as wanted
ASKED, WITHIN = ("random", "check"), ("pool", "accepted")


def pick_listed(probabilities: FloatArray, answers: Annotations, count: int, random: np.random.Generator) -> Picks:
    """Draw the next triples to judge.

    Parameters
    ----------
    probabilities : float array of shape (N,)
        That each triple of the pool is what is sought, by the fit on the answers.
    answers : Annotations
        What has been judged.
    count : int
        How many are wanted; fewer come back where the pool has fewer left.
    random : numpy.random.Generator
    """
    order, size = np.argsort(-probabilities, kind="stable"), len(probabilities)
    pure = np.cumsum(probabilities[order]) / np.arange(1, size + 1)
    length = min(max(int((pure >= PURE).sum()), LEAST, int(LEAST_SHARE * size)), size)
    weights = np.empty((2, size))
    weights[0, order] = 1 / (length + np.arange(size))
    weights[1, order] = np.arange(size) < length
    weights[:, answers.rows] = 0.0
    share = FROM_LIST[0] + (FROM_LIST[1] - FROM_LIST[0]) * min(float(pure[length - 1]) / PURE, 1.0)
    drawn: list[tuple[int, int, float]] = []
    for _ in range(min(count, int((weights[0] > 0).sum()))):
        sums = weights.sum(axis=1)
        listed = share * float(sums[1] > 0)
        which = int(random.random() < listed)
        row = int(np.searchsorted(np.cumsum(weights[which]), random.random() * sums[which], side="right"))
        chance = (1 - listed) * weights[0, row] / sums[0] + listed * weights[1, row] / max(sums[1], 1.0)
        drawn.append((row, which, float(chance)))
        weights[:, row] = 0.0
    rows, from_list, chances = np.array(drawn).reshape(-1, 3).T
    asked, within = (np.array(names, dtype=object)[from_list.astype(np.int64)] for names in (ASKED, WITHIN))
    return Picks(rows.astype(np.int64), asked, within, chances, np.full(len(rows), RANDOM_CHECK, dtype=object))
