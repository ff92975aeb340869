"""The audit: slices are drawn as they say, and the answers are read as the slice was drawn."""

from __future__ import annotations

import numpy as np
import pytest

from actc import Annotations, ScoredTriples
from actc.decide.audit import DESIGNS, answers_to_certify, assess, draw_slice
from actc.decide.intervals import anytime
from actc.errors import ChoiceError, OptionError


@pytest.fixture
def accepted():
    size = 900
    return ScoredTriples.from_columns(
        [f"h{i // 3}" for i in range(size)],
        [f"r{i % 4 * i % 4}" for i in range(size)],
        map(str, range(size)),
        range(size),
    )


@pytest.mark.parametrize("design", DESIGNS)
def test_a_slice_never_repeats_and_every_triple_can_be_in_it(accepted, design):
    random = np.random.default_rng(0)
    drawn = np.zeros(len(accepted))
    for _ in range(200):
        rows = draw_slice(accepted, 60, design, random)
        assert len(np.unique(rows)) == len(rows)
        assert 60 <= len(rows) <= 62
        drawn[rows] += 1
    assert drawn.min() >= 1
    assert drawn.mean() == pytest.approx(200 * 60 / 900, rel=0.05)


def test_a_slice_by_relation_has_every_relation_in_proportion(accepted):
    rows = draw_slice(accepted, 90, "relation", np.random.default_rng(0))
    judged = np.bincount(accepted.relations[rows], minlength=len(accepted.relation_names))
    assert np.abs(judged - accepted.relation_counts / 10).max() <= 1


def test_a_rare_relation_has_one_triple_in_the_slice():
    relations = ["common"] * 500 + ["rare"] * 2 + ["rarer"]
    accepted = ScoredTriples.from_columns([f"h{i}" for i in range(503)], relations, ["t"] * 503, range(503))
    rows = draw_slice(accepted, 20, "relation", np.random.default_rng(0))
    assert np.bincount(accepted.relations[rows]).tolist() == [18, 1, 1]


def test_a_slice_by_head_takes_whole_entities(accepted):
    rows = draw_slice(accepted, 50, "head", np.random.default_rng(0))
    heads, count = np.unique(accepted.heads[rows], return_counts=True)
    assert (count == np.bincount(accepted.heads)[heads]).all()


def test_an_entity_judged_in_part_does_not_count(accepted):
    rows = draw_slice(accepted, 30, "head", np.random.default_rng(0))
    whole = assess(accepted, Annotations(rows, np.ones(len(rows))), "head")
    partly = assess(accepted, Annotations(rows[:-1], np.ones(len(rows) - 1)), "head")
    assert whole.judged == len(rows)
    assert partly.judged == len(rows) - 3


def test_the_designs_agree_on_the_share_when_everything_is_judged(accepted):
    truth = np.random.default_rng(1).random(len(accepted)) < 0.85
    everything = Annotations(np.arange(len(accepted)), truth)
    for design in DESIGNS:
        audit = assess(accepted, everything, design)
        assert audit.share == pytest.approx(truth.mean())
        assert audit.interval.low <= truth.mean() <= audit.interval.high
    assert assess(accepted, everything).interval == pytest.approx((truth.mean(), truth.mean()))


def test_the_answers_that_are_said_to_certify_do_certify(accepted):
    rows = draw_slice(accepted, 40, "simple", np.random.default_rng(0))
    audit = assess(accepted, Annotations(rows, np.arange(40) % 20 > 0))
    more = answers_to_certify(audit, 0.85)
    assert audit.interval.low < 0.85
    grown = draw_slice(accepted, 40 + more, "simple", np.random.default_rng(0))
    assert assess(accepted, Annotations(grown, np.arange(40 + more) % 20 > 0)).interval.low >= 0.845
    assert answers_to_certify(audit, 0.5) == 0
    assert answers_to_certify(audit, 0.95) is None  # what was seen so far is not above it
    assert answers_to_certify(audit, 0.96) is None


def test_answers_that_are_worth_less_certify_later(accepted):
    """Three answers on one entity, all alike, are worth one: three times as many are needed."""
    rows = draw_slice(accepted, 60, "head", np.random.default_rng(0))
    entity = np.unique(accepted.heads[rows], return_inverse=True)[1]
    alike = assess(accepted, Annotations(rows, entity % 10 > 0), "head")
    assert alike.effective < 30
    simple = assess(accepted, Annotations(rows, entity % 10 > 0))
    assert answers_to_certify(alike, 0.8) > 1.5 * answers_to_certify(simple, 0.8)


@pytest.mark.parametrize("target", [0.85, 0.9])
def test_fewer_answers_than_are_said_to_certify_do_not(accepted, target):
    rows = draw_slice(accepted, 40, "simple", np.random.default_rng(0))
    audit = assess(accepted, Annotations(rows, np.arange(40) % 20 > 0))
    count = 40 + answers_to_certify(audit, target)
    low = [anytime(round(0.95 * n), n, 0.9, 900).low for n in (count - 1, count)]
    assert low[0] < target <= low[1]


def test_a_design_that_does_not_exist_and_an_empty_slice_are_refused(accepted):
    with pytest.raises(ChoiceError, match="'heads'.*'head'"):
        draw_slice(accepted, 5, "heads", np.random.default_rng(0))
    with pytest.raises(ChoiceError, match="relation"):
        assess(accepted, Annotations(), "relations")
    with pytest.raises(OptionError):
        draw_slice(accepted, 0, "simple", np.random.default_rng(0))
    with pytest.raises(OptionError):
        answers_to_certify(assess(accepted, Annotations()), 90)
