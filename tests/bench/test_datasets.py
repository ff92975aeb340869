from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from actc.bench import cells
from actc.bench.cells import list_cells, load_cell
from actc.bench.paper.tables import PAPER_CELLS
from actc.errors import ChoiceError, FileError

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def read_sums(path: Path) -> dict[str, str]:
    return {name: digest for digest, name in (line.split() for line in path.read_text().splitlines())}


TABLES, FILES, PUBLISHED = (
    read_sums(BENCHMARKS / name) for name in ("scores/tables.sha256", "codex/files.sha256", "scores/authors.sha256")
)
AUTHORS_SPLITS = {"valid": "complex-authors/valid_score.tsv", "test": "complex-authors/test_score.tsv"}


def spell(*columns) -> str:
    """Write columns as lines of text with tabs between them."""
    return "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True))


def spell_table(dataset: str, model: str, split: str) -> str:
    """Write a split as the score tables have it: a header, the triples, the scores, the labels where there are any."""
    scored, labels = cells.load_scored(dataset, model, split)
    digits = 17 if model == "complex-authors" else cells.DIGITS[split]
    columns = {**scored.columns(), "score": [f"{score:.{digits}g}" for score in scored.scores]}
    if split != "train":
        columns["label"] = labels.astype(int).astype(str)
    return "\t".join(columns) + "\n" + spell(*columns.values())


def spell_published(split: str) -> str:
    """Write the published scores as the authors' repository has them: no header, no labels."""
    scored, _ = cells.load_scored("codex-s", "complex-authors", split)
    return spell(*scored.columns().values(), map(repr, scored.scores.tolist()))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("name", FILES)
def test_the_arrays_spell_the_files_that_codex_published(name):
    dataset, file = name.split("/")
    assert digest(spell(*cells.load_columns(dataset, file.removesuffix(".txt")))) == FILES[name]


@pytest.mark.parametrize("split", AUTHORS_SPLITS)
def test_the_arrays_spell_the_scores_that_the_authors_published(split):
    assert digest(spell_published(split)) == PUBLISHED[AUTHORS_SPLITS[split]]


@pytest.mark.parametrize("name", TABLES)
def test_the_arrays_spell_the_tables_they_were_packed_from(name):
    dataset, model, file = name.split("/")
    assert digest(spell_table(dataset, model, file.removesuffix(".tsv"))) == TABLES[name]


@pytest.mark.parametrize("model", ["complex", "complex-authors"])
def test_a_checkout_holds_the_cell_that_a_folder_of_tables_holds(model, monkeypatch, tmp_path):
    folder = tmp_path / "codex-s" / model
    folder.mkdir(parents=True)
    for split in ("valid", "test") if model == "complex-authors" else cells.SPLITS:
        (folder / f"{split}.tsv").write_text(spell_table("codex-s", model, split))
    committed = load_cell("codex-s", model)
    monkeypatch.setenv("ACTC_SCORES", str(tmp_path))
    read = load_cell("codex-s", model)
    assert (read.dataset, read.model, read.digest) == (committed.dataset, committed.model, committed.digest)
    np.testing.assert_array_equal(read.test.keys, committed.test.keys)
    assert (read.known is None) == (model == "complex-authors")


def test_a_checkout_has_every_cell_of_the_paper():
    names = [(cell.dataset, cell.model) for cell in list_cells() if cell.load(with_known=False)]
    assert {*PAPER_CELLS, ("codex-s", "complex-authors")} <= {*names}


def test_without_a_checkout_the_sentence_names_the_way_out(monkeypatch):
    monkeypatch.setattr(cells, "checkout_folder", Path)
    with pytest.raises(FileError, match="checkout"):
        cells.load_triples("codex-s", "valid")


def test_missing_scores_say_where_they_should_be(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_SCORES", str(tmp_path))
    with pytest.raises(FileError, match="ACTC_SCORES"):
        cells.load_scored("codex-s", "tucker", "valid")


def test_an_unknown_data_set_is_answered_with_the_known_ones():
    with pytest.raises(ChoiceError, match="codex-s, codex-m"):
        cells.load_triples("codex-l", "valid")
