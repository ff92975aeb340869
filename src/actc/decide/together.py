"""Rivals decided together, as relational steps that DuckDB and Spark run alike.

The same rule as ``actc.constraints.together``, which explains it: sums of whole numbers, then the same few operations
on doubles, rounded before they are compared. Triples and places are numbered once (``key``, ``place``), in whatever
order; a place is made of its constraint and one or two names. Only places where something competes are looked at, and
after the first round only those in which somebody lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from actc.constraints.classes import classes_above
from actc.constraints.together import LEAST, LOGS, MOST, ODDS, ROUND
from actc.tables.constraints import Constraints


class Tables(Protocol):
    """What an engine must offer: tables made from queries, or from columns, and rows read back."""

    row_number: str
    """The SQL of a number that no other row of a table has."""

    def make(self, name: str, query: str) -> None:
        """Make a table, in the place of one of that name."""

    def move(self, name: str, to: str) -> None:
        """Put a table in the place of another."""

    def drop(self, *names: str) -> None:
        """Forget tables that nothing needs any more."""

    def put(self, name: str, columns: Mapping[str, Any]) -> None:
        """Make a small table of given columns."""

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""


def hold_back(tables: Tables, constraints: Constraints, has_facts: bool) -> None:
    """Make the table ``verdict``: head, relation, tail, out (1 where it is held back), coupled (P(true) given all).

    Parameters
    ----------
    tables : Tables
        With ``decided``: head, relation, tail, score, p, accepted, bar, word (1 or 0 where a person said it, else
        NULL); and ``known``, the facts: head, relation, tail.
    constraints : Constraints
        Those that are used.
    has_facts : bool
        Whether there is a table ``known``.
    """
    _put_rules(tables, constraints)
    names = _quoted(constraints.relations)
    facts = f"SELECT DISTINCT head, relation, tail FROM known WHERE relation IN ({names})"
    tables.make("fact", facts if has_facts else "SELECT head, relation, tail FROM decided WHERE 1 = 0")
    tables.make("competing", COMPETING.format(names=names, key=tables.row_number))
    _put_classes(tables, constraints)
    tables.make("member", " UNION ALL ".join([*_members(constraints, "competing"), *_alone(constraints)]))
    tables.make("fact_place", f"SELECT place, count(*) AS n FROM ({_fact_members(constraints)}) f GROUP BY place")
    tables.make("contested", CONTESTED.format(key=tables.row_number))
    tables.make("seat", SEAT)
    tables.drop("member", "fact_place", "contested", "class_member", "typed")
    tables.make("state", STATE)
    seats = "seat"
    while True:
        tables.make("found", FOUND.format(seats=seats))
        tables.make("turn", TURN)
        if not tables.fetch("SELECT 1 FROM turn WHERE wins = 1 LIMIT 1"):
            break
        tables.make("lost", LOSING)
        tables.make("next_state", NEXT_STATE)
        tables.move("next_state", "state")
        seats = "seat_now"
        tables.make(seats, TOUCHED)
    tables.drop("found", "seat")
    tables.make("settled", SETTLED)
    _hold_mirrors(tables, constraints)
    tables.make("verdict", VERDICT)


def _put_rules(tables: Tables, constraints: Constraints) -> None:
    columns = {name: np.array([getattr(one, name) for one in constraints.each], dtype=object)
               for name in ("kind", "relation", "other")}  # fmt: skip
    hard = constraints.hard.astype(np.int64)
    factors = {"rho": constraints.rho, "against": constraints.against}
    tables.put("rule", {"rule": np.arange(len(constraints)), **columns, **factors, "hard": hard})


def _put_classes(tables: Tables, constraints: Constraints) -> None:
    """Make who is of which class that a constraint names, who has a class at all, and which classes are apart."""
    types = _quoted(one.relation for one in constraints.of("type"))
    larger = _quoted(one.relation for one in constraints.of("subclass"))
    pairs = tables.fetch(f"SELECT head, tail FROM fact WHERE relation IN ({larger})")
    told = f"SELECT DISTINCT tail FROM {{}} WHERE relation IN ({types})"
    used = {row[0] for table in ("fact", "competing") for row in tables.fetch(told.format(table))}
    above = classes_above((str(part), str(whole)) for part, whole in pairs)
    ups = {name: above.get(name, frozenset((name,))) for name in sorted(used)}
    wanted = sorted({one.other for one in constraints.of("domain", "range")})
    _put_pairs(tables, "below", [(part, name) for name in wanted for part, up in ups.items() if name in up])
    of_type = f"FROM fact f JOIN below b ON f.tail = b.one WHERE f.relation IN ({types})"
    tables.make("class_member", f"SELECT DISTINCT b.two AS class, f.head AS entity {of_type}")
    tables.make("typed", f"SELECT DISTINCT head AS entity FROM fact WHERE relation IN ({types})")
    apart = [
        (str(rule), first, second)
        for rule, one in enumerate(constraints.each)
        if one.kind == "disjoint"
        for first in (name for name, up in ups.items() if one.relation in up)
        for second in (name for name, up in ups.items() if one.other in up)
        if first != second
    ]
    _put_pairs(
        tables, "apart", [(f"{rule}\x1f{one}\x1f{two}", name) for rule, one, two in apart for name in (one, two)]
    )


def _put_pairs(tables: Tables, name: str, pairs: Sequence[tuple[str, str]]) -> None:
    columns = {key: np.array([pair[at] for pair in pairs], dtype=object) for at, key in enumerate(("one", "two"))}
    tables.put(name, columns)


def _quoted(names: Iterable[str]) -> str:
    """Return names as a list in SQL; one that nothing is called, where there are none."""
    # Spark reads a backslash in a text as an escape, DuckDB does not; a character by its number is the same to both.
    texts = [
        "concat(" + ", ".join(f"chr({ord(sign)})" for sign in name) + ")"
        if "\\" in name
        else "'" + name.replace("'", "''") + "'"
        for name in names
    ]
    return ", ".join(texts) or "''"


PLACES = {
    "one-tail": ("t.relation = r.relation", "t.head"),
    "one-head": ("t.relation = r.relation", "t.tail"),
    "asymmetric": ("t.relation = r.relation AND t.head <> t.tail",
                   "least(t.head, t.tail), greatest(t.head, t.tail)"),
    "not-both": ("t.relation IN (r.relation, r.other)", "t.head, t.tail"),
}  # fmt: skip
"""Of each kind: which triples a constraint speaks of, and the names that make their place."""


def _members(constraints: Constraints, table: str) -> list[str]:
    """Return queries for the triples of a table in their places: key, place, rule, forbidden."""
    kinds = [kind for kind in PLACES if constraints.of(kind)]
    found = [
        f"SELECT t.key, concat_ws(chr(31), CAST(r.rule AS STRING), {PLACES[kind][1]}) AS place, r.rule, "
        f"0 AS forbidden FROM {table} t JOIN rule r ON r.kind = '{kind}' AND {PLACES[kind][0]}"
        for kind in kinds
    ]
    types = _quoted(one.relation for one in constraints.of("type"))
    found.append(
        f"SELECT t.key, concat_ws(chr(31), a.one, t.head) AS place, "
        f"CAST(substring(a.one, 1, position(chr(31) IN a.one) - 1) AS BIGINT) AS rule, 0 AS forbidden "
        f"FROM {table} t JOIN apart a ON t.tail = a.two WHERE t.relation IN ({types})"
    )
    return found


def _fact_members(constraints: Constraints) -> str:
    return " UNION ALL ".join(_members(constraints, "(SELECT 0 AS key, f.* FROM fact f)"))


def _alone(constraints: Constraints) -> list[str]:
    """Return queries for the candidates that a constraint forbids by itself."""
    place = "concat_ws(chr(31), CAST(r.rule AS STRING), 'alone', CAST(t.key AS STRING))"
    start = f"SELECT t.key, {place} AS place, r.rule, 1 AS forbidden"
    loops = (
        f"{start} FROM competing t JOIN rule r ON t.relation = r.relation "
        "WHERE t.head = t.tail AND (r.kind = 'irreflexive' OR (r.kind = 'asymmetric' AND r.hard = 1))"
    )
    ends = [
        f"{start} FROM competing t JOIN rule r ON t.relation = r.relation AND r.kind = '{kind}' "
        f"LEFT JOIN class_member m ON m.class = r.other AND m.entity = t.{end} LEFT JOIN typed e ON e.entity = t.{end} "
        "WHERE m.entity IS NULL AND (r.hard = 1 OR e.entity IS NOT NULL)"
        for kind, end in (("domain", "head"), ("range", "tail"))
        if constraints.of(kind)
    ]
    return [loops, *ends]


COMPETING = """
SELECT {key} AS key, d.head, d.relation, d.tail, p, score, accepted, word, bar,
       CASE WHEN f.head IS NULL THEN 0 ELSE 1 END AS is_fact
