"""One way to score by evidence, for every command: from a training set to the log-odds of any candidates.

A training set is a table of proposals among which are holdout facts: facts of the graph that are taken out of it before
anything is looked up. From it a logistic ridge learns the weight of each piece of evidence, and candidates get log-odds
by the weights::

    training = create_training_set(graph, proposals, holdout)
    scored = score_evidence(graph, candidates, training)     # log-odds, and the evidence that reasons are made of
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from actc.data.numeric import find_shift, one_thread, sigmoid, softplus
from actc.data.progress import Progress, Stage, ignore_progress, no_stage
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence.plan import NAMED_COLUMNS, SCORE_COLUMNS
from actc.evidence.steps import Limits
from actc.evidence.table import MEMORY, count_look_ups, gather_evidence, place_scores, rank_in_slots
from actc.graph.graph import Graph

Pieces = Mapping[str, FloatArray]
HAS = "has_"  # before the name of a piece: whether it is there
KNOTS = 256
EDGE = 0.001  # no piece counts as rarer than one in a thousand


@dataclass(frozen=True, eq=False)
class Quantiles:
    """For each of F columns, rising values and the normal quantiles they stand for, in between a straight line."""

    values: tuple[FloatArray, ...]
    normal: tuple[FloatArray, ...]

    @classmethod
    def of(cls, table: FloatArray, weights: FloatArray) -> Self:
        """Learn the quantiles of the columns of a table of shape (N, F), its rows weighted."""
        pairs = [_knots(column, weights) for column in table.T]
        return cls(tuple(values for values, _ in pairs), tuple(normal for _, normal in pairs))

    def transform(self, table: FloatArray) -> FloatArray:
        """Return the normal quantiles of a table of shape (N, F); 0, which is neutral, where a piece is missing."""
        pairs = zip(table.T, self.values, self.normal, strict=True)
        columns = [np.where(np.isfinite(one), np.interp(one, values, normal), 0.0) for one, values, normal in pairs]
        return np.column_stack(columns) if columns else np.zeros((len(table), 0))


def _knots(column: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return some rising values of a column, and the normal quantile of each."""
    from scipy.special import ndtri

    there = np.isfinite(column)
    if not there.any():
        return np.zeros(1), np.zeros(1)
    values, place = np.unique(column[there], return_inverse=True)
    mass = np.bincount(place, weights=weights[there])
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()  # equal values share the middle of their places
    if len(values) > KNOTS:
        keep = np.unique(np.searchsorted(middle, np.linspace(0, 1, KNOTS)).clip(0, len(values) - 1))
        values, middle = values[keep], middle[keep]
    return values, ndtri(middle.clip(EDGE, 1 - EDGE))


# Each the best on the mean of the proving ground's pool halves; they come out alike for each graph by the others, but
# for one (UMLS would get 1 for STEEPER): benchmarks/evidence/chosen.csv.
RIDGE = 10.0  # strength of the ridge: one unit of a weight costs as much as this many cases
SHARE = 0.2  # of true proposals, a first guess where it has to be estimated
STEEPER = 1.5  # what weights are multiplied by: the true ones among the unlabelled flatten what is learned
BEND = 0.3  # how freely the weight may change within a column: 1 as freely as a weight itself, 0 never
FOLDS = 5
BATCH = 100_000  # candidates that are scored together
KNEES = (0.0, 1.0, 2.0)  # normal quantiles at which the weight of a column may change


