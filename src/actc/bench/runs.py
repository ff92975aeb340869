"""One runner for every experiment: repeats x budgets x methods over cells, as tidy rows.

Every method of one seed and repeat sees the same random draws, so methods are paired; budgets are nested: a larger one
contains the smaller. Rows do not depend on the number of jobs, nor on whether the run was cut off and started again.
"""

from __future__ import annotations

import csv
import json
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from actc.bench.cells import Cell, CellFolder, check_names, read_folder_once
from actc.bench.metrics import count_decisions, find_metric
from actc.bench.plans import PAPER_BUDGETS, Chunk, Conditions, Experiment, draw_orders
from actc.bench.rows import Row, Run, format_row, read_rows, write_rows
from actc.data.answers import Annotations
from actc.data.deliver import alone, check_writable, clear_leftovers
from actc.data.progress import Progress, ignore_progress
from actc.data.text_files import load_json, write_json
from actc.data.triples import FloatArray, IntArray
from actc.errors import OptionError
from actc.methods.named import Method, finds_cuts

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


def run_experiment(
    cells: Sequence[Cell | CellFolder],
    methods: Sequence[str],
    budgets: Sequence[int] | None = None,
    *,
    repeats: int = 100,
    seed: int = 12345,
    draws: str = "numpy",
    squash: bool = True,
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
    squash : bool
        Centre and squash scores that leave [0, 1], for the methods that were made for such scores.
    metrics : sequence of str
        Names in ``metrics.METRICS`` to measure beside accuracy and F1.
    out : str or Path, optional
        Write the rows to this CSV file, which is complete or absent. Until then they stand in ``out.part``, from which
        an interrupted run goes on when it is started again. Rows that are there have six digits.
    jobs : int
        Processes; the rows are the same for any number.
    progress : callable
        Called with how many more repeats are done, and how many there are in all.
    """
    check_names(cells)
    read_folder_once.cache_clear()  # a folder may have changed since
    names = dict.fromkeys(Run(cell.dataset, cell.model, method) for cell in cells for method in methods)
    conditions = Conditions(tuple(sorted(set(budgets or ()))), seed, draws, squash, further_metrics(metrics))
    plan = Experiment(cells, dict.fromkeys(names, repeats), conditions)
    loaded = [cell.load(plan.needs_known) for cell in cells]
    if not conditions.budgets:
        least = min(len(cell.valid) for cell in loaded)
        reachable = tuple(budget for budget in PAPER_BUDGETS if budget <= least)
        plan = replace(plan, conditions=replace(conditions, budgets=reachable))
    _check_cells(loaded, plan)
    if out is None:
        return _repeat_rows(plan, [row for rows in _run_chunks(plan, plan.chunks, jobs, progress) for row in rows])
    also = {
        "cells": [f"{cell.dataset}/{cell.model} ({cell.digest})" for cell in loaded],
        "methods": list(plan.methods),
        "repeats": repeats,
    }
    out = check_writable(Path(out))
    part = out.with_name(out.name + ".part")
    with alone(out):
        new = run_plan_to_file(plan, part, also=also, jobs=jobs, progress=progress)
        rows = read_rows(part, plan.conditions.metrics)
        rows[len(rows) - len(new) :] = new
        rows = _repeat_rows(plan, rows)
        write_rows(out, rows, plan.conditions.metrics)
        for path in (part, _beside(part)):
            path.unlink()
    return rows


def _repeat_rows(plan: Experiment, rows: Sequence[Row]) -> list[Row]:
    """Return rows in which a method that is not random, and ran once, stands once for every repeat."""
    again = {run: () if plan.methods[run.method].is_random else range(1, count) for run, count in plan.repeats.items()}
    return [one for row in rows for one in (row, *(row._replace(repeat=repeat) for repeat in again[row.run]))]


def further_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """Return the metrics that need a column of their own, each once: accuracy and F1 have theirs."""
    return tuple(name for name in dict.fromkeys(names) if name not in ("accuracy", "f1"))


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
    also: Mapping[str, Any] | None = None,
    jobs: int = 1,
    progress: Progress = ignore_progress,
) -> list[Row]:
    """Run what a file of rows lacks of a plan, appending rows as they come; return these.

    Beside the file stand the conditions of its rows, and ``also`` what else they have in common.
    """
    whole = _open_rows(path, plan, also or {})
    todo = [chunk for chunk in plan.chunks if chunk not in whole]
    new: list[Row] = []
    with path.open("a", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        for rows in _run_chunks(plan, todo, jobs, progress):
            writer.writerows(map(format_row, rows))
            out.flush()
            new += rows
    return new


def _beside(path: Path) -> Path:
    """Return where the conditions of a file's rows stand."""
    return path.with_name(path.name + ".json")


def _open_rows(path: Path, plan: Experiment, also: Mapping[str, Any]) -> set[Chunk]:
    """Begin a file or go on with one: keep whole chunks, and rows that are not planned now; return the whole chunks."""
    metrics = plan.conditions.metrics
    clear_leftovers(path.parent, _beside(path).name)
    wanted = json.loads(json.dumps({**asdict(plan.conditions), **also}))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(path)  # before anything lies beside it
        write_json(_beside(path), wanted)
        write_rows(path, [], metrics)
        return set()
    before = load_json(_beside(path)) if _beside(path).exists() else {}
    for name, value in wanted.items():
        if before.get(name) != value:
            earlier, now = (
                (", ".join(map(str, one)) or "none") if isinstance(one, list) else str(one)
                for one in (before.get(name), value)
            )
            raise OptionError(
                f"{path} was made with {name} {earlier}, not {now}; "
                "write somewhere else with --out, or delete the file to begin again."
            )
    rows = read_rows(path, metrics)
    planned = {(chunk.run, repeat): chunk for chunk in plan.chunks for repeat in range(chunk.start, chunk.stop)}
    owners = [planned.get((row.run, row.repeat)) for row in rows]
    counts = Counter(owners)
    whole = {chunk for chunk in plan.chunks if counts[chunk] == plan.count_rows(chunk)}
    rows = [row for row, owner in zip(rows, owners, strict=True) if owner is None or owner in whole]
    write_rows(path, rows, metrics)
    return whole


def _run_chunks(plan: Experiment, todo: Sequence[Chunk], jobs: int, progress: Progress) -> Iterator[list[Row]]:
    total, missing = (sum(chunk.stop - chunk.start for chunk in chunks) for chunks in (plan.chunks, todo))
    progress(total - missing, total)
    most = max((chunk.stop for chunk in plan.chunks), default=0)
    calls = [
        (chunk, plan.methods[chunk.run.method], plan.source_of[chunk.run[:2]], plan.needs_known, most, plan.conditions)
        for chunk in todo
    ]
    for chunk, rows in zip(todo, run_everywhere(run_chunk, calls, jobs), strict=True):
        yield rows
        progress(chunk.stop - chunk.start, total)


def run_chunk(
    chunk: Chunk, method: Method, source: Cell | CellFolder, with_known: bool, repeats: int, conditions: Conditions
) -> list[Row]:
    """Run some repeats of one method in one cell, all their budgets in one pass.

    ``repeats`` is how many the whole plan has at most: the draws of all of them are made once in every process.
    """
    cell = source.load(with_known)
    if method.reads == "evidence":
        cell = cell.with_evidence
    elif conditions.squash and finds_cuts(method):
        cell = cell.squashed
    orders = draw_once(len(cell.valid), repeats, conditions)
    budgets = conditions.affordable(method)
    start = time.perf_counter()
    sets = []
    for repeat in range(chunk.start, chunk.stop):
        if method.selector == "random":
            rows = orders[repeat]
        else:
            rows = select_step_by_step(cell, method, budgets[-1], np.random.default_rng([conditions.seed, repeat])).rows
        labels = cell.valid_labels[rows]
        sets += [Annotations(rows[:budget], labels[:budget]) for budget in budgets]
    figures, seconds = _measure(cell, method, sets, ("accuracy", "f1", *conditions.metrics), start)
    accuracy, f1, *further = figures.tolist()
    keys = [(budget, repeat) for repeat in range(chunk.start, chunk.stop) for budget in budgets]
    return [
        Row(*chunk.run, budget, repeat, accuracy[at], f1[at], seconds, tuple(values[at] for values in further))
        for at, (budget, repeat) in enumerate(keys)
    ]


def _measure(
    cell: Cell, method: Any, sets: Sequence[Annotations], metrics: Sequence[str], start: float
) -> tuple[FloatArray, float]:
    """Return what each set of answers comes to on the test triples, shape (metrics, S), and seconds per set."""
    if finds_cuts(method):
        cuts = method.find_cuts(cell.valid, sets)
        seconds = (time.perf_counter() - start) / len(sets)
        return cell.labelled_test.measure(cuts, metrics), seconds
    accepted = [method.fit(cell.valid, answers, cell.known).accepts(cell.test) for answers in sets]
    seconds = (time.perf_counter() - start) / len(sets)
    counts = [count_decisions(cell.test_labels, decisions) for decisions in accepted]
    return np.array([[find_metric(name)(count)[0] for count in counts] for name in metrics]), seconds


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
