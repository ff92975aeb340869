"""The plan on one machine: DuckDB streams the parts through all cores in bounded memory.

Two passes. The first reads relation and score only, counts by relation and refuses what is no score; in Parquet these
two columns are a small part of the bytes. The second reads and writes the triples.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from actc.decide.plan import Decided, DecisionPlan
from actc.decide.together import hold_back
from actc.errors import FileError, OptionError
from actc.tables.curves import Curves
from actc.tables.database import open_database, run_watched
from actc.tables.files import Layout, copy_options, find_layout, quote
from actc.tables.parts import BAD_ROW, BAD_SCORE, COLUMNS, Candidates, find_bad_row, find_unreadable_part
from actc.tables.progress import Progress

PART_BYTES = 256_000_000
MEMORY_PER_THREAD = 64_000_000  # what a thread holds while it writes Parquet; fewer threads before more memory
OUTSIDE = 150_000_000  # Python, the library and buffers that DuckDB does not count as its own
EMPTY_NAME = "actc: empty name"
TABBED_NAME = "actc: tabbed name"


def run(plan: DecisionPlan, candidates: Candidates, out: Path, progress: Progress) -> Decided:
    """Count, check, write; see ``actc.decide.decide_candidates.Engine``."""
    with _connect(plan, out) as connection:
        try:
            table = _run(connection, _counts_query(plan, candidates.layout, candidates.source), progress, (0, 20))
            _refuse_bad_rows(connection, candidates, table)
            held = _hold_back(connection, plan, candidates, table["relation"]) if len(plan.constraints) else None
            _run(connection, _copy_query(plan, candidates, out), progress, (20, 100))
            precision = None
            if plan.looks_back:
                table["accepted"], precision = _look_back(connection, plan, out, table["relation"])
        except duckdb.OutOfMemoryException:
            raise OptionError(
                f"{plan.memory / 1e9:g}GB of memory were not enough for this many candidates; allow more with --memory."
            ) from None
        except duckdb.Error as error:
            raise _explain(error, plan, candidates, out) from None
    counts = table["candidates"], table["accepted"], precision, held
    return Decided(tuple(table["relation"]), table["threshold"], *counts)


def _connect(plan: DecisionPlan, out: Path) -> Any:
    connection = open_database()
    memory = plan.memory - OUTSIDE
    threads = max(1, min(os.cpu_count() or 1, memory // MEMORY_PER_THREAD))
    connection.execute(f"SET memory_limit='{memory}B'; SET threads={threads}")
    connection.execute(f"SET temp_directory={quote(str(out.parent / 'spill'))}")
    connection.execute("SET preserve_insertion_order=false")  # a join does not keep it anyway
    connection.execute("SET enable_progress_bar=true; SET enable_progress_bar_print=false")
    _make_table(connection, "cuts", plan.cuts)
    if plan.curves is not None:
        _make_table(connection, "knots", plan.knots)
    if len(plan.exceptions):
        _make_table(connection, "words", plan.words)
    return connection


def _make_table(connection: Any, name: str, columns: dict[str, Any]) -> None:
    connection.register(f"{name}_columns", columns)
    connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM {name}_columns")


def _run(connection: Any, query: str, progress: Progress, span: tuple[int, int]) -> Any:
    """Run a query, and tell how far it is."""
    return run_watched(
        lambda: connection.execute(query).fetchnumpy(),
        lambda: connection.query_progress() / 100,
        connection.interrupt,
        progress,
        span,
    )


def _joined(plan: DecisionPlan, layout: Layout, source: str) -> str:
    default = f"CAST('{plan.thresholds.default}' AS DOUBLE)"
    head, relation, tail, score = map(layout.column, COLUMNS)
    columns = (
        f"{head} AS head, CAST({relation} AS VARCHAR) AS relation, {tail} AS tail, TRY_CAST({score} AS DOUBLE) AS score"
    )
    code = ""
    if plan.curves is not None:
        code = (
            f", coalesce(code, {len(plan.curves.relation_names)}) AS code, coalesce(bar, {plan.default_bar!r}) AS bar"
        )
    return (
        f"SELECT head, relation, tail, score, coalesce(cut, {default}) AS threshold{code} "
        f"FROM (SELECT {columns} FROM {source}) "
        "LEFT JOIN cuts ON relation = name"
    )


def _counts_query(plan: DecisionPlan, layout: Layout, source: str) -> str:
    return (
        "SELECT relation, any_value(threshold) AS threshold, count(*) AS candidates, "
        f"count(*) FILTER (score >= threshold) AS accepted, count(*) FILTER ({BAD_SCORE}) AS bad "
        f"FROM ({_joined(plan, layout, source)}) GROUP BY relation ORDER BY relation"
    )


def _copy_query(plan: DecisionPlan, candidates: Candidates, out: Path) -> str:
    rows = _with_verdict(plan, _with_words(plan, _joined(plan, candidates.layout, candidates.source)))
    rows = _with_decision(plan, rows)
    if plan.curves is not None:
        rows = _with_probability(plan.curves, rows)
    columns = ", ".join((f"{_checked_head(out)} AS head", *(f'"{name}"' for name in plan.columns[1:])))
    return f"COPY (SELECT {columns} FROM ({rows})) TO {quote(str(out))} ({_options(out)})"


def _with_words(plan: DecisionPlan, rows: str) -> str:
    """Add who decided, and whether a word of somebody's accepts a triple (1, 0, NULL where nobody spoke)."""
    if not len(plan.exceptions):
        return f"SELECT *, NULL AS word, 'method' AS \"by\", NULL AS told FROM ({rows})"
    same = "CAST(c.head AS VARCHAR) = w.head AND c.relation = w.relation AND CAST(c.tail AS VARCHAR) = w.tail"
    by = "coalesce(who, 'method') AS \"by\""
    return f"SELECT c.*, word, {by}, told FROM ({rows}) AS c LEFT JOIN words AS w ON {same}"


