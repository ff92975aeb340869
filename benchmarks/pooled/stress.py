"""Pools that a method tuned on CoDEx may fall over on, made from any cell by breaking one assumption at a time.

Each function takes the two labelled splits and the known triples of a cell and a generator, and returns them changed;
the splits stay exchangeable, so labels of the first remain worth having for the second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from actc.triples import BoolArray, FloatArray, ScoredTriples, encode_names


@dataclass(frozen=True, eq=False)
class Pair:
    """A pool with labels, a target set with labels, and the scores of known triples."""

    pool: ScoredTriples
    pool_labels: BoolArray
    target: ScoredTriples
    target_labels: BoolArray
    known: ScoredTriples


def _names(triples: ScoredTriples) -> np.ndarray:
    return np.array(triples.relation_names, dtype=object)[triples.relations]


def _rename(triples: ScoredTriples, names: np.ndarray) -> ScoredTriples:
    vocabulary, codes = encode_names(list(names))
    return replace(triples, relations=codes, relation_names=vocabulary)


def _keep(pair: Pair, pool_rows: np.ndarray, target_rows: np.ndarray) -> Pair:
    return replace(
        pair,
        pool=pair.pool.take(pool_rows),
        pool_labels=pair.pool_labels[pool_rows],
        target=pair.target.take(target_rows),
        target_labels=pair.target_labels[target_rows],
    )


def _balanced_rows(triples: ScoredTriples, labels: BoolArray, random: np.random.Generator) -> np.ndarray:
    """Return rows with as many true as false ones in each relation."""
    group = triples.relations * 2 + labels
    order = np.lexsort((random.random(len(labels)), group))
    rank = np.empty(len(labels), dtype=np.int64)
    counts = np.bincount(group, minlength=2 * len(triples.relation_names))
    rank[order] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.flatnonzero(rank < counts.reshape(-1, 2).min(axis=1)[triples.relations])


def balance(pair: Pair, random: np.random.Generator) -> Pair:
    """Cut each relation to half true and half false: its scores' shape no longer tells its share."""
    return _keep(
        pair,
        _balanced_rows(pair.pool, pair.pool_labels, random),
        _balanced_rows(pair.target, pair.target_labels, random),
    )


def shuffle_relations(pair: Pair, random: np.random.Generator) -> Pair:
    """Deal the relations out anew: they mean nothing."""
    names = np.concatenate([_names(pair.pool), _names(pair.target)])
    names = names[random.permutation(len(names))]
    known = _names(pair.known)[random.permutation(len(pair.known))]
    return replace(
        pair,
        pool=_rename(pair.pool, names[: len(pair.pool)]),
        target=_rename(pair.target, names[len(pair.pool) :]),
        known=_rename(pair.known, known),
    )


def one_relation(pair: Pair, random: np.random.Generator) -> Pair:
    """Call every relation the same."""
    tables = (pair.pool, pair.target, pair.known)
    pool, target, known = (_rename(table, np.full(len(table), "all", dtype=object)) for table in tables)
    return replace(pair, pool=pool, target=target, known=known)


def thousand_relations(pair: Pair, random: np.random.Generator) -> Pair:
    """Cut each relation at random into pieces, about a thousand in all, in proportion to its size."""
    names, counts = np.unique(_names(pair.pool), return_counts=True)
    pieces = dict(zip(names, np.maximum(1, np.round(1000 * counts / counts.sum())).astype(int), strict=True))

    def cut(table: ScoredTriples) -> ScoredTriples:
        whole = _names(table)
        piece = (random.random(len(table)) * [pieces.get(name, 1) for name in whole]).astype(int)
        return _rename(table, np.array([f"{name}/{at}" for name, at in zip(whole, piece, strict=True)], dtype=object))

    return replace(pair, pool=cut(pair.pool), target=cut(pair.target), known=cut(pair.known))


