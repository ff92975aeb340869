"""Pools with a truth that is known: logistic, or capped so that no score is ever sure."""

from __future__ import annotations

import numpy as np

from actc import ScoredTriples
from actc.data.answers import Annotations, Answers
from actc.data.triples import encode_columns
from actc.methods.named import METHODS


def make_truth(size: int = 3000, relations: int = 8, cap: float = 1.0, seed: int = 0):
    """Return a pool, its labels and the probability that they were drawn with: ``cap`` times a logistic curve."""
    random = np.random.default_rng(seed)
    relation = random.integers(relations, size=size)
    scores = random.normal(size=size)
    middle = np.linspace(-1, 1, relations)[relation]
    truth = cap / (1 + np.exp(-2.5 * (scores - middle)))
    names = [f"r{code}" for code in relation]
    pool = ScoredTriples.from_columns(
        [f"h{i % 900}" for i in range(size)], names, [f"t{i}" for i in range(size)], scores
    )
    return pool, random.random(size) < truth, truth


def fit_on_random(pool, labels, count: int, seed: int = 0):
    """Return the posterior of a pooled fit on a random draw, and the draw."""
    rows = np.random.default_rng(seed).permutation(len(pool))[:count]
    annotations = Annotations(
        rows, labels[rows], selection="random", sampling_frame="pool", inclusion_probability=1 / len(pool)
    )
    return METHODS["pooled-rndm"].fit(pool, annotations).posterior, annotations


def answers_by(heads, relations, tails, labels, who, probability):
    """Return answers that decide, each with who decided and P(true), as thresholds.json has them."""
    return Answers(encode_columns(heads, relations, tails), np.array(labels), np.array(probability, float), who=who)
