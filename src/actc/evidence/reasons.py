"""Why a candidate may be true or false: the evidence with the largest weight, in sentences to be checked in the graph.

What the evidence adds to the log-odds decides whether it is for or against, and how strong it is. A sentence is written
for its side, and is empty where its words would not convince: one similar entity in five may be more than is typical,
and a rule that holds in 3% of the cases raises nothing where 5% of the candidates are true. Nor is it a reason against
a candidate that no entity has its fact where its slot is empty: then none can. Relations stand as in rules,
``relation(head, tail)``: a name does not say which way it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from actc.data.deliver import write_beside
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.errors import FileError
from actc.evidence.plan import NAMED_COLUMNS, SIDES
from actc.evidence.score import EvidenceModel, Quantiles, Ridge, stack_pieces
from actc.evidence.table import recode_named
from actc.graph.graph import Graph

AGAINST = "against: "  # in front of a sentence that opposes a candidate
MOST = 3  # sentences per candidate
LEAST = 0.05  # log-odds; a smaller weight is no reason
FEW = 0.5  # below this share a sentence with a percentage reads as a reason against
NONE = 0.005  # below this share it reads as 0%, which supports nothing
NEARLY = 0.25  # of the typical number: what is nearer to it is neither much nor little
FEWEST_SIMILAR = 3  # entities of which it means something that hardly any has the fact
SAVED = ("evidence.npz", "evidence-of-model.npz")
CURVE, PIECE = "curve of ", "piece "
"""What the names of arrays in these files begin with."""


class Slots:
    """What facts fill the slots of one side: the tails of each (head, relation), or the heads of each (relation, tail).

    ``single`` is the share of each relation's slots that have exactly one entity in them.
    """

    def __init__(self, graph: Graph, side: str) -> None:
        self.graph, count = graph, len(graph.relation_names)
        ends, others = (graph.heads, graph.tails) if side == "head" else (graph.tails, graph.heads)
        keys = ends * count + graph.relations
        order = np.argsort(keys, kind="stable")
        self.keys, self.others = keys[order], others[order]
        slots, sizes = np.unique(keys, return_counts=True)
        single, every = (np.bincount(part % count, minlength=count) for part in (slots[sizes == 1], slots))
        self.single = np.append(single / np.maximum(every, 1), 0.0)

    def look_up(self, entity: str, relation: str) -> tuple[IntArray, float]:
        """Return what an entity has of a relation, in codes, and the share of the relation's slots with one alone."""
        u = self.graph.entity_names.places.get(entity, -1)
        r = self.graph.relation_names.places.get(relation, -1)
        key = u * len(self.graph.relation_names) + r if min(u, r) >= 0 else -1
        low, high = np.searchsorted(self.keys, [key, key + 1])
        return self.others[low:high], float(self.single[r])


class Subject:
    """One candidate's evidence by name, and what its sentences call things (``call``, from an id).

    ``slots`` are those of each side, ``share`` is that of true candidates to expect.
    """

    def __init__(
        self, candidates: ScoredTriples, row: int, slots: dict[str, Slots], call: Callable[[str], str], share: float
    ) -> None:
        self.pieces, self.row = candidates.pieces, row
        self.slots, self.call, self.share, self.graph = slots, call, share, slots["head"].graph
        self.ids = dict(zip(("head", "relation", "tail"), candidates.triple(row), strict=True))
        self.name = {place: call(one) for place, one in self.ids.items()}

    def value(self, piece: str) -> float:
        """Return a piece of its evidence."""
        return float(self.pieces[piece][self.row])

    def goal(self, **others: str) -> str:
        """Return the candidate as an atom, with other names in the place of its head or tail."""
        head, relation, tail = (self.name | others).values()
        return f"{relation}({head}, {tail})"

    def atom(self, slot: str, begin: str, end: str) -> str:
        """Return the relation of a slot as an atom that leads from ``begin`` to ``end``, whichever way it is read."""
        relation, back = divmod(int(self.value(slot)), 2)
        name = self.call(self.graph.relation_names[relation])
        return f"{name}({end}, {begin})" if back else f"{name}({begin}, {end})"

    def entity(self, piece: str) -> str:
        """Return the name of the entity that a piece of evidence is about."""
        return self.call(self.graph.entity_names[int(self.value(piece))])

    def implication(self, rule: str, share: float, supports: bool, more: str = "") -> str:
        """Return a rule as a reason: for a candidate if it holds more often than candidates are true, else against."""
        if supports != (share >= max(NONE, self.share)):
            return ""
        return f"Rule: {rule} in {_percent(share, supports)} of the cases{more}."


