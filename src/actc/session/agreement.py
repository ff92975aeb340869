"""How far people, and judges, agree.

Votes are an array of shape (V, 3): the triple, the annotator, the label (1 or 0). Only triples that several people
judged are evidence of agreement; of 50,000 answers of 200 people that is a small table with a few counts for each pair
of people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.data.triples import FloatArray, IntArray


def cohen_kappa(both: FloatArray, first: FloatArray, second: FloatArray, together: FloatArray) -> FloatArray:
    """Return Cohen's kappa of pairs of annotators, shape (P,); NaN where it is not defined.

    Parameters
    ----------
    both : float array of shape (P,)
        How many triples both of a pair rated, at least one.
    first, second, together : float array of shape (P,)
        How many of those the first, the second, and both called true.
    """
    observed = (both - first - second + 2 * together) / both
    expected = first / both * (second / both) + (1 - first / both) * (1 - second / both)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected == 1, np.nan, (observed - expected) / (1 - expected))


def krippendorff_alpha(counts: NDArray[Any], true: NDArray[Any]) -> float:
    """Return Krippendorff's alpha for two categories; NaN where it is not defined.

    Parameters
    ----------
    counts, true : float array of shape (T,)
        How many annotators rated each triple, at least two; how many of them called it true.
    """
    total = int(counts.sum())
    if total < 2:
        return float("nan")
    unequal = 2 * float((true * (counts - true) / (counts - 1)).sum()) / total
    expected = float(2 * true.sum() * (total - true.sum()) / (total * (total - 1)))
    return float("nan") if expected == 0 else 1 - unequal / expected


@dataclass(frozen=True)
class Agreement:
    """How far annotators agree.

    Parameters
    ----------
    shared : int
        Triples that at least two annotators rated.
    krippendorff : float
        Over all annotators; NaN where not defined.
    pairs : dict
        Cohen's kappa by pair of annotator ids, where both rated something.
    """

    shared: int
    krippendorff: float
    pairs: dict[tuple[int, int], float]


def measure_agreement(votes: IntArray) -> Agreement:
    """Compare every annotator with every other."""
    place, counts = np.unique(votes[:, 0], return_inverse=True, return_counts=True)[1:]
    shared = counts[place] > 1
    if not shared.any():
        return Agreement(0, float("nan"), {})
    votes, place = votes[shared], np.unique(place[shared], return_inverse=True)[1]
    true = np.bincount(place, votes[:, 2])
    return Agreement(len(true), krippendorff_alpha(np.bincount(place), true), _compare_pairs(votes, place))


def _compare_pairs(votes: IntArray, place: IntArray) -> dict[tuple[int, int], float]:
    """Return Cohen's kappa of each pair of annotators who rated a triple in common."""
    from scipy.sparse import csr_array

    ids, who = np.unique(votes[:, 1], return_inverse=True)
    shape = (int(place.max()) + 1, len(ids))
    rated = csr_array((np.ones(len(place)), (place, who)), shape=shape)
    true = csr_array((votes[:, 2].astype(np.float64), (place, who)), shape=shape)
    both = (rated.T @ rated).tocoo()
    first, second = both.coords
    once = first < second
    first, second = first[once], second[once]
    of_first, together = (true.T @ rated).tocsr(), (true.T @ true).tocsr()
    kappas = cohen_kappa(
        both.data[once], of_first[first, second], of_first[second, first], together[first, second]
    ).tolist()
    return dict(zip(zip(ids[first].tolist(), ids[second].tolist(), strict=True), kappas, strict=True))


@dataclass(frozen=True)
class Reliability:
    """How often somebody agrees with other people.

    Parameters
    ----------
    compared : int
        Triples judged by both.
    right, low, high : float
        The share of equal answers with its 90% interval (Beta posterior, uniform prior); NaN where none is compared.
    """

    compared: int = 0
    right: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")

    @classmethod
    def of(cls, compared: int, equal: int) -> Reliability:
        """Return the share of equal answers among those that are compared."""
        from scipy.special import betaincinv  # not scipy.stats, which takes a second to load

        low, high = betaincinv(equal + 1, compared - equal + 1, [0.05, 0.95])
        return cls(compared, equal / compared, float(low), float(high)) if compared else cls()
