"""Put judgements into the history: each once, however often it is sent; none is ever removed.

All functions run inside a write transaction of the caller's.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from actc.errors import OptionError, SessionError, check_choice
from actc.session.lease_queue import LeaseQueue

LABELS: dict[str, int | None] = {"true": 1, "false": 0, "unsure": None}
WORDS = {"true": "true", "false": "false", "unsure": "not sure"}


@dataclass(frozen=True)
class Judgement:
    """One answer of an annotator, or the undoing of one.

    Parameters
    ----------
    answer : {"true", "false", "unsure", "undo"}
        The answer, or that an earlier one is taken back.
    triple : int or None
        The row of the pool that is judged; None for "undo".
    key : str
        The sender's own name for this judgement. Sent again under the same key, it is stored once.
    seconds : float, optional
        How long the card was looked at.
    note : str
        A comment of the annotator's.
    undoes : str, optional
        The key of the judgement that "undo" takes back; the annotator's last standing one if not given.
    """

    answer: str
    triple: int | None
    key: str
    seconds: float | None = None
    note: str = ""
    undoes: str | None = None

    def __post_init__(self) -> None:
        check_choice("answer", self.answer, (*LABELS, "undo"))
        for name in ("key", "note"):
            if not is_storable(getattr(self, name)):
                raise OptionError(f"The {name} has half a character in it (a lone surrogate), which cannot be stored.")


Recorded = dict[str, int]
"""A stored judgement: its ``id`` in the history, and its ``triple``; for "undo", the one that is open again."""


def is_storable(text: str) -> bool:
    """Return whether a text can be written as UTF-8: JSON may hold halves of characters, which no file can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def record(queue: LeaseQueue, judgement: Judgement, shown: dict[str, object]) -> Recorded:
    """Add a judgement to the history, and end the lease of its triple.

    ``shown`` has what the card showed: the ``sentence``, and when the ``reasons``.
    """
    stored = find_stored(queue, judgement)
    if stored is not None:
        return stored
    if judgement.answer == "undo":
        return _undo(queue, judgement)
    sql = "SELECT purpose, probability FROM lease JOIN task USING (triple) WHERE annotator = :who AND triple = :triple"
    task = queue.run(sql, triple=judgement.triple).fetchone()
    if judgement.triple is None or task is None:
        return _find_same(queue, judgement, str(shown["sentence"]))
    if "reasons" in shown:
        # Somebody who answers a triple again has read the reasons after the first answer.
        sql = "SELECT 1 FROM judgement WHERE triple = :triple AND annotator = :who LIMIT 1"
        again = queue.run(sql, triple=judgement.triple).fetchone()
        shown = shown | {"reasons": "before" if again or shown["reasons"] == "beside" else "after"}
    content = json.dumps(shown, ensure_ascii=False)
    number = insert(queue, judgement, judgement.triple, task["purpose"], content, task["probability"])
    queue.run("DELETE FROM lease WHERE annotator = :who AND triple = :triple", triple=judgement.triple)
    return {"id": number, "triple": judgement.triple}


def _find_same(queue: LeaseQueue, judgement: Judgement, sentence: str) -> Recorded:
    """Return the standing answer if it is the same: two windows of one person may show the same card.

    Another one stands, and the person reads that in the error.
    """
    standing = queue.run(
        "SELECT answer, note, judgement.id FROM answer JOIN judgement ON judgement = judgement.id "
        "WHERE answer.triple = :triple AND answer.annotator = :who",
        triple=judgement.triple,
    ).fetchone()
    if judgement.triple is None or standing is None:
        name = queue.annotator.name
        raise SessionError(f"{name} was not asked about triple {judgement.triple}, or took the answer back.")
    if standing["answer"] == judgement.answer and judgement.note in ("", standing["note"]):
        return {"id": standing["id"], "triple": judgement.triple}
    before, now = WORDS[standing["answer"]], WORDS[judgement.answer]
    # The isolates keep a sentence that runs from right to left from turning the words around it.
    raise SessionError(
        f"“\u2068{sentence}\u2069”: the earlier answer “{before}” stands; “{now}” was not stored. "
        "Change it under “My answers”."
    )