class _Tables:
    """Tables in DuckDB, for :func:`actc.decide.together.hold_back`."""

    row_number = "row_number() OVER ()"

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def make(self, name: str, query: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}")

    def move(self, name: str, to: str) -> None:
        self._connection.execute(f"DROP TABLE {to}; ALTER TABLE {name} RENAME TO {to}")

    def drop(self, *names: str) -> None:
        self._connection.execute(";".join(f"DROP TABLE {name}" for name in names))

    def put(self, name: str, columns: Mapping[str, Any]) -> None:
        _make_table(self._connection, name, dict(columns))

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query).fetchall()  # type: ignore[no-any-return]


def _hold_back(connection: Any, plan: DecisionPlan, candidates: Candidates, names: Any) -> Any:
    """Find out what constraints hold back; return how many of each relation."""
    if isinstance(plan.facts, Candidates):
        columns = plan.facts.layout.texts(("head", "relation", "tail"))
        connection.execute(f"CREATE TEMP VIEW known AS SELECT {columns} FROM {plan.facts.source}")
    rows = _with_words(plan, _joined(plan, candidates.layout, candidates.source))
    p, bar = "CAST(0.5 AS DOUBLE)", "CAST(0 AS DOUBLE)"
    if plan.curves is not None:
        rows, p, bar = _with_probability(plan.curves, _with_verdict(None, rows)), "probability", "bar"
    connection.execute(
        "CREATE TEMP VIEW decided AS SELECT CAST(head AS VARCHAR) AS head, relation, CAST(tail AS VARCHAR) AS tail, "
        f"score, {p} AS p, CASE WHEN {ALONE} THEN 1 ELSE 0 END AS accepted, {bar} AS bar, "
        f"CASE WHEN \"by\" IN ('person', 'oracle') THEN word END AS word FROM ({rows})"
    )
    hold_back(_Tables(connection), plan.constraints, plan.facts is not None)
    counted = connection.execute("SELECT relation, count(*) FROM verdict WHERE out = 1 GROUP BY relation").fetchall()
    return np.array([dict(counted).get(name, 0) for name in names], dtype=np.int64)


def _with_verdict(plan: DecisionPlan | None, rows: str) -> str:
    """Add what constraints hold back (out = 1), and the probability that they leave a triple."""
    if plan is None or not len(plan.constraints):
        return f"SELECT *, 0 AS out, NULL AS coupled FROM ({rows})"
    same = "CAST(c.head AS VARCHAR) = v.head AND c.relation = v.relation AND CAST(c.tail AS VARCHAR) = v.tail"
    by = 'CASE WHEN v.out = 1 THEN \'constraint\' ELSE c."by" END AS "by"'
    return (
        f'SELECT c.* EXCLUDE ("by"), {by}, coalesce(v.out, 0) AS out, v.coupled '
        f"FROM ({rows}) AS c LEFT JOIN verdict AS v ON {same}"
    )


ALONE = "coalesce(word = 1, score >= threshold)"


