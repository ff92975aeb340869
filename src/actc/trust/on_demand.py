"""Thresholds that keep a promise, from answers that exist: the pooled fit, its doubts, and the demand, put together."""

from __future__ import annotations

import numpy as np

from actc.errors import OptionError
from actc.methods import find_method
from actc.pooled.method import Pooled
from actc.tables.calibration import Promised
from actc.triples import Annotations, ScoredTriples, Thresholds
from actc.trust.promise import Demand, Promise, promise


def pooled_method(name: str) -> Pooled:
    """Find a pooled method, the only kind that knows how sure it is."""
    method = find_method(name)
    if not isinstance(method, Pooled):
        raise OptionError(f"{name} cannot say how sure it is; use a pooled method, such as --method pooled.")
    return method


def find_demand(
    precision: float | None = None,
    recall: float | None = None,
    false_accept: float | None = None,
    false_reject: float = 1.0,
    confidence: float = 0.9,
    each: bool = False,
) -> Demand | None:
    """Return the one demand that is made, None where none is; costs are of one wrong decision."""
    cost = None
    if false_accept is not None:
        if not (false_accept > 0 and false_reject > 0):
            costs = f"Costs of {false_accept:g} and {false_reject:g}"
            raise OptionError(f"{costs} are out of range; give positive numbers.")
        cost = false_accept / false_reject
    asked = {"precision": precision, "recall": recall, "cost": cost}
    made = [(kind, value) for kind, value in asked.items() if value is not None]
    if len(made) > 1:
        raise OptionError(f"Only one of {' and '.join(kind for kind, _ in made)} can be demanded at a time.")
    return Demand(*made[0], confidence, each) if made else None


def thresholds_on_demand(
    pool: ScoredTriples,
    annotations: Annotations,
    demand: Demand,
    method: str = "pooled",
    known: ScoredTriples | None = None,
    target: ScoredTriples | None = None,
) -> tuple[Thresholds, Promise]:
    """Find thresholds that accept as many triples as a demand allows.

    Parameters
    ----------
    target : ScoredTriples, optional
        The set that the promise is about; the pool itself if not given.
    """
    posterior = pooled_method(method).fit(pool, annotations, known)
    kept = promise(posterior, annotations, pool if target is None else target, [demand])[0]
    own = np.ones(len(pool.relation_names), dtype=np.bool_)
    return Thresholds(pool.relation_names, kept.cuts[:-1], float(kept.cuts[-1]), own), kept


def describe_promise(kept: Promise | None) -> Promised | None:
    """Return a promise, if there is one, as thresholds.json has it."""
    if kept is None:
        return None
    demand, chance = kept.demand, None if np.isnan(kept.chance) else kept.chance
    return Promised(demand.kind, demand.target, demand.confidence, demand.each, chance, list(kept.left_out))
