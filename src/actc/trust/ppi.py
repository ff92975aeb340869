"""Honest numbers from few people's answers and many guesses: prediction-powered inference on finite sets.

People judged a uniform draw of a set, and there is a guess (a probability) for every triple of it. The guesses' mean
over the whole set is corrected by how far people's answers lie from the guesses on the draw. Whatever the guesses are
worth, the result is right on average; the better they are, the narrower are its bounds. How much they count (power
tuning) is worked out from the same answers, and guesses that tell nothing count for nothing (Angelopoulos, Duchi and
Zrnic 2023). Two things differ from their program: sets are finite and drawn from without replacement, and bounds of
shares are exact ones (Clopper and Pearson's) at the number of answers that the estimate is worth, as fifty are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.triples import FloatArray
from actc.trust.intervals import Interval, clopper_pearson

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
    alone_worth : float
        How many answers those rest on: of recall, those on true triples.
    """

    share: float
    interval: Interval
    answers: int
    worth: float
    counted: float
    alone: Interval
    alone_worth: float


def estimate_share(answers: FloatArray, guesses: FloatArray, everything: FloatArray, level: float = 0.9) -> Powered:
    """Estimate a set's mean of something that is 0 or 1.

    Parameters
    ----------
    answers, guesses : float array of shape (n,)
        What people found of a uniform draw of the set, and what was guessed of it without their answers.
    everything : float array of shape (N,)
        What is guessed of every triple of the set, the drawn ones among them.
    """
    count, total = len(answers), len(everything)
    if count < 2:
        return _nothing(float(everything.mean()) if total else 0.5, count)
    counted = _tune(answers, guesses)
    share = float(counted * everything.mean() + (answers - counted * guesses).mean())
    left = _what_is_left(answers - counted * guesses, answers, level)
    alone = clopper_pearson(float(answers.sum()), count, level)
    return _bounds(share, count, count, left * (1 - count / total), level, counted, alone)


def _nothing(share: float, count: int) -> Powered:
    return Powered(share, Interval(0.0, 1.0), count, 0.0, 0.0, Interval(0.0, 1.0), 0.0)


def _tune(answers: FloatArray, guesses: FloatArray) -> float:
    """Return how much guesses should count: the slope of answers on them, between 0 and 1."""
    spread = float(((guesses - guesses.mean()) ** 2).sum())
    together = float(((guesses - guesses.mean()) * (answers - answers.mean())).sum())
    # A little spread is added, so that a slope seen in a handful of answers is not believed whole.
    return float(np.clip(together / (spread + 0.05), 0, 1))


def _what_is_left(residuals: FloatArray, alone: FloatArray, level: float) -> float:
    """Return the variance of what people found less what was guessed, as a share of that without guesses.

    How much guesses count was fitted to the same answers, and so was the variance: both cost a little.
    """
    from scipy.special import ndtri, stdtrit

    count = len(residuals)
    with_guesses, without = (float(((one - one.mean()) ** 2).sum()) for one in (residuals, alone))
    degrees, tail = max(count - 2, 1), (1 + level) / 2
    fitted = count / degrees * float(stdtrit(degrees, tail) / ndtri(tail)) ** 2
    return (fitted * with_guesses + MADE_UP) / (without + MADE_UP)


def _bounds(
    share: float, answers: float, count: int, left: float, level: float, counted: float, alone: Interval
) -> Powered:
    share = float(np.clip(share, 0, 1))
    worth = answers / max(left, 1e-9)
    return Powered(share, clopper_pearson(share * worth, worth, level), count, worth, counted, alone, answers)
