from __future__ import annotations

import numpy as np
import pytest

from actc import ScoredTriples
from actc.data.answers import Annotations
from actc.errors import ChoiceError, OptionError
from actc.methods.classifiers import ESTIMATORS, one_for_each_group
from actc.methods.estimate_labels import DecisionSets, estimate_labels, estimate_probabilities
from tests.conftest import make_pool


def plain_decision_set(pool, annotations, relation, n, soft, estimate_all):
    """Return the authors' decision set of one relation (None: the default), by scikit-learn and dictionaries."""
    from sklearn.linear_model import LogisticRegression

    label_of = {
        row: float(label)
        for row, label in zip(annotations.rows.tolist(), annotations.labels.tolist(), strict=True)
        if relation is None or pool.relations[row] == relation
    }
    low, high = pool.scores.min(), pool.scores.max()
    scores = np.array([low, high, *(pool.scores[row] for row in label_of)])
    classifier = LogisticRegression(C=100, solver="newton-cholesky", tol=1e-12)
    classifier.fit(scores[:, None], [0, 1, *(int(label) for label in label_of.values())])
    if not estimate_all and len(label_of) >= n:
        return sorted((pool.scores[row], label) for row, label in label_of.items())
    k = 1 if estimate_all else len(pool) // (n - len(label_of)) + 1
    for row in range(len(pool)):
        if (row + 1) % k == 0 and row not in label_of:
            p = classifier.predict_proba([[pool.scores[row]]])[0, 1]
            label_of[row] = p if soft else float(p > 0.5)
    return sorted((pool.scores[row], label) for row, label in label_of.items())


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("estimate_all", [False, True])
@pytest.mark.parametrize("n", [3, 20, 500])
def test_decision_sets_are_those_of_the_plain_description(n, soft, estimate_all):
    pool, labels = make_pool()
    rows = np.random.default_rng(1).permutation(len(pool))[:12]
    annotations = Annotations(rows, labels[rows])
    sets = estimate_labels(pool, DecisionSets.of(pool, [annotations]), "lr", n, soft, estimate_all)
    for group in range(4):
        mine = sets.group == group
        got = np.array(sorted(zip(sets.scores[mine], sets.labels[mine], strict=True))).reshape(-1, 2)
        relation = None if group == 3 else group
        expected = plain_decision_set(pool, annotations, relation, n, soft, estimate_all)
        np.testing.assert_allclose(got, np.array(expected).reshape(-1, 2), atol=1e-6)


def test_many_sets_at_once_are_the_same_as_one_by_one(pool, labels):
    orders = [np.random.default_rng(seed).permutation(len(pool))[: 5 * seed + 1] for seed in range(4)]
    sets = [Annotations(rows, labels[rows]) for rows in orders]
    together = estimate_labels(pool, DecisionSets.of(pool, sets), "gp", 20, soft=True)
    for i, one in enumerate(sets):
        alone = estimate_labels(pool, DecisionSets.of(pool, [one]), "gp", 20, soft=True)
        mine = together.group // 4 == i
        np.testing.assert_allclose(together.labels[mine], alone.labels, atol=1e-9)


def test_the_default_threshold_can_rest_on_annotations_alone(pool, labels):
    groups = DecisionSets.of(pool, [Annotations(np.arange(5), labels[:5])])
    sets = estimate_labels(pool, groups, "lr", 50, default_from_annotations=True)
    assert (sets.group == 3).sum() == 5


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_gives_probabilities_that_rise_from_anchor_to_anchor(name, pool, labels):
    answers = Annotations(np.arange(20), labels[:20])
    ends = ScoredTriples.from_columns("ab", ["unseen"] * 2, "cd", [0.0, 1.0])
    low, high = estimate_probabilities(pool, answers, name)(ends)
    assert 0 <= low < high <= 1


class Fixed:
    """A classifier that gives every score the probability it was made with."""

    def __init__(self, p):
        self.p = p

    def fit(self, scores, labels):
        return self

    def predict_proba(self, scores):
        return np.column_stack([np.full(len(scores), 1 - self.p), np.full(len(scores), self.p)])


@pytest.mark.parametrize(("p", "label"), [(0.45, 0.0), (0.5, 0.0), (0.55, 1.0)])
def test_an_estimate_is_true_above_one_half(p, label, pool, labels):
    groups = DecisionSets.of(pool, [Annotations(np.array([0]), labels[:1])])
    sets = estimate_labels(pool, groups, one_for_each_group(lambda: Fixed(p)), n=len(pool))
    estimated = np.sort(sets.labels[sets.group == 3])
    assert (estimated == label).sum() >= len(pool) // 2 - 1


def test_wrong_options_are_answered_in_a_sentence(pool, labels):
    groups = DecisionSets.of(pool, [Annotations(np.arange(2), labels[:2])])
    with pytest.raises(OptionError):
        estimate_labels(pool, groups, n=0)
    with pytest.raises(ChoiceError, match="'lrr'.*'lr'"):
        estimate_labels(pool, groups, "lrr")
    with pytest.raises(OptionError):
        estimate_labels(pool, groups, 3)