def half_only_false(pair: Pair, random: np.random.Generator) -> Pair:
    """Take the true triples out of every other relation."""
    names = np.unique(np.concatenate([_names(pair.pool), _names(pair.target)]))
    barren = names[random.random(len(names)) < 0.5]
    return _keep(
        pair,
        np.flatnonzero(~(pair.pool_labels & np.isin(_names(pair.pool), barren))),
        np.flatnonzero(~(pair.target_labels & np.isin(_names(pair.target), barren))),
    )


def round_scores(pair: Pair, random: np.random.Generator) -> Pair:
    """Squash the scores into 0 ... 1 and keep two digits: ties everywhere."""
    middle, spread = pair.pool.scores.mean(), pair.pool.scores.std()

    def squash(table: ScoredTriples) -> ScoredTriples:
        return table.with_scores(np.round(1 / (1 + np.exp(-(table.scores - middle) / spread)), 2))

    return replace(pair, pool=squash(pair.pool), target=squash(pair.target), known=squash(pair.known))


def shuffle_known(pair: Pair, random: np.random.Generator) -> Pair:
    """Deal the known triples' scores out anew: they say nothing about their relation."""
    return replace(pair, known=pair.known.with_scores(random.permutation(pair.known.scores)))


def _bend_truth(pair: Pair, random: np.random.Generator, curve: Callable[[FloatArray], FloatArray]) -> Pair:
    """Draw all labels anew: true with probability curve(rank in the relation - the relation's own turning point)."""
    names = np.unique(np.concatenate([_names(pair.pool), _names(pair.target)]))
    turn = dict(zip(names, random.uniform(0.25, 0.75, len(names)), strict=True))
    both = np.concatenate([_names(pair.pool), _names(pair.target)])
    scores = np.concatenate([pair.pool.scores, pair.target.scores])
    rank = np.empty(len(both))
    for name in names:
        mine = both == name
        rank[mine] = (rankdata(scores[mine]) - 0.5) / mine.sum()
    truth = random.random(len(both)) < curve(rank - np.array([turn[name] for name in both]))
    return replace(pair, pool_labels=truth[: len(pair.pool)], target_labels=truth[len(pair.pool) :])


def bend_to_stairs(pair: Pair, random: np.random.Generator) -> Pair:
    """Redraw the truth as stairs: nearly none, then four in ten, then nearly all."""
    return _bend_truth(pair, random, lambda d: np.where(d > 0, 0.92, np.where(d > -0.25, 0.4, 0.04)))


def bend_to_noise(pair: Pair, random: np.random.Generator) -> Pair:
    """Redraw the truth as one sharp step with the same share of exceptions everywhere."""
    return _bend_truth(pair, random, lambda d: np.where(d > 0, 0.85, 0.15))


def bend_lopsided(pair: Pair, random: np.random.Generator) -> Pair:
    """Redraw the truth so that high scores are always true and low ones false by a small margin only."""
    return _bend_truth(pair, random, lambda d: np.where(d > 0, 0.97, 0.42))


def bend_scores(pair: Pair, random: np.random.Generator) -> Pair:
    """Cube the scores around a point of each relation's own: the truth stays, its curve is no longer logistic."""
    names = np.unique(np.concatenate([_names(table) for table in (pair.pool, pair.target, pair.known)]))
    spread = pair.pool.scores.std()
    middle = {name: np.quantile(pair.pool.scores, random.uniform(0.2, 0.8)) for name in names}

    def cube(table: ScoredTriples) -> ScoredTriples:
        off = (table.scores - np.array([middle[name] for name in _names(table)])) / spread
        return table.with_scores(off**3)

    return replace(pair, pool=cube(pair.pool), target=cube(pair.target), known=cube(pair.known))


STRESSES: dict[str, Callable[[Pair, np.random.Generator], Pair]] = {
    "balanced": balance,
    "shuffled-relations": shuffle_relations,
    "one-relation": one_relation,
    "thousand-relations": thousand_relations,
    "half-only-false": half_only_false,
    "rounded": round_scores,
    "shuffled-known": shuffle_known,
    "bent-stairs": bend_to_stairs,
    "bent-noise": bend_to_noise,
    "bent-lopsided": bend_lopsided,
    "bent-scores": bend_scores,
}
