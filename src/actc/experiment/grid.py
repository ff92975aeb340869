"""A large experiment that may be interrupted: rows go to disk as they come, a second start goes on from them.

The work is cut into tasks, a few repeats of one method in one cell. A task's rows are appended together
when it is done, in the order of the plan, so the file is the same for any number of processes. Starting
again keeps every whole task that is in the file, drops what was cut off, and runs the rest.
"""

from __future__ import annotations

import csv
import ctypes
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from actc import __version__
from actc.errors import FileError, OptionError
from actc.experiment.backends import use_backend
from actc.experiment.datasets import data_folder, load_cell
from actc.experiment.results import Results, Run, collect_results
from actc.experiment.runs import (
    PAPER_BUDGETS,
    REPEATS_AT_ONCE,
    Cell,
    Row,
    draw_orders,
    format_row,
    has_no_chance,
    run_repeats,
    write_rows,
)
from actc.methods import find_method
from actc.tables.files import open_text
from actc.triples import IntArray

REPEATS_IN_TASK = 25
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # from glibc's malloc.h


@dataclass(frozen=True)
class Settings:
    """What the rows of one file have in common."""

    budgets: tuple[int, ...] = PAPER_BUDGETS
    seed: int = 12345
    draws: str = "numpy"
    version: str = __version__


class Task(NamedTuple):
    """Some repeats of one method in one cell: ``start`` up to, but without, ``stop``."""

    dataset: str
    model: str
    method: str
    start: int
    stop: int


def plan_tasks(runs: Mapping[Run, int]) -> list[Task]:
    """Cut runs, each with its number of repeats, into tasks; a method without chance needs only one repeat."""
    return [
        Task(*run, start, min(start + REPEATS_IN_TASK, needed))
        for run, repeats in runs.items()
        for needed in [1 if has_no_chance(find_method(run.method)) else repeats]
        for start in range(0, needed, REPEATS_IN_TASK)
    ]


def run_grid(
    runs: Mapping[Run, int],
    settings: Settings,
    path: Path,
    *,
    jobs: int = 1,
    progress: Callable[[int, int], object] = lambda done, total: None,
    backend: str = "loky",
    address: str | None = None,
) -> None:
    """Run what is missing of a grid and append its rows to a CSV file.

    Parameters
    ----------
    runs : mapping of Run to int
        Cells and methods, and how often each is repeated.
    settings : Settings
        Checked against those of the rows that are in the file already.
    path : Path
        The file of rows; its settings stand beside it, in ``path.json``.
    jobs : int
        Processes; the rows are the same for any number of them.
    progress : callable
        Told how many more repeats are done and how many there are in all: once for those that were in the
        file already, then after every task.
    backend, address : str
        See ``backends.use_backend``; workers elsewhere find the scores as this process does, by ``ACTC_DATA``.
    """
    if min(runs.values(), default=1) < 1:
        raise OptionError(f"{min(runs.values())} repeats make no experiment; give at least 1.")
    tasks = plan_tasks(runs)
    done = _open_rows(path, settings, tasks)
    todo = [task for task in tasks if task not in done]
    total, before = (sum(task.stop - task.start for task in some) for some in (tasks, done))
    progress(before, total)
    with path.open("a", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        for task, rows in zip(todo, _run_tasks(todo, settings, jobs, backend, address), strict=True):
            writer.writerows(map(format_row, rows))
            out.flush()
            progress(task.stop - task.start, total)


def read_results(path: Path) -> Results:
    """Fold the rows of a file, of whatever methods and cells it has."""
    rows = _read_rows(path)
    if not rows:
        raise FileError(f"{path} holds no rows.")
    columns = list(zip(*rows, strict=True))
    return collect_results(*columns[:7])


def _open_rows(path: Path, settings: Settings, tasks: Sequence[Task]) -> set[Task]:
    """Begin a file or go on with one; return the tasks whose rows are in it, all of them."""
    beside = path.with_name(path.name + ".json")
    wanted = json.loads(json.dumps(asdict(settings)))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(wanted, indent=1) + "\n", encoding="utf-8")
        path.write_text(",".join(Row._fields) + "\n", encoding="utf-8")
        return set()
    found = json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {}
    for name, value in wanted.items():
        if found.get(name) != value:
            raise OptionError(
                f"{path} was made with {name} {found.get(name)}, not {value}; "
                "choose another folder with --out, or delete the file to begin again."
            )
    return _keep_whole_tasks(path, tasks, len(settings.budgets))


