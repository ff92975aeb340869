"""Promises: kept as often as they say, longer lists for smaller demands, relations left out by name."""

from __future__ import annotations

import numpy as np
import pytest
from actc.trust.on_demand import describe_promise, draws_of, thresholds_on_demand

from actc import METHODS, Annotations
from actc.errors import OptionError
from actc.trust.promise import Demand, promise
from tests.synthetic import fit_on_random, make_truth


def accepted_by(kept, pool):
    return pool.scores >= kept.cuts[pool.relations]


def longest_list(truth, target):
    """Return how many triples one could accept who knew how probable each is."""
    share_of_best = np.cumsum(np.sort(truth)[::-1]) / np.arange(1, len(truth) + 1)
    return np.flatnonzero(share_of_best >= target)[-1] + 1


def test_promised_precision_is_kept_in_nine_of_ten_runs():
    broken, shares = 0, []
    for seed in range(40):
        pool, labels, truth = make_truth(seed=seed)
        posterior, annotations = fit_on_random(pool, labels, 200, seed)
        kept = promise(posterior, annotations, pool, [Demand(0.85)], 200, 600, seed)[0]
        decisions = accepted_by(kept, pool)
        broken += decisions.any() and labels[decisions].mean() < 0.85
        shares.append(decisions.sum() / longest_list(truth, 0.85))
    assert broken <= 6  # 4 of 40 are promised; 7 or more would come by chance in 10% of cases
    assert 0.5 < np.median(shares) < 1  # a promise of little is easily kept


def test_where_no_score_is_ever_sure_answers_overrule_the_model():
    broken = 0
    for seed in range(12):
        pool, labels, _ = make_truth(cap=0.7, seed=seed)
        posterior, annotations = fit_on_random(pool, labels, 500, seed)
        kept = promise(posterior, annotations, pool, [Demand(0.85)], 200, 600, seed)[0]
        broken += accepted_by(kept, pool).any()
    assert broken <= 3


def test_a_smaller_demand_accepts_more_and_more_confidence_accepts_less():
    pool, labels, _ = make_truth()
    posterior, annotations = fit_on_random(pool, labels, 300)
    asked = [(0.7, 0.9), (0.85, 0.9), (0.85, 0.99)]
    counts = [
        accepted_by(kept, pool).sum() for kept in promise(posterior, annotations, pool, [Demand(*one) for one in asked])
    ]
    assert counts[0] > counts[1] > counts[2]


def test_where_nobody_looked_less_is_promised():
    pool, labels, _ = make_truth()
    posterior, annotations = fit_on_random(pool, labels, 200)
    nobody = type(annotations)()
    seen, unseen = (promise(posterior, one, pool, [Demand(0.8)])[0] for one in (annotations, nobody))
    assert accepted_by(unseen, pool).sum() < 0.5 * accepted_by(seen, pool).sum()


def test_forty_answers_that_contradict_the_model_speak_alone():
    pool, labels, _ = make_truth()
    posterior, _ = fit_on_random(pool, labels, 200)
    sure = np.flatnonzero(posterior.probabilities(posterior.pool.x, posterior.pool.relations) > 0.9)[:40]
    answers = Annotations(sure, np.arange(40) % 20 < 13)  # 26 of 40 are true where the model expects 37
    kept = promise(posterior, answers, pool, [Demand(0.65)])[0]
    assert accepted_by(kept, pool).mean() < 0.1


def test_good_news_counts_only_from_triples_drawn_at_random():
    pool, labels, _ = make_truth()
    posterior, annotations = fit_on_random(pool, labels, 60)
    good = type(annotations)(annotations.rows, np.ones(60, dtype=bool))  # every answer is true
    demand = [Demand(0.9)]
    drawn, chosen = (promise(posterior, good, pool, demand, drawn=np.full(60, each))[0] for each in (True, False))
    assert accepted_by(drawn, pool).mean() > 0.9  # sixty of sixty: nearly all will be true, whatever the model thinks
    assert not accepted_by(chosen, pool).any()


def test_a_list_ends_where_answers_do():
    """Sixty true answers from the best twentieth of the pool say nothing about what comes far after it."""
    pool, labels, _ = make_truth()
    posterior, _ = fit_on_random(pool, labels, 200)
    best = np.argsort(-posterior.probabilities(posterior.pool.x, posterior.pool.relations))
    drawn, shares = np.append(np.ones(60, dtype=bool), False), []
    for among in (150, 900):
        rows = np.append(np.random.default_rng(0).permutation(best[:among])[:60], best[-1])
        kept = promise(posterior, Annotations(rows, drawn), pool, [Demand(0.8)], drawn=drawn)[0]
        shares.append(accepted_by(kept, pool).mean())
    assert 0.03 < shares[0] < 0.1
    assert shares[1] > 0.25


def test_where_one_cut_does_for_all_relations_no_model_is_needed():
    """Answers on a random draw show that the upper half is true; the model, fitted on none of them, doubts it."""
    pool, _, _ = make_truth()
    posterior, _ = fit_on_random(pool, pool.scores > 0, 0)
    rows = np.random.default_rng(0).permutation(len(pool))[:120]
    answers = Annotations(rows, pool.scores[rows] > np.median(pool.scores))
    decisions = accepted_by(promise(posterior, answers, pool, [Demand(0.9)])[0], pool)
    assert 0.4 < decisions.mean() < 0.6
    assert (pool.scores[decisions] > np.median(pool.scores)).mean() >= 0.9


def test_triples_of_one_probability_are_accepted_together_or_not_at_all():
    pool, labels, _ = make_truth(2000, 2)
    pool = pool.with_scores(np.round(pool.scores))
    posterior, annotations = fit_on_random(pool, labels, 200)
    for target in (0.6, 0.7, 0.8):
        kept = promise(posterior, annotations, pool, [Demand(target)])[0]
        share = labels[accepted_by(kept, pool)].mean()
        assert share >= target
        assert kept.chance >= 0.9


def test_nothing_is_accepted_when_nothing_can_be_promised():
    pool, labels, _ = make_truth()
    posterior, annotations = fit_on_random(pool, labels, 5)
    kept = promise(posterior, annotations, pool, [Demand(0.99, 0.99)])[0]
    assert np.isnan(kept.chance)
    assert not accepted_by(kept, pool).any()
    assert set(kept.left_out) == set(pool.relation_names)
    assert describe_promise(kept).chance is None


def test_thresholds_on_demand_decide_as_the_promise_does():
    pool, labels, _ = make_truth()
    posterior, annotations = fit_on_random(pool, labels, 200)
    thresholds, kept = thresholds_on_demand(posterior, pool, annotations, Demand(0.8))
    assert (thresholds.decide(pool) == accepted_by(kept, pool)).all()
    assert describe_promise(kept).target == 0.8


@pytest.mark.parametrize(
    ("demand", "words"),
    [
        (lambda: Demand(90), "share between 0 and 1"),
        (lambda: Demand(0.9, 0.2), "confidence of 0.2"),
        (
            lambda: draws_of(METHODS["localopt-acc"].fit(make_truth()[0], Annotations()), "localopt-acc"),
            "pooled method",
        ),
    ],
)
def test_demands_that_make_no_sense_are_refused(demand, words):
    with pytest.raises(OptionError, match=words):
        demand()