def _percent(share: float, supports: bool) -> str:
    if share < NONE:
        return "less than 1%"
    return f"{share:.0%}" if supports else f"only {share:.0%}"


Sentence = Callable[[Subject, bool], str]


def _describe_slot(side: str, of: Subject, supports: bool) -> str:
    """Fewer facts than are typical leave room for one more; more do not, least of all where nearly all have one."""
    count, usual = int(of.value(f"{side}_slot_filled")), of.value(f"{side}_slot_usual")
    other, typical = OTHER[side], round(usual)
    there, single = of.slots[side].look_up(of.ids[side], of.ids["relation"])
    goal, plural = of.goal(**{other: "X"}), "s" if count > 1 else ""
    if count and single >= FEW:
        facts = f"{count:,} other fact{plural} {goal}"
        if len(there) == count == 1:
            facts = f"the fact {of.goal(**{other: of.call(of.graph.entity_names[there[0]])})}"
        only = f"{single:.0%} of the entities with such facts have only one"
        return "" if supports else f"{of.name[side]} already has {facts}; {only}."
    if supports != (count < usual) or count == typical or abs(count - usual) < NEARLY * usual:
        return ""
    if not count:
        return f"No other fact {goal} is recorded; {typical:,} is typical."
    has = "has only" if supports else "already has"
    return f"{of.name[side]} {has} {count:,} other fact{plural} {goal}; {typical:,} is typical."


def _describe_kind(side: str, of: Subject, supports: bool) -> str:
    """Return whether an entity without such a fact is of a kind that has some."""
    share = of.value(f"{side}_kind_best")
    if of.value(f"{side}_kind_slot") < 0 or of.value(f"{side}_slot_filled") or supports != (share >= FEW):
        return ""
    body, goal = of.atom(f"{side}_kind_slot", "A", "X"), of.goal(**{side: "A", OTHER[side]: "X"})
    such = f"Of the entities A with facts {body}, {_percent(share, supports)} have facts {goal}"
    return f"{such}; here A is {of.name[side]}."


def _describe_rule(side: str, of: Subject, supports: bool) -> str:
    share, end, goal = of.value(f"{side}_rule_best"), of.name[side], of.goal(**{side: "X"})
    if of.value(f"{side}_rule_entity") < 0 or share <= 0:
        possible = of.value(f"{OTHER[side]}_slot_filled") and not supports
        return f"No entity that shares a fact with {end} has the fact {goal}." if possible else ""
    body = of.atom(f"{side}_rule_slot", "X", of.entity(f"{side}_rule_entity"))
    return of.implication(f"{body} implies {goal}", share, supports, f"; here X is {end}")


def _describe_relatives(side: str, of: Subject, supports: bool) -> str:
    """Support by the most similar entity or by most of five; a few others do not convince a reader."""
    count, total, first = (int(of.value(f"{side}_relatives_{name}")) for name in ("five", "count", "first"))
    most = total > 1 and 2 * count >= total
    if supports != (bool(first) or most):
        return ""
    similar = f"entities most similar to {of.name[side]} {'have' if count > 1 else 'has'} the"
    if not supports:
        possible = of.value(f"{OTHER[side]}_slot_filled") and total >= FEWEST_SIMILAR
        who = f"Only {count}" if count else "None"
        return f"{who} of the {total} {similar} fact {of.goal(**{side: 'X'})}." if possible else ""
    example = of.goal(**{side: of.entity(f"{side}_relatives_entity")})
    if not most:
        return f"The entity most similar to {of.name[side]} has the same fact: {example}."
    every = "Both" if total == 2 else f"All {total}"
    who = every if count == total else f"{count} of the {total}"
    return f"{who} {similar} same fact{', for example' if count > 1 else ':'} {example}."


def _describe_pair(of: Subject, supports: bool) -> str:
    if of.value("pair_slot") < 0:
        return "" if supports else f"No other fact links {of.name['head']} and {of.name['tail']}."
    rule = f"{of.atom('pair_slot', 'A', 'B')} implies {of.goal(head='A', tail='B')}"
    return of.implication(rule, of.value("pair_best"), supports)


def _describe_path(of: Subject, supports: bool) -> str:
    if of.value("path_first_slot") < 0:
        return "" if supports else f"No path of two facts leads from {of.name['head']} to {of.name['tail']}."
    body = f"{of.atom('path_first_slot', 'A', 'X')} and {of.atom('path_second_slot', 'X', 'B')}"
    return of.implication(f"{body} imply {of.goal(head='A', tail='B')}", of.value("path_best"), supports)


