"""What the next unit of money buys: people's answers, a machine's, or nothing that is worth it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.judges.store import ReplyStore, Spent
from actc.numeric import moderate
from actc.triples import BoolArray
from actc.trust.ask import BATCH, weigh_next_answers
from actc.trust.case import Case
from actc.trust.tuned import TUNED

NEXT = 100
"""Triples that a machine would be asked about next, the most doubtful first."""
PEOPLE = "people"


@dataclass(frozen=True)
class Offer:
    """What some answers of somebody cost, and are expected to bring.

    Parameters
    ----------
    who : str
        People, or a judge by its name.
    cost : float
        Of one answer.
    gain : float
        Right decisions that one of the next answers adds, on the mean.
    """

    who: str
    cost: float
    gain: float

    @property
    def rate(self) -> float:
        """Right decisions for a unit of money."""
        return self.gain / self.cost if self.cost else np.inf if self.gain > 0 else 0.0


@dataclass(frozen=True)
class Money:
    """Offers, the best first, and what was paid so far."""

    offers: tuple[Offer, ...]
    spent: tuple[Spent, ...]
    person: float

    @property
    def best(self) -> Offer | None:
        """The offer to take; None where even the best brings less than a person's answer should.

        An answer that costs as much as a person's should bring ``TUNED.price`` right decisions.
        """
        best = self.offers[0]
        return best if best.rate * self.person >= TUNED.price and best.gain > 0 else None

    def sentences(self) -> list[str]:
        """Say it in words."""
        said = [
            f"{one.name}: {one.asked:,} answers cost {one.cost:,.4g} in all, {one.cost / one.asked:.3g} each."
            for one in self.spent
            if one.asked
        ]
        offers = "; ".join(f"{one.who} {one.gain:.2g} right decisions an answer, {_rate(one)}" for one in self.offers)
        do = "stop: nothing brings enough" if self.best is None else f"ask {self.best.who}"
        return [*said, f"Next, {offers}. So {do}."]


def _rate(offer: Offer) -> str:
    return "for nothing" if not offer.cost else f"{offer.rate:,.3g} for a unit of money"


def weigh_money(case: Case, store: ReplyStore) -> Money | None:
    """Say what the next unit of money buys; None without the price of a person's answer, or doubts to reckon with."""
    person = store.person
    if person is None or case.fit.draws is None or case.decisions.probability is None:
        return None
    spent = store.spent()
    offers = [Offer(PEOPLE, person, _gain_by_people(case))]
    offers += [Offer(one.name, one.cost / max(one.asked, 1), _gain(case, at)) for at, one in enumerate(spent)]
    return Money(tuple(sorted(offers, key=lambda one: -one.rate)), spent, person)


def _gain_by_people(case: Case) -> float:
    """Return the right decisions that a person's answer adds: its own triple's, and others' by what it teaches."""
    p = case.decisions.probability
    assert p is not None
    sure = np.sort(np.maximum(p, 1 - p)[_unasked(case, -1)])[:BATCH]
    return float((1 - sure).mean() if len(sure) else 0.0) + weigh_next_answers(case.posterior).gain / BATCH


def _gain(case: Case, judge: int) -> float:
    """Return the right decisions that an answer of a judge adds, on the mean of what it would be asked next.

    Of a judge that is right with probability q, an answer makes a decision that is right with probability m right with
    probability max(m, q).
    """
    if case.heeded is None or judge >= len(case.heeded.weights.judges):
        return 0.0
    weight, p = case.heeded.weights.judges[judge], case.decisions.probability
    assert p is not None
    right = float(moderate(np.array([abs(weight.own)]), np.array([weight.spread**2]))[0])
    sure = np.sort(np.maximum(p, 1 - p)[_unasked(case, judge)])[:NEXT]
    return float(np.maximum(right - sure, 0).mean()) if len(sure) else 0.0


def _unasked(case: Case, judge: int) -> BoolArray:
    left = np.ones(len(case.pool), dtype=np.bool_)
    left[case.judged.rows[case.judged.judges == judge]] = False
    left[case.annotations.rows] = False
    return left