FROM (SELECT head, relation, tail, max(p) AS p, max(score) AS score, max(accepted) AS accepted, max(word) AS word,
             min(bar) AS bar
      FROM decided WHERE relation IN ({names}) GROUP BY head, relation, tail) d
LEFT JOIN fact f ON f.head = d.head AND f.relation = d.relation AND f.tail = d.tail
"""
CONTESTED = """
SELECT {key} AS id, m.place, m.forbidden + coalesce(f.n, 0) AS facts
FROM (SELECT place, count(*) AS n, max(forbidden) AS forbidden FROM member GROUP BY place) m
LEFT JOIN fact_place f ON f.place = m.place
WHERE m.n + m.forbidden + coalesce(f.n, 0) >= 2
"""
SEAT = """
SELECT m.key, c.id AS place, r.rho, r.against, r.hard, c.facts
FROM member m JOIN contested c ON c.place = m.place JOIN rule r ON r.rule = m.rule
"""
STATE = """
SELECT c.*, CASE WHEN word = 1 OR is_fact = 1 THEN 1 ELSE 0 END AS sure,
       CASE WHEN word IS NOT NULL OR is_fact = 1 THEN 1 ELSE 0 END AS final,
       CASE WHEN word = 0 OR (s.shut = 1 AND is_fact = 0 AND word IS NULL) THEN 0 ELSE 1 END AS alive, 0 AS entered,
       CASE WHEN s.shut = 1 AND is_fact = 0 AND word IS NULL THEN 0e0 ELSE p END AS coupled
