from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc import ScoredTriples
from actc.methods.three_steps import Squash, needs_squashing

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


def test_squashed_scores_are_centred():
    pool = pool_of([1.0, 2.0, 6.0])
    assert Squash.of(pool).apply(pool).scores == pytest.approx([1 / (1 + np.e**2), 1 / (1 + np.e), 1 / (1 + np.e**-3)])


def test_only_scores_outside_zero_to_one_need_squashing():
    assert not needs_squashing(pool_of([0.0, 1.0]))
    assert needs_squashing(pool_of([0.0, 1.1]))
    assert needs_squashing(pool_of([-0.1, 1.0]))
