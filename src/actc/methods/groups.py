"""Annotations in groups, one threshold to find in each: how all relations (and all budgets) are served in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.errors import TableError


@dataclass(frozen=True, eq=False)
class Groups:
    """Annotations sorted into groups, each of which gets one threshold.

    Several annotation sets of one pool are laid side by side, so that one vectorised pass serves them all. Set s and
    relation r make group ``s * (R + 1) + r``; the last group of each set, r = R, holds all of its annotations:
    its threshold is the default, for relations that nobody annotated.
    """

    # Row of the pool, label and group of each annotation, and its place in its set; sorted by group, then by score.
    rows: IntArray  # (L,)
    labels: BoolArray
    group: IntArray
    order: IntArray
    sets: int  # S, how many annotation sets
    width: int  # R + 1, how many groups of one set

    @classmethod
    def of(cls, pool: ScoredTriples, annotation_sets: Sequence[Annotations], uniform: bool = False) -> Self:
        """Group annotation sets by relation and as a whole; ``uniform`` leaves out the relations."""
        width = len(pool.relation_names) + 1
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(a.rows for a in annotation_sets)])
        labels = np.concatenate([np.zeros(0, dtype=np.bool_), *(a.labels for a in annotation_sets)])
        if rows.size and int(rows.max()) >= len(pool):
            raise TableError(f"Row {rows.max()} is annotated, but the pool has only {len(pool)} triples.")
        sizes = [len(a) for a in annotation_sets]
        start = np.repeat(np.arange(len(sizes)) * width, sizes)
        place = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(size) for size in sizes)])
        group = start + width - 1
        if not uniform:
            group = np.concatenate([start + pool.relations[rows], group])
            rows, labels, place = np.tile(rows, 2), np.tile(labels, 2), np.tile(place, 2)
        order = np.argsort(group * len(pool) + pool.ranks[rows])
        return cls(rows[order], labels[order], group[order], place[order], len(sizes), width)

    @property
    def count(self) -> int:
        """The number of groups, annotated or not."""
        return self.sets * self.width

    @cached_property
    def sizes(self) -> IntArray:
        """How many annotations each group has, shape (count,)."""
        return np.bincount(self.group, minlength=self.count)

    @cached_property
    def is_default(self) -> BoolArray:
        """Whether a group is the last one of its set, shape (count,)."""
        return np.equal(np.arange(self.count) % self.width, self.width - 1)

    def fill_defaults(self, cuts: FloatArray) -> FloatArray:
        """Turn one cut per group into a table of shape (S, R + 1), the default standing in wherever a cut is NaN."""
        table = cuts.reshape(self.sets, self.width)
        return np.where(np.isnan(table), table[:, -1:], table)


@dataclass(frozen=True, eq=False)
class DecisionSets:
    """Scores with annotated or estimated labels, from which each group's threshold is chosen."""

    scores: FloatArray  # (M,) sorted by group, then by score
    labels: FloatArray  # (M,) 1 true, 0 false, anything between for soft labels
    group: IntArray  # (M,)
    count: int  # how many groups, annotated or not

    @classmethod
    def of_annotations(cls, pool: ScoredTriples, groups: Groups) -> DecisionSets:
        """Use the annotations alone."""
        return cls(pool.scores[groups.rows], groups.labels.astype(np.float64), groups.group, groups.count)
