"""What the steps of the evidence plan are made of: their limits, their form, and words of SQL that they share.

DuckDB and Spark run the same text, so it keeps to what both understand alike: numbers with a fraction are written as
``1e0`` (``1.0`` is a decimal number in both, but is divided differently), sums are cast to whole numbers, and the best
of several rows is chosen by a key that no two rows share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

ROWS = 5_000_000  # that a step may make before fewer facts of each candidate are looked at
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

    @property
    def cases(self) -> str:
        """The SQL of ``doubt``."""
        return f"{self.doubt!r}e0"


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
