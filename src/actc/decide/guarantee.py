"""A guaranteed precision by testing a list: random draws from it, an exact test, whatever made the list.

Candidates are sorted by P(true). Nested lists end at several places of that order. Random draws from the longest list
are judged. The lists are tested from the shortest to the longest, each at the full error of the round, until one fails;
the last that passed is accepted.

Why it is valid. *One list*: the draws that fall into a list are, given their number, a simple random sample without
replacement of it. Let T be its true facts, f the false draws. What is accepted unjudged is below the target only if T
is below a number that falls with f, and P(at most f false draws) rises with T; so if the unjudged part is too bad, the
p-value of the actual T is at most the one that is computed, and that happens with probability at most alpha. *Nested
lists*: to accept a bad list, the first bad one in the order has to pass, which has probability at most alpha, however
dependent the tests are (fixed-sequence testing). *Rounds*: lists and order of a round are fixed before its draws, and
the errors of the rounds add up to 1 - confidence. *Open draws* (without an answer yet, or judged unsure) count as false
ones. P(true) decides how long the list is, never whether this holds.

The list of a round is a function of the candidates and of the answers of earlier rounds alone; so it can be computed
again from the candidates and the answers with their rounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Picks
from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.decide.estimate import PRIOR_SD
from actc.errors import OptionError

LIST = "list"
"""How a question was selected that was drawn from a list which is tested."""
LIST_DRAW = "A random draw, to test the list of facts that would be accepted."
MIN_ERROR = 1e-3
"""A round that may spend less of the error is not begun."""
MOST_ANSWERS = 2000
"""The most answers that anybody would give."""

# Chosen by the mean recall on the pools of benchmarks/guarantee: TEACH from four values by leaving one pool out, 31
# times the same; for the others no pool was left out.
TEACH = 0.35
"""Share of the answers that teach the method before anything is tested."""
SPARE = 2
"""So many answers fewer teach where no list can pass by today's P(true): facts are whole, so a short list needs a draw
or two more than a long one."""
BEYOND = 0.2
"""The longest list ends where the mean of P(true) is ``1 - (1 + BEYOND) * (1 - target)``."""
LISTS = 6
"""How many nested lists."""
SHORTEST = 0.5
"""Size of the shortest list, as a share of the longest, where so few draws are enough."""
FIRST_DRAWS, FIRST_ERROR = 1 / 3, 0.3
"""Share of the draws and of the error in the first of two rounds."""
TWO_ROUNDS = 2.0
"""There are two rounds if the first has so many times the draws that pass without a false one."""
OPEN_END = 0.7
"""Share of the remaining error that a round takes where it is unknown how many answers there will be."""
LIKELY = 0.8
"""A number of answers is enough if a list passes with this probability."""
PRIOR_ANSWERS = 1 / PRIOR_SD**2
"""How many answers P(true) is worth."""


@dataclass(frozen=True)
class TargetPrecision:
    """The precision to guarantee of the accepted facts that nobody judged, and the confidence."""

    precision: float
    confidence: float = 0.9

    def __post_init__(self) -> None:
        if not isinstance(self.precision, Real) or not 0 < self.precision < 1:
            raise OptionError(f"A precision of {self.precision!r} is out of range; give a share between 0 and 1.")
        if not isinstance(self.confidence, Real) or not 0.5 <= self.confidence < 1:
            raise OptionError(f"A confidence of {self.confidence!r} is out of range; give 0.5 to 1, such as 0.95.")

    @classmethod
    def of(cls, precision: float | None, confidence: float) -> TargetPrecision | None:
        """Return what is to be guaranteed, if a precision is given; refuse a confidence out of range in any case."""
        target = cls(0.5 if precision is None else precision, confidence)
        return None if precision is None else target

    @property
    def error(self) -> float:
        """The probability that a guarantee is wrong."""
        return 1 - self.confidence


@dataclass(frozen=True)
class RoundPlan:
    """A round of draws from one list."""

    number: int  # the first round is 1
    draws: int  # how many draws test the list
    share: float  # the share of the error that they may spend
    size: int = 0  # how many candidates of the pool are on the list; 0 while it is not fixed

    @property
    def sampling_frame(self) -> str:
        """The text that is stored with each draw."""
        return f"{self.draws} draws at {self.share:g}"

    @classmethod
    def read(cls, number: int, sampling_frame: str, inclusion_probability: float) -> RoundPlan | None:
        """Read it from what is stored with a draw; None where that is something else."""
        match = re.fullmatch(r"(\d+) draws at ([0-9.e-]+)", sampling_frame)
        if match is None or not 0 < inclusion_probability <= 1:
            return None
        return cls(number, int(match[1]), min(float(match[2]), 1.0), round(1 / inclusion_probability))

    def alpha(self, target: TargetPrecision) -> float:
        """Return the probability of a wrong guarantee that the round may have."""
        return self.share * target.error


@dataclass(frozen=True, eq=False)
class Ranking:
    """The candidates that nobody judged, the most probable first."""

    rows: IntArray  # (K,) their rows among all candidates
    p: FloatArray  # (K,) P(true) of each, descending
    pool_rows: IntArray  # (K,) their rows in the pool that questions are chosen from, -1 where they are not in it

    def size_of(self, count: int) -> int:
        """Return the size of the list that has so many candidates of the pool, ties among them."""
        places = np.flatnonzero(self.pool_rows >= 0)[:count]
        return int(np.searchsorted(-self.p, -self.p[places[-1]], side="right")) if len(places) else 0

    def pool_rows_of(self, size: int) -> IntArray:
        """Return the rows in the pool of the first ``size`` candidates, as far as they are in it."""
        rows = self.pool_rows[:size]
        return rows[rows >= 0]


@dataclass(frozen=True, eq=False)
class SampledRound:
    """A round of draws with its answers."""

    plan: RoundPlan
    base: Any  # the case as it was before the round: it fixed the list
    size: int  # size of the list that was drawn from
    places: IntArray  # (n,) places of the answered draws in the ranking
    labels: BoolArray  # (n,)

    @property
    def open_draws(self) -> int:
        """Draws without an answer."""
        return max(self.plan.draws - len(self.places), 0)

    def test(self, target: TargetPrecision) -> Guarantee:
        """Return what the round guarantees."""
        # None is longer than what was drawn from.
        p = self.base.ranking.p
        sizes = np.unique(np.minimum(nested_lists(p, target, self.plan), self.size))
        draws = (sizes, self.places, self.labels, target.precision, self.plan.alpha(target), self.open_draws)
        size = largest_passing(*draws)
        return Guarantee(target, size, float(p[size - 1]) if size else np.inf, self, is_settled(*draws))


@dataclass(frozen=True, eq=False)
class Guarantee:
    """What is guaranteed of the accepted facts that nobody judged."""

    target: TargetPrecision
    size: int = 0  # how many candidates the list has that passed; 0 if none did
    min_probability: float = np.inf  # the lowest P(true) in it; infinite if none passed
    round: SampledRound | None = None  # the round that tested it; None before the first
    settled: bool = True  # whether the answers that are missing in the round change nothing

    @property
    def rows(self) -> IntArray:
        """The candidates on the list that passed."""
        return np.zeros(0, dtype=np.int64) if self.round is None else self.round.base.ranking.rows[: self.size]


def plan_rounds(budget: int, target: TargetPrecision) -> tuple[int, list[RoundPlan]]:
    """Return how many of the answers teach, and the rounds in which the others test."""
    affordable = budget - draws_to_pass(0, target.precision, target.error)  # else no list could pass
    teach = min(round(TEACH * budget), max(affordable, 0))
    draws = budget - teach
    first = RoundPlan(1, round(FIRST_DRAWS * draws), FIRST_ERROR)
    if first.draws < TWO_ROUNDS * draws_to_pass(0, target.precision, first.alpha(target)):
        return teach, [RoundPlan(1, draws, 1.0)]
    return teach, [first, RoundPlan(2, draws - first.draws, 1 - FIRST_ERROR)]


def draws_to_pass(false: int, precision: float, alpha: float) -> int:
    """Return how many draws pass with so many false ones, from a list without end."""
    from scipy.special import bdtr

    drawn = np.arange(false + 1, int(np.ceil((false + 1) * np.log(alpha) / np.log(precision))) + 2 * false + 2)
    return int(drawn[np.argmax(bdtr(false, drawn, 1 - precision) <= alpha)])


def nested_lists(p: FloatArray, target: TargetPrecision, plan: RoundPlan) -> IntArray:
    """Return the sizes of the lists that a round tests, ascending; none where no candidate is likely enough.

    ``p`` is the P(true) of the candidates that nobody judged, in descending order; candidates of one probability are in
    the same lists. The shortest list expects enough draws to pass with one false one among them. Where no false draw
    can be afforded there is one list: that which is expected to bring most.
    """
    means = np.cumsum(p) / np.arange(1, len(p) + 1)
    enough = np.flatnonzero(means >= 1 - (1 + BEYOND) * (1 - target.precision))
    if not len(enough) or plan.draws < 1:
        return np.zeros(0, dtype=np.int64)
    one_false = draws_to_pass(1, target.precision, plan.alpha(target))
    if plan.draws < one_false:
        sizes = _best_list(means, target, plan)
    else:
        shortest = np.clip(one_false / plan.draws, SHORTEST, 0.9)
        sizes = np.ceil((enough[-1] + 1) * np.linspace(shortest, 1, LISTS)).astype(np.int64)
    return np.unique(np.searchsorted(-p, -p[sizes - 1], side="right").astype(np.int64))


def _best_list(means: FloatArray, target: TargetPrecision, plan: RoundPlan) -> IntArray:
    """Return the size with the largest product of size and P(all draws are true); none if no list can pass.

    P(true) is worth ``PRIOR_ANSWERS`` answers. Facts are whole, so many a size needs a draw or two more than its
    neighbours: the longest one that passes is taken.
    """
    from scipy.special import gammaln

    true = np.maximum(PRIOR_ANSWERS * means, 1e-9)
    gains = np.log(np.arange(1, len(means) + 1)) + gammaln(true + plan.draws) - gammaln(true)
    best = int(np.argmax(gains)) + 1
    near = np.arange(best, best // 2, -1)[:1000]
    p = p_values(near, np.minimum(plan.draws, near), np.zeros_like(near), target.precision)
    return near[p <= plan.alpha(target)][:1]


def p_values(sizes: IntArray, drawn: IntArray, false: IntArray, precision: float) -> FloatArray:
    """Return the probability of so few false draws if the precision of what was not drawn is below the target.

    Parameters
    ----------
    sizes, drawn, false : int array of shape (L,)
        Of each list: its size, its draws without replacement, and the false ones among them.
    precision : float
        The precision to guarantee of the rest.
    """
    from scipy.stats import hypergeom

    needed = np.ceil(precision * (sizes - drawn) - 1e-9).astype(np.int64)  # true ones among what was not drawn
    wrong = false + (sizes - drawn) - needed + 1  # the fewest false ones in a list that is too bad
    p = hypergeom.cdf(false, sizes, np.minimum(wrong, sizes), drawn)
    return np.where(sizes > drawn, p, 1.0)


def largest_passing(
    sizes: IntArray, places: IntArray, labels: BoolArray, precision: float, alpha: float, open_draws: int = 0
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
    precision, alpha : float
        The precision to guarantee, and the probability of a wrong guarantee.
    open_draws : int
        Draws of the round without an answer: they count as false ones of every list.
    """
    inside = places < sizes[:, None]
    judged, false = inside.sum(axis=1), (inside & ~labels).sum(axis=1)
    drawn = np.minimum(judged + open_draws, sizes)
    passed = p_values(sizes, drawn, false + open_draws, precision) <= alpha
    passed |= judged >= sizes  # nothing of it is accepted unjudged
    count = int(np.append(passed, False).argmin())
    return int(sizes[count - 1]) if count and judged[count - 1] < sizes[count - 1] else 0


