"""Which triples a random selection annotates, repeat by repeat; a larger budget contains the smaller."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from actc.data.triples import IntArray
from actc.errors import choose


def draw_orders(size: int, budgets: Sequence[int], repeats: int, seed: int, draws: str) -> list[IntArray]:
    """Return, for each repeat, the order in which random selection annotates; a budget takes the first ones."""
    return list(choose("source of draws", draws, DRAWS)(size, budgets, repeats, seed))


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


DRAWS: dict[str, Callable[[int, Sequence[int], int, int], Iterator[IntArray]]] = {
    "numpy": draw_by_numpy,
    "authors": draw_as_authors,
}
