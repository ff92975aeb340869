"""Several people's answers to one triple: the label that they become, and how far people, and judges, agree.

The label is that of the majority; the owner's answer overrules all others. A triple whose answers balance exactly has
no label until somebody breaks the tie. Models of how often each person is right agree no more with experts
(`benchmarks/real/people.csv`).

Votes are an array of shape (V, 4), oldest first: the triple, the annotator, the label (1 or 0), and 1 where it is the
owner's answer. Only triples that several people judged are evidence of agreement; of 50,000 answers of 200 people that
is a small table with a few counts for each pair of people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import BoolArray, FloatArray, IntArray


def combine(votes: IntArray) -> Annotations:
    """Return one label per triple, by majority, in the order in which triples were first judged."""
    if not len(votes):
        return Annotations()
    triples, first, place = np.unique(votes[:, 0], return_index=True, return_inverse=True)
    sides, final = 2 * votes[:, 2] - 1, votes[:, 3] == 1
    balance = np.bincount(place, sides, minlength=len(triples))
    balance[place[final]] = np.inf * sides[final]
    order = np.argsort(first)
    order = order[balance[order] != 0]
    return Annotations(triples[order], balance[order] > 0)


def shared_votes(votes: IntArray) -> IntArray:
    """Return the votes on triples that have several."""
    place, counts = np.unique(votes[:, 0], return_inverse=True, return_counts=True)[1:]
    return votes[counts[place] > 1]


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


def krippendorff_alpha(counts: FloatArray, true: FloatArray) -> float:
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
    """Compare every annotator with every other; the owner's answers are no ratings."""
    votes = shared_votes(votes[votes[:, 3] == 0])
    if not len(votes):
        return Agreement(0, float("nan"), {})
    place = np.unique(votes[:, 0], return_inverse=True)[1]
    counts = np.bincount(place).astype(np.float64)
    true = np.bincount(place, votes[:, 2].astype(np.float64)).astype(np.float64)
    return Agreement(len(counts), krippendorff_alpha(counts, true), _compare_pairs(votes, place))


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


def measure_reliability(rows: IntArray, labels: BoolArray, people: Annotations) -> Reliability:
    """Compare somebody's labels of some rows with the labels that people gave to the same rows."""
    from scipy.special import betaincinv  # not scipy.stats, which takes a second to load

    _, mine, theirs = np.intersect1d(rows, people.rows, assume_unique=True, return_indices=True)
    if not len(mine):
        return Reliability()
    right = int((labels[mine] == people.labels[theirs]).sum())
    low, high = betaincinv(right + 1, len(mine) - right + 1, [0.05, 0.95])
    return Reliability(len(mine), right / len(mine), float(low), float(high))
