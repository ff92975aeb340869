"""Further kinds of rules: how many hidden facts each proposes that rules of one and two edges do not, and at what cost.

Run: python benchmarks/evidence/rules_kinds.py umls nations wn18rr fb15k-237 --graphs FOLDER --out rules_kinds.csv
``weaker`` are the same rules at less confidence. ``constant``: of the entities with one fact, how many have another.
``relatives``: a fact that two or more of the five entities most alike have, by shared rare facts. ``three``: paths of
three edges through entities of few edges. Counted are new candidates and the hidden facts among them, per thousand.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rules import read_split

from actc.data.triples import ScoredTriples, Triples
from actc.evidence import rules as plan
from actc.evidence.rules import propose_by_rules
from actc.evidence.steps import Step
from actc.evidence.table import open_spilling, put_facts
from actc.graph.graph import Graph

FIELDS = ("graph", "kind", "candidates", "hidden", "hidden_share", "per_thousand", "cpu_seconds")
WEAKER = (0.05, 0.02)
HUB = 200
WALKS = 20_000_000  # of three edges
CONSTANT = """
    WITH few AS (SELECT e.* FROM edge e JOIN degree d ON d.u = e.u WHERE d.n <= {hub}),
    n AS (SELECT s, v, count(*) AS n FROM few GROUP BY s, v HAVING count(*) >= 3),
    body AS (SELECT e.* FROM few e JOIN n USING (s, v)),
    rule AS (SELECT a.s AS s2, a.v AS c, b.s, b.v FROM body a JOIN body b ON a.u = b.u AND (a.s <> b.s OR a.v <> b.v)
             JOIN n ON n.s = a.s AND n.v = a.v GROUP BY a.s, a.v, b.s, b.v, n.n
             HAVING count(*) >= 3 AND count(*) >= .1 * (n.n + 5))
    SELECT DISTINCT e.u, r.s, r.v FROM edge e JOIN rule r ON r.s2 = e.s AND r.c = e.v WHERE e.u <> r.v"""
RELATIVES = """
    WITH key AS (SELECT s, v, count(*) AS n FROM edge GROUP BY s, v HAVING count(*) BETWEEN 2 AND 50),
    alike AS (SELECT a.u, b.u AS x, sum(1 / ln(1 + key.n)) AS w FROM edge a JOIN key USING (s, v)
              JOIN edge b ON b.s = a.s AND b.v = a.v AND b.u <> a.u GROUP BY a.u, b.u),
    near AS (SELECT alike.u, x FROM alike JOIN degree d ON d.u = alike.x
             QUALIFY row_number() OVER (PARTITION BY alike.u ORDER BY w / sqrt(d.n + 5) DESC, x) <= 5)
    SELECT n.u, e.s, e.v FROM near n JOIN edge e ON e.u = n.x WHERE e.v <> n.u GROUP BY n.u, e.s, e.v
    HAVING count(*) >= 2"""
THREE = """
    WITH few AS (SELECT e.* FROM edge e JOIN degree d ON d.u = e.u WHERE d.n <= {hub}),
    body AS (SELECT DISTINCT e.s AS a, f.s AS b, g.s AS c, e.u AS x, g.v AS y FROM edge e JOIN few f ON f.u = e.v
             JOIN few g ON g.u = f.v WHERE f.v <> e.u AND g.v <> e.v AND g.v <> e.u),
    n AS (SELECT a, b, c, count(*) AS n FROM body GROUP BY a, b, c),
    rule AS (SELECT p.a, p.b, p.c, e.s FROM body p JOIN edge e ON e.u = p.x AND e.v = p.y JOIN n USING (a, b, c)
             WHERE e.s % 2 = 0 GROUP BY p.a, p.b, p.c, e.s, n.n HAVING count(*) >= 3 AND count(*) >= .1 * (n.n + 5))
    SELECT DISTINCT p.x AS u, r.s, p.y AS v FROM body p JOIN rule r USING (a, b, c)"""


def propose(connection: Any, query: str) -> None:
    """Make the table ``proposed`` of slots as triples, without facts."""
    plan.make(connection, Step("slot_proposal", query))
    triples = "SELECT u AS h, s // 2 AS r, v AS t FROM slot_proposal WHERE s % 2 = 0 UNION "
    triples += "SELECT v AS h, s // 2 AS r, u AS t FROM slot_proposal WHERE s % 2 = 1"
    plan.make(connection, Step("proposed", f"SELECT * FROM ({triples}) EXCEPT SELECT h, r, t FROM fact"))


def kinds(connection: Any) -> Iterator[tuple[str, str]]:
    """Give the SQL of each kind; the hubs of paths of three are bounded by the number of paths."""
    yield "constant", CONSTANT.format(hub=HUB)
    yield "relatives", RELATIVES
    for hub in plan.HUBS:
        (walks,) = connection.execute(
            f"SELECT coalesce(sum(d.n * f.n), 0) FROM edge e JOIN degree d ON d.u = e.u JOIN degree f ON f.u = e.v "
            f"WHERE d.n <= {hub} AND f.n <= {hub}"
        ).fetchone()
        if walks <= WALKS:
            yield f"three, hubs of {hub}", THREE.format(hub=hub)
            return


def propose_plain(graph: Graph, least: float) -> ScoredTriples:
    """Return what rules without constants propose."""
    return propose_by_rules(graph, plan.RuleLimits(confidence=least), confidence=least)[0]


def measure(graph: Graph, hidden: Graph) -> Iterator[dict[str, object]]:
    """Give the row of each kind: what it adds to rules of one and two edges."""
    first = propose_by_rules(graph)[1].least
    known = propose_plain(graph, first)

    def row(kind: str, candidates: Triples, begun: float) -> dict[str, object]:
        true = int(hidden.contains(candidates).sum())
        values = (
            kind,
            len(candidates),
            true,
            round(true / len(hidden), 4),
            round(1000 * true / max(len(candidates), 1), 2),
        )
        return dict(zip(FIELDS[1:], (*values, round(time.process_time() - begun, 1)), strict=True))

    begun = time.process_time()
    yield row(f"rules of {first}", known, begun)
    for least in (one for one in WEAKER if one < first):
        begun = time.process_time()
        more = propose_plain(graph, least)
        yield row(f"weaker, {least}", more.take(~known.contains(more)), begun)
    with open_spilling("4GB", len(graph)) as connection:
        put_facts(connection, graph)
        for step in plan.edge_steps():
            plan.make(connection, step)
        for kind, query in kinds(connection):
            begun = time.process_time()
            propose(connection, query)
            found = connection.execute("SELECT h, r, t FROM proposed").fetchnumpy()
            more = Graph(*(found[name].astype("int64") for name in "hrt"), graph.entity_names, graph.relation_names)
            yield row(kind, more.take(~known.contains(more)), begun)


def main() -> None:
    """Append the rows of each graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", nargs="+")
    parser.add_argument("--graphs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for name in options.graph:
            for row in measure(*read_split(options.graphs / name)):
                print(name, row, flush=True)
                writer.writerow({"graph": name, **row})
                file.flush()


if __name__ == "__main__":
    main()