@dataclass(frozen=True, eq=False)
class Ridge:
    """A logistic model on normal quantiles of F columns: log-odds = intercept + quantiles @ weights."""

    quantiles: Quantiles
    weights: FloatArray
    intercept: float

    @classmethod
    def learn(cls, table: FloatArray, labels: BoolArray, cases: FloatArray, bend: float = 0.0) -> Self:
        """Learn from a table of shape (N, F) whose rows count as ``cases`` each; weights are per standard deviation.

        With a bend a curve of straight parts takes the place of each column's normal quantiles.
        """
        quantiles = Quantiles.of(table, cases)
        bent = bend_columns(quantiles.transform(table), bend)
        parts, intercept = fit_logistic(bent.reshape(len(table), -1), labels, cases)
        parts = parts.reshape(bent.shape[1:])
        curves = [bend_columns(normal, bend) @ part for normal, part in zip(quantiles.normal, parts, strict=True)]
        spread = np.maximum(np.einsum("nfk,fk->nf", bent, parts).std(axis=0), 1e-9)
        weights = np.where(parts.sum(axis=1) < 0, -spread, spread)
        normal = tuple(curve / weight for curve, weight in zip(curves, weights, strict=True))
        return cls(Quantiles(quantiles.values, normal), weights, intercept)

    def pieces(self, table: FloatArray) -> FloatArray:
        """Return what each column adds to the log-odds, shape (N, F)."""
        return self.quantiles.transform(table) * self.weights

    def log_odds(self, table: FloatArray) -> FloatArray:
        """Return the log-odds, shape (N,)."""
        return np.asarray(self.intercept + self.pieces(table).sum(axis=1))


def fit_logistic(table: FloatArray, labels: BoolArray, cases: FloatArray) -> tuple[FloatArray, float]:
    """Return the weights and the intercept of a logistic regression with a ridge, which the intercept is free of.

    scikit-learn's would be the same, and takes two seconds to import.
    """
    from scipy.optimize import minimize

    total = float(cases.sum())

    def loss(given: FloatArray) -> tuple[float, FloatArray]:
        weights = given[:-1]
        logits = table @ weights + given[-1]
        missed = cases * (sigmoid(logits) - labels)
        value = float(cases @ (softplus(logits) - labels * logits)) + 0.5 * RIDGE * float(weights @ weights)
        return value / total, np.append(missed @ table + RIDGE * weights, missed.sum()) / total

    tight = {"ftol": 1e-12, "gtol": 1e-4, "maxiter": 1000}
    fitted = minimize(loss, np.zeros(table.shape[1] + 1), jac=True, method="L-BFGS-B", options=tight).x
    return fitted[:-1], float(fitted[-1])


def bend_columns(normal: FloatArray, share: float) -> FloatArray:
    """Return quantiles, and beside each a share of what of it is above each knee, if there is a share: shape (…, K)."""
    bends = [share * np.maximum(normal - knee, 0) for knee in KNEES] if share else []
    return np.stack([normal, *bends], axis=-1)


@dataclass(frozen=True, eq=False)
class EvidenceModel:
    """The weights of F pieces of evidence, learned from so many holdout facts.

    ``share`` is that of the true candidates to expect before any answer.
    """

    columns: tuple[str, ...]
    ridge: Ridge
    share: float
    holdout: int

    def log_odds(self, pieces: Pieces) -> FloatArray:
        """Return the log-odds that each candidate is true, shape (N,)."""
        starts = range(0, len(next(iter(pieces.values()))), BATCH)
        parts = [self.ridge.log_odds(stack_pieces(pieces, self.columns, slice(at, at + BATCH))) for at in starts]
        return np.concatenate([np.zeros(0), *parts])

    @property
    def with_scores(self) -> bool:
        """Whether a model's score counts: not where the training had none that can be compared."""
        return any(name in SCORE_COLUMNS for name in self.columns)

    def weights(self) -> dict[str, float]:
        """Return the weight of every piece: log-odds per standard deviation."""
        return dict(zip(self.columns, self.ridge.weights.tolist(), strict=True))


def stack_pieces(pieces: Pieces, columns: Sequence[str], rows: slice | IntArray = slice(None)) -> FloatArray:
    """Return pieces of evidence of some rows in single precision, shape (N, F); ``has_x`` is 1 where ``x`` is there.

    A database adds numbers up in any order, so their last digits differ from run to run.
    """
    if missing := next((name for name in columns if name.removeprefix(HAS) not in pieces), None):
        raise TableError(f"The candidates have no {missing!r}, which the training set's proposals have; give both.")
    count = len(next(iter(pieces.values()))[rows])
    table = np.zeros((count, len(columns)))
    for place, name in enumerate(columns):
        piece = pieces[name.removeprefix(HAS)][rows]
        table[:, place] = np.isfinite(piece) if name.startswith(HAS) else piece.astype(np.float32)
    return table