def _describe_same(of: Subject, supports: bool) -> str:
    return "Head and tail are the same entity." if of.value("same_entity") else ""


def _describe_score(of: Subject, supports: bool) -> str:
    tail, head = (f"{int(of.value(f'place_among_{side}s')):,}" for side in ("tail", "head"))
    high = "high" if supports else "low"
    return f"The model's score is {high}: rank {tail} among the proposed tails, rank {head} among the proposed heads."


OTHER = dict(zip(SIDES, reversed(SIDES), strict=True))
OF_ENDS = {
    ("slot", "share", "degree"): _describe_slot,
    ("kind",): _describe_kind,
    ("rule",): _describe_rule,
    ("relatives",): _describe_relatives,
}
SENTENCES: dict[tuple[str, ...], Sentence] = {
    tuple(f"{side}_{begins}" for begins in topic): partial(sentence, side)
    for side in SIDES
    for topic, sentence in OF_ENDS.items()
}
SENTENCES |= {("pair",): _describe_pair, ("path",): _describe_path, ("same",): _describe_same}
SENTENCES |= {("score", "place", "behind", "above"): _describe_score}
"""How the pieces of evidence begin that a sentence is about: two sentences about nearly the same could disagree."""


def _choose(of: Subject, strengths: FloatArray, log_odds: float, side: int) -> tuple[str, ...]:
    """Return the strongest sentences of one candidate, those for and those against it apart.

    ``side`` is 1 or -1 for what was decided: at least one sentence of that side is there, and it comes first.
    ``log_odds`` are those of all its evidence.
    """
    reasons: list[tuple[bool, str]] = []
    decided, sentences = side > 0, list(SENTENCES.values())
    for place in np.argsort(-np.abs(strengths), kind="stable").tolist():
        supports = bool(strengths[place] > 0)
        if abs(strengths[place]) < LEAST or len(reasons) == MOST:
            break
        if side and len(reasons) == MOST - 1 and decided not in (supports, *dict(reasons)):
            continue  # the last one is of the side that was decided
        if sentence := sentences[place](of, supports):
            reasons.append((supports, sentence))
    if side and decided not in dict(reasons):
        own, other = ("for", "against") if decided else ("against", "for")
        agrees = decided == (log_odds > 0)  # else people decided, or a fact is looked at that nothing opposes
        text = f"Nothing in the graph speaks {other if agrees else own} it."
        if agrees and reasons:
            text = f"The reasons {other} it are too weak together."
        reasons.insert(0, (decided, text))
    first = decided if side or not reasons else reasons[0][0]
    reasons.sort(key=lambda reason: reason[0] != first)
    return tuple(sentence if supports else f"{AGAINST}{sentence}" for supports, sentence in reasons)


def join_reasons(reasons: Sequence[str]) -> str:
    """Return the reasons of one candidate as one text: "For: ... Against: ...", in their order."""
    parts: dict[str, list[str]] = {}
    for one in reasons:
        parts.setdefault("Against" if one.startswith(AGAINST) else "For", []).append(one.removeprefix(AGAINST))
    return " ".join(f"{name}: {' '.join(sentences)}" for name, sentences in parts.items())


def weigh_topics(candidates: ScoredTriples, model: EvidenceModel, rows: IntArray) -> FloatArray:
    """Return what the pieces of each sentence add to the log-odds of some candidates, shape (n, sentences)."""
    pieces = model.ridge.pieces(stack_pieces(candidates.pieces, model.columns, rows))
    topics = [[name.startswith(begins) for name in model.columns] for begins in SENTENCES]
    return np.column_stack([pieces[:, topic].sum(axis=1) for topic in topics])


