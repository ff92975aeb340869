"""What is counted for each end of a candidate, and for the two together: slots, kinds, other relations of the pair.

Each end of a candidate is a row of ``look``, ``k = 2 id`` for the head and ``2 id + 1`` for the tail, so that whatever
is counted for the head is counted for the tail by the same text.
"""

from __future__ import annotations

from actc.evidence.steps import FAR, Limits, Step, back, best, together


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
            "asked",
            f"""
            SELECT c.id, c.h, c.r, c.t, CASE WHEN f.id IS NULL THEN 0 ELSE 1 END AS own,
                   coalesce(f.head_place, {FAR}) AS head_place, coalesce(f.tail_place, {FAR}) AS tail_place,
                   min(c.id) OVER (PARTITION BY c.h, c.t, CASE WHEN f.id IS NULL THEN -1 ELSE c.id END) AS pair
            FROM candidate_part c LEFT JOIN own_fact f ON f.id = c.id""",
        ),
        Step(
            "look",
            "SELECT 2 * id AS k, h AS u, 2 * r AS s, t AS v, own, head_place AS place FROM asked UNION ALL "
            "SELECT 2 * id + 1 AS k, t AS u, 2 * r + 1 AS s, h AS v, own, tail_place AS place FROM asked",
        ),
    ]


def slot_steps() -> list[Step]:
    """The slots that the ends would stand in; ``leaves`` says that the end stands there by the candidate alone."""
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


def pair_steps(limits: Limits) -> list[Step]:
    """Other relations between the two: a symmetric relation loses two pairs with the candidate, and one case."""
    twin = "CASE WHEN e.s = 2 * q.r + 1 THEN 1 ELSE 0 END"
    return [
        Step(
            "pairs",
            f"""
            SELECT id, max(confidence) AS best, min(confidence) AS lowest, {together()} AS together, count(*) AS n,
                   {best("s2", "s2")} AS s2
            FROM (SELECT q.id, e.s AS s2, (coalesce(p.n, 0) - q.own * (1 + {twin})) * 1e0
                         / (n.n - q.own * {twin} + {limits.cases}) AS confidence
                  FROM asked q JOIN edge e ON e.u = q.h AND e.v = q.t AND e.s <> 2 * q.r
                  JOIN edge_count n ON n.s = e.s LEFT JOIN pair_rule p ON p.s2 = e.s AND p.s = 2 * q.r) e
            GROUP BY id""",
        ),
    ]


def kind_steps(limits: Limits) -> list[Step]:
    """Slots of other relations the entity stands in: how many of their entities stand in the candidate's slot too.

    It is counted once for each entity and slot, however many candidates ask for it: those with the most slots are
    asked for most often.
    """
    return [
        Step(
            "kinds",
            f"""
            SELECT u, s, leaves, max(confidence) AS best, avg(confidence) AS mean,
                   avg(ln(share)) - ln(max(holders) + 1e0) AS lift
            FROM (SELECT l.u, l.s, l.leaves, l.holders,
                         (coalesce(p.n, 0) - l.leaves) * 1e0 / (k.entities + {limits.cases}) AS confidence,
                         (coalesce(p.n, 0) - l.leaves + 1e0) / (k.entities + {limits.cases}) AS share
                  FROM (SELECT DISTINCT u, s, leaves, holders FROM slots) l
                  JOIN slot b ON b.u = l.u AND b.s <> l.s AND b.s <> {back("l.s")}
                  JOIN kind k ON k.s = b.s LEFT JOIN kind_rule p ON p.s2 = b.s AND p.s = l.s) l
            GROUP BY u, s, leaves""",
        ),
    ]
