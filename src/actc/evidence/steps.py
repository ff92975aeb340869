"""What is counted once for a graph, before any candidate is looked up; and the words of SQL that all steps share.

DuckDB and Spark run the same text, so it keeps to what both understand alike: numbers with a fraction are written as
``1e0`` (``1.0`` is a decimal number in both, but is divided differently), sums are cast to whole numbers, and the best
of several rows is chosen by a key that no two rows share.

A fact is seen as two edges ``(u, s, v)``: slot ``s = 2 r`` from head to tail, ``s = 2 r + 1`` back. Of every list that
a limit cuts, one place more stays, so that a candidate's own fact can be left out of it and the next one moves up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

ROWS = 5_000_000  # that a step may make before fewer facts of each candidate are looked at
DOUBT = "5.0e0"  # cases without success that every rule is given: few cases make no sure rule
FAR = 1_000_000_000  # a place that no limit reaches


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
        Relatives of each entity.
    """

    path_edges: int = 256
    path_facts: int = 2000
    rule_edges: int = 64
    rule_holders: int = 64
    rare_edges: int = 40
    rare_holders: int = 200
    relatives: int = 100

    @classmethod
    def for_count(cls, candidates: int) -> Self:
        """Return limits for a number of candidates; from 625,000 on they are the least, and the same at every size."""
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
    """One table of the plan and the query that makes it.

    Parameters
    ----------
    name : str
        Of the table.
    query : str
        SQL that reads the tables of the steps before.
    part, part_query : str
        A view that the query reads and its SQL, with a column ``u``: an engine may make the table from parts of that
        view, each with other values of ``u``, to need less memory. Empty if there is none.
    """

    name: str
    query: str
    part: str = ""
    part_query: str = ""


EDGES = Step(
    "edge",
    "SELECT h AS u, 2 * r AS s, t AS v FROM fact WHERE h <> t UNION ALL "
    "SELECT t AS u, 2 * r + 1 AS s, h AS v FROM fact WHERE h <> t",
)
"""A graph's facts as edges, each way; a loop is none."""


def back(slot: str) -> str:
    """Return the SQL of the slot at a fact's other end."""
    return f"({slot} + 1 - 2 * ({slot} % 2))"


def shuffled(first: str, second: str) -> str:
    """Return SQL that orders rows without favour, the same in every engine."""
    wide = f"(CAST({first} AS BIGINT) * 7919 + CAST({second} AS BIGINT) * 104729 + 12345)"
    return f"(({wide} % 1000003) * 31337) % 1000003"


def small(number: str) -> str:
    """Return SQL that keeps a count in four bytes, half of what engines take: there is one for every edge."""
    return f"CAST({number} AS INTEGER)"


def whole(number: str) -> str:
    """Return SQL that makes a number whole; sums would otherwise be of a type that only one engine has."""
    return f"CAST({number} AS BIGINT)"


def best(code: str, slot: str, entity: str = "0") -> str:
    """Return SQL of a code in the row with the highest confidence; of equals, the one with the smallest codes."""
    codes = f"(CAST({slot} AS BIGINT) * 2147483648 + {entity})"  # 2 ** 31, more than there are entities
    return f"max_by({code}, CAST(round(confidence * 100000) AS BIGINT) * 70368744177664 - {codes})"


def together() -> str:
    """Return the SQL of several confidences taken together (noisy or), as minus the log of the share that is left."""
    return "sum(-ln(1e0 - least(confidence, 999e-3)))"


def within(limit: int, edge: str, place: str) -> str:
    """Return SQL that keeps an entity's first edges, as many as ``limit`` beside the candidate's own at ``place``."""
    return f"{edge} <= {limit} + CASE WHEN {place} <= {limit} THEN 1 ELSE 0 END"


COUNT = small("count(*)")


def graph_steps(limits: Limits) -> list[Step]:
    """Return what is counted once: the tables ``fact(h, r, t)`` and ``candidate(id, h, r, t)`` must be there."""
    return [*_edge_steps(limits), *RULE_STEPS, *_path_steps(limits), *_relative_steps(limits)]