def find_stored(queue: LeaseQueue, judgement: Judgement) -> Recorded | None:
    """Return a judgement that the same annotator sent before under the same key; None if it is new."""
    sql = "SELECT id, triple, answer FROM judgement WHERE annotator = :who AND key = :key"
    old = queue.run(sql, key=judgement.key).fetchone()
    if old is None:
        return None
    if old["answer"] != judgement.answer or (judgement.answer != "undo" and old["triple"] != judgement.triple):
        raise SessionError(f"The key {judgement.key!r} was used for another judgement; give each one its own.")
    return {"id": old["id"], "triple": old["triple"]}


def insert(
    queue: LeaseQueue,
    judgement: Judgement,
    triple: int,
    purpose: str,
    shown: str = "{}",
    probability: float | None = None,
    undoes: int | None = None,
) -> int:
    """Write one row of history, and the standing answer that follows from it; return the row's number."""
    number = queue.run(
        "INSERT INTO judgement "
        "(at, annotator, triple, answer, purpose, key, seconds, note, shown, probability, undoes) "
        "VALUES (:at, :who, :triple, :answer, :purpose, :key, :seconds, :note, :shown, :probability, :undoes)",
        **vars(judgement) | {"triple": triple, "purpose": purpose, "shown": shown, "undoes": undoes},
        probability=probability,
    ).lastrowid
    assert number is not None
    # Not INSERT OR REPLACE: its silent delete fires no trigger, and the triggers count.
    queue.run("DELETE FROM answer WHERE triple = :triple AND annotator = :who", triple=triple)
    standing = number if judgement.answer != "undo" else _last_standing(queue, triple)
    queue.run(
        "INSERT INTO answer (triple, annotator, label, judgement) SELECT triple, annotator, "
        "CASE answer WHEN 'true' THEN 1 WHEN 'false' THEN 0 END, id FROM judgement WHERE id = :standing",
        standing=standing,
    )
    return number


def _last_standing(queue: LeaseQueue, triple: int) -> int | None:
    """Return the number of the annotator's last judgement of a triple that is not taken back."""
    row: sqlite3.Row | None = queue.run(
        "SELECT j.id FROM judgement AS j LEFT JOIN judgement AS u ON u.undoes = j.id WHERE j.annotator = :who "
        "AND j.triple = :triple AND j.answer != 'undo' AND u.id IS NULL ORDER BY j.id DESC LIMIT 1",
        triple=triple,
    ).fetchone()
    return None if row is None else int(row["id"])


def _undo(queue: LeaseQueue, undo: Judgement) -> Recorded:
    """Take back a standing judgement, and put its triple in front of the annotator again."""
    wanted = "AND j.key = :undoes" if undo.undoes is not None else "AND :undoes IS NULL"
    old = queue.run(
        "SELECT j.id, j.triple, j.purpose FROM judgement AS j LEFT JOIN judgement AS u ON u.undoes = j.id "
        f"WHERE j.annotator = :who AND j.answer != 'undo' AND u.id IS NULL {wanted} ORDER BY j.id DESC LIMIT 1",
        undoes=undo.undoes,
    ).fetchone()
    if old is None:
        given = "" if undo.undoes is None else " Your standing answers are under “My answers”."
        raise SessionError(f"There is nothing to undo.{given}")
    number = insert(queue, undo, old["triple"], old["purpose"], undoes=old["id"])
    # The triple of an imported judgement, or of the owner's decision, was leased to nobody: it is not leased now.
    if old["purpose"] in ("new", "shared", "again"):
        queue.lease([old["triple"]], old["purpose"], in_front=True)
    return {"id": number, "triple": old["triple"]}