def is_settled(
    sizes: IntArray, places: IntArray, labels: BoolArray, precision: float, alpha: float, open_draws: int
) -> bool:
    """Return True if the longest list passes whatever the open draws are, or if none can pass any more."""
    sure = largest_passing(sizes, places, labels, precision, alpha, open_draws)
    if not open_draws or sure == sizes.max(initial=0):
        return True
    everywhere = np.zeros(open_draws, dtype=np.int64)  # in the shortest list, and so in all
    best = np.append(places, everywhere), np.append(labels, np.ones(open_draws, dtype=np.bool_))
    return largest_passing(sizes, *best, precision, alpha) == 0


def answers_needed(p: FloatArray, target: TargetPrecision, share: float = 1.0) -> int | None:
    """Return about how many draws a guarantee needs, by today's P(true); None where ``MOST_ANSWERS`` are not enough.

    The shortest of the lists that would be tested decides whether anything is guaranteed: so many draws that it
    passes with probability ``LIKELY`` if P(true) is right. ``p`` is that of the candidates that nobody judged, in
    descending order, and ``share`` that of the error that the round may spend.
    """
    from scipy.special import bdtr

    plan = RoundPlan(1, MOST_ANSWERS, share)
    sizes = nested_lists(p, target, plan)
    if not len(sizes):
        return None
    size, longest = int(sizes[0]), int(sizes[-1])
    most, expected = min(MOST_ANSWERS * size // longest, size - 1), float(p[:size].mean())
    for false in range(most):
        drawn = draws_to_pass(false, target.precision, plan.alpha(target))
        if drawn > most:
            break
        if bdtr(false, drawn, 1 - expected) >= LIKELY:
            return int(np.ceil(drawn * longest / size))
    return None


def error_left(rounds: list[SampledRound]) -> float:
    """Return the share of the error that no round has spent."""
    return max(1.0 - sum(one.plan.share for one in rounds), 0.0)


def split_random(answers: Annotations, pool: int, random: np.random.Generator) -> Annotations:
    """Return a plain random draw from a pool as answers of which half teach, and half test lists of the pool."""
    order = random.permutation(len(answers))
    teach, test = (answers.take(np.sort(part)) for part in np.array_split(order, 2))
    return teach.plus(replace(test, **_provenance(RoundPlan(1, len(test), 1.0, pool))))


def start_round(plan: RoundPlan, ranking: Ranking, target: TargetPrecision, random: np.random.Generator) -> Picks:
    """Fix the list of a round and return its draws, no more than are of use; none where no list is likely to pass."""
    alpha = plan.alpha(target)
    if plan.draws < draws_to_pass(1, target.precision, alpha):  # every draw has to be true, and a few are left over
        fewest = min(draws_to_pass(0, target.precision, alpha), plan.draws)
        fewer = (replace(plan, draws=draws) for draws in range(fewest, plan.draws))
        plan = next((one for one in fewer if len(nested_lists(ranking.p, target, one))), plan)
    rows = ranking.pool_rows_of(int(nested_lists(ranking.p, target, plan).max(initial=0)))
    plan = replace(plan, draws=min(plan.draws, len(rows)), size=len(rows))
    return Picks(random.permutation(rows)[: plan.draws], LIST_DRAW, **_provenance(plan))


def draw_more(drawn: SampledRound, waiting: IntArray, count: int, random: np.random.Generator) -> Picks:
    """Return more draws of a round, none of what was drawn and of what waits for an answer."""
    ranking = drawn.base.ranking
    rows = ranking.pool_rows_of(drawn.size)
    rest = np.setdiff1d(rows, np.append(waiting, ranking.pool_rows[drawn.places]))
    plan = replace(drawn.plan, size=len(rows))
    return Picks(random.permutation(rest)[:count], LIST_DRAW, **_provenance(plan))


def _provenance(plan: RoundPlan) -> dict[str, Any]:
    """Return what is stored with each draw of a round."""
    return {
        "selection": LIST,
        "sampling_frame": plan.sampling_frame,
        "inclusion_probability": 1 / max(plan.size, 1),
        "round": float(plan.number),
    }
