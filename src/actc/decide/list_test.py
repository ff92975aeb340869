"""A guarantee by testing a list: random draws from it, an exact test, whatever made the list.

Candidates are sorted by P(true). Nested lists end at several places of that order. Random draws from the longest list
are judged. The lists are tested from the shortest to the longest, each at the full error of the round, until one fails;
the last that passed is accepted.

Why it is valid. *One list*: the draws that fall into a list are, given their number, a simple random sample without
replacement of it. Let T be its true facts, f the false draws. What is accepted unseen is below the target only if T is
below a number that falls with f, and P(at most f false draws) rises with T; so if the unseen part is too bad, the
p-value of the actual T is at most the one that is computed, and that happens with probability at most alpha. *Nested
lists*: to accept a bad list, the first bad one in the order has to pass, which has probability at most alpha, however
dependent the tests are (fixed-sequence testing). *Rounds*: lists and order of a round are fixed before its draws, and
the errors of the rounds add up to 1 - confidence. *Open draws* (nobody has judged them yet, or nobody could) count as
false ones. P(true) decides how long the list is, never whether this holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.decide.estimate import BELIEVED
from actc.errors import OptionError


@dataclass(frozen=True)
class Tuned:
    """The numbers that were set by hand, by the mean recall on the pools of benchmarks/guarantee.

    ``teach`` was chosen from four by leaving one pool out, 31 times the same; for the others no pool was left out.

    Parameters
    ----------
    teach : float
        Share of the answers that teach the method before anything is tested.
    beyond : float
        The longest list ends where the mean of P(true) is ``1 - (1 + beyond) * (1 - target)``.
    shortest : float
        Size of the shortest list, as a share of the longest, where so few draws are enough.
    lists : int
        How many nested lists.
    first_draws, first_error : float
        Share of the draws and of the error in the first of two rounds.
    two_rounds : float
        There are two rounds if the first has so many times the draws that pass without a false one.
    open_end : float
        Share of the error that is left which a round takes where nobody knows how many answers there will be.
    likely : float
        A number of answers is enough if a list passes with this probability.
    """

    teach: float = 0.35
    beyond: float = 0.2
    shortest: float = 0.5
    lists: int = 6
    first_draws: float = 1 / 3
    first_error: float = 0.3
    two_rounds: float = 2.0
    open_end: float = 0.7
    likely: float = 0.8


TUNED = Tuned()
WORTH = 1 / BELIEVED**2
"""How many answers P(true) is worth."""


@dataclass(frozen=True)
class Demand:
    """What is guaranteed of the accepted facts that nobody judged: at least this precision, with this confidence."""

    target: float
    confidence: float = 0.9

    def __post_init__(self) -> None:
        if not 0 < self.target < 1:
            raise OptionError(f"A precision of {self.target} is out of range; give a share between 0 and 1.")
        if not 0.5 <= self.confidence < 1:
            raise OptionError(f"A confidence of {self.confidence} is out of range; give 0.5 to 1, such as 0.95.")

    @property
    def error(self) -> float:
        """The probability that a guarantee is wrong."""
        return 1 - self.confidence


@dataclass(frozen=True)
class Round:
    """Draws that test a list, and the share of the error that they may spend."""

    draws: int
    share: float


def plan_rounds(budget: int, demand: Demand) -> tuple[int, list[Round]]:
    """Return how many of the answers teach, and the rounds in which the others test.

    Parameters
    ----------
    budget : int
        Answers in all.
    demand : Demand
        The precision to guarantee.
    """
    affordable = budget - draws_to_pass(0, demand.target, demand.error)  # else no list could pass
    teach = min(round(TUNED.teach * budget), max(affordable, 0))
    draws = budget - teach
    first = round(TUNED.first_draws * draws)
    if first < TUNED.two_rounds * draws_to_pass(0, demand.target, TUNED.first_error * demand.error):
        return teach, [Round(draws, 1.0)]
    return teach, [Round(first, TUNED.first_error), Round(draws - first, 1 - TUNED.first_error)]


def draws_to_pass(false: int, target: float, alpha: float) -> int:
    """Return how many draws pass with so many false ones, from a list without end."""
    from scipy.special import bdtr

    drawn = np.arange(false + 1, int(np.ceil((false + 1) * np.log(alpha) / np.log(target))) + 2 * false + 2)
    return int(drawn[np.argmax(bdtr(false, drawn, 1 - target) <= alpha)])


def nested_lists(probabilities: FloatArray, target: float, draws: int, alpha: float) -> IntArray:
    """Return the sizes of the lists to test, ascending; none where no candidate is likely enough.

    Candidates of one probability are in the same lists. The shortest list expects enough draws to pass with one false
    one among them. Where no false draw can be afforded there is one list: that which is expected to bring most.

    Parameters
    ----------
    probabilities : float array of shape (N,)
        P(true) of the candidates that nobody judged, in descending order.
    target : float
        The precision to guarantee.
    draws : int
        How many draws there will be from the longest list.
    alpha : float
        The error of the round.
    """
    means = np.cumsum(probabilities) / np.arange(1, len(probabilities) + 1)
    enough = np.flatnonzero(means >= 1 - (1 + TUNED.beyond) * (1 - target))
    if not len(enough) or draws < 1:
        return np.zeros(0, dtype=np.int64)
    one_false = draws_to_pass(1, target, alpha)
    if draws < one_false:
        sizes = _best_list(means, draws, target, alpha)
    else:
        shortest = np.clip(one_false / draws, TUNED.shortest, 0.9)
        sizes = np.ceil((enough[-1] + 1) * np.linspace(shortest, 1, TUNED.lists)).astype(np.int64)
    ties = np.searchsorted(-probabilities, -probabilities[sizes - 1], side="right")
    return np.unique(ties.astype(np.int64))


def _best_list(means: FloatArray, draws: int, target: float, alpha: float) -> IntArray:
    """Return the size times P(all draws are true) of which is the largest, P(true) being worth ``WORTH`` answers.

    Facts are whole, so many a size needs a draw or two more than its neighbours: the longest one that passes is taken;
    none if there is none.
    """
    from scipy.special import gammaln

    true = np.maximum(WORTH * means, 1e-9)
    best = int(np.argmax(np.log(np.arange(1, len(means) + 1)) + gammaln(true + draws) - gammaln(true))) + 1
    near = np.arange(best, best // 2, -1)[:1000]
    passes = p_values(near, np.minimum(draws, near), np.zeros_like(near), target) <= alpha
    return near[passes][:1]


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
    p = hypergeom.cdf(false, sizes, np.minimum(wrong, sizes), drawn)
    return np.where(sizes > drawn, p, 1.0)


def largest_passing(
    sizes: IntArray, places: IntArray, labels: BoolArray, target: float, alpha: float, open_draws: int = 0
) -> int:
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
    open_draws : int
        Draws of the round without an answer: they count as false ones of every list.
    """
    inside = places < sizes[:, None]
    judged, false = inside.sum(axis=1), (inside & ~labels).sum(axis=1)
    drawn = np.minimum(judged + open_draws, sizes)
    passed = p_values(sizes, drawn, false + open_draws, target) <= alpha
    passed |= judged >= sizes  # nothing of it is accepted unseen
    count = len(passed) if passed.all() else int(passed.argmin())
    return int(sizes[count - 1]) if count and judged[count - 1] < sizes[count - 1] else 0


