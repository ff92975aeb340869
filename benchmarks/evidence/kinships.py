"""Kinships, the closed world that comes with PyKEEN: a graph on which nothing in this house was chosen.

Run: python benchmarks/evidence/kinships.py --out FOLDER
     python benchmarks/evidence/rules.py kinships --graphs FOLDER --redraw K --answers 100 --out unseen.csv
Writes FOLDER/kinships with train, valid and test for ``rules.py``: a quarter of the facts is hidden, drawn at random.
"""

from __future__ import annotations

import argparse
from importlib.resources import files
from pathlib import Path

import numpy as np

from actc.data.files import write_triples

HIDDEN, HOLDOUT = 0.25, 0.05


def main() -> None:
    """Draw which facts are hidden, and write the three files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    folder = parser.parse_args().out / "kinships"
    folder.mkdir(parents=True)
    texts = [(files("pykeen.datasets") / "kinships" / f"{name}.txt").read_text() for name in ("train", "valid", "test")]
    facts = np.array(sorted({tuple(line.split("\t")) for text in texts for line in text.splitlines()}), dtype=object)
    place = np.random.default_rng(0).permutation(len(facts)) / len(facts)
    parts = {"test": place < HIDDEN, "valid": (place >= HIDDEN) & (place < HIDDEN + HOLDOUT)}
    parts["train"] = ~(parts["test"] | parts["valid"])
    for name, rows in parts.items():
        columns = dict(zip(("head", "relation", "tail"), facts[rows].T, strict=True))
        write_triples(folder / f"{name}.tsv", columns)


if __name__ == "__main__":
    main()
