"""How many of the accepted facts are true? Random draws from them, judged by people, and no model.

What comes out depends on how facts were drawn and on the answers alone: not on what the scores mean, not on how
thresholds were found or which facts were judged before. Unsure answers are the caller's to leave out or to count as
false. There are two goals. *Within*: the share is known to plus or minus so much. Draws are stratified by relation and
score, the interval is Wilson's with the number of answers of a plain draw that these are worth. *Target*: the share is
at least so much. Draws are plain, the bounds hold after every answer at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import FloatArray, IntArray, ScoredTriples
from actc.decide.estimate import Share
from actc.decide.words import CANDIDATES, Sought
from actc.errors import OptionError

LARGE = 0.02
"""Share of the facts from which on a relation is a stratum of its own; twice as large, it is two, by score."""
SHRUNK = 3.0
"""Answers that the share of all strata counts for in each. Chosen, as what follows, by length and coverage on two real
graphs (benchmarks/real/audit.csv) and on made-up ones."""
EVEN = 0.25
"""Draws go by this power of a stratum's variance: 1/2 needs fewest if it is known (Neyman), 0 is a plain share."""
LEAST = 30
"""No interval is quoted as final before so many answers."""


@dataclass(frozen=True)
class Goal:
    """What an audit shall show.

    Parameters
    ----------
    within : float
        The share of true facts is to be known to plus or minus so much.
    target : float, optional
        The share to certify instead.
    level : float
        How sure the bounds should be.
    """

    within: float = 0.05
    target: float | None = None
    level: float = 0.9

    def __post_init__(self) -> None:
        if not 0 < self.within < 0.5:
            raise OptionError(f"A half width of {self.within} is out of range; give a number such as 0.05.")
        if self.target is not None and not 0 < self.target < 1:
            raise OptionError(f"A target of {self.target} is out of range; give a share between 0 and 1, such as 0.9.")
        if not 0 < self.level < 1:
            raise OptionError(f"A level of {self.level} is out of range; give a number between 0 and 1, such as 0.9.")


@dataclass(frozen=True)
class Audit:
    """What the answers say about all of the accepted facts.

    Parameters
    ----------
    goal : Goal
    total, judged, trues : int
        Accepted facts; those with an answer; those called true.
    share : Share
        The share of true facts among the accepted ones, with its interval.
    more : int, optional
        About how many answers are missing; 0 where the goal is reached, None where a target is out of reach.
    """

    goal: Goal
    total: int
    judged: int
    trues: int
    share: Share
    more: int | None


