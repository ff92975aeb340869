"""Put judgements into the history: each once, however often it is sent; none is ever taken out.

All functions run inside a write transaction of the caller's.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from actc.errors import OptionError, SessionError, check_choice
from actc.session.ask import LeaseQueue

LABELS: dict[str, int | None] = {"true": 1, "false": 0, "unsure": None}
SAID = (*LABELS, "undo")
WORDS = {"true": "true", "false": "false", "unsure": "not sure"}


@dataclass(frozen=True)
class Judgement:
    """What an annotator sends.

    Parameters
    ----------
    said : {"true", "false", "unsure", "undo"}
        The answer, or that an earlier one is taken back.
    triple : int or None
        The row of the pool that is judged; None for "undo".
    key : str
        The sender's own name for this judgement. Sent again under the same key, it is stored once.
    seconds : float, optional
        How long the card was looked at.
    note : str
        Whatever the annotator wants to say.
    shown : str
        The sentence that was on the card.
    reasons : {"", "after", "beside"}
        Whether what speaks for and against the triple was shown, and when; empty where it was not.
    undoes : str, optional
        The key of the judgement that "undo" takes back; the annotator's last standing one if not given.
    """

    said: str
    triple: int | None
    key: str
    seconds: float | None = None
    note: str = ""
    shown: str = ""
    reasons: str = ""
    undoes: str | None = None

    def __post_init__(self) -> None:
        check_choice("answer", self.said, SAID)
        for name in ("key", "note"):
            if not is_storable(getattr(self, name)):
                raise OptionError(f"The {name} has half a character in it (a lone surrogate), which cannot be stored.")


def is_storable(text: str) -> bool:
    """Say whether a text can be written as UTF-8: JSON may hold halves of characters, which no file can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True)
class Recorded:
    """What became of a judgement.

    Parameters
    ----------
    id : int
        Its number in the history.
    triple : int
        Its triple; for "undo", the one that is open again.
    """

    id: int
    triple: int


def record(queue: LeaseQueue, judgement: Judgement, score_shown: bool = False) -> Recorded:
    """Add a judgement to the history, and end the lease of its triple."""
    stored = find_stored(queue, judgement)
    if stored is not None:
        return stored
    if judgement.said == "undo":
        return _undo(queue, judgement)
    sql = "SELECT purpose, probability FROM lease JOIN task USING (triple) WHERE annotator = :who AND triple = :triple"
    asked = queue.run(sql, triple=judgement.triple).fetchone()
    if judgement.triple is None or asked is None:
        return _said_before(queue, judgement)
    seen = {"sentence": judgement.shown, "score": score_shown} | _reasons_seen(queue, judgement)
    shown = json.dumps(seen, ensure_ascii=False)
    number = insert(queue, judgement, judgement.triple, asked["purpose"], shown, asked["probability"])
    queue.run("DELETE FROM lease WHERE annotator = :who AND triple = :triple", triple=judgement.triple)
    return Recorded(number, judgement.triple)


def _reasons_seen(queue: LeaseQueue, judgement: Judgement) -> dict[str, str]:
    """Say whether the annotator could read reasons before this answer or only after it; nothing where there are none.

    Who answers the same triple again has read what was shown after the first answer.
    """
    if not judgement.reasons:
        return {}
    sql = "SELECT 1 FROM judgement WHERE triple = :triple AND annotator = :who LIMIT 1"
    again = queue.run(sql, triple=judgement.triple).fetchone()
    return {"reasons": "before" if again or judgement.reasons == "beside" else "after"}


def _said_before(queue: LeaseQueue, judgement: Judgement) -> Recorded:
    """Return the standing answer that says the same: two windows of one person may show the same card.

    One that says something else stands, and this is said.
    """
    standing, name = _standing_of(queue, judgement.triple), queue.annotator.name
    if judgement.triple is None or standing is None:
        raise SessionError(f"{name} was not asked about triple {judgement.triple}, or took the answer back.")
    if standing["said"] == judgement.said and judgement.note in ("", standing["note"]):
        return Recorded(standing["id"], judgement.triple)
    before, now = WORDS[standing["said"]], WORDS[judgement.said]
    # The isolates keep a sentence that runs from right to left from turning the words around it.
    raise SessionError(
        f"“\u2068{judgement.shown}\u2069”: “{before}”, given before, stands; “{now}” was not taken. "
        "Change it under “My answers”."
    )


