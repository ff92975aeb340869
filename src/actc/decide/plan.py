"""What to do with candidates, as one SQL text that DuckDB and Spark run alike, and what became of them.

Two passes over the candidates. The first reads relation and score alone, counts by relation and refuses what is no
score; in Parquet these two columns are a small part of the bytes. The second decides and writes. In between, what
competes under constraints is fetched and decided in memory (``rivals``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from actc.data.calibration import Exceptions
from actc.data.constraints import Constraints
from actc.data.curves import Curves
from actc.data.parts import BAD_SCORE, Candidates
from actc.data.triples import FloatArray, IntArray, Thresholds, as_vocabulary
from actc.errors import FileError

UNNAMED = "head IS NULL OR tail IS NULL"
EMPTY_NAME = "actc: empty name"


@dataclass(frozen=True)
class DecisionPlan:
    """What to do with the candidates; an engine carries it out.

    Parameters
    ----------
    thresholds : Thresholds
    curves : Curves or None
        Where a column ``probability`` comes from.
    exceptions : Exceptions
        Triples that are decided by somebody's answer, whatever their score.
    keep_all : bool
        Write rejected candidates too, with a column ``accepted``.
    best_only : bool
        Accept at most one tail for each head and relation: the one with the highest score, the first name among equals.
    memory : int
        Bytes that the engine may use.
    master : str or None
        Where Spark runs.
    constraints : Constraints
        What cannot be true together; those that are used.
    facts : Candidates or str, optional
        Files of facts, or the address of such for Spark, which candidates may contradict.
    """

    thresholds: Thresholds
    curves: Curves | None = None
    exceptions: Exceptions = field(default_factory=Exceptions)
    keep_all: bool = False
    best_only: bool = False
    memory: int = 10**9
    master: str | None = None
    constraints: Constraints = field(default_factory=Constraints)
    facts: Candidates | str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the output."""
        extra = {"probability": self.curves is not None, "accepted": self.keep_all}
        return ("head", "relation", "tail", "score", "threshold", *(name for name in extra if extra[name]), "by")

    @property
    def looks_back(self) -> bool:
        """Whether what is accepted is only known when it is written."""
        return self.best_only or len(self.exceptions) > 0 or len(self.constraints) > 0

    @property
    def cuts(self) -> dict[str, Any]:
        """The table ``cut``: name, cut and code, which says where in :attr:`knots` a relation's curve begins."""
        names = self.thresholds.relation_names
        codes = np.zeros(len(names), dtype=np.int64)
        if self.curves is not None:
            known = as_vocabulary(self.curves.relation_names)
            codes = known.codes(names, default=len(known))
        return {"name": np.array(names, dtype=object), "cut": self.thresholds.cuts.astype(np.float64), "code": codes}

    @property
    def knots(self) -> dict[str, Any]:
        """The table ``knot``: knot (code times K plus position), level and rise of the probability."""
        assert self.curves is not None
        level, rise = self.curves.probabilities.ravel(), self.curves.rises.ravel()
        return {"knot": np.arange(len(level)), "level": level, "rise": rise}

    @property
    def answers(self) -> dict[str, Any]:
        """The table ``answer``: of single triples, accepted (1, 0; -1 by the score), who decided, and P(true).

        A probability of -1 is that of the curve.
        """
        found = self.exceptions
        names = {"head": found.heads, "relation": found.relations, "tail": found.tails, "who": found.by}
        return {
            **{name: np.array(texts, dtype=object) for name, texts in names.items()},
            "accepted": np.array(found.accepted, dtype=np.int64),
            "probability": np.array(found.probability, dtype=np.float64),
        }

    @property
    def _joined(self) -> str:
        codes = 0 if self.curves is None else len(self.curves.relation_names)
        return (
            f"SELECT /*+ BROADCAST(k) */ c.head, c.relation, c.tail, c.score, coalesce(k.code, {codes}) AS code, "
            f"coalesce(k.cut, {_number(self.thresholds.default)}) AS threshold "
            "FROM candidate c LEFT JOIN cut k ON c.relation = k.name"
        )

    def count(self) -> str:
        """Return the query of the first pass: relation, threshold, candidates, accepted, bad."""
        return (
            "SELECT relation, any_value(threshold) AS threshold, count(*) AS candidates, "
            "count(*) FILTER (WHERE score >= threshold) AS accepted, "
            f"count(*) FILTER (WHERE {BAD_SCORE}) AS bad FROM ({self._joined}) j GROUP BY relation ORDER BY relation"
        )

    def choose(self, has_answers: bool, refused: Mapping[str, str]) -> str:
        """Return the query of the second pass: the rows to write.

        Parameters
        ----------
        has_answers : bool
            Whether there is a table ``answer``.
        refused : dict of str to str
            What no row that is written may be, and the error that is raised otherwise.
        """
        rows = self._decide(has_answers)
        if self.best_only:
            rows = self._choose_best(rows)
        rows = rows if self.keep_all else f"SELECT * FROM ({rows}) d WHERE accepted"
        if self.curves is not None:
            rows = _add_probability(self.curves, rows)
        cases = " ".join(f"WHEN {condition} THEN raise_error('{error}')" for condition, error in refused.items())
        named = {"head": f"CASE {cases} ELSE head END", "by": "decided_by"}
        columns = ", ".join(f"{named.get(name, name)} AS {name}" for name in self.columns)
        return f"SELECT {columns} FROM ({rows}) r"

    def _decide(self, has_answers: bool) -> str:
        """Return each candidate with its decision, who made it, and a probability that somebody gave it."""
        if not has_answers:
            nothing = "CAST(NULL AS DOUBLE) AS given, CAST(NULL AS BIGINT) AS answer, 'method' AS decided_by"
            return f"SELECT j.*, score >= threshold AS accepted, {nothing} FROM ({self._joined}) j"
        same = "a.head = CAST(j.head AS STRING) AND a.relation = j.relation AND a.tail = CAST(j.tail AS STRING)"
        return (
            "SELECT /*+ BROADCAST(a) */ j.*, coalesce(nullif(a.accepted, -1) = 1, j.score >= j.threshold) AS accepted, "
            f"nullif(a.probability, {_number(-1.0)}) AS given, nullif(a.accepted, -1) AS answer, "
            f"coalesce(a.who, 'method') AS decided_by FROM ({self._joined}) j LEFT JOIN answer a ON {same}"
        )

    def _choose_best(self, rows: str) -> str:
        """Accept the best tail alone: one that somebody called true, then by score, and never one called false."""
        rows = rows if self.keep_all else f"SELECT * FROM ({rows}) d WHERE accepted"
        answer = "CASE WHEN decided_by = 'method' THEN 1 ELSE coalesce(2 * answer, 1) END"
        place = f"row_number() OVER (PARTITION BY head, relation ORDER BY {answer} DESC, score DESC, tail)"
        return (
            "SELECT head, relation, tail, score, code, threshold, given, decided_by, (place = 1 AND accepted) accepted "
            f"FROM (SELECT d.*, {place} AS place FROM ({rows}) d) p"
        )

    def count_written(self) -> str:
        """Return the query that counts the accepted rows of the output: relation, count."""
        where = "WHERE CAST(accepted AS BOOLEAN)" if self.keep_all else ""
        return f"SELECT relation, count(*) AS n FROM written {where} GROUP BY relation"


