"""Candidates that constraints set against each other, or against facts, and which of them are accepted.

A *group* holds triples of which at most one can be true, such as the fathers of one person. A triple that a constraint
forbids by itself (a loop, an end of the wrong class) is alone in a group with a fact. With the odds o of each candidate
of a group and their sum S, "at most one" leaves P(i) = o_i / (1 + S). A soft constraint makes "more than one" less
probable by a factor rho than it is for independent triples; with E_i = 1 / product of (1 + o_j), j != i::

    P(i) = o_i ((1 - rho) E_i + rho) / ((1 - rho) (1 + S) E_i + rho (1 + o_i))      no fact in the group
    P(i) = o_i rho                   / ((1 - rho) E_i           + rho (1 + o_i))      one fact; rho by ``weigh_facts``
    P(i) = o_i / (1 + o_i)                                                            more: the rule does not hold there
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from actc.data.constraints import Constraint, Constraints, lower_share
from actc.data.numeric import find_shift, logit, sigmoid
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.graph.rdf import RDF, RDFS

NONE = -1
EDGE = 2.0**-20  # no probability counts as nearer to 0 or 1
COMPANIONS = {"functional": 2, "inverse-functional": 2, "asymmetric": 2, "irreflexive": 1, "domain": 1, "range": 1}
"""Facts of one exception in the graph; constraints of other kinds keep their factor."""
DIGITS = 6


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Groups of triples of which at most one can be true; only groups in which something competes."""

    constraints: Constraints
    # rows, groups, rules: (M,) each: a row of the triples, its group, and the constraint that makes the group; sorted
    # by group, then row
    rows: IntArray
    groups: IntArray
    rules: IntArray
    facts: IntArray  # (G,) how many facts are in each group
    # (G,) one of them, as a row of the facts; -1 where there is none, or where the constraint alone forbids
    witness: IntArray
    is_fact: BoolArray  # (N,) which of the triples are facts themselves

    @property
    def hard(self) -> BoolArray:
        """Whether the constraint of each row in a group is hard, shape (M,)."""
        return self.constraints.hard[self.rules]

    def count(self, mask: BoolArray) -> IntArray:
        """Count in each group the triples of a mask, shape (G,)."""
        return np.bincount(self.groups[mask[self.rows]], minlength=len(self.facts))

    def per_group(self, function: np.ufunc, values: FloatArray | IntArray) -> Any:
        """Return for each row in a group what its group's values come to, shape (M,), by ``np.add`` and the like."""
        starts = np.flatnonzero(np.diff(self.groups, prepend=-1))
        return function.reduceat(values, starts)[self.groups] if len(starts) else values

    def any_group(self, mask: BoolArray) -> BoolArray:
        """Return for each triple whether a mask of shape (M,) holds in any of its groups, shape (N,)."""
        result = np.zeros(len(self.is_fact), dtype=np.bool_)
        result[self.rows[mask]] = True
        return result


def match_conflicts(constraints: Constraints, triples: Triples, facts: Triples | None = None) -> Conflicts:
    """Return where triples compete with each other, or contradict facts."""
    used, count = constraints.used, len(triples)
    both = triples.plain() if facts is None else triples.plain().stack(facts)
    known = both.take(np.arange(count, len(both)))
    members, in_groups = np.zeros((3, 0), dtype=np.int64), np.zeros((2, 0), dtype=np.int64)
    for rule, keys, forbids in _match_groups(used, both, count):
        places = np.flatnonzero(keys != NONE)
        names, places_in = np.unique(keys[places], return_inverse=True)
        n_candidates = np.searchsorted(places, count)
        (rows, fact_rows), (group, fact_group) = (np.split(some, [n_candidates]) for some in (places, places_in))
        sizes, n_facts = (np.bincount(one, minlength=len(names)) for one in (group, fact_group))
        n_facts += forbids
        witness = np.full(len(names), NONE)
        witness[fact_group[::-1]] = fact_rows[::-1] - count  # the first of them
        contested = (sizes > 0) & (sizes + n_facts >= 2)
        inside, number = contested[group], np.cumsum(contested) - 1 + in_groups.shape[1]
        mine = np.stack([rows[inside], number[group[inside]], np.full(int(inside.sum()), rule)])
        members = np.append(members, mine, axis=1)
        in_groups = np.append(in_groups, np.stack([n_facts, witness])[:, contested], axis=1)
    rows, groups, rules = members[:, np.lexsort(members[:2])]
    return Conflicts(used, rows, groups, rules, in_groups[0], in_groups[1], known.contains(both.take(np.arange(count))))


