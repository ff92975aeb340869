"""What experiments write: tidy rows, one for each measurement, as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from actc.data.text_files import open_text, readable, write_csv
from actc.errors import FileError

COLUMNS = ("dataset", "model", "method", "budget", "repeat", "accuracy", "f1", "seconds")


class Run(NamedTuple):
    """One method on one cell: the scores of one model for one data set."""

    dataset: str
    model: str
    method: str


class Row(NamedTuple):
    """One measurement; accuracy, F1 and further metrics in 0...1 on the test triples.

    ``seconds`` is the time to select and calibrate, all budgets of a repeat sharing it evenly. ``further`` holds the
    metrics beside accuracy and F1; in a file each has a column, after the others.
    """

    dataset: str
    model: str
    method: str
    budget: int
    repeat: int
    accuracy: float
    f1: float
    seconds: float
    further: tuple[float, ...] = ()

    @property
    def run(self) -> Run:
        """The method and the cell."""
        return Run(self.dataset, self.model, self.method)


def write_rows(path: str | Path, rows: Iterable[Row], metrics: Sequence[str] = ()) -> None:
    """Write rows as CSV, complete or not at all; ``metrics`` names the further ones."""
    write_csv(path, [(*COLUMNS, *metrics), *map(format_row, rows)])


def format_row(row: Row) -> tuple[Any, ...]:
    """Return a row as it is written, fractions and seconds with six digits."""
    return (*row[:5], *(f"{value:.6f}" for value in (row.accuracy, row.f1, row.seconds, *row.further)))


def read_rows(path: Path, metrics: Sequence[str] | None = None) -> list[Row]:
    """Read all whole lines of a file of rows; the last may have been cut off.

    With ``metrics`` the further columns must be these; without, any will do.
    """
    if not path.is_file():
        raise FileError(f"{path}: there is no such file of rows.")
    with open_text(path) as text:
        lines = text.read().splitlines(keepends=True)
    columns = tuple(lines[0].rstrip("\n").split(",")) if lines else ()
    if columns[: len(COLUMNS)] != COLUMNS or (metrics is not None and columns[len(COLUMNS) :] != tuple(metrics)):
        raise FileError(f"{path}, line 1: the columns {','.join((*COLUMNS, *(metrics or ())))} were expected.")
    whole = [line for line in lines[1:] if line.endswith("\n")]
    with readable(path):
        return [_parse_row(path, number, len(columns), cells) for number, cells in enumerate(csv.reader(whole), 2)]


def _parse_row(path: Path, number: int, width: int, cells: list[str]) -> Row:
    try:
        dataset, model, method, budget, repeat, *numbers = cells
        accuracy, f1, seconds, *further = map(float, numbers)
        if len(cells) != width:
            raise ValueError
        return Row(dataset, model, method, int(budget), int(repeat), accuracy, f1, seconds, tuple(further))
    except ValueError:
        raise FileError(f"{path}, line {number}: this is no row of an experiment.") from None
