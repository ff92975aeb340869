"""The pooled method over the graph's evidence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from actc import Calibrator
from actc.bench.cells import Cell, read_cell
from actc.bench.metrics import accuracy
from actc.bench.runs import run_experiment
from actc.data.answers import Annotations
from actc.data.files import write_scored, write_triples
from actc.data.numeric import sigmoid
from actc.data.triples import ScoredTriples
from actc.errors import OptionError
from actc.evidence.score import LOG_ODDS_PIECE, TrainingSet, learn, score_pools
from actc.graph.graph import Graph
from actc.methods.named import METHODS, thresholds_of
from actc.methods.pooled.method import Pooled, move_weights
from tests.evidence.test_score import make_town

NOBODY = Annotations()


def make_cell(with_holdout=True):
    """Two halves of a town's questions: a pool and a test, the model's scores being noise."""
    graph, facts, asked, truth = make_town(people=90)
    first = np.arange(len(asked)) < len(asked) // 2
    training = TrainingSet.placed_in(facts, asked.take(first)) if with_holdout else None
    known = graph.with_scores(np.zeros(len(graph)))
    return Cell("town", "noise", asked.take(first), truth[first], asked.take(~first), truth[~first], known, training)


def write_labelled(path, triples, labels):
    write_triples(path, {**triples.columns(), "score": triples.scores, "label": labels.astype(int)})


def make_weighed(pieces, scores=None, with_log_odds=True):
    size = len(pieces)
    scores = np.zeros(size) if scores is None else scores
    triples = ScoredTriples.from_columns([f"h{i:04}" for i in range(size)], ["r"] * size, ["t"] * size, scores)
    names = [f"piece {k}" for k in range(pieces.shape[1])]
    if not with_log_odds:
        names[-1] = LOG_ODDS_PIECE
    return triples.with_pieces(**dict(zip(names, pieces.T, strict=True)))


@pytest.fixture(scope="module")
def cell():
    return make_cell()


@pytest.fixture(scope="module")
def plain_cell():
    return make_cell(with_holdout=False)


def test_with_unseen_facts_the_graph_ranks_before_any_answer(cell):
    chance = METHODS["pooled-evidence"].fit(cell.with_evidence.valid, NOBODY).probabilities(cell.with_evidence.test)
    assert chance[cell.test_labels].min() > chance[~cell.test_labels].max()


def test_the_bench_measures_it_from_zero_answers_on(cell):
    rows = run_experiment([cell], ["pooled-known", "pooled-evidence", "pooled-evidence-rndm"], (0, 20), repeats=1)
    found = {(row.method, row.budget): row.accuracy for row in rows}
    assert found["pooled-evidence", 0] > found["pooled-known", 0]
    assert found["pooled-evidence", 20] > 0.95
    assert found["pooled-evidence-rndm", 20] > found["pooled-known", 20]


def test_without_unseen_facts_it_begins_as_pooled_known(plain_cell):
    cell = plain_cell
    fit = METHODS["pooled-evidence"].fit(cell.with_evidence.valid, NOBODY, cell.known)
    expected = METHODS["pooled-known"].fit(cell.valid, NOBODY, cell.known)
    np.testing.assert_allclose(fit.probabilities(cell.with_evidence.test), expected.probabilities(cell.test))


def test_where_answers_moved_weights_no_threshold_is_given_and_the_calibrator_heeds_them(cell):
    answers = Annotations(np.arange(30), cell.valid_labels[:30])
    calibrator = Calibrator("pooled-evidence").fit(cell.with_evidence.valid, answers)
    assert calibrator.thresholds_ is None
    with pytest.raises(OptionError, match="No threshold on the score decides as this fit does"):
        thresholds_of(calibrator.fit_)
    accepted = calibrator.predict(cell.with_evidence.test)
    assert accepted.tolist() == (calibrator.predict_proba(cell.with_evidence.test)[:, 1] >= 0.5).tolist()
    assert accuracy(cell.test_labels, accepted) > 0.95


@pytest.mark.parametrize("count", [0, 30])
def test_without_pieces_it_decides_by_thresholds_in_log_odds(cell, count):
    weighed = cell.with_evidence.valid
    plain = weighed.without_pieces()
    answers = Annotations(np.arange(count), cell.valid_labels[:count])
    fit = METHODS["pooled-evidence"].fit(plain, answers)
    assert fit.thresholds.decide(plain).tolist() == fit.accepts(plain).tolist()
    assert fit.accepts(plain).tolist() == (fit.probabilities(plain) >= 0.5).tolist()
    assert fit.moved is None
    line = METHODS["pooled-evidence-rndm"].fit(plain, answers)  # what it is made of
    assert fit.thresholds.cuts.tolist() == line.thresholds.cuts.tolist()
    kept = Pooled(reads="evidence", move=False).fit(weighed, answers)
    assert kept.thresholds.cuts.tolist() == fit.thresholds.cuts.tolist()


def test_answers_that_contradict_the_evidence_turn_it_down():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=3, size=400)
    pool = make_weighed(scores[:, None] / 3, scores)
    believed = METHODS["pooled-evidence"].fit(pool, NOBODY).probabilities(pool)
    answers = Annotations(np.arange(300), scores[:300] < 0)
    after = METHODS["pooled-evidence"].fit(pool, answers).probabilities(pool)
    assert np.corrcoef(believed, sigmoid(scores))[0, 1] > 0.99
    assert accuracy(scores[300:] < 0, after[300:] >= 0.5) > 0.9


@pytest.mark.parametrize("judged", [20, 100, 1000])
def test_pieces_that_say_nothing_hardly_change_a_decision(judged):
    rng = np.random.default_rng(judged)
    logits, pieces = rng.normal(scale=2, size=3000), rng.normal(size=(3000, 40))
    truth = rng.random(3000) < sigmoid(logits)
    weights = move_weights(pieces[:judged], logits[:judged], truth[:judged])
    assert accuracy(truth, logits >= 0) - accuracy(truth, logits + pieces @ weights >= 0) < 0.01
    assert np.abs(weights).max() < 0.1


def test_the_weight_of_the_piece_that_tells_can_be_read():
    rng = np.random.default_rng(1)
    pieces = rng.normal(size=(300, 5))
    pool = make_weighed(pieces)
    fit = METHODS["pooled-evidence"].fit(pool, Annotations(np.arange(200), pieces[:200, 3] > 0))
    assert list(pool.pieces)[np.argmax(fit.moved)] == "piece 3"
    assert max(fit.moved) > 1


def test_it_refuses_triples_without_evidence_where_answers_moved_weights(cell):
    fit = METHODS["pooled-evidence"].fit(cell.with_evidence.valid, Annotations(np.arange(9), cell.valid_labels[:9]))
    with pytest.raises(OptionError, match="weigh them with the pool"):
        fit.accepts(cell.valid)


def test_scores_that_the_lesson_cannot_weigh_are_left_to_the_answers(cell):
    beside = TrainingSet.placed_in(cell.training.holdout, cell.valid)
    graph = Graph.of(cell.known)
    (weighed,) = score_pools(graph, [cell.valid], beside)
    assert LOG_ODDS_PIECE not in weighed.pieces
    assert spearmanr(weighed.pieces["score"], cell.valid.scores).statistic > 0.999
    assert "score" not in learn(graph, beside)[0].columns


def test_a_folder_may_hold_facts_the_model_was_not_trained_on(cell, tmp_path):
    write_labelled(tmp_path / "valid.tsv", cell.valid, cell.valid_labels)
    write_labelled(tmp_path / "test.tsv", cell.test, cell.test_labels)
    write_scored(tmp_path / "train.tsv", cell.known)
    assert read_cell(tmp_path).training is None
    write_scored(tmp_path / "held.tsv", cell.training.holdout)
    assert not read_cell(tmp_path).training.proposals.pieces
    assert read_cell(tmp_path, with_known=False).training is None
    proposals = cell.training.proposals.with_scores(np.arange(len(cell.training.true)))
    write_labelled(tmp_path / "held_proposals.tsv", proposals, cell.training.true)
    read = read_cell(tmp_path).training
    assert "score" in read.proposals.pieces
    assert len(read.holdout) == len(cell.training.holdout)
    assert read.true.sum() == cell.training.true.sum()
