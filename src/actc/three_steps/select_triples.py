"""Step 1: which triples should a person judge?

Every selector is a function ``(pool, annotations, count, random, estimate) -> rows`` that never repeats an annotated
row. Calling it again with the answers so far gives the next ones, so budgets are nested. ``estimate()`` returns the
probability of every triple of the pool, each by its own relation's classifier; ``estimate(relation)`` by that one
relation's. Only selectors that ask for it pay for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from actc.errors import ChoiceError, OptionError
from actc.triples import Annotations, FloatArray, IntArray, ScoredTriples


class Estimate(Protocol):
    """P(true) of every triple of the pool, shape (N,)."""

    def __call__(self, relation: int | None = None) -> FloatArray:
        """Estimate by each triple's own classifier, or by the one of the given relation."""
        ...


Selector = Callable[[ScoredTriples, Annotations, int, np.random.Generator, Estimate], IntArray]


def select_triples(
    pool: ScoredTriples,
    annotations: Annotations,
    count: int,
    selector: str | Selector,
    random: np.random.Generator,
    estimate: Estimate,
) -> IntArray:
    """Return the rows of the next ``count`` triples to judge.

    Parameters
    ----------
    pool : ScoredTriples
        The candidates, N of them.
    annotations : Annotations
        What has been judged already; never selected again.
    count : int
        How many more to judge, at most N - len(annotations).
    selector : str or callable
        A name in ``SELECTORS``, or a function of your own with their signature.
    random : numpy Generator
        Where randomness comes from.
    estimate : callable
        Returns P(true) of every triple of the pool, shape (N,); may take the relation whose classifier to use.
    """
    left = len(pool) - len(annotations)
    if not 0 <= count <= left:
        raise OptionError(f"{count} triples are wanted, but {left} of the pool's {len(pool)} are left to judge.")
    if isinstance(selector, str):
        if selector not in SELECTORS:
            raise ChoiceError("selector", selector, SELECTORS)
        selector = SELECTORS[selector]
    return selector(pool, annotations, count, random, estimate)


def select_random(
    pool: ScoredTriples, annotations: Annotations, count: int, random: np.random.Generator, estimate: Estimate
) -> IntArray:
    """Take any triples, all with the same chance (ACTC_rndm); of a sample, as if drawn from what it stands for."""
    rows = _unjudged(pool, annotations)
    if len(pool) == pool.stands_for:
        return random.permutation(rows)[:count]
    waits = random.exponential(size=len(rows)) / pool.weights[rows]  # who rings first: chances as the weights
    return rows[np.argsort(waits)[:count]]


def select_nearest_mean(
    pool: ScoredTriples, annotations: Annotations, count: int, random: np.random.Generator, estimate: Estimate
) -> IntArray:
    """Take the triples whose score is nearest to the mean score (ACTC_dens, as the paper's tables were made)."""
    return _smallest(pool, annotations, count, _squared_distance(pool))


def select_farthest_mean(
    pool: ScoredTriples, annotations: Annotations, count: int, random: np.random.Generator, estimate: Estimate
) -> IntArray:
    """Take the triples whose score is farthest from the mean score (ACTC_dens, Algorithm 2 as printed)."""
    return _smallest(pool, annotations, count, -_squared_distance(pool))


def select_uncertain(
    pool: ScoredTriples, annotations: Annotations, count: int, random: np.random.Generator, estimate: Estimate
) -> IntArray:
    """Take the triples whose estimated probability is nearest to one half."""
    return _smallest(pool, annotations, count, np.abs(0.5 - estimate()))


def select_uncertain_and_dense(
    pool: ScoredTriples, annotations: Annotations, count: int, random: np.random.Generator, estimate: Estimate
) -> IntArray:
    """Take the triples with the smallest uncertainty times summed squared distance, as in the authors' code."""
    spread = _squared_distance(pool) + np.var(pool.scores)
    return _smallest(pool, annotations, count, np.abs(0.5 - estimate()) * spread)


def select_uncertain_by_last(
    pool: ScoredTriples, annotations: Annotations, count: int, random: np.random.Generator, estimate: Estimate
) -> IntArray:
    """Take the triples that one relation's classifier is least sure of, as in the authors' code.

    Their code keeps a single classifier: the one it fitted last, for whichever annotated relation comes last in a
    Python set. So this order, and all that follows from it, changes with PYTHONHASHSEED.
    """
    names = {pool.relation_names[code] for code in pool.relations[annotations.rows].tolist()}
    last = pool.relation_names.index(list(names)[-1]) if names else None
    return _smallest(pool, annotations, count, np.abs(0.5 - estimate(last)))


def _squared_distance(pool: ScoredTriples) -> FloatArray:
    # The authors sum squared distances to every score: N (s - mean)^2 + N variance, so this gives the same order
    # without the N x N table.
    distance: FloatArray = (pool.scores - pool.scores.mean()) ** 2
    return distance


def _smallest(pool: ScoredTriples, annotations: Annotations, count: int, values: FloatArray) -> IntArray:
    rows = _unjudged(pool, annotations)
    return rows[np.lexsort((pool.keys[rows], values[rows]))[:count]]


def _unjudged(pool: ScoredTriples, annotations: Annotations) -> IntArray:
    judged = np.zeros(len(pool), dtype=np.bool_)
    judged[annotations.rows] = True
    return np.flatnonzero(~judged)


SELECTORS: dict[str, Selector] = {
    "random": select_random,
    "nearest-mean": select_nearest_mean,
    "farthest-mean": select_farthest_mean,
    "uncertainty": select_uncertain,
    "density-weighted": select_uncertain_and_dense,
    "uncertainty-last-relation": select_uncertain_by_last,
}
