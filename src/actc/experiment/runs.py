"""Repeats x budgets x methods over score folders, as tidy rows.

Every method of one seed and repeat sees the same random draws, so methods are paired; budgets are nested: a larger one
contains the smaller. Rows do not depend on the number of jobs.
"""

from __future__ import annotations

import csv
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from actc.errors import ChoiceError, FileError, OptionError
from actc.methods import Method, find_method
from actc.metrics import Scorer
from actc.tables.files import read_scored, write_beside
from actc.three_steps.squash_scores import Squash, needs_squashing
from actc.triples import Annotations, BoolArray, IntArray, ScoredTriples

PAPER_BUDGETS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
SUFFIXES = (".tsv.gz", ".tsv", ".csv.gz", ".csv", ".parquet")
REPEATS_AT_ONCE = 5  # laid side by side in one vectorised pass; more only costs memory


def ignore_progress(done: int, total: int) -> None:
    """Tell nobody."""


class Row(NamedTuple):
    """One measurement; accuracy and F1 in 0...1 on the test triples.

    ``seconds`` is the time to select and calibrate, all budgets of a repeat sharing it evenly.
    """

    dataset: str
    model: str
    method: str
    budget: int
    repeat: int
    accuracy: float
    f1: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Cell:
    """One model on one data set: a labelled pool to calibrate on and labelled triples to test on."""

    dataset: str
    model: str
    valid: ScoredTriples
    valid_labels: BoolArray
    test: ScoredTriples
    test_labels: BoolArray
    known: ScoredTriples | None = None

    @cached_property
    def squashed(self) -> Cell:
        """The cell with each split's scores centred and squashed into (0, 1), unless they are there already."""
        if not (needs_squashing(self.valid) or needs_squashing(self.test)):
            return self
        valid, test = Squash.of(self.valid), Squash.of(self.test)
        known = None if self.known is None else valid.apply(self.known)
        return replace(self, valid=valid.apply(self.valid), test=test.apply(self.test), known=known)

    @cached_property
    def scorer(self) -> Scorer:
        """The test triples, ready to score thresholds."""
        return Scorer.of(self.test, self.test_labels, self.valid.relation_names)


def read_cell(folder: str | Path, *, with_known: bool = True) -> Cell:
    """Read ``valid`` and ``test`` (head, relation, tail, score, label) and, if there, ``train`` (no label needed)."""
    folder = Path(folder)
    if not folder.is_dir():
        raise FileError(f"{folder}: there is no such folder; it should hold valid.tsv and test.tsv.")
    valid, valid_labels = _read_labelled(_find_split(folder, "valid"))
    test, test_labels = _read_labelled(_find_split(folder, "test"))
    train = _find_split(folder, "train", needed=False) if with_known else None
    known = None if train is None else read_scored(train)[0]
    name = folder.resolve()
    return Cell(name.parent.name, name.name, valid, valid_labels, test, test_labels, known)


def _find_split(folder: Path, split: str, needed: bool = True) -> Any:
    for suffix in SUFFIXES:
        if (folder / f"{split}{suffix}").exists():
            return folder / f"{split}{suffix}"
    if needed:
        raise FileError(f"{folder}: there is no {split}.tsv (nor .tsv.gz, .csv, .csv.gz, .parquet).")
    return None


def _read_labelled(path: Path) -> tuple[ScoredTriples, BoolArray]:
    triples, labels = read_scored(path)
    if labels is None:
        raise FileError(f"{path}, line 1: the column 'label' is missing; the bench takes its answers from it.")
    if labels.all() or not labels.any():
        raise FileError(f"{path}: every label is {int(labels[0])}; a bench needs true and false triples.")
    return triples, labels


