from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc import ScoredTriples
from actc.data.answers import Annotations
from actc.errors import ChoiceError
from actc.methods.choose_thresholds import choose_thresholds
from actc.methods.estimate_labels import DecisionSets

scores = st.integers(0, 8).map(lambda i: i / 8)
hard = st.tuples(scores, st.sampled_from([0.0, 1.0]))
soft = st.tuples(scores, st.integers(0, 16).map(lambda i: i / 16))
groups_of = lambda element: st.lists(st.lists(element, max_size=12), min_size=1, max_size=4)  # noqa: E731


def as_decision_sets(lists):
    rows = sorted((g, s, y) for g, elements in enumerate(lists) for s, y in elements)
    group, score, label = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.zeros(0),) * 3
    rows = np.arange(len(score))
    return DecisionSets(rows, score, label, group.astype(np.int64), rows, 1, len(lists))


def accuracy(elements, cut):
    return sum(y if s >= cut else 1 - y for s, y in elements)


def f1(elements, cut):
    above, total = [y for s, y in elements if s >= cut], sum(y for _, y in elements)
    return 2 * sum(above) / (len(above) + total)


@pytest.mark.parametrize(("objective", "quality"), [("accuracy", accuracy), ("f1", f1)])
@pytest.mark.parametrize("element", [hard, soft], ids=["hard", "soft"])
@given(data=st.data())
def test_the_chosen_cut_is_the_lowest_of_those_that_brute_force_cannot_beat(objective, quality, element, data):
    lists = data.draw(groups_of(element))
    cuts = choose_thresholds(as_decision_sets(lists), objective)
    for elements, cut in zip(lists, cuts, strict=True):
        if not elements:
            assert np.isnan(cut)
            continue
        candidates = {s: quality(elements, s) for s, _ in elements}
        best = max(candidates.values())
        assert cut == min(s for s, value in candidates.items() if value == best)


def test_an_objective_of_ones_own_is_used():
    lists = [[(0.1, 1.0), (0.5, 0.0), (0.9, 1.0)]]
    precise = choose_thresholds(as_decision_sets(lists), lambda tally: tally.true_above / tally.above)
    assert precise.tolist() == [0.9]


def test_an_unknown_objective_is_named():
    with pytest.raises(ChoiceError, match="'acuracy'.*'accuracy'"):
        choose_thresholds(as_decision_sets([[(0.1, 1.0)]]), "acuracy")


@given(elements=st.lists(hard, min_size=1, max_size=10), order=st.randoms(use_true_random=False))
def test_algorithm_1_as_printed_keeps_the_first_strictly_better_score(elements, order):
    size = len(elements)
    values, truth = np.array([s for s, _ in elements]), np.array([y == 1 for _, y in elements])
    pool = ScoredTriples.from_columns([f"h{i}" for i in range(size)], ["r"] * size, ["t"] * size, values)
    rows = list(range(size))
    order.shuffle(rows)
    annotated = DecisionSets.of(pool, [Annotations(np.array(rows), truth[rows])])
    cuts = choose_thresholds(annotated, as_printed=True)
    tau, best = 0.0, 0
    for row in rows:
        if accuracy(elements, values[row]) > best:
            tau, best = values[row], accuracy(elements, values[row])
    assert cuts.tolist() == [tau, tau]
