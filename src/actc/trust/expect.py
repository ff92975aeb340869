"""How good are the decisions? Accuracy, precision, recall and F1, each with an interval, overall and by relation.

Draws of the pooled posterior, plus what the model may be off (see ``discrepancy``), plus the luck of a finite set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from actc.judges.heed import EDGE, Heeded
from actc.numeric import even_places, logit, sigmoid
from actc.pooled.draws import draw_probabilities
from actc.pooled.features import PreparedPool
from actc.pooled.model import Posterior
from actc.triples import Annotations, BoolArray, FloatArray, IntArray, ScoredTriples
from actc.trust.discrepancy import Answered, Correction, answers_left_out, correct, misfit, with_own_answers
from actc.trust.intervals import Interval
from actc.trust.tuned import TUNED

QUANTITIES = ("accuracy", "precision", "recall", "f1")
MOST_RELATIONS, RELATION_POINTS, LEAST_POINTS = 1000, 6000, 6
"""Relations of which something is said, the largest; points for all of them together; the least for one."""


@dataclass(frozen=True, eq=False)
class EvenPart:
    """Some triples that stand for a target set, evenly spread over relations and scores.

    Parameters
    ----------
    rows : int array of shape (K,)
        Their rows in the set.
    relations : int array of shape (K,)
        Codes in the pool, rising; R for any other relation.
    x, scores : float array of shape (K,)
        Centred and plain scores.
    weights : float array of shape (K,)
        How many triples of the set each stands for.
    """

    rows: IntArray
    relations: IntArray
    x: FloatArray
    scores: FloatArray
    weights: FloatArray

    @property
    def total(self) -> float:
        """How many triples they stand for."""
        return float(self.weights.sum())

    def draw(self, posterior: Posterior, draws: int, random: np.random.Generator) -> FloatArray:
        """Return P(true) of each triple under each drawn set of lines, shape (draws, K)."""
        return draw_probabilities(posterior, self.relations, self.x, draws, random)


@lru_cache(maxsize=8)  # tables are frozen and compared by identity, so the same target is sorted once
def take_evenly(pool: PreparedPool, target: ScoredTriples, points: int) -> EvenPart:
    """Take every so-many-th triple of the target, sorted by relation and score."""
    codes = pool.relation_codes(target)
    order = np.lexsort((target.scores, codes))
    count = min(points, len(target))
    rows = order[even_places(len(target), count)]
    return _part_of(pool, target, codes, rows, np.full(count, len(target) / count))


@lru_cache(maxsize=8)
def take_evenly_by_relation(pool: PreparedPool, target: ScoredTriples) -> EvenPart:
    """Take some triples of each relation, evenly spread over its scores; of many relations, of the largest only."""
    codes = pool.relation_codes(target)
    order = np.lexsort((target.scores, codes))
    _, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
    largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_RELATIONS])
    starts, counts = starts[largest], counts[largest]
    each = np.minimum(counts, max(RELATION_POINTS // len(largest), LEAST_POINTS))
    ends = np.cumsum(each)
    step = np.arange(ends[-1]) - np.repeat(ends - each, each)
    places = np.repeat(starts, each) + ((step + 0.5) * np.repeat(counts / each, each)).astype(np.int64)
    return _part_of(pool, target, codes, order[places], np.repeat(counts / each, each))


def _part_of(
    pool: PreparedPool, target: ScoredTriples, codes: IntArray, rows: IntArray, weights: FloatArray
) -> EvenPart:
    return EvenPart(rows, codes[rows], pool.centred(target.scores[rows], codes[rows]), target.scores[rows], weights)


@dataclass(frozen=True, eq=False)
class Quality:
    """Draws of how good the decisions on a set will turn out, each of shape (draws,); NaN where undefined."""

    accuracy: FloatArray
    precision: FloatArray
    recall: FloatArray
    f1: FloatArray
    triples: int
    accepted: int

    def interval(self, quantity: str, level: float = 0.9) -> Interval:
        """Return the central interval of a quantity; nothing is known of an undefined one."""
        values = getattr(self, quantity)
        if np.isnan(values).any():
            return Interval(0.0, 1.0)
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        return Interval(float(low), float(high))

    def middle(self, quantity: str) -> float:
        """Return the expected value of a quantity."""
        return float(np.mean(getattr(self, quantity)))


@dataclass(frozen=True)
class Share:
    """A share with its interval."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, quality: Quality, quantity: str, level: float) -> Share | None:
        """Read it off draws; None where it is undefined."""
        middle = quality.middle(quantity)
        return None if np.isnan(middle) else cls(middle, *quality.interval(quantity, level))

    def __str__(self) -> str:
        return f"{self.middle:.1%} ({self.low:.1%} to {self.high:.1%})"


