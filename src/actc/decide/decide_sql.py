"""Decisions on any number of candidates as one SQL text, which DuckDB and Spark run alike.

Two passes over the candidates. The first reads relation and score alone, counts by relation and refuses what is no
score; in Parquet these two columns are a small part of the bytes. The second decides and writes. In between, what
competes under constraints is fetched and decided in memory: what shares a group with another candidate or a fact, and
all candidates of relations whose constraint looks at each by itself (the class of an end).
Nothing else can be excluded, or exclude.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from actc.data.answers import Answers
from actc.data.calibration import Curves
from actc.data.constraints import Constraints
from actc.data.files import BAD_ROW, BAD_SCORE
from actc.data.frames import SCORED, Columns
from actc.data.layout import Layout
from actc.data.triples import FloatArray, IntArray, Thresholds, as_vocabulary, encode_columns
from actc.decide.conflicts import match_conflicts, resolve_conflicts
from actc.decide.decision_table import CONSTRAINT, PEOPLE
from actc.errors import FileError

Rows = list[tuple[Any, ...]]
UNNAMED = "head IS NULL OR tail IS NULL"
EMPTY_NAME = "actc: empty name"
CROWDED = "HAVING count(*) > 1 AND min(is_fact) = 0"


@dataclass(frozen=True)
class DecisionPlan:
    """What to do with the candidates; an engine carries it out."""

    thresholds: Thresholds
    curves: Curves | None = None  # where a column ``probability`` comes from
    exceptions: Answers = field(default_factory=Answers)  # triples that are decided by an answer, whatever their score
    keep_all: bool = False  # write rejected candidates too, with a column ``accepted``
    # accept at most one tail for each head and relation: the one with the highest score, the first name among equals
    best_only: bool = False
    memory: int = 10**9  # bytes that the engine may use
    master: str | None = None  # where Spark runs
    constraints: Constraints = field(default_factory=Constraints)  # what cannot be true together; those that are used
    named: Columns = None  # the user's names of the candidates' columns
    # files of facts, or the address of such for Spark, which candidates may contradict
    facts: Layout | str | None = None
    further: tuple[str, ...] = ()  # further columns of the candidates: those of an engine are called further0, ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the output."""
        probability, accepted = ("probability",) * (self.curves is not None), ("accepted",) * self.keep_all
        return (*SCORED, "threshold", *probability, *accepted, "by", *self.further)

    @property
    def more(self) -> str:
        """The SQL of the further columns."""
        return "".join(f", further{at}" for at in range(len(self.further)))


@dataclass(frozen=True, eq=False)
class DecisionCounts:
    """How many candidates there were and how many were accepted, relation by relation."""

    relation_names: tuple[str, ...]  # the candidates' relations, sorted
    cuts: FloatArray  # (R,) the threshold that applied to each
    # candidates, accepted: (R,) each: how many candidates there were; how many of them were accepted
    candidates: IntArray
    accepted: IntArray
    excluded: IntArray | None = None  # (R,) how many constraints excluded, where there are any

    def __len__(self) -> int:
        return len(self.relation_names)


class Tables(Protocol):
    """What an engine offers; it has the table ``candidate`` (head, relation, tail, score), and ``fact`` if need be."""

    def quote_name(self, name: str) -> str:
        """Return the name of a column as the engine's SQL has it."""

    @property
    def forbidden(self) -> Mapping[str, str]:
        """Conditions that no written row may meet, each with the error that is raised otherwise."""

    def put(self, name: str, columns: Mapping[str, Any]) -> None:
        """Make a table of given columns."""

    def fetch(self, query: str, span: tuple[int, int] | None = None) -> Rows:
        """Return the rows of a query; progress goes over the span, in per cent."""

    def write(self, query: str, span: tuple[int, int]) -> None:
        """Write the rows of a query to the output."""

    def open_output(self, columns: tuple[str, ...]) -> None:
        """Make what was written the table ``written``."""

    def find_bad_row(self, condition: str) -> FileError:
        """Return an error that names the first candidate that meets a condition, and what is wrong with it."""