def run_experiment(
    cells: Sequence[Cell],
    methods: Sequence[str],
    budgets: Sequence[int] | None = None,
    repeats: int = 100,
    seed: int = 12345,
    draws: str = "numpy",
    jobs: int = 1,
    squash: bool = True,
    progress: Callable[[int, int], None] = ignore_progress,
    backend: str = "loky",
    address: str | None = None,
) -> list[Row]:
    """Measure every method in every cell at every budget, several times.

    Parameters
    ----------
    cells : sequence of Cell
    methods : sequence of str
        Names as in ``METHODS``, with options if wanted.
    budgets : sequence of int
        How many triples are annotated; sorted and nested. By default the paper's, as far as the pools reach.
    draws : {"numpy", "authors"}
        Where random selections come from: a numpy Generator per repeat, or the authors' own stream.
    jobs : int
        Processes; the rows are the same for any number.
    squash : bool
        Centre and squash scores that leave [0, 1], for the methods that were made for such scores.
    progress : callable
        Told how many more repeats are done, and how many there are in all.
    backend : {"loky", "dask", "ray"}
        Where the processes are: on this machine, or on a cluster; the rows are the same.
    address : str, optional
        The cluster's scheduler; without it one is started on this machine.
    """
    if not budgets:
        budgets = [budget for budget in PAPER_BUDGETS if budget <= min(len(cell.valid) for cell in cells)]
    budgets = sorted(set(budgets))
    found = {name: find_method(name) for name in methods}
    for cell in cells:
        _check_budgets(cell, found, budgets, repeats)
    drawn = [budget for budget in budgets if budget > 0] or [0]  # the authors' stream moves on at every step
    orders = {id(cell): draw_orders(len(cell.valid), drawn, repeats, seed, draws) for cell in cells}
    tasks = [
        (cell, name, method, _affordable(method, budgets), part, orders[id(cell)], seed, squash)
        for cell in cells
        for name, method in found.items()
        for part in _parts(1 if has_no_chance(method) else repeats)
    ]
    rows: list[Row] = []
    total = sum(len(task[4]) for task in tasks)
    for task, part in zip(tasks, _run_tasks(tasks, jobs, backend, address), strict=True):
        rows += part
        progress(len(task[4]), total)
    return _repeat_certain_rows(rows, found, repeats)


def _parts(repeats: int) -> list[range]:
    return [range(start, min(start + REPEATS_AT_ONCE, repeats)) for start in range(0, repeats, REPEATS_AT_ONCE)]


def has_no_chance(method: Method) -> bool:
    """Say whether every repeat of the method is the same, so that one is enough."""
    return not method.by_chance


def _check_budgets(cell: Cell, methods: dict[str, Method], budgets: Sequence[int], repeats: int) -> None:
    if repeats < 1:
        raise OptionError(f"{repeats} repeats make no experiment; give at least 1.")
    if budgets and budgets[-1] > len(cell.valid):
        raise OptionError(
            f"The budget {budgets[-1]} is larger than the pool of {cell.dataset}/{cell.model}, "
            f"which has {len(cell.valid)} triples."
        )
    for name, method in methods.items():
        if budgets and budgets[-1] < method.least_budget:
            raise OptionError(f"{name} needs a budget of at least {method.least_budget}, not {budgets[-1]}.")
        if method.needs_known and cell.known is None:
            raise OptionError(f"{name} needs a train.tsv beside valid.tsv in {cell.dataset}/{cell.model}.")


def _affordable(method: Method, budgets: Sequence[int]) -> list[int]:
    """Return the budgets that the method can work with, so that one run may start others from zero."""
    return [budget for budget in budgets if budget >= method.least_budget]


def draw_orders(size: int, budgets: Sequence[int], repeats: int, seed: int, draws: str) -> list[IntArray]:
    """Return, for each repeat, the order in which random selection annotates; a budget takes the first ones."""
    if draws not in DRAWS:
        raise ChoiceError("source of draws", draws, DRAWS)
    return list(DRAWS[draws](size, budgets, repeats, seed))


def draw_by_numpy(size: int, budgets: Sequence[int], repeats: int, seed: int) -> Iterator[IntArray]:
    """Draw from one numpy Generator per (seed, repeat)."""
    for repeat in range(repeats):
        yield np.random.default_rng([repeat, seed]).permutation(size)[: budgets[-1]]


