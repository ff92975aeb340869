"""How much does it count that a candidate contradicts a fact? The candidates themselves tell, without any answer.

Of the true candidates of a relation so many should stand beside a fact as facts do in the graph: twice the share of
exceptions, for each has a companion. Where more do, the rest of them is wrong; where no more do, nothing is held
against them. The factor is set so that what is expected to be true beside facts comes to that number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from actc.data.constraints import Constraint, Constraints, lower_share
from actc.data.triples import FloatArray, Triples
from actc.decide.classes import relation_mask
from actc.decide.places import Places
from actc.decide.together import SURE

COMPANIONS = {"functional": 2, "inverse-functional": 2, "asymmetric": 2, "irreflexive": 1, "domain": 1, "range": 1}
"""Facts of an exception in the graph; kinds that are not here keep their factor."""
DIGITS, STEPS = 6, 60


def weigh_against_facts(places: Places, triples: Triples, p: FloatArray) -> Constraints:
    """Return the constraints of places, the soft ones with their factor against facts.

    Parameters
    ----------
    places : Places
        Of the triples.
    triples : Triples
        The candidates.
    p : float array of shape (N,)
        P(true) of each by itself.
    """
    beside = places.facts[places.places] == 1

    def weigh(rule: int, one: Constraint) -> Constraint:
        mine = beside & (places.rules == rule)
        if one.use == "hard" or one.kind not in COMPANIONS or np.isfinite(one.against) or not mine.any():
            return one
        true = float(p[relation_mask(triples, [one.relation])].sum())
        expected = COMPANIONS[one.kind] * (1 - lower_share(one.cases, one.share)) * true
        factor = _find_factor(p[places.rows[mine]], expected)
        return replace(one, against=float(f"{factor:.{DIGITS}g}"))

    each = tuple(weigh(rule, one) for rule, one in enumerate(places.constraints.each))
    return Constraints(each, places.constraints.notes)


def _find_factor(p: FloatArray, expected: float) -> float:
    """Return the factor of the odds, at most 1, that makes so many be expected true."""
    kept = np.clip(p, SURE, 1 - SURE)
    odds, low, high = kept / (1 - kept), -40.0, 0.0
    if float(kept.sum()) <= expected:
        return 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        lowered = np.exp(middle) * odds
        low, high = (low, middle) if float((lowered / (1 + lowered)).sum()) > expected else (middle, high)
    return float(np.exp(high))