@one_thread()
def fit_model(proposals: ScoredTriples, true: BoolArray, share: float | None = None) -> EvidenceModel:
    """Learn from proposals of which some are holdout facts (``true``).

    ``share`` is that of the true ones to expect among the others, which count as unlabelled; estimated if not given.
    """
    true = np.asarray(true, dtype=np.bool_)
    count = int(true.sum())
    if count < 2 or count == len(true):
        raise TableError(f"{count} of {len(true)} proposals are holdout facts; two and other proposals are needed.")
    columns = learnable_pieces([proposals])
    table = stack_pieces(proposals.pieces, columns)
    share = expect_share(table, true) if share is None else share
    ridge = Ridge.learn(table, true, count_cases(true, share))
    log_odds = STEEPER * (ridge.log_odds(table[~true]) - ridge.intercept)
    ridge = replace(ridge, weights=STEEPER * ridge.weights, intercept=find_shift(log_odds, share))
    return EvidenceModel(columns, ridge, share, count)


def learnable_pieces(tables: Sequence[ScoredTriples]) -> tuple[str, ...]:
    """Return the names of the pieces of some tables, and of whether a piece is there, of those that some rows lack.

    Places go with their score.
    """
    columns = [name for name in tables[0].pieces if name not in NAMED_COLUMNS]
    names = [name for name in columns if any(np.isnan(table.pieces[name]).any() for table in tables)]
    return (*columns, *(HAS + name for name in names if name == "score" or name not in SCORE_COLUMNS))


def expect_share(table: FloatArray, true: BoolArray) -> float:
    """Estimate the share of true ones among unlabelled proposals from a table of shape (N, F).

    Half of the true ones stand above the median holdout fact, and hardly a false one does, so the share is twice that
    of the proposals there. Log-odds are by weights of the other folds.
    """
    folds = np.random.default_rng(0).integers(0, FOLDS, len(true))
    log_odds = out_of_fold(table, true, np.ones(len(true)), folds)
    above = float((log_odds[~true] >= np.median(log_odds[true])).mean())
    return min(max(2 * above, 0.5 / len(true)), 0.9)


def out_of_fold(
    table: FloatArray, true: BoolArray, cases: FloatArray, folds: IntArray, bend: float = 0.0
) -> FloatArray:
    """Return the log-odds of each row of a table by a ridge that was learned from the other folds, shape (N,)."""
    log_odds = np.zeros(len(true))
    for fold in np.unique(folds):
        rest, these = folds != fold, folds == fold
        if true[rest].any() and not true[rest].all():
            ridge = Ridge.learn(table[rest], true[rest], count_cases(true[rest], SHARE, cases[rest]), bend)
            log_odds[these] = ridge.log_odds(table[these])
    return log_odds