def draw_as_authors(size: int, budgets: Sequence[int], repeats: int, seed: int) -> Iterator[IntArray]:
    """Draw exactly as the authors' code does.

    Python's generator, seeded once; in each repeat one number per triple goes by (a leftover of their code), and every
    budget step shuffles all triples, in file order, and takes the first that are not annotated yet.
    """
    stream = random.Random(seed)
    for _ in range(repeats):
        for _ in range(size):
            stream.random()
        order: dict[int, None] = {}
        for budget in budgets:
            shuffled = list(range(size))
            stream.shuffle(shuffled)
            unseen = (row for row in shuffled if row not in order)
            order.update(dict.fromkeys(row for row, _ in zip(unseen, range(budget - len(order)), strict=False)))
        yield np.array(list(order), dtype=np.int64)


def _run_tasks(tasks: Sequence[tuple[Any, ...]], jobs: int, backend: str, address: str | None) -> Iterator[list[Row]]:
    here = jobs == 1 or len(tasks) < 4  # starting a process takes longer than a task
    if here and backend == "loky" and address is None:
        yield from (run_repeats(*task) for task in tasks)
        return
    from joblib import delayed

    from actc.experiment.backends import use_backend

    with use_backend(backend, jobs, address) as parallel:
        yield from parallel(delayed(run_repeats)(*task) for task in tasks)


def run_repeats(
    cell: Cell,
    name: str,
    method: Method,
    budgets: Sequence[int],
    repeats: range,
    orders: Sequence[IntArray],
    seed: int,
    squash: bool = True,
) -> list[Row]:
    """Run some repeats of one method in one cell, all their budgets in one pass."""
    view = cell.squashed if squash and method.wants_squashed else cell
    start = time.perf_counter()
    sets = []
    for repeat in repeats:
        rows = (
            orders[repeat]
            if method.selector == "random"
            else _select_step_by_step(view, method, budgets, np.random.default_rng([seed, repeat]))
        )
        labels = view.valid_labels[rows]
        sets += [Annotations(rows[:budget], labels[:budget]) for budget in budgets]
    cuts = method.find_cuts(view.valid, sets, view.known)
    seconds = (time.perf_counter() - start) / len(sets)
    accuracy, f1 = view.scorer.accuracy_and_f1(cuts)
    keys = [(repeat, budget) for repeat in repeats for budget in budgets]
    return [
        Row(cell.dataset, cell.model, name, budget, repeat, float(a), float(f), seconds)
        for (repeat, budget), a, f in zip(keys, accuracy, f1, strict=True)
    ]


def _select_step_by_step(cell: Cell, method: Method, budgets: Sequence[int], rng: np.random.Generator) -> IntArray:
    annotations = Annotations()
    for budget in budgets:
        while len(annotations) < budget:
            count = min(budget - len(annotations), method.batch(len(annotations)))
            rows = method.fit(cell.valid, annotations, cell.known).pick(count, rng).rows
            annotations = annotations.plus(rows, cell.valid_labels[rows])
    return annotations.rows


def _repeat_certain_rows(rows: list[Row], methods: dict[str, Method], repeats: int) -> list[Row]:
    """Write the rows of methods without chance once per repeat, so that the table is complete."""
    result = []
    for row in rows:
        copies = repeats if has_no_chance(methods[row.method]) else 1
        result += [row._replace(repeat=row.repeat + copy) for copy in range(copies)]
    return result


def write_rows(path: str | Path, rows: Iterable[Row]) -> None:
    """Write rows as CSV, complete or not at all."""
    with write_beside(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(map(format_row, rows))


def format_row(row: Row) -> tuple[Any, ...]:
    """Return a row as it is written, fractions and seconds with six digits."""
    return (*row[:5], f"{row.accuracy:.6f}", f"{row.f1:.6f}", f"{row.seconds:.6f}")


DRAWS: dict[str, Callable[[int, Sequence[int], int, int], Iterator[IntArray]]] = {
    "numpy": draw_by_numpy,
    "authors": draw_as_authors,
}
