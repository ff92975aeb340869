"""Rules as one relational plan: named steps of SQL that count what follows from what, and what that proposes.

A fact is seen as two edges ``(u, s, v)``: slot ``s = 2 r`` from head to tail, ``s = 2 r + 1`` back. A body is one edge
``x -a- y`` (``b`` is -1) or two ``x -a- z -b- y``, read as distinct pairs ``(x, y)``; a rule says that the pairs of a
body have slot ``s`` as well. In a sparse graph there are rules with constants too: entities ``x -a- c`` have
``x -s- d``; ``b`` is -2 where x is the head then, and -3 where it is the tail. DuckDB and Spark run the same text; the
pairs of bodies are made part by part, each part having other heads.
"""

from __future__ import annotations

from dataclasses import dataclass

from actc.evidence.steps import EDGES, FAR, Step, back, together, whole

HUBS = (200, 150, 100, 70, 50, 30, 20, 10, 5, 2)  # edges that an entity in the middle of a path may have


@dataclass(frozen=True)
class RuleLimits:
    """Which rules count, and how much is walked to find them.

    Parameters
    ----------
    support : int
        Pairs of the body for which the rule must hold.
    confidence : float
        The least share of the body's pairs for which it must hold, ``doubt`` cases without success added.
    sparse_confidence : float
        The same where rules of ``confidence`` propose fewer candidates than the graph has facts; there rules with
        constants count as well, from ``confidence`` on.
    doubt : float
        Few cases make no sure rule.
    hub : int
        Edges that an entity in the middle of a path may have.
    walks : int
        Paths of two edges that may be walked: ``hub`` is lowered until there are no more.
    part : int
        Paths walked together; more would only take more memory.
    most : int
        Candidates kept, those of the best rules.
    """

    support: int = 3
    confidence: float = 0.15
    sparse_confidence: float = 0.05
    doubt: float = 5.0
    hub: int = 200
    walks: int = 100_000_000
    part: int = 10_000_000
    most: int = 2_000_000


RULE_LIMITS = RuleLimits()


def edge_steps() -> list[Step]:
    """Return the graph as edges: the table ``fact(h, r, t)`` must be there. A loop is no edge."""
    return [EDGES, Step("degree", "SELECT u, count(*) AS n FROM edge GROUP BY u")]


def count_walks() -> str:
    """Return the SQL of how many paths of two edges there are for each bound on the hubs."""
    return "SELECT " + ", ".join(
        f"coalesce({whole(f'sum(CASE WHEN n <= {hub} THEN CAST(n AS BIGINT) * n ELSE 0 END)')}, 0)" for hub in HUBS
    ) + " FROM degree"  # fmt: skip


def middle_step(hub: int) -> Step:
    """Return the edges that may be the second of a path: those of entities that are no hubs."""
    return Step("middle", f"SELECT e.u, e.s, e.v FROM edge e JOIN degree d ON d.u = e.u WHERE d.n <= {hub}")


# The pairs of every body whose x is in ``edge_part``. Of two bodies that are each other's reverse, one is counted.
BODY = Step(
    "body",
    f"""
    SELECT DISTINCT e.s AS a, f.s AS b, e.u AS x, f.v AS y FROM edge_part e JOIN middle f ON f.u = e.v
    WHERE f.v <> e.u AND e.s <= {back("f.s")}
    UNION ALL SELECT s AS a, -1 AS b, u AS x, v AS y FROM edge_part WHERE s % 2 = 0""",
)

# How many pairs a part's bodies have (s = -1), and how many of them have slot s. A body that is its own reverse has
# each pair both ways, so that slots from the head are enough.
COUNTED = Step(
    "counted",
    f"""
    SELECT a, b, -1 AS s, count(*) AS n FROM body GROUP BY a, b
    UNION ALL
    SELECT p.a, p.b, e.s, count(*) AS n FROM body p JOIN edge e ON e.u = p.x AND e.v = p.y
    WHERE (p.b >= 0 OR e.s <> p.a) AND (p.b < 0 OR p.a <> {back("p.b")} OR e.s % 2 = 0) GROUP BY p.a, p.b, e.s""",
)


