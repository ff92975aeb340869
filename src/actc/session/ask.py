"""Who is asked what: triples are leased to people, so that nobody's work is done twice unless it should be.

All functions run inside a write transaction of the caller's. Leases live in SQLite and not in memory: two servers, a
server and a terminal, or a program beside them share one session without knowing of each other.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

LEASE_SECONDS = 20 * 60.0
"""How long a triple stays with an annotator who does not answer; after that it is offered to others as well."""
AGAIN_AFTER = 20
"""How many other triples an annotator judges before one that they were unsure of comes back."""
MOST_UNSURE = 2
"""How often one annotator may be unsure of one triple before it stays away."""
REPEAT_AFTER = 15
"""How many other triples lie between a triple and its hidden repeat."""

DRAWN_AT_RANDOM = "Drawn at random: every candidate has the same chance to be checked."
RANDOM_CHECK = "A random check, to keep the estimates honest."
UNIFORM = (DRAWN_AT_RANDOM, RANDOM_CHECK)
"""Why uniform picks are asked, by methods that ask nothing else and by those that mix them in."""

TASK = "triple, head, relation, tail, score, probability, gain, reason, wanted"


@dataclass(frozen=True)
class Task:
    """A triple on an annotator's table."""

    triple: int
    head: str
    relation: str
    tail: str
    score: float
    probability: float | None
    gain: float | None
    reason: str
    purpose: str


@dataclass(frozen=True)
class Annotator:
    """Somebody who judges."""

    id: int
    name: str
    kind: str


def held_tasks(connection: sqlite3.Connection, annotator: Annotator, most: int) -> list[Task]:
    """Return the triples on an annotator's table, those to be judged first in front."""
    rows = connection.execute(
        "SELECT triple, head, relation, tail, score, probability, gain, reason, purpose "
        "FROM lease JOIN task USING (triple) WHERE annotator = ? ORDER BY place LIMIT ?",
        (annotator.id, most),
    )
    return [Task(*row) for row in rows]


def top_up(
    connection: sqlite3.Connection,
    annotator: Annotator,
    count: int,
    budget: int,
    repeats: float,
    overlap: float,
    now: float,
) -> None:
    """Bring the triples on an annotator's table to ``count``, or as near as budget and plan allow."""
    connection.execute("UPDATE lease SET expires = ? WHERE annotator = ?", (now + LEASE_SECONDS, annotator.id))
    held = connection.execute("SELECT count(*) FROM lease WHERE annotator = ?", (annotator.id,)).fetchone()[0]
    need = count - held
    if need > 0:
        need -= _lease_repeat(connection, annotator, repeats, now)
    for find, purpose in SOURCES:
        if need > 0 and (overlap > 0 or find is not _find_shared):
            need -= lease(connection, annotator, find(connection, annotator, need, now), purpose, now)
    need = min(need, budget - _spoken_for(connection, now))
    if need > 0:
        need -= _lease_planned(connection, annotator, need, now)
    if need > 0 and held == 0:
        lease(connection, annotator, _find_unsure(connection, annotator, need, now, after=0), "again", now)


def lease(
    connection: sqlite3.Connection,
    annotator: Annotator,
    triples: list[int],
    purpose: str,
    now: float,
    in_front: bool = False,
) -> int:
    """Put triples on an annotator's table; return how many."""
    bound = "min(coalesce(min(place), 0), 0) - 1" if in_front else "coalesce(max(place), 0) + 1"
    for triple in triples:
        connection.execute(
            f"INSERT OR REPLACE INTO lease SELECT ?, ?, ?, {bound}, ? FROM lease WHERE annotator = ?",
            (triple, annotator.id, purpose, now + LEASE_SECONDS, annotator.id),
        )
    return len(triples)


def _lease_planned(connection: sqlite3.Connection, annotator: Annotator, need: int, now: float) -> int:
    rows = connection.execute(f"SELECT {TASK} FROM plan ORDER BY place LIMIT ?", (need,)).fetchall()
    triples = [row["triple"] for row in rows]
    connection.executemany(f"INSERT OR IGNORE INTO task ({TASK}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", map(tuple, rows))
    connection.executemany("DELETE FROM plan WHERE triple = ?", [(triple,) for triple in triples])
    return lease(connection, annotator, triples, "new", now)


def _spoken_for(connection: sqlite3.Connection, now: float) -> int:
    """Count the triples that people labelled, or have on the table for the first time."""
    return int(
        connection.execute(
            "SELECT count(*) FROM (SELECT triple FROM answer JOIN annotator ON annotator = id "
            "WHERE label IS NOT NULL AND kind != 'program' "
            "UNION SELECT triple FROM lease WHERE expires > ?)",
            (now,),
        ).fetchone()[0]
    )


