"""What evidence is worth, learned from holdout facts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from actc.data.numeric import sigmoid
from actc.data.triples import ScoredTriples
from actc.errors import FileError, TableError
from actc.evidence.reasons import load_evidence, save_evidence
from actc.evidence.score import (
    BEND,
    Ridge,
    TrainingSet,
    count_cases,
    create_training_set,
    expect_share,
    fit_model,
    learn,
    score_evidence,
)
from actc.evidence.table import gather_evidence
from actc.graph.graph import Graph


def make_town(people=60, seed=0):
    """Everybody who lives in a town works there: half of the work is unknown, a part of it is the holdout."""
    rng = np.random.default_rng(seed)
    homes = rng.integers(0, 4, people)
    lives = [(f"p{i}", "lives in", f"town{home}") for i, home in enumerate(homes)]
    works = [(f"p{i}", "works in", f"town{home}") for i, home in enumerate(homes)]
    held, hidden = works[: people // 3], works[people // 3 : 2 * people // 3]
    graph = Graph.from_columns(*map(list, zip(*lives, *works[2 * people // 3 :], *held, strict=True)))
    asked = [(f"p{i}", "works in", f"town{k}") for i in range(people // 3, 2 * people // 3) for k in range(4)]
    pool = ScoredTriples.from_columns(*zip(*asked, strict=True), rng.normal(size=len(asked)))
    facts = ScoredTriples.from_columns(*zip(*held, strict=True), rng.normal(size=len(held)))
    return graph, facts, pool, np.array([triple in hidden for triple in asked])


@pytest.fixture(scope="module")
def town():
    return make_town()


@pytest.fixture(scope="module")
def weighed(town):
    graph, facts, pool, _ = town
    training = TrainingSet.placed_in(facts, pool)
    return *score_evidence(graph, pool, training), graph


def test_holdout_facts_teach_what_a_score_of_noise_does_not_know(town, weighed):
    truth, (scored, model, _) = town[3], weighed
    assert scored.scores[truth].min() > scored.scores[~truth].max()
    assert scored.scores.tolist() == model.log_odds(scored.pieces).tolist()


def test_saved_weights_give_the_same_log_odds(weighed, tmp_path):
    scored, model, graph = weighed
    save_evidence(tmp_path / "kept.npz", scored, model, graph)
    other = Graph.of(graph.recoded(graph.entity_names[::-1], graph.relation_names[::-1]))
    again, same = load_evidence(tmp_path / "kept.npz", scored.without_pieces(), other)
    np.testing.assert_allclose(same.log_odds(again.pieces), scored.scores)
    assert same.weights() == model.weights()
    assert (same.share, same.holdout) == (model.share, model.holdout)
    assert [*again.pieces] == [*scored.pieces]
    ours, theirs = (one.pieces["head_rule_entity"].astype(int) for one in (scored, again))
    assert (other.entity_names.array[theirs] == graph.entity_names.array[ours])[ours >= 0].all()


def test_a_file_that_holds_no_weights_or_those_of_others_is_refused(weighed, tmp_path):
    (tmp_path / "kept.npz").write_text("{}")
    with pytest.raises(FileError, match="does not hold evidence"):
        load_evidence(tmp_path / "kept.npz", weighed[0], weighed[2])
    save_evidence(tmp_path / "kept.npz", *weighed)
    with pytest.raises(FileError, match="it has 80 rows, more than the 3 candidates"):
        load_evidence(tmp_path / "kept.npz", weighed[0].take([0, 1, 2]), weighed[2])


def test_the_lesson_is_the_best_there_is(town):
    graph, facts, pool, _ = town
    both = pool.followed_by(facts).without_scores().with_pieces(score=np.append(pool.scores, facts.scores))
    pool = pool.with_pieces(score=pool.scores)
    found = create_training_set(graph, both, Graph.of(facts))
    assert found.true.sum() == len(facts)
    assert "score" in found.proposals.pieces
    placed = create_training_set(graph, pool, facts)
    assert placed.true.sum() >= 2
    assert not placed.proposals.pieces
    taken = create_training_set(graph, pool, Graph.of(facts))  # without scores nobody knows where to put them
    assert graph.contains(taken.holdout).all()
    assert len(taken.holdout) == len(graph) // 10
    for training in (placed, taken):
        assert not {"score", "place_among_tails", "above_relation"} & set(learn(graph, training)[0].columns)


def test_a_share_that_is_known_is_what_is_expected(town):
    graph, facts, pool, _ = town
    training = TrainingSet.placed_in(facts, pool)
    model, _ = learn(graph, replace(training, share=0.3))
    rest = training.proposals.take(~training.true)
    assert model.share == 0.3
    before = gather_evidence(graph.take(~training.holdout.contains(graph)), rest)
    assert sigmoid(model.log_odds(before.pieces)).mean() == pytest.approx(0.3, abs=0.02)


def test_a_model_may_know_only_some_candidates_and_marks_say_who_proposed_them(town):
    graph, facts, pool, truth = town
    both = pool.followed_by(facts)
    known, random = np.append(truth, np.ones(len(facts), bool)), np.random.default_rng(0)
    scores = np.where(random.random(len(both)) < 0.5, np.nan, known + random.normal(size=len(both)) / 9)
    proposals = both.with_scores(scores).with_pieces(score=scores, by_rule=np.isnan(scores).astype(float))
    training = TrainingSet.among(facts, proposals)
    weighed, model = score_evidence(graph, proposals.take(~training.true), training)
    assert {"score", "has_score", "by_rule"} <= set(model.columns)
    assert model.weights()["score"] > 0
    assert np.isfinite(weighed.scores).all()
    assert weighed.scores[truth].min() > weighed.scores[~truth].max()
    assert np.isnan(weighed.pieces["place_among_tails"]).sum() == np.isnan(scores[~training.true]).sum()


def test_candidates_that_lack_a_piece_of_the_lesson_are_refused(town):
    graph, facts, pool, _ = town
    both = pool.followed_by(facts).without_scores().with_pieces(score=np.append(pool.scores, facts.scores))
    with pytest.raises(TableError, match="The candidates have no 'score', which the training set's proposals have"):
        score_evidence(graph, pool, TrainingSet.among(facts, both))


def test_too_few_holdout_facts_are_refused(weighed):
    with pytest.raises(TableError, match="1 of 80 proposals are holdout facts"):
        fit_model(weighed[0], np.arange(80) < 1)


def test_a_piece_that_speaks_for_it_in_the_middle_only_is_given_a_bend():
    random = np.random.default_rng(0)
    table = random.normal(size=(4000, 2))
    true = random.random(4000) < sigmoid(3 * np.minimum(table[:, 0], 0.0))
    cases = count_cases(true, 0.5)
    bent, plain = Ridge.learn(table, true, cases, bend=BEND), Ridge.learn(table, true, cases)
    low, middle, high = bent.log_odds(np.array([[-1.5, 0.0], [0.0, 0.0], [1.5, 0.0]]))
    assert middle - low > 2 * (high - middle)
    low, middle, high = plain.log_odds(np.array([[-1.5, 0.0], [0.0, 0.0], [1.5, 0.0]]))
    assert middle - low < 2 * (high - middle)


def test_a_share_can_be_expected_where_one_proposal_is_unlabelled():
    true = np.arange(6) > 0
    assert 0 < expect_share(np.random.default_rng(0).normal(size=(6, 2)), true) <= 0.9
