"""Do the audit's intervals hold as often as they say, early stopping included?

python benchmarks/trust/audit.py        writes audit.csv beside itself: 10,000 audits of made-up accepted sets per row
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from actc.decide.intervals import Interval, anytime, clopper_pearson, clustered, stratified

DRAWS = 10_000
LEVEL = 0.9
TRUTHS = (0.5, 0.8, 0.9, 0.95, 0.99)
OUT = Path(__file__).with_name("audit.csv")


class Row(NamedTuple):
    """How often one kind of interval held the truth."""

    design: str
    interval: str
    total: int
    truth: float
    judged: int
    stopping: str
    coverage: float
    length: float
    draws: int


def fixed_size(random: np.random.Generator) -> Iterator[Row]:
    """Judge a number that was fixed before: every kind of interval."""
    for total in (500, 20_000):
        for truth in TRUTHS:
            trues_there = round(truth * total)
            for judged in (10, 50, 200):
                trues = random.hypergeometric(trues_there, total - trues_there, judged, DRAWS)
                seen, count = np.unique(trues, return_counts=True)
                exact = [clopper_pearson(k, judged, LEVEL) for k in seen]
                yield _row("simple", "clopper-pearson", total, truth, judged, "none", exact, count)
                bounds = [anytime(k, judged, LEVEL, total) for k in seen]
                yield _row("simple", "anytime", total, truth, judged, "none", bounds, count)


def stopping_early(random: np.random.Generator, most: int = 200) -> Iterator[Row]:
    """Look after every answer and stop at the worst moment: when the interval first misses the truth, if it ever does.

    The exact interval, which is right for one look, stands beside it to show what stopping early costs.
    """
    for total in (500, 20_000):
        for truth in TRUTHS:
            trues_there = round(truth * total)
            answers = _draw_orders(trues_there, total, most, random)
            trues = np.cumsum(answers, axis=1)
            for name, table in (("anytime", _anytime_table), ("clopper-pearson", _exact_table)):
                bounds = table(total, most)
                low, high = bounds[:, np.arange(1, most + 1), trues]
                held = ((low <= truth + 1e-12) & (truth <= high + 1e-12)).all(axis=1)
                length = float((high - low)[:, -1].mean())
                yield Row("simple", name, total, truth, most, "worst", float(held.mean()), length, DRAWS)


def _draw_orders(trues_there: int, total: int, most: int, random: np.random.Generator) -> np.ndarray:
    """Draw without replacement, all audits side by side, shape (DRAWS, most)."""
    answers = np.zeros((DRAWS, most), dtype=np.int64)
    left = np.full(DRAWS, trues_there)
    for at in range(most):
        answers[:, at] = random.random(DRAWS) * (total - at) < left
        left -= answers[:, at]
    return answers


@lru_cache
def _anytime_table(total: int, most: int) -> np.ndarray:
    return _table(lambda trues, judged: anytime(trues, judged, LEVEL, total), most)


@lru_cache
def _exact_table(total: int, most: int) -> np.ndarray:
    return _table(lambda trues, judged: clopper_pearson(trues, judged, LEVEL), most)


def _table(interval, most: int) -> np.ndarray:  # type: ignore[no-untyped-def]
    bounds = np.zeros((2, most + 1, most + 1))
    for judged in range(1, most + 1):
        for trues in range(judged + 1):
            bounds[:, judged, trues] = interval(trues, judged)
    return bounds


def by_relation(random: np.random.Generator) -> Iterator[Row]:
    """Relations of very different size and truth, some hardly looked at."""
    sizes = np.array([4000, 1500, 800, 400, 200, 100, 50, 25, 12, 6])
    for middle in (0.7, 0.9, 0.97):
        shares = np.clip(middle + 0.25 * np.linspace(1, -1, len(sizes)) * (1 - middle) / 0.3, 0.02, 0.995)
        there = np.round(shares * sizes).astype(np.int64)
        truth = float(there.sum() / sizes.sum())
        for judged in (30, 100, 300):
            wanted = np.minimum(np.maximum(1, np.round(sizes / sizes.sum() * judged).astype(np.int64)), sizes)
            trues = random.hypergeometric(there, sizes - there, wanted, (DRAWS, len(sizes)))
            bounds = [stratified(row, wanted, sizes, LEVEL).interval for row in trues]
            yield _row("relation", "relation", int(sizes.sum()), truth, int(wanted.sum()), "none", bounds)


def by_head(random: np.random.Generator, heads: int = 3000) -> Iterator[Row]:
    """Head entities whose triples tend to be right or wrong together."""
    for truth in (0.7, 0.9, 0.97):
        for alike in (0.0, 0.5):
            size = 1 + random.poisson(2.0, heads)
            own = np.full(heads, truth) if alike == 0 else random.beta(truth / alike, (1 - truth) / alike, heads)
            there = random.binomial(size, own)
            whole = float(there.sum() / size.sum())
            for clusters in (10, 30, 100):
                bounds = []
                for _ in range(DRAWS):
                    drawn = random.integers(heads, size=clusters)  # a repeat among 3,000 changes nothing
                    bounds.append(clustered(there[drawn], size[drawn], heads, LEVEL).interval)
                yield _row("head", f"head, alike {alike}", int(size.sum()), whole, 3 * clusters, "none", bounds)


def _row(
    design: str,
    name: str,
    total: int,
    truth: float,
    judged: int,
    stopping: str,
    bounds: list[Interval],
    count: np.ndarray | None = None,
) -> Row:
    low, high = np.array(bounds).T
    weight = np.ones(len(bounds)) if count is None else count
    held = (low <= truth + 1e-12) & (truth <= high + 1e-12)
    coverage = float(np.average(held, weights=weight))
    return Row(
        design, name, total, truth, judged, stopping, coverage, float(np.average(high - low, weights=weight)), DRAWS
    )


def main() -> None:
    """Write all rows."""
    random = np.random.default_rng(8)
    with OUT.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(Row._fields)
        for part in (fixed_size, stopping_early, by_relation, by_head):
            for row in part(random):
                writer.writerow([f"{value:.4f}" if isinstance(value, float) else value for value in row])


if __name__ == "__main__":
    main()
