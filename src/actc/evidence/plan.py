"""The evidence table as one relational plan: named steps of SQL, each a table made from the ones before.

Only functions that DuckDB and Spark share are used, so that both engines run the same text. A fact is seen as two edges
``(u, s, v)``: slot ``s = 2 r`` from head to tail, ``s = 2 r + 1`` back. A candidate is looked at from both its ends, so
that whatever is counted for its head (side 0) is counted for its tail (side 1) by the same text.

A candidate that is itself a fact (``own = 1``) is looked at as if it were not: whatever it added to a count is taken
off again. Where a limit of :class:`Limits` is reached, counts come from a sample and that holds nearly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, Self

ROWS = 5_000_000  # that a step may make before fewer facts of each candidate are looked at


@dataclass(frozen=True)
class Limits:
    """How much is looked at; without limits a few entities with very many facts would take all the time.

    Parameters
    ----------
    path_edges : int
        Edges of a candidate's end with fewer facts that may begin a path.
    path_facts : int
        Facts of each relation from which the rules of paths are mined.
    rule_edges : int
        Edges of an entity that may be the condition of a rule with constants.
    rule_holders : int
        Entities with the same fact from which such a rule is mined.
    rare_edges, rare_holders : int
        Facts of an entity that make others its relatives: the rarest, each of at most so many entities.
    relatives : int
        Relatives kept for each entity.
    doubt : float
        Cases without success that every rule is given: few cases make no sure rule.
    """

    path_edges: int = 256
    path_facts: int = 2000
    rule_edges: int = 64
    rule_holders: int = 64
    rare_edges: int = 40
    rare_holders: int = 200
    relatives: int = 100
    doubt: float = 5.0

    @classmethod
    def for_count(cls, candidates: int) -> Self:
        """Return limits under which time grows no faster than the number of candidates, however many there are."""
        each = ROWS // max(candidates, 1)
        return cls(
            path_edges=min(256, max(each, 16)),
            rule_edges=min(64, max(each, 8)),
            rule_holders=min(64, max(each, 16)),
            rare_edges=min(40, max(each, 8)),
            rare_holders=min(200, max(each, 16)),
            relatives=min(100, max(each, 10)),
        )


class Step(NamedTuple):
    """One table of the plan and the query that makes it."""

    name: str
    query: str


def back(slot: str) -> str:
    """Return the SQL of the slot at a fact's other end."""
    return f"({slot} + 1 - 2 * ({slot} % 2))"


def shuffled(first: str, second: str) -> str:
    """Return SQL that orders rows without favour, the same in every engine."""
    return f"((({first} * 7919 + {second} * 104729 + 12345) % 1000003) * 31337) % 1000003"


