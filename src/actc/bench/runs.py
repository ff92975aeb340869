"""One runner for every experiment: repeats x budgets x methods over cells, as tidy rows.

Every method of one seed and repeat sees the same random draws, so methods are paired; budgets are nested: a larger one
contains the smaller. The work is cut into chunks that any process can take: rows do not depend on the number of jobs,
nor on whether the run was cut off and started again.
"""

from __future__ import annotations

import csv
import json
import os
import random
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from actc import __version__
from actc.bench.cells import Cell, CellFolder, read_cell_once
from actc.bench.measurements import PAPER_METRICS, Row, Run, format_row, read_rows, write_rows
from actc.bench.metrics import METRICS, measure_decisions
from actc.data.answers import Annotations
from actc.data.deliver import alone, check_writable
from actc.data.progress import Progress, ignore_progress
from actc.data.text_files import load_json, write_json
from actc.data.triples import IntArray
from actc.errors import OptionError, check_choice, choose
from actc.methods.named import Method, find_method, finds_cuts

PAPER_BUDGETS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MOST_REPEATS = 100_000
REPEATS_IN_CHUNK = 5  # laid side by side in one vectorised pass; more only costs memory
FEWEST_CALLS = 4  # starting a process takes longer than a chunk of an experiment
MOST_PROCESSES = 256
Result = TypeVar("Result")

# A process that starts must not import from the working folder before it has this one's path. And it keeps the memory
# of arrays it is done with: by default glibc gives every large one back to the system, which hands it out again filled
# with zeros; for the many temporary arrays of an experiment that was a third of the time.
ENVIRONMENT = {
    "PYTHONSAFEPATH": "actc",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
}


def draw_orders(size: int, budgets: Sequence[int], repeats: int, seed: int, draws: str) -> list[IntArray]:
    """Return, for each repeat, the order in which random selection annotates; a budget takes the first ones."""
    return list(choose("source of draws", draws, DRAWS)(size, budgets, repeats, seed))


def draw_by_numpy(size: int, budgets: Sequence[int], repeats: int, seed: int) -> Iterator[IntArray]:
    """Yield the rows to annotate in each repeat, in their order, by one numpy Generator per (seed, repeat)."""
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


DRAWS: dict[str, Callable[[int, Sequence[int], int, int], Iterator[IntArray]]] = {
    "numpy": draw_by_numpy,
    "authors": draw_as_authors,
}


@dataclass(frozen=True)
class Conditions:
    """What the rows of one file have in common."""

    budgets: tuple[int, ...] = PAPER_BUDGETS  # how many triples are annotated, rising
    seed: int = 12345  # where the draws start from
    draws: str = "numpy"  # where random selections come from: a name in ``DRAWS``
    metrics: tuple[str, ...] = ()  # names in ``METRICS`` to measure beside accuracy and F1
    version: str = __version__  # of this library

    def __post_init__(self) -> None:
        check_choice("source of draws", self.draws, DRAWS)
        for name in self.metrics:
            check_choice("metric", name, METRICS)

    def affordable(self, method: Method) -> tuple[int, ...]:
        """Return the budgets that the method can work with, so that one experiment may start others from zero."""
        return tuple(budget for budget in self.budgets if budget > 0 or not finds_cuts(method))


class Chunk(NamedTuple):
    """Some repeats of one method in one cell."""

    run: Run
    repeats: range


