"""Decide which predicted facts may enter a knowledge graph, with the least human work.

The method in ten lines: a model gives every candidate triple a score; bigger is more plausible. ::

    pool = ScoredTriples.from_columns(heads, relations, tails, scores)
    calibrator = Calibrator("actc-lr-rndm", random_state=0)
    rows = calibrator.select(50, pool)                      # 1 select: these, please
    labels = [a_person_says(*pool.triple(row)) for row in rows]
    calibrator.fit(pool, Annotations(rows, labels))         # 2 estimate the others, 3 choose thresholds
    accepted = calibrator.predict(candidates)               # true where score >= its relation's threshold
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

from actc.methods import METHODS
from actc.triples import Annotations, ScoredTriples, Thresholds

if TYPE_CHECKING:
    from actc.calibrator import Calibrator
    from actc.experiment.runs import run_experiment

__all__ = ["METHODS", "Annotations", "Calibrator", "ScoredTriples", "Thresholds", "__version__", "run_experiment"]

# Imported on first use: scikit-learn alone takes longer to load than all of actc.
_LAZY = {"Calibrator": "actc.calibrator", "run_experiment": "actc.experiment.runs"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'actc' has no attribute {name!r}")
