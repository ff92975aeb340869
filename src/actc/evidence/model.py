"""The weight of each piece of evidence, learned from proposals with holdout facts among them: a logistic ridge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from actc.data.numeric import find_shift, one_thread, sigmoid, softplus
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence.plan import NAMED_COLUMNS, is_of_scores

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
        """Whether models' scores count: not where the training had none that can be compared."""
        return any(map(is_of_scores, self.columns))

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
    return (*columns, *(HAS + name for name in names if not is_of_scores(name) or name.startswith("score")))


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
    """Return a number for each triple, the same for the same codes; it has nothing to do with its relation or ends."""
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