@dataclass(frozen=True, eq=False)
class Experiment:
    """Everything that decides the rows of an experiment; where and in how many processes it runs does not."""

    sources: Sequence[Cell | CellFolder]  # where the cells come from; no two have the same data set and model
    repeats: Mapping[Run, int]  # what is run, in this order, and how often
    conditions: Conditions

    def __post_init__(self) -> None:
        for repeats in self.repeats.values():
            if not 1 <= repeats <= MOST_REPEATS:
                raise OptionError(f"{repeats} repeats make no experiment; give 1 to {MOST_REPEATS:,}.")
        for (dataset, model), count in Counter((one.dataset, one.model) for one in self.sources).items():
            if count > 1:
                raise OptionError(f"Two cells are called {dataset}/{model}; give each folder a name of its own.")

    @cached_property
    def methods(self) -> dict[str, Method]:
        """The methods by their names."""
        return {run.method: find_method(run.method) for run in self.repeats}

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The work, cut up; a method that is not random needs only one repeat."""
        return [
            Chunk(run, range(start, min(start + REPEATS_IN_CHUNK, needed)))
            for run, repeats in self.repeats.items()
            for needed in [repeats if self.methods[run.method].is_random else 1]
            for start in range(0, needed, REPEATS_IN_CHUNK)
        ]

    @cached_property
    def needs_known(self) -> bool:
        """Whether any method looks at the known triples."""
        return any(method.reads != "pool" for method in self.methods.values())

    def complete(self, rows: Sequence[Row]) -> list[Row]:
        """Return the planned ones of some rows, in the plan's order.

        Those of a method that is not random, and ran once, stand once for every repeat.
        """
        order = {run: number for number, run in enumerate(self.repeats)}
        planned = [row for row in rows if row.run in order and row.repeat < self.repeats[row.run]]
        planned.sort(key=lambda row: (order[row.run], row.repeat))
        more = {run: () if self.methods[run.method].is_random else range(1, n) for run, n in self.repeats.items()}
        return [one for row in planned for one in (row, *(row._replace(repeat=again) for again in more[row.run]))]


def run_experiment(
    cells: Sequence[Cell | CellFolder],
    methods: Sequence[str],
    budgets: Sequence[int] | None = None,
    *,
    repeats: int = 100,
    seed: int = 12345,
    draws: str = "numpy",
    metrics: Sequence[str] = (),
    out: str | Path | None = None,
    jobs: int = 1,
    progress: Progress = ignore_progress,
) -> list[Row]:
    """Measure every method in every cell at every budget, several times.

    Parameters
    ----------
    cells : sequence of Cell or CellFolder
        A folder is read once in every process; a cell in memory is sent there with each chunk of the work.
    methods : sequence of str
        Names as in ``METHODS``, with options if wanted.
    budgets : sequence of int
        How many triples are annotated; sorted and nested. By default the paper's, as far as the pools reach.
    repeats : int
        How often to draw anew.
    seed : int
        Where the draws start from.
    draws : {"numpy", "authors"}
        Where random selections come from: a numpy Generator per repeat, or the authors' own stream.
    metrics : sequence of str
        Names in ``METRICS`` to measure beside accuracy and F1.
    out : str or Path, optional
        Write the rows to this CSV file, which is complete or absent. Until then they stand in ``out.part``, from which
        an interrupted run goes on when it is started again. Rows of a file have six digits.
    jobs : int
        Processes; the rows are the same for any number.
    progress : callable
        Called with how many more repeats are done, and how many there are in all.
    """
    read_cell_once.cache_clear()  # a folder may have changed since
    runs = {Run(cell.dataset, cell.model, method): repeats for cell in cells for method in methods}
    further = tuple(name for name in dict.fromkeys(metrics) if name not in PAPER_METRICS)
    plan = Experiment(cells, runs, Conditions(tuple(sorted(set(budgets or ()))), seed, draws, further))
    loaded = [cell.load(plan.needs_known) for cell in cells]
    if not budgets:
        reachable = tuple(one for one in PAPER_BUDGETS if one <= min(len(cell.valid) for cell in loaded))
        plan = replace(plan, conditions=replace(plan.conditions, budgets=reachable))
    _check_cells(loaded, plan)
    if out is None:
        return plan.complete([row for rows in _run_chunks(plan, plan.chunks, jobs, progress) for row in rows])
    out = check_writable(Path(out))
    part = out.with_name(out.name + ".part")
    with alone(out):
        digests = [f"{cell.dataset}/{cell.model} ({cell.digest})" for cell in loaded]
        run_plan_to_file(plan, part, cells=digests, jobs=jobs, progress=progress)
        rows = plan.complete(read_rows(part))
        write_rows(out, rows, plan.conditions.metrics)
        for path in (part, _beside(part)):
            path.unlink()
    return rows


def _check_cells(cells: Sequence[Cell], plan: Experiment) -> None:
    """Refuse budgets beyond a pool or below what a method needs, and methods whose triples are missing."""
    budgets = plan.conditions.budgets
    for cell in cells:
        beyond = [str(budget) for budget in budgets if budget > len(cell.valid)]
        if beyond:
            word = "budgets" if len(beyond) > 1 else "budget"
            raise OptionError(
                f"--budget: the pool of {cell.dataset}/{cell.model} has {len(cell.valid)} triples; "
                f"leave out the {word} {', '.join(beyond)}."
            )
        for name, method in plan.methods.items():
            if budgets and not plan.conditions.affordable(method):
                raise OptionError(f"{name} needs a budget of at least 1, not {budgets[-1]}.")
            if method.reads != "pool" and cell.known is None:
                raise OptionError(f"{name} needs a train.tsv beside valid.tsv in {cell.dataset}/{cell.model}.")


def run_plan_to_file(
    plan: Experiment,
    path: Path,
    *,
    cells: Sequence[str] = (),
    jobs: int = 1,
    progress: Progress = ignore_progress,
) -> None:
    """Run what a file of rows lacks of a plan, appending rows as they come.

    Beside the file stand the conditions of its rows, and ``cells``, digests of what they were measured on.
    """
    whole = _open_rows(path, plan, {**asdict(plan.conditions), "cells": cells})
    todo = [chunk for chunk in plan.chunks if chunk not in whole]
    with path.open("a", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        for rows in _run_chunks(plan, todo, jobs, progress):
            writer.writerows(map(format_row, rows))
            out.flush()


def _beside(path: Path) -> Path:
    """Return where the conditions of a file's rows stand."""
    return path.with_name(path.name + ".json")