@dataclass(frozen=True, eq=False)
class Reasons:
    """What the graph shows of each candidate, and the weights of that.

    ``parts`` are of the first candidates and the next, in their order: those of rules, and those of a model alone, are
    scored apart. ``graph`` has the known facts.
    """

    parts: tuple[tuple[ScoredTriples, EvidenceModel], ...]
    graph: Graph

    def give(
        self, rows: IntArray, accepted: BoolArray | None = None, call: Callable[[str], str] = str
    ) -> list[tuple[str, ...]]:
        """Return the strongest reasons for and against each of n candidates.

        Parameters
        ----------
        rows : int array of shape (n,)
        accepted : bool array of shape (n,), optional
            What was decided: reasons of that side come first, at least one of them, or words that there is none.
            Without it the side with the strongest reason comes first.
        call : callable
            What an entity or a relation is called, from its id.

        Returns
        -------
        list of n tuples of str
            Those for and those against apart, the strongest of each first; those against begin with "against: ".
        """
        slots = {side: Slots(self.graph, side) for side in SIDES}
        sides = np.zeros(len(rows)) if accepted is None else np.where(accepted, 1, -1)
        reasons: list[tuple[str, ...]] = [()] * len(rows)
        start = 0
        for evidence, model in self.parts:
            here = np.flatnonzero((rows >= start) & (rows < start + len(evidence)))
            some = rows[here] - start
            log_odds = model.ridge.log_odds(stack_pieces(evidence.pieces, model.columns, some))
            parts = zip(here.tolist(), weigh_topics(evidence, model, some), log_odds.tolist(), strict=True)
            for place, strengths, whole in parts:
                subject = Subject(evidence, int(rows[place]) - start, slots, call, model.share)
                reasons[place] = _choose(subject, strengths, whole, int(sides[place]))
            start += len(evidence)
        return reasons

    def of(self, rows: IntArray, accepted: BoolArray, call: Callable[[str], str] = str) -> list[str]:
        """Return the reasons of some candidates, those for what was decided in front, in one text each.

        ``call`` gives the name of an id; without it ids stand there as they are.
        """
        return [join_reasons(reasons) for reasons in self.give(rows, accepted, call)]

    def marked(self, rows: IntArray) -> list[tuple[str, ...]]:
        """Return the reasons of some candidates as a session stores them: ids in double brackets, no side in front."""
        return self.give(rows, call="[[{}]]".format)

    def column(self, rows: IntArray, count: int) -> NDArray[np.object_]:
        """Return ``count`` texts, the reasons of some candidates, ids in double brackets; the others are empty."""
        column = np.full(count, "", dtype=object)
        column[rows] = np.array([*map(join_reasons, self.marked(rows)), ""], dtype=object)[:-1]
        return column

    def describe(self) -> dict[str, Any]:
        """Return the weights of the evidence as plain values: the largest of the first part first."""
        models = [model for _, model in self.parts]
        weights = sorted(models[0].weights().items(), key=lambda item: -abs(item[1]))
        true = sum(model.share * len(evidence) for evidence, model in self.parts)
        return {
            "holdout_facts": sum(model.holdout for model in models),
            "expected_share": round(true / sum(len(evidence) for evidence, _ in self.parts), 6),
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
    """Write the evidence of candidates and its model, each piece and each curve by its name."""
    ridge = model.ridge
    numbers = [ridge.intercept, model.share, model.holdout]
    columns: dict[str, Any] = {"numbers": np.array(numbers), "weights": ridge.weights}
    columns |= {name: np.array(getattr(graph, name)) for name in ("entity_names", "relation_names")}
    for name, values, normal in zip(model.columns, ridge.quantiles.values, ridge.quantiles.normal, strict=True):
        columns[f"{CURVE}{name}"] = np.stack([values, normal])
    for name, piece in candidates.pieces.items():
        columns[f"{PIECE}{name}"] = piece.astype(np.int32 if name in NAMED_COLUMNS else np.float32)
    with write_beside(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **columns)


def load_evidence(path: Path, candidates: ScoredTriples, graph: Graph) -> tuple[ScoredTriples, EvidenceModel]:
    """Read what :func:`save_evidence` wrote of the first of these candidates; names are those of a graph."""
    try:
        with np.load(path, allow_pickle=False) as columns:
            saved = dict(columns)
        curves = {name.removeprefix(CURVE): curve for name, curve in saved.items() if name.startswith(CURVE)}
        pieces = {
            name.removeprefix(PIECE): piece.astype(np.float64)
            for name, piece in saved.items()
            if name.startswith(PIECE)
        }
        names = saved["entity_names"].tolist(), saved["relation_names"].tolist()
        pieces |= recode_named({name: pieces[name] for name in NAMED_COLUMNS}, names, graph)
        intercept, share, holdout = saved["numbers"].tolist()
        quantiles = Quantiles(tuple(curve[0] for curve in curves.values()), tuple(one[1] for one in curves.values()))
        ridge = Ridge(quantiles, saved["weights"], intercept)
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise FileError(f"{path} does not hold evidence ({error}); look it up again.") from None
    count = len(next(iter(pieces.values())))
    if count > len(candidates):
        raise FileError(f"{path}: it has {count} rows, more than the {len(candidates)} candidates.")
    some = candidates.take(np.arange(count))
    return some.with_pieces(**pieces), EvidenceModel(tuple(curves), ridge, share, int(holdout))