KEYS: dict[str, Callable[[Triples], IntArray]] = {
    "functional": lambda one: one.heads,
    "inverse-functional": lambda one: one.tails,
    "asymmetric": lambda one: (
        np.minimum(one.heads, one.tails) * len(one.entity_names) + np.maximum(one.heads, one.tails)
    ),
    "not-both": lambda one: one.heads * len(one.entity_names) + one.tails,
}
"""What the triples of one group have in common, for each kind of constraint."""


def _match_groups(used: Constraints, both: Triples, count: int) -> Iterator[tuple[int, IntArray, bool]]:
    """Yield for each constraint the group of each candidate and then of each fact, -1 in none.

    The last value is whether the constraint forbids each candidate in a group by itself.
    """
    facts = both.take(np.arange(count, len(both)))
    typed, members = class_members(used, facts, [one.other for one in used.of("domain", "range")])
    types = relation_mask(both, [one.relation for one in used.of("type")])
    for rule, one in enumerate(used.each):
        if one.kind in KEYS:
            yield rule, np.where(relation_mask(both, one.key[1:]), KEYS[one.kind](both), NONE), False
        forbidden = None
        if one.kind == "irreflexive" or (one.kind == "asymmetric" and one.use == "hard"):
            forbidden = both.heads == both.tails
        elif one.kind in ("domain", "range"):
            entities = both.heads if one.kind == "domain" else both.tails
            # A soft constraint forbids entities of other classes alone, a hard one those of unknown classes too.
            forbidden = ~np.isin(entities, members[one.other]) & (typed[entities] | (one.use == "hard"))
        if forbidden is not None:
            numbers = np.arange(len(both))
            forbidden &= relation_mask(both, [one.relation]) & (numbers < count)
            yield rule, np.where(forbidden, numbers, NONE), True
        if one.kind == "disjoint":
            classes = {code: both.entity_names[code] for code in np.unique(both.tails[types]).tolist()}
            above = superclasses(used, facts, classes.values())
            left, right = ([code for code, name in classes.items() if side in above[name]] for side in one.key[1:])
            for pair in product(left, right):  # two classes of one side do not compete
                if pair[0] != pair[1]:
                    yield rule, np.where(types & np.isin(both.tails, pair), both.heads, NONE), False


@dataclass(frozen=True, eq=False)
class Resolution:
    """What constraints leave of triples that compete."""

    accepted: BoolArray  # (N,)
    probability: FloatArray  # (N,) P(true) given the constraints
    contested: BoolArray  # (N,) which compete with another or contradict a fact
    constraints: Constraints
    rule: IntArray  # (N,) the constraint that excluded a triple; -1 where none did
    # rival, fact: (N,) each: what it lost to: a row of the triples, or of the facts; -1 where neither: the constraint
    # alone forbids it, or no rival is probable enough
    rival: IntArray
    fact: IntArray


def couple(conflicts: Conflicts, p: FloatArray, possible: BoolArray, true: BoolArray) -> FloatArray:
    """Return P(true) of each triple in each of its groups, shape (M,), given what is in the group."""
    rows, groups, rules = conflicts.rows, conflicts.groups, conflicts.rules
    p = np.where(possible & ~true & (p > 0), np.clip(p, EDGE, 1 - EDGE), 0.0)
    odds, logs = p / (1 - p), -np.log1p(-p)
    total, product = (conflicts.per_group(np.add, values[rows]) for values in (odds, logs))
    certain = conflicts.count(true & ~conflicts.is_fact) + conflicts.facts
    facts = certain[groups] - true[rows]  # a true triple does not compete with itself
    o, constraints = odds[rows], conflicts.constraints
    rho = np.where(facts == 1, constraints.against[rules], constraints.rho[rules])
    hard = np.where(facts > 0, 0.0, o / (1 + total))
    others = np.exp(logs[rows] - product)
    below = np.where(facts == 0, (1 - rho) * (1 + total), 1 - rho) * others + rho * (1 + o)
    above = o * (np.where(facts == 0, (1 - rho) * others, 0.0) + rho)
    soft = np.where(facts > 1, p[rows], above / np.where(below > 0, below, 1.0))
    return np.where(conflicts.hard, hard, soft)