def is_settled(
    sizes: IntArray, places: IntArray, labels: BoolArray, target: float, alpha: float, open_draws: int
) -> bool:
    """Return True if the longest list passes whatever the open draws say, or if none can pass any more."""
    if not open_draws or not len(sizes):
        return True
    if largest_passing(sizes, places, labels, target, alpha, open_draws) == sizes[-1]:
        return True
    everywhere = np.zeros(open_draws, dtype=np.int64)  # in the shortest list, and so in all
    best = np.append(places, everywhere), np.append(labels, np.ones(open_draws, dtype=np.bool_))
    return largest_passing(sizes, *best, target, alpha) == 0


def answers_needed(probabilities: FloatArray, demand: Demand, share: float = 1.0, most: int = 2000) -> int | None:
    """Return about how many draws a guarantee needs, by today's P(true); None where ``most`` are not enough.

    The shortest of the lists that would be tested decides whether anything is guaranteed: so many draws that it
    passes with probability ``TUNED.likely`` if P(true) is right.

    Parameters
    ----------
    probabilities : float array of shape (N,)
        P(true) of the candidates that nobody judged, in descending order.
    demand : Demand
        The precision to guarantee.
    share : float
        Share of the error that the round may spend.
    most : int
        The most answers that anybody would give.
    """
    from scipy.special import bdtr

    alpha = share * demand.error
    sizes = nested_lists(probabilities, demand.target, most, alpha)
    if not len(sizes):
        return None
    size, longest = int(sizes[0]), int(sizes[-1])
    expected = float(probabilities[:size].mean())
    false = 0
    while (drawn := draws_to_pass(false, demand.target, alpha)) <= min(most * size // longest, size - 1):
        if bdtr(false, drawn, 1 - expected) >= TUNED.likely:
            return int(np.ceil(drawn * longest / size))
        false += 1
    return None
