"""What an experiment will run: methods in cells, so many repeats of each, cut into chunks that any process can take."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from actc import __version__
from actc.bench.cells import Cell, CellFolder
from actc.bench.metrics import find_metric
from actc.bench.rows import Run
from actc.data.triples import IntArray
from actc.errors import OptionError, check_choice, choose
from actc.methods.named import Method, find_method, finds_cuts


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


PAPER_BUDGETS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MOST_REPEATS = 100_000
REPEATS_IN_CHUNK = 5  # laid side by side in one vectorised pass; more only costs memory


@dataclass(frozen=True)
class Conditions:
    """What the rows of one file have in common."""

    budgets: tuple[int, ...] = PAPER_BUDGETS  # how many triples are annotated, rising
    seed: int = 12345  # where the draws start from
    draws: str = "numpy"  # where random selections come from: a name in ``draws.DRAWS``
    squash: bool = True  # centre and squash scores that leave [0, 1], for the methods that were made for such scores
    metrics: tuple[str, ...] = ()  # names in ``METRICS`` to measure beside accuracy and F1
    version: str = __version__  # of this library

    def __post_init__(self) -> None:
        check_choice("source of draws", self.draws, DRAWS)
        for name in self.metrics:
            find_metric(name)

    def affordable(self, method: Method) -> tuple[int, ...]:
        """Return the budgets that the method can work with, so that one experiment may start others from zero."""
        return tuple(budget for budget in self.budgets if budget > 0 or not finds_cuts(method))


class Chunk(NamedTuple):
    """Some repeats of one method in one cell: ``start`` up to, but without, ``stop``."""

    run: Run
    start: int
    stop: int


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

    @cached_property
    def methods(self) -> dict[str, Method]:
        """The methods by their names."""
        return {run.method: find_method(run.method) for run in self.repeats}

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The work, cut up; a method that is not random needs only one repeat."""
        return [
            Chunk(run, start, min(start + REPEATS_IN_CHUNK, needed))
            for run, repeats in self.repeats.items()
            for needed in [repeats if self.methods[run.method].is_random else 1]
            for start in range(0, needed, REPEATS_IN_CHUNK)
        ]

    @cached_property
    def source_of(self) -> dict[tuple[str, str], Cell | CellFolder]:
        """Where each cell comes from, by data set and model."""
        return {(source.dataset, source.model): source for source in self.sources}

    @cached_property
    def needs_known(self) -> bool:
        """Whether any method looks at the known triples."""
        return any(method.reads != "pool" for method in self.methods.values())

    def count_rows(self, chunk: Chunk) -> int:
        """Return how many rows a chunk has."""
        return len(self.conditions.affordable(self.methods[chunk.run.method])) * (chunk.stop - chunk.start)
