"""Where do a relation's own labels overrule its line?

A broken line is a good guess while labels are few. Where a relation has many and the truth does not follow a logistic
curve, the cut that its labels ask for may be another. Then the line is moved to cross there, so that cuts,
probabilities and picks go on telling one story.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from actc.numeric import cut_between, line_variances, moderate, psi, table_heights
from actc.pooled.features import POINTS
from actc.pooled.model import Posterior, crossings, line_through
from actc.pooled.tuned import TUNED
from actc.triples import Annotations, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class _Slots:
    """Every way to cut between the labels of a relation: below its first label, ..., above its last.

    Relation g with l_g labels has l_g + 1 slots, one after the other.
    """

    order: IntArray  # (l,) labels by relation and score
    accepting: IntArray  # (l,) in that order, the last slot that accepts the label; the next one rejects it
    gain: FloatArray  # (l,) in that order, right labels that accepting it adds
    relations: IntArray  # (K,)
    starts: IntArray  # (K,) first slot of each
    group: IntArray  # (slots,)
    below: FloatArray  # (slots,) place in the relation of the last rejected label, 0 ... POINTS
    above: FloatArray  # (slots,) ... of the first accepted one
    x_below: FloatArray  # (slots,) centred score of the same, -inf where there is none
    x_above: FloatArray
    worth: FloatArray  # (slots,) right labels, less those that accepting none would get right

    @classmethod
    def of(cls, posterior: Posterior, annotations: Annotations) -> _Slots:
        pool = posterior.pool
        order = np.argsort(pool.places[annotations.rows])
        rows = annotations.rows[order]
        code = pool.relations[rows]
        relations, first, counts = np.unique(code, return_index=True, return_counts=True)
        starts = first + np.arange(len(relations))
        group = np.repeat(np.arange(len(relations)), counts + 1)
        label_slot = np.arange(len(rows)) + np.repeat(np.arange(len(relations)), counts)
        position = (pool.places[rows] - pool.starts[code] + 0.5) / pool.counts[code] * POINTS
        gain = np.where(annotations.labels[order], 1.0, -1.0)
        suffix = np.cumsum(_spread(gain, label_slot, len(group), 0.0)[::-1])[::-1]
        past = np.append(suffix, 0.0)[np.append(starts[1:], len(group))]
        return cls(
            order,
            label_slot,
            gain,
            relations,
            starts,
            group,
            below=_spread(position, label_slot + 1, len(group), 0.0),
            above=_spread(position, label_slot, len(group), float(POINTS)),
            x_below=_spread(pool.x[rows], label_slot + 1, len(group), -np.inf),
            x_above=_spread(pool.x[rows], label_slot, len(group), np.inf),
            worth=suffix - past[group],
        )

    def best_so_far(self, worth: FloatArray) -> IntArray:
        """Return, for each slot, the first best one of its relation's slots up to it."""
        # One group after the other, each above all before it: one running maximum serves for all.
        raised = worth + self._step(worth) * self.group
        rises = np.append(True, raised[1:] > np.maximum.accumulate(raised)[:-1])
        return np.maximum.accumulate(np.where(rises, np.arange(len(raised)), 0))

    def best_from_here(self, worth: FloatArray) -> IntArray:
        """Return, for each slot, the first best one of its relation's slots from it on."""
        back = (worth - self._step(worth) * self.group)[::-1]
        rises = np.append(True, back[1:] >= np.maximum.accumulate(back)[:-1])
        return len(back) - 1 - np.maximum.accumulate(np.where(rises, np.arange(len(back)), 0))[::-1]

    @staticmethod
    def _step(worth: FloatArray) -> float:
        return float(4 * (1 + np.abs(worth[np.isfinite(worth)]).max()))


def _spread(values: FloatArray, slots: IntArray, size: int, empty: float) -> FloatArray:
    result = np.full(size, empty)
    result[slots] = values
    return result


def overrule_lines(posterior: Posterior, annotations: Annotations) -> Posterior:
    """Return the posterior with the lines of overruled relations moved to the cut their labels ask for.

    A cut is worth the labels it gets right, and what the line expects of it, counted as ten labels. If the line were
    right, labels between the two cuts would be a walk at random that moves about the root of their number: what is
    won must be more than that.

    Nothing is overruled before there are 200 labels in all, whichever relations they are in: below that the common part
    of the model is still moving, and so is every line. How many a relation itself needs is said by the margin.

    A moved line keeps the covariance of the old one, for picks and for intervals of cuts. A cut that was chosen because
    labels agree with it looks better on these labels than it is; so what decisions are worth is judged by the fitted
    lines too, which are kept beside the moved ones (``trust.expect``).
    """
    if len(annotations) < TUNED.overrule_from:
        return posterior
    race = _Race.of(posterior, annotations)
    slots, best = race.slots, race.best
    won, between = race.worth[best] - race.worth[race.own], race.between
    overruled = won > _needed(between)
    fragile = won - 1 <= _needed(between - 1)
    moved = _move(posterior, slots.relations[overruled], _middle(slots, best[overruled]))
    return replace(moved, fitted=posterior, fragile=slots.relations[overruled & fragile])


