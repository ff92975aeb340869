"""Accept, reject, or ask? And when to stop asking.

An answer sets its own triple right and moves the line of its relation; what both are worth is counted in right
decisions, and set against the price of an answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.errors import OptionError
from actc.pooled.draws import gain_left
from actc.pooled.model import Posterior
from actc.pooled.picks import best_gains, expected_gains
from actc.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.trust.case import PEOPLE, Case
from actc.trust.tuned import TUNED

BATCH = 10
"""Answers that the stopping rule looks ahead."""
_CHUNK = 100_000  # triples whose nearest point is looked for at a time


@dataclass(frozen=True, eq=False)
class ThreeWay:
    """What to do with each triple.

    Parameters
    ----------
    accept, ask : bool array of shape (N,)
        Accepted ones; those better asked about. The others are rejected; no triple is both.
    worth : float array of shape (N,)
        Right decisions that an answer on each triple is expected to bring.
    probability : float array of shape (N,)
        P(true).
    """

    accept: BoolArray
    ask: BoolArray
    worth: FloatArray
    probability: FloatArray

    @property
    def queue(self) -> IntArray:
        """Rows to ask about, the most worthwhile first."""
        rows = np.flatnonzero(self.ask)
        return rows[np.argsort(-self.worth[rows], kind="stable")]


def check_price(price: float) -> None:
    """Refuse a price that no answer can have."""
    if not price > 0:
        raise OptionError(f"A price of {price} is out of range; give a positive number of right decisions.")


def decide_three_ways(case: Case, triples: ScoredTriples | None = None, price: float = TUNED.price) -> ThreeWay:
    """Decide as the case does, except where an answer is worth more than it costs; what people judged is not asked.

    Parameters
    ----------
    case : Case
    triples : ScoredTriples, optional
        Candidates to decide on, those of the case if not given.
    price : float
        What an answer costs, in right decisions: at 0.4, one would rather look at five triples than have two wrong.
    """
    check_price(price)
    posterior = case.posterior
    decided = case.decisions if triples is None else case.decide(triples)
    assert decided.probability is not None
    codes = posterior.pool.relation_codes(decided.triples)
    x = posterior.pool.centred(decided.triples.scores, codes)
    own = np.where(decided.accepted, 1 - decided.probability, decided.probability)
    judged = np.isin(decided.by, PEOPLE)
    worth = np.where(judged, 0.0, own + gain_beyond(posterior, x, codes))
    ask = worth > price
    return ThreeWay(decided.accepted & ~ask, ask, worth, decided.probability)


def gain_beyond(posterior: Posterior, x: FloatArray, codes: IntArray) -> FloatArray:
    """Return what an answer on each triple is expected to bring to the pool's other decisions."""
    wanted, places = np.unique(codes, return_inverse=True)
    ours = wanted < len(posterior.pool.relation_names)
    gains = np.zeros((len(wanted), posterior.pool.points.shape[1]))
    gains[ours] = expected_gains(posterior, wanted[ours])
    result = np.empty(len(x))
    for start in range(0, len(x), _CHUNK):
        part = slice(start, start + _CHUNK)
        nearest = np.abs(posterior.pool.points[codes[part]] - x[part, None]).argmin(axis=1)
        result[part] = gains[places[part], nearest]
    return result


@dataclass(frozen=True)
class Advice:
    """Whether to go on asking.

    Parameters
    ----------
    go_on : bool
    gain : float
        Right decisions in the pool, beyond the triples asked about, that the next ten answers are expected to bring by
        moving the thresholds, reckoned carefully: one answer in each of the ten relations where it brings most.
    price : float
        What ten answers cost, in right decisions.
    """

    go_on: bool
    gain: float
    price: float

    @classmethod
    def of(cls, gain: float, price: float = TUNED.price) -> Advice:
        """Weigh an expected gain against a price per answer."""
        return cls(gain > BATCH * price, gain, BATCH * price)

    def __str__(self) -> str:
        each = self.gain / BATCH
        about = f"about {each:,.0f}" if each >= 1 else f"about {each:.1f}" if each >= 0.1 else "fewer than 0.1"
        decisions = "decision" if about == "about 1" else "decisions"
        verdict = "worth going on" if self.go_on else "hardly worth going on"
        return f"Each further answer is expected to correct {about} {decisions}: {verdict}."


def weigh_next_answers(posterior: Posterior, price: float = TUNED.price) -> Advice:
    """Weigh what the next ten answers bring against their price (per answer, in right decisions)."""
    check_price(price)
    best = best_gains(posterior, BATCH)
    most = gain_left(posterior, draws=100, points=1000) * float(posterior.pool.sizes.sum())
    return Advice.of(min(float(best.sum() * BATCH / max(len(best), 1)), most), price)