def _open_rows(path: Path, plan: Experiment, conditions: dict[str, Any]) -> set[Chunk]:
    """Begin a file or go on with one: keep whole chunks, and rows that are not planned now; return the whole chunks."""
    wanted = json.loads(json.dumps(conditions))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(path)  # before anything lies beside it
        write_json(_beside(path), wanted)
        write_rows(path, [], plan.conditions.metrics)
        return set()
    before = load_json(_beside(path)) if _beside(path).exists() else {}
    for name, value in wanted.items():
        if before.get(name) != value:
            raise OptionError(
                f"{path} was made with {name} {before.get(name)}, not {value}; "
                "write somewhere else with --out, or delete the file to begin again."
            )
    rows = read_rows(path)
    planned = {(chunk.run, repeat): chunk for chunk in plan.chunks for repeat in chunk.repeats}
    owners = [planned.get((row.run, row.repeat)) for row in rows]
    budgets = {name: len(plan.conditions.affordable(method)) for name, method in plan.methods.items()}
    counts = Counter(owners)
    whole = {chunk for chunk in plan.chunks if counts[chunk] == budgets[chunk.run.method] * len(chunk.repeats)}
    rows = [row for row, owner in zip(rows, owners, strict=True) if owner is None or owner in whole]
    write_rows(path, rows, plan.conditions.metrics)
    return whole


def _run_chunks(plan: Experiment, todo: Sequence[Chunk], jobs: int, progress: Progress) -> Iterator[list[Row]]:
    total, missing = (sum(len(chunk.repeats) for chunk in chunks) for chunks in (plan.chunks, todo))
    progress(total - missing, total)
    sources = {(source.dataset, source.model): source for source in plan.sources}
    most = max((chunk.repeats.stop for chunk in plan.chunks), default=0)
    calls = [
        (chunk, plan.methods[chunk.run.method], sources[chunk.run[:2]], plan.needs_known, most, plan.conditions)
        for chunk in todo
    ]
    for chunk, rows in zip(todo, run_everywhere(run_chunk, calls, jobs), strict=True):
        yield rows
        progress(len(chunk.repeats), total)