def hash_triples(triples: Triples) -> IntArray:
    """Return a number for each triple, the same for the same codes; it is independent of relation and ends."""
    mixed = np.zeros(len(triples), dtype=np.uint64)
    for codes in (triples.heads, triples.relations, triples.tails):
        mixed = (mixed ^ codes.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return (mixed >> np.uint64(1)).astype(np.int64)


def count_cases(true: BoolArray, share: float, cases: FloatArray | float = 1.0) -> FloatArray:
    """Weight rows, each of which stands for so many, so that holdout facts are the given share; shape (N,)."""
    weights = np.broadcast_to(cases, true.shape)
    sums = weights[~true].sum(), weights[true].sum()
    return np.asarray(weights * np.where(true, share / sums[1], (1 - share) / sums[0]) * len(true))


PLACES = 5  # a holdout fact counts as one the model would have proposed when it is among so many best of a slot
TAKEN_OUT = 0.1  # share of the graph's facts that stand for unseen ones where there are none
MOST_TAKEN_OUT = 5000
MOST_DRAWN = 200_000  # proposals to learn from; of more, so many are drawn


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What the weights of evidence are learned from.

    Parameters
    ----------
    holdout : Triples
        Facts that the proposers did not know: models were not trained on them, rules were mined without them. They are
        taken out of the graph before the proposals are looked up.
    proposals : ScoredTriples
        N proposals. Their pieces count if they have any: leave them out where those of the holdout facts cannot be
        compared with those of the others.
    true : bool array of shape (N,)
        True for the proposals that are holdout facts.
    share : float, optional
        The share of true ones to expect among the others, which are unlabelled, if it is known from elsewhere, such as
        the share of the holdout that was proposed; else it is estimated.
    """

    holdout: Triples
    proposals: ScoredTriples
    true: BoolArray
    share: float | None = None

    @classmethod
    def among(cls, holdout: Triples, proposals: ScoredTriples) -> Self:
        """Find the holdout facts among proposals, which were made as if these were not known."""
        return cls(holdout, proposals, holdout.contains(proposals))

    @classmethod
    def placed_in(cls, holdout: ScoredTriples, pool: ScoredTriples) -> Self:
        """Put holdout facts among a pool, those that would have been proposed by their score.

        They have fewer rivals and lower scores than if the model had proposed them, so scores are left out.
        """
        fresh = holdout.take(~pool.contains(holdout))
        union = fresh.followed_by(pool).with_scores(np.append(fresh.scores, pool.scores))
        true = np.arange(len(union)) < len(fresh)
        near = best_place(union) <= PLACES
        rows = ~true | near if (true & near).sum() >= 2 else np.ones(len(union), dtype=np.bool_)
        return cls(holdout, union.take(rows).without_scores(), true[rows])

    @classmethod
    def from_graph(cls, graph: Graph, pool: Triples) -> Self:
        """Take some of the graph's own facts out of it, and put them among a pool; what was proposed does not count."""
        count = min(int(TAKEN_OUT * len(graph)), MOST_TAKEN_OUT)
        if count < 2:
            raise TableError(f"A graph of {len(graph)} facts is too small to learn from; it needs at least 20.")
        out = graph.take(np.random.default_rng(0).permutation(len(graph)) < count)
        fresh = out.take(~pool.contains(out))
        union = fresh.followed_by(pool.take(_draw(len(pool))) if len(pool) > MOST_DRAWN else pool)
        return cls(out, union.without_scores(), np.arange(len(union)) < len(fresh))

    def sampled(self) -> Self:
        """Return it with no more proposals than are needed to learn from; their places in slots are those among all."""
        if len(self.true) <= MOST_DRAWN:
            return self
        parts = (np.flatnonzero(self.true), np.flatnonzero(~self.true))
        rows = np.sort(np.concatenate([part[_draw(len(part))] for part in parts]))
        return replace(self, proposals=place_scores(self.proposals).take(rows), true=self.true[rows])


def _draw(count: int) -> IntArray:
    """Return rows at random, rising, no more than are needed to learn from."""
    return np.sort(np.random.default_rng(0).permutation(count)[:MOST_DRAWN])


def create_training_set(graph: Graph, proposals: ScoredTriples, holdout: Triples | None) -> TrainingSet:
    """Return the best training set there is.

    Holdout facts among the proposals, if two are there; else, if they have scores, the holdout facts put among the
    proposals; else some of the graph's own facts.

    Parameters
    ----------
    graph : Graph
        The known facts.
    proposals : ScoredTriples
        What was proposed as if the holdout facts were not known, with a model's score among the pieces.
    holdout : Triples or None
        Scored by the first model, if that is possible.
    """
    if holdout is not None:
        training = TrainingSet.among(holdout, proposals)
        if 2 <= training.true.sum() < len(proposals):
            return training.sampled()
        if isinstance(holdout, ScoredTriples) and "score" in proposals.pieces:
            pool = proposals.with_scores(proposals.pieces["score"])
            return TrainingSet.placed_in(holdout, pool.take(~training.true)).sampled()
    return TrainingSet.from_graph(graph, proposals)


def learn(
    graph: Graph,
    training: TrainingSet,
    limits: Limits | None = None,
    progress: Progress = ignore_progress,
    memory: str = MEMORY,
) -> tuple[EvidenceModel, Graph]:
    """Learn the weights of evidence from a training set, whose holdout facts the graph may have or not.

    Candidates are to be looked up with every fact, in the graph that is returned: the ridge bears the small difference,
    and profits from each.
    """
    limits = limits or Limits.for_count(len(training.proposals))
    graph = Graph.of(graph)  # a table of its own: with it go the keys that are made to find triples
    whole = graph if graph.contains(training.holdout).all() else Graph.of(graph.union(training.holdout))
    before = whole.take(~training.holdout.contains(whole))
    table = gather_evidence(before, training.proposals, limits, progress, memory)
    return fit_model(table, training.true, training.share), Graph.of(whole)


def score_evidence(
    graph: Graph,
    candidates: Triples,
    training: TrainingSet,
    stage: Stage = no_stage,
) -> tuple[ScoredTriples, EvidenceModel]:
    """Learn the weights of evidence from a training set, and give candidates their log-odds by them.

    Parameters
    ----------
    graph : Graph
        The known facts; whether it has the holdout facts or not.
    candidates : ScoredTriples
        What is to be decided, with the pieces that the proposals of the training set have.
    training : TrainingSet
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to call with steps done, steps in all.

    Returns
    -------
    ScoredTriples
        The candidates: their scores are log-odds, their pieces the evidence.
    EvidenceModel
        The weights.
    """
    limits = Limits.for_count(max(len(candidates), len(training.proposals)))
    with stage("Evidence") as advance:
        progress = count_look_ups(advance, 2)
        model, graph = learn(graph, training, limits, progress)
        scored = gather_evidence(graph, candidates, limits, progress=progress)
    return scored.with_scores(model.log_odds(scored.pieces)), model


def best_place(triples: ScoredTriples) -> FloatArray:
    """Return each triple's rank by score in the better of its two slots, 1 the best, shape (N,)."""
    return np.minimum(*(rank_in_slots(triples, ends, triples.scores)[0] for ends in (triples.heads, triples.tails)))


LOG_ODDS_COUNT = 2.0  # the log-odds by evidence count as a piece of so many standard deviations
LOG_ODDS_PIECE = "log-odds by evidence"
"""The piece of a pool whose scores are the model's own, beside the pieces that the log-odds are made of."""


def score_pools(
    graph: Graph, pools: Sequence[ScoredTriples], training: TrainingSet | None = None
) -> list[ScoredTriples]:
    """Put the graph's evidence beside the candidates of several pools, scored alike; answers come from the first.

    Pieces are normal quantiles, whose weights answers may move. With a training set the scores become log-odds, and the
    pieces of scores from which nothing could be learned are left to the answers. Without it some of the graph's own
    facts teach, but for the scores: these stay, and the log-odds are one more piece.
    """
    has_holdout, training = training is not None, training or TrainingSet.from_graph(graph, pools[0])
    limits = Limits.for_count(max(len(training.proposals), *map(len, pools)))
    model, graph = learn(graph, training, limits)
    tables = [gather_evidence(graph, pool.with_pieces(score=pool.scores), limits) for pool in pools]
    first = tables[0].with_scores(model.log_odds(tables[0].pieces))
    names = () if model.with_scores else tuple(name for name in SCORE_COLUMNS if name in first.pieces)
    places = Quantiles.of(stack_pieces(first.pieces, names), np.ones(len(first)))
    scale = LOG_ODDS_COUNT / max(float(first.scores.std()), 1e-9)
    scored = list[ScoredTriples]()
    for one, pool in zip(tables, pools, strict=True):
        log_odds, normal = (
            model.log_odds(one.pieces),
            model.ridge.quantiles.transform(stack_pieces(one.pieces, model.columns)),
        )
        pieces = dict(zip(model.columns, normal.T, strict=True))
        if has_holdout:
            beside = places.transform(stack_pieces(one.pieces, names))
            pieces |= dict(zip(names, beside.T, strict=True))
        else:
            pieces[LOG_ODDS_PIECE] = scale * (log_odds - first.scores.mean())
        scored.append(replace(pool.with_scores(log_odds if has_holdout else pool.scores), pieces=pieces))
    return scored