def constant_steps(limits: RuleLimits, wanted: bool) -> list[Step]:
    """Return the rules with constants: of the n entities ``x -a- c`` that are no hubs, k have ``x -s- d``."""
    few = f"count(*) >= {limits.support if wanted else FAR}"
    return [
        Step("key_count", f"SELECT s, v, count(*) AS n FROM middle GROUP BY s, v HAVING {few}"),
        Step("keyed", "SELECT e.u, e.s, e.v, k.n FROM middle e JOIN key_count k ON k.s = e.s AND k.v = e.v"),
        Step(
            "constant",
            f"""
            SELECT a, -2 - s % 2 AS b, c, d, CAST(floor(s / 2) AS INTEGER) AS r, k, n, confidence FROM (
                SELECT a.s AS a, a.v AS c, b.s, b.v AS d, count(*) AS k, max(a.n) AS n,
                       count(*) * 1e0 / (max(a.n) + {limits.doubt!r}e0) AS confidence
                FROM keyed a JOIN keyed b ON b.u = a.u WHERE a.s <> b.s OR a.v <> b.v GROUP BY a.s, a.v, b.s, b.v) c
            WHERE k >= {limits.support} AND confidence >= {limits.confidence!r}e0""",
        ),
    ]


def rule_steps(limits: RuleLimits, confidence: float) -> list[Step]:
    """Return the rules that count, numbered from the surest: ``rule(id, a, b, c, d, r, k, n, confidence)``.

    All are turned so that the body goes from the head to the tail of relation ``r``. Those with constants come from
    the table ``constant``; c and d are -1 for the others.
    """
    turned = f"CASE WHEN c.s % 2 = 0 THEN c.a WHEN c.b < 0 THEN {back('c.a')} ELSE {back('c.b')} END"
    return [
        Step(
            "rule",
            f"""
            SELECT {whole("row_number() OVER (ORDER BY confidence DESC, r, a, b, c, d)")} - 1 AS id, * FROM (
                SELECT {turned} AS a, CASE WHEN c.s % 2 = 0 OR c.b < 0 THEN c.b ELSE {back("c.a")} END AS b,
                       -1 AS c, -1 AS d, CAST(floor(c.s / 2) AS INTEGER) AS r, c.k, m.n,
                       c.k * 1e0 / (m.n + {limits.doubt!r}e0) AS confidence
                FROM (SELECT a, b, s, {whole("sum(n)")} AS k FROM counted WHERE s >= 0 GROUP BY a, b, s) c
                JOIN (SELECT a, b, {whole("sum(n)")} AS n FROM counted WHERE s < 0 GROUP BY a, b) m
                ON m.a = c.a AND m.b = c.b WHERE c.k >= {limits.support}
                UNION ALL SELECT a, b, c, d, r, k, n, confidence FROM constant) c
            WHERE confidence >= {confidence!r}e0""",
        ),
        Step("rule_body", "SELECT DISTINCT a, b FROM rule WHERE b >= -1"),
    ]


# The pairs of the bodies that have rules.
APPLIED = Step(
    "body",
    """
    SELECT DISTINCT o.a, o.b, e.u AS x, f.v AS y FROM edge_part e JOIN middle f ON f.u = e.v
    JOIN rule_body o ON o.a = e.s AND o.b = f.s WHERE f.v <> e.u
    UNION ALL SELECT o.a, o.b, e.u AS x, e.v AS y FROM edge_part e JOIN rule_body o ON o.a = e.s AND o.b = -1""",
)

# What rules with constants propose: the view ``constant_part`` has those with the heads of a part.
CONSTANT_PAIRS = """
    SELECT * FROM (
        SELECT CASE WHEN l.b = -2 THEN e.u ELSE l.d END AS h, l.r, CASE WHEN l.b = -2 THEN l.d ELSE e.u END AS t,
               l.id, l.confidence
        FROM edge e JOIN rule l ON l.a = e.s AND l.c = e.v WHERE l.b < -1 AND e.u <> l.d) q"""

# Rules that propose the same are taken together; the surest has the smallest number.
PROPOSAL = Step(
    "proposal",
    f"""
    SELECT q.h, q.r, q.t, min(q.id) AS rule, {together()} AS together, count(*) AS rules
    FROM (SELECT p.x AS h, l.r, p.y AS t, l.id, l.confidence
          FROM body p JOIN rule l ON l.a = p.a AND l.b = p.b
          UNION ALL SELECT h, r, t, id, confidence FROM constant_part) q
    LEFT JOIN fact f ON f.h = q.h AND f.r = q.r AND f.t = q.t WHERE f.h IS NULL GROUP BY q.h, q.r, q.t""",
)
