"""Pools to be tried: sub-pools of CoDEx's eight cells and of the proving ground's; and people who judge them."""

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
from actc.methods import METHODS, Fit
from actc.sample import load_sample
from actc.triples import Annotations, IntArray, Picks, ScoredTriples

sys.path.insert(0, str(Path(__file__).parent.parent / "pooled"))
from stress import STRESSES

_PROVING = os.environ.get("ACTC_PROVING")
CODEX = [f"codex-{size}/{model}" for size in "sm" for model in ("complex", "conve", "transe", "rescal")]
PROVING = sorted(f"{p.parent.name}/{p.name}" for p in Path(_PROVING).glob("*/*/")) if _PROVING else []
SAMPLE, COUNTRIES = "sample/sample", "countries/made"
CELLS = [*CODEX, SAMPLE, COUNTRIES, *PROVING]
KINDS = ("plain", "balanced", "bent-stairs", "bent-noise", "bent-lopsided", "bent-scores")
METHOD = {"random": "pooled-rndm", "session": "pooled"}
UNSURE, WISHES = 0.1, 1 / 3
"""How often a person is not sure; which share of a wishing person's questions is about one relation."""


@dataclass(frozen=True, eq=False)
class Run:
    """One pool with a target set, and answers in the order in which they came, as an export has them."""

    cell: str
    kind: str
    picks: str
    people: int
    number: int
    pair: Cell
    annotations: Annotations


@lru_cache
def load(name: str) -> Cell:
    """Read a cell once."""
    if name == COUNTRIES:
        return make_countries()
    if name == SAMPLE:
        found = load_sample()
        return Cell("sample", "sample", found.valid, found.valid_labels, found.test, found.test_labels, found.known)
    return read_cell(Path(_PROVING or "") / name) if name in PROVING else load_cell(*name.split("/"))


def make_countries() -> Cell:
    """Make a pool of two relations with the same scores; of one nine in ten high ones are true, of the other one half.

    As in a graph of countries, where what is said of one relation is wrong of the other.
    """
    random, tables = np.random.default_rng(0), []
    for part in ("valid", "test"):
        scores = random.normal(size=4000)
        relations = np.repeat(["locatedIn", "neighbor"], 2000)
        most = np.where(relations == "neighbor", 0.93, 0.5)
        labels = random.random(4000) < most / (1 + np.exp(-3 * scores))
        names = [f"{part}{row}" for row in range(4000)]
        tables += [ScoredTriples.from_columns(names, relations.tolist(), ["x"] * 4000, scores), labels]
    return Cell("countries", "made", *tables)


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


def annotate(pair: Cell, method: str, people: int, count: int, number: int) -> Annotations:
    """Let people judge as in a session: some are not sure, and of several one wishes for a relation now and then."""
    found, random, answers = METHODS[method], np.random.default_rng([number, 1]), Annotations()
    unsure, wished = np.zeros(0, dtype=np.int64), int(random.choice(pair.valid.relations))
    while len(answers) < count:
        fit, busy = found.fit(pair.valid, answers), np.append(answers.rows, unsure)
        batch = min(count - len(answers), found.batch(len(answers)))
        if people > 1 and random.random() < WISHES / people:
            picks = wish(pair.valid, fit, wished, busy, batch)
        else:
            picks = fit.pick(min(batch + len(unsure), len(pair.valid) - len(answers)), random)
            picks = picks.take(~np.isin(picks.rows, busy))
        picks = picks.take(np.arange(min(batch, len(picks))))
        doubts = random.random(len(picks)) < UNSURE
        unsure = np.append(unsure, picks.rows[doubts])
        sure = picks.take(~doubts)
        answers = answers.plus(sure.answered(pair.valid_labels[sure.rows]))
    return answers


def wish(pool: ScoredTriples, fit: Fit, relation: int, busy: IntArray, count: int) -> Picks:
    """Return the triples of a relation that the method doubts most, as a session's planner does."""
    rows = np.setdiff1d(np.flatnonzero(pool.relations == relation), busy)
    doubt = np.abs(fit.probabilities(pool.take(rows)) - 0.5) if len(rows) else np.zeros(0)
    return Picks(rows[np.argsort(doubt, kind="stable")][:count], "given")


def runs(cells: list[str], kinds: list[str], numbers: range, most: int, tune: bool, ways: list[str]) -> Iterator[Run]:
    """Make every run, the cells by turns, so that an interrupted table is even; with one, two and five people."""
    for number in numbers:
        for name in cells:
            for kind in kinds:
                pair = make_pair(load(name), kind, number, tune)
                for picks in ways:
                    people = (1, 2, 5)[number % 3]
                    answers = annotate(pair, METHOD[picks], people, min(most, len(pair.valid) // 2), number)
                    yield Run(name, kind, picks, people, number, pair, answers)