def _standing_of(queue: LeaseQueue, triple: int | None) -> sqlite3.Row | None:
    row: sqlite3.Row | None = queue.run(
        "SELECT said, note, judgement.id FROM answer JOIN judgement ON judgement = judgement.id "
        "WHERE answer.triple = :triple AND answer.annotator = :who",
        triple=triple,
    ).fetchone()
    return row


def find_stored(queue: LeaseQueue, judgement: Judgement) -> Recorded | None:
    """Return what became of a judgement that the same annotator sent before under the same key; None if it is new."""
    sql = "SELECT id, triple, said FROM judgement WHERE annotator = :who AND key = :key"
    old = queue.run(sql, key=judgement.key).fetchone()
    if old is None:
        return None
    if old["said"] != judgement.said or (judgement.said != "undo" and old["triple"] != judgement.triple):
        raise SessionError(f"The key {judgement.key!r} was used for another judgement; give each one its own.")
    return Recorded(old["id"], old["triple"])


def insert(
    queue: LeaseQueue,
    judgement: Judgement,
    triple: int,
    purpose: str,
    shown: str = "{}",
    probability: float | None = None,
    undoes: int | None = None,
) -> int:
    """Write one row of history, and the standing answer that follows from it."""
    number = queue.run(
        "INSERT INTO judgement (at, annotator, triple, said, purpose, key, seconds, note, shown, probability, undoes) "
        "VALUES (:at, :who, :triple, :said, :purpose, :key, :seconds, :note, :shown, :probability, :undoes)",
        **vars(judgement) | {"triple": triple, "purpose": purpose, "shown": shown, "undoes": undoes},
        probability=probability,
    ).lastrowid
    assert number is not None
    if judgement.said != "undo":
        _let_stand(queue, triple, judgement.said, number)
    return number


def _let_stand(queue: LeaseQueue, triple: int, said: str | None, judgement: int | None) -> None:
    """Replace an annotator's standing answer to a triple; None where none stands any more."""
    # Not INSERT OR REPLACE: its silent delete fires no trigger, and the triggers count.
    queue.run("DELETE FROM answer WHERE triple = :triple AND annotator = :who", triple=triple)
    if said is not None:
        sql = "INSERT INTO answer (triple, annotator, label, judgement) VALUES (:triple, :who, :label, :judgement)"
        queue.run(sql, triple=triple, label=LABELS[said], judgement=judgement)


def _undo(queue: LeaseQueue, undo: Judgement) -> Recorded:
    """Take back a standing judgement, and put its triple in front of the annotator again."""
    wanted = "AND j.key = :undoes" if undo.undoes is not None else "AND :undoes IS NULL"
    old = queue.run(
        "SELECT j.id, j.triple, j.purpose FROM judgement AS j LEFT JOIN judgement AS u ON u.undoes = j.id "
        f"WHERE j.annotator = :who AND j.said != 'undo' AND u.id IS NULL {wanted} ORDER BY j.id DESC LIMIT 1",
        undoes=undo.undoes,
    ).fetchone()
    if old is None:
        given = "" if undo.undoes is None else " Your standing answers are under “My answers”."
        raise SessionError(f"There is nothing to undo.{given}")
    number = insert(queue, undo, old["triple"], old["purpose"], undoes=old["id"])
    _restore_answer(queue, old["triple"])
    # The triple of an imported judgement, or of the owner's decision, was leased to nobody: it is not leased now.
    if old["purpose"] in ("new", "shared", "again"):
        queue.lease([old["triple"]], old["purpose"], in_front=True)
    return Recorded(number, old["triple"])


def _restore_answer(queue: LeaseQueue, triple: int) -> None:
    """Make the last judgement that is not taken back the standing answer; where all are, there is none."""
    standing = queue.run(
        "SELECT j.said, j.id FROM judgement AS j LEFT JOIN judgement AS u ON u.undoes = j.id WHERE j.annotator = :who "
        "AND j.triple = :triple AND j.said != 'undo' AND u.id IS NULL "
        "ORDER BY j.id DESC LIMIT 1",
        triple=triple,
    ).fetchone()
    _let_stand(queue, triple, *(standing or (None, None)))