def graph_steps(limits: Limits) -> list[Step]:
    """Return what is counted once for a graph: the table ``fact(h, r, t)`` must be there."""
    # The rules of paths are counted by path instances; a path that returns to where it began is none.
    path_body = f"""
        SELECT w.a, w.b, w.n - coalesce(p.n, 0) AS body FROM (
            SELECT {back("x.s")} AS a, y.s AS b, sum(x.n * y.n) AS n
            FROM edge_slot x JOIN edge_slot y ON x.u = y.u GROUP BY x.s, y.s) w
        LEFT JOIN (
            SELECT {back("c.s")} AS a, d.s AS b, count(*) AS n
            FROM edge c JOIN edge d ON c.u = d.u AND c.v = d.v GROUP BY c.s, d.s) p ON p.a = w.a AND p.b = w.b"""
    lesson = f"""
        SELECT k AS id, h, r, t FROM (
            SELECT h, r, t, row_number() OVER (PARTITION BY r ORDER BY {shuffled("h", "t")}, h, t) AS i,
                   row_number() OVER (ORDER BY r, h, t) AS k FROM fact WHERE h <> t)
        WHERE i <= {limits.path_facts}"""
    return [
        Step(
            "edge",
            "SELECT h AS u, 2 * r AS s, t AS v FROM fact WHERE h <> t UNION ALL "
            "SELECT t, 2 * r + 1, h FROM fact WHERE h <> t",
        ),
        Step(
            "slot",
            "SELECT u, s, count(*) AS n FROM (SELECT h AS u, 2 * r AS s FROM fact UNION ALL "
            "SELECT t, 2 * r + 1 FROM fact) f GROUP BY u, s",
        ),
        Step("kind", "SELECT s, count(*) AS entities, sum(n) AS facts FROM slot GROUP BY s"),
        Step("degree", "SELECT u, sum(n) AS n FROM slot GROUP BY u"),
        Step("edge_count", "SELECT s, count(*) AS n FROM edge GROUP BY s"),
        Step("edge_slot", "SELECT u, s, count(*) AS n FROM edge GROUP BY u, s"),
        Step("key_count", "SELECT s, v, count(*) AS n FROM edge GROUP BY s, v"),
        Step(
            "pair_rule",
            "SELECT b.s AS s2, a.s AS s, count(*) AS n FROM edge a JOIN edge b "
            "ON a.u = b.u AND a.v = b.v AND a.s <> b.s WHERE a.s % 2 = 0 GROUP BY b.s, a.s",
        ),
        Step(
            "kind_rule",
            "SELECT b.s AS s2, a.s AS s, count(*) AS n FROM slot a JOIN slot b "
            "ON a.u = b.u AND a.s <> b.s GROUP BY b.s, a.s",
        ),
        Step(
            "some_edge",
            f"""
            SELECT u, s, v, i FROM (
                SELECT u, s, v, row_number() OVER (PARTITION BY u ORDER BY {shuffled("v", "s")}, v, s) AS i FROM edge) e
            WHERE i <= {max(limits.path_edges, limits.rule_edges)}""",
        ),
        Step("path_body", path_body),
        Step("lesson", lesson),
        Step("lesson_path", find_paths("lesson", limits)),
        Step(
            "path_rule",
            """
            SELECT q.r, p.a, p.b, sum(p.n) * max(n.n) * 1.0 / max(m.n) AS n
            FROM lesson_path p JOIN lesson q ON q.id = p.id
            JOIN (SELECT r, count(*) AS n FROM lesson GROUP BY r) m ON m.r = q.r
            JOIN edge_count n ON n.s = 2 * q.r GROUP BY q.r, p.a, p.b""",
        ),
        Step(
            "rare_edge",
            f"""
            SELECT u, s, v, n FROM (
                SELECT e.u, e.s, e.v, k.n, row_number() OVER (PARTITION BY e.u ORDER BY k.n, e.s, e.v) AS i
                FROM edge e JOIN key_count k ON k.s = e.s AND k.v = e.v
                WHERE k.n > 1 AND k.n <= {limits.rare_holders}) e
            WHERE i <= {limits.rare_edges}""",
        ),
    ]


def find_paths(table: str, limits: Limits) -> str:
    """Return the SQL that counts the paths of length two of each triple, walked from the end with fewer facts."""
    walk = (
        f"FROM (SELECT c.id, c.h, c.t, coalesce(a.n, 0) AS m, coalesce(b.n, 0) AS n FROM {table} c "
        "LEFT JOIN degree a ON a.u = c.h LEFT JOIN degree b ON b.u = c.t WHERE c.h <> c.t) q"
    )
    some = f"e.i <= {limits.path_edges}"
    return f"""
        SELECT id, a, b, count(*) AS n FROM (
            SELECT q.id, e.s AS a, f.s AS b {walk}
            JOIN some_edge e ON e.u = q.h AND {some} JOIN edge f ON f.u = e.v AND f.v = q.t
            WHERE q.m <= q.n AND e.v <> q.t
            UNION ALL
            SELECT q.id, {back("f.s")} AS a, {back("e.s")} AS b {walk}
            JOIN some_edge e ON e.u = q.t AND {some} JOIN edge f ON f.u = e.v AND f.v = q.h
            WHERE q.m > q.n AND e.v <> q.h) w
        GROUP BY id, a, b"""


def candidate_steps(limits: Limits) -> list[Step]:
    """Return what is counted for candidates: ``candidate(id, h, r, t)`` must be there beside the graph's tables."""
    return [*look_steps(), *pair_steps(limits), *kind_steps(limits), *path_steps(limits), *rule_steps(limits),
            *relative_steps(limits), Step("evidence", collect())]  # fmt: skip