def find_strata(accepted: ScoredTriples) -> IntArray:
    """Return the stratum of each fact: its relation, small ones together, and below or above its median score."""
    counts, least = accepted.relation_counts, LARGE * len(accepted)
    largest = np.argsort(-counts, kind="stable")
    rest = len(accepted) - np.cumsum(counts[largest])  # in all smaller relations: they are no tiny stratum either
    alone = np.zeros(len(counts), dtype=np.bool_)
    alone[largest] = (counts[largest] >= least) & ((rest >= least) | (rest == 0))
    relations = np.where(alone[accepted.relations], accepted.relations, len(counts))
    order = np.lexsort((accepted.scores, relations))
    sizes = np.bincount(relations, minlength=len(counts) + 1)
    place = np.arange(len(accepted)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    _, first, whole = np.unique(relations[order], return_index=True, return_inverse=True)
    scores, last = accepted.scores[order], np.append(first[1:], len(accepted)) - 1
    split = (np.diff(np.append(first, len(accepted))) >= 2 * least) & (scores[first] < scores[last])
    upper = split[whole] & (2 * place >= sizes[relations[order]])
    codes = np.empty(len(accepted), dtype=np.int64)
    codes[order] = np.unique(2 * whole + upper, return_inverse=True)[1]
    return codes


def draw_next(
    accepted: ScoredTriples,
    answers: Annotations,
    count: int,
    random: np.random.Generator,
    goal: Goal | None = None,
    besides: IntArray | None = None,
    strata: IntArray | None = None,
) -> IntArray:
    """Return the rows of the accepted facts to judge next, in the order to judge them; each is drawn once.

    Parameters
    ----------
    accepted : ScoredTriples
        All of the accepted facts.
    answers : Annotations
        What was judged, on rows of them.
    count : int
        How many to draw.
    goal : Goal, optional
        A target is certified by plain draws.
    besides : int array, optional
        Rows that were drawn, and wait for an answer.
    strata : int array, optional
        Those that :func:`find_strata` finds, where somebody has them already.
    """
    if count < 1:
        raise OptionError(f"{count} answers audit nothing; ask for at least 1.")
    taken = np.zeros(len(accepted), dtype=np.bool_)
    taken[np.append(answers.rows, np.zeros(0, np.int64) if besides is None else besides)] = True
    rows = random.permutation(np.flatnonzero(~taken))
    if goal is not None and goal.target is not None:
        return rows[:count]
    codes = find_strata(accepted) if strata is None else strata
    sizes = np.bincount(codes)
    rates = _Strata.of(codes, answers).rates
    spread = sizes * (rates * (1 - rates)) ** EVEN
    free, drawn = np.bincount(codes[rows], minlength=len(sizes)), np.bincount(codes[taken], minlength=len(sizes))
    wanted = np.zeros(len(sizes), dtype=np.int64)
    chosen = []
    for _ in range(min(count, len(rows))):  # each where it makes the variance fall most
        now = drawn + wanted
        best = int(np.argmax(np.where(wanted < free, spread / np.sqrt((now + 0.5) * (now + 1.5)), -1.0)))
        wanted[best] += 1
        chosen.append(best)
    grouped = rows[np.argsort(codes[rows], kind="stable")]
    starts, order = np.cumsum(free) - free, np.array(chosen, dtype=np.int64)
    rank = np.zeros(len(order), dtype=np.int64)
    for stratum in np.unique(order).tolist():
        mine = order == stratum
        rank[mine] = np.arange(mine.sum())
    return np.asarray(grouped[starts[order] + rank])


@dataclass(frozen=True, eq=False)
class _Strata:
    """Sizes of the strata, their answers, and the share of true facts in each, drawn towards that of all."""

    sizes: FloatArray
    judged: FloatArray
    rates: FloatArray

    @classmethod
    def of(cls, codes: IntArray, answers: Annotations) -> _Strata:
        sizes = np.bincount(codes).astype(np.float64)
        judged = np.bincount(codes[answers.rows], minlength=len(sizes))
        trues = np.bincount(codes[answers.rows[answers.labels]], minlength=len(sizes))
        count = len(answers)
        common = (trues.sum() + 1) / (count + 2)
        for _ in range(2):  # of the answers, then of the whole set: draws are not in proportion
            rates = (trues + SHRUNK * common) / (judged + SHRUNK)
            common = float(sizes @ rates / sizes.sum() * count + 1) / (count + 2)
        return cls(sizes, judged.astype(np.float64), rates)

    def estimate(self) -> tuple[float, float]:
        """Return the share of true facts, and how many answers of a plain draw from a set without end these are worth.

        A stratum without answers has the share of all, as uncertain as after half of an answer.
        """
        weight = self.sizes / self.sizes.sum()
        share, variances = float(weight @ self.rates), self.rates * (1 - self.rates)
        variance = float(weight**2 @ (variances / np.maximum(self.judged, 0.5)))
        return share, share * (1 - share) / variance


def assess(
    accepted: ScoredTriples, answers: Annotations, goal: Goal | None = None, strata: IntArray | None = None
) -> Audit:
    """Estimate the share of true facts among the accepted ones.

    Parameters
    ----------
    accepted : ScoredTriples
        All of the accepted facts.
    answers : Annotations
        Answers on rows that :func:`draw_next` drew for this goal.
    goal : Goal, optional
        Within 5 points at 90%, if not given.
    strata : int array, optional
        Those that :func:`find_strata` finds, where somebody has them already.
    """
    goal, total = goal or Goal(), len(accepted)
    judged, trues = len(answers), int(answers.labels.sum())
    if judged > total:
        raise OptionError(f"{judged} were judged of a set of {total}; a fact is judged once.")
    counts = goal, total, judged, trues
    if goal.target is not None:
        low, high = anytime(trues, judged, goal.level, total)
        share = Share(trues / judged if judged else 0.5, low, high)
        return Audit(*counts, share, _needed_for_target(goal.target, goal.level, share, judged, total))
    if not judged:
        return Audit(*counts, Share(0.5, 0.0, 1.0), _first_within(goal, 0.5, 1.0, 0, total))
    middle, worth = _Strata.of(find_strata(accepted) if strata is None else strata, answers).estimate()
    low, high = wilson(middle, _finite(worth, judged, total), goal.level)
    low, middle, high = np.clip([low, middle, high], trues / total, 1 - (judged - trues) / total).tolist()
    share = Share(middle, low, high)
    reached = judged >= min(LEAST, total) and high - low <= 2 * goal.within
    more = 0 if reached else _first_within(goal, middle, worth / judged, judged, total)
    return Audit(*counts, share, more)


def wilson(share: float, answers: float, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a share that so many answers show."""
    from scipy.special import ndtri

    square = float(ndtri((1 + level) / 2)) ** 2 / answers
    middle, half = (share + square / 2) / (1 + square), (square * (share * (1 - share) + square / 4)) ** 0.5
    return middle - half / (1 + square), middle + half / (1 + square)


def _finite(worth: float, judged: int, total: int) -> float:
    """Return how many answers they are worth where the set has an end: what was judged is certain."""
    return worth / max(1 - judged / total, 1e-9)


def _first_within(goal: Goal, share: float, worth: float, judged: int, total: int) -> int:
    """Return how many more answers make the interval short enough, if each goes on to be worth the same."""

    def reached(count: int) -> bool:
        low, high = wilson(share, _finite(worth * count, count, total), goal.level)
        return high - low <= 2 * goal.within

    least = min(max(judged + 1, LEAST), total)
    return _first_to_hold(reached, least, total) - judged


def anytime(trues: int, judged: int, level: float, total: int) -> tuple[float, float]:
    """Return bounds that hold at every look at once, so one may stop whenever they please.

    The ratio of a flat prior to its posterior, at the true share, is a martingale that starts at 1; by Ville's
    inequality it ever reaches 1 / (1 - level) with probability at most 1 - level. The bounds are the shares where it
    has not (Waudby-Smith and Ramdas 2020, prior-posterior ratio).

    Parameters
    ----------
    trues, judged : int
        How many were judged, in the order of a random draw, and how many of them are true.
    total : int
        Size of the set drawn from without replacement.
    """
    lowest, highest = trues, total - (judged - trues)  # trues that the whole set can have
    mode = min(max(round(trues / judged * total), lowest), highest) if judged else lowest
    inside = _finite_test(trues, judged, level, total)
    low = _first_to_hold(inside, lowest, mode)
    high = highest - _first_to_hold(lambda back: inside(highest - back), 0, highest - mode)
    return low / total, high / total


def _finite_test(trues: int, judged: int, level: float, total: int) -> Callable[[int], bool]:
    """Return a test: has the ratio at a number of trues in the whole set stayed below 1 / (1 - level)?"""
    from scipy.special import betaln, gammaln

    rest = total - judged

    def log_posterior(k: int) -> float:
        more = k - trues
        ways = gammaln(rest + 1) - gammaln(more + 1) - gammaln(rest - more + 1)
        spread = betaln(k + 1, total - k + 1) - betaln(trues + 1, judged - trues + 1)
        return float(ways + spread)

    limit = -np.log(total + 1) + np.log1p(-level)
    return lambda k: log_posterior(k) > limit


def _first_to_hold(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first of low ... high where a test holds that, once true, stays true; ``high`` is known to hold."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _needed_for_target(target: float, level: float, share: Share, judged: int, total: int) -> int | None:
    if share.low >= target:
        return 0
    if not judged or share.middle <= target:
        return None
    found = answers_for(target, share.middle, total, level, judged + 1)
    return None if found is None else found - judged


def answers_for(target: float, share: float, total: int, level: float = 0.9, least: int = 1) -> int | None:
    """Return how many answers put the lower bound at the target, where a share of them is true; None if none do."""

    def reached(judged: int) -> bool:
        return anytime(round(share * judged), judged, level, total)[0] >= target

    return _first_to_hold(reached, least, total) if total >= least and reached(total) else None


def describe_audit(audit: Audit, sought: Sought = CANDIDATES) -> str:
    """Say what the answers show, and about how many are missing."""
    goal, more = audit.goal, audit.more
    if not audit.judged:
        first = "" if goal.target is not None else f" About {more:,} answers are enough, often far fewer."
        return f"Judge the facts in the order they come; what they show of all {sought.found} appears here.{first}"
    interval = f"{goal.level:.0%} interval: {audit.share.low:.1%} to {audit.share.high:.1%}"
    found = f"{audit.share.middle:.1%} of the {audit.total:,} {sought.found} are {sought.true} ({interval})."
    if goal.target is None:
        if more:
            return f"{found} About {more:,} more answers make it plus or minus {100 * goal.within:g} points."
        return f"{found} These answers are enough: it is plus or minus {100 * goal.within:g} points."
    if more == 0:
        return f"{found} Certified: at least {goal.target:g} of the {sought.found} are {sought.true}."
    if more is None:
        return f"{found} Not certified, and out of reach while the judged share is not clearly above {goal.target:g}."
    return f"{found} Not certified yet: about {more:,} more answers would do it, if they come out like those so far."
