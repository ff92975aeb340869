"""Pools with a truth that is known: logistic, or capped so that no score is ever sure; a graph with planted errors."""

from __future__ import annotations

import numpy as np

from actc import ScoredTriples
from actc.data.answers import Annotations, Answers
from actc.data.triples import encode_columns
from actc.evidence.plant import Planted, replace_seen
from actc.graph.graph import Graph
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


def make_towns(towns=30, people=12, wrong=40, seed=0):
    """Make a graph of people, born and living in one of its towns, with some wrong facts, and say which are wrong."""
    facts = []
    for town in range(towns):
        facts.append((f"town{town}", "country", f"land{town % 5}"))
        for person in range(people):
            name = f"p{town}-{person}"
            facts += [
                (name, "born", f"town{town}"),
                (name, "lives", f"town{town}"),
                (name, "speaks", f"lang{town % 5}"),
            ]
    graph = Graph.from_columns(*zip(*facts, strict=True))
    planted = Planted.of(graph, wrong, np.random.default_rng(seed), (replace_seen,), replaced=0.0)
    order = np.random.default_rng(seed).permutation(len(planted.graph))
    return planted.graph.take(order), (planted.kinds > 0)[order]
