"""One triple as a card: a readable sentence, who and what is meant, and what the graph already says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from actc.session.ask import Task, read_rivals
from actc.session.names import Named, Names
from actc.session.reasons import reasons_of
from actc.session.texts import source_of

MOST_KNOWN = 6
MOST_EXAMPLES = 3
MOST_FACTS = 4
MOST_REASONS = 3
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
    head, relation, tail = names.of(task.head), names.of(task.relation), names.of(task.tail)
    known = names.known_tails(task.head, task.relation, MOST_KNOWN + 1)
    card = {
        "triple": task.triple,
        "sentence": sentence(head, relation, tail),
        "head": describe(head, names.link),
        "relation": describe(relation),
        "tail": describe(tail, names.link),
        "known": [names.of(other).name for other in known[:MOST_KNOWN]],
        "more_known": len(known) > MOST_KNOWN,
        "examples": [
            sentence(names.of(h), relation, names.of(t))
            for h, t in names.examples(task.relation, task.head, task.tail, MOST_EXAMPLES)
        ],
        "head_facts": _facts(names, task.head, task.relation),
        "tail_facts": _facts(names, task.tail, task.relation),
        "why": task.reason,
        "source": source_of(names, task.triple),
    }
    rivals = [task, *read_rivals(task)]
    if len(rivals) > 1:  # in the order of the pool, which tells nothing of what the model thinks
        card["rivals"] = [
            {"triple": one.triple, "sentence": sentence(*map(names.of, (one.head, one.relation, one.tail)))}
            for one in sorted(rivals, key=lambda one: one.triple)
        ]
    if show_score:
        card |= {"score": task.score, "probability": task.probability}
    return card


def _facts(names: Names, entity: str, relation: str) -> list[list[dict[str, str]]]:
    """Return what else the graph says about an entity, as sentences."""
    facts = names.facts(entity, relation, MOST_FACTS)
    return [sentence(names.of(h), names.of(r), names.of(t)) for h, r, t in facts]


def sentence(head: Named, relation: Named, tail: Named) -> list[dict[str, str]]:
    """Return a triple as parts of a sentence, spaces and all; parts that name something have a ``role``."""
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
