"""The text that a candidate was taken from: shown on its card, and given to machine judges.

A file ``texts.sqlite`` in a session's folder (:mod:`actc.session.by_triple`) has the text of each candidate that came
with one. A session without such texts has no such file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from actc.data.database import open_database
from actc.data.files import TRIPLE, Layout, find_layout, require, with_columns
from actc.data.triples import ScoredTriples
from actc.errors import FileError
from actc.session.by_triple import read_by_triple, write_by_triple
from actc.session.names import Names

FILE = "texts.sqlite"
COLUMN = "source"
MOST_TEXT = 4000
"""Characters of one text that are kept."""


def write_texts(folder: Path, pool: ScoredTriples, table: str | Path) -> int:
    """Put texts of candidates into a session's folder, in place of those there; return of how many candidates.

    Parameters
    ----------
    folder : Path
        Of the session.
    pool : ScoredTriples
        Its candidates.
    table : path
        With named columns: head, relation, tail, source; others are passed over, so the candidates' own file will do.
    """
    layout = find_texts(Path(table))
    if layout is None:
        raise FileError(f"{table}: there is no column {COLUMN!r}, which should have the text of each candidate.")
    rows = dict(_read_texts(layout, pool))
    write_by_triple(folder / FILE, sorted(rows.items()))
    return len(rows)


def find_texts(table: Path) -> Layout | None:
    """Return how a table with a column of texts is laid out; None where it has none."""
    layout = with_columns(find_layout(table), [COLUMN])
    require(layout, TRIPLE)
    return layout if COLUMN in layout.position else None


def _read_texts(layout: Layout, pool: ScoredTriples) -> Iterator[tuple[int, str]]:
    """Read the texts of those candidates that are in the pool, by their rows."""
    with open_database() as connection:
        text = f"left(trim(CAST({layout.column(COLUMN)} AS VARCHAR)), {MOST_TEXT})"
        query = f"SELECT {layout.texts(TRIPLE)}, {text} FROM {layout.source} WHERE {text} != ''"
        found = connection.execute(query)
        while part := found.fetchmany(50_000):
            heads, relations, tails, texts = zip(*part, strict=True)
            rows = pool.rows_of(ScoredTriples.from_columns(heads, relations, tails, np.zeros(len(part)))).tolist()
            yield from ((row, text) for row, text in zip(rows, texts, strict=True) if row >= 0)


def source_of(names: Names, triple: int) -> str:
    """Return the text that a triple was taken from; empty where none is known."""
    return read_by_triple(names.path.with_name(FILE), [triple])[0]
