"""Thresholds applied to any number of candidates, streamed through DuckDB in bounded memory.

One relational plan: candidates joined with the cuts on their relation, the default for relations that have none. The
output is complete or absent: it is written beside its place and renamed at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import FileError
from actc.files import Layout, copy_options, find_layout, quote, read_failed, require, write_beside
from actc.triples import Thresholds


@dataclass(frozen=True)
class Decided:
    """What became of one relation's candidates."""

    relation: str
    cut: float
    candidates: int
    accepted: int


def decide(
    thresholds: Thresholds, candidates: str | Path, out: str | Path, keep_all: bool = False, memory: str = "1GB"
) -> list[Decided]:
    """Write the accepted candidates (or all, with a column ``accepted``) and return counts by relation.

    Parameters
    ----------
    thresholds : Thresholds
    candidates : path
        A file with head, relation, tail and score.
    out : path
        Where to write; the suffix names the format. Columns: head, relation, tail, score, threshold.
    keep_all : bool
        Write rejected candidates too, with a column that says which is which.
    memory : str
        How much memory DuckDB may use, such as ``1GB``.
    """
    import duckdb

    layout = find_layout(candidates, order=("head", "relation", "tail", "score"))
    require(layout, ("head", "relation", "tail", "score"))
    with write_beside(out) as temporary, duckdb.connect() as connection:
        connection.execute(f"SET memory_limit={quote(memory)}")
        connection.register("cut_table", _as_table(thresholds))
        try:
            _refuse_bad_scores(connection, layout)
            where = "" if keep_all else "WHERE score >= threshold"
            flag = ", score >= threshold AS accepted" if keep_all else ""
            connection.execute(
                f"COPY (SELECT head, relation, tail, score, threshold{flag} "
                f"FROM ({_joined(layout, thresholds.default)}) {where}) "
                f"TO {quote(str(temporary))} ({copy_options(Path(out))})"
            )
            counts = connection.execute(
                "SELECT relation, any_value(threshold), count(*), count(*) FILTER (score >= threshold) "
                f"FROM ({_joined(layout, thresholds.default)}) GROUP BY relation ORDER BY relation"
            ).fetchall()
        except duckdb.Error as error:
            raise read_failed(layout.path, error) from None
    if not counts:
        raise FileError(f"{layout.path}: there is no triple in the file.")
    return [Decided(*row) for row in counts]


def _as_table(thresholds: Thresholds) -> dict[str, Any]:
    return {
        "name": np.array(thresholds.relation_names, dtype=object),
        "cut": np.asarray(thresholds.cuts, dtype=np.float64),
    }


def _candidates(layout: Layout) -> str:
    names = ", ".join(f"{layout.column(name)} AS {name}" for name in ("head", "relation", "tail"))
    return f"SELECT {names}, TRY_CAST({layout.column('score')} AS DOUBLE) AS score FROM {layout.source}"


def _joined(layout: Layout, default: float) -> str:
    return (
        f"SELECT head, relation, tail, score, coalesce(cut, CAST('{default}' AS DOUBLE)) AS threshold "
        f"FROM ({_candidates(layout)}) LEFT JOIN cut_table ON relation = name"
    )


def _refuse_bad_scores(connection: Any, layout: Layout) -> None:
    bad = connection.execute(
        f"SELECT count(*) FROM ({_candidates(layout)}) WHERE score IS NULL OR NOT isfinite(score)"
    ).fetchall()[0][0]
    if bad:
        text = f"CAST({layout.column('score')} AS VARCHAR)"
        row, value = connection.execute(
            f"SELECT i, t FROM (SELECT row_number() OVER () - 1 AS i, {text} AS t, TRY_CAST({text} AS DOUBLE) AS s "
            f"FROM {layout.source}) WHERE s IS NULL OR NOT isfinite(s) ORDER BY i LIMIT 1"
        ).fetchall()[0]
        raise FileError(f"{layout.where(row)}: the score is {value!r}; every score must be a finite number.")
