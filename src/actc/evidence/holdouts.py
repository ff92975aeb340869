"""Rules propose, evidence scores: what a graph lacks, learned from facts that its rules were mined without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from actc.data.numeric import find_shift, one_thread
from actc.data.progress import Progress, Stage, no_stage
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence.ceiling import Ceiling, fit_ceiling
from actc.evidence.model import (
    BEND,
    SHARE,
    EvidenceModel,
    Pieces,
    Quantiles,
    Ridge,
    bend_columns,
    count_cases,
    fit_logistic,
    hash_triples,
    learnable_pieces,
    stack_pieces,
)
from actc.evidence.rules import Rules, propose_by_rules
from actc.evidence.score import TrainingSet
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
OFFSET = "relation_offset"
"""The piece of evidence that is the same for all candidates of a relation: how many of its facts are missing."""


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
            f"Estimated from a holdout of {self.holdout:,} facts, before any answer: about {self.share:.1%} of the "
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
    """Score what a graph's rules propose, by what rules propose of facts that were taken out of it.

    Parameters
    ----------
    graph : Graph
        The known facts.
    proposed : ScoredTriples
        What its rules propose.
    rules : Rules
        The rules.
    seed : int
        Where the draw of the holdout starts from.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to call with steps done, steps in all.
    """
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


@dataclass(frozen=True, eq=False)
class _TrainingTable:
    """All training sets: pieces, labels, and for how many proposals each row stands (``cases``).

    ``triples`` has the same number for the same triple in several trainings, which has nothing to do with its ends.
    """

    columns: tuple[str, ...]
    pieces: FloatArray
    true: BoolArray
    cases: FloatArray
    relations: IntArray
    triples: IntArray
    recall: float
    holdout: int
    trainings: int

    @property
    def weights(self) -> FloatArray:
        """How much each row counts, holdout facts being a set share of them."""
        return count_cases(self.true, SHARE, self.cases)

    def out_of_fold(self, parts: FloatArray) -> FloatArray:
        """Return the log-odds of each row by weights of its parts that were learned without its fold, shape (N,)."""
        log_odds, folds = np.zeros(len(parts)), self.triples % FOLDS
        for fold in range(FOLDS):
            rest, these = folds != fold, folds == fold
            if self.true[rest].any() and these.any():
                cases = count_cases(self.true[rest], SHARE, self.cases[rest])
                weights, intercept = fit_logistic(parts[rest], self.true[rest], cases)
                log_odds[these] = parts[these] @ weights + intercept
        return log_odds


@one_thread()
def score_by_holdouts(
    graph: Graph,
    candidates: ScoredTriples,
    trainings: Sequence[TrainingSet],
    seed: int = 0,
    stage: Stage = no_stage,
) -> HoldoutEstimate:
    """Learn from several holdouts the weights of evidence and how many candidates are true, and score these.

    Curves of the pieces rank; the plain ridge, which keeps farther from the holdout, tells how many are true. Each
    training set is what is proposed without its holdout, all of whose facts the graph holds.
    """
    limits = Limits.for_count(len(candidates) + MOST_TRUE + MOST_UNLABELLED)
    random = np.random.default_rng(seed)
    with stage("Evidence of known facts") as advance:
        table = _look_up(graph, trainings, limits, random, count_look_ups(advance, len(trainings)))
    normal = Quantiles.of(table.pieces, table.weights).transform(table.pieces)
    bent_log_odds = table.out_of_fold(bend_columns(normal, BEND).reshape(len(normal), -1))
    plain_log_odds = table.out_of_fold(normal)
    bent, plain = (
        fit_ceiling(log_odds, table.true, table.cases, table.relations, len(graph.relation_names) + 1)
        for log_odds in (bent_log_odds, plain_log_odds)
    )
    candidates = candidates.with_pieces(**{OFFSET: bent.offset[_relations(graph, candidates)]})
    with stage("Evidence of the candidates") as advance:
        scored = gather_evidence(graph, candidates, limits, progress=advance)
    share = min(float(plain.unlabelled.sum()) / table.trainings / len(candidates), MOST_SHARE)
    model = EvidenceModel(
        (*table.columns, OFFSET), _learn_ridge(table, bent, scored.pieces), share, int(table.true.sum())
    )
    log_odds = model.log_odds(scored.pieces)
    more = find_shift(log_odds, share)
    model = replace(model, ridge=replace(model.ridge, intercept=model.ridge.intercept + more))
    scored = scored.with_scores(log_odds + more)
    steep = bent.slope * bent_log_odds + bent.offset[table.relations]
    accepted = int((scored.scores > 0).sum())
    with stage("Estimate of the precision"):
        precisions = _resample(table, steep, plain_log_odds, plain, accepted, random) if accepted else np.zeros(0)
    return HoldoutEstimate(scored, model, table.recall, table.holdout, share, precisions)


def _learn_ridge(table: _TrainingTable, bent: Ceiling, pieces: Pieces) -> Ridge:
    """Return the weights for candidates: those of the table's pieces, and the offset of relations as it is."""
    ridge = Ridge.learn(table.pieces, table.true, table.weights, BEND)
    offsets = np.unique(pieces[OFFSET].astype(np.float32)).astype(np.float64)
    scale = max(float(pieces[OFFSET].std()), 1e-9)
    quantiles = Quantiles((*ridge.quantiles.values, offsets), (*ridge.quantiles.normal, offsets / scale))
    return Ridge(quantiles, np.append(bent.slope * ridge.weights, scale), bent.slope * ridge.intercept)


