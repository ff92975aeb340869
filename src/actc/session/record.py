"""Put judgements into the history: each once, however often it is sent; none is ever taken out.

All functions run inside a write transaction of the caller's.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from actc.errors import OptionError, SessionError, check_choice
from actc.session.ask import TASK, Annotator, Task, lease, lease_clock, read_rivals

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
    chosen : sequence of int, optional
        Of a card with rivals: which of its triples are true, the others being false; with "undo", that all are open
        again.
    """

    said: str
    triple: int | None
    key: str
    seconds: float | None = None
    note: str = ""
    shown: str = ""
    reasons: str = ""
    undoes: str | None = None
    chosen: Sequence[int] | None = None

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


def record(
    connection: sqlite3.Connection, annotator: Annotator, judgement: Judgement, now: float, score_shown: bool = False
) -> Recorded:
    """Add a judgement to the history, and end the lease of its triple."""
    stored = find_stored(connection, annotator, judgement)
    if stored is not None:
        return stored
    if judgement.chosen is not None:
        _record_rivals(connection, annotator, judgement, now, score_shown)
    if judgement.said == "undo":
        return _undo(connection, annotator, judgement, now)
    asked = connection.execute(
        "SELECT purpose, probability FROM lease JOIN task USING (triple) WHERE annotator = ? AND triple = ?",
        (annotator.id, judgement.triple),
    ).fetchone()
    if judgement.triple is None or asked is None:
        return _said_before(connection, annotator, judgement)
    seen = {"sentence": judgement.shown, "score": score_shown} | _reasons_seen(connection, annotator, judgement)
    shown = json.dumps(seen, ensure_ascii=False)
    number = insert(
        connection, annotator, judgement, judgement.triple, asked["purpose"], now, shown, asked["probability"]
    )
    connection.execute("DELETE FROM lease WHERE annotator = ? AND triple = ?", (annotator.id, judgement.triple))
    return Recorded(number, judgement.triple)


def _record_rivals(
    connection: sqlite3.Connection, annotator: Annotator, judgement: Judgement, now: float, score_shown: bool
) -> None:
    """Store what one answer says of the rivals on its card, or take all of that back."""
    assert judgement.chosen is not None
    if judgement.said == "undo":
        old = connection.execute(
            "SELECT j.key FROM judgement AS j LEFT JOIN judgement AS u ON u.undoes = j.id "
            "WHERE j.annotator = ? AND j.key GLOB ? || '/*' AND u.id IS NULL",
            (annotator.id, judgement.undoes),
        ).fetchall()
        for place, row in enumerate(old):
            key = f"{judgement.key}/{place}"
            _undo(connection, annotator, replace(judgement, key=key, undoes=row["key"]), now)
        return
    if (judgement.said == "true") != (judgement.triple in judgement.chosen) or judgement.said == "unsure":
        raise OptionError("A card with rivals is answered by those that are true; what is said of its own differs.")
    rivals = _rivals_of(connection, judgement)
    if not set(judgement.chosen) <= {judgement.triple, *rivals}:
        raise SessionError("A triple was chosen that is not on the card.")
    leased = "SELECT triple FROM lease WHERE annotator = ?"
    mine = {found[0] for found in connection.execute(leased, (annotator.id,))}
    for rival in rivals:
        if rival in mine:
            said = "true" if rival in judgement.chosen else "false"
            one = replace(judgement, said=said, triple=rival, key=f"{judgement.key}/{rival}", note="", chosen=None)
            record(connection, annotator, one, now, score_shown)


def _rivals_of(connection: sqlite3.Connection, judgement: Judgement) -> list[int]:
    """Return the other triples on the card of a judgement."""
    row = connection.execute(f"SELECT {TASK} FROM task WHERE triple = ?", (judgement.triple,)).fetchone()
    return [] if row is None else [rival.triple for rival in read_rivals(Task(*row))]


def _reasons_seen(connection: sqlite3.Connection, annotator: Annotator, judgement: Judgement) -> dict[str, str]:
    """Say whether the annotator could read reasons before this answer or only after it; nothing where there are none.

    Who answers the same triple again has read what was shown after the first answer.
    """
    if not judgement.reasons:
        return {}
    again = connection.execute(
        "SELECT 1 FROM judgement WHERE triple = ? AND annotator = ? LIMIT 1", (judgement.triple, annotator.id)
    ).fetchone()
    return {"reasons": "before" if again or judgement.reasons == "beside" else "after"}


def _said_before(connection: sqlite3.Connection, annotator: Annotator, judgement: Judgement) -> Recorded:
    """Return the standing answer that says the same: two windows of one person may show the same card.

    One that says something else stands, and this is said.
    """
    standing = _standing_of(connection, annotator, judgement.triple)
    if judgement.triple is None or standing is None:
        raise SessionError(f"{annotator.name} was not asked about triple {judgement.triple}, or took the answer back.")
    same = standing["said"] == judgement.said and judgement.note in ("", standing["note"])
    if same and _chosen_before(connection, annotator, judgement):
        return Recorded(standing["id"], judgement.triple)
    before, now = WORDS[standing["said"]], WORDS[judgement.said]
    # The isolates keep a sentence that runs from right to left from turning the words around it.
    raise SessionError(
        f"“\u2068{judgement.shown}\u2069”: “{before}”, given before, stands; “{now}” was not taken. "
        "Change it under “My answers”."
    )


