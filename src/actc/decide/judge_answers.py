"""What machines said of the candidates of a pool, as aligned arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from actc.data.triples import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class JudgeAnswers:
    """Answers true or false; whoever was unsure, or said what made no sense, is not here.

    Parameters
    ----------
    rows : int array of shape (A,)
        Rows of the pool; of one judge each at most once.
    judges : int array of shape (A,)
        Who said it, a place in ``names``.
    signals : float array of shape (A,)
        2 p - 1 of the probability that the judge gave; without one, 1 for true and -1 for false.
    names : tuple of str
        The J judges.
    """

    rows: IntArray
    judges: IntArray
    signals: FloatArray
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, rows: IntArray, judges: IntArray, said: BoolArray, probability: FloatArray, names: Sequence[str]
    ) -> Self:
        """Make signals of answers; NaN where a judge gave no probability, or one on the other side of its answer."""
        own = np.where(np.isnan(probability), 0.5, probability)
        fits = np.where(said, own > 0.5, own < 0.5)
        return cls(rows, judges, np.where(fits, 2 * own - 1, np.where(said, 1.0, -1.0)), tuple(names))

    @classmethod
    def none(cls) -> Self:
        """Return the answers of nobody."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, nothing, np.zeros(0), ())

    def __len__(self) -> int:
        return len(self.rows)

    def table(self, count: int) -> FloatArray:
        """Return the signals of every judge on every row of a pool, shape (N, J); NaN where it said nothing."""
        signals = np.full((count, len(self.names)), np.nan)
        kept = self.rows < count
        signals[self.rows[kept], self.judges[kept]] = self.signals[kept]
        return signals
