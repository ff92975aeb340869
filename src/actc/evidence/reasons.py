"""Why a candidate may be true or false: the evidence with the largest weight, in sentences to be checked in the graph.

What the evidence adds to the log-odds decides whether it is for or against, and how strong it is. A sentence is written
for its side, and is empty where its words would not convince: one similar entity in five may be more than is typical,
and a rule that holds in 3% of the cases raises nothing where 5% of the candidates are true. Relations stand as in
rules, ``relation(head, tail)``: a name does not say which way it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from actc.data.deliver import write_beside
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.errors import FileError
from actc.evidence.model import EvidenceModel, Quantiles, Ridge, stack_pieces
from actc.evidence.plan import NAMED_COLUMNS, SIDES
from actc.evidence.table import recode_named
from actc.graph.graph import Graph

# Pieces about nearly the same make one sentence: two could contradict each other.
ABOUT_ENDS = dict.fromkeys(("slot", "share", "degree"), "slot") | {one: one for one in ("kind", "rule", "relatives")}
TOPICS = {f"{side}_{name}": f"{side}_{topic}" for side in SIDES for name, topic in ABOUT_ENDS.items()}
TOPICS |= {"pair": "pair", "path": "path", "same": "same"}
TOPICS |= dict.fromkeys(("score", "place", "behind", "above"), "score")
AGAINST = "against: "  # in front of a sentence that opposes a candidate
LEAST = 0.05  # log-odds; a smaller weight is no reason
FEW = 0.5  # below this share a sentence with a percentage reads as a reason against
NONE = 0.005  # below this share it reads as 0%, which supports nothing
NEARLY = 0.25  # of the typical number: what is nearer to it is neither much nor little
SAVED = ("evidence.npz", "evidence-of-model.npz")


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of one side that facts fill: for heads the tails of (head, relation), for tails the heads.

    ``keys`` are each fact's slot, rising, ``others`` the entity in it, ``single`` the share of each relation's slots
    that have exactly one entity in them.
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

    def look_up(self, entity: str, relation: str) -> tuple[int, str, float]:
        """Return how many an entity has of a relation, the first of them, and the relation's share of single ones."""
        r = self.graph.relation_names.places.get(relation, -1)
        u = self.graph.entity_names.places.get(entity, -1)
        if r < 0 or u < 0:
            return 0, "", float(self.single[r]) if r >= 0 else 0.0
        low, high = np.searchsorted(self.keys, [u * len(self.single) + r, u * len(self.single) + r + 1])
        first = self.graph.entity_names[self.others[low]] if high > low else ""
        return int(high - low), first, float(self.single[r])


class Subject:
    """One candidate's evidence by name, and what its sentences call things (``call``, from an id).

    ``slots`` are those of each side, ``share`` is that of true candidates to expect.
    """

    def __init__(
        self, candidates: ScoredTriples, row: int, slots: dict[str, Slots], call: Callable[[str], str], share: float
    ) -> None:
        self.value = {name: float(column[row]) for name, column in candidates.pieces.items()}
        self.slots, self.call, self.share, self.graph = slots, call, share, slots["head"].graph
        self.ids = dict(zip(("head", "relation", "tail"), candidates.triple(row), strict=True))
        self.name = {place: call(one) for place, one in self.ids.items()}

    def goal(self, side: str, name: str = "X") -> str:
        """Return the candidate as an atom with another name in the place of its head or tail."""
        head, relation, tail = (self.name | {side: name}).values()
        return f"{relation}({head}, {tail})"

    def atom(self, slot: str, begin: str, end: str) -> str:
        """Return the relation of a slot as an atom that leads from ``begin`` to ``end``, whichever way it is read."""
        relation, back = divmod(int(self.value[slot]), 2)
        name = self.call(self.graph.relation_names[relation])
        return f"{name}({end}, {begin})" if back else f"{name}({begin}, {end})"

    def implication(self, rule: str, share: float, supports: bool, more: str = "") -> str:
        """Return a rule as a reason: for a candidate if it holds more often than candidates are true, else against."""
        if supports != (share >= max(NONE, self.share)):
            return ""
        return f"Rule: {rule} in {'' if supports else 'only '}{_percent(share)} of the cases{more}."

    def filled(self, side: str) -> tuple[int, str, float]:
        """Return what fills the slot of one end."""
        return self.slots[side].look_up(self.ids[side], self.ids["relation"])


Sentence = Callable[[Subject, bool], str]


