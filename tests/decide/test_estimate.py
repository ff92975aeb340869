"""One estimate: it holds, its quantities fit each other, and no answer makes it less certain."""

from __future__ import annotations

import numpy as np
import pytest

from actc.data.answers import Annotations
from actc.data.constraints import Constraint, Constraints
from actc.data.triples import ScoredTriples
from actc.decide.case import Case
from actc.decide.estimate import Estimates, estimate_correction

NOTHING = np.zeros(0)


def estimates(p, accepted, judged=None, corrections=None, relations=None) -> Estimates:
    """Return the estimates of some candidates, by P(true) alone unless something else is given."""
    judged = np.full(len(p), -1) if judged is None else judged
    mine = [p[accepted & (judged < 0)], p[~accepted & (judged < 0)]]
    corrections = corrections or tuple(estimate_correction(one, NOTHING, NOTHING) for one in mine)
    relations = np.zeros(len(p), dtype=int) if relations is None else relations
    return Estimates(relations, p, accepted, judged, corrections, np.zeros(relations.max() + 1, dtype=int))


def test_without_answers_the_precision_is_the_mean_probability_and_wide():
    p = np.linspace(0.2, 0.9, 500)
    share = estimates(p, p >= 0.5).overall["precision"]
    assert share.middle == pytest.approx(p[p >= 0.5].mean())
    assert share.high - share.low > 0.2


def test_the_difference_estimator_is_right_whatever_the_probabilities_are():
    random = np.random.default_rng(0)
    truth = random.random(5000) < 0.9
    held, p = 0, np.full(5000, 0.6)  # far too low
    for _ in range(200):
        drawn = random.permutation(5000)[:100]
        middle, scale, _ = estimate_correction(p, truth[drawn] - p[drawn], np.full(100, 5000.0))
        held += abs(0.6 + middle - truth.mean()) <= 1.7 * scale
    assert held >= 170


def test_each_answer_narrows_the_interval_on_the_mean():
    random = np.random.default_rng(1)
    widths = np.zeros(30)
    for _ in range(200):
        truth = random.random(1000) < 0.85
        p = np.full(1000, 0.85)
        for count in range(30):
            widths[count] += estimate_correction(p, truth[:count] - p[:count], np.full(count, 1000.0))[1]
    assert (np.diff(widths) < 0).all()


def test_a_holdout_and_answers_are_combined_by_their_precision():
    p = np.full(1000, 0.8)
    alone, one, many = (estimate_correction(p, np.full(n, 0.2), np.full(n, 1000.0), (0.1, 0.05)) for n in (0, 1, 400))
    assert alone[:2] == pytest.approx((0.1, 0.05))
    assert one[1] <= alone[1]
    assert one[0] == pytest.approx(0.1, abs=0.01)
    assert many[0] > 0.17


def test_precision_recall_and_the_share_of_true_candidates_fit_each_other():
    random = np.random.default_rng(2)
    p = random.random(2000)
    accepted, judged = p >= 0.6, np.where(random.random(2000) < 0.05, random.random(2000) < p, -1).astype(int)
    accepted = np.where(judged >= 0, judged == 1, accepted)
    corrections = ((0.9 - p[accepted & (judged < 0)].mean(), 0.03, 40), (-0.1, 0.05, 20))
    found = {name: share.middle for name, share in estimates(p, accepted, judged, corrections).overall.items()}
    true = found["true_share"] * 2000
    assert found["precision"] * accepted.sum() == pytest.approx(found["recall"] * true)
    precision, recall = found["precision"], found["recall"]
    assert found["f1"] == pytest.approx(2 * precision * recall / (precision + recall))


def test_the_precision_of_all_is_the_mean_of_its_relations():
    random = np.random.default_rng(3)
    p, relations = random.random(3000), random.integers(5, size=3000)
    accepted = p >= 0.5
    corrections = ((0.8 - p[accepted].mean(), 0.03, 40), (0.2 - p[~accepted].mean(), 0.05, 20))
    found = estimates(p, accepted, corrections=corrections, relations=relations)
    shares = [found.of_relation(relation)["precision"] for relation in range(5)]
    mean = np.average([share.middle for share in shares], weights=np.bincount(relations[accepted]))
    assert mean == pytest.approx(found.overall["precision"].middle)
    assert all(share.low <= share.middle <= share.high for share in shares)


def test_what_people_judged_is_certain():
    judged = np.array([1, 1, 0, 0])
    found = estimates(np.full(4, 0.5), judged == 1, judged).overall
    assert [found[name].middle for name in ("precision", "recall", "accuracy", "true_share")] == [1, 1, 1, 0.5]
    assert found["precision"].low == 1


@pytest.mark.parametrize("rules", [Constraints(), Constraints((Constraint("functional", "r", use="hard"),))])
def test_of_what_is_rejected_as_many_are_expected_to_be_true_as_the_probabilities_say(rules):
    scores, count = np.sort(np.random.default_rng(0).random(300)), 300
    heads, tails = [f"h{row // 2}" for row in range(count)], [f"t{row}" for row in range(count)]
    pool, rows = ScoredTriples.from_columns(heads, ["r"] * count, tails, scores), np.arange(0, count, 4)
    labels = np.random.default_rng(1).random(len(rows)) < scores[rows]
    case = Case(pool, Annotations(rows, labels), constraints=rules)
    measured, accepted = case.estimates.overall, case.decisions.accepted
    missed = count * (1 - measured["accuracy"].middle) - accepted.sum() * (1 - measured["precision"].middle)
    rejected = ~accepted & ~np.isin(np.arange(count), rows)
    assert missed == pytest.approx(case.decisions.probability[rejected].sum())
    assert (len(case.decisions.excluded) > 10) == bool(len(rules))
