"""Rivals are decided together: how probable is each, given that at most one of a place is true, and which enters.

With odds o of each rival and S their sum, "at most one" leaves P(i) = o_i / (1 + S). A soft constraint lets more than
one be true, less probably by a factor rho than if they were independent; with E_i = 1 / product of (1 + o_j), j != i::

    P(i) = o_i ((1 - rho) E_i + rho) / ((1 - rho) (1 + S) E_i + rho (1 + o_i))      no fact in the place
    P(i) = o_i rho                   / ((1 - rho) E_i           + rho (1 + o_i))      one fact; rho by ``against_facts``
    P(i) = o_i / (1 + o_i)                                                            more: the rule does not hold there
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.data.triples import BoolArray, FloatArray, IntArray, Triples
from actc.decide.places import FACT, NONE, Places

SURE = 2.0**-20  # no probability counts as nearer to 0 or 1


@dataclass(frozen=True, eq=False)
class Together:
    """What became of triples that compete.

    Parameters
    ----------
    accepted : bool array of shape (N,)
    probability : float array of shape (N,)
        P(true) given the constraints.
    contested : bool array of shape (N,)
        Which compete with another or contradict a fact.
    rule : int array of shape (N,)
        The constraint that held a triple back; -1 where none did.
    rival, fact : int array of shape (N,)
        What it lost to: a row of the triples, or of the facts; -1 where neither: the constraint alone forbids it, or no
        rival is probable enough.
    """

    accepted: BoolArray
    probability: FloatArray
    contested: BoolArray
    rule: IntArray
    rival: IntArray
    fact: IntArray


def couple(places: Places, p: FloatArray, alive: BoolArray, true: BoolArray) -> FloatArray:
    """Return P(true) of each triple in each of its places, shape (M,), given what is in the place.

    Parameters
    ----------
    places : Places
    p : float array of shape (N,)
        P(true) of each triple by itself.
    alive, true : bool array of shape (N,)
        Which may still be true; which are true for sure, by a person's word or as facts.
    """
    rows, place = places.rows, places.places
    kept = np.where(alive & ~true & (p > 0), np.clip(p, SURE, 1 - SURE), 0.0)
    odds, logs = kept / (1 - kept), -np.log1p(-kept)
    total, product = (np.add.reduceat(values[rows], places.starts)[place] for values in (odds, logs))
    sure = _count(places, true & ~places.is_fact) + places.facts
    facts = sure[place] - true[rows]  # what is true itself does not stand against itself
    o, rules = odds[rows], places.rules
    rho = np.where(facts == 1, places.constraints.against[rules], places.constraints.rho[rules])
    hard = np.where(facts > 0, 0.0, o / (1 + total))
    others = np.exp(logs[rows] - product)
    below = np.where(facts == 0, (1 - rho) * (1 + total), 1 - rho) * others + rho * (1 + o)
    above = o * (np.where(facts == 0, (1 - rho) * others, 0.0) + rho)
    soft = np.where(facts > 1, kept[rows], above / np.where(below > 0, below, 1.0))
    return np.where(places.constraints.hard[rules], hard, soft)


def _count(places: Places, mask: BoolArray) -> IntArray:
    """Count the triples of each place of which something holds, shape (G,)."""
    return np.bincount(places.places[mask[places.rows]], minlength=len(places.facts))


def decide_together(
    places: Places,
    triples: Triples,
    p: FloatArray,
    accepted: BoolArray,
    words: IntArray,
    bars: FloatArray,
    order: FloatArray,
) -> Together:
    """Hold back what cannot be true beside something more probable; nothing is added.

    Round by round, whoever is the most probable in all its places enters, and its rivals in hard places are out; the
    rest is coupled anew. Where a place is soft, whoever is probable given the others may enter too; where it holds a
    fact, only they.

    Parameters
    ----------
    places : Places
        Of the triples.
    triples : Triples
    p : float array of shape (N,)
        P(true) of each by itself.
    accepted : bool array of shape (N,)
        Which are accepted one by one.
    words : int array of shape (N,)
        What a person said: 1 true, 0 false, -1 nothing. It is final.
    bars : float array of shape (N,)
        The least probability that enters.
    order : float array of shape (N,)
        Who comes first among equally probable ones: the largest; then the first by name.
    """
    size = len(p)
    state = _State(accepted & (words != 0), np.full(size, NONE), np.full(size, NONE), np.full(size, NONE))
    true, final = (words == 1) | places.is_fact, (words != NONE) | places.is_fact
    hard, contested = places.constraints.hard[places.rules], _any(places, np.ones(len(places), dtype=np.bool_), size)
    filled = (places.facts + _count(places, true & ~places.is_fact) > 0)[places.places]
    alive = (words != 0) & (true | ~_any(places, hard & filled, size))
    probability, may = np.where(alive | final, p, 0.0), accepted & contested & ~final
    entered, found = np.zeros(size, dtype=np.bool_), np.zeros(len(places))
    while len(places):
        found = couple(places, p, alive, true)
        least = np.full(size, np.inf)
        np.minimum.at(least, places.rows, found)
        fresh = contested & alive & ~entered & ~final
        probability[fresh] = least[fresh]
        first = _first(places, triples, alive & ~final, (p, order)) & ~filled
        kept = first | (~hard & (found >= bars[places.rows]))
        winners = may & alive & ~entered & ~_any(places, ~kept, size)
        if not winners.any():
            break
        entered |= winners
        alive &= ~_lose(places, hard, winners, alive & ~true & ~entered, state)
    _refuse(places, found, filled, may & ~entered, true, state)
    state.accepted[may & ~entered] = False
    _hold_mirrors(places, final, state)
    return Together(state.accepted, probability, contested, state.rule, state.rival, state.fact)


@dataclass(frozen=True, eq=False)
class _State:
    """Accepted, and of what is held back by whom; arrays that change."""

    accepted: BoolArray
    rule: IntArray
    rival: IntArray
    fact: IntArray


def _first(places: Places, triples: Triples, may: BoolArray, ranks: tuple[FloatArray, ...]) -> BoolArray:
    """Say of each triple in each of its places whether it is the first there of those that may be true, shape (M,)."""
    inside = np.flatnonzero(may[places.rows])
    rows, place = places.rows[inside], places.places[inside]
    names = (triples.tails[rows], triples.relations[rows], triples.heads[rows])
    order = np.lexsort((*names, *(-rank[rows] for rank in reversed(ranks)), place))
    first = np.zeros(len(places), dtype=np.bool_)
    first[inside[order[np.r_[True, place[order][1:] != place[order][:-1]]]] if len(order) else order] = True
    return first


def _any(places: Places, mask: BoolArray, size: int) -> BoolArray:
    """Say of each triple whether something holds in any of its places, shape (N,)."""
    found = np.zeros(size, dtype=np.bool_)
    found[places.rows[mask]] = True
    return found


def _lose(places: Places, hard: BoolArray, winners: BoolArray, may: BoolArray, state: _State) -> BoolArray:
    """Return the rivals of those who enter, and note to whom they lost."""
    won = np.flatnonzero(hard & winners[places.rows])
    holder = np.full(len(places.facts), NONE)
    holder[places.places[won]] = places.rows[won]
    beaten = np.flatnonzero(hard & (holder[places.places] != NONE) & may[places.rows])
    rows = places.rows[beaten]
    state.rule[rows], state.rival[rows] = places.rules[beaten], holder[places.places[beaten]]
    lost = np.zeros(len(may), dtype=np.bool_)
    lost[rows] = True
    return lost


def _refuse(
    places: Places, found: FloatArray, filled: BoolArray, out: BoolArray, true: BoolArray, state: _State
) -> None:
    """Note for whatever else is held back which place was the tightest, and what is there."""
    at = np.flatnonzero(out[places.rows] & (state.rule[places.rows] == NONE))
    at = at[np.lexsort((places.rules[at], ~filled[at], found[at], places.rows[at]))]
    at = at[np.r_[True, places.rows[at][1:] != places.rows[at][:-1]]] if len(at) else at
    rows, place = places.rows[at], places.places[at]
    told = np.full(len(places.facts), NONE)
    sure = np.flatnonzero((true & ~places.is_fact)[places.rows])
    told[places.places[sure]] = places.rows[sure]
    strongest = _strongest(places, found)
    state.rule[rows], state.fact[rows] = places.rules[at], places.witness[place]
    alone = (places.facts[place] == 0) & (told[place] == NONE)
    rival = np.where(alone, np.where(strongest[place] == rows, NONE, strongest[place]), told[place])
    state.rival[rows] = np.where(state.fact[rows] == NONE, rival, NONE)


def _strongest(places: Places, found: FloatArray) -> IntArray:
    """Return the most probable row of each place, shape (G,)."""
    order = np.lexsort((places.rows, -found, places.places))
    return np.asarray(places.rows[order][places.starts])


def _hold_mirrors(places: Places, final: BoolArray, state: _State) -> None:
    """Hold back what a hard constraint lets in only with its mirror, where that is neither a fact nor accepted."""
    rows, mirrors, rules = places.mirrors
    while True:
        there = (mirrors == FACT) | ((mirrors >= 0) & state.accepted[np.maximum(mirrors, 0)])
        out = np.flatnonzero(~there & state.accepted[rows] & ~final[rows])
        if not len(out):
            return
        state.accepted[rows[out]] = False
        state.rule[rows[out]], state.rival[rows[out]] = rules[out], mirrors[out]