def _with_decision(plan: DecisionPlan, rows: str) -> str:
    accepted = f"{ALONE} AND out = 0"
    only_accepted = "" if plan.keep_all else f"WHERE {accepted}"
    if plan.best_only:
        said = "CASE WHEN \"by\" = 'method' THEN 1 ELSE coalesce(2 * word, 1) END"
        place = f"row_number() OVER (PARTITION BY head, relation ORDER BY {said} DESC, score DESC, tail)"
        rows = f"SELECT *, {place} AS place FROM ({rows}) {only_accepted}"
        accepted += " AND place = 1"
        only_accepted = "" if plan.keep_all else f"WHERE {accepted}"
    return f"SELECT *, {accepted} AS accepted FROM ({rows}) {only_accepted}"


def _with_probability(curves: Curves, rows: str) -> str:
    low, scale = (f"CAST('{number!r}' AS DOUBLE)" for number in (curves.low, curves.scale))
    last = f"CAST({curves.knots - 1} AS DOUBLE)"
    position = f"least(greatest((score - {low}) * {scale}, CAST(0 AS DOUBLE)), {last})"
    return (
        "SELECT *, coalesce(coupled, told, start + (position - floor(position)) * rise) AS probability "
        f"FROM (SELECT *, {position} AS position FROM ({rows})) "
        f"JOIN knots ON knot = code * {curves.knots} + CAST(floor(position) AS BIGINT)"
    )


def _checked_head(out: Path) -> str:
    """Return the head, or an error where a written row has an empty name or one that the format cannot hold."""
    tabbed = ""
    if out.suffix and "QUOTE ''" in copy_options(out):
        names = "concat_ws('', CAST(head AS VARCHAR), relation, CAST(tail AS VARCHAR))"
        tabbed = f"WHEN regexp_matches({names}, '[\\t\\r\\n]') THEN error('{TABBED_NAME}') "
    return f"CASE WHEN head IS NULL OR tail IS NULL THEN error('{EMPTY_NAME}') {tabbed}ELSE head END"


def _options(out: Path) -> str:
    if out.suffix:
        return copy_options(out)
    return f"FORMAT parquet, FILE_SIZE_BYTES {PART_BYTES}, FILENAME_PATTERN 'part-{{i}}'"


def _look_back(connection: Any, plan: DecisionPlan, out: Path, names: Any) -> tuple[Any, Any]:
    """Count the accepted rows of the output by relation, in the order of ``names``, and average their probability."""
    parts = [out] if out.suffix else sorted(out.iterdir())
    layout = find_layout(parts[0])
    is_text = layout.delimiter is not None
    column = {name: f"c{i}" if is_text else name for i, name in enumerate(plan.columns)}
    mean = f"avg(CAST({column['probability']} AS DOUBLE))" if plan.curves is not None else "NULL"
    where = f"WHERE CAST({column['accepted']} AS BOOLEAN)" if plan.keep_all else ""
    counted = connection.execute(
        f"SELECT {column['relation']} AS name, count(*) AS n, {mean} AS mean "
        f"FROM {layout.source_of(parts)} {where} GROUP BY ALL"
    ).fetchall()
    found = {name: (count, mean) for name, count, mean in counted}
    pairs = [found.get(name, (0, np.nan)) for name in names]
    accepted = np.array([count for count, _ in pairs], dtype=np.int64)
    return accepted, np.array([mean for _, mean in pairs]) if plan.curves is not None else None


def _refuse_bad_rows(connection: Any, candidates: Candidates, counts: Any) -> None:
    """Refuse scores that are no finite numbers and empty relations; only then go and find the first."""
    nameless = np.ma.getmaskarray(counts["relation"]).any()
    if counts["bad"].sum() or nameless:
        raise find_bad_row(connection, candidates, BAD_ROW)


def _explain(error: duckdb.Error, plan: DecisionPlan, candidates: Candidates, out: Path) -> FileError:
    """Say which part could not be read, or that the output could not be written."""
    if isinstance(error, duckdb.ConversionException):  # DuckDB's CSV reader takes over casts, also those that only try
        with open_database() as connection:
            return find_bad_row(connection, candidates, BAD_ROW)
    if EMPTY_NAME in str(error):
        with open_database() as connection:
            return find_bad_row(connection, candidates, "head IS NULL OR tail IS NULL")
    if TABBED_NAME in str(error):
        return FileError(f"{out.name}: a name holds a tab or a line break, which the format cannot; write .parquet.")
    cannot_write = FileError(f"{out.name}: the output cannot be written ({str(error).splitlines()[0]}).")
    return find_unreadable_part(candidates) or cannot_write