def look_steps() -> list[Step]:
    """Both ends of every candidate, and the slots they stand in."""
    return [
        Step(
            "asked",
            "SELECT c.id, c.h, c.r, c.t, CASE WHEN f.h IS NULL THEN 0 ELSE 1 END AS own FROM candidate c "
            "LEFT JOIN fact f ON c.h = f.h AND c.r = f.r AND c.t = f.t",
        ),
        Step(
            "look",
            "SELECT id, 0 AS side, h AS u, 2 * r AS s, t AS v, own FROM asked UNION ALL "
            "SELECT id, 1 AS side, t AS u, 2 * r + 1 AS s, h AS v, own FROM asked",
        ),
        Step(
            "slots",
            """
            SELECT l.id, l.side, l.u, l.s, l.v, l.own, coalesce(a.n, 0) - l.own AS filled,
                   coalesce(k.facts, 0) - l.own AS facts,
                   coalesce(k.entities, 0) - CASE WHEN l.own = 1 AND a.n = 1 THEN 1 ELSE 0 END AS holders,
                   CASE WHEN l.own = 1 AND a.n = 1 THEN 1 ELSE 0 END AS leaves,
                   coalesce(d.n, 0) - l.own * (CASE WHEN l.u = l.v THEN 2 ELSE 1 END) AS degree
            FROM look l LEFT JOIN slot a ON a.u = l.u AND a.s = l.s
            LEFT JOIN kind k ON k.s = l.s LEFT JOIN degree d ON d.u = l.u""",
        ),
    ]


def pair_steps(limits: Limits) -> list[Step]:
    """Other relations between the two: a symmetric relation loses two pairs with the candidate, and one case."""
    twin = "CASE WHEN e.s = 2 * q.r + 1 THEN 1 ELSE 0 END"
    return [
        Step(
            "pair_hit",
            f"""
            SELECT q.id, e.s AS s2, (coalesce(p.n, 0) - q.own * (1 + {twin})) * 1.0
                   / (n.n - q.own * {twin} + {limits.doubt}) AS confidence
            FROM asked q JOIN edge e ON e.u = q.h AND e.v = q.t AND e.s <> 2 * q.r JOIN edge_count n ON n.s = e.s
            LEFT JOIN pair_rule p ON p.s2 = e.s AND p.s = 2 * q.r""",
        ),
        Step(
            "pairs",
            f"SELECT id, max(confidence) AS best, min(confidence) AS lowest, {together()} AS together, "
            "count(*) AS n, max_by(s2, confidence) AS s2 FROM pair_hit GROUP BY id",
        ),
    ]


def kind_steps(limits: Limits) -> list[Step]:
    """Slots of other relations the entity stands in: how many of their entities stand in the candidate's slot too."""
    return [
        Step(
            "kind_hit",
            f"""
            SELECT l.id, l.side, l.holders,
                   (coalesce(p.n, 0) - l.leaves) * 1.0 / (k.entities + {limits.doubt}) AS confidence,
                   (coalesce(p.n, 0) - l.leaves + 1.0) / (k.entities + {limits.doubt}) AS share
            FROM slots l JOIN slot b ON b.u = l.u AND b.s <> l.s AND b.s <> {back("l.s")}
            JOIN kind k ON k.s = b.s LEFT JOIN kind_rule p ON p.s2 = b.s AND p.s = l.s""",
        ),
        Step(
            "kinds",
            "SELECT id, side, max(confidence) AS best, avg(confidence) AS mean, "
            "avg(ln(share)) - ln(max(holders) + 1.0) AS lift FROM kind_hit GROUP BY id, side",
        ),
    ]