FROM competing c JOIN (
    SELECT key, max(CASE WHEN hard = 1 AND facts + told > 0 THEN 1 ELSE 0 END) AS shut FROM (
        SELECT s.key, s.hard, s.facts,
               sum(CASE WHEN c.word = 1 AND c.is_fact = 0 THEN 1 ELSE 0 END) OVER (PARTITION BY s.place) AS told
        FROM seat s JOIN competing c ON c.key = s.key
    ) told GROUP BY key
) s ON s.key = c.key
"""
WHOLE = f"""
SELECT s.key, s.place, s.rho AS single, s.against, s.hard, s.facts, t.p, t.score, t.bar, t.head, t.relation, t.tail,
       t.sure, t.is_fact, t.alive, t.final,
       CAST(floor(q / (1 - q) * {ODDS!r}e0) AS BIGINT) AS o, CAST(floor(-ln(1 - q) * {LOGS!r}e0) AS BIGINT) AS l
FROM {{seats}} s JOIN (
    SELECT *, CASE WHEN alive = 1 AND sure = 0 AND p > 0
                   THEN least(greatest(p, {LEAST:.30e}), {MOST:.30e}) ELSE 0e0 END AS q FROM state
) t ON t.key = s.key
"""
SUMS = f"""
SELECT *, CAST(o AS DOUBLE) AS odds, CAST(o AS DOUBLE) / {ODDS!r}e0 AS ratio,
       CAST(sum(o) OVER (PARTITION BY place) AS DOUBLE) AS total,
       exp(-(CAST(sum(l) OVER (PARTITION BY place) - l AS DOUBLE)) / {LOGS!r}e0) AS others,
       facts + sum(sure * (1 - is_fact)) OVER (PARTITION BY place) AS inside,
       row_number() OVER (PARTITION BY place ORDER BY alive * (1 - final) DESC, p DESC, score DESC,
                          head, relation, tail) AS rank
FROM ({WHOLE}) w
"""
FOUND = f"""
SELECT key, place, hard, bar, CASE WHEN rank = 1 AND alive = 1 AND final = 0 AND inside = 0 THEN 1 ELSE 0 END AS leads,
       floor(CASE WHEN hard = 1 THEN CASE WHEN inside - sure > 0 THEN 0e0 ELSE odds / ({ODDS!r}e0 + total) END
                  WHEN inside - sure > 1 THEN ratio / (1 + ratio)
                  ELSE above / CASE WHEN below > 0 THEN below ELSE 1e0 END END * {ROUND!r}e0 + 5e-1) / {ROUND!r}e0 AS p
FROM (SELECT *, CASE WHEN inside - sure = 0 THEN (1 - rho) * (1 + total / {ODDS!r}e0) ELSE 1 - rho END * others
                + rho * (1 + ratio) AS below,
             ratio * (CASE WHEN inside - sure = 0 THEN (1 - rho) * others ELSE 0e0 END + rho) AS above
      FROM (SELECT *, CASE WHEN inside - sure = 1 THEN against ELSE single END AS rho FROM ({SUMS}) s) r) f
"""
TURN = """
SELECT f.key, min(f.p) AS least,
       CASE WHEN min(CASE WHEN f.leads = 1 OR (f.hard = 0 AND f.p >= f.bar) THEN 1 ELSE 0 END) = 1
            AND max(s.accepted * s.alive * (1 - s.entered) * (1 - s.final)) = 1 THEN 1 ELSE 0 END AS wins
