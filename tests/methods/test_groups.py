from __future__ import annotations

import numpy as np
import pytest

from actc.data.answers import Annotations
from actc.errors import TableError
from actc.methods.groups import Groups


def test_every_annotation_is_in_its_relation_and_in_the_default_group(pool, labels):
    rows = np.array([7, 1, 30])
    groups = Groups.of(pool, [Annotations(rows, labels[rows])])
    assert groups.count == 4
    assert groups.sizes[:3].sum() == groups.sizes[3] == 3
    assert sorted(groups.rows[groups.group == 3]) == [1, 7, 30]


def test_annotations_are_sorted_by_score_and_remember_their_order(pool, labels):
    rows = np.array([9, 4, 17, 2])
    groups = Groups.of(pool, [Annotations(rows, labels[rows])], uniform=True)
    assert (np.diff(pool.scores[groups.rows]) >= 0).all()
    assert rows[groups.order].tolist() == groups.rows.tolist()


def test_a_row_beyond_the_pool_is_refused(pool):
    with pytest.raises(TableError, match="60"):
        Groups.of(pool, [Annotations(np.array([60]), np.array([True]))])
