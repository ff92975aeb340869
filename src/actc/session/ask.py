"""Who is asked what: triples are leased to people, so that nobody's work is done twice unless it should be.

A triple that is leased to an annotator waits for their answer, and nobody else is asked about it meanwhile. All
functions run inside a write transaction of the caller's. Leases live in SQLite and not in memory: two servers, a server
and a terminal beside them share one session without knowing of each other.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

LEASE_SECONDS = 20 * 60.0
"""How long a triple stays with an annotator who does not answer; after that it is offered to others as well."""
lease_clock = time.monotonic
"""What leases are timed by: all processes of a machine share it, and it goes on where the time of day is set.

It begins anew with the machine; so an end that lies further away than leases last is one of an earlier start, or of
another machine that the session was copied from, and is over.
"""
AGAIN_AFTER = 20
"""How many other triples an annotator judges before one that they were unsure of comes back."""
MOST_UNSURE = 2
"""How often one annotator may be unsure of one triple before they are not asked about it again."""
REPEAT_AFTER = 15
"""How many other triples lie between a triple and its hidden repeat."""


@dataclass(frozen=True)
class Task:
    """A triple to be judged, as it is planned, given out and shown.

    Parameters
    ----------
    triple : int
        Its row in the pool.
    head, relation, tail : str
        Its names.
    score : float
        Its score.
    reason : str
        Why it is asked, one sentence for the person who judges it.
    asked, within : str
        How it was chosen and from which set, see :class:`actc.triples.Annotations`.
    chance : float, optional
        The chance that it had; None where nobody knows.
    probability, gain : float, optional
        When it was planned: how probable the model held it to be, and the right decisions that its answer was expected
        to add.
    wanted : int
        How many annotators should judge it.
    rivals : str
        The triples of which at most one is true beside it, see :func:`read_rivals`; empty where there are none.
    reach : int
        How many candidates the pool had when it was planned; 0 where it has not grown since.
    purpose : {"new", "shared", "repeat", "again"}
        Why this annotator has it: nobody judged it yet, a second opinion is wanted, they judged it before and are not
        told, or somebody was unsure.
    """

    triple: int
    head: str
    relation: str
    tail: str
    score: float
    reason: str
    asked: str = "given"
    within: str = ""
    chance: float | None = None
    probability: float | None = None
    gain: float | None = None
    wanted: int = 1
    rivals: str = ""
    reach: int = 0
    purpose: str = "new"

    def as_row(self) -> tuple[Any, ...]:
        """Return the columns that the tables ``plan`` and ``task`` keep of it, in the order of ``TASK``."""
        return tuple(getattr(self, name) for name in STORED)


STORED = tuple(field.name for field in fields(Task) if field.name != "purpose")
"""The columns that the tables ``plan`` and ``task`` have in common, in the order of Task's fields."""
TASK, PLACES = ", ".join(STORED), ", ".join("?" * len(STORED))
SHOWN = "asked != 'rival'"
"""Whether a task has a card of its own: rivals are on that of another."""
DRAWN = "asked IN ('random', 'check')"
"""Whether a task was drawn at random: no wish may have it, for its answer proves something only if nobody chose it."""


TOGETHER = "It is on the card of another one, of which at most one is true."


def read_rivals(task: Task) -> list[Task]:
    """Return the rivals of a task as tasks: they teach, and prove nothing."""
    if not task.rivals:
        return []
    return [
        Task(triple, head, relation, tail, score, TOGETHER, "rival", probability=p)
        for triple, head, relation, tail, score, p in json.loads(task.rivals)
    ]


@dataclass(frozen=True)
class Annotator:
    """A person, or the owner of the session: whoever gives judgements.

    Parameters
    ----------
    id, name, kind
        Its number, its name, and which of the two it is.
    link : int
        Which link is theirs: the first is 0, each new one is the next; below 0, they have none.
    """

    id: int
    name: str
    kind: str
    link: int = 0


def leased_at(now: str) -> str:
    """Return the SQL that says whether a lease holds at a time of the lease's clock."""
    # Twice: somebody who has waited for the file has an earlier time than those who had it before.
    return f"expires > {now} AND expires <= {now} + {2 * LEASE_SECONDS}"