@dataclass(frozen=True, eq=False)
class Expectation:
    """What may be believed of a set of decisions.

    Parameters
    ----------
    overall : Quality
    relations : dict of str to Quality
        Of the relations that the target has, of many of the largest; these rest on the model, shifted as a whole by
        what the answers say.
    source : {"model", "holdout", "model and answers", "answers"}
        What the overall numbers rest on.
    checks : int
        How many answers had a known chance to be asked.
    misfit : float
        How surprising they are to the model: a p-value.
    """

    overall: Quality
    relations: dict[str, Quality]
    source: str
    checks: int
    misfit: float


def expect(
    posterior: Posterior,
    cuts: FloatArray,
    annotations: Annotations,
    target: ScoredTriples,
    draws: int = 400,
    points: int = 2000,
    seed: int = 0,
    each: bool = True,
    settled: Annotations | None = None,
    heeded: Heeded | None = None,
    least: float = 0.5,
    accepted: BoolArray | None = None,
    lowered: FloatArray | None = None,
) -> Expectation:
    """Say how good decisions will turn out on a target set.

    Parameters
    ----------
    posterior : Posterior
        The pooled fit on ``annotations``.
    cuts : float array of shape (R + 1,)
        Where each relation of the pool is cut, in scores; the last is for any other relation.
    annotations : Annotations
        What was judged, with the chance that each answer had to be asked.
    target : ScoredTriples
        The set decided on; the pool itself, or new candidates like it.
    each : bool
        Whether to say it of each relation too.
    settled : Annotations, optional
        Triples of the target that are decided by people's answers, whatever the cuts say: these are taken as right.
    heeded : Heeded, optional
        What judges add: where they spoke, they decide.
    least : float
        P(true) from which on a triple is accepted where they spoke.
    accepted : bool array of shape (M,), optional
        What is accepted of the target where people's answers do not decide; by the cuts and the judges if not given.
    lowered : float array of shape (M,), optional
        Log-odds to add to each triple's: what else is known of it, such as that a rival is more probable.
    """
    random = np.random.default_rng(seed)
    judges = JudgesHeard.of(heeded, target, least)
    took = judges.decide(posterior.pool, target, cuts) if accepted is None else accepted
    judges = judges if lowered is None else judges.plus(lowered)
    part = take_evenly(posterior.pool, target, points)
    p = judges.sway(part.draw(posterior, draws, random), part)
    accepted = took[part.rows]
    answers = judges.tell(answers_left_out(posterior, annotations), annotations)
    above = judges.place(answers_above(posterior, answers, cuts), answers, annotations)
    known = _Settled.of(posterior.pool, target, took, settled)
    sides = (p[:, accepted], p[:, ~accepted])
    surprise = misfit(answers, above, (_spread(sides[0]), _spread(sides[1])))
    checks = int(annotations.proves.sum())
    alone = surprise < TUNED.surprise and checks >= TUNED.enough_checks
    p = np.broadcast_to(p.mean(axis=0), p.shape)  # what the model admits itself is part of what answers correct
    beliefs = (believe(int(above.sum())), believe(int((~above).sum())))
    # An answer is asked where few others are: without it, a fit is worse than with it; with it, the fit agrees with it
    # too well. Nobody knows which is nearer to the truth, so half of the draws rest on the one, half on the other.
    # A plain random draw is asked nowhere on purpose: there the fit without the answer is the one to trust.
    ways = [(answers, above)]
    if not answers.plain_draw:
        ways.append(judges.as_decided(posterior, cuts, annotations))
    shifts = [
        np.concatenate(
            [
                _correct_share(side, told, took == inside, believed, alone, judges.left).draw(len(part_of), random)
                for (told, took), part_of in zip(ways, np.array_split(np.arange(draws), len(ways)), strict=True)
            ]
        )
        for side, inside, believed in zip(sides, (True, False), beliefs, strict=True)
    ]
    overall = _Tally.of(part, p, accepted, shifts, known, random).quality()
    relations = _expect_relations(posterior, took, target, shifts, alone, judges, known, random) if each else {}
    source = "answers" if alone else "model and answers" if checks else "model"
    return Expectation(overall, relations, source, checks, surprise)


