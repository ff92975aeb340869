"""What the owner looks at one by one: where people differ, what nobody could decide, and what has a note."""

from __future__ import annotations

from typing import Any

from actc.errors import SessionError
from actc.session.cards import make_cards, sentence
from actc.session.session import Session

_BY_OWNER = "SELECT triple FROM answer JOIN annotator ON annotator = id WHERE kind = 'owner'"
KINDS = {
    "differ": "SELECT triple FROM answer JOIN annotator ON annotator = id WHERE kind = 'person' AND label IS NOT NULL "
    f"AND triple NOT IN ({_BY_OWNER}) GROUP BY triple HAVING min(label) != max(label) ORDER BY triple",
    "unsure": f"SELECT triple FROM task WHERE answered > 0 AND labelled = 0 AND triple NOT IN ({_BY_OWNER}) "
    "ORDER BY triple",
    "noted": "SELECT answer.triple FROM judgement JOIN answer ON answer.judgement = judgement.id "
    "JOIN annotator ON answer.annotator = annotator.id WHERE note != '' AND kind = 'person' "
    "GROUP BY answer.triple ORDER BY max(judgement.id) DESC",
}
"""Triples that await the owner's word; those with a note stay when it is given, the newest note first."""


def count_reviews(session: Session) -> dict[str, int]:
    """Count the triples of each kind."""
    return {kind: int(session.store.value(f"SELECT count(*) FROM ({sql})")) for kind, sql in KINDS.items()}


def list_reviews(session: Session, kind: str, most: int = 50) -> list[dict[str, Any]]:
    """Return the first triples of a kind, each as a sentence, with who said what and what the owner decided."""
    rows = session.store.rows(f"{KINDS[kind]} LIMIT ?", (most,))
    return [_line(session, row["triple"]) for row in rows]


def show_review(session: Session, triple: int) -> dict[str, Any]:
    """Return the whole card of a triple that was given out, what the model thinks, and who said what."""
    tasks = session.tasks([triple])
    if not tasks:
        raise SessionError(f"Triple {triple} was not judged in this session.")
    [card] = make_cards(session.names, tasks, show_score=True, when="beside")
    return card | _answers(session, triple)


def _line(session: Session, triple: int) -> dict[str, Any]:
    task = session.tasks([triple])[0]
    words = sentence(*map(session.names.of, (task.head, task.relation, task.tail)))
    return {"triple": triple, "sentence": words} | _answers(session, triple)


def _answers(session: Session, triple: int) -> dict[str, Any]:
    """Return the standing answers of people, the oldest first, and the owner's decision, None where there is none."""
    rows = session.store.rows(
        "SELECT name, kind, said, note FROM answer JOIN judgement ON judgement = judgement.id "
        "JOIN annotator ON answer.annotator = annotator.id WHERE answer.triple = ? ORDER BY judgement",
        (triple,),
    )
    decided = [row["said"] for row in rows if row["kind"] == "owner"]
    answers = [{name: row[name] for name in ("name", "said", "note")} for row in rows if row["kind"] == "person"]
    return {"answers": answers, "decided": decided[0] if decided else None}
