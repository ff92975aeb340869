"""Where to cut so that a promise can be made? Precision, recall or cost on demand.

Triples are ranked by how probably true they are; every length of that list is tried at once, under every draw of what
may be true (the pooled posterior, what the model may be off, the luck of a finite set). The longest list that keeps
the promise often enough is accepted. A precision must also be borne out by the answers themselves (``certify``); where
these allow more by one cut for all relations, that is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from actc.errors import OptionError
from actc.numeric import cut_between
from actc.pooled.features import PreparedPool
from actc.pooled.model import Posterior
from actc.triples import Annotations, BoolArray, FloatArray, IntArray, ScoredTriples
from actc.trust.certify import chance_kept, lowest_cut
from actc.trust.discrepancy import Looks, correct, look
from actc.trust.expect import EvenPart, take_evenly
from actc.trust.tuned import TUNED


@dataclass(frozen=True)
class Demand:
    """What is asked of the accepted set.

    Parameters
    ----------
    kind : {"precision", "recall", "cost"}
    target : float
        The least precision or recall. For cost: what a false accept costs, in false rejects.
    confidence : float
        How probable it should be that the target is met; cost is met on average.
    each : bool
        Ask it of each relation by itself instead of all together.
    """

    kind: str
    target: float
    confidence: float = 0.9
    each: bool = False

    def __post_init__(self) -> None:
        if self.kind not in _CHOOSERS:
            raise OptionError(f"Nobody can demand {self.kind!r}; choose one of: {', '.join(_CHOOSERS)}.")
        if self.kind == "cost" and not 0 < self.target < np.inf:
            raise OptionError(f"A cost of {self.target} is out of range; give a positive number.")
        if self.kind != "cost" and not 0 < self.target < 1:
            raise OptionError(f"A {self.kind} of {self.target} is out of range; give a share between 0 and 1.")
        if not 0.5 <= self.confidence < 1:
            raise OptionError(f"A confidence of {self.confidence} is out of range; give 0.5 to 1, such as 0.95.")


@dataclass(frozen=True, eq=False)
class Promise:
    """Cuts that meet a demand as far as can be told.

    Parameters
    ----------
    demand : Demand
    cuts : float array of shape (R + 1,)
        In scores; infinite where nothing is accepted. The last is for relations that the pool does not have.
    chance : float
        Posterior probability that the demand is met; of the least sure relation, where each was asked. NaN where
        nothing is accepted.
    left_out : tuple of str
        Relations of the target of which nothing is accepted.
    """

    demand: Demand
    cuts: FloatArray
    chance: float
    left_out: tuple[str, ...]


def promise(
    posterior: Posterior,
    annotations: Annotations,
    target: ScoredTriples,
    demands: Sequence[Demand],
    draws: int = 400,
    points: int = 2000,
    seed: int = 0,
    drawn: BoolArray | None = None,
) -> list[Promise]:
    """Choose cuts that accept as many triples of the target as each demand allows.

    Parameters
    ----------
    posterior : Posterior
        The pooled fit on ``annotations``.
    target : ScoredTriples
        The set decided on; the pool itself, or new candidates like it.
    drawn : bool array of shape (l,), optional
        Which answers are on triples that were drawn at random, from the pool or from what would be accepted; all of
        them, from the pool, if not given.
    """
    random = np.random.default_rng(seed)
    posterior = posterior.fitted or posterior  # lines that labels overruled agree with those labels too well
    part = take_evenly(posterior.pool, target, points)
    p = part.draw(posterior, draws, random)
    rank = _rising(posterior, part)
    # However a triple was picked, its own answer had no part in it: as a check of bad news every answer will do.
    looks = look(posterior, annotations, np.ones(len(annotations), dtype=np.bool_))
    names = posterior.pool.relation_names
    answered = _Answered.of(posterior, annotations, looks, np.ones_like(annotations.labels) if drawn is None else drawn)
    return [
        _keep_precision(demand, part, p, rank, answered, posterior.pool, random)
        if demand.kind == "precision" and not demand.each
        else _keep(demand, part, p, rank, looks, names, random)
        for demand in demands
    ]


@dataclass(frozen=True, eq=False)
class _Answered:
    """What answers on random draws say by themselves.

    ``probabilities`` (a,): what the model would have said without the answer, falling; ``surplus`` (a + 1,): true
    answers among the first so many, less what the model expected; ``z``, ``labels`` (u,): normal scores and answers,
    where all were drawn from the whole pool.
    """

    probabilities: FloatArray
    surplus: FloatArray
    z: FloatArray
    labels: BoolArray

    @classmethod
    def of(cls, posterior: Posterior, annotations: Annotations, looks: Looks, drawn: BoolArray) -> _Answered:
        probabilities, residuals = looks.probabilities[drawn], looks.residuals[drawn]
        order = np.argsort(-probabilities, kind="stable")
        surplus = np.append(0.0, np.cumsum(residuals[order]))
        pool, rows = posterior.pool, annotations.rows[drawn.all() & drawn]
        z = pool.x[rows] + pool.features["c"][pool.relations[rows]]
        return cls(probabilities[order], surplus, z, annotations.labels[drawn.all() & drawn])


def _keep_precision(
    demand: Demand,
    part: EvenPart,
    p: FloatArray,
    rank: FloatArray,
    answered: _Answered,
    pool: PreparedPool,
    random: np.random.Generator,
) -> Promise:
    names = pool.relation_names
    bar, chance = _longest_borne_out(demand, p, rank, answered, part.weights[0], random)
    cuts = _cuts(part, rank, np.full(len(names) + 1, bar))
    lowest = lowest_cut(answered.z, answered.labels, part.total, demand.target, demand.confidence)
    one_cut = float(pool.normal.to_cuts(np.array([lowest - 1e-9]))[0])  # just below: the lowest one is accepted
    if (part.scores >= one_cut).sum() > (rank >= bar).sum():
        cuts, chance = np.full(len(names) + 1, one_cut), demand.confidence
    cuts[-1] = np.inf  # nothing was judged there, nothing can be promised
    left_out = tuple(names[at] for at in np.unique(part.relations).tolist() if at < len(names) and cuts[at] == np.inf)
    return Promise(demand, cuts, chance, left_out)


def _longest_borne_out(
    demand: Demand, p: FloatArray, rank: FloatArray, answered: _Answered, scale: float, random: np.random.Generator
) -> tuple[float, float]:
    """Return the least probability accepted, and how sure the promise is, by the model and by the answers, each alone.

    What the answers inside a list say is set against what the model expected of them, not of the list: so it does not
    matter that answers are more frequent in one part of it than in another. But there must be some in its last part.
    """
    order = np.argsort(-rank, kind="stable")
    bars, count = rank[order], np.arange(1, len(order) + 1)
    shares, sizes = np.cumsum(p[:, order], axis=1) / count, np.asarray(count * scale, dtype=np.float64)
    expected = shares.mean(axis=0)
    judged = np.searchsorted(-answered.probabilities, -bars, side="right")
    trues = np.clip(judged * expected + answered.surplus[judged], 0, judged)
    lucky = shares + random.standard_normal((len(p), 1)) * np.sqrt(shares * (1 - shares) / sizes)
    chance = np.minimum(
        (lucky >= demand.target).mean(axis=0), chance_kept(demand.target, trues, judged, sizes, expected)
    )
    before = judged[np.maximum((1 - TUNED.last_part) * count, 1).astype(np.int64) - 1]
    answered_for = judged - before >= TUNED.least_due * TUNED.last_part * judged
    whole = np.append(bars[1:] < bars[:-1], True)
    kept = np.flatnonzero((chance >= demand.confidence) & answered_for & whole)
    return (float(bars[kept[-1]]), float(chance[kept[-1]])) if kept.size else (np.inf, np.nan)


def _keep(
    demand: Demand,
    part: EvenPart,
    p: FloatArray,
    rank: FloatArray,
    looks: Looks,
    names: tuple[str, ...],
    random: np.random.Generator,
) -> Promise:
    present = np.unique(part.relations).tolist()
    bar = np.full(len(names) + 1, np.inf)  # the least probability that is accepted, by relation
    chances = []
    for code in present if demand.each else [None]:
        mine = np.flatnonzero(part.relations == code) if code is not None else np.arange(len(rank))
        seen = looks.relations == code if code is not None else np.ones(len(looks.labels), dtype=np.bool_)
        lists = _Lists.of(p[:, mine], rank[mine], looks, seen, part.weights[0], demand.confidence, random)
        length, chance = _CHOOSERS[demand.kind](lists, demand)
        if length:
            bar[slice(None) if code is None else code] = lists.bars[length - 1]
            chances.append(chance)
    cuts = _cuts(part, rank, bar)
    cuts[-1] = -np.inf if demand.kind == "recall" else np.inf  # nothing was judged there, nothing can be promised
    left_out = tuple(names[at] for at in present if at < len(names) and cuts[at] == np.inf)
    return Promise(demand, cuts, min(chances, default=np.nan), left_out)


def _rising(posterior: Posterior, part: EvenPart) -> FloatArray:
    """Return P(true) of each sampled triple, made rising with the score within its relation."""
    lifted = posterior.probabilities(part.x, part.relations) + 2.0 * part.relations  # each above the one before it
    return np.asarray(np.maximum.accumulate(lifted) - 2.0 * part.relations)


@dataclass(frozen=True, eq=False)
class _Lists:
    """Every list that takes the most probable triples first; entry k - 1 is the list of length k.

    ``bars`` (K,): the least probability in each; ``sizes`` (K,): triples of the target in it; ``accepted`` and
    ``rejected`` (draws, K): share of true triples in the list, and outside of it; ``whole`` (K,): False where
    a list would part triples of one probability.
    """

    bars: FloatArray
    sizes: FloatArray
    rest: FloatArray
    accepted: FloatArray
    rejected: FloatArray
    whole: BoolArray

    @classmethod
    def of(
        cls,
        p: FloatArray,
        rank: FloatArray,
        looks: Looks,
        seen: BoolArray,
        scale: float,
        confidence: float,
        random: np.random.Generator,
    ) -> _Lists:
        order = np.argsort(-rank, kind="stable")
        bars, count = rank[order], np.arange(1, len(order) + 1)
        sums = np.cumsum(p[:, order], axis=1)
        left = len(count) - count
        outside = (sums[:, -1:] - sums) / np.maximum(left, 1)
        told = np.argsort(-looks.probabilities[seen], kind="stable")
        heard, residuals = looks.probabilities[seen][told], looks.residuals[seen][told]
        place = np.searchsorted(-heard, -bars, side="right")  # looks that each list accepts
        sizes, rest = np.asarray(count * scale), np.asarray(left * scale)
        accepted = _widen(sums / count, place, residuals, sizes, confidence, random)
        rejected = _widen(
            outside, len(heard) - place, residuals[::-1], np.maximum(rest, 1), confidence, random, upward=True
        )
        return cls(bars, sizes, rest, accepted, rejected, np.append(bars[1:] < bars[:-1], True))


def _widen(
    shares: FloatArray,
    place: IntArray,
    residuals: FloatArray,
    sizes: FloatArray,
    confidence: float,
    random: np.random.Generator,
    upward: bool = False,
) -> FloatArray:
    """Add to drawn shares what the model may be off, given the first ``place`` residuals, and a finite set's luck."""
    from scipy.special import ndtri, stdtrit

    sums, squares = np.append(0, np.cumsum(residuals)), np.append(0, np.cumsum(residuals**2))
    off = correct(shares.mean(axis=0), place, sums[place], squares[place])
    wide = np.maximum(
        place, min(TUNED.window, len(residuals))
    )  # bad news from just below a short list is news about it
    alone = correct(shares.mean(axis=0), wide, sums[wide], squares[wide], alone=True)
    news = (1 if upward else -1) * alone.mean
    off = off.where((wide >= TUNED.window) & (news > TUNED.contradicts * alone.scale), alone)
    tail = max(confidence, 0.8)
    scale = off.scale * stdtrit(off.degrees, tail) / ndtri(tail)  # a normal with the t's quantile where it matters
    scale = scale * np.sqrt(1 + TUNED.unseen / (1 + place))
    error, luck = random.standard_normal((2, len(shares), 1))
    # The longest list is the luckiest one: good news from a few looks would be counted twice, so only bad news counts.
    bad_news = np.maximum(off.mean, 0) if upward else np.minimum(off.mean, 0)
    shares = np.clip(shares + bad_news + scale * error, 0, 1)
    return np.asarray(np.clip(shares + luck * np.sqrt(shares * (1 - shares) / sizes), 0, 1))


