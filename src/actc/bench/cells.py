"""Where methods are measured: a cell is one model on one data set, in memory or in a folder that holds it.

A checkout of this project's repository holds CoDEx-S and CoDEx-M (Safavi and Koutra, 2020) as arrays in
``benchmarks/codex``, and the scores that models gave to their triples in ``benchmarks/scores``, as arrays in the row
order of the CoDEx files. The environment variable ``ACTC_SCORES`` names another folder of scores, ``DATASET/MODEL``
each, where tables may stand in the place of arrays.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.data.files import read_scored
from actc.data.triples import BoolArray, FloatArray, ScoredTriples, Triples, encode_columns
from actc.errors import FileError, OptionError, check_choice
from actc.evidence.score import TrainingSet, score_pools
from actc.graph.graph import Graph
from actc.methods.three_steps import Squash, needs_squashing

DATASETS = ("codex-s", "codex-m")
MODELS = ("complex", "conve", "transe", "rescal")
AUTHORS_MODEL = "complex-authors"
SPLITS = ("train", "valid", "test")
# The score files' text has this many significant digits; the arrays are that text in single precision.
DIGITS = {"train": 6, "valid": 7, "test": 7}
SUFFIXES = (".tsv.gz", ".tsv", ".csv.gz", ".csv", ".parquet", ".npy")


@dataclass(frozen=True, eq=False)
class Cell:
    """One model on one data set: a labelled pool to calibrate on and labelled triples to test on.

    ``known`` are triples that the graph holds, with scores; ``training`` has facts that the model was not trained on.
    """

    dataset: str
    model: str
    valid: ScoredTriples
    valid_labels: BoolArray
    test: ScoredTriples
    test_labels: BoolArray
    known: ScoredTriples | None = None
    training: TrainingSet | None = None

    @cached_property
    def squashed(self) -> Cell:
        """The cell with each split's scores centred and squashed into (0, 1), unless they are there already."""
        if not (needs_squashing(self.valid) or needs_squashing(self.test)):
            return self
        valid, test = Squash.of(self.valid), Squash.of(self.test)
        known = None if self.known is None else valid.apply(self.known)
        return replace(self, valid=valid.apply(self.valid), test=test.apply(self.test), known=known)

    @cached_property
    def with_evidence(self) -> Cell:
        """The cell with the graph's evidence beside its triples; the graph is what is known and the holdout."""
        if self.known is None:
            raise OptionError(f"{self.dataset}/{self.model}: there are no known triples, so there is no graph.")
        valid, test = score_pools(Graph.of(self.known), [self.valid, self.test], self.training)
        return replace(self, valid=valid, test=test)

    def accept(self, cuts: FloatArray) -> BoolArray:
        """Return what S tables of cuts, shape (S, R + 1), the default last, accept of the M test triples: (S, M)."""
        names = self.valid.relation_names
        columns = names.translate(self.test.relations, self.test.relation_names, default=len(names))
        return np.asarray(self.test.scores >= cuts[:, columns])

    @property
    def digest(self) -> str:
        """A few letters that change with any score, label or relation of the cell."""
        columns: list[NDArray[Any]] = [self.valid_labels, self.test_labels]
        for triples in (self.valid, self.test, *([] if self.known is None else [self.known])):
            columns += [triples.relations, triples.scores]
        if self.training is not None:
            proposals = self.training.proposals
            columns += [self.training.true, proposals.relations, *proposals.pieces.values()]
        return hashlib.sha256(b"".join(column.tobytes() for column in columns)).hexdigest()[:12]

    def load(self, with_known: bool) -> Cell:
        """Return itself: it is loaded."""
        return self


@dataclass(frozen=True)
class CellFolder:
    """A folder that holds a cell; between processes only its path travels, and each process reads it once."""

    path: Path

    @property
    def dataset(self) -> str:
        """The name of the parent folder."""
        return self.path.resolve().parent.name

    @property
    def model(self) -> str:
        """The name of the folder."""
        return self.path.resolve().name

    @property
    def has_known(self) -> bool:
        """Whether the folder holds the known triples."""
        return _find_split(self.path, "train") is not None

    def load(self, with_known: bool) -> Cell:
        """Read the folder, or return what was read before."""
        return read_cell_once(self.path.resolve(), with_known)


def read_cell(folder: str | Path, with_known: bool = True) -> Cell:
    """Read a folder of tables, or of arrays of scores in the row order of the CoDEx files.

    Tables: ``valid`` and ``test`` (head, relation, tail, score, label) and, if there, ``train`` (no label needed).
    Beside ``train`` may stand ``held``, facts that the model was not trained on, with scores, and ``held_proposals``,
    what the model proposes for the slots of those facts, labelled 1 for the facts.
    """
    folder = Path(folder)
    source = CellFolder(folder)
    dataset, has_known = source.dataset, with_known and source.has_known
    if not folder.is_dir():
        raise FileError(f"{folder}: there is no such folder; it should hold valid.tsv and test.tsv.")
    if (folder / "valid.npy").is_file():
        if dataset not in DATASETS:
            raise FileError(f"{folder}: arrays of scores are for {', '.join(DATASETS)}; write tables for others.")
        valid, test = (load_scored(dataset, folder, split) for split in ("valid", "test"))
        return Cell(
            dataset, source.model, *valid, *test, load_scored(dataset, folder, "train")[0] if has_known else None
        )
    valid, test = (_read_labelled(folder, split) for split in ("valid", "test"))
    train, holdout = (_find_split(folder, split) if with_known else None for split in ("train", "held"))
    known = None if train is None else read_scored(train)[0]
    training = None if holdout is None else _read_training_set(folder, read_scored(holdout)[0], valid[0])
    return Cell(dataset, source.model, *valid, *test, known, training)


