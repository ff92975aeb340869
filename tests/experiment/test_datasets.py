from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from actc.errors import ChoiceError, FileError
from actc.experiment import datasets
from actc.experiment.cells import Cell

SUMS = Path(__file__).parents[2] / "benchmarks" / "scores" / "tables.sha256"
TABLES = {name: digest for digest, name in (line.split() for line in SUMS.read_text().splitlines())}
# As CoDEx (tsafavi/codex, commit 52cd012) and the authors of ACTC (anasedova/ACTC, 9374bdb) published them.
CHECKSUMS = {
    "codex-s/train.txt": "64f93b7f314f3936a6f65739721429db3f6a7c8f5a1e1104ec3bb544f7434f59",
    "codex-s/valid.txt": "3831c0e57daef03c3a18cdd1a72e370b496f696c5218883d35c7d2ab8a6a772c",
    "codex-s/valid_negatives.txt": "c1d84860d6ee786419f1f118d0e9479c6614283b3e267afc158734389036901f",
    "codex-s/test.txt": "27127fcb34688c4778e88a39ef3c9b540807da846021e9d9685660ac1838aca1",
    "codex-s/test_negatives.txt": "d3fb32c41f3be26d09484ace571965806f1ade0ca712551b0de684c283cdbb22",
    "codex-m/train.txt": "d99c3437ab51690391a26d96976adf6e5494dba7ef6902e77000551bfa566556",
    "codex-m/valid.txt": "11c323096367354940846b9ed940c5dabddc1d20a70474222babe7e7fd28b28d",
    "codex-m/valid_negatives.txt": "454a4f66ae85495e6e7df0a9f591ed3b8b6efbbcca515414cb641a28625cbcb2",
    "codex-m/test.txt": "0575ce05e4ce915e395bb4f708e8df9547989dd4c8c71407cbfd78c19daffcf7",
    "codex-m/test_negatives.txt": "7caaf71f7a85fbd915dce8199f5b1e1744ead58e0675549fcb01c60599944648",
    "complex-authors/valid_score.tsv": "b4058b1c5e2d2306f2003b53ca77380023c2ba5e94966bbda45fd65ad83d19ba",
    "complex-authors/test_score.tsv": "b57c8378cef4620f253354c31f1ef0eeb076b8ea051ca66930657a9c47c93f5b",
}
AUTHORS_SPLITS = {"valid": "complex-authors/valid_score.tsv", "test": "complex-authors/test_score.tsv"}


def spell(*columns) -> str:
    """Write columns as lines of text with tabs between them."""
    return "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True))


def spell_table(dataset: str, model: str, split: str) -> str:
    """Write a split as the score tables have it: a header, the triples, the scores, the labels where there are any."""
    triples = datasets.load_triples(dataset, split)
    scores, _ = datasets.load_scored(dataset, model, split)
    digits = 17 if model == "complex-authors" else datasets.DIGITS[split]
    columns = [triples.heads, triples.relations, triples.tails, [f"{score:.{digits}g}" for score in scores.scores]]
    header = ["head", "relation", "tail", "score"]
    if split != "train":
        columns, header = [*columns, triples.labels.astype(int).astype(str)], [*header, "label"]
    return "\t".join(header) + "\n" + spell(*columns)


def spell_published(split: str) -> str:
    """Write the published scores as the authors' repository has them: no header, no labels."""
    triples = datasets.load_triples("codex-s", split)
    scores = datasets.load_array("codex-s", "complex-authors", split)
    return spell(triples.heads, triples.relations, triples.tails, map(repr, scores.tolist()))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def assert_same_cells(one: Cell, other: Cell) -> None:
    assert (one.dataset, one.model) == (other.dataset, other.model)
    for split in ("valid", "test", "known"):
        ours, theirs = getattr(one, split), getattr(other, split)
        assert (ours is None) == (theirs is None) == (split == "known" and one.model == "complex-authors")
        if ours is not None:
            np.testing.assert_array_equal(ours.keys, theirs.keys)
            np.testing.assert_array_equal(ours.scores, theirs.scores)
            assert ours.entity_names == theirs.entity_names
    np.testing.assert_array_equal(one.valid_labels, other.valid_labels)
    np.testing.assert_array_equal(one.test_labels, other.test_labels)


