"""What the rounds of draws guarantee: each tests a list that was fixed before its draws.

The list of a round is a function of the candidates and of the answers of earlier rounds alone; so whoever has the
candidates and the answers, with their rounds, finds the same list again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Picks
from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.decide.list_test import Demand, Round, draws_to_pass, is_settled, largest_passing, nested_lists

LIST = "list"
"""The selection of an answer that was drawn from a list which is tested."""
LIST_DRAW = "A random draw, to test the list of facts that would be accepted."
_FRAME = re.compile(r"(\d+) draws at ([0-9.e-]+)")


def name_round(one: Round) -> str:
    """Return the ``sampling_frame`` of the draws of a round: how many there are, and the share of the error."""
    return f"{one.draws} draws at {one.share:g}"


def split_random(answers: Annotations, pool: int, random: np.random.Generator) -> Annotations:
    """Return a plain random draw from a pool as answers of which half teach, and half test lists of the pool."""
    order = random.permutation(len(answers))
    teach, test = (answers.take(np.sort(part)) for part in np.array_split(order, 2))
    plan = Round(len(test), 1.0)
    return teach.plus(
        replace(test, selection=LIST, sampling_frame=name_round(plan), inclusion_probability=1 / pool, round=1.0)
    )


@dataclass(frozen=True)
class BegunRound:
    """A round whose list is fixed: its number, its plan, and how many candidates of the pool are on the list."""

    number: int
    plan: Round
    listed: int

    @classmethod
    def read(cls, number: int, sampling_frame: str, inclusion_probability: float) -> BegunRound | None:
        """Read it off what stands beside a draw; None where that is something else."""
        match = _FRAME.fullmatch(sampling_frame)
        if match is None or not 0 < inclusion_probability <= 1:
            return None
        return cls(number, Round(int(match[1]), min(float(match[2]), 1.0)), round(1 / inclusion_probability))


@dataclass(frozen=True, eq=False)
class Ranking:
    """The candidates that nobody judged, the most probable first.

    Parameters
    ----------
    rows : int array of shape (K,)
        Their rows among all candidates.
    p : float array of shape (K,)
        P(true) of each, descending.
    pool_rows : int array of shape (K,)
        Their rows in the pool that questions are chosen from, -1 where they are not in it.
    """

    rows: IntArray
    p: FloatArray
    pool_rows: IntArray

    def size_of(self, count: int) -> int:
        """Return the size of the list that has so many candidates of the pool, ties among them."""
        counts = np.cumsum(self.pool_rows >= 0)
        if not count or not len(counts) or not counts[-1]:
            return 0
        place = int(np.searchsorted(counts, min(count, int(counts[-1]))))
        return int(np.searchsorted(-self.p, -self.p[place], side="right"))

    def listed(self, size: int) -> IntArray:
        """Return the rows in the pool of the first ``size`` candidates, as far as they are in it."""
        rows = self.pool_rows[:size]
        return rows[rows >= 0]


@dataclass(frozen=True, eq=False)
class DrawnRound:
    """A round of draws with its answers.

    Parameters
    ----------
    number : int
        The first is 1.
    plan : Round
    base : Case
        The case as it was before the round: it fixed the list.
    ranking : Ranking
        By that case.
    size : int
        Size of the list that was drawn from.
    places : int array of shape (n,)
        Places of the answered draws in the ranking.
    labels : bool array of shape (n,)
    """

    number: int
    plan: Round
    base: Any
    ranking: Ranking
    size: int
    places: IntArray
    labels: BoolArray

    @property
    def open_draws(self) -> int:
        """Draws without an answer."""
        return max(self.plan.draws - len(self.places), 0)

    def lists(self, demand: Demand) -> IntArray:
        """Return the sizes of the lists to test, none longer than what was drawn from."""
        sizes = nested_lists(self.ranking.p, demand.target, self.plan.draws, self.plan.share * demand.error)
        return np.unique(np.minimum(sizes, self.size))

    def test(self, demand: Demand) -> Guarantee:
        """Return what the round guarantees."""
        sizes, alpha = self.lists(demand), self.plan.share * demand.error
        draws = (sizes, self.places, self.labels, demand.target, alpha)
        size = largest_passing(*draws, self.open_draws) if len(sizes) else 0
        bar = float(self.ranking.p[size - 1]) if size else np.inf
        return Guarantee(demand, size, bar, self, is_settled(*draws, self.open_draws))


@dataclass(frozen=True, eq=False)
class Guarantee:
    """What is guaranteed of the accepted facts that nobody judged.

    Parameters
    ----------
    demand : Demand
    size : int
        How many candidates the list has that passed; 0 if none did.
    bar : float
        The least P(true) in it; infinite if none passed.
    drawn : DrawnRound, optional
        The round that tested it; None before the first.
    settled : bool
        Whether the answers that are missing in the round change nothing.
    """

    demand: Demand
    size: int = 0
    bar: float = np.inf
    drawn: DrawnRound | None = None
    settled: bool = True

    @property
    def rows(self) -> IntArray:
        """The candidates on the list that passed."""
        if self.drawn is None:
            return np.zeros(0, dtype=np.int64)
        return self.drawn.ranking.rows[: self.size]


def error_left(rounds: list[DrawnRound]) -> float:
    """Return the share of the error that no round has spent."""
    return max(1.0 - sum(one.plan.share for one in rounds), 0.0)


def begin_round(number: int, plan: Round, ranking: Ranking, demand: Demand, random: np.random.Generator) -> Picks:
    """Fix the list of a round and return its draws, no more than are of use; none where no list is likely to pass."""
    alpha = plan.share * demand.error
    if plan.draws < draws_to_pass(1, demand.target, alpha):  # every draw has to be true, and a few are left over
        fewest = min(draws_to_pass(0, demand.target, alpha), plan.draws)
        lists = ((draws, nested_lists(ranking.p, demand.target, draws, alpha)) for draws in range(fewest, plan.draws))
        plan = replace(plan, draws=next((draws for draws, sizes in lists if len(sizes)), plan.draws))
    sizes = nested_lists(ranking.p, demand.target, plan.draws, alpha)
    rows = ranking.listed(int(sizes.max(initial=0)))
    plan = Round(min(plan.draws, len(rows)), plan.share)
    return _draws(random.permutation(rows)[: plan.draws], number, plan, len(rows))


def draw_more(drawn: DrawnRound, besides: IntArray, count: int, random: np.random.Generator) -> Picks:
    """Return more draws of a round that has begun, none of ``besides``: what was drawn, and what else is taken."""
    rows = drawn.ranking.listed(drawn.size)
    rest = np.setdiff1d(rows, np.append(besides, drawn.ranking.pool_rows[drawn.places]))
    return _draws(random.permutation(rest)[:count], drawn.number, drawn.plan, len(rows))


def _draws(rows: IntArray, number: int, plan: Round, listed: int) -> Picks:
    return Picks(
        rows,
        LIST_DRAW,
        selection=LIST,
        sampling_frame=name_round(plan),
        inclusion_probability=1 / max(listed, 1),
        round=number,
    )
