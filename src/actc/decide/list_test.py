"""A guarantee by testing a list: random draws from it, an exact test, whatever made the list.

Candidates are sorted by P(true). Nested lists end at several places of that order. Random draws from the largest list
are judged. The lists are tested from the shortest to the longest, each at the full error of the round, until one fails;
the last that passed is accepted.

Why it is valid. *One list*: the draws that fall into a list are, given their number, a simple random sample without
replacement of it. Let T be its true facts, f the false draws. What is accepted unseen is below the target only if T is
below a number that falls with f, and P(at most f false draws) rises with T; so if the unseen part is too bad, the
p-value of the actual T is at most the one that is computed, and that happens with probability at most alpha. *Nested
lists*: to accept a bad list, the first bad one in the order has to pass, which has probability at most alpha, however
dependent the tests are (fixed-sequence testing). *Rounds*: lists and order of a round are fixed before its draws, and
the alphas of the rounds add up to 1 - confidence. P(true) decides how long the list is, never whether this holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.triples import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Tuned:
    """The numbers that were set by hand, by the mean recall of 4 to 8 repeats on all pools of benchmarks/guarantee.

    No pool was left out of the choice, and the repeats are among those of rows.csv.

    Parameters
    ----------
    teach : float
        Share of the answers that teach the method before anything is tested.
    beyond : float
        The longest list ends where the mean of P(true) is ``1 - (1 + beyond) * (1 - target)``.
    shortest : float
        Size of the shortest list, as a share of the longest.
    lists : int
        How many nested lists.
    first_draws, first_error : float
        Share of the draws and of the error in the first of two rounds.
    two_rounds : float
        There are two rounds if the first has so many times the draws that pass without a false one.
    likely : float
        A number of answers is enough if a list passes with this probability.
    """

    teach: float = 0.15
    beyond: float = 0.2
    shortest: float = 0.6
    lists: int = 6
    first_draws: float = 1 / 3
    first_error: float = 0.3
    two_rounds: float = 1.5
    likely: float = 0.8


TUNED = Tuned()


@dataclass(frozen=True)
class Round:
    """Some draws, and the probability of a wrong guarantee that they may spend."""

    draws: int
    alpha: float


def plan_rounds(budget: int, target: float, confidence: float) -> tuple[int, list[Round]]:
    """Return how many of the answers teach, and the rounds in which the others test.

    Parameters
    ----------
    budget : int
        Answers in all.
    target, confidence : float
        The precision to guarantee, and with which confidence.
    """
    alpha, teach = 1 - confidence, round(TUNED.teach * budget)
    draws = budget - teach
    first, first_alpha = round(TUNED.first_draws * draws), TUNED.first_error * alpha
    if first < TUNED.two_rounds * fewest_draws(target, first_alpha):
        return teach, [Round(draws, alpha)]
    return teach, [Round(first, first_alpha), Round(draws - first, alpha - first_alpha)]


def fewest_draws(target: float, alpha: float) -> int:
    """Return how many draws pass if all are true, from a list without end."""
    return int(np.ceil(np.log(alpha) / np.log(target)))


def nested_lists(probabilities: FloatArray, target: float) -> IntArray:
    """Return the sizes of the lists to test, ascending; none where no candidate is likely enough.

    Parameters
    ----------
    probabilities : float array of shape (N,)
        P(true) of the candidates that nobody judged, in descending order.
    target : float
        The precision to guarantee.
    """
    means = np.cumsum(probabilities) / np.arange(1, len(probabilities) + 1)
    enough = np.flatnonzero(means >= 1 - (1 + TUNED.beyond) * (1 - target))
    if not len(enough):
        return np.zeros(0, dtype=np.int64)
    shares = np.linspace(TUNED.shortest, 1, TUNED.lists)
    return np.unique(np.ceil((enough[-1] + 1) * shares).astype(np.int64))


def p_values(sizes: IntArray, drawn: IntArray, false: IntArray, target: float) -> FloatArray:
    """Return the probability of so few false draws if the precision of what was not drawn is below the target.

    Parameters
    ----------
    sizes, drawn, false : int array of shape (L,)
        Of each list: its size, its draws without replacement, and the false ones among them.
    target : float
        The precision to guarantee of the rest.
    """
    from scipy.stats import hypergeom

    needed = np.ceil(target * (sizes - drawn) - 1e-9).astype(np.int64)  # true ones among what was not drawn
    wrong = false + (sizes - drawn) - needed + 1  # the fewest false ones in a list that is too bad
    possible = (needed > 0) & (sizes > drawn)
    p = hypergeom.cdf(false, sizes, np.minimum(wrong, sizes), drawn)
    return np.where(possible, p, 1.0)


def largest_passing(sizes: IntArray, places: IntArray, labels: BoolArray, target: float, alpha: float) -> int:
    """Return the size of the longest list that is guaranteed, 0 if none is.

    Parameters
    ----------
    sizes : int array of shape (L,)
        Nested lists, ascending: each holds the first so many candidates.
    places : int array of shape (n,)
        Places of the draws in the order of candidates: a random sample, without replacement, of the longest list.
    labels : bool array of shape (n,)
        Whether each draw is true.
    target, alpha : float
        The precision to guarantee, and the probability of a wrong guarantee.
    """
    inside = places < sizes[:, None]
    passed = p_values(sizes, inside.sum(axis=1), (inside & ~labels).sum(axis=1), target) <= alpha
    count = len(passed) if passed.all() else int(passed.argmin())
    return int(sizes[count - 1]) if count else 0


def is_settled(sizes: IntArray, places: IntArray, labels: IntArray, target: float, alpha: float) -> bool:
    """Return True if the open answers of a round (label -1) cannot change which list passes."""
    worst, best = (largest_passing(sizes, places, labels == 1 if bad else labels != 0, target, alpha) for bad in (1, 0))
    return worst == best


def answers_needed(probabilities: FloatArray, target: float, confidence: float, most: int = 2000) -> int | None:
    """Return about how many draws a guarantee needs, by today's P(true); None where ``most`` are not enough.

    The shortest of the lists that would be tested decides whether anything is guaranteed: so many draws that it
    passes with probability ``TUNED.likely`` if P(true) is right.

    Parameters
    ----------
    probabilities : float array of shape (N,)
        P(true) of the candidates that nobody judged, in descending order.
    target, confidence : float
        The precision to guarantee, and with which confidence.
    most : int
        The most answers that anybody would give.
    """
    from scipy.stats import binom

    sizes = nested_lists(probabilities, target)
    if not len(sizes):
        return None
    size, longest = int(sizes[0]), int(sizes[-1])
    expected = float(probabilities[:size].mean())
    drawn = np.arange(1, min(most * size // longest, size - 1) + 1)
    allowed = binom.ppf(1 - confidence, drawn, 1 - target)
    allowed -= binom.cdf(allowed, drawn, 1 - target) > 1 - confidence
    enough = np.flatnonzero(binom.cdf(allowed, drawn, 1 - expected) >= TUNED.likely)
    return int(np.ceil(drawn[enough[0]] * longest / size)) if len(enough) else None
