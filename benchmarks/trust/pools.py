"""Pools to be tried: sub-pools of CoDEx's eight cells and of the proving ground's; and annotations picked on them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from actc.experiment.cells import Cell, read_cell
from actc.experiment.datasets import load_cell
from actc.methods import find_method
from actc.sample import load_sample
from actc.triples import Annotations, BoolArray
from actc.trust.discrepancy import uniform_picks

sys.path.insert(0, str(Path(__file__).parent.parent / "pooled"))
from stress import STRESSES

_PROVING = os.environ.get("ACTC_PROVING")
CODEX = [f"codex-{size}/{model}" for size in "sm" for model in ("complex", "conve", "transe", "rescal")]
PROVING = sorted(f"{p.parent.name}/{p.name}" for p in Path(_PROVING).glob("*/*/")) if _PROVING else []
SAMPLE = "sample/sample"
CELLS = [*CODEX, SAMPLE, *PROVING]
KINDS = ("plain", "balanced", "bent-stairs", "bent-noise", "bent-lopsided", "bent-scores")
METHOD = {"random": "pooled-rndm", "active": "pooled"}
METHOD |= {f"checked {share}": f"pooled:promised={share}" for share in (0.8, 0.9, 0.95)}


@dataclass(frozen=True, eq=False)
class Run:
    """One pool with a target set, and annotations in the order of picking."""

    cell: str
    kind: str
    picks: str
    number: int
    pair: Cell
    annotations: Annotations
    uniform: BoolArray


@lru_cache
def load(name: str) -> Cell:
    """Read a cell once."""
    if name == SAMPLE:
        found = load_sample()
        return Cell("sample", "sample", found.valid, found.valid_labels, found.test, found.test_labels, found.known)
    return read_cell(Path(_PROVING or "") / name) if name in PROVING else load_cell(*name.split("/"))


def make_pair(cell: Cell, kind: str, number: int, tune: bool) -> Cell:
    """Take a random part of valid as pool; test as target, or (for tuning) the rest of valid in its place."""
    random = np.random.default_rng([number, KINDS.index(kind)])
    order = random.permutation(len(cell.valid))
    cut = len(order) // 2 if tune else round(0.8 * len(order))
    rows, rest = np.sort(order[:cut]), np.sort(order[cut:])
    pool, labels = cell.valid.take(rows), cell.valid_labels[rows]
    target = (cell.valid.take(rest), cell.valid_labels[rest]) if tune else (cell.test, cell.test_labels)
    pair = Cell(cell.dataset, cell.model, pool, labels, *target, cell.known)
    return pair if kind == "plain" else STRESSES[kind](pair, random)


def annotate(pair: Cell, picks: str, count: int, number: int) -> Annotations:
    """Pick and answer, as a session would."""
    method, random, annotations = find_method(METHOD[picks]), np.random.default_rng([number, 1]), Annotations()
    while len(annotations) < count:
        batch = min(count - len(annotations), method.batch(len(annotations)))
        rows = method.fit(pair.valid, annotations).pick(batch, random).rows
        annotations = annotations.plus(rows, pair.valid_labels[rows])
    return annotations


def runs(cells: list[str], kinds: list[str], numbers: range, most: int, tune: bool, ways: list[str]) -> Iterator[Run]:
    """Make every run, the cells by turns, so that an interrupted table is even."""
    for number in numbers:
        for name in cells:
            for kind in kinds:
                pair = make_pair(load(name), kind, number, tune)
                for picks in ways:
                    annotations = annotate(pair, picks, min(most, len(pair.valid) // 2), number)
                    uniform = uniform_picks(len(annotations), find_method(METHOD[picks]).selector)
                    yield Run(name, kind, picks, number, pair, annotations, uniform)
