"""What an experiment will run: methods in cells, so many repeats of each, cut into chunks that any process can take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from actc import __version__
from actc.bench.cells import CellSource
from actc.bench.draws import DRAWS
from actc.bench.rows import Run
from actc.data.metrics import find_metric
from actc.errors import OptionError, check_choice
from actc.methods.named import Method, find_method, finds_cuts

PAPER_BUDGETS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MOST_REPEATS = 100_000
REPEATS_IN_CHUNK = 5  # laid side by side in one vectorised pass; more only costs memory


@dataclass(frozen=True)
class Conditions:
    """What the rows of one file have in common.

    Parameters
    ----------
    budgets : tuple of int
        How many triples are annotated, rising.
    seed : int
        Where the draws start from.
    draws : str
        Where random selections come from: a name in ``draws.DRAWS``.
    squash : bool
        Centre and squash scores that leave [0, 1], for the methods that were made for such scores.
    metrics : tuple of str
        Names in ``metrics.METRICS`` to measure beside accuracy and F1.
    version : str
        Of this library.
    """

    budgets: tuple[int, ...] = PAPER_BUDGETS
    seed: int = 12345
    draws: str = "numpy"
    squash: bool = True
    metrics: tuple[str, ...] = ()
    version: str = __version__

    def __post_init__(self) -> None:
        check_choice("source of draws", self.draws, DRAWS)
        for name in self.metrics:
            find_metric(name)

    def affordable(self, method: Method) -> tuple[int, ...]:
        """Return the budgets that the method can work with, so that one experiment may start others from zero."""
        return tuple(budget for budget in self.budgets if budget > 0 or not finds_cuts(method))


class Chunk(NamedTuple):
    """Some repeats of one method in one cell: ``start`` up to, but without, ``stop``.

    The rows of a method without chance are written ``copies`` times, as if it had been repeated.
    """

    run: Run
    start: int
    stop: int
    copies: int = 1

    @property
    def written(self) -> range:
        """The repeats that stand in its rows."""
        return range(self.start, self.stop + self.copies - 1)


@dataclass(frozen=True, eq=False)
class Experiment:
    """Everything that decides the rows of an experiment; where and in how many processes it runs does not.

    Parameters
    ----------
    sources : sequence of CellSource
        Where the cells come from; no two have the same data set and model.
    repeats : mapping of Run to int
        What is run, in this order, and how often.
    conditions : Conditions
    copied : bool
        Whether the rows of a method without chance are written once for every repeat.
    """

    sources: Sequence[CellSource]
    repeats: Mapping[Run, int]
    conditions: Conditions
    copied: bool = False

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
        """The work, cut up; a method without chance needs only one repeat."""
        return [
            Chunk(run, start, min(start + REPEATS_IN_CHUNK, needed), repeats if self.copied and certain else 1)
            for run, repeats in self.repeats.items()
            for certain in [not self.methods[run.method].by_chance]
            for needed in [1 if certain else repeats]
            for start in range(0, needed, REPEATS_IN_CHUNK)
        ]

    @cached_property
    def source_of(self) -> dict[tuple[str, str], CellSource]:
        """Where each cell comes from, by data set and model."""
        return {(source.dataset, source.model): source for source in self.sources}

    @cached_property
    def needs_known(self) -> bool:
        """Whether any method looks at the known triples."""
        return any(method.reads != "pool" for method in self.methods.values())

    def count_rows(self, chunk: Chunk) -> int:
        """Return how many rows a chunk has."""
        return len(self.conditions.affordable(self.methods[chunk.run.method])) * len(chunk.written)
