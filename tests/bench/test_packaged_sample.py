"""The packaged sample is what its docstring says, and worth calibrating."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from actc.bench.sample import Sample, load_sample
from actc.data.triples import BoolArray, FloatArray, ScoredTriples


@pytest.fixture(scope="module")
def sample() -> Sample:
    return load_sample()


def triples_of(table: ScoredTriples, rows: BoolArray | slice = slice(None)) -> set[tuple[str, str, str]]:
    return {table.triple(row) for row in np.arange(len(table))[rows]}


def best_cut(scores: FloatArray, labels: BoolArray) -> float:
    """Return the cut with the most right decisions when all from it on are called true."""
    order = np.argsort(scores)
    false_below = np.concatenate([[0], np.cumsum(~labels[order])])
    true_from = labels.sum() - np.concatenate([[0], np.cumsum(labels[order])])
    return float(np.append(scores[order], np.inf)[np.argmax(false_below + true_from)])


def test_pool_and_test_are_of_the_same_useful_size(sample: Sample) -> None:
    assert 2000 <= len(sample.test) <= len(sample.valid) <= 3000
    assert len(sample.known) >= 5000
    assert len(sample.names) >= 3000


def test_every_relation_has_candidates_of_both_kinds_in_both_lists(sample: Sample) -> None:
    for table, labels in ((sample.valid, sample.valid_labels), (sample.test, sample.test_labels)):
        assert set(table.relation_names) == set(sample.relations) == set(sample.known.relation_names)
        assert np.bincount(table.relations, weights=labels).min() >= 12
        assert np.bincount(table.relations, weights=~labels).min() >= 5
    assert len(sample.relations) >= 10


def test_everything_has_a_name_and_a_definition(sample: Sample) -> None:
    used = {*sample.valid.entity_names, *sample.test.entity_names, *sample.known.entity_names}
    assert used == set(sample.names) == set(sample.descriptions)
    assert all(sample.names.values())
    assert all(sample.descriptions.values())
    for text in sample.relations.values():
        assert text.name
        assert text.description
        assert "{head}" in text.sentence
        assert "{tail}" in text.sentence


def test_no_triple_is_in_two_lists(sample: Sample) -> None:
    valid, test, known = triples_of(sample.valid), triples_of(sample.test), triples_of(sample.known)
    assert not valid & test
    assert not (valid | test) & known


def test_no_candidate_is_given_away_by_its_mirror_image(sample: Sample) -> None:
    known = {(tail, relation, head) for head, relation, tail in triples_of(sample.known)}
    assert not known & triples_of(sample.valid, sample.valid_labels)
    assert not known & triples_of(sample.test, sample.test_labels)


def test_every_concept_of_a_true_candidate_occurs_in_a_known_triple(sample: Sample) -> None:
    known = set(sample.known.entity_names)
    for table, labels in ((sample.valid, sample.valid_labels), (sample.test, sample.test_labels)):
        assert {end for head, _, tail in triples_of(table, labels) for end in (head, tail)} <= known


def test_one_threshold_for_each_relation_beats_one_for_all_by_four_points(sample: Sample) -> None:
    valid, test = sample.valid, sample.test
    one = best_cut(valid.scores, sample.valid_labels)
    cuts = np.array(
        [
            best_cut(valid.scores[valid.relations == code], sample.valid_labels[valid.relations == code])
            for code in range(len(valid.relation_names))
        ]
    )
    uniform = np.mean((test.scores >= one) == sample.test_labels)
    local = np.mean((test.scores >= cuts[test.relations]) == sample.test_labels)
    assert 0.75 <= local <= 0.92
    assert local - uniform >= 0.04


def test_the_files_are_small_and_carry_wordnets_licence() -> None:
    folder = files("actc.bench.sample")
    sizes = [len(path.read_bytes()) for path in folder.iterdir() if path.is_file()]
    assert sum(sizes) < 600_000
    notice = (folder / "LICENSE-wordnet").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in notice
    assert 'PROVIDED "AS IS"' in notice