def _expect_relations(
    posterior: Posterior,
    accepted: BoolArray,
    target: ScoredTriples,
    shifts: list[FloatArray],
    alone: bool,
    judges: JudgesHeard,
    known: _Settled,
    random: np.random.Generator,
) -> dict[str, Quality]:
    part = take_evenly_by_relation(posterior.pool, target)
    p = judges.sway(part.draw(posterior, len(shifts[0]), random), part)
    if alone:
        p = np.broadcast_to(p.mean(axis=0), p.shape)
    tally = _Tally.of(part, p, accepted[part.rows], shifts, known, random)
    names = posterior.pool.relation_names
    return {names[at]: tally.quality(at) for at in np.unique(part.relations).tolist() if at < len(names)}


def answers_above(posterior: Posterior, answers: Answered, cuts: FloatArray) -> BoolArray:
    """Say of each answered triple whether it would be accepted had its answer not moved its relation's line."""
    codes = np.arange(len(cuts))
    finite = np.where(np.isfinite(cuts), cuts, 0.0)
    x = posterior.pool.centred(finite, codes)
    level = np.where(np.isfinite(cuts), posterior.logits(x, codes), cuts)
    return np.asarray(answers.logits >= level[answers.relations])


def log_odds(p: FloatArray) -> FloatArray:
    """Return the log-odds of probabilities, of which none counts as quite sure."""
    return logit(np.clip(p, EDGE, 1 - EDGE))


def believe(answers: int) -> float:
    """Return how large the error of a set's share of true triples is believed to be, in units of sqrt(p (1 - p)).

    Parameters
    ----------
    answers : int
        How many answers there are on triples of the set, however they were picked.
    """
    return float(TUNED.believed * np.sqrt(1 + TUNED.first_doubt / (1 + answers / TUNED.doubt_lasts)))


def _correct_share(
    p: FloatArray, answers: Answered, mine: BoolArray, believed: float, alone: bool, left: float
) -> Correction:
    """Return the correction of one set's share of true triples; where no answer is, answers cannot stand alone."""
    share = np.asarray(p.mean() if p.size else 0.5)
    count, total, squares = answers.sums(mine)
    return correct(share, count, total, squares, alone and bool(count > 0), believed, _spread(p), left)


def _spread(p: FloatArray) -> float:
    return float(p.mean(axis=1).var()) if p.size else 0.0


@dataclass(frozen=True, eq=False)
class JudgesHeard:
    """What judges change: nothing, where there are none."""

    spoken: BoolArray | None = None  # (N,) where in the pool a judge said true or false
    shift: FloatArray | None = None  # (N,) the log-odds that they add there
    told: FloatArray | None = None  # (N,) P(true) there
    foreseen: FloatArray | None = None  # (l,) P(true) of the answered triples without their answers
    in_pool: IntArray | None = None  # (M,) where each triple of the target stands in the pool, N where it does not
    moved: FloatArray | None = None  # (M,) the log-odds that they add to each triple of the target
    left: float = 1.0  # the variance that judges leave of what nobody knows
    least: float = 0.5  # P(true) from which on a triple is accepted

    @classmethod
    def of(cls, heeded: Heeded | None, target: ScoredTriples, least: float = 0.5) -> JudgesHeard:
        if heeded is None:
            return cls()
        told, base = heeded.probabilities, heeded.fit.probabilities(heeded.pool)
        assert told is not None
        assert base is not None
        spoken = np.append(heeded.asked, False)
        shift = np.append(np.where(heeded.asked, logit(told) - logit(base), 0.0), 0.0)
        in_pool = np.arange(len(target)) if target is heeded.pool else heeded.pool.rows_of(target)
        foreseen = heeded.foreseen
        return cls(spoken, shift, np.append(told, 0.0), foreseen, in_pool, shift[in_pool], heeded.left, least)

    def plus(self, more: FloatArray) -> JudgesHeard:
        """Return the same with more to add to the log-odds of each triple of the target, shape (M,)."""
        return replace(self, moved=more if self.moved is None else self.moved + more)

    def sway(self, p: FloatArray, part: EvenPart) -> FloatArray:
        """Return drawn probabilities with what judges add."""
        return p if self.moved is None else sigmoid(log_odds(p) + self.moved[part.rows])

    def decide(self, pool: PreparedPool, target: ScoredTriples, cuts: FloatArray) -> BoolArray:
        """Return which triples of the target are accepted, shape (M,)."""
        plain = target.scores >= cuts[pool.relation_codes(target)]
        if self.spoken is None or self.told is None or self.in_pool is None:
            return plain
        return np.where(self.spoken[self.in_pool], self.told[self.in_pool] >= self.least, plain)

    def believe(self, part: EvenPart, otherwise: FloatArray) -> FloatArray:
        """Return P(true) of triples where judges spoke; elsewhere what is believed otherwise."""
        if self.spoken is None or self.told is None or self.in_pool is None:
            return otherwise
        rows = self.in_pool[part.rows]
        return np.where(self.spoken[rows], self.told[rows], otherwise)

    def tell(self, answers: Answered, annotations: Annotations) -> Answered:
        """Return what is said of answered triples without their answers, judges heard."""
        if self.spoken is None or self.foreseen is None:
            return answers
        swayed = log_odds(self.foreseen) * np.sqrt(1 + np.pi / 8 * answers.variances)
        return replace(answers, logits=np.where(self.spoken[annotations.rows], swayed, answers.logits))

    def as_decided(
        self, posterior: Posterior, cuts: FloatArray, annotations: Annotations
    ) -> tuple[Answered, BoolArray]:
        """Return what is said of answered triples by the fit that has their answers, and how they are decided."""
        answers, pool = with_own_answers(posterior, annotations), posterior.pool
        codes = np.arange(len(cuts))
        x = pool.centred(np.where(np.isfinite(cuts), cuts, 0.0), codes)
        level = np.where(np.isfinite(cuts), x, cuts)
        above = pool.x[annotations.rows] >= level[answers.relations]
        if self.spoken is None or self.told is None or self.shift is None:
            return answers, above
        swayed = replace(answers, logits=answers.logits + self.shift[annotations.rows])
        return swayed, np.where(self.spoken[annotations.rows], self.told[annotations.rows] >= self.least, above)

    def place(self, above: BoolArray, answers: Answered, annotations: Annotations) -> BoolArray:
        """Return which answered triples would be accepted without their answers."""
        if self.spoken is None:
            return above
        return np.where(self.spoken[annotations.rows], answers.probabilities >= self.least, above)


