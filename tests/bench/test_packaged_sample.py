"""The packaged sample is what its docstring says, and worth calibrating."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from actc.bench.sample import load_sample


@pytest.fixture(scope="module")
def sample():
    return load_sample()


def test_every_relation_has_candidates_of_both_kinds_in_both_lists(sample):
    for table, labels in ((sample.valid, sample.valid_labels), (sample.test, sample.test_labels)):
        assert 2000 <= len(table) <= 3000
        assert set(table.relation_names) == set(sample.relations) == set(sample.known.relation_names)
        assert np.bincount(table.relations, weights=labels).min() >= 12
        assert np.bincount(table.relations, weights=~labels).min() >= 5


def test_everything_has_a_name_and_a_definition(sample):
    used = {*sample.valid.entity_names, *sample.test.entity_names, *sample.known.entity_names}
    assert used == set(sample.names) == set(sample.descriptions)
    assert all({*sample.names.values(), *sample.descriptions.values()})
    for text in sample.relations.values():
        assert all(text.values())
        assert "{head}" in text["sentence"]
        assert "{tail}" in text["sentence"]


def test_no_triple_is_in_two_lists_and_what_is_true_is_about_known_concepts(sample):
    known = set(sample.known.entity_names)
    assert not sample.valid.contains(sample.test).any()
    for table, labels in ((sample.valid, sample.valid_labels), (sample.test, sample.test_labels)):
        assert not sample.known.contains(table).any()
        true = table.take(labels).columns()
        assert {*true["head"], *true["tail"]} <= known


def test_the_files_are_small_and_carry_wordnets_licence():
    folder = files("actc.bench.sample")
    assert sum(len(path.read_bytes()) for path in folder.iterdir() if path.is_file()) < 600_000
    notice = (folder / "LICENSE-wordnet").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in notice
    assert 'PROVIDED "AS IS"' in notice
