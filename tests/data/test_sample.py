"""More candidates than a session or `calibrate` reads: a plain random sample of them is the pool."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from actc.data import files
from actc.data.files import read_sample, write_scored, write_triples
from actc.data.triples import ScoredTriples
from actc.errors import FileError
from tests.conftest import make_pool

SIZE, SAMPLE = 12_000, 1_000


@pytest.fixture(scope="module")
def whole() -> ScoredTriples:
    return make_pool(SIZE, 5, seed=1)[0]


@pytest.fixture(scope="module")
def folder(whole, tmp_path_factory):
    folder = tmp_path_factory.mktemp("candidates")
    for number, rows in enumerate(np.array_split(np.arange(SIZE), 3)):
        write_scored(folder / f"part-{number}.parquet", whole.take(rows))
    return folder


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(files, "MOST_READ", SAMPLE)


def test_a_sample_has_rows_of_the_pool_in_their_order_and_says_so(folder, whole, caplog):
    with caplog.at_level(logging.WARNING, "actc"):
        sample = read_sample(folder)
    rows = whole.rows_of(sample)
    assert len(sample) == SAMPLE
    assert (np.diff(rows) > 0).all()
    assert sample.scores.tolist() == whole.scores[rows].tolist()
    assert "of its 12,000 candidates a random sample of 1,000 is used" in caplog.text


def test_a_sample_depends_on_the_seed_alone(folder, whole):
    first, again, other = read_sample(folder), read_sample(folder), read_sample(folder, seed=1)
    assert whole.rows_of(first).tolist() == whole.rows_of(again).tolist()
    assert whole.rows_of(first).tolist() != whole.rows_of(other).tolist()


def test_every_candidate_is_drawn_with_the_same_chance(folder, whole):
    drawn = np.concatenate([whole.rows_of(read_sample(folder, seed=seed)) for seed in range(20)])
    tenths = np.bincount(drawn * 10 // SIZE, minlength=10)
    expected = 20 * SAMPLE / 10
    assert float(((tenths - expected) ** 2 / expected).sum()) < 27.9  # chi squared, 9 degrees: one time in a thousand


def test_labelled_candidates_are_in_the_sample(folder, whole):
    labelled = whole.take(np.arange(17, SIZE, 1_000))
    sample = read_sample(folder, labelled)
    assert sample.contains(labelled).all()
    assert SAMPLE < len(sample) <= SAMPLE + len(labelled)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("tail", "", "there is nothing in column tail"),
        ("relation", "", "there is nothing in column relation"),
        ("score", "nan", "the score is 'nan'"),
    ],
)
def test_a_bad_row_is_found_though_it_is_not_in_the_sample(tmp_path, whole, column, value, message):
    for number, rows in enumerate((np.arange(1_000), np.arange(1_000, 2_000))):
        part = whole.take(rows)
        table = {**part.columns(), "score": part.scores.astype(str).astype(object)}
        if number:
            table[column][345] = value
        write_triples(tmp_path / f"part-{number}.tsv", table)
    with pytest.raises(FileError, match=f"part-1.tsv, line 347: {message}"):
        read_sample(tmp_path)
