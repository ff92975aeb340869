"""Who gets which triple, and what each person judges.

A triple that is leased to an annotator waits for their answer, and is not given to others meanwhile, so that no work is
done twice unless it should be. A judgement is put into the history once, however often it is sent; none is ever
removed. All of it runs inside a write transaction of the caller's. Leases live in SQLite and not in memory: two
servers, or a server and a terminal, share one session without knowing of each other.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from actc.errors import OptionError, SessionError, check_choice

LEASE_SECONDS = 20 * 60.0
"""How long a triple stays with an annotator who does not answer; after that it is offered to others as well."""
lease_clock = time.monotonic
"""The clock of leases: all processes of a machine share it, and it cannot be set.

It begins anew with the machine; so a lease that ends later than leases last is of an earlier start, or of another
machine that the session was copied from, and is over.
"""
AGAIN_AFTER = 20
"""After how many other triples one comes back that an annotator was unsure of."""
MOST_UNSURE = 2
"""How often an annotator may be unsure of a triple before they do not get it again."""


LABELS: dict[str, int | None] = {"true": 1, "false": 0, "unsure": None}


@dataclass(frozen=True)
class Judgement:
    """One answer of an annotator, or the undoing of one."""

    answer: str  # true, false, unsure; or undo: an earlier one is taken back
    triple: int | None  # the row of the pool that is judged; None for undo
    key: str  # the sender's own name for it: sent again under the same key, it is stored once
    seconds: float | None = None  # how long the card was looked at
    note: str = ""  # a comment of the annotator's
    undoes: str | None = None  # the key of what undo takes back; the last answer that stands, if not given

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


@dataclass(frozen=True)
class Task:
    """A triple to be judged, as it is planned, given out and shown."""

    triple: int  # its row in the pool
    head: str
    relation: str
    tail: str
    score: float
    reason: str  # why it was chosen, one sentence for the person who judges it
    selection: str = "given"  # this and the next three: how it was selected, see actc.data.answers.Provenance
    sampling_frame: str = ""
    inclusion_probability: float | None = None
    round: int = 0
    probability: float | None = None  # of being true, when it was planned
    wanted: int = 1  # how many annotators should judge it
    # new: it has no answer yet; shared: a second opinion is wanted; again: this annotator's answer was unsure
    purpose: str = "new"

    def as_row(self) -> tuple[Any, ...]:
        """Return its columns in the tables ``plan`` and ``task``, in the order of ``TASK``."""
        return tuple(getattr(self, name) for name in STORED)


STORED = tuple(field.name for field in fields(Task) if field.name != "purpose")
"""The columns that the tables ``plan`` and ``task`` have in common, in the order of Task's fields."""
TASK, PLACES = ", ".join(STORED), ", ".join("?" * len(STORED))


@dataclass(frozen=True)
class Annotator:
    """A person, or the owner of the session."""

    id: int
    name: str
    kind: str  # person or owner
    link: int = 0  # the number of their link: the first is 0, each new one is the next; below 0, they have none


def leased_at(now: str) -> str:
    """Return SQL that is true of a lease that has not ended at a time of the lease's clock."""
    # Twice: who waited for the file has an earlier time than who had it before.
    return f"expires > {now} AND expires <= {now} + {2 * LEASE_SECONDS}"


def put_tasks(connection: sqlite3.Connection, tasks: Sequence[Task], given_out: bool = False) -> None:
    """Write tasks, so that judgements can refer to them, and take them out of the plan.

    One that is there already is replaced if it is given out.
    """
    new = ", ".join(f"excluded.{name}" for name in STORED)
    again = f"UPDATE SET ({TASK}) = ({new})" if given_out else "NOTHING"
    connection.executemany(
        f"INSERT INTO task ({TASK}) VALUES ({PLACES}) ON CONFLICT (triple) DO {again}",
        [task.as_row() for task in tasks],
    )
    connection.executemany("DELETE FROM plan WHERE triple = ?", [(task.triple,) for task in tasks])