def _number(value: float) -> str:
    """Return a number in SQL, to the last digit; infinity too."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"


def _add_probability(curves: Curves, rows: str) -> str:
    first, last = _number(0.0), _number(curves.knots - 1)
    position = f"least(greatest((score - {_number(curves.low)}) * {_number(curves.scale)}, {first}), {last})"
    return (
        "SELECT /*+ BROADCAST(k) */ p.*, coalesce(given, level + (position - floor(position)) * rise) AS probability "
        f"FROM (SELECT d.*, {position} AS position FROM ({rows}) d) p "
        f"JOIN knot k ON k.knot = p.code * {curves.knots} + CAST(floor(p.position) AS BIGINT)"
    )


class Tables(Protocol):
    """What an engine offers; it has the table ``candidate`` (head, relation, tail, score), and ``fact`` if need be."""

    def put(self, name: str, columns: Mapping[str, Any]) -> None:
        """Make a table of given columns."""

    def fetch(self, query: str, span: tuple[int, int] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query; progress goes over the span, in per cent."""

    def write(self, plan: DecisionPlan, has_answers: bool, span: tuple[int, int]) -> None:
        """Write what is chosen, and make it the table ``written``."""

    def find_bad_row(self, condition: str) -> FileError:
        """Name the first candidate of which a condition holds, and say what is wrong with it."""


@dataclass(frozen=True, eq=False)
class Decided:
    """What became of the candidates, relation by relation.

    Parameters
    ----------
    relation_names : tuple of str
        The candidates' relations, sorted.
    cuts : float array of shape (R,)
        The cut that applied to each.
    candidates, accepted : int array of shape (R,)
        How many candidates there were; how many of them were accepted.
    held : int array of shape (R,), optional
        How many constraints held back, where there are any.
    """

    relation_names: tuple[str, ...]
    cuts: FloatArray
    candidates: IntArray
    accepted: IntArray
    held: IntArray | None = None

    def __len__(self) -> int:
        return len(self.relation_names)
