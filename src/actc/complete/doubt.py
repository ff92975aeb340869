"""How probably wrong each fact of a graph is: by the graph alone, then by answers too.

Errors of several kinds are planted in the graph, facts and errors are looked up as if each were not there, and boosted
trees show, out of fold, how much likelier each kind is than a fact to look so: density ratios. Nobody knows which kinds
of errors the graph has: their shares are inferred from its facts. How many facts are wrong, and in which relations,
only answers show: errors may look like facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from actc.complete.candidates import Candidates
from actc.data.numeric import find_shift, one_thread, sigmoid
from actc.data.progress import Advance, Stage, no_stage
from actc.data.triples import BoolArray, FloatArray, IntArray, Triples
from actc.decide.case import Case
from actc.errors import TableError
from actc.evidence.plan import GRAPH_COLUMNS
from actc.evidence.plant import Planted
from actc.evidence.reasons import Reasons
from actc.evidence.score import FOLDS, EvidenceModel, Quantiles, Ridge, hash_triples
from actc.evidence.steps import Limits
from actc.evidence.table import Work, count_look_ups, gather_evidence
from actc.evidence.table import look_up as look_up_parts
from actc.graph.graph import Graph
from actc.methods.pooled.method import Pooled

EACH = 0.01  # of the facts are planted, of each kind, in one round
ENOUGH = 1000  # errors of a kind
MOST_ROUNDS = 8
MOST_EACH = 4000  # errors of a kind in one round
MOST_FOR_TREES = 15_000  # facts that the trees learn from
TREES = {
    "max_iter": 60,  # few and large steps: there are many classes and folds
    "learning_rate": 0.15,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 20,
    "l2_regularization": 5.0,
    "max_features": 0.4,
    "early_stopping": False,
}
BINS = 128  # of a column
LEAST = 1e-9  # probability
SHARE = 0.05  # of wrong facts, while the shares of kinds are inferred, which hardly depend on it
MOST_SHARE = 0.9  # of the facts that may look wrong
MEMORY = "2GB"  # for the database; all facts' evidence in single precision comes on top
LEAST_FACTS = 100
MOST_FACTS = 900_000  # a session has a million triples, of which 50,000 may be candidates
EXPLAINED = 50_000  # the most doubtful facts, which have reasons: half a kilobyte each


@dataclass(frozen=True, eq=False)
class PlantedEvidence:
    """Facts and planted errors, and the evidence of each: n rows of F pieces, in single precision.

    ``kinds`` are 0 for facts, k for the k-th of K kinds of errors; ``rows`` which fact it is, of N, -1 for errors. A
    fact may be there several times, each time with other errors around.
    """

    pieces: FloatArray
    kinds: IntArray
    rows: IntArray
    folds: IntArray

    @property
    def facts(self) -> BoolArray:
        """Which are facts, shape (n,)."""
        return np.asarray(self.kinds == 0)


@one_thread("sklearn.ensemble")
def doubt_facts(graph: Graph, seed: int = 0, stage: Stage = no_stage, explained: Triples | None = None) -> Candidates:
    """Return the facts of a graph, the most doubtful first; their scores are log-odds of being wrong.

    Reasons are those of the first ones, or of the facts ``explained``, as if each were not there, with weights for
    being true by a ridge.
    """
    if len(graph) < LEAST_FACTS:
        raise TableError(f"A graph of {len(graph)} facts is too small to learn from; it needs at least {LEAST_FACTS}.")
    with stage("Evidence of each fact") as advance:
        looked = look_up(graph, seed, advance)
    facts, random = np.flatnonzero(looked.facts), np.random.default_rng(seed)
    training = facts if len(facts) <= MOST_FOR_TREES else random.choice(facts, MOST_FOR_TREES, replace=False)
    with stage("Doubt in each fact") as advance:
        ratios = learn_ratios(looked, np.append(training, np.flatnonzero(~looked.facts)), advance)
    times = np.maximum(np.bincount(looked.rows[facts], minlength=len(graph)), 1)  # a fact may be there in each round
    of_facts = np.column_stack([np.bincount(looked.rows[facts], one, len(graph)) / times for one in ratios[facts].T])
    mix = infer_kinds(of_facts[np.unique(looked.rows[training])])
    doubts, planted = _log_ratio(of_facts, mix), _log_ratio(ratios[~looked.facts], mix)
    share = expect_share(doubts, planted, mix[looked.kinds[~looked.facts] - 1])
    log_odds = doubts + find_shift(doubts, share)
    model = _learn_weights(looked, training, 1 - sigmoid(log_odds), mix, share)
    first = np.full(len(graph), len(looked.rows))  # the row of none
    np.minimum.at(first, looked.rows[facts], facts)
    seen = np.append(looked.pieces, np.full((1, looked.pieces.shape[1]), np.nan, np.float32), axis=0)
    pieces: Any = model.ridge.quantiles.transform(seen[first]).astype(np.float32)
    rows = np.argsort(-log_odds, kind="stable")[:MOST_FACTS]
    doubtful = graph.take(rows).with_scores(log_odds[rows]).with_used_names()
    some = doubtful.take(np.arange(min(len(doubtful), EXPLAINED))) if explained is None else explained
    with stage("Reasons") as advance:
        evidence = gather_evidence(graph, some, Limits.for_count(len(some)), progress=advance)
    reasons = Reasons(((evidence, model),), graph)
    named = dict(zip(model.columns, pieces[rows].T, strict=True))
    return Candidates(doubtful.with_pieces(**named), reasons=reasons)


def probability_wrong(facts: Candidates, case: Case | None = None) -> FloatArray:
    """Return P(wrong) of each fact: before any answer, or by all that the answers of a case show, shape (n,).

    It puts the list in order, by relations and by the pieces of evidence. The case, of these facts, decides what is
    removed.
    """
    if case is None or not len(case.annotations):
        return sigmoid(facts.triples.scores)
    answers = case.answers
    p = Pooled(reads="evidence").fit(facts.triples, answers).probabilities(facts.triples)
    p[answers.rows] = answers.labels
    return p


def look_up(graph: Graph, seed: int, advance: Advance) -> PlantedEvidence:
    """Plant errors and look up all facts and errors, in as many rounds as there have to be for enough errors."""
    each = max(int(EACH * len(graph)), 5)
    rounds = int(np.clip(-(-ENOUGH // each), 1, MOST_ROUNDS))
    pieces: list[FloatArray] = []
    numbers: list[IntArray] = []
    for at in range(rounds):
        planted = Planted.of(graph, min(each, MOST_EACH), np.random.default_rng([seed, at]))
        limits = Limits.for_count(len(planted.graph))
        work = Work.of(planted.graph, planted.graph, limits, count_look_ups(advance, rounds))
        pieces.append(np.empty((len(planted.graph), len(GRAPH_COLUMNS)), dtype=np.float32))
        for part in look_up_parts(work, MEMORY):
            pieces[at][work.rows[part["id"]]] = np.column_stack([part[name] for name in GRAPH_COLUMNS])
        numbers.append(np.stack([planted.kinds, planted.rows, hash_triples(planted.graph) % FOLDS]))
    return PlantedEvidence(np.concatenate(pieces), *np.concatenate(numbers, axis=1))


def learn_ratios(looked: PlantedEvidence, rows: IntArray, advance: Advance) -> FloatArray:
    """Return the log of the density of each kind over that of facts, out of fold, shape (n, K).

    The trees learn from ``rows``: facts, which count as much as all errors, and errors of all kinds alike.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    kinds, counts = looked.kinds[rows], np.bincount(looked.kinds[rows])
    size = max(len(counts) - 1, 1)
    cases = (len(rows) * np.append(0.5, np.full(size, 0.5 / size)) / np.maximum(counts, 1))[kinds]
    ratios = np.zeros((len(looked.kinds), len(counts) - 1))
    for fold in range(FOLDS):
        rest, these = looked.folds[rows] != fold, looked.folds == fold
        table = looked.pieces[rows[rest]].astype(np.float64)
        edges = [values[:: -(-len(values) // BINS)] for values in Quantiles.of(table, cases[rest]).values]
        model = HistGradientBoostingClassifier(random_state=0, **TREES)
        model.fit(_in_bins(table, edges), kinds[rest], cases[rest])
        p = np.full((int(these.sum()), len(counts)), LEAST)  # of a kind of which no error can be made
        p[:, model.classes_] = model.predict_proba(_in_bins(looked.pieces[these], edges)).clip(LEAST)
        weights = np.bincount(kinds[rest], cases[rest], minlength=len(counts))
        logs = np.log(p) - np.log(np.where(weights > 0, weights, 1.0))
        ratios[these] = logs[:, 1:] - logs[:, :1]
        advance(1, FOLDS)
    return ratios


def _in_bins(table: FloatArray, edges: list[FloatArray]) -> FloatArray:
    """Return the number of each value's bin, NaN where a piece is missing.

    scikit-learn looks for bins by a search of its own for each, which took most of the time where rows have weights.
    """
    columns = [
        np.where(np.isnan(one), np.nan, np.searchsorted(at, one)) for one, at in zip(table.T, edges, strict=True)
    ]
    return np.column_stack(columns).astype(np.float32)


def infer_kinds(ratios: FloatArray) -> FloatArray:
    """Infer from the ratios of facts, shape (N, K), the share of each kind among the wrong ones, shape (K,): by EM."""
    mix, times = np.full(ratios.shape[1], 1 / ratios.shape[1]), np.exp(np.minimum(ratios, 30))
    for _ in range(200):
        odds = times * mix * SHARE / (1 - SHARE)
        of_kind = (odds / (1 + odds.sum(axis=1, keepdims=True))).sum(axis=0)
        mix = of_kind / of_kind.sum()
    return np.asarray(mix)


def _log_ratio(ratios: FloatArray, mix: FloatArray) -> FloatArray:
    """Return the log of the density of the mixture of kinds over that of facts."""
    return np.asarray(np.log(np.exp(np.minimum(ratios, 30)) @ mix + 1e-12))


def expect_share(facts: FloatArray, errors: FloatArray, counts: FloatArray) -> float:
    """Return the share of wrong facts to begin with, for the level of P(wrong) before any answer.

    If wrong facts look as the planted errors do, half of them look as wrong as half of those: the share is twice that
    of the facts that do, at most, since right ones may look so too. Errors that look like facts are not in it.
    ``facts`` and ``errors`` are log-ratios; ``counts`` how much each planted error counts.
    """
    order = np.argsort(-errors)
    half = int(np.searchsorted(np.cumsum(counts[order]), 0.5 * counts.sum()))
    least = errors[order[min(half, len(order) - 1)]]
    return float(np.clip(2 * (facts >= least).mean(), 0.5 / len(facts), MOST_SHARE))


def _learn_weights(
    looked: PlantedEvidence, facts: IntArray, true: FloatArray, mix: FloatArray, share: float
) -> EvidenceModel:
    """Learn a ridge of facts, as probably true as they are, against as many errors, kinds as frequent as inferred."""
    errors = np.flatnonzero(~looked.facts)
    facts = facts[: len(errors)]
    weights = (true[looked.rows[facts]], mix[looked.kinds[errors] - 1])
    cases = np.concatenate([len(one) * one / max(float(one.sum()), LEAST) for one in weights])
    rows = np.append(facts, errors)
    ridge = Ridge.learn(looked.pieces[rows].astype(np.float64), looked.facts[rows], cases)
    return EvidenceModel(tuple(GRAPH_COLUMNS), ridge, share, len(errors))
