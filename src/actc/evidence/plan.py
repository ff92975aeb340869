"""The evidence table as one relational plan: what is counted for each candidate, from the graph's tables (``steps``).

DuckDB and Spark run the same text. A candidate that is itself a fact (``own = 1``) is looked up as if it were not:
whatever it added to a count is taken off again, and where a limit of :class:`Limits` cuts a list, the next one moves
up. Of one count that is true on average only: rules of paths for a relation with more than ``path_facts`` facts, or
mined through an entity with more than ``path_edges`` edges, since these are counted from a sample.

Each end of a candidate is a row of ``look``, ``k = 2 id`` for the head and ``2 id + 1`` for the tail, so that whatever
is counted for the head is counted for the tail by the same text.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from actc.evidence.steps import (
    DOUBT,
    FAR,
    Limits,
    Step,
    back,
    best,
    find_paths,
    shuffled,
    small,
    together,
    whole,
    within,
)


def look_steps() -> list[Step]:
    """Both ends of every candidate; if it is itself a fact (``own``), its place among the edges of each end.

    ``pair`` is the first candidate with the same two ends; a fact stands for itself, since its own place is left out.
    """
    slots = "SELECT 2 * r AS s FROM candidate_part UNION SELECT 2 * r + 1 AS s FROM candidate_part"
    return [
        # What only candidates of the same relations ask for: a chunk has few of them, and need not walk all the graph.
        Step("edge_part", f"SELECT e.u, e.s, e.v FROM edge e JOIN ({slots}) c ON c.s = e.s"),
        Step("slot_part", f"SELECT a.u, a.s, a.n FROM slot a JOIN ({slots}) c ON c.s = a.s"),
        Step(
            "target",
            f"""
            SELECT c.id, c.h, c.r, c.t, CASE WHEN f.id IS NULL THEN 0 ELSE 1 END AS own,
                   coalesce(f.head_place, {FAR}) AS head_place, coalesce(f.tail_place, {FAR}) AS tail_place,
                   min(c.id) OVER (PARTITION BY c.h, c.t, CASE WHEN f.id IS NULL THEN -1 ELSE c.id END) AS pair
            FROM candidate_part c LEFT JOIN own_fact f ON f.id = c.id""",
        ),
        Step(
            "look",
            "SELECT 2 * id AS k, h AS u, 2 * r AS s, t AS v, own, head_place AS place FROM target UNION ALL "
            "SELECT 2 * id + 1 AS k, t AS u, 2 * r + 1 AS s, h AS v, own, tail_place AS place FROM target",
        ),
    ]


def slot_steps() -> list[Step]:
    """The slots that the ends would stand in; ``leaves`` is 1 if the end stands there by the candidate alone."""
    leaves = "CASE WHEN l.own = 1 AND a.n = 1 THEN 1 ELSE 0 END"
    return [
        Step(
            "slots",
            f"""
            SELECT l.k, l.u, l.s, coalesce(a.n, 0) - l.own AS filled, coalesce(k.facts, 0) - l.own AS facts,
                   coalesce(k.entities, 0) - {leaves} AS holders, {leaves} AS leaves,
                   coalesce(d.n, 0) - l.own * (CASE WHEN l.u = l.v THEN 2 ELSE 1 END) AS degree
            FROM look l LEFT JOIN slot_part a ON a.u = l.u AND a.s = l.s
            LEFT JOIN kind k ON k.s = l.s LEFT JOIN degree d ON d.u = l.u""",
        ),
    ]


def pair_steps() -> list[Step]:
    """Other relations between the two: a symmetric relation loses two pairs with the candidate, and one case."""
    twin = "CASE WHEN e.s = 2 * q.r + 1 THEN 1 ELSE 0 END"
    return [
        Step(
            "pairs",
            f"""
            SELECT id, max(confidence) AS best, min(confidence) AS lowest, {together()} AS together, count(*) AS n,
                   {best("s2", "s2")} AS s2
            FROM (SELECT q.id, e.s AS s2, (coalesce(p.n, 0) - q.own * (1 + {twin})) * 1e0
                         / (n.n - q.own * {twin} + {DOUBT}) AS confidence
                  FROM target q JOIN edge e ON e.u = q.h AND e.v = q.t AND e.s <> 2 * q.r
                  JOIN edge_count n ON n.s = e.s LEFT JOIN pair_rule p ON p.s2 = e.s AND p.s = 2 * q.r) e
            GROUP BY id""",
        ),
    ]


def kind_steps() -> list[Step]:
    """Slots of other relations the entity stands in: how many of their entities stand in the candidate's slot too.

    It is counted once for each entity and slot, however many candidates ask for it: those with the most slots are
    looked up most often.
    """
    return [
        Step(
            "kinds",
            f"""
            SELECT u, s, leaves, max(confidence) AS best, avg(confidence) AS mean,
                   avg(ln(share)) - ln(max(holders) + 1e0) AS lift, {best("s2", "s2")} AS s2
            FROM (SELECT l.u, l.s, l.leaves, l.holders, b.s AS s2,
                         (coalesce(p.n, 0) - l.leaves) * 1e0 / (k.entities + {DOUBT}) AS confidence,
                         (coalesce(p.n, 0) - l.leaves + 1e0) / (k.entities + {DOUBT}) AS share
                  FROM (SELECT DISTINCT u, s, leaves, holders FROM slots) l
                  JOIN slot b ON b.u = l.u AND b.s <> l.s AND b.s <> {back("l.s")}
                  JOIN kind k ON k.s = b.s LEFT JOIN kind_rule p ON p.s2 = b.s AND p.s = l.s) l
            GROUP BY u, s, leaves""",
        ),
    ]


def path_steps(limits: Limits) -> list[Step]:
    """Closed paths of length two; a fact stands in the paths of others as first or second edge, either way round.

    What was learned from the candidate's own fact (``path_lost``) is taken off the rule: with its weight if it was a
    training fact, and nothing if it was none. Which of the other training facts used it is not looked up where these
    are a sample: that part is taken off by its expectation.
    """
    own = "FROM target q JOIN path p ON p.pair = q.id WHERE q.own = 1"
    trained = (
        "FROM target q JOIN path p ON p.pair = q.id JOIN training_fact l ON l.h = q.h AND l.r = q.r AND l.t = q.t "
        "JOIN training_weight m ON m.r = q.r"
    )
    taken = (
        "FROM target q JOIN path p ON p.pair = q.pair LEFT JOIN path_rule r ON r.r = q.r AND r.a = p.a AND r.b = p.b"
    )
    return [
        Step("path", find_paths("target", limits)),
        Step("path_lost", f"""
            SELECT id, a, b, sum(n) AS n FROM (
                SELECT q.id, p.a, p.b, p.n * m.weight AS n {trained}
                UNION ALL SELECT q.id, p.a, {back("p.b")} AS b, p.n * 1e0 AS n {own} AND p.a = 2 * q.r
                UNION ALL SELECT q.id, 2 * q.r + 1 AS a, p.a AS b, p.n * 1e0 AS n {own} AND p.b = 2 * q.r + 1
                UNION ALL SELECT q.id, {back("p.a")} AS a, p.b, p.n * 1e0 AS n {own} AND p.b = 2 * q.r
                UNION ALL SELECT q.id, p.b AS a, 2 * q.r + 1 AS b, p.n * 1e0 AS n {own} AND p.a = 2 * q.r + 1) l
            GROUP BY id, a, b"""),
        Step("path_used", f"""
            SELECT w.id, w.a, w.b, {whole("sum(m.n - CASE WHEN e.u IS NULL THEN 0 ELSE 1 END)")} AS n FROM (
                SELECT q.id, p.a, p.b, q.t AS u, p.b AS s, q.h AS v {own} AND p.a = 2 * q.r
                UNION ALL SELECT q.id, p.a, p.b, q.h AS u, p.b AS s, q.t AS v {own} AND p.a = 2 * q.r + 1
                UNION ALL SELECT q.id, p.a, p.b, q.h AS u, {back("p.a")} AS s, q.t AS v {own} AND p.b = 2 * q.r
                UNION ALL SELECT q.id, p.a, p.b, q.t AS u, {back("p.a")} AS s, q.h AS v {own} AND p.b = 2 * q.r + 1) w
            JOIN edge_slot m ON m.u = w.u AND m.s = w.s LEFT JOIN edge e ON e.u = w.u AND e.s = w.s AND e.v = w.v
            GROUP BY w.id, w.a, w.b"""),
        Step("paths", f"""
            SELECT id, max(confidence) AS best, {together()} AS together, count(*) AS n, avg(confidence) AS mean,
                   {best("a", "a", "b")} AS a, {best("b", "a", "b")} AS b
            FROM (SELECT q.id, p.a, p.b, coalesce(r.confidence, 0e0) AS confidence {taken} WHERE q.own = 0
                  UNION ALL
                  SELECT q.id, p.a, p.b, coalesce(least(1e0, greatest(r.n - coalesce(l.n, 0e0), 0e0)
                         / (r.body - coalesce(u.n, 0) + {DOUBT})), 0e0) AS confidence {taken}
                  LEFT JOIN path_lost l ON l.id = q.id AND l.a = p.a AND l.b = p.b
                  LEFT JOIN path_used u ON u.id = q.id AND u.a = p.a AND u.b = p.b WHERE q.own = 1) p
            GROUP BY id"""),
    ]  # fmt: skip


def rule_steps(limits: Limits) -> list[Step]:
    """Rules with constants: of the others that have a fact of this entity, how many have the candidate's too.

    They are mined from the first holders of the candidate's fact; ``next`` is what one more holder adds, who moves up
    where the entity itself is among the first.
    """
    holders, edges = limits.rule_holders, limits.rule_edges
    first = f"CASE WHEN l.at <= {holders} THEN 1 ELSE 0 END"
    hits = f"coalesce(p.hits, 0) + {first} * (coalesce(p.next, 0) - CASE WHEN e.i <= {edges} THEN 1 ELSE 0 END)"
    others = "coalesce(p.n, 1) - l.own"
    return [
        Step("goal", "SELECT DISTINCT s, v FROM look"),
        Step("goal_holder", f"""
            SELECT s, v, u, n, {small("i")} AS i FROM (
                SELECT g.s, g.v, e.u, k.n,
                       row_number() OVER (PARTITION BY g.s, g.v ORDER BY {shuffled("e.u", "g.v")}, e.u) AS i
                FROM goal g JOIN edge_part e ON e.s = g.s AND e.v = g.v JOIN key_count k ON k.s = g.s AND k.v = g.v) g
            WHERE i <= {holders + 1}"""),
        Step("rule", f"""
            SELECT g.s, g.v, e.s AS s2, e.v AS c, max(g.n) AS n,
                   {small(f"count(CASE WHEN g.i <= {holders} THEN 1 END)")} AS hits,
                   {small(f"count(CASE WHEN g.i > {holders} THEN 1 END)")} AS next
            FROM goal_holder g JOIN some_edge e ON e.u = g.u AND e.i <= {edges} AND e.n > 1
            WHERE NOT (e.s = g.s AND e.v = g.v) GROUP BY g.s, g.v, e.s, e.v"""),
        # The entity itself is no case of its own rule, whether it has the fact or not.
        Step("rules", f"""
            SELECT k, max(confidence) AS best, {together()} AS together, avg(confidence) AS mean,
                   sum(confidence * confidence) / greatest(sum(confidence), 1e-9) AS weighted,
                   {best("s2", "s2", "c")} AS s2, {best("c", "s2", "c")} AS c
            FROM (SELECT l.k, e.s AS s2, e.v AS c, least(1e0, 1e0 * greatest({hits}, 0) * ({others})
                         / greatest(least({others}, {holders}), 1) / (e.n - 1 + {DOUBT})) AS confidence
                  FROM (SELECT l.k, l.u, l.s, l.v, l.own, l.place, coalesce(g.i, {FAR}) AS at
                        FROM look l LEFT JOIN goal_holder g ON l.own = 1 AND g.s = l.s AND g.v = l.v AND g.u = l.u
                        WHERE l.u <> l.v) l
                  JOIN some_edge e ON e.u = l.u AND {within(edges, "e.i", "l.place")} AND e.v <> l.v
                  LEFT JOIN rule p ON p.s = l.s AND p.v = l.v AND p.s2 = e.s AND p.c = e.v) l
            GROUP BY k"""),
    ]  # fmt: skip


def relative_steps(limits: Limits) -> list[Step]:
    """Which of the entities most like an end have the candidate's fact; its own fact makes nobody a relative.

    A candidate that is a fact has relatives of its own, without that fact; all others share those of their entity.
    """
    share = "sum(CASE WHEN i <= {0} THEN has * w ELSE 0e0 END) / sum(CASE WHEN i <= {0} THEN w ELSE 0e0 END)"
    return [
        # A table of its own: engines see that it is small, and look it up in the edges, not the edges in it.
        Step("own_rare", f"""
            SELECT l.k, l.v AS other, a.u, a.s, a.v, a.rarity
            FROM (SELECT l.k, l.u, l.s, l.v, coalesce(r.i, {FAR}) AS place FROM look l
                  LEFT JOIN rare_edge r ON r.u = l.u AND r.s = l.s AND r.v = l.v WHERE l.own = 1) l
            JOIN rare_edge a ON a.u = l.u AND a.i <> l.place AND {within(limits.rare_edges, "a.i", "l.place")}"""),
        Step("own_relative", f"""
            SELECT k, x, w, i FROM (
                SELECT y.k, y.x, y.w / sqrt(d.n + 5e0) AS w,
                       row_number() OVER (PARTITION BY y.k ORDER BY y.w / sqrt(d.n + 5e0) DESC, y.x) AS i
                FROM (SELECT a.k, b.u AS x, {whole("sum(a.rarity)")} AS w FROM own_rare a
                      JOIN edge b ON b.s = a.s AND b.v = a.v AND b.u <> a.u AND b.u <> a.other GROUP BY a.k, b.u) y
                JOIN degree d ON d.u = y.x) y
            WHERE i <= {limits.relatives}"""),
        # The other end is no relative that could speak for the candidate: those after it move up.
        Step("relatives", f"""
            SELECT k, {whole("sum(CASE WHEN i <= 5 THEN has ELSE 0 END)")} AS five,
                   count(CASE WHEN i <= 5 THEN 1 END) AS n, {share.format(20)} AS twenty,
                   sum(has * w) / sum(w) AS every, max(has * w) / 1e6 AS nearest,
                   max(CASE WHEN i = 1 THEN has ELSE 0 END) AS first, max_by(x, has * 1000000 - i) AS x
            FROM (SELECT y.k, y.x, y.w, y.i, CASE WHEN e.u IS NULL THEN 0 ELSE 1 END AS has FROM (
                      SELECT l.k, l.s, l.v, y.x, y.w, y.i - CASE WHEN z.i < y.i THEN 1 ELSE 0 END AS i
                      FROM look l JOIN relative y ON y.u = l.u AND y.x <> l.v
                      LEFT JOIN relative z ON z.u = l.u AND z.x = l.v WHERE l.own = 0
                      UNION ALL
                      SELECT l.k, l.s, l.v, y.x, y.w, y.i FROM own_relative y JOIN look l ON l.k = y.k) y
                  LEFT JOIN edge_part e ON e.u = y.x AND e.s = y.s AND e.v = y.v WHERE y.i <= {limits.relatives}) y
            GROUP BY k"""),
    ]  # fmt: skip


def candidate_steps(limits: Limits, scores: Collection[str] = ()) -> list[Step]:
    """Return what is counted for candidates, those in ``candidate_part(id, h, r, t)``, from the graph's tables.

    Beside that stand the pieces that come from a model's score, which are further columns there.
    """
    return [*look_steps(), *slot_steps(), *pair_steps(), *kind_steps(), *path_steps(limits),
            *rule_steps(limits), *relative_steps(limits), Step("evidence", collect(scores))]  # fmt: skip


# Column of the evidence table: its SQL. {0} stands for a side's number; the names begin with head_ or tail_ there.
SIDE_COLUMNS = {
    "slot_filled": "slots{0}.filled",
    "slot_usual": "slots{0}.facts * 1e0 / greatest(slots{0}.holders, 1)",
    "slot_excess": "slots{0}.filled * 1e0 * slots{0}.holders / greatest(slots{0}.facts, 1)",
    "degree": "slots{0}.degree",
    "share": "slots{0}.filled * 1e0 / greatest(slots{0}.facts, 1)",
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
    "path_first_slot": "coalesce(paths.a, -1)",
    "path_second_slot": "coalesce(paths.b, -1)",
}
NAMED_OF_SIDES = {
    "kind_slot": "coalesce(kinds{0}.s2, -1)",
    "rule_slot": "coalesce(rules{0}.s2, -1)",
    "rule_entity": "coalesce(rules{0}.c, -1)",
    "relatives_count": "coalesce(relatives{0}.n, 0)",
    "relatives_first": "coalesce(relatives{0}.first, 0)",  # whether the most similar entity has the fact
    "relatives_entity": "coalesce(relatives{0}.x, -1)",  # the most similar one that has it, if any has
}
MODEL_SCORE = "model_score"  # in tables whose score is the log-odds
SIDES = ("head", "tail")
GRAPH_COLUMNS = {f"{side}_{name}": sql.format(i) for i, side in enumerate(SIDES) for name, sql in SIDE_COLUMNS.items()}
GRAPH_COLUMNS |= PAIR_COLUMNS
NAMED_COLUMNS |= {f"{end}_{name}": sql.format(i) for i, end in enumerate(SIDES) for name, sql in NAMED_OF_SIDES.items()}


def collect(scores: Collection[str]) -> str:
    """Return the SQL that puts all pieces side by side, one row per candidate: ``evidence(id, h, r, t, ...)``."""
    pieces = [f"c.{name}" for name in scores]
    pieces += [f"{sql} AS {name}" for name, sql in (GRAPH_COLUMNS | NAMED_COLUMNS).items()]
    joins = "JOIN candidate_part c ON c.id = q.id" if scores else ""
    joins += " LEFT JOIN pairs ON pairs.id = q.id LEFT JOIN paths ON paths.id = q.id"
    for side in (0, 1):
        for table in ("slots", "rules", "relatives"):
            joins += f" LEFT JOIN {table} {table}{side} ON {table}{side}.k = 2 * q.id + {side}"
        same = " AND ".join(f"kinds{side}.{name} = slots{side}.{name}" for name in ("u", "s", "leaves"))
        joins += f" LEFT JOIN kinds kinds{side} ON {same}"
    return f"SELECT q.id, q.h, q.r, q.t, {', '.join(pieces)} FROM target q {joins}"


SCORE_COLUMNS = (
    *("score", "place_among_tails", "place_among_heads"),
    *("behind_best_tail", "behind_best_head", "above_relation"),
)
"""The pieces that a model's score gives."""


def whole_rows(scores: Collection[str], log_odds: str) -> str:
    """Return the SQL of the rows that people read: names, log-odds, all pieces of evidence."""
    pieces = (*scores, *GRAPH_COLUMNS)
    columns = [f"CAST(e.{name} AS DOUBLE) AS {MODEL_SCORE if name == 'score' else name}" for name in pieces]
    return f"""
        SELECT h.name AS head, r.name AS relation, t.name AS tail, {log_odds} AS score, {", ".join(columns)}
        FROM evidence e JOIN entity_name h ON h.code = e.h
        JOIN relation_name r ON r.code = e.r JOIN entity_name t ON t.code = e.t"""


def last_uses(steps: list[Step], needed: set[str]) -> dict[str, list[str]]:
    """Return for each step the tables that no later step reads, but for the ``needed`` ones: they can be dropped."""
    gone: dict[str, list[str]] = {}
    for place, step in enumerate(steps):
        later = [
            other.name for other in steps[place:] if re.search(rf"\b{step.name}\b", other.query + other.part_query)
        ]
        if step.name not in needed:
            gone.setdefault(later[-1] if later else step.name, []).append(step.name)
    return gone