def _resample(
    table: _TrainingTable,
    steep: FloatArray,
    plain_log_odds: FloatArray,
    plain: Ceiling,
    accepted: int,
    random: np.random.Generator,
) -> FloatArray:
    """Return draws of the share of true ones among the accepted, by resampling triples.

    A triple that is unlabelled in several trainings is one case, not several. What the curves miss is beside that.
    """
    others, relations, count, draws = ~table.true, table.relations, len(plain.offset), []
    share = min(float(plain.unlabelled.sum() / table.cases[others].sum()), MOST_SHARE)
    _, triples = np.unique(table.triples, return_inverse=True)
    above = steep + find_shift(steep[others], share, table.cases[others]) > 0
    for _ in range(RESAMPLES):
        cases = table.cases * random.poisson(1.0, len(triples))[triples]
        drawn = fit_ceiling(plain_log_odds, table.true, cases, relations, count, plain)
        true_above, whole = (
            np.bincount(relations, cases * rows, minlength=count) for rows in (table.true & above, table.true)
        )
        overall = true_above.sum() / max(whole.sum(), 1e-9)
        right = float(drawn.unlabelled @ ((true_above + overall) / (whole + 1))) / table.trainings
        right *= np.exp(random.normal(0, MISFIT))
        draws.append(random.binomial(accepted, min(right / accepted, 1.0)) / accepted)
    return np.array(draws)


def _relations(graph: Graph, triples: Triples) -> IntArray:
    """Return the code of each triple's relation in the graph; of one that it lacks, a code beyond."""
    beyond = len(graph.relation_names)
    return graph.relation_names.translate(triples.relations, triples.relation_names, beyond)


def _look_up(
    graph: Graph,
    trainings: Sequence[TrainingSet],
    limits: Limits,
    random: np.random.Generator,
    progress: Progress,
) -> _TrainingTable:
    """Look up the evidence of the trainings; of many proposals some are drawn.

    Proposals of sure rules are drawn more often: what is learned from the others hardly depends on which they are.
    """
    tables, labels, cases = list[ScoredTriples](), list[BoolArray](), list[FloatArray]()
    for training in trainings:
        true = training.true
        sizes = np.where(true, 1.0, np.sqrt(training.proposals.pieces.get("rules_together", np.ones(len(true)))))
        most = np.where(true, MOST_TRUE / sizes[true].sum(), MOST_UNLABELLED / sizes[~true].sum())
        probability = np.minimum(sizes * most / len(trainings), 1.0)
        rows = np.flatnonzero(random.random(len(true)) < probability)
        before = graph.take(~training.holdout.contains(graph))
        tables.append(gather_evidence(before, training.proposals.take(rows), limits, progress=progress))
        labels.append(true[rows])
        cases.append(1 / probability[rows])
    true = np.concatenate(labels)
    if true.sum() < 2 or true.all():
        raise TableError(f"{true.sum()} of {len(true)} proposals are holdout facts; two and others are needed.")
    columns = learnable_pieces(tables)
    pieces = np.concatenate([stack_pieces(table.pieces, columns) for table in tables])
    # A triple that several trainings propose is always in the same fold: what is learned must not know it.
    numbers = np.concatenate(list(map(hash_triples, tables)))
    relations = np.concatenate([_relations(graph, table) for table in tables])
    holdout = sum(len(training.holdout) for training in trainings)
    recall = sum(int(training.true.sum()) for training in trainings) / max(holdout, 1)
    every = np.concatenate(cases)
    return _TrainingTable(columns, pieces, true, every, relations, numbers, recall, holdout, len(trainings))
