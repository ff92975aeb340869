"""A plan carried out on an engine, step by step; what competes under constraints is fetched and decided in memory.

Fetched is what shares a place with another candidate or a fact, and all candidates of relations whose constraint looks
at each by itself (a class of an end, a mirror that must be there). Nothing else can be held back, or hold back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from actc.data.constraints import Constraints
from actc.data.parts import BAD_ROW
from actc.data.triples import encode_columns
from actc.decide.conflicts import match_conflicts, resolve_conflicts
from actc.decide.plan import Decided, DecisionPlan, Tables

Rows = list[tuple[Any, ...]]
FINAL = ("person", "oracle")
"""Whose answer no constraint holds back."""
CROWDED = "HAVING count(*) > 1 AND min(is_fact) = 0"


def carry_out(plan: DecisionPlan, tables: Tables) -> Decided:
    """Count, refuse what is no score, settle what competes, write, and count what was written."""
    tables.put("cut", plan.cuts)
    if plan.curves is not None:
        tables.put("knot", plan.knots)
    counts = tables.fetch(plan.count(), (0, 20))
    if any(name is None or bad for name, *_, bad in counts):
        raise tables.find_bad_row(BAD_ROW)
    answers, held = plan.answers, None
    if len(plan.constraints):
        answers, held = _settle_rivals(plan, _fetch_contested(plan, tables))
    has_answers = len(answers["head"]) > 0
    if has_answers:
        tables.put("answer", answers)
    tables.write(plan, has_answers, (20, 100))
    names, cuts, candidates, accepted, _ = zip(*counts, strict=True) if counts else ((),) * 5
    if plan.looks_back:
        written = dict(tables.fetch(plan.count_written()))
        accepted = tuple(written.get(name, 0) for name in names)
    return Decided(
        names,
        np.array(cuts, dtype=np.float64),
        np.array(candidates, dtype=np.int64),
        np.array(accepted, dtype=np.int64),
        None if held is None else np.array([held.get(name, 0) for name in names], dtype=np.int64),
    )


def _fetch_contested(plan: DecisionPlan, tables: Tables) -> Rows:
    """Fetch what competes, candidates and facts: is_fact, head, relation, tail, score."""
    tables.put("rule", _mark_relations(plan.constraints))
    named = (
        "SELECT 0 AS is_fact, CAST(c.head AS STRING) AS head, c.relation, CAST(c.tail AS STRING) AS tail, c.score "
        "FROM candidate c WHERE c.head IS NOT NULL AND c.tail IS NOT NULL"
    )
    if plan.facts is not None:
        named += " UNION ALL SELECT 1 AS is_fact, f.head, f.relation, f.tail, CAST(NULL AS DOUBLE) AS score FROM fact f"
    columns = "r.by_head, r.by_tail, r.by_pair, r.whole, r.whole_facts"
    rows = f"SELECT /*+ BROADCAST(r) */ n.*, {columns} FROM ({named}) n JOIN rule r ON r.relation = n.relation"
    low, high = "least(head, tail)", "greatest(head, tail)"
    return tables.fetch(
        "SELECT b.is_fact, b.head, b.relation, b.tail, max(b.score) AS score "
        f"FROM (SELECT x.*, {low} AS low, {high} AS high FROM ({rows}) x) b "
        f"LEFT JOIN (SELECT relation, head FROM ({rows}) x WHERE by_head = 1 GROUP BY relation, head {CROWDED}) h "
        "ON h.relation = b.relation AND h.head = b.head "
        f"LEFT JOIN (SELECT relation, tail FROM ({rows}) x WHERE by_tail = 1 GROUP BY relation, tail {CROWDED}) t "
        "ON t.relation = b.relation AND t.tail = b.tail "
        f"LEFT JOIN (SELECT {low} AS low, {high} AS high FROM ({rows}) x WHERE by_pair = 1 "
        f"GROUP BY {low}, {high} {CROWDED}) p ON b.by_pair = 1 AND p.low = b.low AND p.high = b.high "
        "WHERE h.head IS NOT NULL OR t.tail IS NOT NULL OR p.low IS NOT NULL OR b.head = b.tail "
        "OR b.whole = 1 OR b.whole_facts * b.is_fact = 1 GROUP BY b.is_fact, b.head, b.relation, b.tail"
    )


def _mark_relations(constraints: Constraints) -> dict[str, Any]:
    """Return the table ``rule``: what makes a place of each relation (head, tail, both ends), or all that is needed."""
    hard = [one for one in constraints.of("symmetric", "inverse") if one.use == "hard"]
    pairs = constraints.of("asymmetric", "not-both")
    classes = constraints.of("domain", "range")
    types, disjoint = constraints.of("type"), constraints.of("disjoint")
    marked = {
        "by_head": {one.relation for one in constraints.of("functional")},
        "by_tail": {one.relation for one in constraints.of("inverse-functional")},
        "by_pair": {name for one in pairs for name in (one.relation, one.other)},
        "whole": {name for one in hard for name in (one.relation, one.other)}
        | {one.relation for one in classes}
        | {one.relation for one in types if disjoint},
        "whole_facts": {one.relation for one in (*types, *constraints.of("subclass")) if classes or disjoint},
    }
    names = constraints.relations
    flags = {mark: np.array([name in of_it for name in names], dtype=np.int64) for mark, of_it in marked.items()}
    return {"relation": np.array(names, dtype=object), **flags}


def _settle_rivals(plan: DecisionPlan, rows: Rows) -> tuple[dict[str, Any], dict[str, int]]:
    """Decide what competes; return the table ``answer`` with it, and how many of each relation are held back."""
    known, heads, relations, tails, scores = zip(*rows, strict=True) if rows else ((),) * 5
    named, is_fact = encode_columns(heads, relations, tails), np.array(known, dtype=np.int64) == 1
    triples = named.take(~is_fact).with_scores(np.array(scores, dtype=np.float64)[~is_fact])
    count = len(triples)
    p, bars, accepted = np.full(count, 0.5), np.zeros(count), plan.thresholds.decide(triples)
    if plan.curves is not None:
        p, bars = plan.curves.of(triples), plan.curves.bars(plan.thresholds)[plan.curves.codes(triples)]
    answer, who, given = np.full(count, -1), np.full(count, "method", dtype=object), np.full(count, -1.0)
    before = plan.answers
    there = triples.rows_of(encode_columns(before["head"], before["relation"], before["tail"]))
    at, told = there[there >= 0], {name: column[there >= 0] for name, column in before.items()}
    answer[at], who[at], given[at] = told["accepted"], told["who"], told["probability"]
    accepted[at] = told["accepted"] == 1
    if plan.curves is not None:
        p[at] = told["probability"]
    final = np.where(np.isin(who, FINAL), answer, -1)
    conflicts = match_conflicts(plan.constraints, triples, named.take(is_fact))
    found = resolve_conflicts(conflicts, triples, triples.scores, p, accepted, final, bars)
    held, coupled = accepted & ~found.accepted, found.contested & (final < 0)
    answer[held], who[held], given[coupled] = 0, "constraint", found.probability[coupled]
    kept, rest = coupled | (answer >= 0), there < 0
    settled = {**triples.take(kept).columns(), "who": who[kept], "accepted": answer[kept], "probability": given[kept]}
    answers = {name: np.append(before[name][rest], column) for name, column in settled.items()}
    counts = np.bincount(triples.relations[held], minlength=len(triples.relation_names))
    return answers, dict(zip(triples.relation_names, counts.tolist(), strict=True))