def _describe_slot(side: str, of: Subject, supports: bool) -> str:
    count, usual, end = int(of.value[f"{side}_slot_filled"]), of.value[f"{side}_slot_usual"], of.name[side]
    goal = of.goal("tail" if side == "head" else "head")
    there, first, single = of.filled(side)
    if not count:
        return f"{end} has no recorded fact {goal}."
    facts = f"{count:,} {'fact' if count == 1 else 'facts'} {goal}"
    if single < FEW:
        if abs(count - usual) < NEARLY * usual:
            return ""
        more = "has" if supports else "already has"
        typical = round(usual, 1 if usual < 3 else 0)
        return f"{end} {more if count > usual else 'has only'} {facts}; {typical:g} is typical."
    if count == there == 1:
        facts = f"the fact {of.goal('tail' if side == 'head' else 'head', of.call(first))}"
    only = f"{single:.0%} of the entities with such facts have only one"
    return "" if supports else f"{end} already has {facts}; {only}."


def _describe_kind(side: str, of: Subject, supports: bool) -> str:
    share, slot = of.value[f"{side}_kind_best"], int(of.value[f"{side}_kind_slot"])
    if slot < 0 or supports != (share >= FEW):
        return ""
    kind = f"{SIDES[slot % 2]} of {of.call(of.graph.relation_names[slot // 2])}"
    of_these = f"{_percent(share)} of such entities are {side}s of {of.name['relation']}"
    return f"{of.name[side]} is a {kind}; {'' if supports else 'only '}{of_these}."


def _describe_rule(side: str, of: Subject, supports: bool) -> str:
    share, end, entity = of.value[f"{side}_rule_best"], of.name[side], int(of.value[f"{side}_rule_entity"])
    if entity < 0 or share <= 0:
        return "" if supports else f"No entity that shares a fact with {end} has the fact {of.goal(side)}."
    body = of.atom(f"{side}_rule_slot", "X", of.call(of.graph.entity_names[entity]))
    return of.implication(f"{body} implies {of.goal(side)}", share, supports, f"; here X is {end}")


def _describe_relatives(side: str, of: Subject, supports: bool) -> str:
    """Support by the most similar entity or by most of five; a few others do not convince a reader."""
    count, total, first = (int(of.value[f"{side}_relatives_{name}"]) for name in ("five", "count", "first"))
    if not total or supports != (bool(first) or 2 * count >= total):
        return ""
    end, goal = of.name[side], of.goal(side)
    if not count:
        who = f"None of the {total} entities" if total > 1 else "The entity"
        return f"{who} most similar to {end} {'has' if total > 1 else 'does not have'} the fact {goal}."
    if not supports:
        return f"Only {count} of the {total} entities most similar to {end} {_have(count)} the fact {goal}."
    similar = of.call(of.graph.entity_names[int(of.value[f"{side}_relatives_entity"])])
    if 2 * count < total or total == 1:
        return f"The entity most similar to {end} has the same fact: {of.goal(side, similar)}."
    example = f"{', for example' if count > 1 else ':'} {of.goal(side, similar)}"
    return f"{count} of the {total} entities most similar to {end} {_have(count)} the same fact{example}."


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _describe_pair(of: Subject, supports: bool) -> str:
    if of.value["pair_slot"] < 0:
        return "" if supports else f"No other fact links {of.name['head']} and {of.name['tail']}."
    rule = f"{of.atom('pair_slot', 'A', 'B')} implies {of.name['relation']}(A, B)"
    return of.implication(rule, of.value["pair_best"], supports)


def _describe_path(of: Subject, supports: bool) -> str:
    if of.value["path_first_slot"] < 0:
        return "" if supports else f"No path of two facts leads from {of.name['head']} to {of.name['tail']}."
    body = f"{of.atom('path_first_slot', 'A', 'X')} and {of.atom('path_second_slot', 'X', 'B')}"
    return of.implication(f"{body} imply {of.name['relation']}(A, B)", of.value["path_best"], supports)


def _percent(share: float) -> str:
    return "less than 1%" if share < NONE else f"{share:.0%}"


def _describe_same(of: Subject, supports: bool) -> str:
    return "Head and tail are the same entity." if of.value["same_entity"] else ""


def _describe_score(of: Subject, supports: bool) -> str:
    tail, head = int(of.value["place_among_tails"]), int(of.value["place_among_heads"])
    high = "high" if supports else "low"
    return f"The model's score is {high}: rank {tail} among the proposed tails, {head} among the proposed heads."


OF_ENDS = {
    "slot": _describe_slot,
    "kind": _describe_kind,
    "rule": _describe_rule,
    "relatives": _describe_relatives,
}
SENTENCES: dict[str, Sentence] = {f"{side}_{n}": partial(one, side) for side in SIDES for n, one in OF_ENDS.items()}
SENTENCES |= {"pair": _describe_pair, "path": _describe_path, "same": _describe_same, "score": _describe_score}


