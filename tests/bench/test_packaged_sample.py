"""The packaged sample is what its docstring says, and worth calibrating."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from actc.bench.sample import Sample, load_sample
from actc.data.triples import BoolArray, ScoredTriples


@pytest.fixture(scope="module")
def sample() -> Sample:
    return load_sample()


def triples_of(table: ScoredTriples, rows: BoolArray | slice = slice(None)) -> set[tuple[str, str, str]]:
    return {table.triple(row) for row in np.arange(len(table))[rows]}


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
        assert all(text.values())
        assert "{head}" in text["sentence"]
        assert "{tail}" in text["sentence"]


def test_no_triple_is_in_two_lists(sample: Sample) -> None:
    valid, test, known = triples_of(sample.valid), triples_of(sample.test), triples_of(sample.known)
    assert not valid & test
    assert not (valid | test) & known


def test_every_concept_of_a_true_candidate_occurs_in_a_known_triple(sample: Sample) -> None:
    known = set(sample.known.entity_names)
    for table, labels in ((sample.valid, sample.valid_labels), (sample.test, sample.test_labels)):
        assert {end for head, _, tail in triples_of(table, labels) for end in (head, tail)} <= known


def test_the_files_are_small_and_carry_wordnets_licence() -> None:
    folder = files("actc.bench.sample")
    sizes = [len(path.read_bytes()) for path in folder.iterdir() if path.is_file()]
    assert sum(sizes) < 600_000
    notice = (folder / "LICENSE-wordnet").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in notice
    assert 'PROVIDED "AS IS"' in notice
