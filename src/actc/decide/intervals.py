"""Between which bounds does a share lie, when some of a set were judged?

Every function takes counts and gives bounds that rest on how the judged ones were drawn and on nothing else: no model
of the scores, no prior belief.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from actc.data.triples import IntArray
from actc.errors import OptionError


class Interval(NamedTuple):
    """Lower and upper bound of a share."""

    low: float
    high: float


def check_level(level: float) -> None:
    """Refuse a level that no interval can have."""
    if not 0 < level < 1:
        raise OptionError(f"A level of {level} is out of range; give a number between 0 and 1, such as 0.9.")


def check_counts(trues: float, judged: float, level: float) -> None:
    """Refuse counts and levels that no draw can give."""
    if not 0 <= trues <= judged:
        raise OptionError(f"{trues} true of {judged} judged cannot be; give 0 <= true <= judged.")
    check_level(level)


def clopper_pearson(trues: float, judged: float, level: float = 0.9) -> Interval:
    """Return the exact interval: for every truth it holds at least as often as it says, so it is long."""
    from scipy.special import betaincinv

    check_counts(trues, judged, level)
    tail = (1 - level) / 2
    low = 0.0 if trues == 0 else float(betaincinv(trues, judged - trues + 1, tail))
    high = 1.0 if trues == judged else float(betaincinv(trues + 1, judged - trues, 1 - tail))
    return Interval(low, high)


def anytime(trues: int, judged: int, level: float, total: int) -> Interval:
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
    check_counts(trues, judged, level)
    if judged > total:
        raise OptionError(f"{judged} were judged of a set of {total}; a triple is judged once.")
    lowest, highest = trues, total - (judged - trues)  # trues that the whole set can have
    mode = min(max(round(trues / judged * total), lowest), highest) if judged else lowest
    inside = _finite_test(trues, judged, level, total)
    low = first_to_hold(inside, lowest, mode)
    high = highest - first_to_hold(lambda back: inside(highest - back), 0, highest - mode)
    return Interval(low / total, high / total)


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


def first_to_hold(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first of low ... high where a test holds that, once true, stays true; ``high`` is known to hold."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


class Estimate(NamedTuple):
    """A share, its bounds, and how many independent answers the answers are worth."""

    share: float
    interval: Interval
    effective: float


def stratified(trues: IntArray, judged: IntArray, sizes: IntArray, level: float = 0.9) -> Estimate:
    """Estimate the share in a set from a random draw within each of its strata.

    Parameters
    ----------
    trues, judged, sizes : int array of shape (S,)
        Of each stratum: judged and true, judged, in the set. A stratum that nobody looked at may be anything, and its
        whole weight goes into the bounds.
    """
    weight = sizes / sizes.sum()
    seen = judged > 0
    if not seen.any():
        return Estimate(0.5, Interval(0.0, 1.0), 0.0)
    covered = float(weight[seen].sum())
    share = float((weight[seen] * trues[seen] / judged[seen]).sum() / covered)
    # A stratum where every answer was the same is not known exactly: its spread is taken between its own and all.
    pooled = (trues + 2 * share)[seen] / (judged[seen] + 2)
    left = 1 - judged[seen] / sizes[seen]
    variance = float(((weight[seen] / covered) ** 2 * left * pooled * (1 - pooled) / judged[seen]).sum())
    estimate = _korn_graubard(share, variance, float(judged.sum()), level)
    low, high = (covered * bound for bound in estimate.interval)
    return Estimate(share, Interval(low, high + 1 - covered), estimate.effective)


def clustered(trues: IntArray, judged: IntArray, total: int | None = None, level: float = 0.9) -> Estimate:
    """Estimate the share from whole clusters drawn at random, such as all accepted triples of some head entities.

    Parameters
    ----------
    trues, judged : int array of shape (C,)
        Of each drawn cluster: its true triples, its triples; all of a cluster's triples are judged.
    total : int, optional
        How many clusters there are to draw from.
    """
    from scipy.special import stdtrit

    clusters, answers = len(judged), float(judged.sum())
    if clusters < 2:
        return Estimate(float(trues.sum() / answers) if answers else 0.5, Interval(0.0, 1.0), 0.0)
    share = float(trues.sum() / answers)
    left = 1 - clusters / total if total else 1.0
    off = trues - share * judged
    variance = left * clusters / (clusters - 1) * float((off**2).sum()) / answers**2
    # Few clusters make the variance itself uncertain: Student's t in the place of the normal.
    shrink = (stdtrit(answers - 1, (1 + level) / 2) / stdtrit(clusters - 1, (1 + level) / 2)) ** 2
    return _korn_graubard(share, variance, answers, level, float(shrink), float(clusters))


def _korn_graubard(
    share: float, variance: float, answers: float, level: float, shrink: float = 1.0, least_known: float | None = None
) -> Estimate:
    """Return the exact interval at the effective number of answers (Korn and Graubard 1998), never more than asked."""
    if variance > 0 and 0 < share < 1:
        effective = min(answers, share * (1 - share) / variance * shrink)
    else:  # every answer the same: nothing shows how alike the answers of a cluster are, so a cluster is one answer
        effective = least_known or answers
    return Estimate(share, clopper_pearson(share * effective, effective, level), effective)