def path_steps(limits: Limits) -> list[Step]:
    """Closed paths of length two; a fact stands in the paths of others as first or second edge, either way round."""
    own = "FROM asked q JOIN path p ON p.id = q.id WHERE q.own = 1"
    return [
        Step("path", find_paths("asked", limits)),
        Step("path_lost", f"""
            SELECT id, a, b, sum(n) AS n FROM (
                SELECT q.id, p.a, p.b, p.n {own}
                UNION ALL SELECT q.id, p.a, {back("p.b")} AS b, p.n {own} AND p.a = 2 * q.r
                UNION ALL SELECT q.id, 2 * q.r + 1 AS a, p.a AS b, p.n {own} AND p.b = 2 * q.r + 1
                UNION ALL SELECT q.id, {back("p.a")} AS a, p.b, p.n {own} AND p.b = 2 * q.r
                UNION ALL SELECT q.id, p.b AS a, 2 * q.r + 1 AS b, p.n {own} AND p.a = 2 * q.r + 1) l
            GROUP BY id, a, b"""),
        Step("path_used", f"""
            SELECT w.id, w.a, w.b, sum(m.n - CASE WHEN e.u IS NULL THEN 0 ELSE 1 END) AS n FROM (
                SELECT q.id, p.a, p.b, q.t AS u, p.b AS s, q.h AS v {own} AND p.a = 2 * q.r
                UNION ALL SELECT q.id, p.a, p.b, q.h AS u, p.b AS s, q.t AS v {own} AND p.a = 2 * q.r + 1
                UNION ALL SELECT q.id, p.a, p.b, q.h AS u, {back("p.a")} AS s, q.t AS v {own} AND p.b = 2 * q.r
                UNION ALL SELECT q.id, p.a, p.b, q.t AS u, {back("p.a")} AS s, q.h AS v {own} AND p.b = 2 * q.r + 1) w
            JOIN edge_slot m ON m.u = w.u AND m.s = w.s LEFT JOIN edge e ON e.u = w.u AND e.s = w.s AND e.v = w.v
            GROUP BY w.id, w.a, w.b"""),
        Step("path_hit", f"""
            SELECT p.id, p.a, p.b, greatest(coalesce(r.n, 0) - coalesce(l.n, 0), 0)
                   / (b.body - coalesce(u.n, 0) + {limits.doubt}) AS confidence
            FROM asked q JOIN path p ON p.id = q.id JOIN path_body b ON b.a = p.a AND b.b = p.b
            LEFT JOIN path_rule r ON r.r = q.r AND r.a = p.a AND r.b = p.b
            LEFT JOIN path_lost l ON l.id = p.id AND l.a = p.a AND l.b = p.b
            LEFT JOIN path_used u ON u.id = p.id AND u.a = p.a AND u.b = p.b"""),
        Step("paths", f"SELECT id, max(confidence) AS best, {together()} AS together, count(*) AS n, "
                      "avg(confidence) AS mean, max_by(a, confidence) AS a, max_by(b, confidence) AS b "
                      "FROM path_hit GROUP BY id"),
    ]  # fmt: skip


def rule_steps(limits: Limits) -> list[Step]:
    """Rules with constants: of the others that have a fact of this entity, how many have the candidate's too."""
    holders = limits.rule_holders
    return [
        Step("goal", "SELECT DISTINCT s, v FROM look"),
        Step("goal_holder", f"""
            SELECT s, v, u, n FROM (
                SELECT g.s, g.v, e.u, count(*) OVER (PARTITION BY g.s, g.v) AS n,
                       row_number() OVER (PARTITION BY g.s, g.v ORDER BY {shuffled("e.u", "g.v")}, e.u) AS i
                FROM goal g JOIN edge e ON e.s = g.s AND e.v = g.v) g
            WHERE i <= {holders}"""),
        Step("rule", f"""
            SELECT g.s, g.v, e.s AS s2, e.v AS c, count(*) * max(g.n) * 1.0 / least(max(g.n), {holders}) AS n
            FROM goal_holder g JOIN some_edge e ON e.u = g.u AND e.i <= {limits.rule_edges}
            WHERE NOT (e.s = g.s AND e.v = g.v) GROUP BY g.s, g.v, e.s, e.v"""),
        # The entity itself is no case of its own rule, whether it has the fact or not.
        Step("rule_hit", f"""
            SELECT l.id, l.side, e.s AS s2, e.v AS c, k.n - 1 AS cases,
                   greatest(coalesce(p.n, 0) - l.own, 0) * 1.0 / (k.n - 1 + {limits.doubt}) AS confidence
            FROM look l JOIN some_edge e ON e.u = l.u AND e.i <= {limits.rule_edges} AND e.v <> l.v
            JOIN key_count k ON k.s = e.s AND k.v = e.v
            LEFT JOIN rule p ON p.s = l.s AND p.v = l.v AND p.s2 = e.s AND p.c = e.v WHERE l.u <> l.v"""),
        Step("rules", f"SELECT id, side, max(confidence) AS best, {together()} AS together, avg(confidence) AS mean, "
                      "sum(confidence * confidence) / greatest(sum(confidence), 0.000000001) AS weighted, "
                      "max_by(s2, confidence) AS s2, max_by(c, confidence) AS c FROM rule_hit GROUP BY id, side"),
    ]  # fmt: skip


