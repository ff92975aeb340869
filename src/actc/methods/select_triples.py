"""Step 1: which triples should a person judge?

Every selector has a function ``(pool, annotations, count, random, estimate) -> rows`` that never repeats an annotated
row. Calling it again with the answers so far gives the next ones, so budgets are nested. Only selectors that call
``estimate`` pay for it. All that describes a selector stands in its line of ``SELECTORS``.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

import numpy as np

from actc.data.answers import Annotations, Picks
from actc.data.triples import FloatArray, IntArray, ScoredTriples
from actc.errors import OptionError, choose

PoolProbabilities = Callable[..., FloatArray]
"""``estimate()`` gives P(true) of every triple of the pool, shape (N,), by its own relation's classifier;
``estimate(relation)`` by that one relation's."""
SelectRows = Callable[[ScoredTriples, Annotations, int, np.random.Generator, PoolProbabilities], IntArray]


class Selector(NamedTuple):
    """A way to select triples."""

    select: SelectRows  # returns the rows of the next triples to judge
    reason: str = "Chosen by the method's own rule."  # why a triple was selected, for the person who judges it
    is_random: bool = True  # whether another random generator would select other triples
    uniform: bool = False  # whether every triple that nobody has judged is selected with the same probability
    summary: str = ""  # which triples it selects, one sentence


def find_selector(selector: str | SelectRows) -> Selector:
    """Return the selector of that name; a function is taken to be random."""
    chosen = choose("selector", selector, SELECTORS) if isinstance(selector, str) else selector
    return chosen if isinstance(chosen, Selector) else Selector(chosen)


def select_triples(
    pool: ScoredTriples,
    annotations: Annotations,
    count: int,
    selector: str | SelectRows,
    random: np.random.Generator,
    estimate: PoolProbabilities,
) -> Picks:
    """Return the next ``count`` triples to judge."""
    check_count(pool, annotations, count)
    chosen = find_selector(selector)
    rows = chosen.select(pool, annotations, count, random, estimate)
    if not chosen.uniform:
        return Picks(rows, reasons=chosen.reason)
    return Picks(rows, chosen.reason, selection="random", sampling_frame="pool", inclusion_probability=1 / len(pool))


def check_count(pool: ScoredTriples, annotations: Annotations, count: int) -> None:
    """Refuse to select more triples than are left to judge."""
    left = len(pool) - len(annotations)
    if not isinstance(count, Integral) or not 0 <= count <= left:
        raise OptionError(f"{count!r} triples are wanted, but {left} of the pool's {len(pool)} are left to judge.")


def select_random(
    pool: ScoredTriples, annotations: Annotations, count: int, random: np.random.Generator, estimate: PoolProbabilities
) -> IntArray:
    """Take any triples, all with the same probability."""
    return random.permutation(_unjudged(pool, annotations))[:count]


def take_smallest(values: Callable[[ScoredTriples, Annotations, PoolProbabilities], FloatArray]) -> SelectRows:
    """Return a selector of the triples with the smallest values; ties by triple."""

    def select(
        pool: ScoredTriples, annotations: Annotations, count: int, _: np.random.Generator, estimate: PoolProbabilities
    ) -> IntArray:
        rows = _unjudged(pool, annotations)
        return rows[np.lexsort((pool.keys[rows], values(pool, annotations, estimate)[rows]))[:count]]

    return select


def _squared_distance(pool: ScoredTriples) -> FloatArray:
    # The authors sum squared distances to every score: N (s - mean)^2 + N variance, so this gives the same order
    # without the N x N table.
    return np.asarray((pool.scores - pool.scores.mean()) ** 2)


def _doubt_of_last_relation(pool: ScoredTriples, annotations: Annotations, estimate: PoolProbabilities) -> FloatArray:
    # The authors' code keeps a single classifier: the one it fitted last, for whichever annotated relation comes last
    # in a Python set. So this order, and all that follows from it, changes with PYTHONHASHSEED.
    names = {pool.relation_names[code] for code in pool.relations[annotations.rows].tolist()}
    last = pool.relation_names.index(list(names)[-1]) if names else None
    return np.abs(0.5 - estimate(last))


def _unjudged(pool: ScoredTriples, annotations: Annotations) -> IntArray:
    judged = np.zeros(len(pool), dtype=np.bool_)
    judged[annotations.rows] = True
    return np.flatnonzero(~judged)


SELECTORS: dict[str, Selector] = {
    "random": Selector(
        select_random,
        "Drawn at random: every candidate is checked with the same probability.",
        uniform=True,
        summary="Any triples, all with the same probability (ACTC_rndm).",
    ),
    "nearest-mean": Selector(
        take_smallest(lambda pool, *_: _squared_distance(pool)),
        "Its score is among those nearest to the mean of all scores.",
        is_random=False,
        summary="The triples whose score is nearest to the mean score (ACTC_dens, as the paper's tables were made).",
    ),
    "farthest-mean": Selector(
        take_smallest(lambda pool, *_: -_squared_distance(pool)),
        "Its score is among those farthest from the mean of all scores.",
        is_random=False,
        summary="The triples whose score is farthest from the mean score (ACTC_dens, Algorithm 2 as printed).",
    ),
    "uncertainty": Selector(
        take_smallest(lambda pool, _, estimate: np.abs(0.5 - estimate())),
        "The model is least sure about it.",
        is_random=False,
        summary="The triples whose estimated probability is nearest to one half.",
    ),
    "density-weighted": Selector(
        take_smallest(
            lambda pool, _, estimate: np.abs(0.5 - estimate()) * (_squared_distance(pool) + np.var(pool.scores))
        ),
        is_random=False,
        summary="The triples with the smallest uncertainty times summed squared distance, as in the authors' code.",
    ),
    "uncertainty-last-relation": Selector(
        take_smallest(_doubt_of_last_relation),
        is_random=False,
        summary="The triples that one relation's classifier is least sure of, as in the authors' code.",
    ),
}
