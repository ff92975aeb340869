"""How probable is a triple with this score? One table per relation, so that any engine can look it up.

A method's probabilities depend on a triple only through its relation and its score. Tabulated at evenly spaced scores
they travel in thresholds.json, and a candidate gets its own by a straight line between two neighbours: the same few
operations on every engine, so the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from actc.data.triples import FloatArray, IntArray, ScoredTriples, Thresholds, Vocabulary, as_vocabulary

KNOTS = 129
DIGITS = 5
"""Of each probability in a file."""
_AT_ONCE = 2048  # relations whose grid is in memory
_UNSEEN = "\U0010ffff"  # sorts behind every name, and is none


@dataclass(frozen=True, eq=False, repr=False)
class Curves:
    """P(true) against the score, relation by relation.

    Parameters
    ----------
    relation_names : tuple of str
        Sorted.
    low, high : float
        The scores of the first and the last knot; beyond them the probability stays as it is there.
    probabilities : float array of shape (R + 1, K)
        At evenly spaced scores from ``low`` to ``high``; the last row is for any other relation.
    """

    relation_names: tuple[str, ...]
    low: float
    high: float
    probabilities: FloatArray

    def __repr__(self) -> str:
        return f"Curves({len(self.relation_names):,} relations, scores {self.low:.4g} to {self.high:.4g})"

    @property
    def knots(self) -> int:
        """How many scores are tabulated."""
        return int(self.probabilities.shape[1])

    @property
    def scale(self) -> float:
        """Knots per unit of score; 0 where all scores are one."""
        return _scale(self.low, self.high, self.knots)

    @property
    def rises(self) -> FloatArray:
        """How much the probability rises from each knot to the next, shape (R + 1, K); 0 after the last."""
        return np.diff(self.probabilities, axis=1, append=self.probabilities[:, -1:])

    def look_up(self, scores: FloatArray, relations: IntArray) -> FloatArray:
        """Return P(true) of scores, given codes into ``relation_names`` (R for any other)."""
        knot, after, way = _place(scores, self.low, self.high, self.knots)
        start = self.probabilities[relations, knot]
        return np.asarray(start + way * (self.probabilities[relations, after] - start))

    def codes(self, triples: ScoredTriples) -> IntArray:
        """Return which curve each triple has, shape (N,)."""
        return as_vocabulary(self.relation_names).translate(triples.relations, triples.relation_names)

    def of(self, triples: ScoredTriples) -> FloatArray:
        """Return P(true) of triples, shape (N,)."""
        return self.look_up(triples.scores, self.codes(triples))

    def as_written(self) -> Curves:
        """Return the same to the digit as a file has it."""
        parts = np.split(self.probabilities, range(_AT_ONCE, len(self.probabilities), _AT_ONCE))
        return replace(self, probabilities=np.concatenate([round_digits(part) for part in parts]))

    def bars(self, thresholds: Thresholds) -> FloatArray:
        """Return the least probability that each relation's cut accepts, at most .5, shape (R + 1,)."""
        codes = as_vocabulary(self.relation_names).codes(thresholds.relation_names, len(self.relation_names))
        cuts = np.full(len(self.relation_names) + 1, thresholds.default)
        known = codes < len(self.relation_names)
        cuts[codes[known]] = thresholds.cuts[known]
        inside = np.clip(cuts, self.low, self.high)
        return np.minimum(self.look_up(inside, np.arange(len(cuts))), 0.5)


def _scale(low: float, high: float, knots: int) -> float:
    return (knots - 1) / (high - low) if high > low else 0.0


def _place(scores: FloatArray, low: float, high: float, knots: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the knots before and after each score, and how far it is on the way from the one to the other."""
    position = np.clip((scores - low) * _scale(low, high, knots), 0.0, knots - 1)
    knot = position.astype(np.int64)
    return knot, np.minimum(knot + 1, knots - 1), position - knot


def tabulate_curves(
    probability: Callable[[ScoredTriples], FloatArray | None], pool: ScoredTriples, scores: FloatArray | None = None
) -> Curves | None:
    """Tabulate a method's probabilities over a range of scores; None where it has none."""
    count, given = len(pool.relation_names), pool.scores if scores is None else scores
    low, high = float(given.min()), float(given.max())
    entities, names = Vocabulary([""]), [*pool.relation_names, _UNSEEN]
    result = np.empty((count + 1, KNOTS))
    for start in range(0, count + 1, _AT_ONCE):
        part = result[start : start + _AT_ONCE]
        relations = np.repeat(np.arange(len(part)), KNOTS)
        scores = np.tile(np.linspace(low, high, KNOTS), len(part))
        nothing = np.zeros(len(relations), dtype=np.int64)
        own = Vocabulary(names[start : start + len(part)])
        p = probability(ScoredTriples(nothing, relations, nothing, entities, own, scores=scores))
        if p is None:
            return None
        part[:] = p.reshape(part.shape)
    return Curves(pool.relation_names, low, high, result)


def round_digits(values: FloatArray) -> FloatArray:
    """Return numbers from 0 to 1 rounded to ``DIGITS`` digits, each the number that its text is read as."""
    with np.errstate(divide="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(values))
    plain = places <= 22  # up to which a power of ten is exact, so that a division by it rounds as reading a text does
    power = 10.0 ** np.where(plain, places, 0)
    whole = values * power
    result = np.rint(whole) / power
    # Halfway between two, and where the logarithm rounded: by the text itself.
    odd = np.flatnonzero(~plain | (np.abs(whole % 1 - 0.5) < 1e-6) | (whole < 10 ** (DIGITS - 1)))
    result.flat[odd] = [float(f"{value:.{DIGITS}g}") for value in values.flat[odd].tolist()]
    return result