def relative_steps(limits: Limits) -> list[Step]:
    """The entities most like one, by shared rare facts; the candidate's own fact makes nobody a relative."""
    share = "sum(CASE WHEN i <= {0} THEN has * w ELSE 0 END) / sum(CASE WHEN i <= {0} THEN w ELSE 0 END)"
    return [
        Step("relative", f"""
            SELECT u, x, w, d FROM (
                SELECT u, x, w, d, row_number() OVER (PARTITION BY u ORDER BY w DESC, x) AS i FROM (
                    SELECT a.u, b.u AS x, round(sum(1 / ln(1.0 + a.n)) / sqrt(max(d.n) + 5.0), 9) AS w, max(d.n) AS d
                    FROM rare_edge a JOIN edge b ON b.s = a.s AND b.v = a.v AND b.u <> a.u JOIN degree d ON d.u = b.u
                    JOIN (SELECT DISTINCT u FROM look) l ON l.u = a.u
                    GROUP BY a.u, b.u) y) y
            WHERE i <= {limits.relatives}"""),
        Step("relative_hit", """
            SELECT l.id, l.side, y.x, CASE WHEN e.u IS NULL THEN 0 ELSE 1 END AS has,
                   round(y.w - CASE WHEN l.own = 1 AND e.u IS NOT NULL
                               THEN coalesce(1 / ln(1.0 + r.n) / sqrt(y.d + 5.0), 0) ELSE 0 END, 6) AS w
            FROM look l JOIN relative y ON y.u = l.u AND y.x <> l.v
            LEFT JOIN edge e ON e.u = y.x AND e.s = l.s AND e.v = l.v
            LEFT JOIN rare_edge r ON r.u = l.u AND r.s = l.s AND r.v = l.v"""),
        Step("relatives", f"""
            SELECT id, side, sum(CASE WHEN i <= 5 THEN has ELSE 0 END) AS five,
                   sum(CASE WHEN i <= 5 THEN 1 ELSE 0 END) AS n, {share.format(20)} AS twenty,
                   sum(has * w) / sum(w) AS every, max(has * w) AS nearest
            FROM (SELECT id, side, w, has, row_number() OVER (PARTITION BY id, side ORDER BY w DESC, x) AS i
                  FROM relative_hit WHERE w > 0.000001) y
            GROUP BY id, side"""),
    ]  # fmt: skip


def together() -> str:
    """Return the SQL of several confidences taken together (noisy or), as minus the log of the share that is left."""
    return "sum(-ln(1 - least(confidence, 0.999)))"