def run_chunk(
    chunk: Chunk, method: Method, source: Cell | CellFolder, with_known: bool, repeats: int, conditions: Conditions
) -> list[Row]:
    """Run some repeats of one method in one cell, all their budgets in one pass.

    ``repeats`` is how many the whole plan has at most: the draws of all of them are made once in every process.
    """
    cell = source.load(with_known)
    if method.reads == "evidence":
        cell = cell.with_evidence
    elif finds_cuts(method):
        cell = cell.squashed
    orders = draw_once(len(cell.valid), repeats, conditions)
    budgets = conditions.affordable(method)
    start = time.perf_counter()
    sets = []
    for repeat in chunk.repeats:
        if method.selector == "random":
            rows = orders[repeat]
        else:
            rows = select_step_by_step(cell, method, budgets[-1], np.random.default_rng([conditions.seed, repeat])).rows
        labels = cell.valid_labels[rows]
        sets += [Annotations(rows[:budget], labels[:budget]) for budget in budgets]
    if finds_cuts(method):
        cuts = method.find_cuts(cell.valid, sets)  # type: ignore[attr-defined]
        seconds = (time.perf_counter() - start) / len(sets)
        decisions = cell.accept(cuts)
    else:
        decisions = np.stack([method.fit(cell.valid, answers, cell.known).accepts(cell.test) for answers in sets])
        seconds = (time.perf_counter() - start) / len(sets)
    measured = measure_decisions(cell.test_labels, decisions, (*PAPER_METRICS, *conditions.metrics)).T.tolist()
    keys = [(budget, repeat) for repeat in chunk.repeats for budget in budgets]
    return [
        Row(*chunk.run, *key, accuracy, f1, seconds, tuple(further))
        for key, (accuracy, f1, *further) in zip(keys, measured, strict=True)
    ]


@lru_cache(maxsize=2)
def draw_once(size: int, repeats: int, conditions: Conditions) -> list[IntArray]:
    """Draw the orders of all repeats, or return those drawn before."""
    drawn = [budget for budget in conditions.budgets if budget > 0] or [0]  # the authors' stream moves on at every step
    return draw_orders(size, drawn, repeats, conditions.seed, conditions.draws)


def select_step_by_step(cell: Cell, method: Method, count: int, random: np.random.Generator) -> Annotations:
    """Let a method select triples, and answer them, until there are ``count`` answers.

    A method selects as many triples as it wants between two fits, but no further than to 1, 2, 5, 10, 20, 50 and
    so on: the same questions whatever the budgets of the experiment.
    """
    stops = [step * 10**power for power in range(len(str(len(cell.valid)))) for step in (1, 2, 5)]
    annotations = Annotations()
    while len(annotations) < count:
        stop = min(next(one for one in [*stops, len(cell.valid)] if one > len(annotations)), len(cell.valid))
        batch = min(stop - len(annotations), method.batch(len(annotations)))
        picks = method.fit(cell.valid, annotations, cell.known).pick(batch, random)
        annotations = annotations.plus(picks.answered(cell.valid_labels[picks.rows]))
    return annotations.first(count)


def run_everywhere(function: Callable[..., Result], calls: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[Result]:
    """Call a function with each tuple of arguments, in this process or in new ones; yield what it returns, in order."""
    if not jobs:
        raise OptionError("--jobs: 0 processes do nothing; give 1 or more, or -1 for every core.")
    if jobs == 1 or len(calls) < FEWEST_CALLS:
        yield from (function(*call) for call in calls)
        return
    import joblib
    from joblib.externals.loky import get_reusable_executor

    # Processes that are there already may hold folders as they were before.
    get_reusable_executor().shutdown(wait=True)
    with _environment(), warnings.catch_warnings():
        # joblib replaces a process whose memory has grown; no call is lost.
        warnings.filterwarnings("ignore", "A worker stopped", UserWarning)
        parallel = joblib.Parallel(
            n_jobs=min(jobs, MOST_PROCESSES), backend="loky", return_as="generator", batch_size=1
        )
        yield from parallel(joblib.delayed(function)(*call) for call in calls)
    get_reusable_executor().shutdown(wait=True)


@contextmanager
def _environment() -> Iterator[None]:
    """Give processes that are started meanwhile the environment they need; what the user set stays."""
    added = {name: value for name, value in ENVIRONMENT.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