def _choose_precision(lists: _Lists, demand: Demand) -> tuple[int, float]:
    chance = (lists.accepted >= demand.target).mean(axis=0)
    kept = np.flatnonzero((chance >= demand.confidence) & lists.whole)
    return (int(kept[-1]) + 1, float(chance[kept[-1]])) if kept.size else (0, np.nan)


def _choose_recall(lists: _Lists, demand: Demand) -> tuple[int, float]:
    found, missed = lists.accepted * lists.sizes, lists.rejected * lists.rest
    chance = (found >= demand.target * (found + missed)).mean(axis=0)
    kept = np.flatnonzero((chance >= demand.confidence) & lists.whole)  # the whole set finds everything
    return int(kept[0]) + 1, float(chance[kept[0]])


def _choose_cost(lists: _Lists, demand: Demand) -> tuple[int, float]:
    wrong = (1 - lists.accepted) * lists.sizes * demand.target
    cost = np.where(lists.whole, (wrong + lists.rejected * lists.rest).mean(axis=0), np.inf)
    nothing = float((lists.accepted[:, -1] * lists.sizes[-1]).mean())
    best = int(np.argmin(cost))
    return (best + 1, 1.0) if cost[best] < nothing else (0, np.nan)


def _cuts(part: EvenPart, rank: FloatArray, bar: FloatArray) -> FloatArray:
    """Return each relation's cut in scores: midway between the last rejected and the first accepted sampled triple."""
    cuts = np.full(len(bar), np.inf)
    takes = rank >= bar[part.relations]
    first = np.flatnonzero(takes & np.r_[True, (part.relations[1:] != part.relations[:-1]) | ~takes[:-1]])
    codes = part.relations[first]
    before = np.maximum(first - 1, 0)
    alone = (first == 0) | (part.relations[before] != codes)
    cuts[codes] = np.where(alone, part.scores[first], cut_between(part.scores[before], part.scores[first]))
    return cuts


_CHOOSERS: dict[str, Callable[[_Lists, Demand], tuple[int, float]]] = {
    "precision": _choose_precision,
    "recall": _choose_recall,
    "cost": _choose_cost,
}