# Column of the evidence table: its SQL. {0} stands for a side's number; the names begin with head_ or tail_ there.
SIDE_COLUMNS = {
    "slot_filled": "slots{0}.filled",
    "slot_usual": "slots{0}.facts * 1.0 / greatest(slots{0}.holders, 1)",
    "slot_excess": "slots{0}.filled * 1.0 * slots{0}.holders / greatest(slots{0}.facts, 1)",
    "degree": "slots{0}.degree",
    "share": "slots{0}.filled * 1.0 / greatest(slots{0}.facts, 1)",
    "kind_best": "coalesce(kinds{0}.best, 0)",
    "kind_mean": "coalesce(kinds{0}.mean, 0)",
    "kind_lift": "coalesce(kinds{0}.lift, 0)",
    "rule_best": "coalesce(rules{0}.best, 0)",
    "rule_together": "coalesce(rules{0}.together, 0)",
    "rule_mean": "coalesce(rules{0}.mean, 0)",
    "rule_weighted": "coalesce(rules{0}.weighted, 0)",
    "relatives_five": "coalesce(relatives{0}.five, 0)",
    "relatives_twenty": "coalesce(relatives{0}.twenty, 0)",
    "relatives_every": "coalesce(relatives{0}.every, 0)",
    "relatives_nearest": "coalesce(relatives{0}.nearest, 0)",
}
PAIR_COLUMNS = {
    "same_entity": "CASE WHEN q.h = q.t THEN 1 ELSE 0 END",
    "pair_best": "coalesce(pairs.best, 0)",
    "pair_lowest": "coalesce(pairs.lowest, 0)",
    "pair_together": "coalesce(pairs.together, 0)",
    "pair_count": "coalesce(pairs.n, 0)",
    "path_best": "coalesce(paths.best, 0)",
    "path_together": "coalesce(paths.together, 0)",
    "path_count": "coalesce(paths.n, 0)",
    "path_mean": "coalesce(paths.mean, 0)",
}
# What the sentences name: codes of slots (s2, a, b) and entities (c), not evidence by themselves.
NAMED_COLUMNS = {
    "pair_slot": "coalesce(pairs.s2, -1)",
    "path_first": "coalesce(paths.a, -1)",
    "path_second": "coalesce(paths.b, -1)",
    "head_relatives_count": "coalesce(relatives0.n, 0)",
    "tail_relatives_count": "coalesce(relatives1.n, 0)",
    "head_rule_slot": "coalesce(rules0.s2, -1)",
    "head_rule_entity": "coalesce(rules0.c, -1)",
    "tail_rule_slot": "coalesce(rules1.s2, -1)",
    "tail_rule_entity": "coalesce(rules1.c, -1)",
}
SIDES = ("head", "tail")
GRAPH_COLUMNS = {f"{side}_{name}": sql.format(i) for i, side in enumerate(SIDES) for name, sql in SIDE_COLUMNS.items()}
GRAPH_COLUMNS |= PAIR_COLUMNS


def collect() -> str:
    """Return the SQL that puts all pieces side by side, one row per candidate."""
    columns = ", ".join(f"{sql} AS {name}" for name, sql in (GRAPH_COLUMNS | NAMED_COLUMNS).items())
    joins = " LEFT JOIN pairs ON pairs.id = q.id LEFT JOIN paths ON paths.id = q.id"
    for side in (0, 1):
        for table in ("slots", "kinds", "rules", "relatives"):
            joins += f" LEFT JOIN {table} {table}{side} ON {table}{side}.id = q.id AND {table}{side}.side = {side}"
    return f"SELECT q.id, {columns} FROM asked q{joins}"


def question_query(score: str) -> str:
    """Return the SQL of what one model's scores say of a candidate among the others for the same two questions."""
    best = "max({0}) OVER (PARTITION BY {1})"
    return f"""
        SELECT id, {score} AS score,
               rank() OVER (PARTITION BY h, r ORDER BY {score} DESC) AS place_among_tails,
               rank() OVER (PARTITION BY r, t ORDER BY {score} DESC) AS place_among_heads,
               {score} - {best.format(score, "h, r")} AS behind_best_tail,
               {score} - {best.format(score, "r, t")} AS behind_best_head,
               {score} - avg({score}) OVER (PARTITION BY r) AS above_relation
        FROM candidate"""


QUESTION_COLUMNS = (
    "score", "place_among_tails", "place_among_heads", "behind_best_tail", "behind_best_head", "above_relation"
)  # fmt: skip


def last_uses(steps: list[Step], kept: set[str]) -> dict[str, list[str]]:
    """Say after which step each table is used no more, but for those to be kept."""
    gone: dict[str, list[str]] = {}
    for place, step in enumerate(steps):
        later = [other.name for other in steps[place:] if re.search(rf"\b{step.name}\b", other.query)]
        if step.name not in kept:
            gone.setdefault(later[-1] if later else step.name, []).append(step.name)
    return gone
