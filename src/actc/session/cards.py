"""One triple as a card: a readable sentence, who and what is meant, and what the graph already has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import quote

from actc.session.lease_queue import Task
from actc.session.names import SOURCE, Name, Names

MOST_KNOWN = 6
MOST_EXAMPLES = 3
MOST_FACTS = 4
MOST_REASONS = 3
MOST_HINT = 40
"""Characters behind a name that distinguish it from a namesake."""
AGAINST = "against: "
SLOT = re.compile(r"\{(head|relation|tail)\}")


def make_card(names: Names, task: Task, when: str = "never") -> dict[str, Any]:
    """Return everything that a page or a terminal shows of a triple, as plain text.

    A repeat or a shared triple looks like any other; reasons are there, with ``when``, only if people should see them.
    """
    known = names.known_tails(task.head, task.relation, task.tail, MOST_KNOWN + 1)
    examples = names.examples(task.relation, task.head, task.tail, MOST_EXAMPLES)
    facts = [names.facts(entity, task.relation, MOST_FACTS) for entity in (task.head, task.tail)]
    ends = [(task.head, task.tail), *examples, *((head, tail) for side in facts for head, _, tail in side)]
    entities = dict.fromkeys([*(end for pair in ends for end in pair), *known])
    named, relation_of = disambiguate(map(names.of, entities)), cache(names.of)

    def write(head: str, relation: str, tail: str) -> list[dict[str, str]]:
        return sentence(named[head], relation_of(relation), named[tail])

    card = {
        "triple": task.triple,
        "sentence": write(task.head, task.relation, task.tail),
        "head": _describe(named[task.head], names.link),
        "relation": _describe(relation_of(task.relation)),
        "tail": _describe(named[task.tail], names.link),
        "known": [named[other].name for other in known[:MOST_KNOWN]],
        "more_known": len(known) > MOST_KNOWN,
        "examples": [write(head, task.relation, tail) for head, tail in examples],
        "head_facts": [write(*fact) for fact in facts[0]],
        "tail_facts": [write(*fact) for fact in facts[1]],
        "why": task.reason,
        "source": names.text(SOURCE, task.triple),
    }
    if when != "never" and (texts := names.reasons(task.triple)[:MOST_REASONS]):
        reasons = [{"for": not text.startswith(AGAINST), "text": text.removeprefix(AGAINST)} for text in texts]
        card |= {"when": when, "reasons": reasons}
    return card


def disambiguate(entities: Iterable[Name]) -> dict[str, Name]:
    """Return entities by their ids, with a few words behind each name that two of them share."""
    by_id = {one.id: one for one in entities}
    things = [one for one in by_id.values() if not one.id.startswith('"')]  # a literal has no namesake
    shared = Counter(one.name for one in things)
    hints = {one.id: _hint(one) for one in things if shared[one.name] > 1}
    hint_counts = Counter((by_id[key].name, hint) for key, hint in hints.items())
    for key, hint in hints.items():
        name = by_id[key].name
        by_id[key] = replace(by_id[key], name=f"{name} ({hint if hint_counts[name, hint] == 1 else key})")
    return by_id


def _hint(named: Name) -> str:
    """Return a few words that distinguish an entity from a namesake: of its description, its types, or its id."""
    text = re.split(r" \(|[;:]", named.description or named.types)[0].strip() or named.id
    return text if len(text) <= MOST_HINT else f"{text[:MOST_HINT].rsplit(' ', 1)[0]}…"


def sentence(head: Name, relation: Name, tail: Name) -> list[dict[str, str]]:
    """Return a triple as parts of a sentence, spaces and all; parts that name something have a ``role``.

    Two ends of the same name are disambiguated.
    """
    if head.name == tail.name:
        apart = disambiguate([head, tail])
        head, tail = apart[head.id], apart[tail.id]
    written = "{head}" in relation.template and "{tail}" in relation.template
    parts = SLOT.split(relation.template if written else "{head} {relation} {tail}")
    named = {"head": head.name, "relation": relation.name, "tail": tail.name}
    return [
        {"role": part, "text": named[part]} if place % 2 else {"text": part} for place, part in enumerate(parts) if part
    ]


def plain(parts: list[dict[str, str]]) -> str:
    """Return a sentence as one line of text."""
    return " ".join("".join(part["text"] for part in parts).split())


def _describe(named: Name, template: str = "") -> dict[str, str]:
    """Return the description of an entity or a relation on a card."""
    described = {"id": named.id, "name": named.name, "description": named.description, "types": named.types}
    return described | {"link": link_of(named.id, template)}


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
