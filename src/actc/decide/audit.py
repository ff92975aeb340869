"""An audit: the share of accepted facts that are true, from random draws that people judge, without a model.

The result depends only on how facts were drawn and on the answers: not on what the scores mean, not on how thresholds
were chosen or which facts were judged before. An audit stops by one of two rules. *Within*: the share is known to plus
or minus so much. Draws are stratified by relation and score; the interval is Wilson's, with the number of answers of a
simple random sample that these are worth. *Target*: the share is at least so much. The sample is a simple random one,
and the bounds hold after every answer at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import FloatArray, IntArray, ScoredTriples
from actc.decide.estimate import MISSING_FACTS, Goal, Share
from actc.errors import OptionError

LARGE = 0.02
"""Share of the facts from which on a relation is a stratum of its own; twice as large, it is two, by score."""
PRIOR_ANSWERS = 3.0
"""Answers that the share of all strata counts for in each. Chosen, as what follows, by length and coverage on two real
graphs (benchmarks/real/audit.csv) and on made-up ones."""
POWER = 0.25
"""Draws go by this power of a stratum's variance: 1/2 needs fewest if it is known (Neyman), 0 is in proportion."""
MIN_ANSWERS = 30
"""No interval is final before so many answers."""


@dataclass(frozen=True)
class StoppingRule:
    """When an audit has answers enough."""

    within: float = 0.05  # the share of true facts is known to plus or minus so much
    target: float | None = None  # the share that is certified instead
    level: float = 0.9  # the confidence of the bounds

    def __post_init__(self) -> None:
        for name, value, most in (
            ("half width", self.within, 0.5),
            ("target", self.target, 1),
            ("level", self.level, 1),
        ):
            if value is not None and not 0 < value < most:
                raise OptionError(f"A {name} of {value} is out of range; give a number between 0 and {most}.")


WITHIN_5 = StoppingRule()
"""Within 5 points at 90%."""


@dataclass(frozen=True)
class Audit:
    """What the answers show about all of the accepted facts."""

    rule: StoppingRule
    # total, judged, trues: accepted facts; those with an answer; those judged true
    total: int
    judged: int
    trues: int
    share: Share  # the share of true facts among the accepted ones, with its interval
    # about how many more answers are needed; 0 where these are enough, None where a target is out of reach
    more: int | None
    drawn: int = 0  # how many facts were drawn to be judged next


