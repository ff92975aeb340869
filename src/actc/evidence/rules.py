"""Rules as one relational plan: named steps of SQL that count what follows from what, and what that proposes.

A fact is seen as two edges ``(u, s, v)``: slot ``s = 2 r`` from head to tail, ``s = 2 r + 1`` back. A body is one edge
``x -a- y`` (``b`` is -1) or two ``x -a- z -b- y``, read as distinct pairs ``(x, y)``; a rule states that the pairs of a
body have slot ``s`` as well. In a sparse graph there are rules with constants too: entities ``x -a- c`` have
``x -s- d``; ``b`` is -2 where x is the head then, and -3 where it is the tail. DuckDB and Spark run the same text; the
pairs of bodies are made part by part, each part having other heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.data.progress import Progress, ignore_progress
from actc.data.triples import ScoredTriples
from actc.evidence.steps import EDGES, Step, back, together, whole
from actc.evidence.table import open_spilling, put_facts
from actc.graph.graph import Graph

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
        Candidates, those of the best rules.
    """

    support: int = 3
    confidence: float = 0.15
    sparse_confidence: float = 0.05
    doubt: float = 5.0
    hub: int = 200
    walks: int = 100_000_000
    part: int = 10_000_000
    most: int = 2_000_000


DEGREE = Step("degree", "SELECT u, count(*) AS n FROM edge GROUP BY u")


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


