"""Honest numbers from few people's answers and many guesses: prediction-powered inference on finite sets.

People judged a random draw of a set, and there is a guess (a probability) for every triple of it. The guesses' mean
over the whole set is corrected by how far people's answers lie from the guesses on the draw. Whatever the guesses are
worth, the result is right on average; the better they are, the narrower are its bounds. How much they count (power
tuning) is worked out from the same answers, and guesses that tell nothing count for nothing (Angelopoulos, Duchi and
Zrnic 2023). Two things differ from their program: sets are finite and drawn from without replacement, and bounds of
shares are exact ones (Clopper and Pearson's) at the number of answers that the estimate is worth, as fifty are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.triples import FloatArray, IntArray
from actc.trust.intervals import Estimate, Interval, clopper_pearson

MADE_UP = 0.25
"""Squared residuals, with guesses as without, beside those seen: where nobody erred, guesses have shown nothing yet."""


@dataclass(frozen=True)
class Powered:
    """A share of a set, as people and guesses together tell it.

    Parameters
    ----------
    share : float
        The estimate.
    interval : Interval
        Its bounds.
    answers : int
        People's answers that it rests on.
    worth : float
        How many answers of people alone would give bounds as narrow.
    counted : float
        How much guesses counted, between 0 and 1.
    alone : Interval
        The bounds by people's answers alone.
    """

    share: float
    interval: Interval
    answers: int
    worth: float
    counted: float
    alone: Interval


@dataclass(frozen=True, eq=False)
class Design:
    """How the answered triples were drawn, beyond a plain draw.

    Parameters
    ----------
    alone : Estimate
        What people's answers tell by themselves.
    shares : float array of shape (n,)
        The share of the set that each answer speaks for; they sum up to 1.
    groups : int array of shape (n,)
        Its stratum, or its cluster.
    whole : bool
        Whether groups are clusters, drawn and judged as a whole; else strata, drawn from one by one.
    covered : float
        The share of the set whose strata were looked at at all.
    """

    alone: Estimate
    shares: FloatArray
    groups: IntArray
    whole: bool
    covered: float = 1.0

    @property
    def drawn(self) -> int:
        """How many were drawn by themselves: answers, or clusters."""
        return len(np.unique(self.groups)) if self.whole else len(self.groups)

    def spread(self, values: FloatArray) -> float:
        """Return the squares of what answers, or whole clusters, lie apart from what is expected of them."""
        _, place, sizes = np.unique(self.groups, return_inverse=True, return_counts=True)
        off = len(values) * self.shares * (values - self.shares @ values)
        if self.whole:
            return float((np.bincount(place, off) ** 2).sum())
        # The mean of a stratum, taken between its own and that of all: of a single answer it tells nothing.
        inside = off - (np.bincount(place, off) / (sizes + 2))[place]
        return float((inside**2).sum())


def plain_draw(answers: FloatArray, level: float = 0.9) -> Design:
    """Return the design of a plain random draw."""
    count = len(answers)
    share = float(answers.mean()) if count else 0.5
    alone = Estimate(share, clopper_pearson(float(answers.sum()), count, level), float(count))
    return Design(alone, np.full(count, 1 / max(count, 1)), np.arange(count), whole=True)


def estimate_share(
    answers: FloatArray,
    guesses: FloatArray,
    everything: FloatArray,
    level: float = 0.9,
    design: Design | None = None,
) -> Powered:
    """Estimate a set's mean of something that is 0 or 1.

    Parameters
    ----------
    answers, guesses : float array of shape (n,)
        What people found of a random draw of the set, and what was guessed of it without their answers.
    everything : float array of shape (N,)
        What is guessed of every triple of the set, the drawn ones among them; of strata, of those looked at.
    design : Design, optional
        How it was drawn; if not given, as a plain draw.
    """
    count, total = len(answers), len(everything)
    if count < 2 or (design is not None and design.drawn < 2):
        share, anything = float(everything.mean()) if total else 0.5, Interval(0.0, 1.0)
        return Powered(share, anything, count, 0.0, 0.0, anything)
    drawn, left = (design, 1.0) if design else (plain_draw(answers, level), 1 - count / total)
    counted = _tune(answers, guesses)
    residuals = answers - counted * guesses
    share = float(np.clip(counted * everything.mean() + drawn.shares @ residuals, 0, 1))
    left *= _what_is_left(drawn.spread(residuals), drawn.spread(answers), drawn.drawn, level, design is not None)
    worth = drawn.alone.effective / max(left, 1e-9)
    low, high = (drawn.covered * bound for bound in clopper_pearson(share * worth, worth, level))
    found = Interval(low, high + 1 - drawn.covered)
    return Powered(share, found, count, worth, counted, drawn.alone.interval)


def _tune(answers: FloatArray, guesses: FloatArray) -> float:
    """Return how much guesses should count: the slope of answers on them, between 0 and 1."""
    spread = float(((guesses - guesses.mean()) ** 2).sum())
    together = float(((guesses - guesses.mean()) * (answers - answers.mean())).sum())
    # A little spread is added, so that a slope seen in a handful of answers is not believed whole.
    return float(np.clip(together / (spread + 0.05), 0, 1))


def _what_is_left(with_guesses: float, without: float, drawn: int, level: float, student: bool) -> float:
    """Return the variance of what people found less what was guessed, as a share of that without guesses.

    How much guesses count was fitted to the same answers, and so was the variance: both cost a little. ``student``:
    what the second costs is in the bounds of people's answers already.
    """
    from scipy.special import ndtri, stdtrit

    degrees, tail = max(drawn - 2, 1), (1 + level) / 2
    usual = float(stdtrit(drawn - 1, tail) if student else ndtri(tail))
    fitted = drawn / degrees * (float(stdtrit(degrees, tail)) / usual) ** 2
    return (fitted * with_guesses + MADE_UP) / (without + MADE_UP)
