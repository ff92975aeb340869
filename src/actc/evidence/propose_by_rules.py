"""What a graph's own rules propose: mined and applied by joins and counts, in DuckDB."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from actc.data.database import open_database
from actc.data.files import quote
from actc.data.triples import FloatArray, IntArray
from actc.evidence import mine_rules as plan
from actc.evidence.duckdb_engine import FEW, put_facts
from actc.evidence.mine_rules import HUBS, RULE_LIMITS, RuleLimits
from actc.evidence.steps import Step
from actc.evidence.work import Progress, Proposals, count_steps
from actc.graph.graph import Graph

MEMORY = "2GB"  # for DuckDB; beyond that it writes to disk


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules, the surest first: relation r holds for pairs (x, y) of a body ``x -a- y`` or ``x -a- z -b- y``.

    Rules with constants say that entities ``x -a- c`` have relation r with ``d``.

    Parameters
    ----------
    first, second : int array of shape (R,)
        The slots a and b (-1: a body of one edge; with constants -2, x being the head, or -3, the tail); slot 2 r is
        relation r from head to tail, 2 r + 1 back.
    given, told : int array of shape (R,)
        The entities c and d of rules with constants, else -1.
    relation : int array of shape (R,)
    holds, pairs : int array of shape (R,)
        For how many pairs of the body the rule holds, of how many.
    confidence : float array of shape (R,)
    entity_names, relation_names : sequence of str
    """

    first: IntArray
    second: IntArray
    given: IntArray
    told: IntArray
    relation: IntArray
    holds: IntArray
    pairs: IntArray
    confidence: FloatArray
    entity_names: Sequence[str]
    relation_names: Sequence[str]

    def __len__(self) -> int:
        return len(self.relation)

    def text(self, rule: int) -> str:
        """Return a rule as people write it: ``uncle(X,Y) <= brother(X,A), parent(A,Y)``."""
        name = self.relation_names[self.relation[rule]]
        if self.second[rule] < -1:
            given, told = (self.entity_names[codes[rule]] for codes in (self.given, self.told))
            head = f"X,{told}" if self.second[rule] == -2 else f"{told},X"
            return f"{name}({head}) <= {self._atom(int(self.first[rule]), 'X', given)}"
        if self.second[rule] < 0:
            body = self._atom(int(self.first[rule]), "X", "Y")
        else:
            body = f"{self._atom(int(self.first[rule]), 'X', 'A')}, {self._atom(int(self.second[rule]), 'A', 'Y')}"
        return f"{name}(X,Y) <= {body}"

    def _atom(self, slot: int, begin: str, end: str) -> str:
        ends = f"{begin},{end}" if slot % 2 == 0 else f"{end},{begin}"
        return f"{self.relation_names[slot // 2]}({ends})"


@dataclass(frozen=True, eq=False)
class RuleProposals:
    """New facts that rules propose, and by which rule.

    Parameters
    ----------
    candidates : Graph
        N of them, in the graph's codes, by head, relation, tail.
    rule : int array of shape (N,)
        The surest rule that proposes each, a place in ``rules``.
    together : float array of shape (N,)
        The confidences of all its rules taken together (noisy or), as minus the log of what they leave.
    count : int array of shape (N,)
        How many rules propose it.
    rules : Rules
    least : float
        The confidence from which rules counted.
    hub : int
        The edges an entity in the middle of a path could have.
    """

    candidates: Graph
    rule: IntArray
    together: FloatArray
    count: IntArray
    rules: Rules
    least: float
    hub: int

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def confidence(self) -> FloatArray:
        """The confidence of the surest rule of each candidate, shape (N,)."""
        return np.asarray(self.rules.confidence[self.rule])

    def proposals(self) -> Proposals:
        """Return the candidates with what the rules say of each, as pieces of evidence."""
        marks = {"rule_confidence": self.confidence, "rules_together": self.together}
        return Proposals(self.candidates, marks=marks)

    def of_relations(self, relations: Sequence[str]) -> Self:
        """Return those of some relations, all if none is named."""
        if not relations:
            return self
        named = np.isin(np.array(self.candidates.relation_names, dtype=object), list(relations))
        rows = np.flatnonzero(named[self.candidates.relations])
        told = {name: getattr(self, name)[rows] for name in ("rule", "together", "count")}
        return replace(self, candidates=self.candidates.take(rows), **told)

    def columns(self) -> dict[str, Any]:
        """Return a table: head, relation, tail, score, the surest rule, its confidence, the number of rules, who."""
        used, place = np.unique(self.rule, return_inverse=True)
        texts = np.array([self.rules.text(int(rule)) for rule in used], dtype=object)
        named = self.candidates.columns()
        score = {"score": self.confidence, "rule": texts[place] if len(used) else np.zeros(0, dtype=object)}
        who = np.full(len(self), "rules", dtype=object)
        return {**named, **score, "rule_confidence": self.confidence, "rules": self.count, "proposed_by": who}


