"""Pack the text files of CoDEx and the scores that ACTC's authors published into arrays.

Usage: python benchmarks/codex/pack_triples.py DATA

DATA holds codex-s/train.txt and so on, and scores/codex-s/complex-authors/{valid,test}.tsv.gz. The arrays are written
beside this script and into benchmarks/scores/codex-s/complex-authors. `tests/bench/test_datasets.py` spells the
text out of them again and compares checksums.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np

from actc.bench.cells import DATASETS

HERE = Path(__file__).parent
CODEX_FILES = ("train", "valid", "valid_negatives", "test", "test_negatives")


def pack_data_set(source: Path, target: Path) -> None:
    """Write the names, sorted, one per line, and each file's triples as their line numbers (from 0)."""
    rows = {name: np.loadtxt(source / f"{name}.txt", dtype=str, delimiter="\t") for name in CODEX_FILES}
    triples = np.concatenate(list(rows.values()))
    entities, relations = np.unique(triples[:, [0, 2]]), np.unique(triples[:, 1])
    target.mkdir(exist_ok=True)
    for kind, names in (("entities", entities), ("relations", relations)):
        (target / f"{kind}.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    kinds = (entities, relations, entities)
    for name, table in rows.items():
        columns = [np.searchsorted(names, column) for names, column in zip(kinds, table.T, strict=True)]
        np.save(target / f"{name}.npy", np.stack(columns).astype(np.uint16))


def pack_published_scores(source: Path, target: Path) -> None:
    """Write the scores in single precision, which is what they were printed from."""
    target.mkdir(exist_ok=True)
    for split in ("valid", "test"):
        with gzip.open(source / f"{split}.tsv.gz", "rt", encoding="utf-8") as lines:
            scores = np.array([line.split("\t")[3] for line in lines][1:], dtype=np.float64)
        if not np.array_equal(scores.astype(np.float32), scores):
            raise SystemExit(f"{source}, {split}: single precision does not hold these scores.")
        np.save(target / f"{split}.npy", scores.astype(np.float32))


def main() -> None:
    """Pack both data sets and the one table of published scores."""
    data = Path(sys.argv[1])
    for dataset in DATASETS:
        pack_data_set(data / dataset, HERE / dataset)
    cell = Path("codex-s") / "complex-authors"
    pack_published_scores(data / "scores" / cell, HERE.parent / "scores" / cell)


if __name__ == "__main__":
    main()