def leased_tasks(
    connection: sqlite3.Connection, annotator: Annotator, most: int, relation: str | None = None
) -> list[Task]:
    """Return the triples that an annotator has leased, the first to be judged first; of one relation, if given."""
    rows = connection.execute(
        f"SELECT {TASK}, purpose FROM lease JOIN task USING (triple) WHERE annotator = ?1 "
        f"AND expires > 0 AND {SHOWN} AND (?3 IS NULL OR relation = ?3) ORDER BY place LIMIT ?2",
        (annotator.id, most, relation),
    )
    return [Task(*row) for row in rows]


def note_wish(connection: sqlite3.Connection, annotator: Annotator, relation: str | None, now: float) -> None:
    """Remember which relation an annotator wants to be asked about, so that triples of it are planned; None for all.

    New triples of other relations go back to where they came from, and so do all whose chance is known, random checks
    among them: who answers only those of one relation would spoil the draw.
    """
    if relation is None:
        connection.execute("DELETE FROM wish WHERE annotator = ?", (annotator.id,))
        return
    connection.execute(
        "INSERT INTO wish (annotator, relation, at) VALUES (?, ?, ?) ON CONFLICT (annotator) DO UPDATE SET "
        "spent = spent AND relation = excluded.relation, relation = excluded.relation, at = excluded.at",
        (annotator.id, relation, now),
    )
    connection.execute(
        "DELETE FROM lease WHERE annotator = ? AND purpose = 'new' AND triple IN "
        "(SELECT triple FROM lease JOIN task USING (triple) WHERE annotator = ? "
        "AND (relation != ? OR chance IS NOT NULL))",
        (annotator.id, annotator.id, relation),
    )


def put_tasks(connection: sqlite3.Connection, tasks: Sequence[Task], as_planned: bool = False) -> None:
    """Make triples known, so that judgements can refer to them.

    Parameters
    ----------
    as_planned : bool
        The triples are given to a person as the plan has them: what was known about them gives way. Otherwise it stays.
    """
    new = ", ".join(f"excluded.{name}" for name in STORED)
    again = f"UPDATE SET ({TASK}) = ({new})" if as_planned else "NOTHING"
    connection.executemany(
        f"INSERT INTO task ({TASK}) VALUES ({PLACES}) ON CONFLICT (triple) DO {again}",
        [task.as_row() for task in tasks],
    )


def drop_from_plan(connection: sqlite3.Connection, tasks: Sequence[Task]) -> None:
    """Take triples out of the plan: somebody has them."""
    connection.executemany("DELETE FROM plan WHERE triple = ?", [(task.triple,) for task in tasks])


def top_up(
    connection: sqlite3.Connection,
    annotator: Annotator,
    count: int,
    budget: int,
    repeats: float,
    overlap: float,
    now: float,
) -> None:
    """Bring the triples that an annotator has leased to ``count``, or as near as budget and plan allow."""
    _renew(connection, annotator, budget, now)
    sql = f"SELECT count(*) FROM lease JOIN task USING (triple) WHERE annotator = ? AND expires > 0 AND {SHOWN}"
    leases = connection.execute(sql, (annotator.id,)).fetchone()[0]
    need = count - leases
    if need > 0:
        need -= _lease_repeat(connection, annotator, repeats, now)
    for found, purpose in SOURCES:
        most = need if purpose != "new" else min(need, _left_of(budget, need, connection, now))
        if most > 0 and (overlap > 0 or purpose != "shared"):
            need -= lease(connection, annotator, _find(connection, found, annotator, most, now), purpose, now)
    need = min(need, _left_of(budget, need, connection, now))
    if need > 0:
        need = _fair_share(connection, need, leases)
        need -= _lease_planned(connection, annotator, need, now)
    if need > 0 and leases == 0:
        lease(connection, annotator, _find(connection, UNSURE, annotator, need, now, after=0), "again", now)


def top_up_relation(
    connection: sqlite3.Connection, annotator: Annotator, count: int, budget: int, relation: str, now: float
) -> None:
    """Bring the leased triples of one relation to ``count``: planned ones, as far as there are."""
    _renew(connection, annotator, budget, now)
    need = count - len(leased_tasks(connection, annotator, count, relation))
    need = min(_left_of(budget, need, connection, now), need)
    if need > 0:
        _lease_planned(connection, annotator, need, now, relation)


