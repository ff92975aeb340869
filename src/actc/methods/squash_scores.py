"""Scores into (0, 1), as the paper's tables had them: sigmoid(score - mean of the table's scores)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.data.numeric import logit, sigmoid
from actc.data.triples import FloatArray, ScoredTriples


@dataclass(frozen=True)
class Squash:
    """The rising map ``score -> sigmoid(score - mean)``."""

    mean: float

    @classmethod
    def of(cls, triples: ScoredTriples) -> Squash:
        """Centre on the mean of the table's own scores."""
        return cls(float(triples.scores.mean()))

    def apply(self, triples: ScoredTriples) -> ScoredTriples:
        """Return the triples with squashed scores."""
        return triples.with_scores(sigmoid(triples.scores - self.mean))

    def undo(self, cuts: FloatArray, pool: ScoredTriples) -> FloatArray:
        """Return cuts in units of the raw score that accept exactly the same triples of the (raw) pool.

        The inverse of the map is exact only up to rounding, and a cut is usually some triple's very score; so the
        inverse is kept between the two neighbouring raw scores of the pool, above the one and up to the other.
        """
        raw = pool.scores[pool.by_score]
        squashed = sigmoid(raw - self.mean)
        place = np.searchsorted(squashed, cuts)
        edges = np.concatenate([[-np.inf], raw, [np.inf]])
        inverse = np.where(cuts <= 0, -np.inf, np.where(cuts >= 1, np.inf, logit(cuts) + self.mean))
        above = np.where(place > 0, np.nextafter(edges[place], np.inf), -np.inf)
        return np.clip(inverse, above, edges[place + 1])


def needs_squashing(triples: ScoredTriples) -> bool:
    """Say whether any score lies outside [0, 1]."""
    return bool(triples.scores.min() < 0 or triples.scores.max() > 1)
