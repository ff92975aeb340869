"""Where methods are measured: a cell is one model on one data set, in memory or in a folder that holds it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from actc.bench.datasets import (
    AUTHORS_MODEL,
    DATASETS,
    MODELS,
    data_folder,
    load_scored,
    scores_folder,
)
from actc.bench.metrics import LabelledScores
from actc.data.files import read_scored
from actc.data.triples import BoolArray, ScoredTriples
from actc.errors import FileError, OptionError
from actc.evidence.score import TrainingSet, score_pools
from actc.graph.graph import Graph
from actc.methods.three_steps import Squash, needs_squashing

SUFFIXES = (".tsv.gz", ".tsv", ".csv.gz", ".csv", ".parquet")


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

    @cached_property
    def labelled_test(self) -> LabelledScores:
        """The test triples, arranged to score thresholds."""
        return LabelledScores.of(self.test, self.test_labels, self.valid.relation_names)

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
        """The name of the folder that the folder is in."""
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
        return read_folder_once(self.path.resolve(), with_known)


@lru_cache(maxsize=16)
def read_folder_once(folder: Path, with_known: bool) -> Cell:
    """Read a folder and keep the cell for the next time; ``cache_clear`` forgets them all."""
    return read_cell(folder, with_known=with_known)


def read_cell(folder: str | Path, *, with_known: bool = True) -> Cell:
    """Read a folder of tables, or of arrays of scores in the row order of the CoDEx files.

    Tables: ``valid`` and ``test`` (head, relation, tail, score, label) and, if there, ``train`` (no label needed).
    Beside ``train`` may stand ``held``, facts that the model was not trained on, with scores, and ``held_proposals``,
    what the model proposes for the slots of those facts, labelled 1 for the facts.
    """
    folder = Path(folder)
    source = CellFolder(folder)
    dataset, model = source.dataset, source.model
    if not folder.is_dir():
        raise FileError(f"{folder}: there is no such folder; it should hold valid.tsv and test.tsv.")
    if (folder / "valid.npy").is_file():
        if dataset not in DATASETS:
            raise FileError(f"{folder}: arrays of scores are for {', '.join(DATASETS)}; write tables for others.")
        valid, test = (load_scored(dataset, folder, split) for split in ("valid", "test"))
        known = load_scored(dataset, folder, "train")[0] if with_known and source.has_known else None
        return Cell(dataset, model, *valid, *test, known)
    valid, test = (_read_labelled(folder, split) for split in ("valid", "test"))
    train = _find_split(folder, "train") if with_known else None
    training = _read_training_set(folder, valid[0]) if with_known else None
    return Cell(dataset, model, *valid, *test, None if train is None else read_scored(train)[0], training)


def load_cell(dataset: str, model: str, *, with_known: bool = True) -> Cell:
    """Load one model on CoDEx: scores as published, labels, known triples."""
    return read_cell(find_folder(dataset, model), with_known=with_known)


def find_folder(dataset: str, model: str) -> Path:
    """Return the folder of the scores of a model: tables below ``ACTC_DATA``, else the checkout's arrays."""
    local = data_folder()
    tables = None if local is None else local / "scores" / dataset / model
    return tables if tables is not None and tables.is_dir() else scores_folder() / dataset / model


def list_cells(datasets: Sequence[str] = DATASETS) -> list[CellFolder]:
    """Return every model whose scores are here, the paper's four first, and the scores that the authors published."""
    local, cells = data_folder(), []
    for dataset in datasets:
        folders = [] if local is None else [local / "scores" / dataset]
        if local is None or (local / dataset / "valid.txt").is_file():  # arrays need CoDEx's triples beside them
            folders.append(scores_folder() / dataset)
        names = {path.parent.name for folder in folders for path in folder.glob("*/valid.*")} - {AUTHORS_MODEL}
        models = [*(model for model in MODELS if model in names), *sorted(names - set(MODELS))]
        cells += [CellFolder(find_folder(dataset, model)) for model in models]
    authors = CellFolder(find_folder(DATASETS[0], AUTHORS_MODEL))
    has_authors = authors.path.is_dir() and (local is None or authors.path.is_relative_to(local))
    return [*cells, authors] if cells and has_authors else cells


def check_names(sources: Sequence[Cell | CellFolder]) -> None:
    """Refuse cells whose rows would have the same name."""
    names = [(source.dataset, source.model) for source in sources]
    for dataset, model in names:
        if names.count((dataset, model)) > 1:
            raise OptionError(f"Two cells are called {dataset}/{model}; give each folder a name of its own.")


def _find_split(folder: Path, split: str) -> Path | None:
    paths = (folder / f"{split}{suffix}" for suffix in (*SUFFIXES, ".npy"))
    return next((path for path in paths if path.exists()), None)


def _read_training_set(folder: Path, pool: ScoredTriples) -> TrainingSet | None:
    """Read holdout facts, among the proposals for their own slots or, where there are none, among those of the pool."""
    path = _find_split(folder, "held")
    if path is None:
        return None
    holdout = read_scored(path)[0]
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
