"""Pools that a method tuned on CoDEx may fall over on, made from any cell by breaking one assumption at a time.

Each function takes a cell and a generator and returns the cell changed; its splits stay exchangeable, so labels of
valid remain worth having for test. The cells must have known triples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.stats import rankdata

from actc.experiment.cells import Cell
from actc.triples import BoolArray, FloatArray, ScoredTriples, Vocabulary


def _names(triples: ScoredTriples) -> np.ndarray:
    return np.array(triples.relation_names, dtype=object)[triples.relations]


def _rename(triples: ScoredTriples, names: np.ndarray) -> ScoredTriples:
    vocabulary, codes = Vocabulary.encode(list(names))
    return replace(triples, relations=codes, relation_names=vocabulary)


def _keep(cell: Cell, valid_rows: np.ndarray, test_rows: np.ndarray) -> Cell:
    return replace(
        cell,
        valid=cell.valid.take(valid_rows),
        valid_labels=cell.valid_labels[valid_rows],
        test=cell.test.take(test_rows),
        test_labels=cell.test_labels[test_rows],
    )


def _balanced_rows(triples: ScoredTriples, labels: BoolArray, random: np.random.Generator) -> np.ndarray:
    """Return rows with as many true as false ones in each relation."""
    group = triples.relations * 2 + labels
    order = np.lexsort((random.random(len(labels)), group))
    rank = np.empty(len(labels), dtype=np.int64)
    counts = np.bincount(group, minlength=2 * len(triples.relation_names))
    rank[order] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.flatnonzero(rank < counts.reshape(-1, 2).min(axis=1)[triples.relations])


def balance(cell: Cell, random: np.random.Generator) -> Cell:
    """Cut each relation to half true and half false: its scores' shape no longer tells its share."""
    return _keep(
        cell,
        _balanced_rows(cell.valid, cell.valid_labels, random),
        _balanced_rows(cell.test, cell.test_labels, random),
    )


def shuffle_relations(cell: Cell, random: np.random.Generator) -> Cell:
    """Deal the relations out anew: they mean nothing."""
    names = np.concatenate([_names(cell.valid), _names(cell.test)])
    names = names[random.permutation(len(names))]
    known = _names(cell.known)[random.permutation(len(cell.known))]
    return replace(
        cell,
        valid=_rename(cell.valid, names[: len(cell.valid)]),
        test=_rename(cell.test, names[len(cell.valid) :]),
        known=_rename(cell.known, known),
    )


def one_relation(cell: Cell, random: np.random.Generator) -> Cell:
    """Call every relation the same."""
    tables = (cell.valid, cell.test, cell.known)
    valid, test, known = (_rename(table, np.full(len(table), "all", dtype=object)) for table in tables)
    return replace(cell, valid=valid, test=test, known=known)


def thousand_relations(cell: Cell, random: np.random.Generator) -> Cell:
    """Cut each relation at random into pieces, about a thousand in all, in proportion to its size."""
    names, counts = np.unique(_names(cell.valid), return_counts=True)
    pieces = dict(zip(names, np.maximum(1, np.round(1000 * counts / counts.sum())).astype(int), strict=True))

    def cut(table: ScoredTriples) -> ScoredTriples:
        whole = _names(table)
        piece = (random.random(len(table)) * [pieces.get(name, 1) for name in whole]).astype(int)
        return _rename(table, np.array([f"{name}/{at}" for name, at in zip(whole, piece, strict=True)], dtype=object))

    return replace(cell, valid=cut(cell.valid), test=cut(cell.test), known=cut(cell.known))


def half_only_false(cell: Cell, random: np.random.Generator) -> Cell:
    """Take the true triples out of every other relation."""
    names = np.unique(np.concatenate([_names(cell.valid), _names(cell.test)]))
    barren = names[random.random(len(names)) < 0.5]
    return _keep(
        cell,
        np.flatnonzero(~(cell.valid_labels & np.isin(_names(cell.valid), barren))),
        np.flatnonzero(~(cell.test_labels & np.isin(_names(cell.test), barren))),
    )


def round_scores(cell: Cell, random: np.random.Generator) -> Cell:
    """Squash the scores into 0 ... 1 and keep two digits: ties everywhere."""
    middle, spread = cell.valid.scores.mean(), cell.valid.scores.std()

    def squash(table: ScoredTriples) -> ScoredTriples:
        return table.with_scores(np.round(1 / (1 + np.exp(-(table.scores - middle) / spread)), 2))

    return replace(cell, valid=squash(cell.valid), test=squash(cell.test), known=squash(cell.known))


def shuffle_known(cell: Cell, random: np.random.Generator) -> Cell:
    """Deal the known triples' scores out anew: they say nothing about their relation."""
    return replace(cell, known=cell.known.with_scores(random.permutation(cell.known.scores)))


def _bend_truth(cell: Cell, random: np.random.Generator, curve: Callable[[FloatArray], FloatArray]) -> Cell:
    """Draw all labels anew: true with probability curve(rank in the relation - the relation's own turning point)."""
    names = np.unique(np.concatenate([_names(cell.valid), _names(cell.test)]))
    turn = dict(zip(names, random.uniform(0.25, 0.75, len(names)), strict=True))
    both = np.concatenate([_names(cell.valid), _names(cell.test)])
    scores = np.concatenate([cell.valid.scores, cell.test.scores])
    rank = np.empty(len(both))
    for name in names:
        mine = both == name
        rank[mine] = (rankdata(scores[mine]) - 0.5) / mine.sum()
    truth = random.random(len(both)) < curve(rank - np.array([turn[name] for name in both]))
    return replace(cell, valid_labels=truth[: len(cell.valid)], test_labels=truth[len(cell.valid) :])


def bend_to_stairs(cell: Cell, random: np.random.Generator) -> Cell:
    """Redraw the truth as stairs: nearly none, then four in ten, then nearly all."""
    return _bend_truth(cell, random, lambda d: np.where(d > 0, 0.92, np.where(d > -0.25, 0.4, 0.04)))


def bend_to_noise(cell: Cell, random: np.random.Generator) -> Cell:
    """Redraw the truth as one sharp step with the same share of exceptions everywhere."""
    return _bend_truth(cell, random, lambda d: np.where(d > 0, 0.85, 0.15))


def bend_lopsided(cell: Cell, random: np.random.Generator) -> Cell:
    """Redraw the truth so that high scores are always true and low ones false by a small margin only."""
    return _bend_truth(cell, random, lambda d: np.where(d > 0, 0.97, 0.42))


def bend_scores(cell: Cell, random: np.random.Generator) -> Cell:
    """Cube the scores around a point of each relation's own: the truth stays, its curve is no longer logistic."""
    names = np.unique(np.concatenate([_names(table) for table in (cell.valid, cell.test, cell.known)]))
    spread = cell.valid.scores.std()
    middle = {name: np.quantile(cell.valid.scores, random.uniform(0.2, 0.8)) for name in names}

    def cube(table: ScoredTriples) -> ScoredTriples:
        off = (table.scores - np.array([middle[name] for name in _names(table)])) / spread
        return table.with_scores(off**3)

    return replace(cell, valid=cube(cell.valid), test=cube(cell.test), known=cube(cell.known))


STRESSES: dict[str, Callable[[Cell, np.random.Generator], Cell]] = {
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