def _standing_of(connection: sqlite3.Connection, annotator: Annotator, triple: int | None) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute(
        "SELECT said, note, judgement.id FROM answer JOIN judgement ON judgement = judgement.id "
        "WHERE answer.triple = ? AND answer.annotator = ?",
        (triple, annotator.id),
    ).fetchone()
    return row


def _chosen_before(connection: sqlite3.Connection, annotator: Annotator, judgement: Judgement) -> bool:
    """Say whether the standing answers to the rivals on a card are those that an answer to it gives."""
    if judgement.chosen is None:
        return True
    found = [(rival, _standing_of(connection, annotator, rival)) for rival in _rivals_of(connection, judgement)]
    return all((old["said"] == "true") == (rival in judgement.chosen) for rival, old in found if old is not None)


def find_stored(connection: sqlite3.Connection, annotator: Annotator, judgement: Judgement) -> Recorded | None:
    """Return what became of a judgement that the same annotator sent before under the same key; None if it is new."""
    old = connection.execute(
        "SELECT id, triple, said FROM judgement WHERE annotator = ? AND key = ?", (annotator.id, judgement.key)
    ).fetchone()
    if old is None:
        return None
    if old["said"] != judgement.said or (judgement.said != "undo" and old["triple"] != judgement.triple):
        raise SessionError(f"The key {judgement.key!r} was used for another judgement; give each one its own.")
    return Recorded(old["id"], old["triple"])


def insert(
    connection: sqlite3.Connection,
    annotator: Annotator,
    judgement: Judgement,
    triple: int,
    purpose: str,
    now: float,
    shown: str = "{}",
    probability: float | None = None,
    undoes: int | None = None,
) -> int:
    """Write one row of history, and the standing answer that follows from it."""
    number = connection.execute(
        "INSERT INTO judgement (at, annotator, triple, said, purpose, key, seconds, note, shown, probability, undoes) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            now, annotator.id, triple, judgement.said, purpose, judgement.key,
            judgement.seconds, judgement.note, shown, probability, undoes,
        ),
    ).lastrowid  # fmt: skip
    assert number is not None
    # A hidden repeat measures how steady an annotator is; their first answer stands.
    if judgement.said != "undo" and purpose != "repeat":
        _let_stand(connection, annotator, triple, judgement.said, number)
    return number


def _let_stand(
    connection: sqlite3.Connection, annotator: Annotator, triple: int, said: str | None, judgement: int | None
) -> None:
    """Replace an annotator's standing answer to a triple; None where none stands any more."""
    # Not INSERT OR REPLACE: its silent delete fires no trigger, and the triggers count.
    connection.execute("DELETE FROM answer WHERE triple = ? AND annotator = ?", (triple, annotator.id))
    if said is not None:
        values = (triple, annotator.id, LABELS[said], judgement)
        connection.execute("INSERT INTO answer (triple, annotator, label, judgement) VALUES (?, ?, ?, ?)", values)


def _undo(connection: sqlite3.Connection, annotator: Annotator, undo: Judgement, now: float) -> Recorded:
    """Take back a standing judgement, and put its triple in front of the annotator again."""
    wanted = "AND j.key = ?2" if undo.undoes is not None else "AND ?2 IS NULL"
    old = connection.execute(
        "SELECT j.id, j.triple, j.purpose FROM judgement AS j LEFT JOIN judgement AS u ON u.undoes = j.id "
        f"WHERE j.annotator = ?1 AND j.said != 'undo' AND u.id IS NULL {wanted} ORDER BY j.id DESC LIMIT 1",
        (annotator.id, undo.undoes),
    ).fetchone()
    if old is None:
        given = "" if undo.undoes is None else " Your standing answers are under “My answers”."
        raise SessionError(f"There is nothing to undo.{given}")
    number = insert(connection, annotator, undo, old["triple"], old["purpose"], now, undoes=old["id"])
    _restore_answer(connection, annotator, old["triple"])
    # The triple of an imported judgement, or of the owner's decision, was leased to nobody: it is not leased now.
    if old["purpose"] in ("new", "shared", "repeat", "again"):
        lease(connection, annotator, [old["triple"]], old["purpose"], lease_clock(), in_front=True)
    return Recorded(number, old["triple"])


def _restore_answer(connection: sqlite3.Connection, annotator: Annotator, triple: int) -> None:
    """Make the last judgement that is not taken back the standing answer; where all are, there is none."""
    standing = connection.execute(
        "SELECT j.said, j.id FROM judgement AS j LEFT JOIN judgement AS u ON u.undoes = j.id "
        "WHERE j.annotator = ? AND j.triple = ? AND j.said != 'undo' AND j.purpose != 'repeat' AND u.id IS NULL "
        "ORDER BY j.id DESC LIMIT 1",
        (annotator.id, triple),
    ).fetchone()
    _let_stand(connection, annotator, triple, *(standing or (None, None)))
