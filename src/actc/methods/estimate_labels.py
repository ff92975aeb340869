"""Step 2: what are the other triples, probably?

A classifier on the score alone is fitted in every group (a relation, or all of them together) on that group's
annotations plus two anchors, (lowest score of the pool, false) and (highest, true), so that it never sees one class
only. It then labels further triples until the group's decision set has n elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.errors import OptionError
from actc.methods.classifiers import Fitted, find_estimator
from actc.methods.groups import DecisionSets, Groups


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

    A group with l < n annotations gets about n - l estimates, with ``estimate_all`` all of the pool's other triples; a
    group without any gets an empty decision set, and with ``default_from_annotations`` the default's group no
    estimates. With ``soft``, probabilities are the labels.
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


def estimate_probabilities(
    pool: ScoredTriples, annotations: Annotations, estimator: Any, uniform: bool = False
) -> Callable[[ScoredTriples], FloatArray]:
    """Return a function from triples to P(true), shape (M,), by the classifiers of one annotation set.

    It uses the relation's classifier or, where the relation has no annotation, the one fitted on all annotations.
    """
    groups = Groups.of(pool, [annotations], uniform)
    wanted = groups.sizes > 0
    wanted[-1] = True
    fitted = fit_groups(pool, groups, estimator, wanted)

    def probabilities(triples: ScoredTriples) -> FloatArray:
        group = pool.relation_names.translate(triples.relations, triples.relation_names)
        group = np.where((group >= 0) & (groups.sizes[group] > 0), group, groups.width - 1)
        return fitted.probabilities(triples.scores, group)

    return probabilities


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
