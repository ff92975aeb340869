"""Pack score tables into arrays without their triples.

Usage: python benchmarks/scores/pack_scores.py SCORES OUT

SCORES holds DATASET/MODEL/{train,valid,test}.tsv.gz (head, relation, tail, score, label; rows in the order
of the CoDEx files) and model.json. OUT receives DATASET/MODEL/{train,valid,test}.npy and a copy of
model.json.
"""

from __future__ import annotations

import gzip
import shutil
import sys
from pathlib import Path

import numpy as np

from actc.bench.cells import DIGITS, round_significant


def read_scores(path: Path) -> np.ndarray:
    """Return the column of scores, shape (N,)."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        column = next(lines).split().index("score")
        return np.array([line.split("\t")[column] for line in lines], dtype=np.float64)


def pack(source: Path, target: Path) -> None:
    """Write one table's scores in single precision, and prove that nothing of its text is lost."""
    scores = read_scores(source)
    packed = scores.astype(np.float32)
    restored = round_significant(packed.astype(np.float64), DIGITS[target.stem])
    if not np.array_equal(restored, scores):
        raise SystemExit(f"{source}: single precision does not hold these scores.")
    target.parent.mkdir(parents=True, exist_ok=True)
    np.save(target, packed)


def main() -> None:
    """Pack every model that has training scores."""
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    for train in sorted(source.glob("*/*/train.tsv.gz")):
        folder = target / train.parent.relative_to(source)
        for split in DIGITS:
            pack(train.with_name(f"{split}.tsv.gz"), folder / f"{split}.npy")
        shutil.copyfile(train.with_name("model.json"), folder / "model.json")


if __name__ == "__main__":
    main()