def give_reasons(
    candidates: ScoredTriples,
    model: EvidenceModel,
    graph: Graph,
    rows: ArrayLike | None = None,
    *,
    accepted: BoolArray | None = None,
    most: int = 3,
    call: Callable[[str], str] = str,
) -> list[tuple[str, ...]]:
    """Return the strongest reasons for and against each of some candidates.

    Parameters
    ----------
    candidates : ScoredTriples
        With their evidence, as it was gathered.
    model : EvidenceModel
        The weights of the pieces.
    graph : Graph
        The known facts that the evidence was gathered from.
    rows : int array of shape (n,), optional
        The candidates that reasons are wanted of; all of them if not given.
    accepted : bool array of shape (n,), optional
        What was decided: reasons of that side come first, at least one of them, or a sentence that there is none.
        Without it the side with the strongest reason comes first.
    most : int
        Sentences per candidate at most.
    call : callable
        What an entity or a relation is called, from its id.

    Returns
    -------
    list of n tuples of str
        Those for and those against apart, the strongest of each first; those against begin with "against: ".
    """
    rows = np.arange(len(candidates)) if rows is None else np.asarray(rows)
    topics, strengths = score_topics(candidates, model, rows)
    slots = {side: Slots.of(graph, side) for side in SIDES}
    sides = np.zeros(len(rows)) if accepted is None else np.where(accepted, 1, -1)
    return [
        _choose(Subject(candidates, row, slots, call, model.share), topics, strength, int(side), most)
        for row, strength, side in zip(rows.tolist(), strengths, sides.tolist(), strict=True)
    ]


def _choose(of: Subject, topics: list[str], strength: FloatArray, side: int, most: int) -> tuple[str, ...]:
    """Return the strongest sentences of one candidate, those for and those against it apart."""
    reasons: list[tuple[bool, str]] = []
    for place in np.argsort(-np.abs(strength), kind="stable").tolist():
        supports = bool(strength[place] > 0)
        agrees = side == 0 or supports == (side > 0)
        room = len(reasons) < most - 1 or agrees or any(one == (side > 0) for one, _ in reasons)
        if abs(strength[place]) < LEAST or len(reasons) == most or not room:
            continue
        if sentence := SENTENCES[topics[place]](of, supports):
            reasons.append((supports, sentence))
    if side and not any(supports == (side > 0) for supports, _ in reasons):
        reasons.insert(0, (side > 0, f"No single piece of evidence {'supports' if side > 0 else 'opposes'} it."))
    first = side > 0 if side else bool(reasons) and reasons[0][0]
    reasons.sort(key=lambda reason: reason[0] != first)
    return tuple(sentence if supports else f"{AGAINST}{sentence}" for supports, sentence in reasons)


def join_reasons(reasons: Sequence[str]) -> str:
    """Return the reasons of one candidate as one text: "For: ... Against: ...", in their order."""
    parts: dict[str, list[str]] = {}
    for one in reasons:
        parts.setdefault("Against" if one.startswith(AGAINST) else "For", []).append(one.removeprefix(AGAINST))
    return " ".join(f"{name}: {' '.join(sentences)}" for name, sentences in parts.items())


def score_topics(candidates: ScoredTriples, model: EvidenceModel, rows: IntArray) -> tuple[list[str], FloatArray]:
    """Return what sentences can be about, and what each adds to the log-odds of some candidates, shape (n, topics)."""
    topic = [next((one for begins, one in TOPICS.items() if name.startswith(begins)), "") for name in model.columns]
    topics = sorted(set(topic) - {""})
    pieces = model.ridge.pieces(stack_pieces(candidates.pieces, model.columns, rows))
    strengths = [pieces[:, [name == one for name in topic]].sum(axis=1) for one in topics]
    return topics, np.column_stack(strengths) if strengths else np.zeros((len(rows), 0))


