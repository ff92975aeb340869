"""Which candidates to ask about next: where answers teach most, or draws from a list that is tested for a guarantee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from actc.data.answers import Picks
from actc.data.triples import IntArray
from actc.decide.case import Case
from actc.decide.guarantee import (
    MIN_ERROR,
    OPEN_END,
    SPARE,
    RoundPlan,
    TargetPrecision,
    draw_more,
    draws_to_pass,
    error_left,
    nested_lists,
    plan_rounds,
    start_round,
)
from actc.errors import OptionError

FIRST = 10
"""Answers that teach before the first round, where it is unknown how many answers there will be."""
NONE = np.zeros(0, dtype=np.int64)


def pick_next(
    case: Case,
    count: int,
    random: np.random.Generator,
    budget: int | None = None,
    earlier: int = 0,
    waiting: IntArray = NONE,
    final: bool = False,
) -> Picks:
    """Return the next candidates to ask about, best first.

    With a target precision in the case, the first answers teach; then come rounds of draws from a list. When a list has
    passed, there are no more. A round that cannot pass any more is given up; once the error is spent, answers teach
    again.

    ``budget`` is how many answers there will be in all, without the ``earlier`` ones of other runs. If it is ``final``,
    its rounds spend all draws and all of the error; otherwise a round has about as many draws as are needed, and some
    of the error is left for later ones. ``waiting`` are rows of the pool that wait for somebody's answer.
    """
    waiting, target = np.setdiff1d(waiting, case.annotations.rows), case.target
    if target is None:
        return _teach(case, count, random, waiting)
    given, rounds = len(case.annotations) - earlier, case.rounds
    teach, planned = (FIRST, []) if budget is None else plan_rounds(budget, target)
    if planned and not rounds and given + len(waiting) + count > teach - SPARE:  # ranking all candidates takes time
        teach -= 0 if len(nested_lists(case.ranking.p, target, planned[0])) else SPARE
    if not rounds and given + len(waiting) < teach:
        return _teach(case, min(count, teach - given - len(waiting)), random, waiting)
    settled = [one.test(target).settled for one in rounds]
    if case.guarantee_for(target).size and all(settled):
        return Picks(NONE)
    if rounds and not settled[-1]:
        return draw_more(rounds[-1], waiting, min(count, max(rounds[-1].open_draws - len(waiting), 0)), random)
    number, left = len(rounds) + 1, error_left(rounds)
    if final and budget is not None:
        plan = planned[number - 1] if number < len(planned) else RoundPlan(number, budget - given, left)
    else:
        plan = _plan_open_round(case, target, None if budget is None else budget - given)
    if plan.alpha(target) < MIN_ERROR:
        return _teach(case, count, random, waiting)
    picks = start_round(plan, case.ranking, target, random)
    return picks.take(np.arange(min(count, len(picks)))) if len(picks) else _teach(case, count, random, waiting)


def _plan_open_round(case: Case, target: TargetPrecision, rest: int | None) -> RoundPlan:
    """Return a round with about as many draws as are needed, at most the rest of the budget."""

    def fewest(share: float) -> int:
        return draws_to_pass(1, target.precision, max(share * target.error, MIN_ERROR))

    left = error_left(case.rounds)
    share = OPEN_END * left
    if rest is not None and rest < fewest(share):
        share = left  # there is no later round
    needed = case.answers_needed(target) or 2 * fewest(share)
    return RoundPlan(len(case.rounds) + 1, needed if rest is None else min(needed, max(rest, 1)), share)


def _teach(case: Case, count: int, random: np.random.Generator, waiting: IntArray) -> Picks:
    """Return what the method picks; it imagines answers to what waits, so that is picked and left out."""
    most = min(count + len(waiting), len(case.pool) - len(case.annotations))
    picks = case.fit.pick(most, random)
    picks = picks.take(np.flatnonzero(~np.isin(picks.rows, waiting))[:count])
    return replace(picks, round=len(case.rounds))


def pick_draws(case: Case, target: TargetPrecision, count: int, random: np.random.Generator) -> Picks:
    """Return draws for a guarantee: more of the round that is open, else ``count`` draws from a new list."""
    rounds = case.rounds
    if rounds and not rounds[-1].test(target).settled:
        return draw_more(rounds[-1], NONE, min(count, rounds[-1].open_draws), random)
    plan = RoundPlan(len(rounds) + 1, count, error_left(rounds) * OPEN_END)
    picks = start_round(plan, case.ranking, target, random)
    if not len(picks):
        raise OptionError(
            f"No list of candidates is likely enough to have a precision of {target.precision:g}; pick some without "
            "precision first, so that their answers teach, or ask for less."
        )
    return picks