def carry_out(plan: DecisionPlan, tables: Tables) -> DecisionCounts:
    """Count, refuse what is no score, decide what competes, write, and count what was written."""
    _put_thresholds(plan, tables)
    counts = tables.fetch(
        "SELECT relation, any_value(threshold) AS threshold, count(*) AS candidates, "
        "count(*) FILTER (WHERE score >= threshold) AS accepted, "
        f"count(*) FILTER (WHERE {BAD_SCORE}) AS bad FROM ({_join_thresholds(plan)}) j "
        "GROUP BY relation ORDER BY relation",
        (0, 20),
    )
    if any(name is None or bad for name, *_, bad in counts):
        raise tables.find_bad_row(BAD_ROW)
    answers, excluded = _tabulate_answers(plan.exceptions), None
    if len(plan.constraints):
        answers, by_relation = _decide_contested(plan, _fetch_contested(plan, tables))
        excluded = np.array([by_relation.get(name, 0) for name, *_ in counts], dtype=np.int64)
    if len(answers["head"]):
        tables.put("answer", answers)
    tables.write(_select_output(plan, len(answers["head"]) > 0, tables), (20, 100))
    names, cuts, candidates, accepted, _ = zip(*counts, strict=True) if counts else ((),) * 5
    if plan.best_only or len(answers["head"]):  # what is accepted is only known when it is written
        tables.open_output(plan.columns)
        where = "WHERE CAST(accepted AS BOOLEAN)" if plan.keep_all else ""
        written: dict[str, int] = dict(
            tables.fetch(f"SELECT relation, count(*) AS n FROM written {where} GROUP BY relation")
        )
        accepted = tuple(written.get(name, 0) for name in names)
    n_candidates, n_accepted = (np.array(column, dtype=np.int64) for column in (candidates, accepted))
    return DecisionCounts(names, np.array(cuts, dtype=np.float64), n_candidates, n_accepted, excluded)


def _put_thresholds(plan: DecisionPlan, tables: Tables) -> None:
    """Make the tables ``cut`` (its code is the place in ``knot`` where a relation's curve begins) and ``knot``."""
    names = plan.thresholds.relation_names
    codes = np.zeros(len(names), dtype=np.int64)
    if plan.curves is not None:
        known = as_vocabulary(plan.curves.relation_names)
        codes = known.codes(names, default=len(known))
        level, rise = plan.curves.probabilities.ravel(), plan.curves.rises.ravel()
        tables.put("knot", {"knot": np.arange(len(level)), "level": level, "rise": rise})
    cuts = plan.thresholds.cuts.astype(np.float64)
    tables.put("cut", {"name": np.array(names, dtype=object), "cut": cuts, "code": codes})


