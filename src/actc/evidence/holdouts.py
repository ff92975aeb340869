"""Rules propose, evidence scores: what a graph lacks, learned from facts that its rules were mined without.

The holdout facts among the proposals are true, the other proposals are unlabelled. Of the true proposals of a relation
that look alike, the same share is labelled, namely those in the holdout. So the probability that a proposal is labelled
rises with its log-odds to a ceiling below 1, and the ceiling is that share: it shows how many of the unlabelled
proposals are true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from actc.data.numeric import find_shift, one_thread, sigmoid
from actc.data.progress import Progress, Stage, no_stage
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence.rules import Rules, propose_by_rules
from actc.evidence.score import (
    BEND,
    SHARE,
    EvidenceModel,
    Ridge,
    TrainingSet,
    count_cases,
    hash_triples,
    learnable_pieces,
    out_of_fold,
    stack_pieces,
)
from actc.evidence.steps import Limits
from actc.evidence.table import count_look_ups, gather_evidence
from actc.graph.graph import Graph

HOLDOUT = 0.1  # of the graph's facts
TRAINING_CONFIDENCE = 0.1  # of rules whose proposals are learned from; from .15 on, F1 of ``unequal`` falls by .03
ENOUGH = 5000  # holdout facts to learn from; smaller graphs take several holdouts, one after the other
MOST_HOLDOUTS = 4
MOST_TRUE = 20_000  # holdout facts that are looked up
MOST_UNLABELLED = 16_000  # other proposals that are looked up in all, drawn at random
RESAMPLES = 60
FOLDS = 3  # five are no better: F1 on families .9396 and .9394, on UMLS .9253 and .9246, the mean of five seeds
MISFIT = 0.1  # by which the log of the expected share is off: benchmarks/evidence/rules.csv, rules_redraws.csv
MOST_SHARE = 0.9  # of the candidates that may be expected true
BINS = 32  # of each relation's holdout facts, and as many of its others, while curves are fitted
LEAST = 0.1  # of the holdout facts are below the knot
STEEPER = 0.5  # of the slope below the knot is the most that counts of the rise above it: a step has no slope
BOUNDS = ((-8, 8), (-20, 20), (-2, 4), (-8, 4), (-15, -1))  # ceiling, place, slope, bend, lapse
STARTS = ((-1.5, 0.0, 0.5, -2.0, -7.0), (1.0, 0.0, 0.5, -2.0, -7.0))
COMMON = len(BOUNDS)
WIDTH = 0.5  # of the logits of relations' ceilings around the common one; F1 hardly differs from .5 to 2
FARTHEST = 6.0  # that a relation may be from the common ceiling
VERY_STRONG = 5.0  # log of a Bayes factor, by Kass and Raftery (1995), for each relation; `unequal` has 19, others 2.5


@dataclass(frozen=True, eq=False)
class HoldoutEstimate:
    """What holdouts show of candidates before any answer.

    Parameters
    ----------
    scored : ScoredTriples
        The candidates: their scores are log-odds, their pieces the evidence.
    model : EvidenceModel
        The weights.
    recall : float
        The share of the holdout that was proposed: of the missing facts of this kind, about as many are candidates.
    holdout : int
        How many facts were taken out of the graph, in all.
    share : float
        The share of true candidates to expect.
    precisions : float array of shape (draws,)
        Draws of the share of true ones among the candidates with log-odds above 0, by resampling the holdout; none
        where there are no such candidates.
    """

    scored: ScoredTriples
    model: EvidenceModel
    recall: float
    holdout: int
    share: float
    precisions: FloatArray

    @property
    def precision(self) -> FloatArray:
        """Low, middle and high of the draws; between low and high with a probability of nine in ten."""
        return np.quantile(self.precisions, [0.05, 0.5, 0.95]) if len(self.precisions) else np.array([0.0, 0.5, 1.0])

    def summary(self) -> str:
        """Return what the holdout shows about the candidates; how many accepted ones are true is a report's matter."""
        return (
            f"Estimated from a holdout of {self.holdout:,} facts, before any answer: about {self.share:.0%} of the "
            f"candidates are true. The candidates hold about {self.recall:.0%} of the missing facts that are like the "
            "holdout."
        )


