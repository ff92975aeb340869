"""Decisions on one machine: DuckDB streams the parts through all cores in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from actc.data.database import open_database, quote, run_watched
from actc.data.files import BAD_ROW, copy_options, find_bad_row, name_further
from actc.data.frames import SCORED, TRIPLE
from actc.data.layout import Layout, find_layout, find_unreadable_part, quote_name
from actc.data.progress import Progress
from actc.decide.decide_sql import EMPTY_NAME, UNNAMED, DecisionCounts, DecisionPlan, Rows, carry_out
from actc.errors import FileError, OptionError

PART_BYTES = 256_000_000
MEMORY_PER_THREAD = 64_000_000  # what a thread holds while it writes Parquet; fewer threads before more memory
OUTSIDE = 150_000_000  # Python, the library and buffers that DuckDB does not count as its own
TABBED = "regexp_matches(concat_ws('', CAST(head AS VARCHAR), relation, CAST(tail AS VARCHAR)), '[\\t\\r\\n]')"
TABBED_NAME = "actc: tabbed name"


def run(plan: DecisionPlan, candidates: Layout, out: Path, progress: Progress) -> DecisionCounts:
    """Write what the plan asks for to a path, which has a suffix for a file, none for a folder of parts; count."""
    with open_database() as connection:
        try:
            return carry_out(plan, DuckdbTables(connection, plan, candidates, out, progress))
        except duckdb.OutOfMemoryException:
            raise OptionError(
                f"{plan.memory / 1e9:g}GB of memory were not enough for this many candidates; allow more with --memory."
            ) from None
        except duckdb.Error as error:
            raise _explain(error, candidates, out) from None


class DuckdbTables:
    """Tables in DuckDB, as :class:`actc.decide.decide_sql.Tables` describes them."""

    def __init__(self, connection: Any, plan: DecisionPlan, candidates: Layout, out: Path, progress: Progress) -> None:
        self._connection, self._candidates, self._out, self._progress = connection, candidates, out, progress
        self._options = f"FORMAT parquet, FILE_SIZE_BYTES {PART_BYTES}, FILENAME_PATTERN 'part-{{i}}'"
        if out.suffix:
            self._options = copy_options(out)
        self.forbidden = {UNNAMED: EMPTY_NAME} | ({TABBED: TABBED_NAME} if "QUOTE ''" in self._options else {})
        memory = plan.memory - OUTSIDE
        threads = max(1, min(os.cpu_count() or 1, memory // MEMORY_PER_THREAD))
        connection.execute(f"SET memory_limit='{memory}B'; SET threads={threads}")
        connection.execute(f"SET temp_directory={quote(str(out.parent / 'spill'))}")
        connection.execute("SET preserve_insertion_order=false")  # a join does not keep it anyway
        connection.execute("SET enable_progress_bar=true; SET enable_progress_bar_print=false")
        connection.execute("CREATE TEMP MACRO raise_error(message) AS error(message)")
        head, relation, tail, score = map(candidates.column, SCORED)
        further = map(quote_name, name_further(candidates).values())
        # In a TSV file a text is in one line, as `write_triples` has it.
        cell = "regexp_replace(CAST({} AS VARCHAR), '[\\t\\r\\n]+', ' ', 'g')" if TABBED in self.forbidden else "{}"
        more = [f", {cell.format(sql)} AS further{at}" for at, sql in enumerate(further)]
        connection.execute(
            f"CREATE TEMP VIEW candidate AS SELECT {head} AS head, CAST({relation} AS VARCHAR) AS relation, {tail} AS "
            f"tail, TRY_CAST({score} AS DOUBLE) AS score{''.join(more)} FROM {candidates.source}"
        )
        if isinstance(plan.facts, Layout):
            columns = plan.facts.texts(TRIPLE)
            connection.execute(f"CREATE TEMP VIEW fact AS SELECT {columns} FROM {plan.facts.source}")

    quote_name = staticmethod(quote_name)

    def put(self, name: str, columns: Mapping[str, Any]) -> None:
        self._connection.register("given", dict(columns))
        self._connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM given")
        self._connection.unregister("given")

    def fetch(self, query: str, span: tuple[int, int] | None = None) -> Rows:
        def action() -> Any:
            return self._connection.execute(query).fetchall()

        share, stop = (lambda: self._connection.query_progress() / 100), self._connection.interrupt
        return action() if span is None else run_watched(action, share, stop, self._progress, span)  # type: ignore[no-any-return]

    def write(self, query: str, span: tuple[int, int]) -> None:
        self.fetch(f"COPY ({query}) TO {quote(str(self._out))} ({self._options})", span)

    def open_output(self, columns: tuple[str, ...]) -> None:
        parts = [self._out] if self._out.suffix else sorted(self._out.iterdir())
        layout = replace(find_layout(parts[0]), paths=tuple(parts))
        named = ", ".join(map(quote_name, columns))
        self._connection.execute(f"CREATE TEMP VIEW written AS SELECT {named} FROM {layout.source}")

    def find_bad_row(self, condition: str) -> FileError:
        return find_bad_row(self._candidates, condition)


def _explain(error: duckdb.Error, candidates: Layout, out: Path) -> FileError:
    """Return an error that names the row or part that cannot be read, or the output that cannot be written."""
    if TABBED_NAME in str(error):
        return FileError(f"{out.name}: a name holds a tab or a line break, which the format cannot; write .parquet.")
    if isinstance(error, duckdb.ConversionException):  # the CSV reader takes over casts, also those that only try
        return find_bad_row(candidates, BAD_ROW)
    if EMPTY_NAME in str(error):
        return find_bad_row(candidates, UNNAMED)
    cannot_write = FileError(f"{out.name}: the output cannot be written ({str(error).splitlines()[0]}).")
    return find_unreadable_part(candidates) or cannot_write
