from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc import ScoredTriples
from actc.data.answers import Annotations
from actc.errors import OptionError
from actc.methods.select_triples import SELECTORS, select_triples
from tests.conftest import make_pool


def select(name, pool, annotations, count, seed=0):
    rng = np.random.default_rng(seed)
    return select_triples(pool, annotations, count, name, rng, lambda relation=None: pool.scores).rows


@pytest.mark.parametrize("name", SELECTORS)
@given(steps=st.lists(st.integers(0, 9), min_size=1, max_size=5), seed=st.integers(0, 99))
def test_a_selector_never_repeats(name, steps, seed):
    pool, labels = make_pool()
    annotations = Annotations()
    for count in steps:
        rows = select(name, pool, annotations, count, seed)
        assert len(rows) == count
        annotations = annotations.plus(Annotations(rows, labels[rows]))  # refuses repeats
    assert len(annotations) == sum(steps)


@pytest.mark.parametrize("name", SELECTORS)
def test_a_selector_says_truly_whether_chance_plays_a_part(name, pool):
    first, second = (select(name, pool, Annotations(), 10, seed).tolist() for seed in (1, 2))
    assert (first != second) == SELECTORS[name].is_random


def test_picks_carry_how_they_were_chosen(pool):
    drawn = select_triples(pool, Annotations(), 3, "random", np.random.default_rng(0), None)
    assert (drawn.selection.tolist(), drawn.sampling_frame.tolist()) == (["random"] * 3, ["pool"] * 3)
    assert drawn.inclusion_probability.tolist() == [1 / len(pool)] * 3
    assert drawn.reasons.tolist() == [SELECTORS["random"].reason] * 3
    own = select_triples(pool, Annotations(), 1, lambda *_: np.array([7]), np.random.default_rng(0), None)
    assert (own.selection.tolist(), own.sampling_frame.tolist(), np.isnan(own.inclusion_probability).tolist()) == (
        ["gain"],
        [""],
        [True],
    )
    assert own.reasons.tolist() == ["Chosen by the method's own rule."]


def test_nearest_mean_is_the_smallest_sum_of_squared_distances(pool):
    density = ((pool.scores[:, None] - pool.scores) ** 2).sum(axis=0)
    assert select("nearest-mean", pool, Annotations(), 12).tolist() == np.argsort(density)[:12].tolist()
    assert select("farthest-mean", pool, Annotations(), 12).tolist() == np.argsort(-density)[:12].tolist()


def test_ties_are_broken_by_triple_not_by_row():
    pool = ScoredTriples.from_columns(["c", "a", "b"], ["r"] * 3, ["x"] * 3, [0.5, 0.5, 0.5])
    assert select("nearest-mean", pool, Annotations(), 3).tolist() == [1, 2, 0]


def test_uncertainty_takes_what_is_nearest_to_one_half(pool):
    rows = select("uncertainty", pool, Annotations(), 5)
    assert np.abs(pool.scores[rows] - 0.5).max() <= np.sort(np.abs(pool.scores - 0.5))[4]


def test_the_authors_uncertainty_asks_one_relation_s_classifier(pool, labels):
    asked = []

    def estimate(relation=None):
        asked.append(relation)
        return pool.scores

    random = np.random.default_rng(0)
    select_triples(pool, Annotations(), 1, "uncertainty-last-relation", random, estimate)
    row = np.array([4])
    select_triples(pool, Annotations(row, labels[row]), 1, "uncertainty-last-relation", random, estimate)
    assert asked == [None, pool.relations[4]]


def test_more_than_are_left_cannot_be_selected(pool, labels):
    with pytest.raises(OptionError, match="61.*60"):
        select("random", pool, Annotations(), 61)
    with pytest.raises(OptionError, match="57.*56.*60"):
        select("random", pool, Annotations(np.arange(4), labels[:4]), 57)
