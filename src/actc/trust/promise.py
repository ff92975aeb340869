"""Where to cut so that a precision can be promised?

Triples are ranked by how probably true they are; every length of that list is tried at once, under every draw of what
may be true (the pooled posterior, what the model may be off, the luck of a finite set). The longest list that keeps
the promise often enough is accepted. A precision must also be borne out by the answers themselves (``certify``).

Where machine judges spoke, they count for what they are worth in the order of the list and in what is expected of it;
how far that is off is found out by people's answers, as it is without judges (prediction-powered inference).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from actc.errors import OptionError
from actc.judges.heed import Heeded
from actc.numeric import cut_between
from actc.pooled.features import PreparedPool
from actc.pooled.model import Posterior
from actc.triples import Annotations, FloatArray, ScoredTriples, Thresholds
from actc.trust.certify import Weighed, chance_kept
from actc.trust.discrepancy import Answered, answers_left_out
from actc.trust.expect import EvenPart, JudgesHeard, take_evenly
from actc.trust.tuned import TUNED


@dataclass(frozen=True)
class Demand:
    """What is asked of the accepted set: at least this precision, with this probability."""

    target: float
    confidence: float = 0.9

    def __post_init__(self) -> None:
        if not 0 < self.target < 1:
            raise OptionError(f"A precision of {self.target} is out of range; give a share between 0 and 1.")
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
    least : float
        The least P(true) accepted, which is what decides where judges spoke; infinite where nothing is accepted.
    chance : float
        Posterior probability that the demand is met. NaN where nothing is accepted.
    left_out : tuple of str
        Relations of the target of which nothing is accepted.
    """

    demand: Demand
    cuts: FloatArray
    least: float
    chance: float
    left_out: tuple[str, ...]

    @property
    def accepts(self) -> bool:
        """Whether anything can be accepted under it."""
        return not np.isnan(self.chance)

    def thresholds(self, pool: ScoredTriples) -> Thresholds:
        """Return its cuts as those of the pool's relations."""
        own = np.ones(len(pool.relation_names), dtype=np.bool_)
        return Thresholds(pool.relation_names, self.cuts[:-1], float(self.cuts[-1]), own)


def promise(
    posterior: Posterior,
    annotations: Annotations,
    target: ScoredTriples,
    demands: Sequence[Demand],
    draws: int = 400,
    points: int = 2000,
    seed: int = 0,
    heeded: Heeded | None = None,
) -> list[Promise]:
    """Choose cuts that accept as many triples of the target as each demand allows.

    Parameters
    ----------
    posterior : Posterior
        The pooled fit on ``annotations``.
    target : ScoredTriples
        The set decided on; the pool itself, or new candidates like it.
    annotations : Annotations
        What was judged; the promise rests on the answers whose chance to be asked is known. Without any, nothing can be
        promised.
    heeded : Heeded, optional
        What judges add: where they spoke, they decide too.
    """
    random = np.random.default_rng(seed)
    part, judges = take_evenly(posterior.pool, target, points), JudgesHeard.of(heeded, target)
    p = judges.sway(part.draw(posterior, draws, random), part)
    rising = _rising(posterior, part)
    ranked = _Ranked(part, rising, judges.believe(part, rising))
    answered = _Answered.of(judges.tell(answers_left_out(posterior, annotations), annotations))
    luck = random.standard_normal((len(p), 1))  # the same for every demand: a promise does not depend on others
    return [_keep(demand, ranked, p, answered, posterior.pool, luck) for demand in demands]


def cuts_at(
    posterior: Posterior, target: ScoredTriples, shares: Sequence[float], points: int = 2000
) -> list[tuple[float, FloatArray]]:
    """Return the least P(true), and the cuts, (R + 1,), that accept shares of the target, the most probable first."""
    part = take_evenly(posterior.pool, target, points)
    rank = _rising(posterior, part)
    falling = -np.sort(-rank)
    bars = [float(falling[max(round(share * len(falling)), 1) - 1]) for share in shares]
    return [(bar, _cuts(part, rank, np.full(len(posterior.pool.relation_names) + 1, bar))) for bar in bars]


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Some triples of the target; P(true) of each by its score, rising within its relation; and with judges heard."""

    part: EvenPart
    rising: FloatArray
    rank: FloatArray


@dataclass(frozen=True, eq=False)
class _Answered:
    """What answers of known chance say by themselves.

    ``probabilities`` (a,): what the model would have said without the answer, falling; ``residuals``: what the first so
    many answers are worth, their residuals as values.
    """

    probabilities: FloatArray
    residuals: Weighed

    @classmethod
    def of(cls, answers: Answered) -> _Answered:
        proving = np.flatnonzero(answers.weights > 0)
        order = proving[np.argsort(-answers.probabilities[proving], kind="stable")]
        worth = Weighed.of(answers.residuals[order], answers.weights[order], answers.drawn[order])
        return cls(answers.probabilities[order], worth)


def _keep(
    demand: Demand,
    ranked: _Ranked,
    p: FloatArray,
    answered: _Answered,
    pool: PreparedPool,
    luck: FloatArray,
) -> Promise:
    names, part = pool.relation_names, ranked.part
    least, chance = _longest_borne_out(demand, p, ranked.rank, answered, part.weights[0], luck)
    cuts = _cuts(part, ranked.rising, np.full(len(names) + 1, least))
    cuts[-1] = np.inf  # nothing was judged there, nothing can be promised
    there, taken = np.unique(part.relations), np.unique(part.relations[ranked.rank >= least])
    left_out = tuple(names[at] for at in np.setdiff1d(there, taken).tolist() if at < len(names))
    return Promise(demand, cuts, least, chance, left_out)


def _longest_borne_out(
    demand: Demand, p: FloatArray, rank: FloatArray, answered: _Answered, scale: float, luck: FloatArray
) -> tuple[float, float]:
    """Return the least probability accepted, and how sure the promise is, by the model and by the answers, each alone.

    What the answers inside a list say is set against what the model expected of them, not of the list. But there must
    be some in its last part.
    """
    order = np.argsort(-rank, kind="stable")
    bars, count = rank[order], np.arange(1, len(order) + 1)
    shares, sizes = np.cumsum(p[:, order], axis=1) / count, np.asarray(count * scale, dtype=np.float64)
    expected = shares.mean(axis=0)
    inside = np.searchsorted(-answered.probabilities, -bars, side="right")
    judged, whole = answered.residuals.counts[inside], answered.residuals.whole[inside]
    trues = np.clip(judged * (expected + answered.residuals.means[inside]), 0, judged)
    lucky = shares + luck * np.sqrt(shares * (1 - shares) / sizes)
    chance = np.minimum(
        (lucky >= demand.target).mean(axis=0), chance_kept(demand.target, trues, judged, sizes, expected)
    )
    before = whole[np.maximum((1 - TUNED.last_part) * count, 1).astype(np.int64) - 1]
    answered_for = (judged > 0) & (whole - before >= TUNED.least_due * TUNED.last_part * whole)
    ends = np.append(bars[1:] < bars[:-1], True)  # triples of one probability are accepted together
    kept = np.flatnonzero((chance >= demand.confidence) & answered_for & ends)
    return (float(bars[kept[-1]]), float(chance[kept[-1]])) if kept.size else (np.inf, np.nan)


def _rising(posterior: Posterior, part: EvenPart) -> FloatArray:
    """Return P(true) of each sampled triple, made rising with the score within its relation."""
    lifted = posterior.probabilities(part.x, part.relations) + 2.0 * part.relations  # each above the one before it
    return np.asarray(np.maximum.accumulate(lifted) - 2.0 * part.relations)


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
