"""Pools whose scores are log-odds, such as those that the graph's evidence gives, or probabilities.

There is no need to ask what a score means: log-odds of 0 are an even chance, and one more is one more. So scores are
not made into normal quantiles, relations do not differ by where their scores lie, and before any answer the score
is believed.
Answers move intercept and slope, for all relations and for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from actc.data.numeric import logit, sigmoid
from actc.data.triples import Annotations, FloatArray, ScoredTriples
from actc.methods.pooled.features import POINTS, NormalScores, PreparedPool, prepare_pool
from actc.methods.pooled.humps import quantile_points
from actc.methods.pooled.model import Posterior, Prior
from actc.methods.pooled.solve import fit_alone

# All pool labels of six proving cells ask for intercepts from -1.4 to .4 and slopes from .9 to 1.6 (docs/evidence.md);
# half and twice these widths decide nearly alike (benchmarks/evidence/choice.csv, line and tau).
PRIOR = Prior({"one": (0.0, 0.5), "diff": (0.0, 0.25), "slope": (1.0, 0.3)}, tau=(0.6, 0.25))
EDGE = 0.005  # the least probability that is believed, and 1 - the greatest: rounded to two digits, 0 or 1
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


@dataclass(frozen=True, eq=False)
class LogOddsOfProbabilities(NormalScores):
    """Log-odds of scores that are probabilities, in the place of their normal quantiles; none is quite sure."""

    def transform(self, scores: FloatArray) -> FloatArray:
        """Return the log-odds."""
        return logit(np.clip(scores, EDGE, 1 - EDGE))

    def to_cuts(self, z: FloatArray) -> FloatArray:
        """Return the cuts as probabilities; beyond the least and the greatest log-odds all or nothing is accepted."""
        least, greatest = logit(np.array([EDGE, 1 - EDGE]))
        return np.where(z <= least, -np.inf, np.where(z > greatest, np.inf, sigmoid(z)))


@lru_cache(maxsize=4)  # as prepare_pool
def prepare_log_odds(pool: ScoredTriples) -> PreparedPool:
    """Prepare a pool whose scores are log-odds or probabilities: nothing is read from where a relation's scores lie."""
    prepared = prepare_pool(pool)
    nothing = np.zeros(len(prepared.counts))
    scale = LogOddsOfProbabilities if pool.probabilities else PlainScores
    normal = scale(prepared.normal.scores, prepared.normal.before, prepared.normal.z)
    x = normal.transform(pool.scores)
    return replace(
        prepared,
        normal=normal,
        x=x,
        features={"c": nothing, "skew": nothing},
        points=quantile_points(x[prepared.members], prepared.starts[:-1], prepared.counts, POINTS),
        agreement=0.0,
    )


def fit_log_odds(pool: PreparedPool, annotations: Annotations) -> Posterior:
    """Return the posterior of all lines, given the answers to a pool of log-odds."""
    return fit_alone(pool, annotations, PRIOR, FREEDOM)
