from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc import ScoredTriples
from actc.data.answers import Annotations
from actc.errors import TableError
from actc.methods.estimate_labels import DecisionSets
from actc.methods.three_steps import Squash, needs_squashing


def test_every_annotation_is_in_its_relation_and_in_the_default_group(pool, labels):
    rows = np.array([7, 1, 30])
    groups = DecisionSets.of(pool, [Annotations(rows, labels[rows])])
    assert groups.count == 4
    assert groups.sizes[:3].sum() == groups.sizes[3] == 3
    assert sorted(groups.rows[groups.group == 3]) == [1, 7, 30]


def test_annotations_are_sorted_by_score_and_remember_their_order(pool, labels):
    rows = np.array([9, 4, 17, 2])
    groups = DecisionSets.of(pool, [Annotations(rows, labels[rows])], uniform=True)
    assert (np.diff(pool.scores[groups.rows]) >= 0).all()
    assert rows[groups.order].tolist() == groups.rows.tolist()


def test_a_row_beyond_the_pool_is_refused(pool):
    with pytest.raises(TableError, match="60"):
        DecisionSets.of(pool, [Annotations(np.array([60]), np.array([True]))])


raw_scores = st.lists(st.floats(-60, 60, width=32), min_size=1, max_size=30, unique=True)


def pool_of(scores):
    size = len(scores)
    return ScoredTriples.from_columns([f"h{i}" for i in range(size)], ["r"] * size, ["t"] * size, scores)


@given(scores=raw_scores, data=st.data())
def test_undone_cuts_accept_exactly_the_same_triples(scores, data):
    pool = pool_of(scores)
    squash = Squash.of(pool)
    squashed = squash.apply(pool)
    cut = data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0, *squashed.scores.tolist()]))
    raw_cut = squash.undo(np.array([cut]), pool)[0]
    assert ((pool.scores >= raw_cut) == (squashed.scores >= cut)).all()


@pytest.mark.parametrize(("first", "mean"), [(-5.0, -3.0), (-0.3, 0.3), (0.3, 1.0)])
def test_undone_cuts_part_neighbouring_floats_as_the_squashed_ones_do(first, mean):
    scores = [first]
    for _ in range(60):
        scores.append(np.nextafter(scores[-1], np.inf))
    pool, squash = pool_of(scores), Squash(mean)
    squashed = squash.apply(pool).scores
    raw_cuts = squash.undo(squashed, pool)
    assert ((pool.scores[:, None] >= raw_cuts) == (squashed[:, None] >= squashed)).all()


def test_only_scores_outside_zero_to_one_need_squashing():
    assert not needs_squashing(pool_of([0.0, 1.0]))
    assert needs_squashing(pool_of([0.0, 1.1]))
    assert needs_squashing(pool_of([-0.1, 1.0]))