def _edge_steps(limits: Limits) -> list[Step]:
    most = max(limits.path_edges, limits.rule_edges) + 1
    return [
        EDGES,
        Step(
            "slot",
            f"SELECT u, s, {COUNT} AS n FROM (SELECT h AS u, 2 * r AS s FROM fact UNION ALL "
            "SELECT t AS u, 2 * r + 1 AS s FROM fact) f GROUP BY u, s",
        ),
        Step("kind", f"SELECT s, count(*) AS entities, {whole('sum(n)')} AS facts FROM slot GROUP BY s"),
        Step("degree", f"SELECT u, {small('sum(n)')} AS n FROM slot GROUP BY u"),
        Step("edge_count", "SELECT s, count(*) AS n FROM edge GROUP BY s"),
        Step("edge_slot", f"SELECT u, s, {COUNT} AS n FROM edge GROUP BY u, s"),
        Step("key_count", f"SELECT s, v, {COUNT} AS n FROM edge GROUP BY s, v"),
        # An entity's edges in an order without favour: place i, and n, how many entities have the same.
        Step(
            "some_edge",
            f"""
            SELECT e.u, e.s, e.v, {small("e.i")} AS i, k.n FROM (
                SELECT u, s, v, row_number() OVER (PARTITION BY u ORDER BY {shuffled("v", "s")}, v, s) AS i
                FROM edge) e
            JOIN key_count k ON k.s = e.s AND k.v = e.v WHERE e.i <= {most}""",
        ),
    ]


RULE_STEPS = [
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
]


def _path_steps(limits: Limits) -> list[Step]:
    """Count rules of paths by path instances; a path that returns to where it began is none."""
    return [
        Step(
            "path_body",
            f"""
            SELECT w.a, w.b, w.n - coalesce(p.n, 0) AS body FROM (
                SELECT {back("x.s")} AS a, y.s AS b, {whole("sum(CAST(x.n AS BIGINT) * y.n)")} AS n
                FROM edge_slot x JOIN edge_slot y ON x.u = y.u GROUP BY x.s, y.s) w
            LEFT JOIN (
                SELECT {back("c.s")} AS a, d.s AS b, count(*) AS n
                FROM edge c JOIN edge d ON c.u = d.u AND c.v = d.v GROUP BY c.s, d.s) p ON p.a = w.a AND p.b = w.b""",
        ),
        Step(
            "training_fact",
            f"""
            SELECT id, h, r, t, {FAR} AS head_place, {FAR} AS tail_place, min(id) OVER (PARTITION BY h, t) AS pair
            FROM (SELECT r * {limits.path_facts + 1} + i AS id, h, r, t, i FROM (
                SELECT h, r, t, row_number() OVER (PARTITION BY r ORDER BY {shuffled("h", "t")}, h, t) AS i
                FROM fact WHERE h <> t) f) f
            WHERE i <= {limits.path_facts}""",
        ),
        Step("training_path", find_paths("training_fact", limits)),
        # How many facts of a relation one training stands for.
        Step(
            "training_weight",
            "SELECT m.r, n.n * 1e0 / m.n AS weight FROM (SELECT r, count(*) AS n FROM training_fact GROUP BY r) m "
            "JOIN edge_count n ON n.s = 2 * m.r",
        ),
        Step(
            "path_rule",
            f"""
            SELECT r.r, r.a, r.b, r.n, b.body, least(1e0, r.n / (b.body + {DOUBT})) AS confidence
            FROM (SELECT q.r, p.a, p.b, sum(p.n) * max(m.weight) AS n
                  FROM training_path p JOIN training_fact q ON q.pair = p.pair JOIN training_weight m ON m.r = q.r
                  GROUP BY q.r, p.a, p.b) r JOIN path_body b ON b.a = r.a AND b.b = r.b
            ORDER BY r.a, r.b, r.r""",
        ),
    ]