def score_rules(
    graph: Graph,
    proposed: ScoredTriples,
    rules: Rules,
    *,
    seed: int = 0,
    stage: Stage = no_stage,
) -> HoldoutEstimate:
    """Score what a graph's rules propose, by what rules propose of facts that were taken out of it."""
    if not len(proposed):
        raise TableError(f"No rule of this graph of {len(graph)} facts proposes anything.")
    least = min(rules.least, TRAINING_CONFIDENCE)  # less sure rules, too, for what is plainly false
    holdouts, trainings = split_holdouts(graph, seed), []
    with stage("Rules of known facts") as advance:
        for out in holdouts:
            again, _ = propose_by_rules(graph.take(~out), confidence=least)
            trainings.append(TrainingSet.among(graph.take(out), again))
            advance(1, len(holdouts))
    return score_by_holdouts(graph, proposed, trainings, seed, stage)


def split_holdouts(graph: Graph, seed: int) -> list[BoolArray]:
    """Return masks of the holdouts: a tenth of the facts each, no fact in two of them; several where they are small."""
    each = int(HOLDOUT * len(graph))
    if each < 2:
        raise TableError(f"A graph of {len(graph)} facts is too small to learn from; it needs at least 20.")
    place = np.random.default_rng(seed).permutation(len(graph))
    count = min(-(-ENOUGH // each), MOST_HOLDOUTS)
    return [(place >= k * each) & (place < (k + 1) * each) for k in range(count)]


@one_thread()
def score_by_holdouts(
    graph: Graph,
    candidates: ScoredTriples,
    trainings: Sequence[TrainingSet],
    seed: int = 0,
    stage: Stage = no_stage,
) -> HoldoutEstimate:
    """Learn from several holdouts the weights of evidence and how many candidates are true, and score these.

    Each training set is what is proposed without its holdout, all of whose facts the graph holds.
    """
    limits = Limits.for_count(len(candidates) + MOST_TRUE + MOST_UNLABELLED)
    random = np.random.default_rng(seed)
    with stage("Evidence of known facts") as advance:
        table = _look_up(graph, trainings, limits, random, count_look_ups(advance, len(trainings)))
    with stage("Evidence of the candidates") as advance:
        scored = gather_evidence(graph, candidates, limits, progress=advance)
    by_others = out_of_fold(table.pieces, table.true, table.cases, table.triples % FOLDS, BEND)
    ceilings = fit_ceilings(by_others, table.true, table.cases, table.relations, len(graph.relation_names) + 1)
    share = min(float(ceilings.unlabelled.sum()) / len(trainings) / len(candidates), MOST_SHARE)
    ridge = Ridge.learn(table.pieces, table.true, count_cases(table.true, SHARE, table.cases), BEND)
    ridge = replace(ridge, weights=ceilings.slope * ridge.weights, intercept=0.0)
    log_odds = ridge.log_odds(stack_pieces(scored.pieces, table.columns)) + ceilings.offset[_relations(graph, scored)]
    model = EvidenceModel(
        table.columns, replace(ridge, intercept=find_shift(log_odds, share)), share, int(table.true.sum())
    )
    scored = scored.with_scores(log_odds + model.ridge.intercept)
    with stage("Estimate of the precision"):
        precisions = _resample(table, by_others, ceilings, len(trainings), int((scored.scores > 0).sum()), random)
    holdout = sum(len(training.holdout) for training in trainings)
    recall = sum(int(training.true.sum()) for training in trainings) / max(holdout, 1)
    return HoldoutEstimate(scored, model, recall, holdout, share, precisions)


@dataclass(frozen=True, eq=False)
class _TrainingTable:
    """All training sets: pieces, labels, relations, and for how many proposals each row stands (``cases``).

    ``triples`` has the same number for the same triple in several trainings, which has nothing to do with its ends.
    """

    columns: tuple[str, ...]
    pieces: FloatArray
    true: BoolArray
    cases: FloatArray
    relations: IntArray
    triples: IntArray


def _look_up(
    graph: Graph, trainings: Sequence[TrainingSet], limits: Limits, random: np.random.Generator, progress: Progress
) -> _TrainingTable:
    """Look up the evidence of the trainings; of many proposals some are drawn."""
    tables, labels, cases = list[ScoredTriples](), list[BoolArray](), list[FloatArray]()
    for training in trainings:
        counts = np.where(training.true, training.true.sum(), (~training.true).sum())
        most = np.where(training.true, MOST_TRUE, MOST_UNLABELLED) / len(trainings)
        probability = np.minimum(most / counts, 1.0)
        rows = np.flatnonzero(random.random(len(counts)) < probability)
        before = graph.take(~training.holdout.contains(graph))
        tables.append(gather_evidence(before, training.proposals.take(rows), limits, progress=progress))
        labels.append(training.true[rows])
        cases.append(1 / probability[rows])
    true = np.concatenate(labels)
    if true.sum() < 2 or true.all():
        raise TableError(f"{true.sum()} of {len(true)} proposals are holdout facts; two and others are needed.")
    columns = learnable_pieces(tables)
    pieces = np.concatenate([stack_pieces(table.pieces, columns) for table in tables])
    relations = np.concatenate([_relations(graph, table) for table in tables])
    # A triple that several trainings propose is always in the same fold: what is learned must not know it.
    triples = np.concatenate(list(map(hash_triples, tables)))
    return _TrainingTable(columns, pieces, true, np.concatenate(cases), relations, triples)


def _relations(graph: Graph, triples: Triples) -> IntArray:
    """Return the code of each triple's relation in the graph; of one that it lacks, a code beyond."""
    beyond = len(graph.relation_names)
    return graph.relation_names.translate(triples.relations, triples.relation_names, beyond)


def _resample(
    table: _TrainingTable,
    log_odds: FloatArray,
    ceilings: Ceilings,
    trainings: int,
    accepted: int,
    random: np.random.Generator,
) -> FloatArray:
    """Return draws of the share of true ones among the accepted, by resampling triples.

    A triple that is unlabelled in several trainings is one case, not several. What the curves miss is beside that.
    """
    if not accepted:
        return np.zeros(0)
    others, relations, count, draws = ~table.true, table.relations, len(ceilings.offset), []
    share = min(float(ceilings.unlabelled.sum() / table.cases[others].sum()), MOST_SHARE)
    steep = ceilings.slope * log_odds + ceilings.offset[relations]
    above = steep + find_shift(steep[others], share, table.cases[others]) > 0
    _, triples = np.unique(table.triples, return_inverse=True)
    for _ in range(RESAMPLES):
        cases = table.cases * random.poisson(1.0, len(triples))[triples]
        drawn = fit_ceilings(log_odds, table.true, cases, relations, count, ceilings)
        true_above, whole = (
            np.bincount(relations, cases * rows, minlength=count) for rows in (table.true & above, table.true)
        )
        overall = true_above.sum() / max(whole.sum(), 1e-9)
        right = float(drawn.unlabelled @ ((true_above + overall) / (whole + 1))) / trainings
        right *= np.exp(random.normal(0, MISFIT))
        draws.append(random.binomial(accepted, min(right / accepted, 1.0)) / accepted)
    return np.array(draws)


@dataclass(frozen=True, eq=False)
class Ceilings:
    """What the curves show of each of R relations.

    Parameters
    ----------
    unlabelled : float array of shape (R,)
        How many true ones are among the unlabelled.
    slope : float
        By how much the log-odds have to be multiplied: true ones among the unlabelled flatten them. Above the knot.
    offset : float array of shape (R,)
        What has to be added to those of a relation's unlabelled proposals, beside what is added to all: the log of the
        share of its true ones that are not labelled.
    fitted : float array
        What was fitted, for another fit to start from.
    """

    unlabelled: FloatArray
    slope: float
    offset: FloatArray
    fitted: FloatArray


def fit_ceilings(
    log_odds: FloatArray,
    true: BoolArray,
    cases: FloatArray,
    relations: IntArray,
    count: int,
    before: Ceilings | None = None,
) -> Ceilings:
    """Fit the curves by maximum a posteriori.

    Above the least tenth of the holdout facts the curve may rise faster, never slower: a slow rise there could be an
    ever higher ceiling. A few true ones stand anywhere (the lapse).

    One relation may lack half of its facts and another hardly any, so each may have its own ceiling, around a common
    one. But one of which few proposals are labelled could as well be proposed by bad rules: all have the same ceiling
    unless the labels are far likelier with others. The curve below the ceiling is the same for all.

    Parameters
    ----------
    log_odds : float array of shape (N,)
        Of proposals, each by weights that were learned without it.
    true : bool array of shape (N,)
        True for holdout facts; the others are unlabelled.
    cases : float array of shape (N,)
        For how many proposals each stands.
    relations : int array of shape (N,)
        Codes below ``count``.
    count : int
    before : Ceilings, optional
        A fit to nearly the same proposals, to start from; whether relations differ stays.
    """
    from scipy.optimize import minimize

    knot, spread = float(np.quantile(log_odds[true], LEAST)), max(float(log_odds[true].std()), 1e-6)
    order = np.lexsort((log_odds, relations))
    place, true, cases, relations = ((log_odds - knot) / spread)[order], true[order], cases[order], relations[order]
    # Sums of a relation's mass are whole, so no bin has rows of two relations.
    mass = 1 / np.where(true, *(np.bincount(relations, some)[relations] for some in (true, ~true)))
    numbers = ((np.cumsum(mass) - mass / 2) * BINS).astype(np.int64)
    _, first, rows = np.unique(numbers, return_index=True, return_inverse=True)
    labelled, others = (np.bincount(rows, cases * some).astype(np.float64) for some in (true, ~true))
    curves = _Curves(np.bincount(rows, place) / np.bincount(rows), labelled, others, relations[first], count)

    def search(start: FloatArray, farthest: float) -> Any:
        bounds, tight = (*BOUNDS, *[(-farthest, farthest)] * count), {"ftol": 1e-10, "gtol": 1e-7, "maxiter": 500}
        return minimize(curves.loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=tight)

    if before is None:
        common = min((search(np.append(one, np.zeros(count)), 0.0) for one in STARTS), key=lambda fit: fit.fun)
        own = search(common.x, FARTHEST)
        gained = (common.fun - own.fun) * cases.sum()
        fitted = own.x if gained > VERY_STRONG * len(np.unique(relations)) else common.x
    else:
        fitted = search(before.fitted, FARTHEST if before.fitted[COMMON:].any() else 0.0).x
    ceiling, _, p = curves.probabilities(fitted)
    steep, more = np.exp(fitted[2:4])
    slope = float(steep + min(more, STEEPER * steep)) / spread
    unlabelled = curves.sums(others * p * (1 - ceiling) / ceiling / (1 - p))
    return Ceilings(unlabelled, slope, np.log1p(-sigmoid(fitted[0] + fitted[COMMON:])), fitted)


@dataclass(frozen=True, eq=False)
class _Curves:
    """The curves over bins of proposals: each bin's place, its labelled and other proposals, its relation."""

    place: FloatArray
    labelled: FloatArray
    others: FloatArray
    relations: IntArray
    count: int

    def probabilities(self, given: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return each bin's ceiling, its place on the curve, and the probability that one in it is labelled."""
        ceiling = sigmoid(given[0] + given[COMMON + self.relations])
        steep, more, lapse = np.exp(given[2]), np.exp(given[3]), sigmoid(given[4])
        curve = sigmoid(given[1] + steep * self.place + more * np.maximum(self.place, 0))
        return ceiling, curve, (ceiling * (lapse + (1 - lapse) * curve)).clip(1e-12, 1 - 1e-12)

    def loss(self, given: FloatArray) -> tuple[float, FloatArray]:
        """Return minus the log of likelihood and prior, by the number of proposals, and its slopes."""
        ceiling, curve, p = self.probabilities(given)
        steep, more, lapse = np.exp(given[2]), np.exp(given[3]), sigmoid(given[4])
        by_p = self.labelled / p - self.others / (1 - p)
        by_ceiling = p * (1 - ceiling) * by_p
        by_curve = ceiling * (1 - lapse) * curve * (1 - curve) * by_p
        by_lapse = ceiling * lapse * (1 - lapse) * (1 - curve) * by_p
        bend = more * np.maximum(self.place, 0)
        common = [by_ceiling.sum(), by_curve.sum(), steep * by_curve @ self.place, by_curve @ bend, by_lapse.sum()]
        around = given[COMMON:] / WIDTH
        value = float((self.labelled * np.log(p) + self.others * np.log1p(-p)).sum()) - 0.5 * float(around @ around)
        slopes, total = np.append(common, self.sums(by_ceiling) - around / WIDTH), (self.labelled + self.others).sum()
        return -value / float(total), -slopes / total

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum of each relation's bins, shape (R,)."""
        return np.bincount(self.relations, values, minlength=self.count).astype(np.float64)
