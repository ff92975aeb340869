"""What do answers alone allow to promise of a list, whatever the model believes of it?

Both functions need answers on triples that were drawn at random, from the whole set or from the list itself. The model
only says which triples come first, and counts for a few answers. So where it is wrong, less is accepted; a promise is
not broken more often.
"""

from __future__ import annotations

import numpy as np

from actc.triples import BoolArray, FloatArray, IntArray
from actc.trust.tuned import TUNED


def chance_kept(
    target: float,
    trues: FloatArray,
    judged: IntArray,
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


def lowest_cut(scores: FloatArray, labels: BoolArray, size: float, target: float, confidence: float) -> float:
    """Return one cut for all relations from which on answers alone show the precision; infinite where none does.

    Cuts are tried from the top, from the first on that has enough answers above it to pass, to the first that fails:
    since each is only looked at if all before it passed, looking at many costs no confidence.

    Parameters
    ----------
    scores, labels : arrays of shape (l,)
        Of judged triples, a random draw; scores on any scale.
    size : float
        How many triples the set has that the cut is for.
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    whole = np.append(ranked[1:] < ranked[:-1], True) if len(ranked) else np.zeros(0, dtype=np.bool_)
    judged = np.arange(1, len(order) + 1)[whole]  # equal scores are accepted together or not at all
    sizes = judged / max(len(order), 1) * size
    could = np.flatnonzero(chance_kept(target, judged, judged, sizes) >= confidence)
    if not could.size:
        return np.inf
    passes = chance_kept(target, np.cumsum(labels[order])[whole], judged, sizes)[could[0] :] >= confidence
    length = int(np.argmin(np.append(passes, False)))
    return float(ranked[whole][could[0] + length - 1]) if length else np.inf