def _number(value: float) -> str:
    """Return a number in SQL, to the last digit; infinity too."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"


def _join_thresholds(plan: DecisionPlan) -> str:
    code = 0 if plan.curves is None else len(plan.curves.relation_names)
    return (
        f"SELECT /*+ BROADCAST(k) */ c.head, c.relation, c.tail, c.score{plan.more}, coalesce(k.code, {code}) AS code, "
        f"coalesce(k.cut, {_number(plan.thresholds.default)}) AS threshold "
        "FROM candidate c LEFT JOIN cut k ON c.relation = k.name"
    )


def _select_output(plan: DecisionPlan, has_answers: bool, tables: Tables) -> str:
    """Return the query of the second pass: the rows to write."""
    joined = _join_thresholds(plan)
    nothing = "CAST(NULL AS DOUBLE) AS given, CAST(NULL AS BIGINT) AS answer, 'method' AS decided_by"
    rows = f"SELECT j.*, score >= threshold AS accepted, {nothing} FROM ({joined}) j"
    if has_answers:
        rows = (
            "SELECT /*+ BROADCAST(a) */ j.*, "
            "coalesce(a.accepted = 1, j.score >= j.threshold) AS accepted, "
            "a.probability AS given, a.accepted AS answer, "
            f"coalesce(a.who, 'method') AS decided_by FROM ({joined}) j LEFT JOIN answer a ON "
            "a.head = CAST(j.head AS STRING) AND a.relation = j.relation AND a.tail = CAST(j.tail AS STRING)"
        )
    where = "" if plan.keep_all else " WHERE accepted"
    if plan.best_only:  # a tail that was called true comes first, and one that was called false last
        answer = "CASE WHEN decided_by = 'method' THEN 1 ELSE 2 * answer END"
        place = f"row_number() OVER (PARTITION BY head, relation ORDER BY {answer} DESC, score DESC, tail)"
        columns = f"head, relation, tail, score, code, threshold, given, decided_by{plan.more}"
        placed = f"SELECT d.*, {place} AS place FROM ({rows}) d{where}"
        rows = f"SELECT {columns}, (place = 1 AND accepted) accepted FROM ({placed}) p"
    rows = f"SELECT * FROM ({rows}) d{where}"
    if (curves := plan.curves) is not None:
        last = _number(curves.knots - 1)
        position = f"least(greatest((score - {_number(curves.low)}) * {_number(curves.scale)}, {_number(0.0)}), {last})"
        rows = (
            "SELECT /*+ BROADCAST(k) */ p.*, "
            "coalesce(given, level + (position - floor(position)) * rise) AS probability "
            f"FROM (SELECT d.*, {position} AS position FROM ({rows}) d) p "
            f"JOIN knot k ON k.knot = p.code * {curves.knots} + CAST(floor(p.position) AS BIGINT)"
        )
    cases = " ".join(f"WHEN {condition} THEN raise_error('{error}')" for condition, error in tables.forbidden.items())
    named = {"head": f"CASE {cases} ELSE head END", "by": "decided_by"}
    named |= {name: f"further{at}" for at, name in enumerate(plan.further)}
    columns = ", ".join(f"{named.get(name, name)} AS {tables.quote_name(name)}" for name in plan.columns)
    return f"SELECT {columns} FROM ({rows}) r"


def _fetch_contested(plan: DecisionPlan, tables: Tables) -> Rows:
    """Fetch what competes, candidates and facts: is_fact, head, relation, tail, score."""
    rules = plan.constraints
    classes, disjoint, types = rules.of("domain", "range"), rules.of("disjoint"), rules.of("type")
    marked = {
        "by_head": {one.relation for one in rules.of("functional")},
        "by_tail": {one.relation for one in rules.of("inverse-functional")},
        "by_pair": {name for one in rules.of("asymmetric", "not-both") for name in one.key[1:]},
        "whole": {one.relation for one in (*classes, *(types if disjoint else ()))},
        "whole_facts": {one.relation for one in (*types, *rules.of("subclass")) if classes or disjoint},
    }
    names = rules.relations
    flags = {mark: np.array([name in of_it for name in names], dtype=np.int64) for mark, of_it in marked.items()}
    tables.put("rule", {"relation": np.array(names, dtype=object), **flags})
    named = (
        "SELECT 0 AS is_fact, CAST(c.head AS STRING) AS head, c.relation, CAST(c.tail AS STRING) AS tail, c.score "
        "FROM candidate c WHERE c.head IS NOT NULL AND c.tail IS NOT NULL"
    )
    if plan.facts is not None:
        named += " UNION ALL SELECT 1 AS is_fact, f.head, f.relation, f.tail, CAST(NULL AS DOUBLE) AS score FROM fact f"
    columns = ", ".join(f"r.{mark}" for mark in marked)
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


def _decide_contested(plan: DecisionPlan, rows: Rows) -> tuple[dict[str, Any], dict[str, int]]:
    """Decide what competes; return the table ``answer`` with it, and how many of each relation are excluded."""
    known, heads, relations, tails, scores = zip(*rows, strict=True) if rows else ((),) * 5
    named, is_fact = encode_columns(heads, relations, tails), np.array(known, dtype=np.int64) == 1
    triples = named.take(~is_fact).with_scores(np.array(scores, dtype=np.float64)[~is_fact])
    count, given = len(triples), plan.exceptions
    p, bars, accepted = np.full(count, 0.5), np.zeros(count), plan.thresholds.decide(triples)
    if plan.curves is not None:
        p, bars = plan.curves.of(triples), plan.curves.bars(plan.thresholds)[plan.curves.codes(triples)]
    who, places = np.full(count, "method", dtype=object), given.triples.rows_of(triples)
    answered = places >= 0
    who[answered], accepted[answered] = given.who[places[answered]], given.labels[places[answered]]
    if given.probability is not None:
        p[answered] = given.probability[places[answered]]
    final = np.where(np.isin(who, PEOPLE), accepted, -1)
    conflicts = match_conflicts(plan.constraints, triples, named.take(is_fact))
    resolution = resolve_conflicts(conflicts, triples, p, accepted, final, bars)
    excluded, coupled = accepted & ~resolution.accepted, resolution.contested & (final < 0)
    p, who = np.where(coupled, resolution.probability, p), np.where(excluded, CONSTRAINT, who).astype(object)
    decided = Answers(triples.plain(), accepted & ~excluded, p, who=who).take(coupled | answered)
    others = _tabulate_answers(given.take(~triples.contains(given.triples)))
    table = {name: np.append(others[name], column) for name, column in _tabulate_answers(decided).items()}
    counts = np.bincount(triples.relations[excluded], minlength=len(triples.relation_names))
    return table, dict(zip(triples.relation_names, counts.tolist(), strict=True))


def _tabulate_answers(answers: Answers) -> dict[str, Any]:
    """Return the table ``answer``: single triples that are accepted (1) or not (0), who decided, and P(true)."""
    p = np.full(len(answers), np.nan) if answers.probability is None else answers.probability
    accepted = answers.labels.astype(np.int64)
    return {**answers.triples.columns(), "who": answers.who, "accepted": accepted, "probability": p}
