"""Rivals on one card: of these at most one is true, so one answer labels them all.

A planned triple takes with it the doubtful ones of its place. A random check that comes soon is asked as it was drawn,
and is nobody's rival: what is promised rests on that draw. Rivals, and slots that are asked earlier than the method
would have asked them, have no chance that anybody knows: they teach, and prove nothing.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from actc.constraints.places import Places
from actc.triples import BoolArray, FloatArray, IntArray, Picks, ScoredTriples

MOST_RIVALS = 8
"""Beside the planned one: a key from 1 to 9 for each."""
SOON = 24
"""Random checks among so many first picks; those further down are drawn anew with the next plan."""
WORTHY = 2.0
"""Doubtful triples that one answer settles, for a slot to be asked earlier."""
LEAST_PROBABLE = 0.05
"""Who is less probable by itself is not worth a line on the card."""


def gather_rivals(places: Places, picks: Picks, p: FloatArray, besides: IntArray) -> tuple[Picks, list[list[int]]]:
    """Put rivals on one card: return the picks that are left, the most worthy slots earlier, and the rivals of each.

    Parameters
    ----------
    places : Places
        Where triples of the pool compete.
    picks : Picks
        The triples to ask next.
    p : float array of shape (N,)
        P(true) of each triple of the pool by itself.
    besides : int array
        Rows that are judged, or leased to somebody.
    """
    free = p >= LEAST_PROBABLE
    free[besides] = False
    free[picks.rows[:SOON][_drawn(picks)[:SOON]]] = False
    kept, rivals = [], []
    taken = np.zeros(len(p), dtype=np.bool_)
    mine = _places_of(places, picks.rows)
    for at, row in enumerate(picks.rows.tolist()):
        if taken[row]:
            continue
        found = _best_slot(places, mine[at], row, free, p)
        taken[[row, *found]] = True
        free[[row, *found]] = False
        kept.append(at)
        rivals.append(found)
    return _worthy_first(picks.take(kept), rivals, p)


def find_rivals(places: Places, rows: IntArray, scores: FloatArray) -> list[list[int]]:
    """Return the rivals of each row in the place where most compete, the best by their scores first.

    Neither answers nor beliefs move them: a judge that was asked about one is not asked about another tomorrow.
    """
    every = np.ones(len(scores), dtype=np.bool_)
    mine = _places_of(places, rows)
    return [_best_slot(places, *one, every, scores) for one in zip(mine, rows.tolist(), strict=True)]


def _drawn(picks: Picks) -> BoolArray:
    return np.isin(picks.asked, ("random", "check"))


def _places_of(places: Places, rows: IntArray) -> list[list[int]]:
    """Return the places of some rows."""
    order = np.argsort(places.rows, kind="stable")
    low, high = (np.searchsorted(places.rows[order], rows, side) for side in ("left", "right"))
    return [places.places[order[a:b]].tolist() for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def _best_slot(places: Places, mine: list[int], row: int, free: BoolArray, p: FloatArray) -> list[int]:
    """Return the rivals of a row in the place where most is in doubt, the most probable ones."""
    ends = np.append(places.starts, len(places))
    best: list[int] = []
    for place in mine:
        rows = places.rows[ends[place] : ends[place + 1]]
        rows = rows[free[rows] & (rows != row)]
        if len(rows) > len(best):
            best = rows[np.argsort(-p[rows], kind="stable")][:MOST_RIVALS].tolist()
    return best


def _worthy_first(picks: Picks, rivals: list[list[int]], p: FloatArray) -> tuple[Picks, list[list[int]]]:
    """Bring slots forward by the doubt that one answer ends; what was drawn at random stays where it is."""
    worth = np.array([1 + np.sum(4 * p[found] * (1 - p[found])) for found in rivals])
    worth = np.where(worth >= WORTHY, worth, 1.0)
    moves, order = np.flatnonzero(~_drawn(picks)), np.arange(len(picks))
    order[moves] = moves[np.argsort(moves / worth[moves], kind="stable")]
    earlier = (worth > 1)[order] & (order > np.arange(len(picks)))
    asked = picks.take(order)
    return replace(asked, chance=np.where(earlier, np.nan, asked.chance)), [rivals[at] for at in order.tolist()]


def write_rivals(pool: ScoredTriples, rows: list[int], p: FloatArray | None) -> str:
    """Return rivals as one text; empty where there are none."""
    believed = [None if p is None else round(float(p[row]), 6) for row in rows]
    told = [[row, *pool.triple(row), float(pool.scores[row]), one] for row, one in zip(rows, believed, strict=True)]
    return json.dumps(told, ensure_ascii=False) if told else ""