def _renew(connection: sqlite3.Connection, annotator: Annotator, budget: int, now: float) -> None:
    """Let an annotator keep what they have leased; but not, of what they never judged, what a lower budget leaves out.

    That has run out, so it is on no card any more; an answer that is on its way is still taken.
    """
    connection.execute("UPDATE lease SET expires = ? WHERE annotator = ?", (now + LEASE_SECONDS, annotator.id))
    too_many = -_left_of(budget, 0, connection, now)
    if too_many > 0:
        connection.execute(
            "UPDATE lease SET expires = 0 WHERE annotator = ?1 AND triple IN ("
            "SELECT triple FROM lease JOIN task USING (triple) WHERE annotator = ?1 AND purpose = 'new' "
            f"AND labelled = 0 AND {SHOWN} AND NOT EXISTS (SELECT 1 FROM judgement AS j "
            "WHERE j.triple = task.triple AND j.annotator = ?1) ORDER BY place DESC LIMIT ?2)",
            (annotator.id, too_many),
        )


def lease(
    connection: sqlite3.Connection,
    annotator: Annotator,
    triples: list[int],
    purpose: str,
    now: float,
    in_front: bool = False,
) -> int:
    """Put triples that an annotator has leased; return how many."""
    bound = "min(coalesce(min(place), 0), 0) - 1" if in_front else "coalesce(max(place), 0) + 1"
    for triple in triples:
        connection.execute(
            f"INSERT OR REPLACE INTO lease SELECT ?, ?, ?, {bound}, ? FROM lease WHERE annotator = ?",
            (triple, annotator.id, purpose, now + LEASE_SECONDS, annotator.id),
        )
        _lease_rivals(connection, annotator, triple, now)
    return len(triples)


def _lease_rivals(connection: sqlite3.Connection, annotator: Annotator, triple: int, now: float) -> None:
    """Lease, with a triple, those rivals on its card that nobody answered or has leased; make them known first."""
    sql = f"SELECT {TASK} FROM task WHERE triple = ? AND rivals != ''"
    for row in connection.execute(sql, (triple,)).fetchall():
        rivals = read_rivals(Task(*row))
        put_tasks(connection, rivals)
        for rival in rivals:
            connection.execute(
                "INSERT OR IGNORE INTO lease SELECT triple, ?2, 'new', 0, ?3 FROM task "
                f"WHERE triple = ?1 AND NOT {SHOWN} AND answered = 0 "
                f"AND NOT EXISTS (SELECT 1 FROM lease WHERE triple = ?1 AND annotator != ?2 AND {leased_at('?4')})",
                (rival.triple, annotator.id, now + LEASE_SECONDS, now),
            )


def release_rivals(connection: sqlite3.Connection, annotator: Annotator) -> None:
    """Let go of rivals whose card an annotator has not any more."""
    rows = connection.execute(
        f"SELECT {TASK} FROM lease JOIN task USING (triple) WHERE annotator = ?", (annotator.id,)
    ).fetchall()
    tasks = [Task(*row) for row in rows]
    kept = {rival.triple for task in tasks for rival in read_rivals(task)}
    gone = [(annotator.id, task.triple) for task in tasks if task.asked == "rival" and task.triple not in kept]
    connection.executemany("DELETE FROM lease WHERE annotator = ? AND triple = ?", gone)


def _lease_planned(
    connection: sqlite3.Connection, annotator: Annotator, need: int, now: float, relation: str | None = None
) -> int:
    sql = f"SELECT {TASK} FROM plan WHERE ?2 IS NULL OR (relation = ?2 AND NOT {DRAWN}) ORDER BY place LIMIT ?1"
    tasks = [Task(*row) for row in connection.execute(sql, (need, relation)).fetchall()]
    if relation is not None:
        tasks = [replace(task, asked="wish", within="relation", chance=None) for task in tasks]
    put_tasks(connection, tasks, as_planned=True)
    drop_from_plan(connection, tasks)
    return lease(connection, annotator, [task.triple for task in tasks], "new", now)