def constant_steps(limits: RuleLimits, confidence: float) -> list[Step]:
    """Return the rules with constants: of the n entities ``x -a- c`` that are no hubs, k have ``x -s- d``.

    There are none unless less sure rules count than usual.
    """
    wanted = confidence <= limits.sparse_confidence < limits.confidence
    few = f"{'' if wanted else 'WHERE false'} GROUP BY s, v HAVING count(*) >= {limits.support}"
    return [
        Step("key_count", f"SELECT s, v, count(*) AS n FROM middle {few}"),
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


MEMORY = "2GB"  # for DuckDB; beyond that it writes to disk


RULES = "rules"
"""Who proposed a candidate."""


@dataclass(frozen=True, eq=False)
class Rules:
    """The R rules of a graph, the surest first.

    Parameters
    ----------
    graph : Graph
        The known facts.
    columns : dict of arrays of shape (R,)
        The slots ``a`` and ``b`` of the body and the entities ``c`` and ``d`` of rules with constants, as in
        ``rule_steps``; the relation ``r``; for how many pairs of the body the rule holds (``k``), of how many (``n``);
        its confidence.
    least : float
        The confidence from which rules counted.
    hub : int
        The edges that an entity in the middle of a path could have.
    """

    graph: Graph
    columns: dict[str, NDArray[Any]]
    least: float
    hub: int

    def __len__(self) -> int:
        return len(self.columns["r"])

    def text(self, rule: int) -> str:
        """Return a rule as people write it: ``uncle(X,Y) <= brother(X,A), parent(A,Y)``."""
        a, b, c, d, r = (int(self.columns[name][rule]) for name in "abcdr")
        name, entities = self.graph.relation_names[r], self.graph.entity_names
        if b < -1:
            head = f"X,{entities[d]}" if b == -2 else f"{entities[d]},X"
            return f"{name}({head}) <= {self._atom(a, 'X', entities[c])}"
        body = self._atom(a, "X", "Y") if b < 0 else f"{self._atom(a, 'X', 'A')}, {self._atom(b, 'A', 'Y')}"
        return f"{name}(X,Y) <= {body}"

    def _atom(self, slot: int, begin: str, end: str) -> str:
        ends = f"{end},{begin}" if slot % 2 else f"{begin},{end}"
        return f"{self.graph.relation_names[slot // 2]}({ends})"


def propose_by_rules(
    graph: Graph,
    limits: RuleLimits | None = None,
    *,
    confidence: float | None = None,
    progress: Progress = ignore_progress,
) -> tuple[ScoredTriples, Rules]:
    """Mine the rules of a graph and return what they propose that is no fact, and the rules.

    Parameters
    ----------
    graph : Graph
        The known facts.
    limits : RuleLimits
        Which rules count, and how much is walked to find them.
    confidence : float, optional
        From which rules count; if not given, by how much they propose.
    progress : callable
        Called after each step: how many more are done, of how many in all.

    Returns
    -------
    ScoredTriples
        In the graph's codes, by head, relation, tail. The score is the confidence of the surest rule (``rule``,
        ``rule_confidence``); ``rules`` are how many propose it. The piece ``rules_together`` are all their confidences
        taken together (noisy or), as minus the log of what they leave.
    Rules
    """
    limits = limits or RuleLimits()
    with open_spilling(MEMORY, len(graph)) as connection:
        put_facts(connection, graph)
        make(connection, EDGES)
        make(connection, DEGREE)
        degrees = connection.execute("SELECT n FROM degree").fetchnumpy()["n"]
        walks = {hub: int((degrees[degrees <= hub] ** 2).sum()) for hub in HUBS if hub <= limits.hub}
        hub = next((hub for hub, count in walks.items() if count <= limits.walks), min(HUBS))
        parts = max(1, -(-walks[hub] // limits.part))
        make(connection, middle_step(hub))
        for part in range(parts):
            _walk(connection, BODY, part, parts)
            make(connection, COUNTED, "CREATE OR REPLACE TABLE" if part == 0 else "INSERT INTO")
            progress(1, 2 * parts)
        least = limits.confidence if confidence is None else confidence
        count = _apply(connection, limits, least, parts, progress)
        if confidence is None and count < len(graph) and limits.sparse_confidence < least:
            least = limits.sparse_confidence
            _apply(connection, limits, least, parts, progress)
        order = f"SELECT * FROM proposal ORDER BY rule, rules DESC, h, r, t LIMIT {limits.most}"
        proposed = connection.execute(f"SELECT * FROM ({order}) p ORDER BY h, r, t").fetchnumpy()
        mined = connection.execute("SELECT * FROM rule ORDER BY id").fetchnumpy()
    rules = Rules(graph, mined, least, hub)
    used, place = np.unique(np.asarray(proposed["rule"], np.int64), return_inverse=True)
    texts = np.array([*map(rules.text, used.tolist()), ""], dtype=object)  # an array of texts, even of none
    confidences = np.asarray(mined["confidence"])[used][place]
    heads, relations, tails = (np.asarray(proposed[name], np.int64) for name in "hrt")
    further = {
        "rule": texts[place],
        "rule_confidence": confidences,
        "rules": np.asarray(proposed["rules"], np.int64),
        "proposed_by": np.full(len(heads), RULES, dtype=object),
    }
    pieces = {"rule_confidence": confidences, "rules_together": np.asarray(proposed["together"], np.float64)}
    names = graph.entity_names, graph.relation_names
    return ScoredTriples(heads, relations, tails, *names, scores=confidences, further=further, pieces=pieces), rules


def _apply(connection: Any, limits: RuleLimits, confidence: float, parts: int, progress: Progress) -> int:
    """Apply rules of a confidence, part by part; return how many candidates there are."""
    for step in [*constant_steps(limits, confidence), *rule_steps(limits, confidence)]:
        make(connection, step)
    for part in range(parts):
        _walk(connection, APPLIED, part, parts)
        pairs = Step("constant_part", f"{CONSTANT_PAIRS} WHERE q.h % {parts} = {part}")
        make(connection, pairs, "CREATE OR REPLACE VIEW")
        make(connection, PROPOSAL, "CREATE OR REPLACE TABLE" if part == 0 else "INSERT INTO")
        progress(1, 2 * parts)
    return int(connection.execute("SELECT count(*) FROM proposal").fetchone()[0])


def _walk(connection: Any, body: Step, part: int, parts: int) -> None:
    where = f" WHERE u % {parts} = {part}" if parts > 1 else ""
    make(connection, Step("edge_part", f"SELECT * FROM edge{where}"), "CREATE OR REPLACE VIEW")
    make(connection, body)


def make(connection: Any, step: Step, begin: str = "CREATE OR REPLACE TABLE") -> None:
    """Make a table or a view, in the place of one that is there, or add rows to it."""
    connection.execute(f"{begin} {step.name} {'' if begin.startswith('INSERT') else 'AS'} {step.query}")
