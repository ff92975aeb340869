"""Candidates in any number of files: what the parts are, and whether they fit together."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.database import open_database
from actc.data.deliver import write_beside
from actc.data.files import (
    TRIPLE,
    Layout,
    find_layout,
    is_table,
    parquet_types,
    quote,
    read_failed,
    read_scored,
    require,
)
from actc.data.triples import ScoredTriples, Triples, encode_columns
from actc.errors import FileError, OptionError

LOG = logging.getLogger("actc")
COLUMNS = (*TRIPLE, "score")
MOST_READ = 1_000_000
"""Candidates that a session or ``calibrate`` reads; of more, a random sample of so many."""


@dataclass(frozen=True)
class Candidates:
    """Files of candidates that share one layout."""

    paths: tuple[Path, ...]  # the parts, sorted within each folder
    layout: Layout  # how each is laid out; its path is the first part's

    @property
    def source(self) -> str:
        """The table function that reads all parts in SQL."""
        return self.layout.source_of(self.paths)

    @property
    def parts(self) -> Iterator[Layout]:
        """The layout of each part, to look into one at a time."""
        return (replace(self.layout, path=path) for path in self.paths)


def find_candidates(paths: Sequence[str | Path], columns: Sequence[str] = COLUMNS) -> Candidates:
    """Find the parts behind files and folders, and refuse parts that differ in layout or lack a column."""
    parts = tuple(part for path in paths for part in _parts_of(Path(path)))
    if not parts:
        raise OptionError("There is no file of candidates; give at least one file or folder.")
    first = find_layout(parts[0], order=COLUMNS)
    require(first, columns)
    if first.path.suffix.lower() == ".parquet":
        _compare_parquet(parts, first, columns)
    else:
        _compare_text(parts, first)
    return Candidates(parts, first)


def read_candidates(path: str | Path) -> ScoredTriples:
    """Read scored triples into memory, from a file or from a folder of parts."""
    path = Path(path)
    if not path.is_dir():
        return read_scored(path)[0]
    candidates = find_candidates([path])
    if len(candidates.paths) == 1:
        return read_scored(candidates.paths[0])[0]
    with tempfile.TemporaryDirectory(prefix="actc-") as folder:
        whole = Path(folder) / "whole.parquet"
        try:
            layout = candidates.layout
            score = f"CAST({layout.column('score')} AS DOUBLE) AS {layout.score_name}"
            with write_beside(whole) as place:
                query = f"SELECT {layout.texts(TRIPLE)}, {score} FROM {candidates.source}"
                _query(candidates, f"COPY ({query}) TO {quote(str(place))} (FORMAT parquet)")
            return read_scored(whole)[0]
        except FileError as error:
            for part in candidates.paths:
                read_scored(part)  # so that the complaint names the part and its line, if it is about one
            raise FileError(str(error).replace(str(whole), str(path))) from None


def read_sample(path: str | Path, labelled: Triples | None = None, seed: int = 0) -> ScoredTriples:
    """Read candidates as :func:`read_candidates` does; of more than ``MOST_READ`` a random sample of so many."""
    candidates = find_candidates([path])
    total = int(_query(candidates, f"SELECT count(*) FROM {candidates.source}")[0][0])
    if total <= MOST_READ:
        return read_candidates(path)
    rows = np.random.default_rng(seed).choice(total, MOST_READ, replace=False)
    names = encode_columns([], [], []) if labelled is None else labelled
    layout = candidates.layout
    numbered = f"SELECT row_number() OVER () - 1 AS row, {layout.texts(COLUMNS)} FROM {candidates.source}"
    scored = f"SELECT * REPLACE (TRY_CAST(score AS DOUBLE) AS score) FROM ({numbered})"
    with tempfile.TemporaryDirectory(prefix="actc-") as folder, _reading(candidates) as connection:
        if connection.execute(f"SELECT count(*) FROM ({scored}) WHERE {BAD_ROW} OR {NAMELESS}").fetchall()[0][0]:
            raise find_bad_row(connection, candidates, f"{BAD_ROW} OR {NAMELESS}")
        connection.register("drawn", {"row": rows})
        connection.register("labelled", names.columns())
        chosen = (
            "row IN (SELECT row FROM drawn) OR (head, relation, tail) IN (SELECT head, relation, tail FROM labelled)"
        )
        sample = Path(folder) / "sample.parquet"
        columns = f"* EXCLUDE (row, score), score AS {layout.score_name}"
        query = f"SELECT {columns} FROM ({scored}) WHERE {chosen} ORDER BY row"
        connection.execute(f"COPY ({query}) TO {quote(str(sample))} (FORMAT parquet)")
        try:
            sampled = read_scored(sample)[0]
        except FileError as error:
            raise FileError(str(error).replace(str(sample), f"a sample of {path}")) from None
    LOG.warning(
        "%s: of its %s candidates a random sample of %s is used; `actc decide` applies thresholds to all of them.",
        path, f"{total:,}", f"{len(sampled):,}",
    )  # fmt: skip
    return sampled


def _query(candidates: Candidates, sql: str) -> list[tuple[Any, ...]]:
    with _reading(candidates) as connection:
        return connection.execute(sql).fetchall()  # type: ignore[no-any-return]


@contextmanager
def _reading(candidates: Candidates) -> Iterator[Any]:
    """Open a database to read candidates with, and name the part that cannot be read."""
    import duckdb

    with open_database() as connection:
        try:
            yield connection
        except duckdb.Error as error:
            raise (find_unreadable_part(candidates) or read_failed(candidates.layout.path, error)) from None


def refuse_inside(out: Path, paths: Sequence[str | Path]) -> None:
    """Refuse an output that would be read as a candidate."""
    for path in map(Path, paths):
        if out.resolve() == path.resolve() or (path.is_dir() and path.resolve() in out.resolve().parents):
            raise FileError(f"{out} would lie among the candidates in {path}; write it somewhere else.")


def _parts_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    # Names that begin with _ or . are bookkeeping of whoever wrote the folder (Spark's _SUCCESS, .crc).
    names = (one for one in path.rglob("*") if not any(p[0] in "._" for p in one.relative_to(path).parts))
    parts = sorted(one for one in names if one.is_file() and is_table(one))
    if not parts:
        raise FileError(f"{path}: there is no .parquet, .tsv or .csv file in the folder.")
    return parts


def _compare_text(paths: Sequence[Path], first: Layout) -> None:
    for path in paths[1:]:
        layout = find_layout(path, order=COLUMNS)
        if replace(layout, path=first.path) != first:
            raise FileError(f"{path}: its columns are not those of {first.path}; all parts must be laid out alike.")


def _compare_parquet(paths: Sequence[Path], first: Layout, columns: Sequence[str]) -> None:
    """Compare the parts' columns: DuckDB would give those of other types the types of the first part's."""
    names, wanted = (
        [str(first.position[column]) for column in columns if first.position[column]],
        parquet_types(first.path),
    )
    for path in paths:
        if path.suffix.lower() != ".parquet":
            raise FileError(f"{path}: this is no Parquet file, as {first.path} is; all parts must be laid out alike.")
        types = parquet_types(path)
        for name in names:
            if name not in types:
                raise FileError(f"{path}: the column {name!r} is missing, which {first.path} has.")
            if types[name] != wanted[name]:
                raise FileError(
                    f"{path}: its column {name!r} is {types[name]}, but {wanted[name]} in {first.path}; "
                    "write all parts with one schema."
                )


BAD_SCORE = "(score IS NULL OR NOT abs(score) < CAST('inf' AS DOUBLE))"
BAD_ROW = f"relation IS NULL OR {BAD_SCORE}"
NAMELESS = "head IS NULL OR tail IS NULL OR head = '' OR tail = '' OR relation = ''"


def find_bad_row(connection: Any, candidates: Candidates, condition: str) -> FileError:
    """Describe where the first row is that fulfils a condition on its columns, and what is wrong with it."""
    for part in candidates.parts:
        texts = f"SELECT row_number() OVER () - 1 AS row, {part.texts(COLUMNS)} FROM {part.source}"
        row = connection.execute(
            f"SELECT row, head, relation, tail, text FROM (SELECT row, head, relation, tail, score AS text, "
            f"TRY_CAST(score AS DOUBLE) AS score FROM ({texts})) WHERE {condition} ORDER BY row LIMIT 1"
        ).fetchone()
        if row is not None:
            return FileError(f"{part.where(row[0])}: {describe_bad_row(*row[1:])}")
    return FileError(f"{candidates.layout.path}: the candidates changed while they were read.")


def describe_bad_row(head: Any, relation: Any, tail: Any, score: str | None) -> str:
    """Describe what is wrong with a row: an empty name, or no score."""
    empty = [name for name, value in zip(COLUMNS, (head, relation, tail, score), strict=True) if value in (None, "")]
    if empty:
        return f"there is nothing in column {empty[0]}."
    return f"the score is {score!r}; every score must be a finite number."


def find_unreadable_part(candidates: Candidates) -> FileError | None:
    """Describe which part cannot be read, and why; None if all can."""
    import duckdb

    columns = ", ".join(candidates.layout.column(name) for name in COLUMNS)
    for part in candidates.parts:
        with open_database() as connection:
            try:
                connection.execute(f"SELECT bit_xor(hash({columns})) FROM {part.source}").fetchall()
            except duckdb.Error as failure:
                return read_failed(part.path, failure)
    return None
