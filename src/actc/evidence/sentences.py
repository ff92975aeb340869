"""What a piece of evidence says of a candidate, in a sentence a person can check.

Each sentence is told whether it shall speak for the candidate or against it, and is empty where its words could not:
few relatives may have the fact, and yet more than is usual, but a reader takes "none of 5" for a reason against.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from actc.data.triples import FloatArray, IntArray
from actc.evidence.plan import NAMED_COLUMNS, SIDES
from actc.evidence.table import Evidence
from actc.graph.graph import Graph


class Filled(NamedTuple):
    """How many a slot has, the first of them, and the share of the relation's slots that have exactly one."""

    entities: int
    first: str
    single: float


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of one side that facts fill: for heads the tails of (head, relation), for tails the heads.

    Parameters
    ----------
    graph : Graph
        L facts.
    keys, others : int arrays of shape (L,)
        Each fact's slot, rising, and the entity in it.
    single : float array of shape (R,)
        The share of each relation's slots that have exactly one entity in them.
    """

    graph: Graph
    keys: IntArray
    others: IntArray
    single: FloatArray

    @classmethod
    def of(cls, graph: Graph, side: str) -> Self:
        """Count what fills the slots of a graph's heads or tails."""
        relations = len(graph.relation_names)
        ends, others = (graph.heads, graph.tails) if side == "head" else (graph.tails, graph.heads)
        keys = ends * relations + graph.relations
        order = np.argsort(keys, kind="stable")
        slots, counts = np.unique(keys, return_counts=True)
        ones, slots_of = (np.bincount(part % relations, minlength=relations) for part in (slots[counts == 1], slots))
        return cls(graph, keys[order], others[order], ones / np.maximum(slots_of, 1))

    def look_up(self, entity: str, relation: str) -> Filled:
        """Say what an entity has of a relation."""
        r = self.graph.relation_names.places.get(relation, -1)
        u = self.graph.entity_names.places.get(entity, -1)
        if r < 0 or u < 0:
            return Filled(0, "", float(self.single[r]) if r >= 0 else 0.0)
        low, high = np.searchsorted(self.keys, [u * len(self.single) + r, u * len(self.single) + r + 1])
        first = self.graph.entity_names[self.others[low]] if high > low else ""
        return Filled(int(high - low), first, float(self.single[r]))


FEW = 0.5  # below this share a sentence with a percentage reads as a reason against
LEAST = 0.005  # below this share it reads as 0%, which speaks for nothing
NOT_FILLED = Filled(0, "", 0.0)


