"""CoDEx-S and CoDEx-M (Safavi and Koutra, 2020), and the scores that models gave to their triples.

Where things come from, first match wins:

* the folder named by the environment variable ``ACTC_DATA``, laid out as ``codex-s/train.txt`` and
  ``scores/codex-s/complex/valid.tsv.gz``; with it set nothing is ever downloaded;
* a checkout of this project's repository: the triples as arrays in ``benchmarks/codex``, the scores of the models in
  ``benchmarks/scores`` (``ACTC_SCORES`` points elsewhere), arrays in the row order of the CoDEx files;
* without a checkout, the public homes of the triples and of the scores that the authors of ACTC published (model
  ``complex-authors``), each at one commit, each file checked by its SHA-256, kept in the user's cache (``ACTC_CACHE``,
  else ``$XDG_CACHE_HOME/actc``, else ``~/.cache/actc``).
"""

from __future__ import annotations

import hashlib
import os
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np

from actc.data.deliver import write_beside
from actc.data.triples import BoolArray, FloatArray, ScoredTriples, Triples, encode_columns
from actc.errors import FileError, check_choice

CODEX = (
    "https://raw.githubusercontent.com/tsafavi/codex/52cd012200f2c4c19f214c4276dca7d69052a419/data/triples/"
    "{dataset}/{name}"
)
AUTHORS = (
    "https://raw.githubusercontent.com/anasedova/ACTC/9374bdb56f7d2177260bcfc601b72b1234eec696/codex-s/complex/{name}"
)
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
DATASETS = ("codex-s", "codex-m")
MODELS = ("complex", "conve", "transe", "rescal")
SPLITS = ("train", "valid", "test")
CODEX_FILES = ("train", "valid", "valid_negatives", "test", "test_negatives")
TRIPLES = Path("benchmarks") / "codex"
SCORES = Path("benchmarks") / "scores"
AUTHORS_MODEL = "complex-authors"
# The score files' text has this many significant digits; the arrays are that text in single precision.
DIGITS = {"train": 6, "valid": 7, "test": 7}


def load_triples(dataset: str, split: str) -> tuple[Triples, BoolArray]:
    """Load the training, validation or test triples of a data set, downloading them if need be, and their labels.

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
    if local is not None:
        path = local / dataset / f"{name}.txt"
        if not path.is_file():
            raise FileError(f"ACTC_DATA is {local}, but {path} is missing.")
    elif arrays.is_dir():
        entities, relations = (
            np.array((arrays / f"{kind}.txt").read_text(encoding="utf-8").split()) for kind in ("entities", "relations")
        )
        heads, links, tails = np.load(arrays / f"{name}.npy", allow_pickle=False)
        return entities[heads].tolist(), relations[links].tolist(), entities[tails].tolist()
    else:
        path = _fetch(CODEX.format(dataset=dataset, name=f"{name}.txt"), f"{dataset}/{name}.txt")
    return _read_columns(path, 3)


def load_scored(dataset: str, folder: str | Path, split: str) -> tuple[ScoredTriples, BoolArray]:
    """Load a split with the scores of a model as they were published, and its labels.

    ``folder`` holds arrays in the row order of the CoDEx files; a name is that of one of the checkout's.
    """
    folder = scores_folder() / dataset / folder if isinstance(folder, str) else folder
    triples, labels = load_triples(dataset, split)
    path = folder / f"{split}.npy"
    if path.is_file():
        scores = np.load(path, allow_pickle=False).astype(np.float64)
        scores = scores if folder.name == AUTHORS_MODEL else round_significant(scores, DIGITS[split])
    elif folder.name == AUTHORS_MODEL and data_folder() is None:
        scores = _fetch_authors_scores(split, triples)
    else:
        raise FileError(
            f"There are no scores of {folder.name} on {dataset} ({split}): {path} is missing. "
            "Run from a checkout of the repository, or point ACTC_SCORES to its benchmarks/scores."
        )
    if len(scores) != len(triples):
        raise FileError(
            f"There are {len(scores)} scores of {folder.name} for the {len(triples)} {split} triples of {dataset}."
        )
    found = triples.with_scores(scores)
    found.check()
    return found, labels


def _fetch_authors_scores(split: str, triples: Triples) -> FloatArray:
    """Download the scores that the authors of ACTC published for ComplEx on CoDEx-S (valid and test only)."""
    check_choice("split with published scores", split, ("valid", "test"))
    name = f"{split}_score.tsv"
    path = _fetch(AUTHORS.format(name=name), f"{AUTHORS_MODEL}/{name}")
    *columns, scores = _read_columns(path, 4)
    if [list(column) for column in triples.columns().values()] != columns:
        raise FileError(f"{path} does not list the triples of CoDEx-S in their order.")
    return np.array(scores, dtype=np.float64)


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


def cache_folder() -> Path:
    """Return the folder that downloads are kept in."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("ACTC_CACHE") or Path(base) / "actc").expanduser()


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


def _fetch(url: str, name: str) -> Path:
    try:
        return fetch_file(url, cache_folder() / name, CHECKSUMS[name])
    except FileError as error:
        raise FileError(f"{error} A copy of the data can be named with the variable ACTC_DATA.") from error


def _read_columns(path: Path, width: int) -> tuple[list[str], ...]:
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = next((number for number, row in enumerate(rows, 1) if len(row) != width), None)
    if wrong or not rows:
        raise FileError(f"{path}, line {wrong or 1}: {width} columns separated by tabs were expected.")
    return tuple(list(column) for column in zip(*rows, strict=True))


TIMEOUT_SECONDS = 30.0


def fetch_file(url: str, path: Path, sha256: str) -> Path:
    """Return ``path``, with the file at ``url`` in it: downloaded once, and refused if it is not the expected one."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            content = answer.read()
    except HTTPError as error:
        raise FileError(f"{url} could not be downloaded: the server answers {error.code} {error.reason}.") from error
    except (OSError, HTTPException) as error:
        problem = str(getattr(error, "reason", error)) or type(error).__name__
        raise FileError(f"{url} could not be downloaded: {problem}. Try again; is this machine offline?") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise FileError(f"{url} is not the file that was expected: its SHA-256 is {digest}, not {sha256}.")
    with write_beside(path) as unfinished:
        unfinished.write_bytes(content)
    return path
