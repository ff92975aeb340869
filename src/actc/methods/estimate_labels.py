"""Step 2: what are the other triples, probably?

A classifier on the score alone is fitted in every group (a relation, or all of them together) on that group's
annotations plus two anchors, (lowest score of the pool, false) and (highest, true), so that it never sees one class
only. It then labels further triples until the group's decision set has n elements.

An estimator is a function ``(scores, labels, group, count) -> Fitted`` that fits all groups at once. The classifiers
themselves live in ``logistic.py`` and ``gaussian_process.py``; any scikit-learn classifier will do as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Vocabulary
from actc.errors import OptionError, choose
from actc.methods.gaussian_process import fit_matern
from actc.methods.groups import DecisionSets, Groups
from actc.methods.logistic import fit_logistic


class Fitted(Protocol):
    """Classifiers of all groups, fitted."""

    def probabilities(self, scores: FloatArray, group: IntArray) -> FloatArray:
        """Return P(true) of each score by its group's classifier."""

    def is_true(self, scores: FloatArray, group: IntArray) -> BoolArray:
        """Return where that probability is above one half; often cheaper than the probability."""


Estimator = Callable[[FloatArray, IntArray, IntArray, int], Fitted]


def estimate_labels(
    pool: ScoredTriples,
    groups: Groups,
    estimator: Any = "lr",
    n: int = 500,
    soft: bool = False,
    estimate_all: bool = False,
    default_from_annotations: bool = False,
) -> DecisionSets:
    """Return each group's annotations together with estimated labels of other triples.

    Parameters
    ----------
    pool : ScoredTriples
        The candidates, N of them.
    groups : Groups
        The annotations, grouped; a group without any gets an empty decision set.
    estimator : str, callable or scikit-learn classifier
        A name in ``ESTIMATORS``, a function with their signature, or a classifier with ``predict_proba``.
    n : int
        The smallest decision set that is enough: a group with l < n annotations gets about n - l estimates.
    soft : bool
        Keep probabilities as labels instead of rounding them to 0 and 1.
    estimate_all : bool
        Estimate every triple of the pool that the group has no annotation for, whatever n.
    default_from_annotations : bool
        Give the default threshold's group no estimates.
    """
    strides = _strides(len(pool), groups, n, estimate_all)
    if default_from_annotations:
        strides[groups.is_default] = 0
    ranks, group = _rows_to_estimate(pool, groups, strides)
    scores = pool.scores[pool.by_score[ranks]]
    if not scores.size:
        return DecisionSets.of_annotations(pool, groups)
    fitted = fit_groups(pool, groups, estimator, strides > 0)
    guess = fitted.probabilities if soft else fitted.is_true
    return _merge(pool, groups, ranks, scores, guess(scores, group).astype(np.float64), group)


def fit_groups(pool: ScoredTriples, groups: Groups, estimator: Any, wanted: BoolArray) -> Fitted:
    """Fit one classifier in every wanted group, on its annotations and the two anchors."""
    chosen = np.flatnonzero(wanted)
    mine = wanted[groups.group]
    low, high = pool.scores[pool.by_score[[0, -1]]]
    scores = np.concatenate([pool.scores[groups.rows[mine]], np.full(len(chosen), low), np.full(len(chosen), high)])
    labels = np.concatenate([groups.labels[mine], np.zeros(len(chosen)), np.ones(len(chosen))]).astype(np.int64)
    group = np.concatenate([groups.group[mine], chosen, chosen])
    order = np.lexsort((scores, group))
    return find_estimator(estimator)(scores[order], labels[order], group[order], groups.count)


@dataclass(frozen=True, eq=False)
class FittedRelations:
    """The classifiers of one annotation set, ready for any triples.

    Parameters
    ----------
    fitted : Fitted
        One classifier for each relation with an annotation, and one for everyone.
    groups : Groups
        The groups of the annotation set.
    relation_names : Vocabulary
        The pool's relations.
    """

    fitted: Fitted
    groups: Groups
    relation_names: Vocabulary

    @classmethod
    def of(cls, pool: ScoredTriples, groups: Groups, estimator: Any) -> FittedRelations:
        """Fit the classifiers of one annotation set."""
        wanted = groups.sizes > 0
        wanted[groups.width - 1] = True
        return cls(fit_groups(pool, groups, estimator, wanted), groups, pool.relation_names)

    def probabilities(self, triples: ScoredTriples) -> FloatArray:
        """Return P(true), by the relation's classifier or, where it has no annotation, by everyone's, shape (M,)."""
        everyone = self.groups.width - 1
        group = self.relation_names.translate(triples.relations, triples.relation_names)
        group = np.where((group >= 0) & (self.groups.sizes[group] > 0), group, everyone)
        return self.fitted.probabilities(triples.scores, group)