@dataclass(frozen=True)
class LeaseQueue:
    """The leases of an annotator within a write transaction, and the triples that they get next."""

    connection: sqlite3.Connection
    annotator: Annotator
    at: float = field(default_factory=time.time)  # the time of day, in seconds
    now: float = field(default_factory=lease_clock)  # the same by the clock of leases

    def run(self, sql: str, **values: Any) -> sqlite3.Cursor:
        """Execute SQL with the parameters :who, :at, :now, and :end of a lease that begins now."""
        always = {"who": self.annotator.id, "at": self.at, "now": self.now, "end": self.now + LEASE_SECONDS}
        return self.connection.execute(sql, always | values)

    def tasks(self, most: int) -> list[Task]:
        """Return the triples that are leased, the first to be judged first."""
        leased = f"SELECT {TASK}, purpose FROM lease JOIN task USING (triple) WHERE annotator = :who AND expires > 0"
        return [Task(*row) for row in self.run(f"{leased} ORDER BY place LIMIT :most", most=most)]

    def top_up(self, count: int, budget: int, overlap: float) -> None:
        """Renew the leases, and bring their number to ``count``, or as near as budget and plan allow.

        A budget that was lowered ends leases of triples that the annotator never judged: such a triple is on no card
        any more; an answer that is under way is still stored.
        """
        self.run("UPDATE lease SET expires = :end WHERE annotator = :who")
        left = self._left_of(budget, count)
        if left < 0:
            self.run(f"UPDATE lease SET expires = 0 WHERE annotator = :who AND triple IN ({TOO_MANY})", too_many=-left)
        leases = len(self.tasks(count))
        need = max(count - leases, 0)
        limits = {"left": max(left, 0), "overlap": overlap, "after": AGAIN_AFTER, "most": MOST_UNSURE}
        first = dict(reversed(self.run(BEFORE_NEW, need=need, **limits).fetchall()))  # of two purposes the first
        for triple, purpose in reversed(first.items()):
            self.lease(triple, purpose)
        need = min(need - len(first), self._left_of(budget, need))
        if need > 0:
            sql, share = f"SELECT {TASK} FROM plan ORDER BY place LIMIT :share", self._fair_share(need, leases)
            tasks = [Task(*row) for row in self.run(sql, share=share)]
            put_tasks(self.connection, tasks, given_out=True)
            for task in tasks:
                self.lease(task.triple, "new")
            need -= len(tasks)
        if need > 0 and leases == 0:
            for (triple,) in self.run(f"{UNSURE} LIMIT :need", need=need, after=0, most=MOST_UNSURE).fetchall():
                self.lease(triple, "again")

    def lease(self, triple: int, purpose: str, in_front: bool = False) -> None:
        """Lease a triple to the annotator."""
        place = "min(coalesce(min(place), 0), 0) - 1" if in_front else "coalesce(max(place), 0) + 1"
        mine = f"SELECT :triple, :who, :purpose, {place}, :end FROM lease WHERE annotator = :who"
        self.run(f"INSERT OR REPLACE INTO lease {mine}", triple=triple, purpose=purpose)

    def _fair_share(self, need: int, leases: int) -> int:
        """Return how many planned triples an annotator may take, so that some are left for the others."""
        planned, leased, people = self.run(
            "SELECT (SELECT count(*) FROM plan), (SELECT count(*) FROM lease), "
            "(SELECT count(*) FROM annotator WHERE kind = 'person' AND link >= 0)"
        ).fetchone()
        if planned >= people * need:
            return need
        share = max(1, (planned + leased) // people)
        return int(max(0, min(need, share - leases)))

    def _left_of(self, budget: int, need: int) -> int:
        """Return how many more triples the budget allows: all but those with a label, and those leased without one yet.

        Where more than ``need`` are left whatever is leased, leases are not looked at one by one.
        """
        labels, leased = self.run("SELECT labels, (SELECT count(*) FROM lease) FROM total").fetchone()
        if budget - labels - leased >= need:
            return need
        new = f"{leased_at(':now')} AND labelled = 0"
        open_leases = self.run(f"SELECT count(DISTINCT triple) FROM lease JOIN task USING (triple) WHERE {new}")
        return int(budget - labels - open_leases.fetchone()[0])

    def record(self, judgement: Judgement, shown: dict[str, object]) -> Recorded:
        """Add a judgement to the history, and end the lease of its triple.

        ``shown`` has what the card showed: the ``sentence``, and when the ``reasons``.
        """
        stored = self.find_stored(judgement)
        if stored is not None:
            return stored
        if judgement.answer == "undo":
            return self._undo(judgement)
        triple, owner = judgement.triple, self.annotator.kind == "owner"
        leased = "SELECT purpose, probability FROM lease JOIN task USING (triple) WHERE annotator = :who"
        any_task = "SELECT 'settle' AS purpose, probability FROM task WHERE true"  # the owner decides without a lease
        task = self.run(f"{any_task if owner else leased} AND triple = :triple", triple=triple).fetchone()
        if task is None:
            return self._find_same(judgement, str(shown["sentence"]))
        if "reasons" in shown:
            # Who answers a triple again has read the reasons after the first answer.
            sql = "SELECT 1 FROM judgement WHERE triple = :triple AND annotator = :who LIMIT 1"
            again = self.run(sql, triple=triple).fetchone()
            shown = shown | {"reasons": "before" if again or owner or shown["reasons"] == "beside" else "after"}
        content = json.dumps(shown, ensure_ascii=False)
        stored = self.insert(judgement, task["purpose"], content, task["probability"])
        self.run("DELETE FROM lease WHERE annotator = :who AND triple = :triple", triple=triple)
        return stored

    def _find_same(self, judgement: Judgement, sentence: str) -> Recorded:
        """Return the present answer if it is the same: two windows of one person may show the same card.

        Another one stays, and the person reads that in the error.
        """
        present = self.run(
            "SELECT answer, note, judgement.id, answer.triple FROM answer JOIN judgement ON judgement = judgement.id "
            "WHERE answer.triple = :triple AND answer.annotator = :who",
            triple=judgement.triple,
        ).fetchone()
        if present is None:
            name = self.annotator.name
            raise SessionError(f"{name} has no card of triple {judgement.triple}, or took the answer back.")
        if present["answer"] == judgement.answer and judgement.note in ("", present["note"]):
            return {"id": present["id"], "triple": present["triple"]}
        before, now = (answer.replace("unsure", "not sure") for answer in (present["answer"], judgement.answer))
        # The isolates keep a sentence that runs from right to left from turning the words around it.
        raise SessionError(
            f"“\u2068{sentence}\u2069”: the earlier answer “{before}” stands; “{now}” was not stored. "
            "Change it under “My answers”."
        )

    def find_stored(self, judgement: Judgement) -> Recorded | None:
        """Return a judgement that the same annotator sent before under the same key; None if it is new."""
        sql = "SELECT id, triple, answer FROM judgement WHERE annotator = :who AND key = :key"
        old = self.run(sql, key=judgement.key).fetchone()
        if old is None:
            return None
        if old["answer"] != judgement.answer or (judgement.answer != "undo" and old["triple"] != judgement.triple):
            raise SessionError(f"The key {judgement.key!r} was used for another judgement; give each one its own.")
        return {"id": old["id"], "triple": old["triple"]}

    def insert(
        self,
        judgement: Judgement,
        purpose: str,
        shown: str = "{}",
        probability: float | None = None,
        undoes: int | None = None,
    ) -> Recorded:
        """Write one row of history, and the present answer that follows from it."""
        [stored] = self.run(
            "INSERT INTO judgement "
            "(at, annotator, triple, answer, purpose, key, seconds, note, shown, probability, undoes) VALUES "
            "(:at, :who, :triple, :answer, :purpose, :key, :seconds, :note, :shown, :probability, :undoes) "
            "RETURNING id, triple",
            **vars(judgement) | {"purpose": purpose, "shown": shown, "probability": probability, "undoes": undoes},
        ).fetchall()
        # Not INSERT OR REPLACE: its silent delete fires no trigger, and the triggers count.
        self.run("DELETE FROM answer WHERE triple = :triple AND annotator = :who", triple=judgement.triple)
        self.run(
            "INSERT INTO answer (triple, annotator, label, judgement) SELECT triple, annotator, "
            "CASE answer WHEN 'true' THEN 1 WHEN 'false' THEN 0 END, id FROM "
            f"({PRESENT} AND j.triple = :triple ORDER BY j.id DESC LIMIT 1)",
            triple=judgement.triple,
        )
        return dict(stored)

    def _undo(self, undo: Judgement) -> Recorded:
        """Take back a present judgement, and put its triple in front of the annotator again."""
        wanted = "" if undo.undoes is None else "AND j.key = :undoes"
        old = self.run(f"{PRESENT} {wanted} ORDER BY j.id DESC LIMIT 1", undoes=undo.undoes).fetchone()
        if old is None:
            raise SessionError("There is nothing to undo. Your current answers are under “My answers”.")
        stored = self.insert(replace(undo, triple=old["triple"]), old["purpose"], undoes=old["id"])
        # The triple of an imported judgement, or of the owner's decision, had no lease: it gets none now.
        if old["purpose"] in ("new", "shared", "again"):
            self.lease(old["triple"], old["purpose"], in_front=True)
        return stored


# The annotator's judgements that are not taken back.
PRESENT = (
    "SELECT j.* FROM judgement AS j LEFT JOIN judgement AS u ON u.undoes = j.id "
    "WHERE j.annotator = :who AND j.answer != 'undo' AND u.id IS NULL"
)
# Leased triples that the annotator never judged, those to be judged last first.
TOO_MANY = (
    "SELECT triple FROM lease JOIN task USING (triple) WHERE annotator = :who AND purpose = 'new' AND labelled = 0 "
    "AND NOT EXISTS (SELECT 1 FROM judgement AS j WHERE j.triple = task.triple AND j.annotator = :who) "
    "ORDER BY place DESC LIMIT :too_many"
)
# Neither judged by this annotator nor leased to them.
_UNTOUCHED = (
    "NOT EXISTS (SELECT 1 FROM answer WHERE triple = task.triple AND annotator = :who) "
    "AND NOT EXISTS (SELECT 1 FROM lease WHERE triple = task.triple AND annotator = :who)"
)
_NOT_LEASED = f"NOT EXISTS (SELECT 1 FROM lease WHERE triple = task.triple AND {leased_at(':now')})"
# Triples that more annotators should judge, this one among them.
SHARED = (
    "SELECT triple FROM task WHERE wanted > 1 AND wanted > answered AND wanted > answered + "
    f"(SELECT count(*) FROM lease WHERE triple = task.triple AND {leased_at(':now')} AND NOT EXISTS "
    "(SELECT 1 FROM answer WHERE answer.triple = lease.triple AND answer.annotator = lease.annotator)) "
    f"AND {_UNTOUCHED} ORDER BY (SELECT min(judgement) FROM answer WHERE triple = task.triple) NULLS LAST"
)
# Triples whose lease to another ended, without any answer.
EXPIRED = (
    f"SELECT DISTINCT triple FROM lease AS old JOIN task USING (triple) WHERE NOT ({leased_at(':now')}) "
    f"AND answered = 0 AND {_NOT_LEASED} AND {_UNTOUCHED}"
)
# Triples that others were unsure of, without a label.
UNSURE_OF_OTHERS = (
    f"SELECT triple FROM task WHERE answered > 0 AND labelled = 0 AND {_NOT_LEASED} AND {_UNTOUCHED} ORDER BY triple"
)
# Triples that this annotator was unsure of some answers ago, still without a label. CROSS JOIN fixes the order for
# SQLite: the undecided triples are few, the annotator's answers are many.
UNSURE = (
    "SELECT task.triple FROM task CROSS JOIN answer ON answer.triple = task.triple AND annotator = :who "
    "WHERE answered > 0 AND labelled = 0 AND label IS NULL AND judgement <= coalesce((SELECT id FROM "
    f"judgement WHERE annotator = :who ORDER BY id DESC LIMIT 1 OFFSET :after), 0) AND {_NOT_LEASED} "
    "AND :most > (SELECT count(*) FROM judgement AS j WHERE j.triple = task.triple AND annotator = :who "
    "AND j.answer = 'unsure') "
    "ORDER BY judgement"
)
# What comes before anything new, with its purpose; what nobody answered as far as the budget goes.
BEFORE_NEW = (
    f"SELECT *, 'shared' FROM ({SHARED}) WHERE :overlap > 0 UNION ALL "
    f"SELECT *, 'new' FROM ({EXPIRED} LIMIT :left) UNION ALL "
    f"SELECT *, 'again' FROM ({UNSURE_OF_OTHERS}) UNION ALL SELECT *, 'again' FROM ({UNSURE}) LIMIT :need"
)