def resolve_conflicts(
    conflicts: Conflicts,
    triples: ScoredTriples,
    p: FloatArray,
    accepted: BoolArray,
    answers: IntArray,
    bars: FloatArray,
) -> Resolution:
    """Exclude what cannot be true together with something more probable; nothing is added.

    Round by round the triples that are the most probable in all of their groups enter, and their rivals in hard groups
    are excluded; the probabilities of the others are computed anew. In a soft group whatever is probable given the
    others may enter too; in a group with a fact, only that.

    Parameters
    ----------
    conflicts : Conflicts
        Of the triples.
    triples : ScoredTriples
        Among equally probable ones the highest score is first; then the first name.
    p : float array of shape (N,)
        P(true) of each by itself.
    accepted : bool array of shape (N,)
        Which are accepted one by one.
    answers : int array of shape (N,)
        Answers of people: 1 true, 0 false, -1 none. They are final.
    bars : float array of shape (N,)
        The lowest probability that is accepted.
    """
    rows, groups, rules, hard, count = conflicts.rows, conflicts.groups, conflicts.rules, conflicts.hard, len(p)
    rule, rival, fact = np.full((3, count), NONE)
    true, final = (answers == 1) | conflicts.is_fact, (answers != NONE) | conflicts.is_fact
    contested = conflicts.any_group(np.ones(len(rows), dtype=np.bool_))
    taken = (conflicts.facts + conflicts.count(true & ~conflicts.is_fact) > 0)[groups]
    possible = (answers != 0) & (true | ~conflicts.any_group(hard & taken))
    probability, open_rows = np.where(possible | final, p, 0.0), accepted & contested & ~final
    entered, rank = np.zeros(count, dtype=np.bool_), np.empty(count, dtype=np.int64)
    rank[np.lexsort((triples.tails, triples.relations, triples.heads, -triples.scores, -p))] = np.arange(count)
    while True:
        coupled = couple(conflicts, p, possible, true)
        lowest = np.full(count, np.inf)
        np.minimum.at(lowest, rows, coupled)
        fresh = contested & possible & ~entered & ~final
        probability[fresh] = lowest[fresh]
        ranks = np.where(possible & ~final, rank, count)[rows]
        is_first = (ranks < count) & (ranks == conflicts.per_group(np.minimum, ranks)) & ~taken
        winners = open_rows & possible & ~entered
        winners &= ~conflicts.any_group(~is_first & (hard | (coupled < bars[rows])))
        if not winners.any():
            break
        entered |= winners
        won = np.flatnonzero(hard & winners[rows])
        holder = np.full(len(conflicts.facts), NONE)
        holder[groups[won]] = rows[won]
        beaten = np.flatnonzero(hard & (holder[groups] != NONE) & (possible & ~true & ~entered)[rows])
        rule[rows[beaten]], rival[rows[beaten]] = rules[beaten], holder[groups[beaten]]
        possible[rows[beaten]] = False
    excluded = open_rows & ~entered

    # Of whatever else is excluded: which group was the tightest, and what is there.
    at = np.flatnonzero((excluded & (rule == NONE))[rows])
    at = at[np.lexsort((rules[at], ~taken[at], coupled[at], rows[at]))]
    at = at[np.unique(rows[at], return_index=True)[1]]
    loser, order = rows[at], np.lexsort((rows, np.where(true[rows], -1.0, -coupled), groups))
    strongest = rows[order][np.unique(groups[order], return_index=True)[1]][groups[at]]
    rule[loser], fact[loser] = rules[at], conflicts.witness[groups[at]]
    rival[loser] = np.where((fact[loser] == NONE) & (strongest != loser), strongest, NONE)
    accepted = accepted & (answers != 0) & ~excluded
    return Resolution(accepted, probability, contested, conflicts.constraints, rule, rival, fact)