def _fair_share(connection: sqlite3.Connection, need: int, leases: int) -> int:
    """Return how many planned triples somebody may take, so that some are left for everybody until there are more."""
    planned, leased, people = connection.execute(
        "SELECT (SELECT count(*) FROM plan), (SELECT count(*) FROM lease), "
        "(SELECT count(*) FROM annotator WHERE kind = 'person' AND link >= 0)"
    ).fetchone()
    if planned >= people * need:
        return need
    share = max(1, (planned + leased) // people)
    return int(max(0, min(need, share - leases)))


def _left_of(budget: int, need: int, connection: sqlite3.Connection, now: float) -> int:
    """Return how many triples the budget leaves, besides those labelled or leased for the first time.

    Where more than ``need`` are left whatever is leased, leases are not looked at one by one.
    """
    labels, leased = connection.execute("SELECT labels, (SELECT count(*) FROM lease) FROM total").fetchone()
    if budget - labels - leased >= need:
        return need
    new = (
        "SELECT count(DISTINCT triple) FROM lease JOIN task USING (triple) "
        f"WHERE {leased_at('?1')} AND labelled = 0 AND {SHOWN}"
    )
    return int(budget - labels - connection.execute(new, (now,)).fetchone()[0])


def _lease_repeat(connection: sqlite3.Connection, annotator: Annotator, repeats: float, now: float) -> int:
    """Give an annotator an old triple again, so often that a share ``repeats`` of their cards are such repeats."""
    if repeats == 0:
        return 0
    judged, repeated = connection.execute(
        "SELECT judged, repeated FROM annotator WHERE id = ?", (annotator.id,)
    ).fetchone()
    waiting = connection.execute(
        "SELECT count(*) FROM lease WHERE annotator = ? AND purpose = 'repeat'", (annotator.id,)
    ).fetchone()[0]
    if repeated + waiting >= int(repeats * judged):
        return 0
    found = connection.execute(
        "SELECT triple FROM answer WHERE annotator = ?1 AND label IS NOT NULL AND judgement < "
        "(SELECT id FROM judgement WHERE annotator = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2) "
        "AND NOT EXISTS (SELECT 1 FROM judgement AS j WHERE j.triple = answer.triple "
        "AND j.annotator = ?1 AND j.purpose = 'repeat') "
        "AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.triple = answer.triple AND lease.annotator = ?1) "
        "ORDER BY judgement LIMIT 1",
        (annotator.id, REPEAT_AFTER),
    ).fetchall()
    return lease(connection, annotator, [row[0] for row in found], "repeat", now)


def _find(
    connection: sqlite3.Connection, sql: str, annotator: Annotator, need: int, now: float, after: int = AGAIN_AFTER
) -> list[int]:
    """Return triples for an annotator, by one of the queries below."""
    values = {"who": annotator.id, "now": now, "need": need, "after": after, "most": MOST_UNSURE}
    return [row[0] for row in connection.execute(f"{sql} LIMIT :need", values)]


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
# Triples that somebody else had leased until the lease ran out, and nobody judged.
EXPIRED = (
    f"SELECT DISTINCT triple FROM lease AS old JOIN task USING (triple) WHERE NOT ({leased_at(':now')}) "
    f"AND answered = 0 AND {SHOWN} AND {_NOT_LEASED} AND {_UNTOUCHED}"
)
# Triples that others were unsure of, and nobody decided.
UNSURE_OF_OTHERS = (
    f"SELECT triple FROM task WHERE answered > 0 AND labelled = 0 AND {_NOT_LEASED} AND {_UNTOUCHED} ORDER BY triple"
)
# Triples that this annotator was unsure of, a while ago, and nobody decided since. CROSS JOIN keeps SQLite to this
# order: the undecided triples are few, the annotator's answers are many.
UNSURE = (
    "SELECT task.triple FROM task CROSS JOIN answer ON answer.triple = task.triple AND annotator = :who "
    "WHERE answered > 0 AND labelled = 0 AND label IS NULL AND judgement <= coalesce((SELECT id FROM "
    f"judgement WHERE annotator = :who ORDER BY id DESC LIMIT 1 OFFSET :after), 0) AND {_NOT_LEASED} "
    "AND :most > (SELECT count(*) FROM judgement WHERE triple = task.triple AND annotator = :who AND said = 'unsure') "
    "ORDER BY judgement"
)
# What comes before anything new.
SOURCES = ((SHARED, "shared"), (EXPIRED, "new"), (UNSURE_OF_OTHERS, "again"), (UNSURE, "again"))
