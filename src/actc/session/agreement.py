"""Several people's answers to one triple: the label that they become, and how far people, and judges, agree.

The label is that of the majority; the owner's decision overrules all other answers. A triple whose answers balance
exactly has no label until somebody breaks the tie. Models of how often each person is right agree no more with experts
(`benchmarks/real/people.csv`).

Only triples that several people judged say anything about agreement; with 200 people and 50,000 answers that is a small
table of a few counts for each pair of people, however many triples there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Votes:
    """Standing answers, true or false, oldest first.

    Parameters
    ----------
    triples, annotators : int array of shape (V,)
        Who judged which row of the pool; no pair twice.
    labels : bool array of shape (V,)
        What they said.
    final : bool array of shape (V,)
        True for the owner's decision, which overrules all other answers.
    """

    triples: IntArray
    annotators: IntArray
    labels: BoolArray
    final: BoolArray

    def __len__(self) -> int:
        return len(self.triples)

    def shared(self) -> Votes:
        """Return the answers to triples that have several."""
        place, counts = np.unique(self.triples, return_inverse=True, return_counts=True)[1:]
        return self.take(counts[place] > 1)

    def take(self, which: BoolArray) -> Votes:
        """Return some of them."""
        return Votes(self.triples[which], self.annotators[which], self.labels[which], self.final[which])


def combine(votes: Votes) -> Annotations:
    """Return one label per triple, by majority, in the order in which triples were first judged."""
    if not len(votes):
        return Annotations()
    triples, first, place = np.unique(votes.triples, return_index=True, return_inverse=True)
    leaning = np.bincount(place, np.where(votes.labels, 1.0, -1.0), minlength=len(triples))
    leaning[place[votes.final]] = np.where(votes.labels[votes.final], np.inf, -np.inf)
    order = np.argsort(first)
    order = order[leaning[order] != 0]
    return Annotations(triples[order], leaning[order] > 0)


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


def fleiss_kappa(counts: FloatArray, true: FloatArray) -> float:
    """Return Fleiss' kappa over triples that at least two annotators rated; NaN where it is not defined.

    The number of annotators may differ from triple to triple: each triple's agreement is that of its own pairs.

    Parameters
    ----------
    counts, true : float array of shape (T,)
        How many rated each triple, at least two; how many of them called it true.
    """
    if not len(counts):
        return float("nan")
    false = counts - true
    observed = float(((true * (true - 1) + false * (false - 1)) / (counts * (counts - 1))).mean())
    share = float(true.sum() / counts.sum())
    expected = share**2 + (1 - share) ** 2
    return float("nan") if expected == 1 else (observed - expected) / (1 - expected)


def krippendorff_alpha(counts: FloatArray, true: FloatArray) -> float:
    """Return Krippendorff's alpha for two categories, of the same counts; NaN where it is not defined."""
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
    """Compare every annotator with every other; the owner's decisions are no ratings."""
    votes = votes.take(~votes.final).shared()
    place = np.unique(votes.triples, return_inverse=True)[1]
    counts = np.bincount(place).astype(np.float64)
    true = np.bincount(place, votes.labels.astype(np.float64), minlength=len(counts)).astype(np.float64)
    pairs = _compare_pairs(votes, place) if len(votes) else {}
    return Agreement(len(counts), fleiss_kappa(counts, true), krippendorff_alpha(counts, true), pairs)


def _compare_pairs(votes: Votes, place: IntArray) -> dict[tuple[int, int], float]:
    """Return Cohen's kappa of each pair of annotators who rated a triple in common."""
    from scipy.sparse import csr_array

    ids, who = np.unique(votes.annotators, return_inverse=True)
    shape = (int(place.max()) + 1, len(ids))
    rated = csr_array((np.ones(len(place)), (place, who)), shape=shape)
    true = csr_array((votes.labels.astype(np.float64), (place, who)), shape=shape)
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
    """How often somebody says what people said.

    Parameters
    ----------
    compared : int
        Triples judged by both.
    right, low, high : float
        The share of equal answers with its 90 % interval (Beta posterior, uniform prior); NaN where none is compared.
    """

    compared: int
    right: float
    low: float
    high: float


def measure_reliability(said: Annotations, people: Annotations) -> Reliability:
    """Compare answers with the labels that people gave to the same triples."""
    from scipy.special import betaincinv  # not scipy.stats, which takes a second to load

    _, mine, theirs = np.intersect1d(said.rows, people.rows, assume_unique=True, return_indices=True)
    a, b = said.labels[mine], people.labels[theirs]
    if not len(a):
        return Reliability(0, np.nan, np.nan, np.nan)
    right = int((a == b).sum())
    low, high = betaincinv(right + 1, len(a) - right + 1, [0.05, 0.95])
    return Reliability(len(a), right / len(a), float(low), float(high))
