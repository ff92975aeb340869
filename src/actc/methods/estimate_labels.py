"""Step 2: what are the other triples, probably?

Annotations stand in groups (a relation, or all relations together), each of which gets one threshold. In every group a
classifier on the score alone is fitted on the group's annotations plus two anchors, (lowest score of the pool, false)
and (highest, true), so that it never sees one class only. It then labels further triples until the group's decision
set has n elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.errors import OptionError, TableError
from actc.methods.classifiers import find_estimator
from actc.methods.gaussian_process import Probabilities


@dataclass(frozen=True, eq=False)
class DecisionSets:
    """Triples with annotated or estimated labels, in groups; from each group one threshold is chosen.

    Several annotation sets of one pool are laid side by side, so that one vectorised pass serves them all. Set s and
    relation r make group ``s * (R + 1) + r``; the last group of each set, r = R, holds all of its annotations:
    its threshold is the default, for relations that nobody annotated.
    """

    # Each (M,), sorted by group, then by score.
    rows: IntArray  # of the pool
    scores: FloatArray
    labels: FloatArray  # 1 true, 0 false, anything between for soft labels
    group: IntArray
    order: IntArray  # the place of an annotation in its set; -1 where the label is estimated
    sets: int  # S, how many annotation sets
    width: int  # R + 1, how many groups of one set

    @classmethod
    def of(cls, pool: ScoredTriples, annotation_sets: Sequence[Annotations], uniform: bool = False) -> Self:
        """Group annotation sets by relation and as a whole; ``uniform`` leaves out the relations."""
        width = len(pool.relation_names) + 1
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(a.rows for a in annotation_sets)])
        labels = np.concatenate([np.zeros(0), *(a.labels for a in annotation_sets)])
        if rows.size and int(rows.max()) >= len(pool):
            raise TableError(f"Row {rows.max()} is annotated, but the pool has only {len(pool)} triples.")
        sizes = [len(a) for a in annotation_sets]
        start = np.repeat(np.arange(len(sizes)) * width, sizes)
        order = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(size) for size in sizes)])
        group = start + width - 1
        if not uniform:
            group = np.concatenate([start + pool.relations[rows], group])
            rows, labels, order = np.tile(rows, 2), np.tile(labels, 2), np.tile(order, 2)
        empty = cls(rows[:0], np.zeros(0), np.zeros(0), rows[:0], rows[:0], len(sizes), width)
        return empty.plus(pool, rows, labels, group, order)

    def plus(self, pool: ScoredTriples, rows: IntArray, labels: FloatArray, group: IntArray, order: IntArray) -> Self:
        """Add triples of the pool."""
        rows, group = np.append(self.rows, rows), np.append(self.group, group)
        # Stable, because two sorted runs are merged in linear time.
        at = np.argsort(group * len(pool) + pool.ranks[rows], kind="stable")
        return replace(
            self,
            rows=rows[at],
            scores=pool.scores[rows[at]],
            labels=np.append(self.labels, labels)[at],
            group=group[at],
            order=np.append(self.order, order)[at],
        )

    @property
    def count(self) -> int:
        """The number of groups, annotated or not."""
        return self.sets * self.width

    @cached_property
    def sizes(self) -> IntArray:
        """How many elements each group has, shape (count,)."""
        return np.bincount(self.group, minlength=self.count)

    def fill_defaults(self, cuts: FloatArray) -> FloatArray:
        """Turn one cut per group into a table of shape (S, R + 1), the default where a cut is NaN."""
        table = cuts.reshape(self.sets, self.width)
        return np.where(np.isnan(table), table[:, -1:], table)


def estimate_labels(
    pool: ScoredTriples,
    annotated: DecisionSets,
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
    if n < 1:
        raise OptionError(f"n = {n} is too small: a decision set needs at least one triple.")
    # Every how manyth triple of the pool, in file order, is estimated in each group; 0 for none.
    missing = n - annotated.sizes
    strides = np.where(missing > 0, len(pool) // np.maximum(missing, 1) + 1, 0)
    if estimate_all:
        strides[:] = 1
    strides[annotated.sizes == 0] = 0
    if default_from_annotations:
        strides[annotated.width - 1 :: annotated.width] = 0
    rows, group = _rows_to_estimate(pool, annotated, strides)
    if not rows.size:
        return annotated
    p = _fit_groups(pool, annotated, estimator, strides > 0)(pool.scores[rows], group, soft)
    labels = p if soft else (p > 0.5).astype(np.float64)
    return annotated.plus(pool, rows, labels, group, np.full(len(rows), -1))


def _fit_groups(pool: ScoredTriples, annotated: DecisionSets, estimator: Any, wanted: BoolArray) -> Probabilities:
    """Fit one classifier in every wanted group, on its annotations and the two anchors."""
    chosen = np.flatnonzero(wanted)
    mine = wanted[annotated.group]
    low, high = pool.scores[pool.by_score[[0, -1]]]
    scores = np.concatenate([annotated.scores[mine], np.full(len(chosen), low), np.full(len(chosen), high)])
    labels = np.concatenate([annotated.labels[mine], np.zeros(len(chosen)), np.ones(len(chosen))]).astype(np.int64)
    group = np.concatenate([annotated.group[mine], chosen, chosen])
    order = np.lexsort((scores, group))
    return find_estimator(estimator)(scores[order], labels[order], group[order], annotated.count)


def estimate_probabilities(
    pool: ScoredTriples, annotations: Annotations, estimator: Any, uniform: bool = False
) -> Callable[[ScoredTriples], FloatArray]:
    """Return a function from triples to P(true), shape (M,), by the classifiers of one annotation set.

    It uses the relation's classifier or, where the relation has no annotation, the one fitted on all annotations.
    """
    annotated = DecisionSets.of(pool, [annotations], uniform)
    wanted = annotated.sizes > 0
    wanted[-1] = True
    fitted = _fit_groups(pool, annotated, estimator, wanted)

    def probabilities(triples: ScoredTriples) -> FloatArray:
        group = pool.relation_names.translate(triples.relations, triples.relation_names)
        group = np.where((group >= 0) & (annotated.sizes[group] > 0), group, annotated.width - 1)
        return fitted(triples.scores, group)

    return probabilities


def _rows_to_estimate(pool: ScoredTriples, annotated: DecisionSets, strides: IntArray) -> tuple[IntArray, IntArray]:
    """Return row and group of all triples to estimate, sorted by group and score, without the group's annotations."""
    every = {k: np.sort(pool.ranks[k - 1 :: k]) for k in np.unique(strides[strides > 0]).tolist()}
    chosen = np.flatnonzero(strides)
    picked = [every[k] for k in strides[chosen].tolist()]
    ranks = np.concatenate([np.zeros(0, dtype=np.int64), *picked])
    group = np.repeat(chosen, [len(ranks) for ranks in picked])
    stride = strides[annotated.group]
    among = (stride > 0) & ((annotated.rows + 1) % np.maximum(stride, 1) == 0)
    own = annotated.group[among] * len(pool) + pool.ranks[annotated.rows[among]]
    keep = np.ones(len(ranks), dtype=np.bool_)
    keep[np.searchsorted(group * len(pool) + ranks, own)] = False
    return pool.by_score[ranks[keep]], group[keep]
