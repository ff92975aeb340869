"""One triple as a card: a readable sentence, who and what is meant, and what the graph already says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from actc.session.ask import Task
from actc.session.names import SOURCE, Named, Names
from actc.session.texts import reasons_of

MOST_KNOWN = 6
MOST_EXAMPLES = 3
MOST_FACTS = 4
MOST_REASONS = 3
MOST_HINT = 40
"""Characters behind a name that tell it from a namesake."""
AGAINST = "against: "
SLOT = re.compile(r"\{(head|tail)\}")


def make_cards(names: Names, tasks: Sequence[Task], show_score: bool, when: str) -> list[dict[str, Any]]:
    """Return the cards of some triples; those with reasons have them too, and ``when`` to show them, unless never."""
    cards = [make_card(names, task, show_score) for task in tasks]
    if when == "never":
        return cards
    found = reasons_of(names, [task.triple for task in tasks])
    return [card | _reasons(said, when) for card, said in zip(cards, found, strict=True)]


def _reasons(said: Sequence[str], when: str) -> dict[str, Any]:
    """Return the strongest reasons, each with which way it speaks; nothing where there are none."""
    parts = [(not text.startswith(AGAINST), text.removeprefix(AGAINST)) for text in said[:MOST_REASONS]]
    return {"reasons": [{"for": speaks_for, "text": text} for speaks_for, text in parts], "when": when} if said else {}


def make_card(names: Names, task: Task, show_score: bool = False) -> dict[str, Any]:
    """Return everything that a page or a terminal shows of a triple, as plain text.

    Nothing in it tells a hidden repeat or a shared triple from any other, and what the model thinks is only there if
    it should be seen.
    """
    known = names.known_tails(task.head, task.relation, MOST_KNOWN + 2)
    known = [tail for tail in known if tail != task.tail]  # a fact that is doubted does not speak for itself
    examples = names.examples(task.relation, task.head, task.tail, MOST_EXAMPLES)
    facts = [names.facts(entity, task.relation, MOST_FACTS) for entity in (task.head, task.tail)]
    said = [(task.head, task.relation, task.tail), *((h, task.relation, t) for h, t in examples), *facts[0], *facts[1]]
    entities = dict.fromkeys([*(end for h, _, t in said for end in (h, t)), *known])
    named = tell_apart(map(names.of, entities))

    def say(head: str, relation: str, tail: str) -> list[dict[str, str]]:
        return sentence(named[head], names.of(relation), named[tail])

    card = {
        "triple": task.triple,
        "sentence": say(task.head, task.relation, task.tail),
        "head": describe(named[task.head], names.link),
        "relation": describe(names.of(task.relation)),
        "tail": describe(named[task.tail], names.link),
        "known": [named[other].name for other in known[:MOST_KNOWN]],
        "more_known": len(known) > MOST_KNOWN,
        "examples": [say(h, task.relation, t) for h, t in examples],
        "head_facts": [say(*fact) for fact in facts[0]],
        "tail_facts": [say(*fact) for fact in facts[1]],
        "why": task.reason,
        "source": names.texts(SOURCE, [task.triple])[0],
    }
    if show_score:
        card |= {"score": task.score, "probability": task.probability, "belief": _say_belief(task)}
    return card


def _say_belief(task: Task) -> str:
    """Say what the model thinks of a triple."""
    likely = "" if task.probability is None else f", which it takes for {task.probability:.0%} likely to be true"
    return f"The model gave it a score of {task.score:.4g}{likely}."


def tell_apart(entities: Iterable[Named]) -> dict[str, Named]:
    """Return entities by their ids, with a few words behind each name that two of them share."""
    found = {one.id: one for one in entities}
    things = [one for one in found.values() if not one.id.startswith('"')]  # a text is nobody's namesake
    shared = Counter(one.name for one in things)
    hints = {one.id: _hint(one) for one in things if shared[one.name] > 1}
    hint_counts = Counter((found[key].name, hint) for key, hint in hints.items())
    for key, hint in hints.items():
        name = found[key].name
        found[key] = replace(found[key], name=f"{name} ({hint if hint_counts[name, hint] == 1 else key})")
    return found


def _hint(named: Named) -> str:
    """Return what tells an entity from a namesake: the beginning of its description, its types, or its id."""
    text = re.split(r" \(|[;:]", named.description or named.types)[0].strip() or named.id
    return text if len(text) <= MOST_HINT else f"{text[:MOST_HINT].rsplit(' ', 1)[0]}…"


def sentence(head: Named, relation: Named, tail: Named) -> list[dict[str, str]]:
    """Return a triple as parts of a sentence, spaces and all; parts that name something have a ``role``.

    Two ends of the same name are told apart.
    """
    if head.name == tail.name:
        apart = tell_apart([head, tail])
        head, tail = apart[head.id], apart[tail.id]
    if not ("{head}" in relation.template and "{tail}" in relation.template):
        space = {"text": " "}
        return [_slot("head", head), space, _slot("relation", relation), space, _slot("tail", tail)]
    named = {"head": head, "tail": tail}
    parts = SLOT.split(relation.template)
    return [_slot(part, named[part]) if place % 2 else {"text": part} for place, part in enumerate(parts) if part]


def plain(parts: list[dict[str, str]]) -> str:
    """Return a sentence as one line of text."""
    return " ".join("".join(part["text"] for part in parts).split())


def describe(named: Named, template: str = "") -> dict[str, str]:
    """Return what a card says about an entity or a relation."""
    described = {"id": named.id, "name": named.name, "description": named.description, "types": named.types}
    link = link_of(named.id, template)
    return described | ({"link": link} if link else {})


def link_of(identifier: str, template: str = "") -> str:
    """Return the address of an id that is one itself, else by the template, else of Wikidata's and Freebase's ids.

    Empty where there is none. An id in a template is quoted, so that no id leads elsewhere.
    """
    if re.fullmatch(r"https?://[!-~]{3,500}", identifier):
        return identifier
    if template:
        return template.replace("{id}", quote(identifier, safe=""))
    plain_id = re.sub(r"^(wd|wdt|wikidata):", "", identifier)
    if re.fullmatch(r"Q[1-9]\d{0,11}", plain_id):
        return f"https://www.wikidata.org/wiki/{plain_id}"
    if re.fullmatch(r"P[1-9]\d{0,11}", plain_id):
        return f"https://www.wikidata.org/wiki/Property:{plain_id}"
    if re.fullmatch(r"/[mg]/[0-9a-z_]{1,20}", identifier):  # Freebase is gone; Wikidata knows its ids (P646)
        return f"https://www.wikidata.org/w/index.php?search=haswbstatement:P646={identifier}"
    return ""


def _slot(role: str, named: Named) -> dict[str, str]:
    return {"role": role, "text": named.name}
