"""How much likelier each kind of error is than a fact to look as a triple does: density ratios, out of fold.

Two learners see facts and planted errors: a ridge logistic model on normal quantiles, and boosted trees. Each gives
the log of the ratio of densities, kind over fact, of triples that it did not learn from. How much each counts is
fitted by likelihood, on the same triples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.evidence.model import CHOICES, FOLDS, Quantiles

MOST_FACTS = 15_000  # that are learnt from
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


@dataclass(frozen=True, eq=False)
class Looked:
    """Facts and planted errors, and what the graph says of each.

    Parameters
    ----------
    columns : tuple of str
        Names of the F pieces of evidence.
    pieces : float array of shape (n, F)
        In single precision.
    kinds : int array of shape (n,)
        0 for facts, k for the k-th of K kinds of errors.
    rows : int array of shape (n,)
        Which fact it is, of N; -1 for errors. A fact may be there several times, each time with other errors around.
    folds : int array of shape (n,)
    """

    columns: tuple[str, ...]
    pieces: FloatArray
    kinds: IntArray
    rows: IntArray
    folds: IntArray

    @property
    def facts(self) -> BoolArray:
        """Which are facts, shape (n,)."""
        return np.asarray(self.kinds == 0)


Learner = Callable[[FloatArray, IntArray, FloatArray, FloatArray], FloatArray]
"""From a table of shape (m, F), its kinds, how much each row counts, and another table: log P(kind) of its rows."""


def by_ridge(table: FloatArray, kinds: IntArray, cases: FloatArray, others: FloatArray) -> FloatArray:
    """Learn a ridge logistic model on normal quantiles."""
    from sklearn.linear_model import LogisticRegression

    quantiles = Quantiles.of(table, cases)
    model = LogisticRegression(C=1 / CHOICES.ridge, max_iter=300).fit(quantiles.transform(table), kinds, cases)
    return np.asarray(model.predict_log_proba(quantiles.transform(others)))


def by_trees(table: FloatArray, kinds: IntArray, cases: FloatArray, others: FloatArray) -> FloatArray:
    """Learn boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    edges = [values[:: -(-len(values) // BINS)] for values in Quantiles.of(table, cases).values]
    model = HistGradientBoostingClassifier(random_state=0, **TREES).fit(_in_bins(table, edges), kinds, cases)
    return np.asarray(np.log(model.predict_proba(_in_bins(others, edges)).clip(LEAST)))


def _in_bins(table: FloatArray, edges: list[FloatArray]) -> FloatArray:
    """Return the number of each value's bin, NaN where a piece is missing.

    scikit-learn looks for bins by a search of its own for each, which took most of the time where rows have weights.
    """
    columns = [
        np.where(np.isnan(one), np.nan, np.searchsorted(at, one)) for one, at in zip(table.T, edges, strict=True)
    ]
    return np.column_stack(columns).astype(np.float32)


LEARNERS: dict[str, Learner] = {"ridge": by_ridge, "trees": by_trees}


def learn_ratios(
    looked: Looked, true: FloatArray, random: np.random.Generator, among: IntArray, wanted: IntArray
) -> FloatArray:
    """Return the log of the density of each kind over that of facts, out of fold, shape (n, K); 0 where not wanted.

    Parameters
    ----------
    looked : Looked
    true : float array of shape (N,)
        How probably true each fact is: those that look wrong teach less what facts look like.
    random : numpy.random.Generator
        Draws the facts that are learnt from.
    among, wanted : int array
        Rows of facts to learn from, and of facts to be told about; of the errors it is all.
    """
    errors = np.flatnonzero(~looked.facts)
    drawn = among if len(among) <= MOST_FACTS else random.choice(among, MOST_FACTS, replace=False)
    lesson, wanted = np.append(drawn, errors), np.append(wanted, errors)
    cases = count_cases(looked.kinds[lesson], np.append(true[looked.rows[drawn]], np.ones(len(lesson) - len(drawn))))
    found = [_out_of_fold(learner, looked, lesson, cases, wanted) for learner in LEARNERS.values()]
    weights = stack([ratios[lesson] for ratios in found], looked.kinds[lesson], cases)
    return np.asarray(sum(weight * ratios for weight, ratios in zip(weights, found, strict=True)))


def count_cases(kinds: IntArray, true: FloatArray) -> FloatArray:
    """Weight rows so that facts count as much as all errors, and all kinds of errors alike, shape (m,)."""
    sums = np.bincount(kinds, true)
    share = np.append(0.5, np.full(len(sums) - 1, 0.5 / max(len(sums) - 1, 1)))
    return np.asarray(true * (share / np.maximum(sums, 1e-9))[kinds] * len(kinds))


def _out_of_fold(learner: Learner, looked: Looked, lesson: IntArray, cases: FloatArray, wanted: IntArray) -> FloatArray:
    kinds, classes = looked.kinds[lesson], int(looked.kinds.max()) + 1
    ratios = np.zeros((len(looked.kinds), classes - 1))
    for fold in range(FOLDS):
        rest, these = looked.folds[lesson] != fold, wanted[looked.folds[wanted] == fold]
        learnt = lesson[rest]
        told = learner(
            looked.pieces[learnt].astype(np.float64), kinds[rest], cases[rest], looked.pieces[these].astype(np.float64)
        )
        told = told - np.log(np.bincount(kinds[rest], cases[rest], classes))
        ratios[these] = told[:, 1:] - told[:, :1]
    return ratios


def stack(found: list[FloatArray], kinds: IntArray, cases: FloatArray) -> FloatArray:
    """Return how much each learner's log-ratios count, by likelihood, shape (learners,)."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    told = np.stack([np.column_stack([np.zeros(len(kinds)), ratios]) for ratios in found])
    prior = np.log(np.bincount(kinds, cases) / cases.sum())

    def loss(weights: FloatArray) -> float:
        logits = np.tensordot(weights, told, 1) + prior
        right = logits[np.arange(len(kinds)), kinds]
        return float(np.average(logsumexp(logits, axis=1) - right, weights=cases))

    start = np.full(len(found), 1 / len(found))
    return np.asarray(minimize(loss, start, method="L-BFGS-B", bounds=[(0, 2)] * len(found)).x)
