"""How many of the accepted triples are true? Judge a random slice of them, and say so without any model.

What comes out depends on how the slice was drawn and on its answers alone: not on the scores, not on how thresholds
were found or which triples were judged before. Unsure answers are the caller's to leave out or to count as false.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from actc.data.triples import Annotations, IntArray, ScoredTriples
from actc.decide.intervals import Estimate, Interval, anytime, clopper_pearson, clustered, first_to_hold, stratified
from actc.decide.words import CANDIDATES, Sought
from actc.errors import OptionError, check_choice, choose


def draw_slice(accepted: ScoredTriples, count: int, design: str, random: np.random.Generator) -> IntArray:
    """Return rows of the accepted triples to judge, in the order to judge them.

    Parameters
    ----------
    accepted : ScoredTriples
        The set in question.
    count : int
        How many answers one is ready to give; with whole clusters a few more or less.
    design : {"simple", "relation", "head"}
        A plain draw; a draw within each relation; all accepted triples of randomly drawn head entities.
    """
    check_choice("design of an audit", design, DESIGNS)
    if count < 1:
        raise OptionError(f"{count} answers audit nothing; ask for at least 1.")
    return DESIGNS[design](accepted, min(count, len(accepted)), random)


def draw_simple(accepted: ScoredTriples, count: int, random: np.random.Generator) -> IntArray:
    """Draw triples alike; one may stop at any time."""
    return random.permutation(len(accepted))[:count]


def draw_by_relation(accepted: ScoredTriples, count: int, random: np.random.Generator) -> IntArray:
    """Draw within each relation, in proportion to its size, at least one of each as far as the count reaches."""
    wanted = _allocate(accepted.relation_counts, count)
    shuffled = random.permutation(len(accepted))
    grouped = shuffled[np.argsort(accepted.relations[shuffled], kind="stable")]
    starts = np.cumsum(accepted.relation_counts) - accepted.relation_counts
    rank = np.arange(len(accepted)) - np.repeat(starts, accepted.relation_counts)
    return random.permutation(grouped[rank < wanted[accepted.relations[grouped]]])


def _allocate(sizes: IntArray, count: int) -> IntArray:
    """Share ``count`` out in proportion to sizes (largest remainder), one for each group before any gets more."""
    first = np.zeros(len(sizes), dtype=np.int64)
    largest = np.argsort(-sizes, kind="stable")[:count]
    first[largest] = sizes[largest] > 0
    exact = (sizes - first) * (count - first.sum()) / max(1, (sizes - first).sum())
    more = exact.astype(np.int64)
    remainder = np.argsort(more - exact, kind="stable")[: count - first.sum() - more.sum()]
    more[remainder] += 1
    return np.asarray(np.minimum(first + more, sizes))


def draw_by_head(accepted: ScoredTriples, count: int, random: np.random.Generator) -> IntArray:
    """Draw head entities and take all of their triples: one look at an entity answers several questions."""
    heads, cluster = np.unique(accepted.heads, return_inverse=True)
    place = random.permutation(len(heads))[cluster]  # where each triple's cluster comes in the order of drawing
    order = np.argsort(place, kind="stable")
    taken = np.searchsorted(np.cumsum(np.bincount(place)), count) + 1
    return order[place[order] < taken]


@dataclass(frozen=True)
class Audit:
    """What the answers on a slice say about the whole accepted set.

    Parameters
    ----------
    design : str
        How the slice was drawn.
    total, judged, trues : int
        Accepted triples; those of the slice with an answer; those answered "true".
    share : float
        Estimated share of true triples in the accepted set; NaN before the first answer.
    intervals : dict of str to Interval
        Bounds of that share. A simple slice has two kinds; the other designs have their own.
    headline : str
        The kind to quote: "anytime" for a simple slice, because people look at the answers as they come.
    level : float
        What the bounds promise.
    effective : float
        How many answers of a simple slice these answers are worth.
    """

    design: str
    total: int
    judged: int
    trues: int
    share: float
    intervals: dict[str, Interval]
    headline: str
    level: float
    effective: float

    @property
    def interval(self) -> Interval:
        """The bounds to quote."""
        return self.intervals[self.headline]


def assess(accepted: ScoredTriples, answers: Annotations, design: str = "simple", level: float = 0.9) -> Audit:
    """Estimate the share of true triples among the accepted ones from the answers on a slice.

    Parameters
    ----------
    accepted : ScoredTriples
        The whole accepted set.
    answers : Annotations
        Answers on rows that :func:`draw_slice` drew with the same design.
    """
    return choose("design of an audit", design, _READERS)(accepted, answers, level)


def _read_simple(accepted: ScoredTriples, answers: Annotations, level: float) -> Audit:
    total, judged, trues = len(accepted), len(answers), int(answers.labels.sum())
    found = {
        "anytime": anytime(trues, judged, level, total),
        "clopper-pearson": clopper_pearson(trues, judged, level),
    }
    return Audit("simple", total, judged, trues, trues / judged if judged else np.nan, found, "anytime", level, judged)


def _read_by_relation(accepted: ScoredTriples, answers: Annotations, level: float) -> Audit:
    judged, trues = _by_group(accepted.relations, len(accepted.relation_names), answers)
    estimate = stratified(trues, judged, accepted.relation_counts, level)
    return _audit_of("relation", accepted, judged, trues, estimate, level)


def _read_by_head(accepted: ScoredTriples, answers: Annotations, level: float) -> Audit:
    heads, groups = np.unique(accepted.heads, return_inverse=True)
    judged, trues = _by_group(groups, len(heads), answers)
    whole = (judged == np.bincount(groups)) & (judged > 0)  # a half-judged entity is not yet drawn
    estimate = clustered(trues[whole], judged[whole], len(heads), level)
    return _audit_of("head", accepted, judged[whole], trues[whole], estimate, level)


def _audit_of(
    design: str, accepted: ScoredTriples, judged: IntArray, trues: IntArray, estimate: Estimate, level: float
) -> Audit:
    counts = len(accepted), int(judged.sum()), int(trues.sum())
    share = estimate.share if counts[1] else np.nan
    return Audit(design, *counts, share, {design: estimate.interval}, design, level, estimate.effective)


def _by_group(groups: IntArray, size: int, answers: Annotations) -> tuple[IntArray, IntArray]:
    mine = groups[answers.rows]
    return np.bincount(mine, minlength=size), np.bincount(mine[answers.labels], minlength=size)


def answers_to_certify(audit: Audit, target: float) -> int | None:
    """Return how many more answers put the lower bound at the target, if they come out as before.

    0 where it is there already; None where it is out of reach: the share seen so far is not above the target. Other
    designs than the simple one are reckoned by what their answers were worth so far.
    """
    if not 0 < target < 1:
        raise OptionError(f"A target of {target} is out of range; give a share between 0 and 1, such as 0.9.")
    if audit.interval.low >= target:
        return 0
    if not audit.judged or audit.share <= target:
        return None
    found = answers_for(target, audit.share, audit.total, audit.level, audit.effective / audit.judged, audit.judged + 1)
    return None if found is None else found - audit.judged


def answers_for(
    target: float, share: float, total: int, level: float = 0.9, worth: float = 1.0, least: int = 1
) -> int | None:
    """Return how many answers put the lower bound at the target, where a share of them is true; None if none do.

    ``total`` triples are accepted; an answer counts as ``worth`` of a simple draw; ``least`` are there in any case.
    """

    def reached(judged: int) -> bool:
        answers = max(1, round(judged * worth))
        return anytime(round(share * answers), answers, level, total).low >= target

    return first_to_hold(reached, least, total) if total >= least and reached(total) else None


def write_verdict(target: float, more: int | None, sought: Sought = CANDIDATES) -> str:
    """Say whether a target is certified, and how many answers are missing if it is not."""
    if more == 0:
        return f"Certified: at least {target:g} of the {sought.found} are {sought.true}."
    if more is None:
        return f"Not certified, and out of reach while the judged share is not clearly above {target:g}."
    return f"Not certified yet: about {more:,} more answers would do it, if they come out like those so far."


DESIGNS: dict[str, Callable[[ScoredTriples, int, np.random.Generator], IntArray]] = {
    "simple": draw_simple,
    "relation": draw_by_relation,
    "head": draw_by_head,
}

_READERS: dict[str, Callable[[ScoredTriples, Annotations, float], Audit]] = {
    "simple": _read_simple,
    "relation": _read_by_relation,
    "head": _read_by_head,
}
