"""Why a candidate may be true or false, in sentences a person can check."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from actc.evidence.plan import NAMED_COLUMNS, SIDES
from actc.evidence.table import Evidence
from actc.evidence.worth import Worth
from actc.triples import FloatArray

# Pieces whose columns speak of the same thing make one sentence.
TOPICS = {f"{side}_{name}": f"{side}_{name}" for side in SIDES for name in ("slot", "kind", "rule", "relatives")}
TOPICS |= {f"{side}_{name}": f"{side}_share" for side in SIDES for name in ("degree", "share")}
TOPICS |= {"pair": "pair", "path": "path", "same": "same", "place": "question", "behind": "question"}


class Row:
    """One candidate's evidence by name, and the names that its sentences need."""

    def __init__(self, evidence: Evidence, row: int) -> None:
        self.value: dict[str, float] = dict(zip(evidence.columns, evidence.values[row].tolist(), strict=True))
        self.code: dict[str, int] = dict(zip(NAMED_COLUMNS, evidence.named[row].tolist(), strict=True))
        self.head, self.relation, self.tail = evidence.candidates.triple(row)
        self._evidence = evidence

    def end(self, side: str) -> str:
        """Return the name of the head or the tail."""
        return self.head if side == "head" else self.tail

    def other(self, side: str) -> str:
        """Return the name of the entity at the other end."""
        return self.tail if side == "head" else self.head

    def entity(self, name: str) -> str:
        """Return the name of an entity that a sentence needs."""
        return self._evidence.entity_names[self.code[name]]

    def link(self, name: str) -> str:
        """Return the name of a relation that a sentence needs, said so when it is read backwards."""
        slot = self.code[name]
        relation = self._evidence.relation_names[slot // 2]
        return f"{relation} (backwards)" if slot % 2 else relation

    def has(self, name: str) -> bool:
        """Say whether there is something to name."""
        return self.code[name] >= 0


def give_reasons(evidence: Evidence, worth: Worth, most: int = 3) -> list[tuple[str, ...]]:
    """Say of each candidate what speaks most for or against it.

    Parameters
    ----------
    evidence : Evidence
        Of N candidates, a page or a file full; a sentence each is made for these only.
    worth : Worth
    most : int
        Sentences per candidate at most.

    Returns
    -------
    list of N tuples of str
        The strongest first; what speaks against begins with "against: ".
    """
    topics, strength = topic_strengths(evidence, worth)
    reasons = []
    for row, pieces in enumerate(strength):
        about = Row(evidence, row)
        found: list[str] = []
        for place in np.argsort(-np.abs(pieces)).tolist():
            sentence = SENTENCES[topics[place]](about)
            if sentence and abs(pieces[place]) > 0.05 and len(found) < most:
                found.append(sentence if pieces[place] > 0 else f"against: {sentence}")
        reasons.append(tuple(found))
    return reasons


def topic_strengths(evidence: Evidence, worth: Worth) -> tuple[list[str], FloatArray]:
    """Return the topics of sentences, and what each adds to the log-odds of each candidate, shape (N, topics)."""
    pieces = worth.ridge.pieces(evidence.only(worth.columns).values)
    topic = [next((said for begins, said in TOPICS.items() if name.startswith(begins)), "") for name in worth.columns]
    topics = sorted(set(topic) - {""})
    strength = [pieces[:, [name == said for name in topic]].sum(axis=1) for said in topics]
    return topics, np.column_stack(strength) if strength else np.zeros((len(evidence), 0))


def _say_slot(side: str) -> Callable[[Row], str]:
    def say(row: Row) -> str:
        count, usual = int(row.value[f"{side}_slot_filled"]), row.value[f"{side}_slot_usual"]
        what = "tails" if side == "head" else "heads"
        return f"{row.end(side)} has {count or 'no'} other {what} of {row.relation}; {usual:.3g} is usual"

    return say


def _say_kind(side: str) -> Callable[[Row], str]:
    def say(row: Row) -> str:
        share = row.value[f"{side}_kind_best"]
        return f"{share:.0%} of entities that occur where {row.end(side)} does are a {side} of {row.relation}"

    return say


def _say_rule(side: str) -> Callable[[Row], str]:
    def say(row: Row) -> str:
        if not row.has(f"{side}_rule_slot"):
            return ""
        share, slot = row.value[f"{side}_rule_best"], row.link(f"{side}_rule_slot")
        fact = f"{slot} {row.entity(f'{side}_rule_entity')}"
        return f"{share:.0%} of the others with {fact}, as {row.end(side)}, have {row.relation} with {row.other(side)}"

    return say


def _say_relatives(side: str) -> Callable[[Row], str]:
    def say(row: Row) -> str:
        count, total = int(row.value[f"{side}_relatives_five"]), row.code[f"{side}_relatives_count"]
        return f"{count} of the {total} entities most like {row.end(side)} have it" if total else ""

    return say


def _say_share(side: str) -> Callable[[Row], str]:
    def say(row: Row) -> str:
        share, degree = row.value[f"{side}_share"], int(row.value[f"{side}_degree"])
        return f"{row.end(side)} is the {side} of {share:.1%} of {row.relation}, and in {degree} facts"

    return say


def _say_pair(row: Row) -> str:
    if not row.has("pair_slot"):
        return f"no other relation holds between {row.head} and {row.tail}"
    return (
        f"{row.link('pair_slot')} holds between the two; with it {row.relation} holds in {row.value['pair_best']:.0%}"
    )


def _say_path(row: Row) -> str:
    if not row.has("path_first"):
        return f"no path of two facts joins {row.head} and {row.tail}"
    steps = f"{row.link('path_first')}, then {row.link('path_second')}"
    return f"a path joins the two: {steps}; such paths go with {row.relation} in {row.value['path_best']:.0%}"


def _say_same(row: Row) -> str:
    return "head and tail are the same" if row.value["same_entity"] else ""


def _say_question(row: Row) -> str:
    tail, head = int(row.value["place_among_tails"]), int(row.value["place_among_heads"])
    return f"the model puts it at place {tail} of the tails and {head} of the heads proposed"


SENTENCES: dict[str, Callable[[Row], str]] = {
    f"{side}_{name}": say(side)
    for side in SIDES
    for name, say in {
        "slot": _say_slot,
        "kind": _say_kind,
        "rule": _say_rule,
        "relatives": _say_relatives,
        "share": _say_share,
    }.items()
} | {"pair": _say_pair, "path": _say_path, "same": _say_same, "question": _say_question}