def find_paths(table: str, limits: Limits) -> str:
    """Return the SQL that counts the paths of length two of each pair, walked from the end with fewer facts.

    Triples with the same ``pair`` share them: small graphs have many relations between the same two. Sorted, since
    millions of paths look for their rules: those of one body lie together.
    """
    walk = (
        "FROM (SELECT c.pair, c.h, c.t, c.head_place, c.tail_place, coalesce(a.n, 0) AS m, coalesce(b.n, 0) AS n "
        f"FROM {table} c LEFT JOIN degree a ON a.u = c.h LEFT JOIN degree b ON b.u = c.t "
        "WHERE c.h <> c.t AND c.id = c.pair) q"
    )
    return f"""
        SELECT pair, a, b, count(*) AS n FROM (
            SELECT q.pair, e.s AS a, f.s AS b {walk}
            JOIN some_edge e ON e.u = q.h AND {within(limits.path_edges, "e.i", "q.head_place")}
            JOIN edge f ON f.u = e.v AND f.v = q.t WHERE q.m <= q.n AND e.v <> q.t
            UNION ALL
            SELECT q.pair, {back("f.s")} AS a, {back("e.s")} AS b {walk}
            JOIN some_edge e ON e.u = q.t AND {within(limits.path_edges, "e.i", "q.tail_place")}
            JOIN edge f ON f.u = e.v AND f.v = q.h WHERE q.m > q.n AND e.v <> q.h) w
        GROUP BY pair, a, b ORDER BY a, b"""


def _relative_steps(limits: Limits) -> list[Step]:
    """Find the entities most like each that a candidate asks about, by shared rare facts.

    Weights are summed as whole numbers: the order in which an engine adds them must not decide who comes first.
    """
    return [
        Step(
            "rare_edge",
            f"""
            SELECT u, s, v, {small("i")} AS i, {small("round(1e6 / ln(1e0 + n))")} AS rarity FROM (
                SELECT e.u, e.s, e.v, k.n, row_number() OVER (PARTITION BY e.u ORDER BY k.n, e.s, e.v) AS i
                FROM edge e JOIN key_count k ON k.s = e.s AND k.v = e.v
                WHERE k.n > 1 AND k.n <= {limits.rare_holders}) e
            WHERE i <= {limits.rare_edges + 1}""",
        ),
        # Candidates that are facts themselves, and the places of these among the edges of each end.
        Step(
            "own_fact",
            f"""
            SELECT c.id, coalesce(a.i, {FAR}) AS head_place, coalesce(b.i, {FAR}) AS tail_place
            FROM candidate c JOIN fact f ON c.h = f.h AND c.r = f.r AND c.t = f.t
            LEFT JOIN some_edge a ON a.u = f.h AND a.s = 2 * f.r AND a.v = f.t
            LEFT JOIN some_edge b ON b.u = f.t AND b.s = 2 * f.r + 1 AND b.v = f.h""",
        ),
        Step("target_entity", "SELECT h AS u FROM candidate UNION SELECT t AS u FROM candidate"),
        Step(
            "relative",
            f"""
            SELECT u, x, w, {small("i")} AS i FROM (
                SELECT y.u, y.x, y.w / sqrt(d.n + 5e0) AS w,
                       row_number() OVER (PARTITION BY y.u ORDER BY y.w / sqrt(d.n + 5e0) DESC, y.x) AS i
                FROM (SELECT a.u, b.u AS x, {whole("sum(a.rarity)")} AS w
                      FROM rare_part a JOIN edge b ON b.s = a.s AND b.v = a.v AND b.u <> a.u GROUP BY a.u, b.u) y
                JOIN degree d ON d.u = y.x) y
            WHERE i <= {limits.relatives + 1}""",
            "rare_part",
            f"SELECT r.u, r.s, r.v, r.rarity FROM rare_edge r JOIN target_entity q ON q.u = r.u "
            f"WHERE r.i <= {limits.rare_edges}",
        ),
    ]