def weigh_facts(conflicts: Conflicts, triples: Triples, p: FloatArray) -> Conflicts:
    """Return conflicts whose soft constraints have the factor that a contradiction with a fact counts.

    No answer is needed. Of the true candidates of a relation as many should contradict a fact as facts do in the graph:
    twice the share of exceptions, for each has a companion. The factor makes their expected number that number.
    """
    beside_fact = conflicts.facts[conflicts.groups] == 1

    def weigh(rule: int, one: Constraint) -> Constraint:
        mine = beside_fact & (conflicts.rules == rule)
        if one.use == "hard" or one.kind not in COMPANIONS or np.isfinite(one.against) or not mine.any():
            return one
        true = float(p[relation_mask(triples, [one.relation])].sum())
        expected = COMPANIONS[one.kind] * (1 - lower_share(one.cases, one.share)) * true
        log_odds = logit(np.clip(p[conflicts.rows[mine]], EDGE, 1 - EDGE))
        shift = find_shift(log_odds, expected / len(log_odds)) if float(sigmoid(log_odds).sum()) > expected else 0.0
        return replace(one, against=float(f"{np.exp(shift):.{DIGITS}g}"))

    each = tuple(weigh(rule, one) for rule, one in enumerate(conflicts.constraints.each))
    return replace(conflicts, constraints=replace(conflicts.constraints, each=each))


# Which entities are of which class: types and subclasses, as far as a graph states them.

VOCABULARY = {
    "type": (f"{RDF}type", "rdf:type", "http://www.wikidata.org/prop/direct/P31", "P31"),
    "subclass": (f"{RDFS}subClassOf", "rdfs:subClassOf", "http://www.wikidata.org/prop/direct/P279", "P279"),
}
"""Names of the relations that give types and subclasses, where no constraint names them: those of RDF and Wikidata."""


def match_vocabulary(relations: Iterable[str]) -> Constraints:
    """Return which of a graph's relations give types and subclasses."""
    names = set(relations)
    each = [
        Constraint(kind, name, use="hard", source="its name")
        for kind, known in VOCABULARY.items()
        for name in known
        if name in names
    ]
    return Constraints(tuple(each))


def relation_mask(triples: Triples, names: Iterable[str]) -> BoolArray:
    """Return for each triple whether its relation is one of those named, shape (N,)."""
    codes = triples.relation_names.codes(list(names))
    return np.isin(triples.relations, codes[codes >= 0])


def superclasses(constraints: Constraints, facts: Triples, classes: Iterable[str]) -> dict[str, set[str]]:
    """Return for each of some classes itself and all of its superclasses."""
    above: dict[str, set[str]] = defaultdict(set)
    pairs = facts.take(relation_mask(facts, [one.relation for one in constraints.of("subclass")])).columns()
    for part, whole in zip(pairs["head"].tolist(), pairs["tail"].tolist(), strict=True):
        above[part].add(whole)
    closure: dict[str, set[str]] = {}
    for start in classes:
        closure[start], queue = {start}, [start]
        while queue:
            new = above[queue.pop()] - closure[start]
            closure[start] |= new
            queue += new
    return closure


def class_members(
    constraints: Constraints, facts: Triples, wanted: Iterable[str]
) -> tuple[BoolArray, dict[str, IntArray]]:
    """Return which entities have a type, shape (E,), and the sorted members of each wanted class and its subclasses."""
    types, names = (
        facts.take(relation_mask(facts, [one.relation for one in constraints.of("type")])),
        facts.entity_names,
    )
    classes = {code: names[code] for code in np.unique(types.tails).tolist()}
    above = superclasses(constraints, facts, classes.values())
    members = {}
    for wanted_name in wanted:
        below = [code for code, name in classes.items() if wanted_name in above[name]]
        members[wanted_name] = np.unique(types.heads[np.isin(types.tails, below)])
    typed = np.zeros(len(names), dtype=np.bool_)
    typed[types.heads] = True
    return typed, members
