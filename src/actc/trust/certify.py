"""What do answers alone allow to promise of a list, whatever the model believes of it?

They need answers whose chance to be asked is known, each weighted by its inverse. The model
only says which triples come first, and counts for a few answers. So where it is wrong, less is accepted; a promise is
not broken more often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.triples import BoolArray, FloatArray
from actc.trust.tuned import TUNED


@dataclass(frozen=True, eq=False)
class Weighed:
    """What the first 0, 1, 2 ... of some weighted values are worth together, each of shape (l + 1,).

    Parameters
    ----------
    counts : float array
        How many equally weighted values they are worth (Kish); 0 before the first that was drawn at random.
    means : float array
        Their weighted mean; 0 of none.
    whole : float array
        Their weights added up.
    """

    counts: FloatArray
    means: FloatArray
    whole: FloatArray

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray, drawn: BoolArray) -> Weighed:
        """Add up values in their order."""
        whole, squares, total = (np.append(0.0, np.cumsum(one)) for one in (weights, weights**2, weights * values))
        proves = np.append(False, np.logical_or.accumulate(drawn))
        counts = np.where(proves, whole**2 / np.maximum(squares, 1e-300), 0.0)
        return cls(counts, total / np.maximum(whole, 1e-300), whole)


def chance_kept(
    target: float,
    trues: FloatArray,
    judged: FloatArray,
    sizes: FloatArray,
    expected: FloatArray | None = None,
) -> FloatArray:
    """Return how sure one may be that the precision of each of some sets, shape (K,), is at least ``target``.

    One made-up false answer makes it the exact bound of Clopper and Pearson; a finite set's luck widens it.

    Parameters
    ----------
    trues, judged : arrays of shape (K,)
        Of the answers on a random draw from each set: the true ones, and all.
    sizes : float array of shape (K,)
        How many triples each set has.
    expected : float array of shape (K,), optional
        What a model expects of each set; it counts for some answers.
    """
    from scipy.special import betainc

    counts = 0.0 if expected is None else TUNED.model_counts
    believed = counts * (0.0 if expected is None else expected)
    true, false = trues + believed, judged - trues + counts - believed + 1.0
    mean = true / (true + false)
    worth = 1 / (1 / (true + false + 1) + 1 / np.maximum(sizes, 1)) - 1  # answers, less what luck takes away
    worth = np.maximum(worth, 1e-9)
    kept = 1 - betainc(np.maximum(mean * worth, 1e-9), (1 - mean) * worth, target)
    return np.asarray(np.where(true > 0, kept, 0.0))