class Row:
    """One candidate's evidence by name, and the names that its sentences need.

    Parameters
    ----------
    evidence : Evidence
    row : int
    slots : dict of str to Slots
        By side; empty where no graph was given.
    call : callable
        What an entity or a relation is called, from its id.
    """

    def __init__(self, evidence: Evidence, row: int, slots: dict[str, Slots], call: Callable[[str], str]) -> None:
        self._evidence, self._row, self._slots, self._call = evidence, row, slots, call
        self._ids = evidence.candidates.triple(row)
        self.head, self.relation, self.tail = map(call, self._ids)

    def value(self, name: str) -> float:
        """Return one piece of evidence."""
        return float(self._evidence.values[self._row, self._evidence.columns.index(name)])

    def code(self, name: str) -> int:
        """Return the code of something to name, or a count of it; -1 where there is nothing."""
        return int(self._evidence.named[self._row, NAMED_PLACES[name]])

    def end(self, side: str) -> str:
        """Return the name of the head or the tail."""
        return self.head if side == "head" else self.tail

    def goal(self, side: str) -> str:
        """Say the candidate with an X in the place of one end."""
        return f"X {self.relation} {self.tail}" if side == "head" else f"{self.head} {self.relation} X"

    def fact(self, slot: str, entity: str) -> str:
        """Say a fact that a rule begins with, with an X in the place of the entity that has it."""
        other = self._call(self._evidence.entity_names[self.code(entity)])
        relation, backwards = self.step(slot)
        return f"{other} {relation} X" if backwards else f"X {relation} {other}"

    def step(self, slot: str) -> tuple[str, bool]:
        """Return the name of a relation and whether it is read from its tail to its head."""
        code = self.code(slot)
        return self._call(self._evidence.relation_names[code // 2]), bool(code % 2)

    def is_own(self, slot: str) -> bool:
        """Say whether a slot is one of the candidate's own relation."""
        return self._evidence.relation_names[self.code(slot) // 2] == self._ids[1]

    def filled(self, side: str) -> Filled:
        """Return what fills the slot of one end."""
        if side not in self._slots:
            return NOT_FILLED
        found = self._slots[side].look_up(self._ids[0 if side == "head" else 2], self._ids[1])
        return found._replace(first=self._call(found.first) if found.first else "")


Sentence = Callable[[Row, bool], str]
NAMED_PLACES = {name: place for place, name in enumerate(NAMED_COLUMNS)}


def _say_slot(side: str, row: Row, speaks_for: bool) -> str:
    count, found = int(row.value(f"{side}_slot_filled")), row.filled(side)
    if not count:
        return f"{_count_words(row, side, 0)} yet"
    if found.single < FEW:
        return f"{_count_words(row, side, count)} already, where {row.value(f'{side}_slot_usual'):.3g} is usual"
    which = f" ({found.first})" if count == found.entities == 1 else ""
    only = f"{_count_words(row, side, count)} already{which}, and {found.single:.0%} have only one"
    return "" if speaks_for else only


def _count_words(row: Row, side: str, count: int) -> str:
    """Say how many tails the head has, or how many heads the tail has."""
    number = {0: "no" if side == "head" else "none", 1: "one"}.get(count, str(count))
    if side == "head":
        return f"{row.head} has {number} {row.relation}"
    return f"{number} {'has' if count < 2 else 'have'} {row.relation} {row.tail}"


def _say_kind(side: str, row: Row, speaks_for: bool) -> str:
    share = row.value(f"{side}_kind_best")
    has = f"has {row.relation}" if side == "head" else f"{row.relation} ends in"
    if speaks_for:
        return f"{row.end(side)} is of a kind that {has} ({share:.0%})" if share >= FEW else ""
    return f"{row.end(side)} is of a kind that {has} seldom ({share:.0%} at best)" if share < FEW else ""


def _say_rule(side: str, row: Row, speaks_for: bool) -> str:
    share, end = row.value(f"{side}_rule_best"), row.end(side)
    if row.code(f"{side}_rule_slot") < 0 or share <= 0:
        return "" if speaks_for else f"nothing that shares a fact with {end} has {row.goal(side)}"
    if speaks_for:
        fact = row.fact(f"{side}_rule_slot", f"{side}_rule_entity")
        if share < LEAST:
            return ""
        return f"of all X with {fact}, as {end}, {share:.0%} have {row.goal(side)}"
    return f"of what shares a fact with {end}, {share:.0%} at best have {row.goal(side)}" if share < FEW else ""


def _say_relatives(side: str, row: Row, speaks_for: bool) -> str:
    count, total = int(row.value(f"{side}_relatives_five")), row.code(f"{side}_relatives_count")
    if not total or (count == 0 if speaks_for else count == total):
        return ""
    if total == 1:
        return f"the entity most like {row.end(side)} {'has' if count else 'does not have'} it"
    return f"{count or 'none'} of the {total} entities most like {row.end(side)} {'has' if count == 1 else 'have'} it"


def _say_share(side: str, row: Row, speaks_for: bool) -> str:
    share, degree = row.value(f"{side}_share"), int(row.value(f"{side}_degree"))
    if speaks_for and share < LEAST / 10:  # a tenth of a percent is said
        return ""
    where = ("begin with", "begins with") if side == "head" else ("end in", "ends in")
    many = f"{share:.1%} of all {row.relation} {where[0]}" if share else f"no {row.relation} {where[1]}"
    return f"{many} {row.end(side)}, which is in {degree} {'fact' if degree == 1 else 'facts'}"


def _say_pair(row: Row, speaks_for: bool) -> str:
    if row.code("pair_slot") < 0:
        return "" if speaks_for else f"nothing else is known between {row.head} and {row.tail}"
    share, (relation, backwards) = row.value("pair_best"), row.step("pair_slot")
    if share < LEAST if speaks_for else share >= FEW:
        return ""
    begin = f"{relation} holds {'the other way round' if backwards else 'between the two'}"
    if backwards and share >= FEW and not row.is_own("pair_slot"):
        begin = f"inverse of {relation}, which holds"
    return f"{begin} ({share:.0%} have both)"


def _say_path(row: Row, speaks_for: bool) -> str:
    if row.code("path_first") < 0:
        return "" if speaks_for else f"no two facts lead from {row.head} to {row.tail}"
    share, steps = row.value("path_best"), [row.step(name) for name in ("path_first", "path_second")]
    if share < LEAST if speaks_for else share >= FEW:
        return ""
    walk = ", then ".join(f"{relation} backwards" if backwards else relation for relation, backwards in steps)
    return f"{walk} leads from {row.head} to {row.tail} ({share:.0%} of such pairs have {row.relation})"


def _say_same(row: Row, speaks_for: bool) -> str:
    return "head and tail are the same" if row.value("same_entity") else ""


def _say_score(row: Row, speaks_for: bool) -> str:
    tail, head = int(row.value("place_among_tails")), int(row.value("place_among_heads"))
    score = "high" if speaks_for else "low"
    return f"a {score} score: place {tail} of the tails and {head} of the heads proposed"


SENTENCES: dict[str, Sentence] = {
    f"{side}_{name}": partial(say, side)
    for side in SIDES
    for name, say in {
        "slot": _say_slot,
        "kind": _say_kind,
        "rule": _say_rule,
        "relatives": _say_relatives,
        "share": _say_share,
    }.items()
} | {"pair": _say_pair, "path": _say_path, "same": _say_same, "score": _say_score}