@dataclass(frozen=True, eq=False)
class _Settled:
    """Triples that people decided: relation, whether it would be accepted without their word, and the answer."""

    relations: IntArray
    above: BoolArray
    labels: BoolArray

    @classmethod
    def of(cls, pool: PreparedPool, target: ScoredTriples, took: BoolArray, settled: Annotations | None) -> _Settled:
        settled = Annotations() if settled is None else settled
        return cls(pool.relation_codes(target.take(settled.rows)), took[settled.rows], settled.labels)


@dataclass(frozen=True, eq=False)
class _Tally:
    """True triples among the accepted and the rejected ones of each relation, under each draw."""

    codes: IntArray  # (G,) relation of each group
    accepted: BoolArray  # (G,)
    size: FloatArray  # (G,) triples of the target in it that nobody settled
    trues: FloatArray  # (draws, G)
    settled: _Settled

    @classmethod
    def of(
        cls,
        part: EvenPart,
        p: FloatArray,
        accepted: BoolArray,
        shifts: list[FloatArray],
        settled: _Settled,
        random: np.random.Generator,
    ) -> _Tally:
        order = np.lexsort((accepted, part.relations))
        key = 2 * part.relations[order] + accepted[order]
        groups, starts, count = np.unique(key, return_index=True, return_counts=True)
        took = groups % 2 == 1
        share = np.add.reduceat(p[:, order], starts, axis=1) / count
        share = np.clip(share + np.where(took, shifts[0][:, None], shifts[1][:, None]), 0, 1)
        size = np.add.reduceat(part.weights[order], starts)
        place = np.searchsorted(groups, 2 * settled.relations + settled.above).clip(max=len(groups) - 1)
        size = np.maximum(size - np.bincount(place, minlength=len(groups)), 0)
        count = np.maximum(np.round(size), 1).astype(np.int64)
        return cls(groups // 2, took, size, random.binomial(count, share) / count * size, settled)

    def quality(self, code: int | None = None) -> Quality:
        """Fold the groups of one relation, or all of them, into the four quantities."""
        mine = np.ones(len(self.codes), dtype=np.bool_) if code is None else self.codes == code
        took = mine & self.accepted
        known = self.settled.labels if code is None else self.settled.labels[self.settled.relations == code]
        true_accepted = self.trues[:, took].sum(axis=1) + known.sum()
        true_rejected = self.trues[:, mine & ~self.accepted].sum(axis=1)
        count, size = float(self.size[took].sum() + known.sum()), float(self.size[mine].sum() + len(known))
        right = true_accepted + (size - count - true_rejected)
        nothing = np.full(len(right), np.nan)
        true = true_accepted + true_rejected
        return Quality(
            accuracy=right / size,
            precision=true_accepted / count if count else nothing,
            recall=true_accepted / np.maximum(true, 1e-9),
            f1=2 * true_accepted / np.maximum(true + count, 1e-9),
            triples=round(size),
            accepted=round(count),
        )
