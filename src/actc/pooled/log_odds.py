"""Pools whose scores are log-odds already, such as those that the graph's evidence gives.

There is no need to ask what a score means: 0 is an even chance, and one more is one more. So scores are not made into
normal quantiles, relations are not told apart by where their scores lie, and before any answer the score is believed.
Answers move intercept and slope, for all relations and for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from actc.pooled.features import POINTS, NormalScores, PreparedPool, prepare_pool
from actc.pooled.humps import quantile_points
from actc.pooled.model import Posterior, Prior
from actc.pooled.solve import fit_alone
from actc.triples import Annotations, FloatArray, ScoredTriples

# All pool labels of six proving cells ask for intercepts from -1.4 to .4 and slopes from .9 to 1.6 (docs/evidence.md);
# half and twice these widths decide nearly alike (benchmarks/evidence/choice.csv, line and tau).
PRIOR = Prior({"one": (0.0, 0.5), "diff": (0.0, 0.25), "slope": (1.0, 0.3)}, tau=(0.6, 0.25))
FREEDOM = 2.0  # of Student's t, which is the prior of the intercept: labels that contradict it widen it


@dataclass(frozen=True, eq=False)
class PlainScores(NormalScores):
    """Scores as they are, in the place of their normal quantiles."""

    def transform(self, scores: FloatArray) -> FloatArray:
        """Return the scores."""
        return scores

    def to_cuts(self, z: FloatArray) -> FloatArray:
        """Return the cuts."""
        return z


@lru_cache(maxsize=4)  # as prepare_pool
def prepare_log_odds(pool: ScoredTriples) -> PreparedPool:
    """Prepare a pool whose scores are log-odds: no transform, and nothing read from where a relation's scores lie."""
    prepared = prepare_pool(pool)
    normal, nothing = prepared.normal, np.zeros(len(prepared.counts))
    return replace(
        prepared,
        normal=PlainScores(normal.scores, normal.before, normal.z),
        x=pool.scores,
        features={"c": nothing, "skew": nothing},
        points=quantile_points(pool.scores[prepared.members], prepared.starts[:-1], prepared.counts, POINTS),
        agreement=0.0,
    )


def fit_log_odds(pool: PreparedPool, annotations: Annotations) -> Posterior:
    """Return the posterior of all lines, given the answers to a pool of log-odds."""
    return fit_alone(pool, annotations, PRIOR, FREEDOM)
