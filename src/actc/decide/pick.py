"""Which candidates to ask about next: where answers teach, or draws from a list that is tested for a guarantee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from actc.data.answers import Picks
from actc.data.triples import IntArray
from actc.decide.case import Case
from actc.decide.guarantee import begin_round, draw_more, error_left
from actc.decide.list_test import TUNED, Demand, Round, draws_to_pass, plan_rounds
from actc.errors import OptionError

FIRST = 10
"""Answers that teach before the first round, where nobody knows how many answers there will be."""
NOBODY = np.zeros(0, dtype=np.int64)


def pick_next(
    case: Case,
    count: int,
    random: np.random.Generator,
    budget: int | None = None,
    earlier: int = 0,
    besides: IntArray = NOBODY,
    final: bool = False,
) -> Picks:
    """Return the next candidates to ask about, best first.

    With a demand in the case, the first answers teach; then come rounds of draws from a list. When a list has passed,
    there are no more. A round that cannot pass any more is given up; once the error is spent, answers teach again.

    ``budget`` is how many answers there will be in all, without the ``earlier`` ones of other runs. If it is ``final``,
    its rounds spend all draws and all of the error; otherwise a round has about as many draws as are needed, and some
    of the error is left for later ones. ``besides`` are rows of the pool that wait for somebody's answer.
    """
    waiting = np.setdiff1d(besides, case.annotations.rows)
    if case.demand is None:
        return _teach(case, count, random, waiting)
    given, rounds, demand = len(case.annotations) - earlier, case.rounds, case.demand
    teach, planned = (FIRST, []) if budget is None else plan_rounds(budget, demand)
    if not rounds and given + len(waiting) < teach:
        return _teach(case, min(count, teach - given - len(waiting)), random, waiting)
    if case.guarantee_for(demand).size and all(one.test(demand).settled for one in rounds):
        return Picks(NOBODY)
    if rounds and not rounds[-1].test(demand).settled:
        return draw_more(rounds[-1], waiting, min(count, max(rounds[-1].open_draws - len(waiting), 0)), random)
    number, left = len(rounds) + 1, error_left(rounds)
    if final and budget is not None:
        plan = planned[number - 1] if number < len(planned) else Round(budget - given, left)
    else:
        share = TUNED.open_end * left
        if budget is not None and budget - given < draws_to_pass(1, demand.target, max(share * demand.error, 1e-3)):
            share = left  # there is no later round
        needed = case.answers_needed(demand) or 2 * draws_to_pass(1, demand.target, max(share * demand.error, 1e-3))
        plan = Round(needed if budget is None else min(needed, max(budget - given, 1)), share)
    if plan.share * demand.error < 1e-3:
        return _teach(case, count, random, waiting)
    picks = begin_round(number, plan, case.plain.ranking, demand, random)
    return picks.take(np.arange(min(count, len(picks)))) if len(picks) else _teach(case, count, random, waiting)


def _teach(case: Case, count: int, random: np.random.Generator, waiting: IntArray) -> Picks:
    """Return what the method picks; it imagines answers to what is with somebody, so that is picked and left out."""
    most = min(count + len(waiting), len(case.pool) - len(case.annotations))
    picks = case.fit.pick(most, random)
    picks = picks.take(np.flatnonzero(~np.isin(picks.rows, waiting))[:count])
    return replace(picks, round=len(case.rounds))


def pick_draws(case: Case, demand: Demand, count: int, random: np.random.Generator) -> Picks:
    """Return draws for a guarantee: more of the round that is open, else ``count`` draws from a new list."""
    rounds = case.rounds
    if rounds and not rounds[-1].test(demand).settled:
        return draw_more(rounds[-1], NOBODY, min(count, rounds[-1].open_draws), random)
    share = error_left(rounds) * TUNED.open_end
    picks = begin_round(len(rounds) + 1, Round(count, share), case.plain.ranking, demand, random)
    if not len(picks):
        raise OptionError(
            f"No list of candidates is likely enough to have a precision of {demand.target:g}; pick some without "
            "precision first, so that their answers teach, or ask for less."
        )
    return picks
