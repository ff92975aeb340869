"""Several people's answers to one triple become one label, by the rule that the settings name.

The owner's decision overrules all other answers. A triple whose answers balance exactly has no label until somebody
breaks the tie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from actc.triples import Annotations, BoolArray, FloatArray, IntArray


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


def combine(votes: Votes, rule: str) -> Annotations:
    """Return one label per triple, in the order in which triples were first judged."""
    if not len(votes):
        return Annotations()
    triples, first, place = np.unique(votes.triples, return_index=True, return_inverse=True)
    leaning = COMBINERS[rule](votes, place, len(triples))
    leaning[place[votes.final]] = np.where(votes.labels[votes.final], np.inf, -np.inf)
    order = np.argsort(first)
    order = order[leaning[order] != 0]
    return Annotations(triples[order], leaning[order] > 0)


def by_majority(votes: Votes, place: IntArray, count: int) -> FloatArray:
    """Return each triple's true answers minus its false ones."""
    return _sum(place, np.where(votes.labels, 1.0, -1.0), count)


def by_reliability(votes: Votes, place: IntArray, count: int) -> FloatArray:
    """Return each triple's log odds of being true, every annotator weighted by an estimated reliability.

    Dawid and Skene's model with one error rate a person, fitted by expectation and maximisation. The prior, eight right
    answers of ten, keeps a person with few shared triples near it.
    """
    people, who = np.unique(votes.annotators, return_inverse=True)
    sign = np.where(votes.labels, 1.0, -1.0)
    reliability = np.full(len(people), 0.8)
    log_odds = np.zeros(count)
    for _ in range(50):
        weight = np.log(reliability) - np.log1p(-reliability)
        log_odds = _sum(place, sign * weight[who], count)
        true = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
        right = np.where(votes.labels, true[place], 1 - true[place])
        reliability = (8 + np.bincount(who, right)) / (10 + np.bincount(who))
    # Equal weights that cancel leave rounding dust, which must not decide.
    return np.where(np.abs(log_odds) < 1e-9, 0.0, log_odds)


def by_dawid_skene(votes: Votes, place: IntArray, count: int) -> FloatArray:
    """Return each triple's log odds of being true, every annotator with two error rates: on true and on false ones.

    Dawid and Skene's model of two classes, fitted by expectation and maximisation, with the prior of eight right
    answers of ten on either side. Who calls nearly everything true is worth little when they say true, and much when
    they say false. A triple that one person judged has that person's answer: there is nothing to weigh it against.
    """
    who = np.unique(votes.annotators, return_inverse=True)[1]
    true = (1 + _sum(place, votes.labels.astype(float), count)) / (2 + np.bincount(place, minlength=count))
    log_odds = np.zeros(count)
    for _ in range(100):
        found = _said(votes.labels, who, true[place])  # how often each says "true" of true ones, and of false ones
        share = (1 + true.sum()) / (2 + count)
        weight = np.where(votes.labels[:, None], found, 1 - found)
        log_odds = np.log(share / (1 - share)) + _sum(place, np.log(weight[:, 0] / weight[:, 1]), count)
        true = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
    alone = np.bincount(place, minlength=count) == 1
    log_odds = np.where(alone, by_majority(votes, place, count), log_odds)
    return np.where(np.abs(log_odds) < 1e-9, 0.0, log_odds)


def _said(labels: BoolArray, who: IntArray, true: FloatArray) -> FloatArray:
    """Return how often whoever gave each answer says "true" of true triples, and of false ones, shape (V, 2)."""
    on_true = (8 + np.bincount(who, true * labels)) / (10 + np.bincount(who, true))
    on_false = (2 + np.bincount(who, (1 - true) * labels)) / (10 + np.bincount(who, 1 - true))
    return np.stack([on_true, on_false], axis=1)[who]


def compare_rules(votes: Votes, rule: str) -> dict[str, tuple[int, int]]:
    """Return, of each rule, how many triples it labels, and how many otherwise than the given one (or not at all)."""
    labels = {name: combine(votes, name) for name in COMBINERS}
    return {name: (len(found), len(find_changes(labels[rule], found))) for name, found in labels.items()}


def find_changes(before: Annotations, after: Annotations) -> list[tuple[int, bool | None, bool | None]]:
    """Return the triples whose label is another one after, with both labels; None where there is none."""
    rows = np.union1d(before.rows, after.rows)
    both = np.full((len(rows), 2), -1)
    for column, found in enumerate((before, after)):
        both[np.searchsorted(rows, found.rows), column] = found.labels
    changed = both[:, 0] != both[:, 1]
    words = {-1: None, 0: False, 1: True}
    pairs = zip(rows[changed].tolist(), both[changed].tolist(), strict=True)
    return [(row, words[old], words[new]) for row, (old, new) in pairs]


def _sum(place: IntArray, values: FloatArray, count: int) -> FloatArray:
    return np.bincount(place, values, minlength=count).astype(np.float64)


COMBINERS: dict[str, Callable[[Votes, IntArray, int], FloatArray]] = {
    "majority": by_majority,
    "reliability": by_reliability,
    "dawid-skene": by_dawid_skene,
}