def propose_by_rules(
    graph: Graph,
    limits: RuleLimits = RULE_LIMITS,
    *,
    confidence: float | None = None,
    progress: Progress | None = None,
) -> RuleProposals:
    """Mine the rules of a graph and return what they propose that is no fact.

    Parameters
    ----------
    graph : Graph
        The known facts.
    limits : RuleLimits
        Which rules count, and how much is walked to find them.
    confidence : float, optional
        From which rules count; if not given, by how much they propose.
    progress : function of (done, total, name), optional
        Called after each step.
    """
    with open_store(graph) as store:
        work = _Mining.begin(store, limits, progress)
        work.mine()
        least = limits.confidence if confidence is None else confidence
        count = work.apply(least)
        if confidence is None and count < len(graph) and limits.sparse_confidence < least:
            least = limits.sparse_confidence
            work.apply(least)
        return _collect(store, graph, limits, least, work.hub)


@dataclass
class RuleStore:
    """The tables of mining, in DuckDB."""

    connection: Any

    def make(self, step: Step, begin: str = "CREATE OR REPLACE TABLE {} AS") -> None:
        """Make a table, in the place of one that is there."""
        self.connection.execute(f"{begin.format(step.name)} {step.query}")

    def add(self, step: Step, first: bool) -> None:
        """Add rows to a table, a new one if this is the first part."""
        self.make(step) if first else self.make(step, "INSERT INTO {}")

    def view(self, name: str, query: str) -> None:
        """Make a view, in the place of one that is there."""
        self.make(Step(name, query), "CREATE OR REPLACE VIEW {} AS")

    def row(self, query: str) -> Sequence[Any]:
        """Return the first row of a query."""
        return tuple(self.connection.execute(query).fetchone())

    def table(self, query: str) -> dict[str, Any]:
        """Return the columns of a query."""
        return dict(self.connection.execute(query).fetchnumpy())


@contextmanager
def open_store(graph: Graph) -> Iterator[RuleStore]:
    """Give a database with the table ``fact``; what its memory leaves no room for is in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="actc-") as spill, open_database() as connection:
        connection.execute(f"SET memory_limit='{MEMORY}'; SET temp_directory={quote(spill)}")
        threads = min(os.cpu_count() or 1, 1 + len(graph) // FEW)
        connection.execute(f"SET preserve_insertion_order=false; SET threads={threads}")
        put_facts(connection, graph)
        yield RuleStore(connection)


@dataclass
class _Mining:
    """Mining in progress: in how many parts the graph is walked."""

    store: RuleStore
    limits: RuleLimits
    hub: int
    parts: int
    report: Callable[[str], None]

    @classmethod
    def begin(cls, store: RuleStore, limits: RuleLimits, progress: Progress | None) -> _Mining:
        """Make edges, and bound the hubs so that no more paths are walked than the limits say."""
        for step in plan.edge_steps():
            store.make(step)
        found = dict(zip(HUBS, map(int, store.row(plan.count_walks())), strict=True))
        allowed = {hub: n for hub, n in found.items() if hub <= limits.hub}
        hub = next((hub for hub, n in allowed.items() if n <= limits.walks), min(HUBS))
        parts = max(1, -(-found[hub] // limits.part))
        store.make(plan.middle_step(hub))
        return cls(store, limits, hub, parts, count_steps(progress, 2 * parts))

    def mine(self) -> None:
        """Count every body, and what holds for its pairs."""
        for part in range(self.parts):
            self._walk(plan.BODY, part)
            self.store.add(plan.COUNTED, part == 0)
            self.report("rules are mined")

    def apply(self, confidence: float) -> int:
        """Apply rules of a confidence, part by part; return how many candidates there are."""
        sparse = confidence < self.limits.confidence
        for step in [*plan.constant_steps(self.limits, sparse), *plan.rule_steps(self.limits, confidence)]:
            self.store.make(step)
        for part in range(self.parts):
            self._walk(plan.APPLIED, part)
            self.store.view("constant_part", f"{plan.CONSTANT_PAIRS} WHERE q.h % {self.parts} = {part}")
            self.store.add(plan.PROPOSAL, part == 0)
            self.report("rules are applied")
        return int(self.store.row("SELECT count(*) FROM proposal")[0])

    def _walk(self, body: Step, part: int) -> None:
        where = f" WHERE u % {self.parts} = {part}" if self.parts > 1 else ""
        self.store.view("edge_part", f"SELECT * FROM edge{where}")
        self.store.make(body)


def _collect(store: RuleStore, graph: Graph, limits: RuleLimits, least: float, hub: int) -> RuleProposals:
    order = f"SELECT * FROM proposal ORDER BY rule, rules DESC, h, r, t LIMIT {limits.most}"
    found = store.table(f"SELECT * FROM ({order}) p ORDER BY h, r, t")
    rules = store.table("SELECT * FROM rule ORDER BY id")
    first, second, given, told, relation, holds, pairs = (np.asarray(rules[k], dtype=np.int64) for k in "abcdrkn")
    confidence = np.asarray(rules["confidence"], dtype=np.float64)
    heads, relations, tails = (np.asarray(found[name], dtype=np.int64) for name in "hrt")
    return RuleProposals(
        Graph(heads, relations, tails, graph.entity_names, graph.relation_names),
        np.asarray(found["rule"], dtype=np.int64),
        np.asarray(found["together"], dtype=np.float64),
        np.asarray(found["rules"], dtype=np.int64),
        Rules(first, second, given, told, relation, holds, pairs, confidence, graph.entity_names, graph.relation_names),
        least,
        hub,
    )
