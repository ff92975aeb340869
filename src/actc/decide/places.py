"""Where candidates compete: the places in which at most one triple can be true, and the facts that are there already.

A triple that a constraint forbids by itself (a loop, an end of the wrong class) is alone in a place with a fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from actc.data.constraints import Constraint, Constraints
from actc.data.triples import BoolArray, IntArray, Triples, Vocabulary, as_vocabulary
from actc.decide.classes import Classes, find_classes, relation_mask, subclass_pairs

NONE, FACT = -1, -2


@dataclass(frozen=True, eq=False)
class Places:
    """Which triple is in which place; only places where something competes.

    Parameters
    ----------
    constraints : Constraints
    rows, places, rules : int array of shape (M,)
        A row of the triples, its place, and the constraint that makes it one; rising by place, then row.
    facts : int array of shape (G,)
        How many facts are in each place.
    witness : int array of shape (G,)
        One of them, as a row of the facts; -1 where there is none, or where the constraint alone forbids.
    is_fact : bool array of shape (N,)
        Which of the triples are facts themselves.
    mirrors : int arrays of shape (K,)
        Rows of the triples that a hard constraint lets in only with another triple; that triple's row, -2 where it is a
        fact and -1 where it is neither; and the constraint.
    """

    constraints: Constraints
    rows: IntArray
    places: IntArray
    rules: IntArray
    facts: IntArray
    witness: IntArray
    is_fact: BoolArray
    mirrors: tuple[IntArray, IntArray, IntArray]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def starts(self) -> IntArray:
        """Where each place begins, shape (G,)."""
        return np.flatnonzero(np.r_[True, self.places[1:] != self.places[:-1]]) if len(self) else self.rows


def find_places(constraints: Constraints, triples: Triples, facts: Triples | None = None) -> Places:
    """Find where some triples compete with each other, or contradict facts.

    Parameters
    ----------
    constraints : Constraints
        Those that are used.
    triples : Triples
        The candidates.
    facts : Triples, optional
        What the graph holds.
    """
    used = constraints.used
    there = triples.take(np.zeros(0, dtype=np.int64)) if facts is None else facts
    names = Vocabulary(sorted({*triples.entity_names, *there.entity_names}))
    kinds = Vocabulary(sorted({*triples.relation_names, *there.relation_names}))
    asked, known = triples.recoded(names, kinds), there.recoded(names, kinds)
    rows, places, rules, filled, witness = _join(list(_members(used, asked, known)))
    is_fact, mirrors = known.contains(asked), _mirrors(used, asked, known)
    return Places(used, rows, places, rules, filled, witness, is_fact, mirrors)


def _mirrors(used: Constraints, asked: Triples, known: Triples) -> tuple[IntArray, IntArray, IntArray]:
    """Find the mirror of each triple that a hard symmetric or inverse relation has."""
    found = [np.zeros((3, 0), dtype=np.int64)]
    for rule, one in enumerate(used.each):
        if one.kind not in ("symmetric", "inverse") or one.use != "hard":
            continue
        rows = np.flatnonzero(relation_mask(asked, [one.relation]))
        code = as_vocabulary(asked.relation_names).codes([one.other or one.relation])[0]
        mine = asked.take(rows)
        turned = replace(mine, heads=mine.tails, tails=mine.heads, relations=np.full(len(rows), code))
        places = np.where(known.contains(turned), FACT, asked.rows_of(turned))
        found.append(np.stack([rows, places, np.full(len(rows), rule)]))
    rows, mirrors, rules = np.concatenate(found, axis=1)
    return rows, mirrors, rules


def _join(found: list[_Members]) -> list[IntArray]:
    """Number the places of all constraints; return rows, places, rules, facts, witness of those that are contested."""
    columns: list[list[IntArray]] = [[], [], [], [], []]
    start = 0
    for one in found:
        keys, inverse = np.unique(np.append(one.keys, one.fact_keys), return_inverse=True)
        mine, theirs = inverse[: len(one.keys)], inverse[len(one.keys) :]
        facts = np.bincount(theirs, minlength=len(keys)) + np.bincount(mine[one.forbidden], minlength=len(keys))
        witness = np.full(len(keys), NONE)
        witness[theirs[::-1]] = one.fact_rows[::-1]  # the first of them
        kept = (np.bincount(mine, minlength=len(keys)) + facts >= 2) & (np.bincount(mine, minlength=len(keys)) > 0)
        place = np.cumsum(kept) - 1 + start
        inside = kept[mine]
        for column, values in zip(columns, (one.rows[inside], place[mine[inside]], np.full(int(inside.sum()), one.rule),
                                            facts[kept], witness[kept]), strict=True):  # fmt: skip
            column.append(values)
        start += int(kept.sum())
    empty = np.zeros(0, dtype=np.int64)
    rows, places, rules, facts, witness = (np.concatenate([empty, *column]) for column in columns)
    order = np.lexsort((rows, places))
    return [rows[order], places[order], rules[order], facts, witness]


@dataclass(frozen=True, eq=False)
class _Members:
    """The candidates and facts that one constraint speaks of, and the key of the place of each."""

    rule: int
    rows: IntArray
    keys: IntArray
    fact_rows: IntArray
    fact_keys: IntArray
    forbidden: BoolArray  # of the candidates: which the constraint rules out by itself

    @classmethod
    def of(cls, rule: int, pair: tuple[BoolArray, BoolArray], keys: tuple[IntArray, IntArray]) -> _Members:
        rows, fact_rows = (np.flatnonzero(mask) for mask in pair)
        return cls(rule, rows, keys[0][rows], fact_rows, keys[1][fact_rows], np.zeros(len(rows), dtype=np.bool_))

    @classmethod
    def alone(cls, rule: int, mask: BoolArray) -> _Members:
        rows = np.flatnonzero(mask)
        nothing = np.zeros(0, dtype=np.int64)
        return cls(rule, rows, rows, nothing, nothing, np.ones(len(rows), dtype=np.bool_))


def _members(used: Constraints, asked: Triples, known: Triples) -> Iterator[_Members]:
    size = len(asked.entity_names)
    pair = (asked, known)
    wanted = [one.other for one in used.of("domain", "range")]
    classes = find_classes(used, known, wanted) if wanted else None
    for rule, one in enumerate(used.each):
        of_it = tuple(relation_mask(table, [one.relation]) for table in pair)
        mine = of_it[0], of_it[1]
        if one.kind in ("functional", "inverse-functional"):
            keys = (asked.heads, known.heads) if one.kind == "functional" else (asked.tails, known.tails)
            yield _Members.of(rule, mine, keys)
        elif one.kind == "asymmetric":
            low, high = (np.minimum, np.maximum)
            both = [low(table.heads, table.tails) * size + high(table.heads, table.tails) for table in pair]
            yield _Members.of(rule, mine, (both[0], both[1]))
        if one.kind == "irreflexive" or (one.kind == "asymmetric" and one.use == "hard"):
            yield _Members.alone(rule, mine[0] & (asked.heads == asked.tails))
        if one.kind in ("domain", "range") and classes is not None:
            ends = asked.heads if one.kind == "domain" else asked.tails
            yield _Members.alone(rule, mine[0] & _is_wrong(one, classes, ends))
        elif one.kind == "not-both":
            masks = [relation_mask(table, [one.relation, one.other]) for table in pair]
            keys = asked.heads * size + asked.tails, known.heads * size + known.tails
            yield _Members.of(rule, (masks[0], masks[1]), keys)
        elif one.kind == "disjoint":
            yield from _disjoint(rule, one, used, asked, known)


def _is_wrong(one: Constraint, classes: Classes, ends: IntArray) -> BoolArray:
    """Say which ends are not of a class: hard, all that are not known to be; soft, those of other classes alone."""
    wrong = ~classes.has(one.other, ends)
    return wrong if one.use == "hard" else wrong & classes.typed[ends]


def _disjoint(rule: int, one: Constraint, used: Constraints, asked: Triples, known: Triples) -> Iterator[_Members]:
    """Give a place for each entity and each two classes under the disjoint ones; two of one side are no rivals."""
    types = [other.relation for other in used.of("type")]
    above = subclass_pairs(used, known)
    tables = [(table, relation_mask(table, types)) for table in (asked, known)]
    told = np.unique(np.concatenate([table.tails[mask] for table, mask in tables]))
    names = asked.entity_names
    sides = [
        [code for code in told.tolist() if side in above.get(names[code], (names[code],))]
        for side in (one.relation, one.other)
    ]
    for first in sides[0]:
        for second in sides[1]:
            masks = [mask & np.isin(table.tails, (first, second)) for table, mask in tables]
            if first != second and masks[0].any():
                yield _Members.of(rule, (masks[0], masks[1]), (asked.heads, known.heads))
