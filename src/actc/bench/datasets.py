"""CoDEx-S and CoDEx-M (Safavi and Koutra, 2020), and the scores that models gave to their triples.

They are in a checkout of this project's repository: the triples as arrays in ``benchmarks/codex``, the scores of the
models in ``benchmarks/scores`` (``ACTC_SCORES`` points elsewhere), arrays in the row order of the CoDEx files. The
environment variable ``ACTC_DATA`` names a folder of tables in their place, laid out as ``codex-s/train.txt`` and
``scores/codex-s/complex/valid.tsv.gz``.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from actc.data.triples import BoolArray, FloatArray, ScoredTriples, Triples, encode_columns
from actc.errors import FileError, check_choice

DATASETS = ("codex-s", "codex-m")
MODELS = ("complex", "conve", "transe", "rescal")
SPLITS = ("train", "valid", "test")
TRIPLES = Path("benchmarks") / "codex"
SCORES = Path("benchmarks") / "scores"
AUTHORS_MODEL = "complex-authors"
# The score files' text has this many significant digits; the arrays are that text in single precision.
DIGITS = {"train": 6, "valid": 7, "test": 7}


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
    local, arrays = data_folder(), checkout_folder(TRIPLES) / dataset
    path = arrays / f"{name}.npy" if local is None else local / dataset / f"{name}.txt"
    if not path.is_file():
        raise FileError(
            f"{path} is missing. Run from a checkout of the repository, or let ACTC_DATA name a folder with the files."
        )
    if local is None:
        entities, relations = (
            np.array((arrays / f"{kind}.txt").read_text(encoding="utf-8").split()) for kind in ("entities", "relations")
        )
        heads, links, tails = np.load(path, allow_pickle=False)
        return entities[heads].tolist(), relations[links].tolist(), entities[tails].tolist()
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = next((number for number, row in enumerate(rows, 1) if len(row) != 3), None)
    if wrong or not rows:
        raise FileError(f"{path}, line {wrong or 1}: 3 columns separated by tabs were expected.")
    return tuple(list(column) for column in zip(*rows, strict=True))


def load_scored(dataset: str, folder: str | Path, split: str) -> tuple[ScoredTriples, BoolArray]:
    """Load a split with the scores of a model as they were published, and its labels.

    ``folder`` holds arrays in the row order of the CoDEx files; a name is that of one of the checkout's.
    """
    folder = scores_folder() / dataset / folder if isinstance(folder, str) else folder
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


def data_folder() -> Path | None:
    """Return the folder that ``ACTC_DATA`` names, None where the variable is not set."""
    named = os.environ.get("ACTC_DATA")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise FileError(f"ACTC_DATA is {named!r}, which is not a folder.")
    return folder


def scores_folder() -> Path:
    """Return the folder of the committed score arrays; it is no part of the installed package."""
    named = os.environ.get("ACTC_SCORES")
    if named:
        return Path(named).expanduser()
    return checkout_folder(SCORES)


def checkout_folder(inside: Path) -> Path:
    """Return a folder of the checkout: the one that this source is in, else the one that this process works in."""
    beside_the_source = Path(__file__).parents[3] / inside
    return beside_the_source if beside_the_source.is_dir() else Path.cwd() / inside
