"""What the evidence says of a candidate, in sentences that a person can check in the graph.

Each function is given whether its sentence shall support the candidate or oppose it. It returns an empty text where its
words could not: few similar entities may have the fact, and yet more than is typical, but a reader takes "none of 5"
for a reason against. Relations stand as in rules, ``relation(head, tail)``: a name does not say which way it goes.
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
        """Return what an entity has of a relation."""
        r = self.graph.relation_names.places.get(relation, -1)
        u = self.graph.entity_names.places.get(entity, -1)
        if r < 0 or u < 0:
            return Filled(0, "", float(self.single[r]) if r >= 0 else 0.0)
        low, high = np.searchsorted(self.keys, [u * len(self.single) + r, u * len(self.single) + r + 1])
        first = self.graph.entity_names[self.others[low]] if high > low else ""
        return Filled(int(high - low), first, float(self.single[r]))


FEW = 0.5  # below this share a sentence with a percentage reads as a reason against
LEAST = 0.005  # below this share it reads as 0%, which supports nothing
NEARLY = 0.25  # of the typical number: what is nearer to it is neither much nor little
NOT_FILLED = Filled(0, "", 0.0)
NAMED_PLACES = {name: place for place, name in enumerate(NAMED_COLUMNS)}


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
        self._evidence, self._row, self._slots, self.call = evidence, row, slots, call
        self.ids = evidence.candidates.triple(row)
        self.head, self.relation, self.tail = map(call, self.ids)

    def value(self, name: str) -> float:
        """Return one piece of evidence."""
        return float(self._evidence.values[self._row, self._evidence.columns.index(name)])

    def code(self, name: str) -> int:
        """Return the code of something to name, or a count of it; -1 where there is nothing."""
        return int(self._evidence.named[self._row, NAMED_PLACES[name]])

    def end(self, side: str) -> str:
        """Return the name of the head or the tail."""
        return self.head if side == "head" else self.tail

    def candidate(self, side: str, name: str = "X") -> str:
        """Return the candidate as an atom with another name in the place of its head or tail."""
        return f"{self.relation}({name}, {self.tail})" if side == "head" else f"{self.relation}({self.head}, {name})"

    def atom(self, slot: str, begin: str, end: str) -> str:
        """Return the relation of a slot as an atom that leads from ``begin`` to ``end``, whichever way it is read."""
        code = self.code(slot)
        name = self.call(self._evidence.relation_names[code // 2])
        return f"{name}({end}, {begin})" if code % 2 else f"{name}({begin}, {end})"

    def entity(self, name: str) -> str:
        """Return the name of an entity that a rule is about."""
        return self.call(self._evidence.entity_names[self.code(name)])

    def filled(self, side: str) -> Filled:
        """Return what fills the slot of one end."""
        if side not in self._slots:
            return NOT_FILLED
        return self._slots[side].look_up(self.ids[0 if side == "head" else 2], self.ids[1])


Sentence = Callable[[Row, bool], str]


def _describe_slot(side: str, row: Row, supports: bool) -> str:
    count, usual, filled = int(row.value(f"{side}_slot_filled")), row.value(f"{side}_slot_usual"), row.filled(side)
    end, other = row.end(side), "tail" if side == "head" else "head"
    if not count:
        return f"{end} has no recorded fact {row.candidate(other)}."
    facts = f"{count:,} {'fact' if count == 1 else 'facts'} {row.candidate(other)}"
    if filled.single < FEW:
        if abs(count - usual) < NEARLY * usual:
            return ""
        more = "has" if supports else "already has"
        typical = round(usual, 1 if usual < 3 else 0)
        return f"{end} {more if count > usual else 'has only'} {facts}; {typical:g} is typical."
    if count == filled.entities == 1:
        facts = f"the fact {row.candidate(other, row.call(filled.first))}"
    only = f"{filled.single:.0%} of the entities with such facts have only one"
    return "" if supports else f"{end} already has {facts}; {only}."


def _describe_kind(side: str, row: Row, supports: bool) -> str:
    share = row.value(f"{side}_kind_best")
    if supports != (share >= FEW):
        return ""
    bound = f"{'up to' if supports else 'at most'} {_percent(share)}"
    return f"Of the entities in the same relations as {row.end(side)}, {bound} are {side}s of {row.relation}."


def _describe_rule(side: str, row: Row, supports: bool) -> str:
    share, end, goal = row.value(f"{side}_rule_best"), row.end(side), row.candidate(side)
    if row.code(f"{side}_rule_slot") < 0 or share <= 0:
        return "" if supports else f"No entity that shares a fact with {end} has the fact {goal}."
    if share < LEAST if supports else share >= FEW:
        return ""
    condition = row.atom(f"{side}_rule_slot", "X", row.entity(f"{side}_rule_entity"))
    only = "" if supports else "only "
    return f"Rule: {condition} implies {goal} in {only}{_percent(share)} of the cases; here X is {end}."


def _describe_relatives(side: str, row: Row, supports: bool) -> str:
    count, total, end = int(row.value(f"{side}_relatives_five")), row.code(f"{side}_relatives_count"), row.end(side)
    if not total or (count == 0 if supports else count == total):
        return ""
    if total == 1:
        return f"The entity most similar to {end} {'has' if count else 'does not have'} the fact {row.candidate(side)}."
    has = f"{count or 'None'} of the {total} entities most similar to {end} {'has' if count < 2 else 'have'}"
    return f"{has} the fact {row.candidate(side)}."


def _describe_pair(row: Row, supports: bool) -> str:
    if row.code("pair_slot") < 0:
        return "" if supports else f"No other fact links {row.head} and {row.tail}."
    return _describe_implication(f"{row.atom('pair_slot', 'A', 'B')} implies", row.value("pair_best"), row, supports)


def _describe_path(row: Row, supports: bool) -> str:
    if row.code("path_first") < 0:
        return "" if supports else f"No two facts lead from {row.head} to {row.tail}."
    body = f"{row.atom('path_first', 'A', 'X')} and {row.atom('path_second', 'X', 'B')} imply"
    return _describe_implication(body, row.value("path_best"), row, supports)


def _describe_implication(body: str, share: float, row: Row, supports: bool) -> str:
    if share < LEAST if supports else share >= FEW:
        return ""
    only = "" if supports else "only "
    return f"Rule: {body} {row.relation}(A, B) in {only}{_percent(share)} of the cases."


def _percent(share: float) -> str:
    return "less than 1%" if share < LEAST else f"{share:.0%}"


def _describe_same(row: Row, supports: bool) -> str:
    return "Head and tail are the same entity." if row.value("same_entity") else ""


def _describe_score(row: Row, supports: bool) -> str:
    tail, head = int(row.value("place_among_tails")), int(row.value("place_among_heads"))
    high = "high" if supports else "low"
    return f"The model's score is {high}: rank {tail} among the proposed tails, {head} among the proposed heads."


SENTENCES: dict[str, Sentence] = {
    f"{side}_{name}": partial(describe, side)
    for side in SIDES
    for name, describe in {
        "slot": _describe_slot,
        "kind": _describe_kind,
        "rule": _describe_rule,
        "relatives": _describe_relatives,
    }.items()
} | {"pair": _describe_pair, "path": _describe_path, "same": _describe_same, "score": _describe_score}
