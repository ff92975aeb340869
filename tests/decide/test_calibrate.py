"""Calibration of files: what a guarantee rests on, and what is printed."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from actc import Answers, calibrate, check_graph, complete_graph, decide_candidates
from actc.cli.main import commands
from actc.data.files import read_scored, write_scored, write_triples
from actc.data.triples import ScoredTriples, Thresholds
from actc.errors import ActcError
from tests.synthetic import make_truth


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Scores, and 200 labels without a word on how they were asked."""
    folder = tmp_path_factory.mktemp("files")
    pool, labels, _ = make_truth(1200, 5)
    rows = np.random.default_rng(0).permutation(len(pool))[:200]
    write_scored(folder / "scores.tsv", pool)
    write_triples(folder / "labels.tsv", {**pool.take(rows).columns(), "label": labels[rows].astype(int)})
    return folder


def output_of(files, *words) -> str:
    paths = ("calibrate", files / "scores.tsv", "--labels", files / "labels.tsv", "--out", files / "out.json")
    return CliRunner().invoke(commands, [str(word) for word in (*paths, "--overwrite", *words)]).output


def test_labels_without_inclusion_probabilities_teach_and_guarantee_nothing(files):
    labels = files / "labels.tsv"
    found = calibrate(files / "scores.tsv", labels, precision=0.7)
    assert np.isinf(found.thresholds.cuts_and_default).all()
    assert (found.guarantee.min_probability, found.counts.draws) == (None, 0)
    assert {*found.exceptions.who} == {"person"}
    assert np.isfinite(calibrate(files / "scores.tsv", labels).thresholds.cuts).all()
    output = " ".join(output_of(files, "--precision", 0.7).split())
    assert " accept none " in output
    assert " inf " not in output
    assert "--picks random" in output
    assert "More answers needed" in output or "out of reach" in output


def test_a_random_draw_guarantees_in_the_user_s_own_name(files):
    found = calibrate(files / "scores.tsv", files / "labels.tsv", precision=0.7, picks="random")
    assert found.guarantee.passed
    assert found.counts.draws == 200
    assert np.isfinite(found.thresholds.cuts).any()
    output = output_of(files, "--precision", 0.7, "--picks", "random")
    assert "at least 70% of what" in output
    assert "--picks random" not in output


def test_the_precision_that_decide_prints_is_about_the_pool_and_it_says_where_the_files_differ(files, tmp_path):
    def decide(scores) -> str:
        words = ("decide", files / "out.json", *scores, "--out", tmp_path / "out.tsv", "--overwrite")
        return " ".join(CliRunner().invoke(commands, [str(word) for word in words]).output.split())

    output_of(files)
    pool = read_scored(files / "scores.tsv")[0]
    write_scored(tmp_path / "other.tsv", pool.with_scores(pool.scores + 100))
    write_scored(files / "copy.tsv", pool)
    assert "in the pool of these thresholds" in decide([files / "scores.tsv"])
    assert "That pool has" not in decide([files / "scores.tsv"])
    assert "That pool has 1,200 triples" in decide([tmp_path / "other.tsv"])
    assert "% of 2,400 rows" in decide([files / "scores.tsv", files / "copy.tsv"])


TABLE = {"head": ["a"], "relation": ["r"], "tail": ["b"], "score": [0.5], "label": [1]}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda scores, _: calibrate(scores, [1, 0, 1]), "labels: a path or Answers was expected, not a list"),
        (lambda scores, _: calibrate(scores, TABLE), "Answers.from_frame reads a data frame"),
        (lambda _, labels: calibrate(TABLE, labels), "scores: a path or ScoredTriples was expected, not a dict"),
        (lambda scores, _: decide_candidates(None, scores, "out.tsv"), "thresholds: a path or a Calibration"),
        (lambda *_: decide_candidates(Thresholds((), np.zeros(0), 0.5, np.zeros(0, bool)), TABLE, "out.tsv"),
         "accept_triples takes a data frame"),
        (lambda *_: complete_graph(TABLE, "out", budget=0), "graph: a path was expected, not a dict"),
        (lambda *_: check_graph(TABLE, "out", budget=0), "graph: a path was expected, not a dict"),
        (lambda scores, _: complete_graph(scores, "out", oracle=TABLE), "oracle: a path was expected, not a dict"),
        (lambda *_: Answers.of(ScoredTriples.from_frame(TABLE), [1], [1]), "Row 1 is annotated, but the pool"),
    ],
)  # fmt: skip
def test_what_is_no_path_and_no_table_of_ours_is_refused_in_one_sentence(files, tmp_path, monkeypatch, call, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ActcError, match=words):
        call(files / "scores.tsv", files / "labels.tsv")
    assert not [*tmp_path.iterdir()]