read_cell_once = lru_cache(maxsize=16)(read_cell)


def list_cells(datasets: Sequence[str] = DATASETS) -> list[CellFolder]:
    """Return every model whose scores are here, the paper's four first, and the scores that the authors published."""
    cells = []
    for dataset in datasets:
        names = {path.parent.name for path in scores_folder(dataset).glob("*/valid.*")} - {AUTHORS_MODEL}
        models = [*(model for model in MODELS if model in names), *sorted(names - set(MODELS))]
        cells += [CellFolder(scores_folder(dataset) / model) for model in models]
    authors = scores_folder(DATASETS[0]) / AUTHORS_MODEL
    return [*cells, CellFolder(authors)] if cells and authors.is_dir() else cells


def load_cell(dataset: str, model: str) -> Cell:
    """Load one model on CoDEx: scores as published, labels, known triples."""
    return read_cell(scores_folder(dataset) / model)


def scores_folder(dataset: str) -> Path:
    """Return the folder of the models' scores on a data set; it is no part of the installed package."""
    named = os.environ.get("ACTC_SCORES")
    return (Path(named).expanduser() if named else checkout_folder("scores")) / dataset


def checkout_folder(name: str) -> Path:
    """Return a folder of benchmarks: of the checkout that this source is in, else of the one we work in."""
    beside_the_source = Path(__file__).parents[3] / "benchmarks" / name
    return beside_the_source if beside_the_source.is_dir() else Path.cwd() / "benchmarks" / name


def _find_split(folder: Path, split: str) -> Path | None:
    paths = (folder / f"{split}{suffix}" for suffix in SUFFIXES)
    return next((path for path in paths if path.exists()), None)


def _read_training_set(folder: Path, holdout: ScoredTriples, pool: ScoredTriples) -> TrainingSet:
    """Read holdout facts, among the proposals for their own slots or, where there are none, among those of the pool."""
    if _find_split(folder, "held_proposals") is None:
        return TrainingSet.placed_in(holdout, pool)
    proposals = _read_labelled(folder, "held_proposals")[0]
    return TrainingSet.among(holdout, proposals.with_pieces(score=proposals.scores))


def _read_labelled(folder: Path, split: str) -> tuple[ScoredTriples, BoolArray]:
    path = _find_split(folder, split)
    if path is None:
        raise FileError(f"{folder}: there is no {split}.tsv (nor .tsv.gz, .csv, .csv.gz, .parquet).")
    triples, labels = read_scored(path)
    if labels is None:
        raise FileError(f"{path}, line 1: the column 'label' is missing; the bench takes its answers from it.")
    if labels.all() or not labels.any():
        raise FileError(f"{path}: every label is {int(labels[0])}; a bench needs true and false triples.")
    return triples, labels


# CoDEx, and scores in the row order of its files


def load_scored(dataset: str, folder: str | Path, split: str) -> tuple[ScoredTriples, BoolArray]:
    """Load a split with the scores of a model as they were published, and its labels.

    ``folder`` holds arrays in the row order of the CoDEx files; a name is that of one of the checkout's.
    """
    folder = scores_folder(dataset) / folder
    path = folder / f"{split}.npy"
    if not path.is_file():
        raise FileError(
            f"There are no scores of {folder.name} on {dataset} ({split}): {path} is missing. "
            "Run from a checkout of the repository, or point ACTC_SCORES to its benchmarks/scores."
        )
    triples, labels = load_triples(dataset, split)
    scores = np.load(path, allow_pickle=False).astype(np.float64)
    if folder.name != AUTHORS_MODEL:
        scores = round_significant(scores, DIGITS[split])
    if len(scores) != len(triples):
        raise FileError(
            f"There are {len(scores)} scores of {folder.name} for the {len(triples)} {split} triples of {dataset}."
        )
    scored = triples.with_scores(scores)
    scored.check()
    return scored, labels


def round_significant(values: FloatArray, digits: int) -> FloatArray:
    """Return the numbers that the values would be read back as, had they been written with so many digits."""
    size = np.abs(values)
    exponents = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    # A whole number divided by a power of ten up to 22 is rounded once, as reading decimal text is.
    scale = 10.0 ** (digits - 1 - exponents)
    return np.asarray(np.rint(values * scale) / scale)


def load_triples(dataset: str, split: str) -> tuple[Triples, BoolArray]:
    """Load the training, validation or test triples of a data set, and their labels.

    The true triples come first, in file order, then the verified false ones, of which a training split has none.
    """
    check_choice("data set", dataset, DATASETS)
    check_choice("split", split, SPLITS)
    true = load_columns(dataset, split)
    false = ([], [], []) if split == "train" else load_columns(dataset, f"{split}_negatives")
    labels = np.arange(len(true[0]) + len(false[0])) < len(true[0])
    return encode_columns(*(yes + no for yes, no in zip(true, false, strict=True))), labels


def load_columns(dataset: str, name: str) -> tuple[list[str], ...]:
    """Load one CoDEx file, such as ``valid_negatives``: its heads, relations and tails in file order."""
    folder = checkout_folder("codex") / dataset
    if not folder.is_dir():
        raise FileError(
            f"{folder} is missing. Run from a checkout of the repository, or write tables with the triples."
        )
    entities, relations = (
        np.array((folder / f"{kind}.txt").read_text(encoding="utf-8").split()) for kind in ("entities", "relations")
    )
    heads, links, tails = np.load(folder / f"{name}.npy", allow_pickle=False)
    return entities[heads].tolist(), relations[links].tolist(), entities[tails].tolist()
