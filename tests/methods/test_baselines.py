from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc import ScoredTriples
from actc.data.answers import Annotations
from actc.errors import OptionError
from actc.methods.baselines import global_opt, local_opt
from actc.methods.groups import Groups
from tests.conftest import make_pool

GRID = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


def plain_global_opt(pool, annotations, passes):
    """Follow the description word by word."""

    def f1(cut_of):
        accepted = [pool.scores[row] >= cut_of(pool.relations[row]) for row in annotations.rows]
        size = sum(accepted) + annotations.labels.sum()
        return 2 * sum(a and y for a, y in zip(accepted, annotations.labels, strict=True)) / size if size else 1.0

    quality = {value: f1(lambda relation, value=value: value) for value in GRID}
    default = max(GRID, key=lambda value: (quality[value], -value))
    cuts = dict.fromkeys(sorted(set(pool.relations[annotations.rows].tolist())), 0.5)
    for one in list(cuts) * passes:
        quality = {value: f1({**cuts, one: value}.get) for value in GRID}
        cuts[one] = max(GRID, key=lambda value: (quality[value], -value))
    return [cuts.get(code, default) for code in range(3)] + [default]


@given(count=st.integers(1, 25), seed=st.integers(0, 50), passes=st.integers(1, 2))
def test_global_opt_follows_its_description(count, seed, passes):
    pool, labels = make_pool()
    rows = np.random.default_rng(seed).permutation(len(pool))[:count]
    annotations = Annotations(rows, labels[rows])
    assert global_opt(pool, [annotations], 0.1, passes)[0].tolist() == plain_global_opt(pool, annotations, passes)


def test_global_opt_can_leave_unseen_relations_at_one_half(pool, labels):
    row = np.array([0])
    cuts = global_opt(pool, [Annotations(row, labels[row])], fixed_default=0.5)
    assert cuts[0, [1, 2, 3]].tolist() == [0.5, 0.5, 0.5]


def test_global_opt_starts_at_one_half_and_ends_on_the_grid():
    pool = ScoredTriples.from_columns("ab", "rr", "xy", [0.45, 0.55])
    cuts = global_opt(pool, [Annotations(np.arange(2), np.array([False, True]))], step=0.2)
    assert cuts[0].tolist() == [0.2, 0.2]  # 0.5 would be better, but is none of 0.2, 0.4, 0.6, 0.8


@pytest.mark.parametrize(("step", "passes"), [(0.0, 1), (1.0, 1), (1e-9, 1), (0.1, 0), (0.1, 10**9)])
def test_global_opt_refuses_a_grid_without_values_or_without_end(pool, labels, step, passes):
    with pytest.raises(OptionError, match="0.001.*1.*1.*1000"):
        global_opt(pool, [Annotations(np.array([0]), labels[:1])], step, passes)


@given(seed=st.integers(0, 50), count=st.integers(1, 40))
def test_a_rising_rescaling_of_the_scores_changes_no_local_opt_decision(seed, count):
    pool, labels = make_pool()
    rows = np.random.default_rng(seed).permutation(len(pool))[:count]
    annotations = [Annotations(rows, labels[rows])]
    other = pool.with_scores(np.exp(3 * pool.scores) - 7)
    for objective in ("accuracy", "f1"):
        cuts = local_opt(pool, Groups.of(pool, annotations), objective)[0]
        again = local_opt(other, Groups.of(other, annotations), objective)[0]
        assert ((pool.scores >= cuts[pool.relations]) == (other.scores >= again[other.relations])).all()


def test_local_opt_without_annotations_of_a_relation_uses_the_best_cut_of_all(pool, labels):
    mine = np.flatnonzero(pool.relations == 1)
    cuts = local_opt(pool, Groups.of(pool, [Annotations(mine, labels[mine])]))[0]
    assert cuts[0] == cuts[1] == cuts[2] == cuts[3]