FROM found f JOIN state s ON s.key = f.key JOIN (
    SELECT key, count(*) AS n FROM seat GROUP BY key
) a ON a.key = f.key
GROUP BY f.key HAVING count(*) = max(a.n)
"""
"""What each triple comes to in this round, of those all of whose places are looked at."""
LOSING = """
SELECT DISTINCT f.key FROM found f JOIN (
    SELECT DISTINCT f.place FROM found f JOIN turn t ON t.key = f.key WHERE f.hard = 1 AND t.wins = 1
) w ON w.place = f.place
JOIN state s ON s.key = f.key LEFT JOIN turn t ON t.key = f.key AND t.wins = 1
WHERE f.hard = 1 AND s.alive = 1 AND s.sure = 0 AND s.entered = 0 AND t.key IS NULL
"""
NEXT_STATE = """
SELECT s.key, s.head, s.relation, s.tail, s.p, s.score, s.accepted, s.word, s.bar, s.is_fact, s.sure, s.final,
       CASE WHEN l.key IS NULL THEN s.alive ELSE 0 END AS alive,
       CASE WHEN t.wins = 1 THEN 1 ELSE s.entered END AS entered,
       CASE WHEN t.key IS NOT NULL AND s.alive = 1 AND s.entered = 0 AND s.final = 0 THEN t.least ELSE s.coupled END
           AS coupled
FROM state s LEFT JOIN turn t ON t.key = s.key LEFT JOIN lost l ON l.key = s.key
"""
TOUCHED = """
SELECT s.* FROM seat s JOIN (
    SELECT DISTINCT s.place FROM seat s JOIN (
        SELECT DISTINCT s.key FROM seat s JOIN (
            SELECT DISTINCT s.place FROM seat s JOIN lost l ON l.key = s.key
        ) p ON p.place = s.place
        JOIN state t ON t.key = s.key WHERE t.alive = 1 AND t.entered = 0 AND t.final = 0
    ) k ON k.key = s.key
) p ON p.place = s.place
"""
"""The places of those who share one with somebody who lost, and all that is in them."""
SETTLED = """
SELECT c.key, c.head, c.relation, c.tail, c.accepted,
       CASE WHEN c.word IS NULL AND c.is_fact = 0 THEN 0 ELSE 1 END AS final,
       CASE WHEN s.key IS NULL OR s.final = 1 THEN c.accepted ELSE c.accepted * s.entered END AS stays,
       CASE WHEN s.final = 0 THEN CASE WHEN t.key IS NOT NULL AND s.alive = 1 AND s.entered = 0
                                       THEN t.least ELSE s.coupled END END AS coupled
FROM competing c LEFT JOIN state s ON s.key = c.key LEFT JOIN turn t ON t.key = c.key
"""
VERDICT = """
SELECT head, relation, tail, CASE WHEN accepted = 1 AND stays = 0 THEN 1 ELSE 0 END AS out, coupled
FROM settled WHERE coupled IS NOT NULL OR accepted <> stays
"""
MIRROR = """
SELECT t.key, o.key AS other
FROM competing t JOIN (SELECT relation, CASE WHEN kind = 'inverse' THEN other ELSE relation END AS wanted FROM rule
                       WHERE hard = 1 AND kind IN ('symmetric', 'inverse')) r ON r.relation = t.relation
LEFT JOIN competing o ON o.head = t.tail AND o.relation = r.wanted AND o.tail = t.head
LEFT JOIN fact f ON f.head = t.tail AND f.relation = r.wanted AND f.tail = t.head
WHERE f.head IS NULL
"""
LONELY = """
SELECT DISTINCT m.key FROM mirror m JOIN settled s ON s.key = m.key AND s.stays = 1 AND s.final = 0
LEFT JOIN settled o ON o.key = m.other AND o.stays = 1 WHERE o.key IS NULL
"""


def _hold_mirrors(tables: Tables, constraints: Constraints) -> None:
    """Hold back what a hard constraint lets in only with its mirror, where that is neither a fact nor accepted."""
    if not any(one.use == "hard" for one in constraints.of("symmetric", "inverse")):
        return
    tables.make("mirror", MIRROR)
    while True:
        tables.make("lonely", LONELY)
        if not tables.fetch("SELECT 1 FROM lonely LIMIT 1"):
            return
        tables.make(
            "next_settled",
            "SELECT s.key, s.head, s.relation, s.tail, s.accepted, s.final, "
            "CASE WHEN l.key IS NULL THEN s.stays ELSE 0 END AS stays, s.coupled "
            "FROM settled s LEFT JOIN lonely l ON l.key = s.key",
        )
        tables.move("next_settled", "settled")
