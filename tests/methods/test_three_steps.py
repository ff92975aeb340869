from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc import METHODS, ScoredTriples
from actc.data.answers import Annotations
from actc.errors import OptionError, TableError
from actc.methods.estimate_labels import DecisionSets
from actc.methods.three_steps import GlobalOpt, LocalOpt, Squash
from tests.conftest import make_pool


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


GRID = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


def plain_global_opt(pool, annotations):
    """Follow the description word by word."""

    def f1(cut_of):
        accepted = [pool.scores[row] >= cut_of(pool.relations[row]) for row in annotations.rows]
        size = sum(accepted) + annotations.labels.sum()
        return 2 * sum(a and y for a, y in zip(accepted, annotations.labels, strict=True)) / size if size else 1.0

    quality = {value: f1(lambda relation, value=value: value) for value in GRID}
    default = max(GRID, key=lambda value: (quality[value], -value))
    cuts = dict.fromkeys(sorted(set(pool.relations[annotations.rows].tolist())), 0.5)
    for one in list(cuts):
        quality = {value: f1({**cuts, one: value}.get) for value in GRID}
        cuts[one] = max(GRID, key=lambda value: (quality[value], -value))
    return [cuts.get(code, default) for code in range(3)] + [default]


@given(count=st.integers(1, 25), seed=st.integers(0, 50))
def test_global_opt_follows_its_description(count, seed):
    pool, labels = make_pool()
    rows = np.random.default_rng(seed).permutation(len(pool))[:count]
    annotations = Annotations(rows, labels[rows])
    assert GlobalOpt().find_cuts(pool, [annotations])[0].tolist() == plain_global_opt(pool, annotations)


def test_global_opt_can_leave_unseen_relations_at_one_half(pool, labels):
    row = np.array([0])
    cuts = GlobalOpt(default="half").find_cuts(pool, [Annotations(row, labels[row])])
    assert cuts[0, [1, 2, 3]].tolist() == [0.5, 0.5, 0.5]


def test_global_opt_starts_at_one_half_and_ends_on_the_grid():
    pool = ScoredTriples.from_columns("ab", "rr", "xy", [0.45, 0.55])
    cuts = GlobalOpt(step=0.2).find_cuts(pool, [Annotations(np.arange(2), np.array([False, True]))])
    assert cuts[0].tolist() == [0.2, 0.2]  # 0.5 would be better, but is none of 0.2, 0.4, 0.6, 0.8


@pytest.mark.parametrize("step", [0.0, 1.0, 1e-9])
def test_global_opt_refuses_a_grid_without_values_or_without_end(pool, labels, step):
    with pytest.raises(OptionError, match="0.001.*1"):
        GlobalOpt(step=step).find_cuts(pool, [Annotations(np.array([0]), labels[:1])])


@given(seed=st.integers(0, 50), count=st.integers(1, 40))
def test_a_rising_rescaling_of_the_scores_changes_no_local_opt_decision(seed, count):
    pool, labels = make_pool()
    rows = np.random.default_rng(seed).permutation(len(pool))[:count]
    annotations = [Annotations(rows, labels[rows])]
    other = pool.with_scores(np.exp(3 * pool.scores) - 7)
    for name in ("localopt-acc", "localopt-f1"):
        cuts, again = (METHODS[name].find_cuts(scored, annotations)[0] for scored in (pool, other))
        assert ((pool.scores >= cuts[pool.relations]) == (other.scores >= again[other.relations])).all()


def test_local_opt_without_annotations_of_a_relation_uses_the_best_cut_of_all(pool, labels):
    mine = np.flatnonzero(pool.relations == 1)
    cuts = LocalOpt().find_cuts(pool, [Annotations(mine, labels[mine])])[0]
    assert cuts[0] == cuts[1] == cuts[2] == cuts[3]
