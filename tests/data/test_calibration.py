from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from actc.data.answers import Annotations
from actc.data.calibration import Calibration, Counts, GuaranteedPrecision, Sources
from actc.data.triples import Thresholds
from actc.errors import FileError
from tests.synthetic import answers_by


@pytest.fixture
def thresholds(pool):
    cuts = np.array([0.1 + 0.2, np.inf, -np.inf])
    return Thresholds(pool.relation_names, cuts, 0.5, np.array([True, False, True]))


def write(path, thresholds, pool, **more):
    counts = Counts.of(pool, Annotations(np.array([0, 1]), np.array([1, 0])), thresholds.decide(pool))
    Calibration(thresholds, "localopt-acc", {"n": 5}, counts, **more).write(path)


def read_thresholds(path):
    return Calibration.read(path).thresholds


def test_thresholds_come_back_to_the_last_digit(tmp_path, thresholds, pool):
    write(tmp_path / "t.json", thresholds, pool)
    again = read_thresholds(tmp_path / "t.json")
    assert again.relation_names == thresholds.relation_names
    assert again.cuts.tolist() == thresholds.cuts.tolist()
    assert again.own.tolist() == thresholds.own.tolist()
    assert again.default == thresholds.default
    assert again.lower is None


def test_intervals_come_back(tmp_path, pool):
    wide = Thresholds(pool.relation_names, np.ones(3), 1.0, np.ones(3, dtype=bool), np.zeros(3), np.full(3, np.inf))
    write(tmp_path / "t.json", wide, pool)
    again = read_thresholds(tmp_path / "t.json")
    assert again.lower.tolist() == [0, 0, 0]
    assert again.upper.tolist() == [np.inf] * 3


def test_the_file_says_where_the_thresholds_came_from_and_is_strict_json(tmp_path, thresholds, pool):
    write(tmp_path / "t.json", thresholds, pool)
    content = json.loads((tmp_path / "t.json").read_text(), parse_constant=lambda word: pytest.fail(word))
    assert content["method"] == "localopt-acc"
    assert content["options"] == {"n": 5}
    counts = {"pool": 60, "relations": 3, "annotated": 2, "annotated_true": 1, "draws": 0}
    assert content["counts"] == counts
    assert set(content) >= {"actc_version", "created", "score_transform", "default", "relations"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "line 1"),
        ("[]", "t.json"),
        ('{"format": "actc-thresholds", "format_version": 99}', "99"),
        ('{"format": "actc-thresholds", "format_version": 1, "default": 1}', "t.json"),
        ('{"format": "actc-thresholds", "format_version": 1, "default": "x", "relations": {}}', "t.json"),
    ],
)
def test_a_file_that_is_no_thresholds_file_is_refused(tmp_path, content, sentence):
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(FileError, match=sentence):
        read_thresholds(tmp_path / "t.json")


def test_everything_that_was_written_is_read_back(tmp_path, thresholds, pool):
    sources = Sources(tmp_path / "a" / "scores.tsv", tmp_path / "labels.tsv", picks="random")
    guarantee = GuaranteedPrecision(0.8, 0.9, None, ("r1",))
    words = answers_by(["a", "b"], ["r0", "r1"], ["x", "ü"], [True, False], ["person", "judges"], [1.0, 0.3])
    more = {"sources": sources, "guarantee": guarantee, "exceptions": words}
    write(tmp_path / "t.json", thresholds, pool, transform={"mean": 1.5}, **more)
    again = Calibration.read(tmp_path / "t.json")
    assert again.exceptions.to_frame().equals(words.to_frame())
    assert (again.sources, again.guarantee, again.transform) == (sources, guarantee, {"mean": 1.5})
    accepted = np.bincount(pool.relations[thresholds.decide(pool)], minlength=3)
    assert again.counts.accepted.tolist() == accepted.tolist()
    assert again.counts.triples.tolist() == pool.relation_counts.tolist()
    again.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "t.json").read_text()


def test_a_word_without_a_probability_is_written_as_strict_json_and_read_back(tmp_path, thresholds, pool):
    words = answers_by(["a"], ["r0"], ["x"], [True], ["person"], [np.nan])
    write(tmp_path / "t.json", thresholds, pool, exceptions=words)
    json.loads((tmp_path / "t.json").read_text(), parse_constant=lambda word: pytest.fail(word))
    assert np.isnan(Calibration.read(tmp_path / "t.json").exceptions.probability).all()


@pytest.mark.parametrize(
    "damage", [{"accepted": []}, {"head": 3}, {"accepted": ["no"]}, {"probability": ["much"]}, {"tail": [None]}]
)
def test_damaged_words_are_said_in_a_sentence(tmp_path, thresholds, pool, damage):
    words = answers_by(["a"], ["r0"], ["x"], [True], ["person"], [1.0])
    write(tmp_path / "t.json", thresholds, pool, exceptions=words)
    content = json.loads((tmp_path / "t.json").read_text())
    content["exceptions"] |= damage
    (tmp_path / "t.json").write_text(json.dumps(content))
    with pytest.raises(FileError):
        Calibration.read(tmp_path / "t.json")


def test_paths_are_relative_to_the_file_and_move_with_it(tmp_path, thresholds, pool):
    old, new = tmp_path / "old", tmp_path / "far" / "new"
    (old / "sub").mkdir(parents=True)
    sources = Sources(old / "scores.tsv", known=old / "sub" / "known.tsv")
    write(old / "sub" / "t.json", thresholds, pool, sources=sources)
    written = json.loads((old / "sub" / "t.json").read_text())["sources"]
    assert (written["scores"], written["known"]) == ("../scores.tsv", "known.tsv")
    shutil.move(old, new)
    moved = Calibration.read(new / "sub" / "t.json").sources
    assert (moved.scores, moved.known) == (new / "scores.tsv", new / "sub" / "known.tsv")


def test_thresholds_from_tables_in_memory_name_no_source(tmp_path, thresholds, pool):
    write(tmp_path / "t.json", thresholds, pool)
    assert json.loads((tmp_path / "t.json").read_text())["sources"] is None
    assert not Calibration.read(tmp_path / "t.json").sources
