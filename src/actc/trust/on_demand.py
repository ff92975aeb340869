"""Thresholds that keep a promise, from answers that exist: the pooled fit, its doubts, and the demand, put together."""

from __future__ import annotations

import numpy as np

from actc.errors import OptionError
from actc.methods import Fit
from actc.pooled.model import Posterior
from actc.tables.calibration import Promised
from actc.triples import Annotations, ScoredTriples, Thresholds
from actc.trust.promise import Demand, Promise, promise


def draws_of(fit: Fit, method: str) -> Posterior:
    """Return what a fit can be drawn from; refuse, naming the method, where it does not know how sure it is."""
    if fit.draws is None:
        raise OptionError(f"{method} cannot say how sure it is; use a pooled method, such as --method pooled.")
    return fit.draws


def thresholds_on_demand(
    posterior: Posterior,
    pool: ScoredTriples,
    annotations: Annotations,
    demand: Demand,
    target: ScoredTriples | None = None,
) -> tuple[Thresholds, Promise]:
    """Find thresholds that accept as many triples as a demand allows.

    Parameters
    ----------
    posterior : Posterior
        The draws of the fit on ``pool`` and ``annotations``, see :func:`draws_of`.
    target : ScoredTriples, optional
        The set that the promise is about; the pool itself if not given.
    """
    kept = promise(posterior, annotations, pool if target is None else target, [demand])[0]
    own = np.ones(len(pool.relation_names), dtype=np.bool_)
    return Thresholds(pool.relation_names, kept.cuts[:-1], float(kept.cuts[-1]), own), kept


def describe_promise(kept: Promise | None) -> Promised | None:
    """Return a promise, if there is one, as thresholds.json has it."""
    if kept is None:
        return None
    chance = None if np.isnan(kept.chance) else kept.chance
    return Promised(kept.demand.target, kept.demand.confidence, chance, kept.left_out)
