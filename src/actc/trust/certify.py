"""What do answers alone allow to promise of a list, whatever the model believes of it?

Both functions need answers whose chance to be asked is known, each weighted by its inverse. The model
only says which triples come first, and counts for a few answers. So where it is wrong, less is accepted; a promise is
not broken more often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.triples import FloatArray
from actc.trust.tuned import TUNED


@dataclass(frozen=True, eq=False)
class Weighed:
    """What the first 0, 1, 2 ... of some weighted values are worth together, each of shape (l + 1,).

    Parameters
    ----------
    counts : float array
        How many equally weighted values they are worth (Kish).
    means : float array
        Their weighted mean; 0 of none.
    whole : float array
        Their weights added up.
    """

    counts: FloatArray
    means: FloatArray
    whole: FloatArray

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray) -> Weighed:
        """Add up values in their order."""
        whole, squares, total = (np.append(0.0, np.cumsum(one)) for one in (weights, weights**2, weights * values))
        return cls(whole**2 / np.maximum(squares, 1e-300), total / np.maximum(whole, 1e-300), whole)


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


def lowest_cut(
    scores: FloatArray, labels: FloatArray, weights: FloatArray, size: float, target: float, confidence: float
) -> float:
    """Return one cut for all relations from which on answers alone show the precision; infinite where none does.

    Cuts are tried from the top, from the first on that has enough answers above it to pass, to the first that fails:
    since each is only looked at if all before it passed, looking at many costs no confidence.

    Parameters
    ----------
    scores, labels, weights : float arrays of shape (l,)
        Of judged triples: scores on any scale, 1 for true, the inverse of the chance to be asked.
    size : float
        How many triples the set has that the cut is for.
    """
    order = np.argsort(-scores, kind="stable")
    ranked, answers = scores[order], Weighed.of(labels[order], weights[order])
    last = np.append(ranked[1:] < ranked[:-1], True)[: len(ranked)]  # equal scores are accepted together or not at all
    counts, whole, trues = (one[1:][last] for one in (answers.counts, answers.whole, answers.counts * answers.means))
    sizes = whole / max(answers.whole[-1], 1e-300) * size
    # What was seldom asked may be what is false, and few answers have not seen it: so the false answer that the bound
    # makes up weighs as much as the heaviest of all.
    judged = counts + np.maximum(weights.max(initial=0.0) * counts / np.maximum(whole, 1e-300) - 1, 0)
    could = np.flatnonzero(chance_kept(target, counts, judged, sizes) >= confidence)
    if not could.size:
        return np.inf
    passes = chance_kept(target, trues, judged, sizes)[could[0] :] >= confidence
    length = int(np.argmin(np.append(passes, False)))
    return float(ranked[last][could[0] + length - 1]) if length else np.inf