def _keep_whole_tasks(path: Path, tasks: Sequence[Task], budgets: int) -> set[Task]:
    """Drop rows of tasks that were cut off; rows of runs that are not planned now stay."""
    rows = _read_rows(path)
    planned: dict[tuple[Run, int], Task] = {
        (Run(*task[:3]), repeat): task for task in tasks for repeat in range(task.start, task.stop)
    }
    owners = [planned.get((Run(*row[:3]), row.repeat)) for row in rows]
    counts: dict[Task | None, int] = {}
    for owner in owners:
        counts[owner] = counts.get(owner, 0) + 1
    whole = {task for task in tasks if counts.get(task) == budgets * (task.stop - task.start)}
    kept = [row for row, owner in zip(rows, owners, strict=True) if owner is None or owner in whole]
    write_rows(path, kept)
    return whole


def _read_rows(path: Path) -> list[Row]:
    """Read all whole lines; the last may have been cut off."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such file of rows.")
    with open_text(path) as text:
        lines = text.read().splitlines(keepends=True)
    if not lines or lines[0].rstrip("\n") != ",".join(Row._fields):
        raise FileError(f"{path}, line 1: the columns {','.join(Row._fields)} were expected.")
    whole = [line for line in lines[1:] if line.endswith("\n")]
    return [_parse_row(path, number, cells) for number, cells in enumerate(csv.reader(whole), 2)]


def _parse_row(path: Path, number: int, cells: list[str]) -> Row:
    try:
        dataset, model, method, budget, repeat, accuracy, f1, seconds = cells
        return Row(dataset, model, method, int(budget), int(repeat), float(accuracy), float(f1), float(seconds))
    except ValueError:
        raise FileError(f"{path}, line {number}: this is no row of an experiment.") from None


def _run_tasks(
    tasks: Sequence[Task], settings: Settings, jobs: int, backend: str, address: str | None
) -> Iterator[list[Row]]:
    repeats = max((task.stop for task in tasks), default=0)
    if (jobs == 1 or len(tasks) < 2) and backend == "loky" and address is None:
        for task in tasks:
            yield run_task(task, repeats, settings)
        return
    from joblib import delayed

    _end_kept_processes(backend)
    with use_backend(backend, jobs, address) as parallel:
        yield from parallel(delayed(_run_in_process)(task, repeats, settings) for task in tasks)
    _end_kept_processes(backend)


def _end_kept_processes(backend: str) -> None:
    """End processes that joblib keeps for later: they hold on to their cells, and to the environment they began in."""
    from joblib.externals.loky import get_reusable_executor

    if backend == "loky":
        get_reusable_executor().shutdown(wait=True)


def _run_in_process(task: Task, repeats: int, settings: Settings) -> list[Row]:
    keep_freed_memory()
    return run_task(task, repeats, settings)


@cache
def keep_freed_memory() -> None:
    """Let this process keep the memory of arrays it is done with.

    By default glibc gives every large array back to the system, which hands it out again filled with zeros; for
    the many temporary arrays of an experiment that was a third of the time. Other systems are left as they are.
    """
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    adjust(M_MMAP_THRESHOLD, 32 << 20)
    adjust(M_TRIM_THRESHOLD, 256 << 20)


def run_task(task: Task, repeats: int, settings: Settings) -> list[Row]:
    """Run one task; only names travel between processes, and each process loads a cell once."""
    method = find_method(task.method)
    cell = _load_once(task.dataset, task.model, method.needs_known, data_folder())
    orders = _draw_once(len(cell.valid), repeats, settings)
    rows: list[Row] = []
    for start in range(task.start, task.stop, REPEATS_AT_ONCE):
        part = range(start, min(start + REPEATS_AT_ONCE, task.stop))
        rows += run_repeats(cell, task.method, method, settings.budgets, part, orders, settings.seed)
    return rows


@lru_cache(maxsize=2)
def _load_once(dataset: str, model: str, with_known: bool, folder: Path | None) -> Cell:
    """Load a cell, with the known triples only for methods that need them: they take longest to load."""
    return load_cell(dataset, model, with_known=with_known)


@lru_cache(maxsize=2)
def _draw_once(size: int, repeats: int, settings: Settings) -> list[IntArray]:
    return draw_orders(size, settings.budgets, repeats, settings.seed, settings.draws)