@pytest.mark.parametrize("name", [name for name in CHECKSUMS if name.startswith("codex")])
def test_the_arrays_spell_the_files_that_codex_published(name):
    dataset, file = name.split("/")
    assert digest(spell(*datasets.load_columns(dataset, file.removesuffix(".txt")))) == CHECKSUMS[name]


@pytest.mark.parametrize("split", AUTHORS_SPLITS)
def test_the_arrays_spell_the_scores_that_the_authors_published(split):
    assert digest(spell_published(split)) == CHECKSUMS[AUTHORS_SPLITS[split]]


@pytest.mark.parametrize("name", TABLES)
def test_the_arrays_spell_the_tables_they_were_packed_from(name):
    dataset, model, file = name.split("/")
    assert digest(spell_table(dataset, model, file.removesuffix(".tsv"))) == TABLES[name]


@pytest.mark.parametrize("model", ["complex", "complex-authors"])
def test_a_checkout_holds_the_cell_that_a_folder_of_tables_holds(model, monkeypatch, tmp_path):
    folder = tmp_path / "scores" / "codex-s" / model
    folder.mkdir(parents=True)
    for split in ("valid", "test") if model == "complex-authors" else datasets.SPLITS:
        (folder / f"{split}.tsv").write_text(spell_table("codex-s", model, split))
    committed = datasets.load_cell("codex-s", model)
    monkeypatch.setenv("ACTC_DATA", str(tmp_path))
    assert_same_cells(committed, datasets.load_cell("codex-s", model))


def test_training_triples_are_all_true():
    train = datasets.load_triples("codex-s", "train")
    assert len(train) == 32888
    assert train.labels.all()


@pytest.mark.parametrize("digits", [6, 7])
def test_rounding_is_what_writing_and_reading_text_does(digits):
    values = np.random.default_rng(0).normal(size=20_000) * 10.0 ** np.random.default_rng(1).integers(-4, 4, 20_000)
    values[0] = 0.0
    expected = [float(f"{value:.{digits}g}") for value in values]
    np.testing.assert_array_equal(datasets.round_significant(values, digits), expected)


def test_the_models_of_the_paper_come_first(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_SCORES", str(tmp_path))
    for model in ("tucker", "transe", "complex", "analogy"):
        (tmp_path / "codex-s" / model).mkdir(parents=True)
        (tmp_path / "codex-s" / model / "valid.npy").touch()
    assert datasets.list_models("codex-s") == ["complex", "transe", "analogy", "tucker"]


def test_without_data_one_sentence_says_the_way_out(monkeypatch):
    monkeypatch.setattr(datasets, "TRIPLES", Path("no-such-folder"))
    with pytest.raises(FileError, match=r"CoDEx is not here .* ACTC_DATA"):
        datasets.load_triples("codex-s", "valid")


def test_a_folder_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileError, match="nowhere"):
        datasets.load_triples("codex-s", "valid")


def test_a_missing_file_of_the_local_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_DATA", str(tmp_path))
    with pytest.raises(FileError, match=r"valid\.txt is missing"):
        datasets.load_triples("codex-s", "valid")


def test_missing_scores_say_where_they_should_be(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_SCORES", str(tmp_path))
    with pytest.raises(FileError, match="ACTC_SCORES"):
        datasets.load_array("codex-s", "tucker", "valid")


def test_an_unknown_data_set_is_answered_with_the_known_ones():
    with pytest.raises(ChoiceError, match="codex-s, codex-m"):
        datasets.load_triples("codex-l", "valid")


def test_a_broken_line_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_DATA", str(tmp_path))
    (tmp_path / "codex-s").mkdir()
    (tmp_path / "codex-s" / "train.txt").write_text("a\tr\tb\na\tr\n")
    with pytest.raises(FileError, match="line 2: 3 columns"):
        datasets.load_triples("codex-s", "train")
