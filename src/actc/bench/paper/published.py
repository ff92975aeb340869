"""The numbers the paper printed, as data: what `actc paper` sets beside what it measures.

``published.csv`` was read out of the paper's LaTeX source by ``benchmarks/paper/transcribe_paper.py``: one
row per printed number, in per cent. Tables: ``avg`` (averages over the ten budgets), ``avg-f1`` (the same,
extended by the F1 versions of ACTC), ``l1``, ``l10``, ``l50`` (one budget each). The paper's column "Avg"
is dataset ``all``, model ``all``.

The numbers stand as printed, the paper's slips included:

* in the table for l = 50 the two random ACTC rows carry the superscript 10; they are read as l = 50 rows;
* the plus-minus is the standard error over the ten budget means in ``avg`` and ``avg-f1``, over the 100
  repeats elsewhere; three of ``l1`` are printed in brackets, (1.0) twice and (0.02) once, the last probably
  a fraction;
* ACTC-LR_dens on CoDEx-S TransE has an F1 of 71 ± 2 in ``avg`` and 71 ± 0 in ``avg-f1``;
* in ``l1`` ACTC-LR_rndm has "Avg" 67, but its eight cells average 65.25; in ``l10`` its F1 "Avg" 70 is 69.1.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class PublishedKey(NamedTuple):
    """Where a number stands in the paper: ``metric`` is "accuracy" or "f1"."""

    table: str
    dataset: str
    model: str
    method: str
    metric: str


class PublishedNumber(NamedTuple):
    """A printed number and its plus-minus, both in per cent; None where the paper prints none."""

    value: float
    plus_minus: float | None


@cache
def load_published() -> dict[PublishedKey, PublishedNumber]:
    """Return every number of the paper's result tables."""
    text = (files("actc.bench.paper") / "published.csv").read_text(encoding="utf-8")
    numbers = {}
    for row in csv.DictReader(text.splitlines()):
        key = PublishedKey(row["table"], row["dataset"], row["model"], row["method"], row["metric"])
        spread = float(row["plus_minus"]) if row["plus_minus"] else None
        numbers[key] = PublishedNumber(float(row["value"]), spread)
    return numbers


def look_up(table: str, dataset: str, model: str, method: str, metric: str) -> float | None:
    """Return one printed number in per cent, None where the paper has none."""
    number = load_published().get(PublishedKey(table, dataset, model, method, metric))
    return None if number is None else number.value