def _lease_repeat(connection: sqlite3.Connection, annotator: Annotator, repeats: float, now: float) -> int:
    """Put one old triple on the table again, so often that a share ``repeats`` of an annotator's cards are such."""
    if repeats == 0:
        return 0
    judged, repeated = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE purpose = 'repeat') FROM judgement "
        "WHERE annotator = ? AND said != 'undo'",
        (annotator.id,),
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


def _find_shared(connection: sqlite3.Connection, annotator: Annotator, need: int, now: float) -> list[int]:
    """Triples that more annotators should judge, this one among them."""
    rows = connection.execute(
        "SELECT triple FROM task WHERE wanted > 1 AND wanted > (SELECT count(*) FROM ("
        "SELECT annotator FROM answer JOIN annotator ON annotator = id "
        "WHERE triple = task.triple AND kind != 'program' "
        "UNION SELECT annotator FROM lease WHERE triple = task.triple AND expires > ?2)) "
        f"AND {_UNTOUCHED} "
        "ORDER BY (SELECT min(judgement) FROM answer WHERE triple = task.triple) NULLS LAST LIMIT ?3",
        (annotator.id, now, need),
    )
    return [row[0] for row in rows]


def _find_expired(connection: sqlite3.Connection, annotator: Annotator, need: int, now: float) -> list[int]:
    """Triples that were left lying on somebody else's table."""
    rows = connection.execute(
        "SELECT DISTINCT triple FROM lease AS old JOIN task USING (triple) WHERE expires <= ?2 AND NOT EXISTS "
        "(SELECT 1 FROM lease WHERE triple = old.triple AND expires > ?2) AND NOT EXISTS "
        "(SELECT 1 FROM answer JOIN annotator ON annotator = id WHERE triple = old.triple AND kind != 'program') "
        f"AND {_UNTOUCHED} LIMIT ?3",
        (annotator.id, now, need),
    )
    return [row[0] for row in rows]


def _find_unsure_of_others(connection: sqlite3.Connection, annotator: Annotator, need: int, now: float) -> list[int]:
    """Triples that others were unsure of, and nobody decided."""
    rows = connection.execute(
        "SELECT DISTINCT triple FROM answer JOIN task USING (triple) JOIN annotator ON annotator = id "
        "WHERE label IS NULL AND kind != 'program' AND NOT EXISTS "
        "(SELECT 1 FROM answer AS o JOIN annotator AS a ON o.annotator = a.id WHERE o.triple = task.triple "
        "AND o.label IS NOT NULL AND a.kind != 'program') AND NOT EXISTS "
        f"(SELECT 1 FROM lease WHERE triple = task.triple AND expires > ?2) AND {_UNTOUCHED} LIMIT ?3",
        (annotator.id, now, need),
    )
    return [row[0] for row in rows]


def _find_unsure(
    connection: sqlite3.Connection, annotator: Annotator, need: int, now: float, after: int = AGAIN_AFTER
) -> list[int]:
    """Triples that this annotator was unsure of, a while ago, and nobody decided since."""
    rows = connection.execute(
        "SELECT triple FROM answer WHERE annotator = ?1 AND label IS NULL AND judgement <= coalesce((SELECT id FROM "
        "judgement WHERE annotator = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2), 0) AND NOT EXISTS "
        "(SELECT 1 FROM answer AS o JOIN annotator AS a ON o.annotator = a.id WHERE o.triple = answer.triple "
        "AND o.label IS NOT NULL AND a.kind != 'program') AND NOT EXISTS "
        "(SELECT 1 FROM lease WHERE triple = answer.triple AND expires > ?3) AND ?4 > (SELECT count(*) FROM judgement "
        "WHERE triple = answer.triple AND annotator = ?1 AND said = 'unsure') ORDER BY judgement LIMIT ?5",
        (annotator.id, after, now, MOST_UNSURE, need),
    )
    return [row[0] for row in rows]


# Neither judged by this annotator nor on their table.
_UNTOUCHED = (
    "NOT EXISTS (SELECT 1 FROM answer WHERE triple = task.triple AND annotator = ?1) "
    "AND NOT EXISTS (SELECT 1 FROM lease WHERE triple = task.triple AND annotator = ?1)"
)

# What comes before anything new.
SOURCES = ((_find_shared, "shared"), (_find_expired, "new"), (_find_unsure_of_others, "again"), (_find_unsure, "again"))
