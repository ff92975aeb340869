"""The audit: draws are random in each stratum, the interval holds the truth, and it says when it is done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, binomtest

from actc import ScoredTriples
from actc.data.answers import Annotations
from actc.decide.audit import MIN_ANSWERS, StoppingRule, answers_for, anytime, assess, draw_next, stratify, wilson
from actc.errors import OptionError

NOTHING = Annotations()


@pytest.fixture(scope="module")
def accepted():
    """900 facts of three relations, one of them rare, each with a score of its own."""
    size = 900
    relations = np.where(np.arange(size) % 300 == 0, "rare", np.where(np.arange(size) % 4 == 0, "small", "large"))
    return ScoredTriples.from_columns(map(str, range(size)), relations, map(str, range(size)), range(size))


def answered(rows, labels) -> Annotations:
    return Annotations(rows, np.asarray(labels)[rows])


def test_strata_are_relations_the_rare_ones_together_and_halves_by_score(accepted):
    codes = stratify(accepted)
    names = np.array(accepted.relation_names, dtype=object)[accepted.relations]
    for code in np.unique(codes):
        assert len({name == "large" for name in names[codes == code]}) == 1
    large = np.unique(codes[names == "large"], return_counts=True)[1]
    assert len(large) == 2
    assert abs(np.diff(large)) <= 1
    alike = stratify(accepted.with_scores(np.zeros(len(accepted))))
    assert len(np.unique(alike)) == 2
    assert set(alike[names == "rare"]) == set(alike[names == "small"])


def test_no_fact_is_drawn_twice_and_each_can_be(accepted):
    drawn = np.zeros(len(accepted))
    for seed in range(200):
        rows = draw_next(accepted, NOTHING, 60, np.random.default_rng(seed))
        assert len(np.unique(rows)) == 60
        drawn[rows] += 1
    assert drawn.min() >= 1
    rest = draw_next(accepted, NOTHING, 10_000, np.random.default_rng(0), waiting=rows)  # those wait for an answer
    assert sorted([*rest, *rows]) == [*range(len(accepted))]


def test_first_draws_are_in_proportion_and_later_ones_go_where_answers_differ(accepted):
    codes, random = stratify(accepted), np.random.default_rng(0)
    rows = draw_next(accepted, NOTHING, 90, random)
    expected = np.bincount(codes) / 10
    assert np.abs(np.bincount(codes[rows]) - expected).max() <= 1
    labels = (codes != codes[rows[0]]) | (np.arange(len(codes)) % 2 == 0)  # one stratum has errors
    more = draw_next(accepted, answered(rows, labels), 90, random)
    assert not np.isin(more, rows).any()
    share = np.mean(codes[more] == codes[rows[0]])
    assert share > 1.2 * np.mean(codes == codes[rows[0]])


@given(st.integers(1, 200).flatmap(lambda judged: st.tuples(st.integers(0, judged), st.just(judged))))
def test_one_stratum_has_wilson_s_interval(count):
    trues, judged = count
    found = binomtest(trues, judged).proportion_ci(0.9, method="wilson")
    assert wilson(trues / judged, judged, 0.0, 0.9) == pytest.approx(tuple(found), abs=1e-9)


@given(st.integers(1, 300).flatmap(lambda judged: st.tuples(st.integers(0, judged), st.just(judged))))
def test_anytime_bounds_are_where_prior_over_posterior_reaches_its_limit(count):
    (trues, judged), level = count, 0.9
    total = judged + 100
    possible = np.arange(total + 1)
    posterior = betabinom.pmf(possible - trues, total - judged, trues + 1, judged - trues + 1)
    low, high = anytime(trues, judged, level, total)
    # A count that is at the limit exactly may fall on either side of it.
    kept = [possible[posterior * (total + 1) > (1 - level) * slack] / total for slack in (1 - 1e-9, 1 + 1e-9)]
    assert low in (pytest.approx(kept[0][0]), pytest.approx(kept[1][0]))
    assert high in (pytest.approx(kept[0][-1]), pytest.approx(kept[1][-1]))


@pytest.mark.parametrize("spread", [0.0, 0.4])
def test_the_interval_holds_the_truth_when_the_audit_says_that_it_is_done(accepted, spread):
    rule, codes = StoppingRule(0.06), stratify(accepted)
    shares = np.clip(0.9 - spread * (codes == 0), 0, 1)
    held = []
    for seed in range(100):
        random = np.random.default_rng(seed)
        labels, answers = random.random(len(accepted)) < shares, NOTHING
        while (found := assess(accepted, answers, rule)).more != 0:
            rows = draw_next(accepted, answers, 10, random, rule)
            answers = Annotations(np.append(answers.rows, rows), np.append(answers.labels, labels[rows]))
        assert found.judged >= MIN_ANSWERS
        assert found.share.high - found.share.low <= 0.12
        held.append(found.share.low <= labels.mean() <= found.share.high)
    assert np.mean(held) >= 0.83  # 90%, less what 100 runs may miss by chance


def test_it_says_about_how_many_answers_are_missing(accepted):
    random, labels = np.random.default_rng(0), np.arange(len(accepted)) % 10 > 0
    first = answered(draw_next(accepted, NOTHING, 40, random), labels)
    found = assess(accepted, first, StoppingRule(0.05))
    assert 20 < found.more < 120
    rows = draw_next(accepted, first, found.more, random)
    more = Annotations(np.append(first.rows, rows), np.append(first.labels, labels[rows]))
    assert assess(accepted, more, StoppingRule(0.05)).more <= 20
    assert 200 < assess(accepted, NOTHING, StoppingRule(0.05)).more < 272  # whatever the answers will be


def test_when_everything_is_judged_the_share_is_known(accepted):
    labels = np.random.default_rng(1).random(len(accepted)) < 0.85
    everything = answered(np.arange(len(accepted)), labels)
    for rule in (StoppingRule(), StoppingRule(target=0.5)):
        found = assess(accepted, everything, rule)
        assert (found.share.low, found.share.middle, found.share.high) == pytest.approx((labels.mean(),) * 3, abs=1e-4)
        assert found.more == 0


def test_the_answers_that_are_said_to_certify_do_certify_and_one_less_does_not(accepted):
    labels = np.arange(len(accepted)) % 20 > 0
    rows = np.arange(40)
    for target in (0.85, 0.9):
        found = assess(accepted, answered(rows, labels), StoppingRule(target=target))
        assert found.share.low < target
        count = 40 + found.more
        low = [anytime(round(found.share.middle * n), n, 0.9, 900)[0] for n in (count - 1, count)]
        assert low[0] < target <= low[1]
    assert assess(accepted, answered(rows, labels), StoppingRule(target=0.5)).more == 0
    assert assess(accepted, answered(rows, labels), StoppingRule(target=0.96)).more is None
    assert answers_for(0.9, 0.95, 900) == pytest.approx(answers_for(0.9, 0.95, 10**6), rel=0.3)


@pytest.mark.parametrize("options", [{"within": 5}, {"within": 0}, {"target": 90}, {"level": 1}])
def test_a_rule_that_cannot_be_is_refused(options):
    with pytest.raises(OptionError):
        StoppingRule(**options)


def test_an_empty_draw_is_refused(accepted):
    with pytest.raises(OptionError):
        draw_next(accepted, NOTHING, 0, np.random.default_rng(0))