def decide_without(fitted: Posterior, annotations: Annotations) -> IntArray:
    """Return what labels that overrule a line would decide of each label's own triple if that label were missing.

    1 accept, -1 reject, 0 where the line would not be overruled; shape (l,).

    Parameters
    ----------
    fitted : Posterior
        The lines before any was moved.
    annotations : Annotations
        The labels that it was fitted on.
    """
    race = _Race.of(fitted, annotations)
    slots, worth, accepting = race.slots, race.worth, race.slots.accepting
    best_accepting, best_rejecting = slots.best_so_far(worth)[accepting], slots.best_from_here(worth)[accepting + 1]
    accept, reject = worth[best_accepting] - slots.gain, worth[best_rejecting]
    accepts = accept >= reject
    best, own = np.where(accepts, best_accepting, best_rejecting), race.own[slots.group[accepting]]
    own_accepts = own <= accepting
    won = np.maximum(accept, reject) - worth[own] + np.where(own_accepts, slots.gain, 0.0)
    between = np.abs(best - own) - (own_accepts != accepts)  # the label itself may be one of them
    decisions = np.zeros(len(accepting), dtype=np.int64)
    decisions[slots.order] = np.where(won > _needed(between), np.where(accepts, 1, -1), 0)
    return decisions


@dataclass(frozen=True, eq=False)
class _Race:
    """The cut that each relation's labels ask for, and the line's own, among all slots."""

    slots: _Slots
    worth: FloatArray  # (slots,) of the labels, and of what the line expects
    best: IntArray  # (K,) slots
    own: IntArray  # (K,)

    @classmethod
    def of(cls, posterior: Posterior, annotations: Annotations) -> _Race:
        slots = _Slots.of(posterior, annotations)
        worth = slots.worth + TUNED.line_counts * _line_worth(posterior, slots)
        worth[slots.x_below == slots.x_above] = -np.inf  # equal scores cannot be told apart
        line = crossings(posterior.beta[slots.relations])
        rejected = np.add.reduceat((slots.x_above < line[slots.group]).astype(np.int64), slots.starts)
        return cls(slots, worth, _first_best(worth, slots), slots.starts + rejected)

    @property
    def between(self) -> IntArray:
        """How many labels lie between the two cuts, shape (K,)."""
        return np.asarray(np.abs(self.best - self.own))


def _needed(between: IntArray) -> FloatArray:
    """Return by how many labels a cut must be better than the line's, given the labels between the two."""
    return np.asarray(TUNED.margin + TUNED.walk * np.sqrt(np.maximum(between, 0)))


def _line_worth(posterior: Posterior, slots: _Slots) -> FloatArray:
    """Return the share of right decisions that the line expects of the best cut in each slot, up to a constant."""
    basis = psi(posterior.pool.points[slots.relations])
    mean = table_heights(basis, posterior.beta[slots.relations])
    variance = line_variances(basis, posterior.covariance[slots.relations, None])
    gain = (2 * moderate(mean, variance) - 1) / POINTS
    from_point = np.zeros((len(gain), POINTS + 1))
    from_point[:, :-1] = np.cumsum(gain[:, ::-1], axis=1)[:, ::-1]
    at = np.clip(from_point.argmax(axis=1)[slots.group], slots.below, slots.above)
    low = np.minimum(at.astype(np.int64), POINTS - 1)
    left, right = from_point[slots.group, low], from_point[slots.group, low + 1]
    return np.asarray(left + (at - low) * (right - left))


def _first_best(worth: FloatArray, slots: _Slots) -> IntArray:
    most = np.maximum.reduceat(worth, slots.starts)
    candidates = np.flatnonzero(worth == most[slots.group])
    return candidates[np.unique(slots.group[candidates], return_index=True)[1]]


def _middle(slots: _Slots, chosen: IntArray) -> FloatArray:
    """Return x midway between the labels around a slot; just beyond the label where there is only one."""
    below, above = slots.x_below[chosen], slots.x_above[chosen]
    lonely = np.where(np.isfinite(above), above, below + 1e-9)
    return np.where(np.isfinite(below) & np.isfinite(above), cut_between(below, above), lonely)


def _move(posterior: Posterior, relations: IntArray, x: FloatArray) -> Posterior:
    beta = posterior.beta.copy()
    beta[relations] = line_through(beta[relations], x)
    return replace(posterior, beta=beta)
