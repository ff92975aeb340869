"""How far annotators agree with each other, with themselves, and a program with people.

Ratings are a table with one row per triple and one column per annotator: 1 true, 0 false, NaN not rated.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from actc.session.combine import Votes
from actc.triples import Annotations, FloatArray


def as_ratings(votes: Votes) -> tuple[FloatArray, list[int]]:
    """Return the ratings, shape (triples, annotators), and the annotators' ids; the owner's decisions left out."""
    ids = np.unique(votes.annotators[~votes.final])
    triples = np.unique(votes.triples)
    ratings = np.full((len(triples), len(ids)), np.nan)
    kept = ~votes.final
    rows = np.searchsorted(triples, votes.triples[kept])
    ratings[rows, np.searchsorted(ids, votes.annotators[kept])] = votes.labels[kept]
    return ratings, [int(i) for i in ids]


def cohen_kappa(first: FloatArray, second: FloatArray) -> float:
    """Return Cohen's kappa of two annotators on what both rated; NaN where it is not defined."""
    both = ~np.isnan(first) & ~np.isnan(second)
    if not both.any():
        return float("nan")
    a, b = first[both], second[both]
    observed = float((a == b).mean())
    expected = float(a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean()))
    return float("nan") if expected == 1 else (observed - expected) / (1 - expected)


def fleiss_kappa(ratings: FloatArray) -> float:
    """Return Fleiss' kappa over triples that at least two annotators rated.

    The number of annotators may differ from triple to triple: each triple's agreement is that of its own pairs.
    """
    counts = (~np.isnan(ratings)).sum(axis=1)
    counts, true = counts[counts > 1], np.nansum(ratings, axis=1)[counts > 1]
    if not len(counts):
        return float("nan")
    false = counts - true
    observed = float(((true * (true - 1) + false * (false - 1)) / (counts * (counts - 1))).mean())
    share = float(true.sum() / counts.sum())
    expected = share**2 + (1 - share) ** 2
    return float("nan") if expected == 1 else (observed - expected) / (1 - expected)


def krippendorff_alpha(ratings: FloatArray) -> float:
    """Return Krippendorff's alpha for two categories, missing ratings allowed."""
    counts = (~np.isnan(ratings)).sum(axis=1)
    counts, true = counts[counts > 1], np.nansum(ratings, axis=1)[counts > 1]
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
    fleiss, krippendorff : float
        Over all annotators; NaN where not defined.
    pairs : dict
        Cohen's kappa by pair of annotator ids, where both rated something.
    """

    shared: int
    fleiss: float
    krippendorff: float
    pairs: dict[tuple[int, int], float]


def measure_agreement(votes: Votes) -> Agreement:
    """Compare every annotator with every other."""
    ratings, ids = as_ratings(votes)
    rated = ~np.isnan(ratings)
    pairs = {
        (ids[i], ids[j]): cohen_kappa(ratings[:, i], ratings[:, j])
        for i, j in combinations(range(len(ids)), 2)
        if (rated[:, i] & rated[:, j]).any()
    }
    shared = int((rated.sum(axis=1) > 1).sum())
    return Agreement(shared, fleiss_kappa(ratings), krippendorff_alpha(ratings), pairs)


@dataclass(frozen=True)
class Reliability:
    """How often somebody says what people said.

    Parameters
    ----------
    compared : int
        Triples judged by both.
    right, low, high : float
        The share of equal answers with its 90 % interval (Beta posterior, uniform prior); NaN where none is compared.
    says_true_of_true, says_true_of_false : float
        Of the triples that people called true (false), the share that it called true; NaN where there is none.
    """

    compared: int
    right: float
    low: float
    high: float
    says_true_of_true: float
    says_true_of_false: float


def measure_reliability(said: Annotations, people: Annotations) -> Reliability:
    """Compare answers with the labels that people gave to the same triples."""
    from scipy.stats import beta

    _, mine, theirs = np.intersect1d(said.rows, people.rows, assume_unique=True, return_indices=True)
    a, b = said.labels[mine], people.labels[theirs]
    nan = float("nan")
    if not len(a):
        return Reliability(0, nan, nan, nan, nan, nan)
    right = int((a == b).sum())
    low, high = beta.ppf([0.05, 0.95], right + 1, len(a) - right + 1)
    of_true = float(a[b].mean()) if b.any() else nan
    of_false = float(a[~b].mean()) if (~b).any() else nan
    return Reliability(len(a), right / len(a), float(low), float(high), of_true, of_false)