@dataclass(frozen=True, eq=False)
class Reasons:
    """What the graph says of each candidate, and the weights of that.

    ``parts`` are of the first candidates and the next, in their order: those of rules, and those of a model alone, are
    scored apart. ``graph`` has the known facts.
    """

    parts: tuple[tuple[ScoredTriples, EvidenceModel], ...]
    graph: Graph

    def of(self, rows: IntArray, accepted: BoolArray, call: Callable[[str], str] = str) -> list[str]:
        """Return the reasons of some candidates, those for what was decided in front, in one text each.

        ``call`` gives the name of an id; without it ids stand there as they are.
        """
        return [join_reasons(reasons) for reasons in self._give(rows, accepted, call)]

    def marked(self, rows: IntArray) -> list[tuple[str, ...]]:
        """Return the reasons of some candidates as a session stores them: ids in double brackets, no side in front."""
        return self._give(rows, None, "[[{}]]".format)

    def column(self, rows: IntArray, count: int) -> NDArray[np.object_]:
        """Return ``count`` texts, the reasons of some candidates, ids in double brackets; the others are empty."""
        column = np.full(count, "", dtype=object)
        column[rows] = np.array([*map(join_reasons, self.marked(rows)), ""], dtype=object)[:-1]
        return column

    def _give(
        self, rows: IntArray, accepted: BoolArray | None, call: Callable[[str], str] = str
    ) -> list[tuple[str, ...]]:
        reasons: dict[int, tuple[str, ...]] = {}
        start = 0
        for evidence, model in self.parts:
            here = np.flatnonzero((rows >= start) & (rows < start + len(evidence)))
            side = None if accepted is None else accepted[here]
            given = give_reasons(evidence, model, self.graph, rows[here] - start, accepted=side, call=call)
            reasons |= dict(zip(here.tolist(), given, strict=True))
            start += len(evidence)
        return [reasons.get(place, ()) for place in range(len(rows))]

    def describe(self) -> dict[str, Any]:
        """Return the weights of the evidence as plain values: the largest of the first part first."""
        models = [model for _, model in self.parts]
        weights = sorted(models[0].weights().items(), key=lambda item: -abs(item[1]))
        true = sum(model.share * len(evidence) for evidence, model in self.parts)
        return {
            "holdout_facts": sum(model.holdout for model in models),
            "expected_share": round(true / sum(len(evidence) for evidence, _ in self.parts), 4),
            "weights": {name: round(weight, 3) for name, weight in weights},
        }

    def save(self, folder: Path) -> None:
        """Write it into the folder of a run."""
        for (evidence, model), name in zip(self.parts, SAVED, strict=False):
            save_evidence(folder / name, evidence, model, self.graph)

    @classmethod
    def load(cls, folder: Path, candidates: ScoredTriples, graph: Graph) -> Reasons | None:
        """Read it back; None where the run used no evidence."""
        parts: list[tuple[ScoredTriples, EvidenceModel]] = []
        for path in (folder / name for name in SAVED):
            if path.exists():
                done = sum(len(evidence) for evidence, _ in parts)
                parts.append(load_evidence(path, candidates.take(np.arange(done, len(candidates))), graph))
        return cls(tuple(parts), graph) if parts else None


def save_evidence(path: Path, candidates: ScoredTriples, model: EvidenceModel, graph: Graph) -> None:
    """Write the evidence of candidates and its model."""
    pieces = {name: column for name, column in candidates.pieces.items() if name not in NAMED_COLUMNS}
    quantiles = model.ridge.quantiles
    columns: dict[str, Any] = {
        "values": np.column_stack([*pieces.values()]).astype(np.float32),
        "named": np.column_stack([candidates.pieces[name] for name in NAMED_COLUMNS]).astype(np.int32),
        **{name: np.array(getattr(graph, name)) for name in ("entity_names", "relation_names")},
        "columns": np.array([*pieces]),
        "pieces": np.array(model.columns),
        "weights": model.ridge.weights,
        "numbers": np.array([model.ridge.intercept, model.share, model.holdout]),
        "knots": np.array([len(values) for values in quantiles.values]),
        "knot_values": np.concatenate(quantiles.values),
        "knot_normal": np.concatenate(quantiles.normal),
    }
    with write_beside(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **columns)


def load_evidence(path: Path, candidates: ScoredTriples, graph: Graph) -> tuple[ScoredTriples, EvidenceModel]:
    """Read what :func:`save_evidence` wrote of the first of these candidates; names are those of a graph."""
    try:
        with np.load(path, allow_pickle=False) as columns:
            saved = dict(columns)
        names, entities, relations, pieces = (
            tuple(saved[name].tolist()) for name in ("columns", "entity_names", "relation_names", "pieces")
        )
        values = dict(zip(names, saved["values"].astype(np.float64).T, strict=True))
        named = dict(zip(NAMED_COLUMNS, saved["named"].astype(np.float64).T, strict=True))
        values |= recode_named(named, (entities, relations), graph)
        ends = np.cumsum(saved["knots"])[:-1]
        quantiles = Quantiles(*(tuple(np.split(saved[name], ends)) for name in ("knot_values", "knot_normal")))
        intercept, share, holdout = saved["numbers"].tolist()
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise FileError(f"{path} does not hold evidence ({error}); look it up again.") from None
    if len(saved["values"]) > len(candidates):
        raise FileError(f"{path}: it has {len(saved['values'])} rows, more than the {len(candidates)} candidates.")
    some = candidates.take(np.arange(len(saved["values"])))
    return some.with_pieces(**values), EvidenceModel(
        pieces, Ridge(quantiles, saved["weights"], intercept), share, int(holdout)
    )