def _strides(size: int, groups: Groups, n: int, estimate_all: bool) -> IntArray:
    """Return k for each group: every k-th triple of the pool, in file order, is estimated; 0 for none."""
    if n < 1:
        raise OptionError(f"n = {n} is too small: a decision set needs at least one triple.")
    if estimate_all:
        return np.where(groups.sizes > 0, 1, 0)
    missing = n - groups.sizes
    return np.where((groups.sizes > 0) & (missing > 0), size // np.maximum(missing, 1) + 1, 0)


def _rows_to_estimate(pool: ScoredTriples, groups: Groups, strides: IntArray) -> tuple[IntArray, IntArray]:
    """Return rank and group of all triples to estimate, sorted by both; a group's own annotations are left out."""
    every = {k: np.sort(pool.ranks[k - 1 :: k]) for k in np.unique(strides[strides > 0]).tolist()}
    chosen = np.flatnonzero(strides)
    picked = [every[k] for k in strides[chosen].tolist()]
    ranks = np.concatenate([np.zeros(0, dtype=np.int64), *picked])
    group = np.repeat(chosen, [len(ranks) for ranks in picked])
    stride = strides[groups.group]
    annotated = (stride > 0) & ((groups.rows + 1) % np.maximum(stride, 1) == 0)
    key = group * len(pool) + ranks
    own = groups.group[annotated] * len(pool) + pool.ranks[groups.rows[annotated]]
    keep = np.ones(len(ranks), dtype=np.bool_)
    keep[np.searchsorted(key, own)] = False
    return ranks[keep], group[keep]


def _merge(
    pool: ScoredTriples,
    groups: Groups,
    ranks: IntArray,
    scores: FloatArray,
    labels: FloatArray,
    group: IntArray,
) -> DecisionSets:
    """Merge estimates with the annotations; both are sorted by group and rank already, so this is linear."""
    own = groups.group * len(pool) + pool.ranks[groups.rows]
    slots = np.searchsorted(group * len(pool) + ranks, own) + np.arange(len(own))
    estimated = np.ones(len(own) + len(ranks), dtype=np.bool_)
    estimated[slots] = False

    def interleave(annotation: Any, estimate: Any) -> Any:
        column = np.empty(estimated.size, dtype=estimate.dtype)
        column[slots], column[estimated] = annotation, estimate
        return column

    return DecisionSets(
        interleave(pool.scores[groups.rows], scores),
        interleave(groups.labels, labels),
        interleave(groups.group, group),
        groups.count,
    )


class FittedClassifiers:
    """One scikit-learn classifier per group."""

    def __init__(self, models: dict[int, Any]) -> None:
        self._models = models

    def probabilities(self, scores: FloatArray, group: IntArray) -> FloatArray:
        """Return P(true) of each score by its group's classifier."""
        result = np.empty(len(scores))
        for g in np.unique(group).tolist():
            mine = group == g
            result[mine] = self._models[g].predict_proba(scores[mine, None])[:, 1]
        return result

    def is_true(self, scores: FloatArray, group: IntArray) -> BoolArray:
        """Return where that probability is above one half."""
        return self.probabilities(scores, group) > 0.5


def use_classifier(make: Callable[[], Any]) -> Estimator:
    """Turn a maker of scikit-learn classifiers into an estimator; each group gets a classifier of its own."""

    def fit(scores: FloatArray, labels: IntArray, group: IntArray, count: int) -> Fitted:
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        parts = zip(group[starts].tolist(), np.split(scores, starts[1:]), np.split(labels, starts[1:]), strict=True)
        return FittedClassifiers({g: make().fit(s[:, None], y) for g, s, y in parts})

    return fit


def _use_kernel(make_kernel: Callable[[Any], Any]) -> Estimator:
    """Return scikit-learn's Gaussian process with a kernel, made of its module when it is first needed."""

    def fit(scores: FloatArray, labels: IntArray, group: IntArray, count: int) -> Fitted:
        from sklearn.gaussian_process import GaussianProcessClassifier, kernels

        kernel = make_kernel(kernels)
        make = use_classifier(lambda: GaussianProcessClassifier(kernel, optimizer=None))
        return make(scores, labels, group, count)

    return fit


def _fit_scikit_learn(scores: FloatArray, labels: IntArray, group: IntArray, count: int) -> Fitted:
    from sklearn.linear_model import LogisticRegression

    return use_classifier(lambda: LogisticRegression(C=100.0))(scores, labels, group, count)


def find_estimator(estimator: Any) -> Estimator:
    """Return the estimator of that name, of that classifier, or the function itself."""
    if isinstance(estimator, str):
        return choose("estimator", estimator, ESTIMATORS)
    if hasattr(estimator, "predict_proba"):
        from sklearn.base import clone

        return use_classifier(lambda: clone(estimator))
    if callable(estimator):
        return estimator  # type: ignore[no-any-return]
    raise OptionError(f"{estimator!r} is no estimator: give a name, a classifier with predict_proba, or a function.")


ESTIMATORS: dict[str, Estimator] = {
    "lr": fit_logistic,
    "lr-scikit-learn": _fit_scikit_learn,  # the authors' very classifier, which stops short of the optimum
    "gp": fit_matern,
    "gp-rational-quadratic": _use_kernel(lambda kernels: kernels.RationalQuadratic(length_scale=0.1)),
    "gp-rbf": _use_kernel(lambda kernels: 10.0 * kernels.RBF(10.0)),
}