@lru_cache(maxsize=4)  # tables are frozen and compared by identity
def stratify(accepted: ScoredTriples) -> IntArray:
    """Return the stratum of each fact: its relation, small ones together, and below or above its median score."""
    counts, large = accepted.relation_counts, LARGE * len(accepted)
    largest = np.argsort(-counts, kind="stable")
    rest = len(accepted) - np.cumsum(counts[largest])  # in all smaller relations: they are no tiny stratum either
    alone = np.zeros(len(counts), dtype=np.bool_)
    alone[largest] = (counts[largest] >= large) & ((rest >= large) | (rest == 0))
    relations = np.where(alone[accepted.relations], accepted.relations, len(counts))
    codes = 2 * np.unique(relations, return_inverse=True)[1]
    for code in np.unique(codes).tolist():
        rows = np.flatnonzero(codes == code)
        if len(rows) >= 2 * large and np.ptp(accepted.scores[rows]) > 0:
            codes[rows[np.argsort(accepted.scores[rows], kind="stable")][(len(rows) + 1) // 2 :]] += 1
    return np.unique(codes, return_inverse=True)[1]


def draw_next(
    accepted: ScoredTriples,
    answers: Annotations,
    count: int,
    random: np.random.Generator,
    rule: StoppingRule = WITHIN_5,
    waiting: IntArray | None = None,
) -> IntArray:
    """Return the rows of the accepted facts to judge next, in the order to judge them; each is drawn once.

    Parameters
    ----------
    accepted : ScoredTriples
        All of the accepted facts.
    answers : Annotations
        The answers so far, on rows of them.
    count : int
        How many to draw.
    rule : StoppingRule, optional
        A target is certified by a simple random sample.
    waiting : int array, optional
        Rows that were drawn, and wait for an answer.
    """
    if count < 1:
        raise OptionError(f"{count} answers audit nothing; ask for at least 1.")
    taken = np.isin(np.arange(len(accepted)), answers.rows if waiting is None else np.append(answers.rows, waiting))
    rows = random.permutation(np.flatnonzero(~taken))
    if rule.target is not None:
        return rows[:count]
    codes = stratify(accepted)
    sizes, _, rates = _stratum_rates(codes, answers)
    spread = sizes * (rates * (1 - rates)) ** POWER
    rows = rows[np.argsort(codes[rows], kind="stable")]
    mine, (free, drawn) = codes[rows], (np.bincount(codes[some], minlength=len(sizes)) for some in (rows, taken))
    before = drawn[mine] + np.arange(len(rows)) - (np.cumsum(free) - free)[mine]  # draws from the stratum before each
    # Each where it makes the variance fall most.
    return rows[np.argsort(-spread[mine] / np.sqrt((before + 0.5) * (before + 1.5)), kind="stable")[:count]]


def _stratum_rates(codes: IntArray, answers: Annotations) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return size, answers and share of true facts of each stratum, the share drawn towards that of all."""
    sizes = np.bincount(codes).astype(np.float64)
    judged = np.bincount(codes[answers.rows], minlength=len(sizes)).astype(np.float64)
    trues = np.bincount(codes[answers.rows[answers.labels]], minlength=len(sizes))
    count, rates = len(answers), sizes
    common = (trues.sum() + 1) / (count + 2)
    for _ in range(2):  # of the answers, then of the whole set: draws are not in proportion
        rates = (trues + PRIOR_ANSWERS * common) / (judged + PRIOR_ANSWERS)
        common = float(sizes @ rates / sizes.sum() * count + 1) / (count + 2)
    return sizes, judged, rates


def assess(accepted: ScoredTriples, answers: Annotations, rule: StoppingRule = WITHIN_5) -> Audit:
    """Estimate the share of true facts among the accepted ones."""
    total, judged, trues = len(accepted), len(answers), int(answers.labels.sum())
    if judged > total:
        raise OptionError(f"{judged} were judged of a set of {total}; a fact is judged once.")
    if rule.target is not None:
        low, high = anytime(trues, judged, rule.level, total)
        share, more = Share(low, trues / judged if judged else 0.5, high), 0 if low >= rule.target else None
        if more is None and judged and share.middle > rule.target:
            needed = answers_for(rule.target, share.middle, total, rule.level, judged + 1)
            more = None if needed is None else needed - judged
        return Audit(rule, total, judged, trues, share, more)
    middle, worth, low, high = 0.5, 0.0, 0.0, 1.0
    if judged:
        # A stratum without answers has the share of all, as uncertain as after half of an answer.
        sizes, counts, rates = _stratum_rates(stratify(accepted), answers)
        weight = sizes / sizes.sum()
        middle = float(weight @ rates)
        worth = middle * (1 - middle) / float(weight**2 @ (rates * (1 - rates) / np.maximum(counts, 0.5)))
        low, high = wilson(middle, worth, judged / total, rule.level)
    share = Share(*np.clip([low, middle, high], trues / max(total, 1), 1 - (judged - trues) / max(total, 1)).tolist())
    each = worth / judged if judged else 1.0

    def is_enough(count: int) -> bool:  # if each further answer is worth the same
        low, high = wilson(middle, each * count, count / total, rule.level)
        return bool(high - low <= 2 * rule.within)

    more = 0
    if judged < min(MIN_ANSWERS, total) or share.high - share.low > 2 * rule.within:
        more = _first_to_hold(is_enough, min(max(judged + 1, MIN_ANSWERS), total), total) - judged
    return Audit(rule, total, judged, trues, share, more)


def wilson(share: float, answers: float, fraction: float, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a share that so many answers show, which are a fraction of the whole set."""
    from scipy.special import ndtri

    square = float(ndtri((1 + level) / 2)) ** 2 * max(1 - fraction, 1e-9) / answers  # what was judged is certain
    middle, half = (share + square / 2) / (1 + square), (square * (share * (1 - share) + square / 4)) ** 0.5
    return middle - half / (1 + square), middle + half / (1 + square)


def anytime(trues: int, judged: int, level: float, total: int) -> tuple[float, float]:
    """Return bounds that hold at every look at once, so the audit may stop at any answer.

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
    from scipy.special import betaln, gammaln

    rest, limit = total - judged, -np.log(total + 1) + np.log1p(-level)

    def is_inside(k: int) -> bool:  # the ratio at k true facts in the whole set has stayed below its limit
        ways = gammaln(rest + 1) - gammaln(k - trues + 1) - gammaln(rest - (k - trues) + 1)
        spread = betaln(k + 1, total - k + 1) - betaln(trues + 1, judged - trues + 1)
        return bool(float(ways + spread) > limit)

    lowest, highest = trues, total - (judged - trues)  # trues that the whole set can have
    mode = min(max(round(trues / judged * total), lowest), highest) if judged else lowest
    low = _first_to_hold(is_inside, lowest, mode)
    high = highest - _first_to_hold(lambda back: is_inside(highest - back), 0, highest - mode)
    return low / total, high / total


def _first_to_hold(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first of low ... high where a test holds that, once true, stays true; ``high`` is known to hold."""
    return low + bisect_left(range(low, high), True, key=holds)


def answers_for(target: float, share: float, total: int, level: float = 0.9, fewest: int = 1) -> int | None:
    """Return how many answers put the lower bound at the target, where a share of them is true; None if none do."""

    def is_reached(judged: int) -> bool:
        return anytime(round(share * judged), judged, level, total)[0] >= target

    return _first_to_hold(is_reached, fewest, total) if total >= fewest and is_reached(total) else None


def describe_audit(audit: Audit, goal: Goal = MISSING_FACTS) -> str:
    """Return in words what the answers show, and about how many more are needed."""
    rule, more, facts = audit.rule, audit.more, goal.accepted_facts
    if not audit.judged:
        first = "" if rule.target is not None else f" About {more:,} answers are enough, often far fewer."
        return f"Judge the facts in the order they come; what they show about all {facts} appears here.{first}"
    interval = f"{rule.level:.0%} interval: {audit.share.low:.0%} to {audit.share.high:.0%}"
    result = f"{audit.share.middle:.0%} of the {audit.total:,} {facts} are {goal.true} ({interval})."
    if rule.target is None:
        width = f"plus or minus {100 * rule.within:g} points"
        return f"{result} " + (f"About {more:,} more answers give {width}." if more else f"These answers give {width}.")
    target = f"{100 * rule.target:g}%"
    if more == 0:
        return f"{result} Certified: at least {target} of the {facts} are {goal.true}."
    if more is None:
        return f"{result} Not certified, and out of reach while the judged share is not clearly above {target}."
    return f"{result} Not certified yet: about {more:,} more answers would do it, if they come out like those so far."
